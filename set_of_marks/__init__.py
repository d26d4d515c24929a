"""Set-of-marks: numbered boxes on a screenshot, for agents that point by number.

from set_of_marks import collect_elements, draw_marks, place_labels

collected = collect_elements(page)            # a Playwright page
marked = place_labels(collected)
image = draw_marks(screenshot, marked)        # an RGB array or a picture
"""

from set_of_marks.collect import (
    COLLECT_SCRIPT,
    CollectedPage,
    collect_elements,
    parse_collected,
)
from set_of_marks.draw import draw_marks, draw_on_jpeg
from set_of_marks.layout import place_labels
from set_of_marks.marks import Box, Element, Mark, MarkedPage, label_height
from set_of_marks.quality import MarkQuality, compare_numbers, measure

__all__ = [
    "COLLECT_SCRIPT",
    "Box",
    "CollectedPage",
    "Element",
    "Mark",
    "MarkQuality",
    "MarkedPage",
    "collect_elements",
    "compare_numbers",
    "draw_marks",
    "draw_on_jpeg",
    "label_height",
    "measure",
    "parse_collected",
    "place_labels",
]
