"""Marks as JSON (`formats.md` 3), and what `measure` finds wrong with bad ones."""

import json
from pathlib import Path

import pytest

from set_of_marks import Box, Mark, MarkedPage, compare_numbers, measure, place_labels
from tests.set_of_marks.pages import form, link, page

GOLDEN = Path(__file__).parents[1] / "fixtures" / "marks.json"
COLLECTED = page(
    link(1, Box(40.126, 20, 90, 24)),
    link(2, Box(300, 60, 200, 22), Box(40, 86, 120, 22)),
    form(1, Box(40, 140, 400, 80), Box(50, 160, 200, 30)),
)


def test_golden_json() -> None:
    text = place_labels(COLLECTED).to_json()

    assert text + "\n" == GOLDEN.read_text("utf-8")
    assert MarkedPage.from_json(text).to_json() == text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 2}, "marks of schema 2; this version reads 1"),
        ({"marks": [{"number": 1}]}, "not the JSON of marks"),
        ({"page": 3}, "not the JSON of marks"),
        (
            {"marks": [{"number": 1, "kind": "button", "boxes": [], "label": [0, 0, 1, 1]}]},
            "unknown kind of mark 'button'",
        ),
    ],
)
def test_json_of_something_else_is_refused(change: dict[str, object], words: str) -> None:
    data = {**json.loads(GOLDEN.read_text("utf-8")), **change}

    with pytest.raises(ValueError, match=words):
        MarkedPage.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"schema": 1}'])
def test_broken_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        MarkedPage.from_json(text)


def marked(*labels: Box) -> MarkedPage:
    """Marks with labels at these places."""
    marks = (Mark(index + 1, "link", (), label) for index, label in enumerate(labels))
    return MarkedPage(1280, 800, 18, tuple(marks))


def test_measure_counts_labels_on_one_another() -> None:
    quality = measure(marked(Box(0, 0, 20, 18), Box(10, 9, 20, 18), Box(90, 0, 9, 18)), page())

    assert quality.overlapping_labels == 1
    assert not quality.is_clean


def test_measure_counts_labels_on_text() -> None:
    collected = page(link(1, Box(100, 100, 50, 20)))

    assert measure(marked(Box(90, 100, 20, 18)), collected).covered_texts == 1


def test_measure_counts_labels_that_leave_the_page() -> None:
    assert measure(marked(Box(1270, 0, 20, 18), Box(0, 790, 20, 18)), page()).cut_labels == 2


def test_measure_counts_elements_without_a_mark() -> None:
    assert measure(marked(), page(link(1, Box(0, 0, 9, 9)))).unlabelled == 1


def test_a_label_as_a_model_sees_it() -> None:
    tall = MarkedPage(1280, 3136, 24, ())

    assert measure(tall, page(height=3136)).seen_label_px == pytest.approx(12)


def test_numbers_of_text_and_picture_are_compared() -> None:
    picture = place_labels(COLLECTED)

    assert compare_numbers([("link", 1), ("link", 2), ("form", 1)], picture) == set()
    assert compare_numbers([("link", 1), ("link", 3), ("form", 1)], picture) == {
        ("link", 2),
        ("link", 3),
    }
