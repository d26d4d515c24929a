"""How agents write actions and how they are read."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lowagent_vis.actions import (
    ACTIONS,
    Action,
    Click,
    Fill,
    Goto,
    Stop,
    action_to_text,
    grammar_prompt,
    parse_action,
)
from lowagent_vis.errors import ActionParseError

SCRIPTS = {
    "Latin": (0x0020, 0x024F),
    "Bengali": (0x0980, 0x09FF),
    "Devanagari": (0x0900, 0x097F),
    "Arabic": (0x0600, 0x06FF),
    "Ethiopic": (0x1200, 0x137F),
}
SPECIAL = "\"'“”‘’\\;=\n\t\r `<>/:|；＝"


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("goto /p/P00412", Goto("/p/P00412")),
        ("goto /search?q=কেটলি&page=2", Goto("/search?q=কেটলি&page=2")),
        ("click 12", Click(12)),
        ("CLICK 12\n", Click(12)),
        ("click ১২", Click(12)),
        ("click १२", Click(12)),
        ("click ۱۲", Click(12)),
        ("click ١٢", Click(12)),
        ("click ፲፪", Click(12)),
        ("click ፻፳፭", Click(125)),
        ("click ፪፻", Click(200)),
        ("ｃｌｉｃｋ　１２", Click(12)),
        ("fill 2", Fill(2)),
        ("fill F2", Fill(2)),
        ("fill f2 q=a", Fill(2, (("q", "a"),))),
        ("fill Ｆ２ q=a", Fill(2, (("q", "a"),))),
        ("fill 1 a=b;c=d", Fill(1, (("a", "b"), ("c", "d")))),
        ("fill 1 a=b; c=d;", Fill(1, (("a", "b"), ("c", "d")))),
        ("fill 1 a=; c=d", Fill(1, (("a", ""), ("c", "d")))),
        ("fill 1 a=b=c", Fill(1, (("a", "b=c"),))),
        ("fill 1 a = blue cup ; c=d", Fill(1, (("a", "blue cup"), ("c", "d")))),
        ('fill 1 a="x; y=z"; c=\'it"s\'', Fill(1, (("a", "x; y=z"), ("c", 'it"s')))),
        (r'fill 1 a="say \"hi\"\nto \\ me"', Fill(1, (("a", 'say "hi"\nto \\ me'),))),
        ('fill 1 a="two\nlines"', Fill(1, (("a", "two\nlines"),))),
        ("fill 1 a＝“নীল কাপ”； c=২", Fill(1, (("a", "নীল কাপ"), ("c", "২")))),
        ('fill 1 "Your name"="x"', Fill(1, (("Your name", "x"),))),
        ("fill 1 Your name=x", Fill(1, (("Your name", "x"),))),
        ("fill 1 আপনার নাম=রহিম", Fill(1, (("আপনার নাম", "রহিম"),))),
        ('fill 1 colours="1,2"; agree=on', Fill(1, (("colours", "1,2"), ("agree", "on")))),
        ("fill 1\na=b;\nc=d", Fill(1, (("a", "b"), ("c", "d")))),
        ("stop", Stop("")),
        ("stop N/A", Stop("N/A")),
        ('stop "N/A"', Stop("N/A")),
        ("stop ৳ ২,৯৮৮", Stop("৳ ২,৯৮৮")),
        ("stop click 3", Stop("click 3")),
        ("stop two\nlines; a=b", Stop("two\nlines; a=b")),
        ('stop 5" pipe', Stop('5" pipe')),
    ],
)
def test_actions_are_read(reply: str, action: Action) -> None:
    assert parse_action(reply) == action


@pytest.mark.parametrize(
    "reply",
    [
        "<think>click 3?\nno</think>\nclick 12",
        "<think>a</think><reasoning>b</reasoning> click 12",
        "the page shows... click 3</think>\n\nclick 12",
        "```\nclick 12\n```",
        "```text\nclick 12\n```",
        "```click 12```",
        "~~~\nclick 12\n~~~",
        "Action: click 12",
        "action:click 12",
        "**Action:** click 12",
        "Next action: click 12",
        "Action:\n```\nclick 12\n```",
        "```\nAction: click 12\n```",
        "<think>x</think>Action: ```click 12```",
        "কাজ: click 12",
        "कार्रवाई: click 12",
        "عمل： click 12",
        "ድርጊት: click 12",
        "\ufeff click 12 ",
    ],
)
def test_thinking_one_fence_and_one_label_are_removed(reply: str) -> None:
    assert parse_action(reply) == Click(12)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<think>still thinking about click 3", "ends while thinking"),
        ("I will click 12", "does not begin with an action"),
        ("Let me see: click 12", "does not begin with an action"),
        ("Action: Action: click 12", "does not begin with an action"),
        ("click", "click takes the number of one link"),
        ("click 12 13", "click takes the number of one link"),
        ("click 12\nclick 13", "click takes the number of one link"),
        ("click 12 because it is the cart", "click takes the number of one link"),
        ("click -1", "click takes the number of one link"),
        ("click 1.5", "click takes the number of one link"),
        ("click twelve", "click takes the number of one link"),
        ("click 99999999999999999999", "click takes the number of one link"),
        ("click F2", "F2 is a form: use fill F2"),
        ("click(12)", "does not begin with an action"),
        ("```\nclick 1\n```\n```\nclick 2\n```", "click takes the number of one link"),
        ("goto", "goto takes a path"),
        ("goto /a /b", "goto takes one path"),
        ("goto /a\nclick 2", "goto takes one path"),
        ("fill", "fill takes the number of one form"),
        ("fill search q=a", "fill takes the number of one form"),
        ("fill 1 cup", 'after the number fill takes name="value"'),
        ("fill 1 =a", 'after the number fill takes name="value"'),
        ("fill 1 a=b\nclick 3", "must be quoted"),
        ("fill 1 a=b\nfill 2 c=d", "must be quoted"),
        ("fill 1 a=b;\nclick 3", 'after the number fill takes name="value"'),
        ('fill 1 a="b', "not closed"),
        ('fill 1 a="b" c="d"', "after a quoted value comes ; or the end"),
        ("fill 1 a=1; a=2", "named twice"),
        ("scroll down", "does not begin with an action"),
        ('{"action": "click 12"}', "does not begin with an action"),
    ],
)
def test_anything_else_is_an_error_that_says_why(reply: str, reason: str) -> None:
    with pytest.raises(ActionParseError, match=reason.replace("(", r"\(")):
        parse_action(reply)


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert parse_action("stop a\ud83d") == Stop("a\ufffd")


def test_the_prompt_states_every_action() -> None:
    lines = grammar_prompt().splitlines()
    assert [line.split()[1].strip("`") for line in lines] == [action.name for action in ACTIONS]
    assert r"`\n` a line break" in grammar_prompt()


def texts(script: str) -> st.SearchStrategy[str]:
    first, last = SCRIPTS[script]
    letters = st.characters(
        min_codepoint=first, max_codepoint=last, exclude_categories=("Cc", "Cs", "Cn")
    )
    return st.text(st.one_of(letters, st.sampled_from(SPECIAL)), max_size=25)


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_is_written_is_read_back(script: str) -> None:
    names = texts(script).map(str.strip).filter(bool)
    fields = st.lists(st.tuples(names, texts(script)), max_size=4, unique_by=lambda pair: pair[0])
    actions = st.one_of(
        st.builds(Fill, st.integers(1, 999), fields.map(tuple)),
        st.builds(Stop, texts(script)),
        st.builds(Click, st.integers(1, 999)),
    )

    @given(actions)
    @example(Stop('"a"'))
    @example(Stop(" a "))
    @example(Stop("a</think>b"))
    @example(Stop("``` a ```"))
    @example(Fill(1, (("a", "\\"), ("b", '\\"'), ("c", "\\n"))))
    def round_trip(action: Action) -> None:
        assert parse_action(action_to_text(action)) == action

    round_trip()


@given(st.text(max_size=60))
def test_no_reply_breaks_the_parser(reply: str) -> None:
    try:
        parse_action(reply)
    except ActionParseError as error:
        assert str(error)
