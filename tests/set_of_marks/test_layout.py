"""Where labels go: next to their element, on no other label, on no text that has a number."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from set_of_marks import (
    Box,
    CollectedPage,
    Element,
    Mark,
    MarkedPage,
    label_height,
    measure,
    place_labels,
)
from tests.set_of_marks.pages import form, link, page


@pytest.mark.parametrize(
    ("page_px", "label_px"),
    [(400, 18), (1568, 18), (2244, 18), (2352, 18), (2353, 19), (3136, 24), (5000, 39)],
)
def test_labels_grow_with_the_page(page_px: int, label_px: int) -> None:
    assert label_height(page_px) == label_px


def test_a_label_stands_before_its_link() -> None:
    marked = place_labels(page(link(1, Box(400, 100, 90, 24))))

    label = marked.marks[0].label
    assert label.right == pytest.approx(398)
    assert label.y + label.height / 2 == pytest.approx(112)


def test_before_means_right_where_text_runs_from_right_to_left() -> None:
    marked = place_labels(page(link(1, Box(400, 100, 90, 24), rtl=True)))

    assert marked.marks[0].label.x == pytest.approx(492)


def test_a_form_is_told_by_its_letter() -> None:
    marked = place_labels(page(link(3, Box(400, 40, 90, 24)), form(3, Box(400, 200, 300, 90))))

    assert [mark.text for mark in marked.marks] == ["3", "F3"]
    assert marked.marks[1].label.width > marked.marks[0].label.width


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("rtl", [False, True])
def test_the_label_of_a_form_is_in_no_other_forms_box(count: int, rtl: bool) -> None:
    stacked = [
        form(
            number,
            Box(20, 150 + 21 * number, 1240, 21),
            Box(900 if rtl else 24, 152 + 21 * number, 320, 17),
            rtl=rtl,
        )
        for number in range(1, count + 1)
    ]
    collected = page(*stacked)

    marked = place_labels(collected)

    assert measure(marked, collected).is_clean
    wrong = Mark(2, "form", marked.marks[1].boxes, marked.marks[0].boxes[0])
    misplaced = MarkedPage(1280, 800, 18, (marked.marks[0], wrong))
    assert measure(misplaced, collected).misleading_labels == 1


def test_a_form_within_a_form_keeps_its_label_there() -> None:
    collected = page(
        form(1, Box(20, 100, 1000, 400)), form(2, Box(200, 300, 300, 40), Box(200, 300, 300, 40))
    )

    assert measure(place_labels(collected), collected).misleading_labels == 0


def test_a_label_goes_elsewhere_when_text_stands_before_its_link() -> None:
    marked = place_labels(
        page(link(1, Box(340, 100, 58, 24)), link(2, Box(400, 100, 90, 24)), width=600)
    )

    first, second = (mark.label for mark in marked.marks)
    for label in (first, second):
        assert label.overlap(Box(340, 100, 58, 24)) == 0
        assert label.overlap(Box(400, 100, 90, 24)) == 0
    assert first.overlap(second) == 0


@pytest.mark.parametrize(
    "box", [Box(0, 0, 60, 20), Box(1220, 0, 60, 20), Box(0, 780, 60, 20), Box(1220, 780, 60, 20)]
)
@pytest.mark.parametrize("rtl", [False, True])
def test_no_label_is_cut_off_in_a_corner(box: Box, rtl: bool) -> None:
    collected = page(link(1, box, rtl=rtl))

    assert measure(place_labels(collected), collected).is_clean


def test_a_menu_of_near_links_stays_clean() -> None:
    rows = [link(index + 1, Box(30, 10 + 26 * index, 180, 22)) for index in range(28)]
    collected = page(*rows)

    assert measure(place_labels(collected), collected).is_clean


def test_a_bar_of_near_links_stays_clean() -> None:
    bar = [link(index + 1, Box(8 + 62 * index, 30, 58, 20)) for index in range(20)]
    collected = page(*bar)

    assert measure(place_labels(collected), collected).is_clean


def test_a_label_keeps_off_plain_text_where_it_can() -> None:
    element = link(1, Box(400, 100, 90, 24))
    before = Box(200, 100, 199, 24)
    collected = CollectedPage(1280, 800, 0, "", (element,), (*element.texts, before))

    assert place_labels(collected).marks[0].label.overlap(before) == 0


def test_an_element_without_a_box_still_gets_its_mark() -> None:
    collected = page(Element(7, "link", ()))

    marked = place_labels(collected)

    assert [mark.number for mark in marked.marks] == [7]
    assert measure(marked, collected).unlabelled == 0


def test_an_empty_page_has_no_marks() -> None:
    assert place_labels(page()).marks == ()


@st.composite
def grids(draw: st.DrawFn) -> CollectedPage:
    """Links in a grid with gaps a label fits into, some from right to left, some forms."""
    columns, rows = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    elements, counts = [], {"link": 0, "form": 0}
    for row in range(rows):
        for column in range(columns):
            width = draw(st.integers(20, 90))
            box = Box(50 + 150 * column, 30 + 60 * row, width, draw(st.integers(14, 30)))
            kind = draw(st.sampled_from(["link", "link", "form"]))
            counts[kind] += 1
            make = form if kind == "form" else link
            arguments = (box, box) if kind == "form" else (box,)
            elements.append(make(counts[kind], *arguments, rtl=draw(st.booleans())))
    return page(*elements, width=1280, height=30 + 60 * rows)


@given(grids())
@settings(max_examples=60, deadline=None)
def test_wherever_there_is_room_nothing_is_covered_and_places_never_change(
    collected: CollectedPage,
) -> None:
    marked = place_labels(collected)

    quality = measure(marked, collected)
    assert quality.is_clean
    assert quality.seen_label_px >= 12
    assert place_labels(collected) == marked
