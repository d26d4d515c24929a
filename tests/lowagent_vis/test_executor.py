"""From an action on a numbered page to one request."""

from pathlib import Path

import pytest

from lowagent_vis.actions import Click, Fill, Goto, parse_action
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.errors import ActionError
from lowagent_vis.executor import execute, resolve
from lowagent_vis.page import Page, parse_page
from tests.lowagent_vis.browsers.small_site import SmallSite

GOLDEN = Path(__file__).parents[1] / "fixtures" / "observations"
PRODUCT = parse_page((GOLDEN / "product.html").read_bytes(), url="/p/P1")

HOSTILE = [
    "http://evil.test/",
    "HTTP://evil.test/",
    "https:evil.test",
    "//evil.test/",
    "///evil.test/",
    "/\\evil.test/",
    "\\\\evil.test\\x",
    "/%5cevil.test",
    "/%2f/evil.test",
    "/a//b",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "about:blank",
    "view-source:/",
    "http://user@small.test/",
    "user@evil.test",
    "cart",
    "?page=2",
    "#main",
    "",
    "/../etc/passwd",
    "/static/../__harness/rows",
    "/%2e%2e/x",
    "/%252e%252e/x",
    "/./cart",
    "/__harness/reset",
    "/%5F%5Fharness/diff",
    "/%255f_harness",
    "/__blank",
    "/cart\r\nX-Harness-Token: a",
    "/cart%0d%0aSet-Cookie: a=b",
    "/cart%00.html",
    "/\tevil.test",
    "/a b",
    "/" + "a" * 3000,
]


def page_of(body: str, url: str = "/here?x=1") -> Page:
    return parse_page(f"<html><body>{body}</body></html>".encode(), url=url)


def submit(fields: str, controls: str, method: str = "post") -> tuple[tuple[str, str], ...]:
    page = page_of(f"<form method={method} action=/do>{controls}<button>Go</button></form>")
    action = parse_action(f"fill 1 {fields}")
    return resolve(action, page).fields


@pytest.mark.parametrize("path", HOSTILE)
def test_goto_refuses_what_is_no_plain_path_of_the_site(path: str) -> None:
    site = SmallSite()
    with (
        HttpBrowser(wsgi=site, base_url="http://small.test") as browser,
        pytest.raises(ActionError),
    ):
        execute(Goto(path), PRODUCT, browser)
    assert site.requests == []


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/", "/"),
        ("/p/P00412", "/p/P00412"),
        ("/search?q=blue+cup&page=2", "/search?q=blue+cup&page=2"),
        ("/search?q=নীল", "/search?q=%E0%A6%A8%E0%A7%80%E0%A6%B2"),
        ("/ক/%E0%A6%95", "/%E0%A6%95/%E0%A6%95"),
        ("/search?q=a//b..c", "/search?q=a//b..c"),
        ("/p/P1#reviews", "/p/P1"),
        ("/a@evil.test", "/a@evil.test"),
    ],
)
def test_goto_encodes_addresses(path: str, sent: str) -> None:
    assert resolve(Goto(path), PRODUCT) == Request("GET", sent)


def test_click_follows_the_numbered_link() -> None:
    assert resolve(Click(3), PRODUCT) == Request("GET", "/c/%E0%A6%95%20x?page=2", referer="/p/P1")


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (7, "there is no link 7; links are numbered 1 to 6"),
        (0, "there is no link 0"),
        (6, r"link 6 leaves the site \(https://other.example/x\)"),
    ],
)
def test_click_refuses_what_is_not_on_the_page(number: int, reason: str) -> None:
    with pytest.raises(ActionError, match=reason):
        resolve(Click(number), PRODUCT)


@pytest.mark.parametrize("href", ["/__harness/reset", "mailto:a@b.c", "//evil.test/", "/%5f_x"])
def test_links_out_of_the_site_are_refused(href: str) -> None:
    with pytest.raises(ActionError):
        resolve(Click(1), page_of(f'<a href="{href}">x</a>'))


def test_fill_keeps_fields_that_are_not_named() -> None:
    request = resolve(parse_action("fill 2 qty=৩"), PRODUCT)
    assert request == Request(
        "POST",
        "/cart/add",
        (
            ("csrf_token", "secret"),
            ("qty", "৩"),
            ("note", "two\r\nlines"),
            ("wrap", "none"),
            ("extra", "1"),
            ("pin", "1234"),
            ("code", "X1"),
        ),
        referer="/p/P1",
    )


def test_a_get_form_sends_all_its_fields_in_the_query() -> None:
    request = resolve(parse_action('fill 1 q="নীল কাপ & ~*"; sort=Any'), PRODUCT)
    assert request.method == "GET"
    assert request.path == (
        "/search?q=%E0%A6%A8%E0%A7%80%E0%A6%B2+%E0%A6%95%E0%A6%BE%E0%A6%AA+%26+%7E*&sort="
    )
    assert request.fields == ()


def test_a_get_form_replaces_the_query_of_its_action() -> None:
    page = page_of("<form><input name=a value=1><button>b</button></form>")
    assert resolve(Fill(1), page).path == "/here?a=1"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ('wrap="Gift paper"', ("wrap", "gift")),
        ("Wrapping=gift", ("wrap", "gift")),
        ("wrapping=GIFT PAPER", ("wrap", "gift")),
        ("extra=Bow", ("extra", "2")),
        ("agree=on", ("agree", "on")),
        ("I agree=ＯＮ", ("agree", "on")),
        ('PIN="9 9"', ("pin", "9 9")),
        ("Note (optional)=x", ("note", "x")),
    ],
)
def test_labels_name_fields_and_options_too(fields: str, expected: tuple[str, str]) -> None:
    assert expected in resolve(parse_action(f"fill 2 {fields}"), PRODUCT).fields


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("colour=blue", 'no field "colour"; its fields: qty, note, wrap, extra, agree, pin, code'),
        ("csrf_token=x", 'no field "csrf_token"'),
        ("code=x", '"code" cannot be changed'),
        ("wrap=silk", '"wrap" has no option "silk"; its options: "none" "None", "gift"'),
        ('extra="1,9"', '"extra" has no option "9"'),
        ("agree=yes", "takes on or off"),
        ("qty=1; Quantity=2", '"qty" is set twice'),
    ],
)
def test_fill_refuses_what_the_form_does_not_offer(fields: str, reason: str) -> None:
    site = SmallSite()
    with (
        HttpBrowser(wsgi=site, base_url="http://small.test") as browser,
        pytest.raises(ActionError, match=reason),
    ):
        execute(parse_action(f"fill 2 {fields}"), PRODUCT, browser)
    assert site.requests == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [('c="1,3"', ["1", "3"]), ('c="3,1"', ["1", "3"]), ("c=Two", ["2"]), ('c=""', [])],
)
@pytest.mark.parametrize(
    "controls",
    [
        "<select name=c multiple><option value=1 selected>One<option value=2>Two"
        "<option value=3>Three</select>",
        "<label><input type=checkbox name=c value=1 checked>One</label>"
        "<label><input type=checkbox name=c value=2>Two</label>"
        "<label><input type=checkbox name=c value=3>Three</label>",
    ],
)
def test_several_choices_are_written_with_commas(
    controls: str, fields: str, expected: list[str]
) -> None:
    assert submit(fields, controls) == tuple(("c", value) for value in expected)


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ("<input name=a value=1 disabled><input name=b>", (("b", ""),)),
        ("<input name=a><button name=act value=x>X</button><input name=b>",
         (("a", ""), ("act", "x"), ("b", ""))),
        ("<input type=radio name=r value=1>", ()),
        ("<input type=checkbox name=r value=1>", ()),
        ("<input value=nameless>", ()),
        ("<select name=s></select>", ()),
        ("<select name=s><option>1<option>2</select>", (("s", "1"),)),
        ("<select name=s><option value=1 selected disabled>1</select>", ()),
    ],
)  # fmt: skip
def test_only_successful_controls_are_sent(
    controls: str, expected: tuple[tuple[str, str], ...]
) -> None:
    assert submit("", controls) == expected


@pytest.mark.parametrize(
    ("control", "sent"), [("<input name=a>", "xy"), ("<textarea name=a></textarea>", "x\r\ny")]
)
def test_line_breaks_are_sent_as_browsers_send_them(control: str, sent: str) -> None:
    assert submit('a="x\\ny"', control) == (("a", sent),)


@pytest.mark.parametrize("word", ["নীল ৩", "नीला", "نیلا", "ሰማያዊ", "blue"])
def test_words_of_every_script_arrive_as_typed(word: str) -> None:
    site = SmallSite()
    page = page_of("<form method=post action=/do><input name=a><button>b</button></form>")
    with HttpBrowser(wsgi=site, base_url="http://small.test") as browser:
        execute(Fill(1, (("a", word),)), page, browser)
    assert site.requests[0]["fields"] == [("a", word)]


def test_a_form_that_leaves_the_site_is_refused() -> None:
    page = page_of("<form action=https://evil.test/><button>b</button></form>")
    with pytest.raises(ActionError, match="form 1 leaves the site"):
        resolve(Fill(1), page)


def test_a_field_label_that_fits_two_fields_asks_for_a_name() -> None:
    with pytest.raises(ActionError, match="use a name: a, b"):
        submit("Size=1", "<input name=a aria-label=Size><input name=b aria-label=Size>")


def test_forms_that_do_not_exist_are_named_so() -> None:
    with pytest.raises(ActionError, match="there is no form 1; this page has no forms"):
        resolve(Fill(1), page_of("x"))
