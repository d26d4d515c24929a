"""Measures how good the marks of a page are; every count should be 0."""

from collections.abc import Iterable
from dataclasses import dataclass

from set_of_marks.collect import CollectedPage
from set_of_marks.layout import foreign_boxes
from set_of_marks.marks import Kind, MarkedPage

_TOUCH_PX = 1.0


@dataclass(frozen=True)
class MarkQuality:
    """The measures of one page.

    Attributes:
        overlapping_labels: Pairs of labels that share more than a square pixel.
        covered_texts: Labels on the text of a numbered element.
        cut_labels: Labels that leave the page.
        misleading_labels: Labels of a form in the box of another.
        unlabelled: Elements without a mark.
        seen_label_px: Height of a label for a model that sees 1,568 px on the long side.
    """

    overlapping_labels: int
    covered_texts: int
    cut_labels: int
    misleading_labels: int
    unlabelled: int
    seen_label_px: float

    @property
    def is_clean(self) -> bool:
        """Whether nothing is covered, cut or missing."""
        return not (
            self.overlapping_labels
            or self.covered_texts
            or self.cut_labels
            or self.misleading_labels
            or self.unlabelled
        )


def measure(
    marked: MarkedPage, collected: CollectedPage, *, long_side_px: int = 1568
) -> MarkQuality:
    """Measure the labels of a page against what the page holds."""
    labels = [mark.label for mark in marked.marks]
    texts = [text for element in collected.elements for text in element.texts]
    pairs = sum(
        first.overlap(second) > _TOUCH_PX
        for index, first in enumerate(labels)
        for second in labels[index + 1 :]
    )
    covered = sum(any(label.overlap(text) > _TOUCH_PX for text in texts) for label in labels)
    cut = sum(
        label.x < 0 or label.y < 0 or label.right > marked.width or label.bottom > marked.height
        for label in labels
    )
    factor = min(1.0, long_side_px / max(marked.width, marked.height))
    return MarkQuality(
        overlapping_labels=pairs,
        covered_texts=covered,
        cut_labels=cut,
        misleading_labels=_count_misleading(marked, collected),
        unlabelled=len(collected.elements) - len(marked.marks),
        seen_label_px=marked.label_px * factor,
    )


def _count_misleading(marked: MarkedPage, collected: CollectedPage) -> int:
    forms = {element.number: element for element in collected.elements if element.kind == "form"}
    return sum(
        any(
            mark.label.overlap(box) > _TOUCH_PX
            for other in forms.values()
            for box in foreign_boxes(forms[mark.number], other)
        )
        for mark in marked.marks
        if mark.kind == "form" and mark.number in forms
    )


def compare_numbers(
    numbers: Iterable[tuple[Kind, int]], marked: MarkedPage
) -> set[tuple[Kind, int]]:
    """Return the numbers that only the text or only the picture has."""
    return set(numbers).symmetric_difference((mark.kind, mark.number) for mark in marked.marks)
