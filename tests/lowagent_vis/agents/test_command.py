"""`--agent command`: any program over JSON lines, however badly it behaves (`formats.md` 4)."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lowagent_vis.agents.base import AgentFailure, EpisodeStart, Reply
from lowagent_vis.agents.command import MAX_LINE_BYTES, CommandAgent
from lowagent_vis.browsers.rendering import Rendering
from lowagent_vis.errors import UserError
from lowagent_vis.observation import Observation
from lowagent_vis.page import parse_page
from set_of_marks import MarkedPage
from tests.set_of_marks.test_draw import jpeg

PAGE = parse_page(b'<html lang="en"><a href="/a">A</a></html>', url="/")
START = EpisodeStart("shop.en.T1.text", "shop", "en", "Buy a mug.", "You are an agent.", 9)
ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "observation":
        print(json.dumps({"action": "click 1", "note": line}), flush=True)
"""

MakeAgent = Callable[..., CommandAgent]


def observation(step: int = 0, rendering: Rendering | None = None) -> Observation:
    return Observation(PAGE, "URL: /\nقیمت", step, 9 - step, "no link 7", rendering)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeAgent]:
    """Make an agent from the text of its program."""
    made: list[CommandAgent] = []

    def make_agent(program: str, *, timeout_s: float = 20.0) -> CommandAgent:
        file = tmp_path / f"agent {len(made)}.py"
        file.write_text(program, "utf-8")
        made.append(CommandAgent(f"{sys.executable} '{file}'", timeout_s=timeout_s))
        return made[-1]

    yield make_agent
    for agent in made:
        agent.close()


def test_a_text_episode_in_lines(make: MakeAgent) -> None:
    agent = make(ECHO)
    agent.start(START)

    reply = agent.act(observation(step=2))

    assert reply.text == "click 1"
    assert json.loads(reply.note or "") == {
        "type": "observation",
        "step": 2,
        "steps_left": 7,
        "text": "URL: /\nقیمت",
        "error": "no link 7",
        "images": None,
        "marks": None,
    }


def test_the_episode_comes_first(make: MakeAgent) -> None:
    agent = make(
        "import json, sys\nfirst = sys.stdin.readline()\nsys.stdin.readline()\n"
        "print(json.dumps({'action': 'stop', 'note': first}), flush=True)\nsys.stdin.read()"
    )
    agent.start(START)

    assert json.loads(agent.act(observation()).note or "") == {
        "type": "episode",
        "protocol": 1,
        "episode": "shop.en.T1.text",
        "site": "shop",
        "language": "en",
        "intent": "Buy a mug.",
        "system": "You are an agent.",
        "step_budget": 9,
        "reference_images": [],
    }


def test_pictures_are_files_that_are_gone_after_the_reply(make: MakeAgent) -> None:
    agent = make(
        "import json, sys\nsys.stdin.readline()\n"
        "message = json.loads(sys.stdin.readline())\n"
        "sizes = {k: len(open(p, 'rb').read()) for k, p in message['images'].items()}\n"
        "note = json.dumps([message['images'], sizes, message['marks']])\n"
        "print(json.dumps({'action': 'stop', 'note': note}), flush=True)\nsys.stdin.read()"
    )
    agent.start(START)
    rendering = Rendering(jpeg(), MarkedPage(400, 300, 18, ()))

    paths, sizes, marks = json.loads(agent.act(observation(rendering=rendering)).note or "")

    assert {role: Path(path).is_absolute() for role, path in paths.items()} == {
        "marked": True,
        "clean": True,
    }
    assert sizes["clean"] == len(jpeg())
    assert marks["page"] == {"width": 400, "height": 300}
    assert not any(Path(path).exists() for path in paths.values())


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("click 1", "click 1"),
        ("", ""),
        ("[1, 2]", "[1, 2]"),
        ('{"note": "no action"}', '{"note": "no action"}'),
        ('{"action": 7}', '{"action": 7}'),
        ("[" * 50_000, "[" * 50_000),
        ('{"action": ' + "9" * 5000 + "}", '{"action": ' + "9" * 5000 + "}"),
        ("\\xff\\xfe", "\\xff\\xfe"),
    ],
)
def test_what_is_no_action_is_handed_on_as_it_is(make: MakeAgent, line: str, text: str) -> None:
    agent = make(f"import sys\nsys.stdin.readline()\nprint({line!r}, flush=True)\nsys.stdin.read()")
    agent.start(START)

    assert agent.act(observation()).text == text


def test_bytes_that_are_no_text_are_replaced(make: MakeAgent) -> None:
    agent = make(
        "import sys\nsys.stdin.readline()\nsys.stdout.buffer.write(b'\\xff stop\\r\\n')\n"
        "sys.stdout.flush()\nsys.stdin.read()"
    )
    agent.start(START)

    assert agent.act(observation()).text == "\ufffd stop"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program x", 'there is no program "no-such-program"'),
        ("   ", 'there is no program ""'),
        ("'", "cannot be read"),
    ],
)
def test_a_program_that_does_not_exist(command: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        CommandAgent(command)


def test_lines_before_an_observation_and_replies_to_another_step_are_dropped(
    make: MakeAgent,
) -> None:
    agent = make(
        "import json, sys\n"
        "print('Loading the model', flush=True)\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'observation':\n"
        "        for step in (message['step'] - 1, message['step']):\n"
        "            print(json.dumps({'step': step, 'action': f'click {step + 1}'}), flush=True)\n"
        "        print('thinking ahead', flush=True)\n"
    )
    agent.start(START)
    first = agent.act(observation(step=0)).text
    assert first in {"click 1", "Loading the model"}
    if first != "click 1":
        first = agent.act(observation(step=0)).text
    for step in (1, 2, 3):
        assert agent.act(observation(step=step)).text in {f"click {step + 1}", "thinking ahead"}


def test_usage_is_kept_as_far_as_a_record_can_hold_it(make: MakeAgent) -> None:
    deep = "{'a': [1], 'calls': 2, 'tokens': {'input': 3, 'more': {}}, 'b': " + "[" * 90 + "]" * 90
    agent = make(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    if json.loads(line)['type'] == 'observation':\n"
        f"        print(json.dumps({{'action': 'stop', 'usage': {deep}}}}}), flush=True)\n"
    )
    agent.start(START)
    assert agent.act(observation()).usage == {"calls": 2, "tokens": {"input": 3}}


@pytest.mark.parametrize("program", ["", "raise SystemExit(3)", "import sys\nsys.stdin.readline()"])
def test_a_program_that_exits(make: MakeAgent, program: str) -> None:
    agent = make(program)
    with pytest.raises(AgentFailure, match="exited"):
        agent.start(START)
        agent.act(observation())


def test_a_program_that_is_silent(make: MakeAgent) -> None:
    agent = make("import sys\nsys.stdin.read()", timeout_s=0.3)
    agent.start(START)

    with pytest.raises(AgentFailure, match=r"no reply within 0\.3 s"):
        agent.act(observation())


def test_a_program_that_reads_nothing_does_not_hold_us_up(make: MakeAgent) -> None:
    agent = make("import signal\nsignal.pause()", timeout_s=0.3)
    long = EpisodeStart("e", "shop", "en", "x" * 300_000, "", 9)

    with pytest.raises(AgentFailure, match=r"read nothing for 0\.3 s"):
        agent.start(long)


def test_a_program_that_never_ends_its_line(make: MakeAgent) -> None:
    agent = make("while True:\n    print('x' * 100_000, end='', flush=True)")
    agent.start(START)

    with pytest.raises(AgentFailure, match=f"more than {MAX_LINE_BYTES} bytes"):
        agent.act(observation())


def test_after_a_failure_the_next_episode_gets_a_new_process(make: MakeAgent) -> None:
    agent = make(ECHO.replace("print", "message['step'] == 5 and sys.exit()\n        print"))
    agent.start(START)
    with pytest.raises(AgentFailure):
        agent.act(observation(step=5))

    agent.start(START)

    assert agent.act(observation()).text == "click 1"


def test_a_program_may_exit_after_its_last_reply(make: MakeAgent) -> None:
    agent = make(
        "import sys\nsys.stdin.readline()\nsys.stdin.readline()\nprint('stop', flush=True)"
    )
    for _ in range(2):
        agent.start(START)
        assert agent.act(observation()).text == "stop"
        agent._process.wait(timeout=20)  # type: ignore[union-attr]
        agent.end("stop")


def test_lines_that_nobody_asked_for_do_not_reach_the_next_episode(make: MakeAgent) -> None:
    agent = make(ECHO.replace("print(", "print('stop stale\\n' * (message['step'] == 1) + "))
    agent.start(START)
    assert agent.act(observation(step=1)).text == "stop stale"
    agent.end("stop")

    agent.start(START)

    assert agent.act(observation()).text == "click 1"


def test_the_late_end_of_a_line_that_nobody_asked_for_is_no_reply(make: MakeAgent) -> None:
    agent = make(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'observation' and message['step'] == 1:\n"
        "        print('stop 1\\nunasked', end='', flush=True)\n"
        "    elif message['type'] == 'observation':\n"
        "        print('\\nclick 1', flush=True)\n"
    )
    agent.start(START)
    assert agent.act(observation(step=1)).text == "stop 1"
    agent.end("stop")

    agent.start(START)

    assert agent.act(observation()).text == "click 1"


def test_the_program_is_gone_when_the_agent_is_closed(make: MakeAgent) -> None:
    agent = make("import signal, sys\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + ECHO)
    agent.start(START)
    agent.act(observation())
    process = agent._process

    agent.close()

    assert process is not None
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("reply", "stored"),
    [
        (Reply("stop \ud800"), Reply("stop \ufffd")),
        (Reply("stop 😀"), Reply("stop 😀")),
        (Reply("\ud83d\ude00"), Reply("😀")),
        (Reply("stop", "\udfff", {"model\ud800": 1}), Reply("stop", "\ufffd", {"model\ufffd": 1})),
    ],
)
def test_halves_of_surrogate_pairs_are_never_stored(reply: Reply, stored: Reply) -> None:
    assert reply.sendable() == stored
