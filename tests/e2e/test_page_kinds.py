"""Every page kind of the shop in every language: marks, layout, fonts, text, budget."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page as PlaywrightPage

from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.chromium import ChromiumRenderer
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.observation import check_numbers
from lowagent_vis.page import Page, parse_page
from lowagent_vis.world import World
from set_of_marks import COLLECT_SCRIPT, measure, parse_collected
from tests.e2e.conftest import LANGUAGES
from tests.page_fonts import fonts_used

pytestmark = [pytest.mark.e2e, pytest.mark.browser]

SITE = "ministore"
USER = "nila_shop"
GUEST_PAGES = (
    "/",
    "/c/kitchen",
    "/c/kitchen?brand=lumizen&in_stock=1&sort=price_asc",
    "/c/kitchen?min_price=9&max_price=2",
    "/search?q=P02403",
    "/search?q=zzzz",
    "/brands",
    "/brand/lumizen",
    "/p/P02403",
    "/p/P00168",
    "/p/P02403/reviews",
    "{review}",
    "{questions}",
    "{question}",
    "/login",
    "/register",
    "/nope",
)
USER_PAGES = ("/account", "/account/password", "/cart", "/wishlist")
MAX_HEIGHT_PX = 2350
MAX_TALL_SCRIPT_HEIGHT_PX = 3000
LAYOUT_CHECK = (Path(__file__).parents[1] / "fixtures" / "layout_check.js").read_text("utf-8")
# Chromium keeps a select's text clear of its arrow by clipping it; nothing of ours is cut there.
PSEUDO = "en-XA"


def addresses(world: World) -> Iterator[tuple[str, bool]]:
    found = {
        "review": "/review/" + str(world.query("SELECT MIN(id) AS id FROM reviews")[0]["id"]),
        "question": "/q/" + str(world.query("SELECT MIN(id) AS id FROM questions")[0]["id"]),
        "questions": "/p/{}/qa".format(
            world.query(
                "SELECT p.sku AS sku FROM questions q JOIN products p ON p.id = q.product_id "
                "ORDER BY q.id LIMIT 1"
            )[0]["sku"]
        ),
    }
    yield from ((path.format(**found), False) for path in GUEST_PAGES)
    yield from ((path, True) for path in USER_PAGES)


def pages(code: str) -> Iterator[tuple[Page, int]]:
    with World.open(SITE, code) as world:
        for path, needs_user in addresses(world):
            with HttpBrowser(wsgi=world.wsgi, base_url=world.origin) as browser:
                if needs_user:
                    browser.set_cookie(*world.login_cookie(USER))
                response = browser.send(Request("GET", path))
                assert response.status in {200, 404}, path
                yield parse_page(response.html, url=response.url), len(response.html)


def browser_text(page: PlaywrightPage) -> str:
    return str(
        page.evaluate(
            """() => {
              for (const e of document.querySelectorAll('.visually-hidden, select')) e.remove();
              return document.body.innerText;
            }"""
        )
    )


def bare(text: str) -> str:
    return re.sub(r"[\s|]", "", text)


@pytest.mark.parametrize("code", LANGUAGES)
def test_marks_layout_fonts_and_text(code: str, renderer: ChromiumRenderer) -> None:
    limit_px = MAX_TALL_SCRIPT_HEIGHT_PX if code == "ur" else MAX_HEIGHT_PX
    for page, _size in pages(code):
        rendering = renderer.render(page.stamped_html())
        check_numbers(page, rendering)
        collected = parse_collected(
            renderer.call(lambda drawn: drawn.evaluate(COLLECT_SCRIPT, {"stamped": True}))
        )
        assert measure(rendering.marked, collected).is_clean, page.url
        assert measure(rendering.marked, collected).seen_label_px >= 12, page.url
        assert collected.overflow_px <= 0, page.url
        assert rendering.height <= limit_px, (page.url, rendering.height)
        report = json.loads(renderer.call(lambda drawn: drawn.evaluate(LAYOUT_CHECK)))
        faults = [fault for fault in report["faults"] if fault[0] != "no-room-for-label"]
        assert faults == [], page.url
        system = {family for family, is_ours in renderer.call(fonts_used) if not is_ours}
        assert system == set(), page.url
        ours = re.sub(r"^\[image\].*$", "", page.text, flags=re.MULTILINE)
        assert bare(ours) == bare(renderer.call(browser_text)), page.url


@pytest.mark.parametrize("code", [*LANGUAGES, PSEUDO])
def test_a_phone_shows_every_page_without_scrolling_sideways(code: str) -> None:
    from lowagent_vis.browsers.assets import AssetServer

    with (
        AssetServer.start() as assets,
        ChromiumRenderer.launch(asset_origin=assets.origin, width_px=390) as narrow,
    ):
        for page, _size in pages(code):
            narrow.render(page.stamped_html())
            width = narrow.call(
                lambda drawn: drawn.evaluate("() => document.documentElement.scrollWidth")
            )
            assert width <= 390, page.url


@pytest.mark.parametrize("code", LANGUAGES)
def test_pages_stay_within_their_budget(code: str) -> None:
    for page, size in pages(code):
        assert len(page.links) <= 90, page.url
        assert len(page.forms) <= (30 if page.url in {"/cart", "/wishlist"} else 12), page.url
        assert size <= 150_000, page.url
        assert len(page.text) <= 9_000, page.url


def test_pages_have_the_same_links_and_forms_in_every_language() -> None:
    shapes = {
        code: [
            (
                page.url,
                [link.href for link in page.links],
                [
                    (f.name, [(c.name, [o.value for o in c.options]) for c in f.fields])
                    for f in page.forms
                ],
            )
            for page, _size in pages(code)
        ]
        for code in LANGUAGES
    }
    baseline = shapes[LANGUAGES[0]]
    for code, shape in shapes.items():
        for expected, found in zip(baseline, shape, strict=True):
            assert found == expected, (code, found[0])


def test_the_pseudo_language_shows_no_text_outside_brackets() -> None:
    """What no catalogue holds is data of the shop: names, codes, numbers, texts of products."""
    letters = re.compile(r"[A-Za-z]{3,}")
    with World.open(SITE, PSEUDO) as world:
        data = {
            word
            for table, columns in {
                "products": "name description bullets color_name material_name country_name "
                "model_code sku",
                "categories": "name blurb",
                "brands": "name blurb",
                "users": "username display_name email",
                "reviews": "title body",
                "questions": "body",
                "answers": "body",
            }.items()
            for column in columns.split()
            for row in world.query(f"SELECT {column} AS text FROM {table}")
            for word in letters.findall(str(row["text"] or ""))
        } | {"image", "ministore", "stock", "out", "low"}
    for page, _size in pages(PSEUDO):
        unbracketed = page.text
        while re.search("⟦[^⟦⟧]*⟧", unbracketed):
            unbracketed = re.sub("⟦[^⟦⟧]*⟧", " ", unbracketed)
        leaks = set(letters.findall(unbracketed)) - data
        assert leaks == set(), (page.url, leaks)
