"""Pages of the demo in a real Chromium: nothing overflows, all glyphs come from our fonts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from lowagent_sites.common.languages import load_languages, selectable_languages
from tests.lowagent_sites.common.demo_browser import open_browser, show
from tests.lowagent_sites.common.demo_site import open_demo
from tests.page_fonts import fonts_used

pytestmark = pytest.mark.browser

PATHS = ["/search?q=a&page=2", "/notes/3", "/notes/new", "/register", "/account", "/nowhere"]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with open_browser() as opened:
        yield opened


@pytest.mark.parametrize("code", sorted(load_languages()))
@pytest.mark.parametrize("width_px", [1280, 390])
def test_no_page_is_wider_than_its_window(page: Page, code: str, width_px: int) -> None:
    client = open_demo(code).client()
    client.sign_in()
    for path in PATHS:
        show(page, client, path, width_px=width_px)
        size = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert size[0] <= size[1], path


@pytest.mark.parametrize("code", [language.code for language in selectable_languages()])
def test_no_glyph_comes_from_a_font_of_the_machine(page: Page, code: str) -> None:
    client = open_demo(code).client()
    client.sign_in()
    for path in PATHS:
        show(page, client, path, width_px=1280)
        foreign = {font for font, is_ours in fonts_used(page) if not is_ours}
        assert foreign == set(), path


@pytest.mark.parametrize("code", sorted(load_languages()))
def test_links_leave_room_for_their_labels(page: Page, code: str) -> None:
    client = open_demo(code).client()
    client.sign_in()
    for path in PATHS:
        show(page, client, path, width_px=1280)
        assert page.evaluate(_CRAMPED_LINKS, 28) == [], path


_CRAMPED_LINKS = """(room_px) => {
  const is_rtl = document.dir === "rtl", width = document.documentElement.clientWidth;
  const boxes = [...document.querySelectorAll("a:not(.visually-hidden)")]
    .map(a => ({text: a.textContent, box: a.getBoundingClientRect()}));
  return boxes.filter(({box}) => {
    const start = is_rtl ? width - box.right : box.left;
    const blocked = boxes.some(({box: other}) =>
      Math.abs(other.top - box.top) < box.height / 2 &&
      (is_rtl ? other.left - box.right : box.left - other.right) >= 0 &&
      (is_rtl ? other.left - box.right : box.left - other.right) < room_px);
    return start < room_px || blocked;
  }).map(({text}) => text);
}"""
