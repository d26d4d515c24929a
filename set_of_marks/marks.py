"""Marks: numbered boxes on a page, as values and as JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

SCHEMA = 1
MIN_LABEL_PX = 18
SEEN_LONG_SIDE_PX = 1568
SEEN_LABEL_PX = 12

Kind = Literal["link", "form"]


class Box(NamedTuple):
    """A rectangle in CSS pixels from the page's top left."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of the lower edge."""
        return self.y + self.height

    def overlap(self, other: "Box") -> float:
        """Return the area shared with another box, in square pixels."""
        width = min(self.right, other.right) - max(self.x, other.x)
        height = min(self.bottom, other.bottom) - max(self.y, other.y)
        return width * height if width > 0 and height > 0 else 0.0


@dataclass(frozen=True)
class Element:
    """Something on a page that gets a number.

    Attributes:
        number: From 1, links and forms apart.
        kind: A link or a form.
        boxes: One a line, in reading order; a form has one.
        rtl: Whether its text runs from right to left.
        texts: Where its text and fields are; no label may cover them.
        target: Where a link leads, or a form's name.
        label: What a person reads on it.
    """

    number: int
    kind: Kind
    boxes: tuple[Box, ...]
    rtl: bool = False
    texts: tuple[Box, ...] = ()
    target: str = ""
    label: str = ""


@dataclass(frozen=True)
class Mark:
    """A numbered element with the place of its label."""

    number: int
    kind: Kind
    boxes: tuple[Box, ...]
    label: Box

    @property
    def text(self) -> str:
        """What the label reads: `12` for a link, `F2` for a form."""
        return f"F{self.number}" if self.kind == "form" else str(self.number)


@dataclass(frozen=True)
class MarkedPage:
    """All marks of a page.

    Attributes:
        width: Width of the page in CSS pixels.
        height: Height of the page in CSS pixels.
        label_px: Height of the labels in CSS pixels.
        marks: Links first, then forms, each by number.
    """

    width: int
    height: int
    label_px: int
    marks: tuple[Mark, ...]

    def to_json(self) -> str:
        """Return the marks as a line of JSON; numbers have at most two decimals."""
        return json.dumps(
            {
                "schema": SCHEMA,
                "page": {"width": self.width, "height": self.height},
                "label_px": self.label_px,
                "marks": [
                    {
                        "number": mark.number,
                        "kind": mark.kind,
                        "boxes": [_numbers(box) for box in mark.boxes],
                        "label": _numbers(mark.label),
                    }
                    for mark in self.marks
                ],
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> "MarkedPage":
        """Read what `to_json` wrote.

        Raises:
            ValueError: It is no such JSON, or of another schema.
        """
        try:
            data = json.loads(text)
            if data["schema"] != SCHEMA:
                raise ValueError(f"marks of schema {data['schema']}; this version reads {SCHEMA}")
            return cls(
                width=int(data["page"]["width"]),
                height=int(data["page"]["height"]),
                label_px=int(data["label_px"]),
                marks=tuple(_mark(entry) for entry in data["marks"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the JSON of marks: {error!r}") from error


def label_height(page_height: float) -> int:
    """Return the height of labels so that a model that sees 1,568 px still gets 12 px."""
    return max(MIN_LABEL_PX, math.ceil(SEEN_LABEL_PX * page_height / SEEN_LONG_SIDE_PX))


def _numbers(box: Box) -> list[float]:
    rounded = (round(value, 2) for value in box)
    return [int(value) if value == int(value) else value for value in rounded]


def _box(values: Sequence[float]) -> Box:
    x, y, width, height = map(float, values)
    return Box(x, y, width, height)


def _mark(entry: Mapping[str, Any]) -> Mark:
    if entry["kind"] not in ("link", "form"):
        raise ValueError(f"unknown kind of mark {entry['kind']!r}")
    return Mark(
        number=int(entry["number"]),
        kind=entry["kind"],
        boxes=tuple(_box(values) for values in entry["boxes"]),
        label=_box(entry["label"]),
    )
