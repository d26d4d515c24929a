"""Collecting from live pages of others: what is seen gets a number, and nothing else."""

import io
import os
from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from lowagent_vis.browsers.chromium import CHROMIUM_FLAGS, find_chromium
from set_of_marks import (
    Box,
    collect_elements,
    draw_on_jpeg,
    measure,
    parse_collected,
    place_labels,
)

pytestmark = pytest.mark.browser

STYLE = "<style>*{margin:0;font:16px/24px serif}body{padding:60px}.gone{display:none}</style>"


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Page]:
    """A page of 800 x 600 pixels in one browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_chromium().path),
            args=list(CHROMIUM_FLAGS),
            chromium_sandbox=os.geteuid() != 0,
        )
        yield browser.new_page(viewport={"width": 800, "height": 600})
        browser.close()


def show(page: Page, body: str) -> None:
    """Show a document."""
    page.set_content(f"<!doctype html><title>T</title>{STYLE}<body>{body}")


def test_links_and_forms_are_numbered_apart_in_document_order(browser_page: Page) -> None:
    show(
        browser_page,
        '<a href="/one">One</a> <form name="find"><input name="q"></form> <a href="/two">Two</a>',
    )

    collected = collect_elements(browser_page)

    assert collected.title == "T"
    assert [(e.kind, e.number, e.target, e.label) for e in collected.elements] == [
        ("link", 1, "/one", "One"),
        ("link", 2, "/two", "Two"),
        ("form", 1, "find", ""),
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        '<a href="/x" class="gone">x</a>',
        '<a href="/x" style="visibility:hidden">x</a>',
        '<a href="/x" style="opacity:0">x</a>',
        '<div class="gone"><a href="/x">x</a></div>',
        "<details><summary>s</summary><a href='/x'>x</a></details>",
        '<a name="top">x</a>',
        '<a href="#part">x</a>',
        '<form class="gone"><input></form>',
    ],
)
def test_what_nobody_sees_or_follows_gets_no_number(browser_page: Page, hidden: str) -> None:
    show(browser_page, f'{hidden}<a href="/seen">seen</a>')

    assert [e.target for e in collect_elements(browser_page).elements] == ["/seen"]


def test_a_link_over_two_lines_has_two_boxes(browser_page: Page) -> None:
    show(
        browser_page,
        '<p style="width:200px">before the long <a href="/x">link that will not fit a line</a></p>',
    )

    boxes = collect_elements(browser_page).elements[0].boxes

    assert len(boxes) >= 2
    assert boxes[0].x > boxes[1].x
    assert boxes[0].bottom <= boxes[1].y + 12


def test_a_link_around_a_picture_has_the_box_of_the_picture(browser_page: Page) -> None:
    show(browser_page, '<a href="/x"><svg width="120" height="90"></svg></a>')

    box = collect_elements(browser_page).elements[0].boxes[0]

    assert (box.width, box.height) == pytest.approx((120, 90), abs=8)


def test_bidirectional_text_in_a_line_is_one_box(browser_page: Page) -> None:
    show(browser_page, '<p dir="rtl"><a href="/x">قیمت 2,988 روپے ABC ہے</a></p>')

    element = collect_elements(browser_page).elements[0]

    assert element.rtl
    assert len(element.boxes) == 1


def test_boxes_count_from_the_page_not_from_the_window(browser_page: Page) -> None:
    show(browser_page, '<div style="height:2000px"></div><a href="/x">x</a>')
    before = collect_elements(browser_page)
    browser_page.evaluate("scrollTo(0, 900)")

    after = collect_elements(browser_page)

    assert after.elements == before.elements
    assert after.elements[0].boxes[0].y > 2000
    assert after.height > 2100


def test_a_page_wider_than_its_window_says_so(browser_page: Page) -> None:
    show(browser_page, '<div style="width:900px">x</div>')

    assert collect_elements(browser_page).overflow_px >= 100


def test_fields_of_a_form_count_as_its_text(browser_page: Page) -> None:
    show(
        browser_page,
        '<form><label>Name <input name="n"></label><input type="hidden" name="t">'
        "<button>Send</button></form>",
    )
    form = collect_elements(browser_page).elements[0]
    field = browser_page.locator("input[name=n]").bounding_box()

    assert field is not None
    wanted = Box(*(field[key] for key in ("x", "y", "width", "height")))
    assert any(text == pytest.approx(wanted, abs=0.02) for text in form.texts)
    assert len(form.texts) == 4


def test_numbers_of_a_stamped_page_are_taken(browser_page: Page) -> None:
    show(
        browser_page,
        '<a href="/a" data-i="L7">a</a><a href="/b">b</a><form data-i="F3"><input></form>',
    )

    collected = collect_elements(browser_page, stamped=True)

    assert [(e.kind, e.number) for e in collected.elements] == [("link", 7), ("form", 3)]


def test_a_page_without_a_body_is_empty(browser_page: Page) -> None:
    browser_page.set_content("<title>x</title>")

    assert collect_elements(browser_page).elements == ()


def test_a_dense_page_of_others_stays_clean(browser_page: Page) -> None:
    cards = "".join(
        f'<div style="width:150px"><a href="/p{n}"><svg width="140" height="80"></svg></a>'
        f'<a href="/p{n}">Product number {n} with a name over two lines</a> <b>9.95</b>'
        f'<form name="add{n}"><button>Add</button></form></div>'
        for n in range(24)
    )
    nav = "".join(f'<a href="/n{n}">Menu {n}</a> ' for n in range(14))
    show(
        browser_page,
        f"<nav>{nav}</nav><div style='display:flex;flex-wrap:wrap;gap:16px'>{cards}</div>",
    )
    collected = collect_elements(browser_page)

    marked = place_labels(collected)

    quality = measure(marked, collected)
    assert len(marked.marks) == 14 + 3 * 24
    assert quality.is_clean, quality
    clean = browser_page.screenshot(full_page=True, type="jpeg", quality=90)
    with Image.open(io.BytesIO(draw_on_jpeg(clean, marked))) as image:
        assert image.size == (collected.width, collected.height)


def test_the_answer_of_another_driver_is_read() -> None:
    collected = parse_collected(
        '{"width":800,"height":600,"overflow":0,"title":"T","elements":[{"number":1,"kind":"link",'
        '"boxes":[[1,2,3,4]],"rtl":false,"texts":[],"target":"/","label":"x"}],"texts":[]}'
    )

    assert collected.elements[0].boxes == (Box(1, 2, 3, 4),)
