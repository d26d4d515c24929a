"""The skeleton of every page (`common.md` 3) and the rules that templates and styles obey."""

import re
from pathlib import Path
from typing import Any

import pytest

import lowagent_sites.common
from lowagent_sites.common.languages import load_languages
from lowagent_sites.paths import data_dir
from tests.lowagent_sites.common.demo_site import Demo, DemoClient, open_demo, parse

PACKAGE = Path(str(lowagent_sites.common.__file__)).parent
TEMPLATES = sorted((PACKAGE / "templates").rglob("*.html"))
STYLES = sorted(PACKAGE.glob("static/*.css")) + sorted((data_dir("assets") / "fonts").glob("*.css"))
PATHS = ["/", "/search?q=a&page=2", "/notes/3", "/notes/new", "/login", "/register", "/account",
         "/account/password", "/nowhere"]  # fmt: skip
MAX_STATEMENTS = 15


def signed_in(code: str = "en") -> tuple[Demo, DemoClient]:
    demo = open_demo(code)
    client = demo.client()
    client.sign_in()
    return demo, client


@pytest.mark.parametrize("code", sorted(load_languages()))
@pytest.mark.parametrize("path", PATHS)
def test_every_page_has_the_skeleton(code: str, path: str) -> None:
    _demo, client = signed_in(code)
    page = client.open(path)
    assert page.get("lang") == code
    assert page.get("dir") == load_languages()[code].direction
    assert len(page.xpath("//h1")) == 1
    assert len(page.xpath("//main[@id='main']")) == 1
    assert page.xpath("/html/body/*[1]/@href") == ["#main"]
    assert [e.tag for e in page.xpath("/html/body/*")] == ["a", "header", "nav", "div", "footer"]
    assert page.xpath("//header[@role='banner']//a/@href")[0] == "/"
    assert page.findtext(".//title").endswith(" · Demo")


@pytest.mark.parametrize("path", PATHS)
def test_every_page_obeys_the_rules_of_markup(path: str) -> None:
    _demo, client = signed_in()
    answer = client.get(path, follow_redirects=True)
    page = parse(answer.text)
    assert not page.xpath(
        "//script | //*[@style] | //svg//a | //form//form | //template | //noscript"
    )
    assert not page.xpath("//@title | //@onclick | //*[@hidden]")
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    for form in page.xpath("//form"):
        assert re.fullmatch("[a-z][a-z0-9_]*", form.get("name"))
        assert form.get("aria-label")
        assert form.get("action").startswith("/")
        hidden = form.xpath(".//input[@type='hidden']/@name")
        assert ("csrf_token" in hidden) == (form.get("method") == "post")
    assert all(len(page.xpath("//label[@for=$i]", i=e.get("id"))) == 1 for e in inputs(page))
    assert len(page.xpath("//header//a | /html/body/nav//a")) <= 16
    assert len(page.xpath("//footer//a")) <= 8


def inputs(page: Any) -> list[Any]:
    found: list[Any] = page.xpath(
        "//input[not(@type='hidden')] | //select | //textarea"
    )  # fmt: skip
    return found


@pytest.mark.parametrize("path", PATHS)
def test_no_page_needs_more_than_fifteen_statements(path: str) -> None:
    demo, client = signed_in()
    with demo.database.statements() as statements:
        client.get(path)
    assert len(statements) <= MAX_STATEMENTS


@pytest.mark.parametrize("path", [*PATHS, "/logout", "/broken", "/moved"])
def test_opening_a_page_writes_nothing(path: str) -> None:
    demo, client = signed_in()
    with demo.database.raw() as connection:
        before = connection.total_changes
        client.get(path)
        assert connection.total_changes == before


def test_a_guest_is_offered_to_sign_in_and_a_user_to_sign_out() -> None:
    demo, client = signed_in()
    guest = demo.client().open("/").xpath("//ul[@class='account-links']//a/@href")
    assert guest == ["/notes/new", "/login", "/register"]
    page = client.open("/")
    assert page.xpath("//ul[@class='account-links']//a/@href") == ["/notes/new", "/account"]
    assert page.xpath("//form[@name='logout']//button/text()") == ["Sign out"]


def test_counters_use_the_languages_digits() -> None:
    page = open_demo("bn").client().open("/")
    assert page.xpath("//ul[@class='account-links']//a[1]/text()")[0].endswith("(২৫)")


def test_western_numerals_replace_digits_everywhere_and_nothing_else() -> None:
    local, western = open_demo("bn"), open_demo("bn", numerals="western")
    digits = str.maketrans("০১২৩৪৫৬৭৮৯", "0123456789")
    before, after = (demo.client().get("/?page=2").text for demo in (local, western))
    assert "৳ ২,৯৮৮" in before
    assert after == before.translate(digits)


def test_codes_dates_and_amounts_keep_their_direction() -> None:
    _demo, client = signed_in("ur")
    page = client.open("/notes/3")
    assert [e.text for e in page.xpath("//article//bdi[@dir='ltr']")] == [
        "Rs ۶,۹۷۲",
        "2026-06-15 10:00",
    ]
    assert page.xpath("//footer//bdi[@dir='ltr']/text()") == ["2026-06-15 10:00"]


def test_the_search_form_has_the_fields_that_the_site_adds() -> None:
    page = open_demo().client().open("/")
    (form,) = page.xpath("//form[@name='search']")
    assert list(form.fields.keys()) == ["q", "place"]
    assert form.get("method") == "get"


def test_the_same_inputs_give_the_same_bytes() -> None:
    one, other = open_demo(key=b"a").client(), open_demo(key=b"a").client()
    for path in ("/", "/notes/3", "/login"):
        assert one.get(path).content == other.get(path).content


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_no_text_outside_the_catalogue(path: Path) -> None:
    markup = re.sub(
        r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL
    )
    text = re.sub(r"<[^>]*>|[a-z-]+=\"[^\"]*\"", " ", markup)
    assert re.findall("[A-Za-z]+", text) == []


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_styles_are_logical_and_hide_nothing(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    assert not re.findall(r"\b(?:left|right)\b", text)
    assert not re.findall(r"fixed|sticky|100vh|ellipsis|line-clamp|display:\s*none|@import", text)
    assert not re.findall(r"https?:", text)
    rules = [rule for rule in text.split("}") if "hidden" in rule]
    assert all(".visually-hidden" in rule for rule in rules)


def test_colours_of_text_stand_out_from_their_ground() -> None:
    tokens = dict(
        re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", (PACKAGE / "static/base.css").read_text("utf-8"))
    )
    pairs = [("ink", "surface"), ("ink", "paper"), ("muted", "surface"), ("muted", "paper"),
             ("accent", "surface"), ("accent", "paper"), ("accent-ink", "accent"),
             ("action-ink", "action"), ("alert", "paper"), ("ok", "paper")]  # fmt: skip
    for text, ground in pairs:
        assert contrast(tokens[text], tokens[ground]) >= 4.5, (text, ground)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
