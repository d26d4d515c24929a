"""Collects from a live page what is to be marked: one script, one answer.

Works with Playwright's synchronous API through `collect_elements`, and with any other driver
through `COLLECT_SCRIPT` and `parse_collected`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from set_of_marks.marks import Box, Element

COLLECT_SCRIPT = (Path(__file__).parent / "collect.js").read_text("utf-8")
"""An asynchronous function in JavaScript; its argument is `{"stamped": bool}`."""


class EvaluatingPage(Protocol):
    """A Playwright page, as far as it is needed here."""

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        """Evaluate JavaScript in the page."""


@dataclass(frozen=True)
class CollectedPage:
    """What a page holds.

    Attributes:
        width: Width of the page in CSS pixels, without a scrollbar.
        height: Height of the whole page in CSS pixels.
        overflow_px: How far the page is wider than its window; it should be 0.
        title: The page's title.
        elements: Links, then forms.
        texts: Where any text is; labels keep off it where they can.
    """

    width: int
    height: int
    overflow_px: int
    title: str
    elements: tuple[Element, ...]
    texts: tuple[Box, ...] = ()


def collect_elements(page: EvaluatingPage, *, stamped: bool = False) -> CollectedPage:
    """Collect the elements of a page with one call.

    Args:
        page: A Playwright page (synchronous API); scripts of the page may be disabled.
        stamped: Take the elements that carry `data-i="L12"` or `data-i="F2"`, with these numbers;
            otherwise visible links and forms are numbered from 1 in document order.
    """
    return parse_collected(page.evaluate(COLLECT_SCRIPT, {"stamped": stamped}))


def parse_collected(text: str) -> CollectedPage:
    """Read the answer of `COLLECT_SCRIPT`."""
    data = json.loads(text)
    return CollectedPage(
        width=int(data["width"]),
        height=int(data["height"]),
        overflow_px=int(data["overflow"]),
        title=data["title"],
        elements=tuple(
            Element(
                number=entry["number"],
                kind=entry["kind"],
                boxes=tuple(Box(*box) for box in entry["boxes"]),
                rtl=entry["rtl"],
                texts=tuple(Box(*box) for box in entry["texts"]),
                target=entry["target"],
                label=entry["label"],
            )
            for entry in data["elements"]
        ),
        texts=tuple(Box(*box) for box in data["texts"]),
    )
