"""Decides where each label goes: on no other label, on no text of a numbered element.

Places are tried in a fixed order: beside the box at the inline start, above its start corner, at
the inline end, below; then in rings that grow. Elements come by number, so the same page always
gets the same labels.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from set_of_marks.collect import CollectedPage
from set_of_marks.font import label_width
from set_of_marks.marks import Box, Element, Mark, MarkedPage, label_height

_GAP = 2.0
_CELL = 64
_RINGS = 6
_SOFT_WEIGHT = 0.02
_RING_COST = 40.0
_FOREIGN_WEIGHT = 0.5
_INSIDE_SHARE = 0.9


def place_labels(page: CollectedPage) -> MarkedPage:
    """Return the page with a label for each element.

    Where a page leaves no free place at all, the least bad one is taken; `quality.measure`
    reports it.
    """
    height = label_height(page.height)
    hard, soft, taken = _Grid(), _Grid(), _Grid()
    for element in page.elements:
        hard.add_all(element.texts or element.boxes)
    soft.add_all(page.texts)
    forms = [element for element in page.elements if element.kind == "form"]
    marks = []
    for element in page.elements:
        foreign = _Grid()
        if element.kind == "form":
            foreign.add_all(box for form in forms for box in foreign_boxes(element, form))
        text = f"F{element.number}" if element.kind == "form" else str(element.number)
        width = label_width(text, height)
        box = _best_place(element, width, height, page, hard, soft, taken, foreign)
        taken.add(box)
        marks.append(Mark(element.number, element.kind, element.boxes, box))
    return MarkedPage(page.width, page.height, height, tuple(marks))


def foreign_boxes(form: Element, other: Element) -> tuple[Box, ...]:
    """Return the boxes of another form in which a form's label would seem to name that one.

    A form that lies in the other's box has none: its label can only be there.
    """
    if other is form or any(
        outer.overlap(inner) >= _INSIDE_SHARE * inner.width * inner.height
        for outer in other.boxes
        for inner in form.boxes
    ):
        return ()
    return other.boxes


def _best_place(
    element: Element,
    width: int,
    height: int,
    page: CollectedPage,
    hard: "_Grid",
    soft: "_Grid",
    taken: "_Grid",
    foreign: "_Grid",
) -> Box:
    best, best_cost = None, float("inf")
    for distance, place in _candidates(element, width, height, page):
        cost = (
            1000 * taken.overlap(_grown(place))
            + 10 * hard.overlap(place)
            + _FOREIGN_WEIGHT * foreign.overlap(place)
            + _SOFT_WEIGHT * soft.overlap(place)
            + _RING_COST * distance
        )
        if cost < best_cost:
            best, best_cost = place, cost
            if cost == 0:
                break
    if best is None:
        return Box(0, 0, width, height)
    return best


def _candidates(
    element: Element, width: int, height: int, page: CollectedPage
) -> Iterator[tuple[float, Box]]:
    """Yield places with their distance in rings, all inside the page."""
    if not element.boxes:
        return
    first = element.boxes[0]
    start = first.right + _GAP if element.rtl else first.x - width - _GAP
    end = first.x - width - _GAP if element.rtl else first.right + _GAP
    corner = first.right - width if element.rtl else first.x
    far_corner = first.x if element.rtl else first.right - width
    middle = first.y + (first.height - height) / 2
    above, below = first.y - height - _GAP, first.bottom + _GAP
    sides = [(start, first.y), (start, middle), (start, above + height * 0.6)]
    if first.height < 2.2 * height:
        sides = [(start, middle), (start, first.y), (start, first.bottom - height)]
    near = [
        *sides,
        (corner, above),
        (end, middle),
        (corner, below),
        (far_corner, above),
        (far_corner, below),
        (end, first.y),
    ]
    if element.kind == "form":
        near = [(corner, above), (start, first.y), (far_corner, above), *near]
        near += [(corner + _GAP, first.y + _GAP), (far_corner - _GAP, first.y + _GAP)]
    for index, (x, y) in enumerate(near):
        yield index * 0.001, _inside(x, y, width, height, page)
    for ring in range(1, _RINGS + 1):
        shift = ring * height * 0.75
        for dx, dy in ((-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)):
            yield (
                float(ring),
                _inside(corner + dx * shift, middle + dy * shift, width, height, page),
            )


def _inside(x: float, y: float, width: int, height: int, page: CollectedPage) -> Box:
    return Box(
        round(min(max(x, 0), page.width - width), 2),
        round(min(max(y, 0), page.height - height), 2),
        width,
        height,
    )


def _grown(box: Box) -> Box:
    """Return a box with the rim that keeps two labels apart."""
    return Box(box.x - 1, box.y - 1, box.width + 2, box.height + 2)


class _Grid:
    """Boxes in cells, so that only near ones are compared."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = defaultdict(list)

    def add(self, box: Box) -> None:
        for cell in _cells(box):
            self._cells[cell].append(box)

    def add_all(self, boxes: Iterable[Box]) -> None:
        for box in boxes:
            self.add(box)

    def overlap(self, box: Box) -> float:
        """Return the largest area that `box` shares with one of the boxes."""
        largest = 0.0
        for cell in _cells(box):
            for other in self._cells.get(cell, _NOTHING):
                largest = max(largest, box.overlap(other))
        return largest


_NOTHING: Sequence[Box] = ()


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.x // _CELL), int(box.right // _CELL) + 1):
        for row in range(int(box.y // _CELL), int(box.bottom // _CELL) + 1):
            yield column, row
