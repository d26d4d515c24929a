"""Draws marks on a picture, as in Set-of-Mark prompting (Yang et al. 2023).

A link has a solid blue box and a label with square corners, a form a dashed red box and a label
with round corners that begins with F: they differ in more than colour.
"""

import io

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from set_of_marks.font import label_font
from set_of_marks.marks import Box, Mark, MarkedPage

RgbImage = npt.NDArray[np.uint8]

LINK_COLOR = (18, 77, 196)
FORM_COLOR = (176, 20, 42)
_WHITE = (255, 255, 255)
_DASH, _SPACE = 9, 6
_LINE = 2
_MARKED_QUALITY = 85
_TOLERANCE_PX = 1.5


def draw_marks(screenshot: "RgbImage | Image.Image", page: MarkedPage) -> Image.Image:
    """Draw a numbered box on each mark.

    Args:
        screenshot: (H, W, 3) uint8 RGB, or a picture; not changed.
        page: Boxes in CSS pixels from the page's top left, scaled by the screenshot's ratio.

    Raises:
        ValueError: A label lies outside the page.
    """
    if isinstance(screenshot, Image.Image):
        image = screenshot.convert("RGB") if screenshot.mode != "RGB" else screenshot.copy()
    else:
        image = Image.fromarray(screenshot)
    scale = image.width / page.width
    canvas = ImageDraw.Draw(image)
    for mark in page.marks:
        _check(mark, page)
        color = FORM_COLOR if mark.kind == "form" else LINK_COLOR
        for box in mark.boxes:
            _draw_box(canvas, _around(_scaled(box, scale)), color, is_dashed=mark.kind == "form")
    for mark in page.marks:
        _draw_label(canvas, mark, page, scale)
    return image


def draw_on_jpeg(clean: bytes, page: MarkedPage, *, quality: int = _MARKED_QUALITY) -> bytes:
    """Draw marks on an encoded picture and encode it as JPEG: the same bytes every time.

    Raises:
        ValueError: A label lies outside the page.
    """
    with Image.open(io.BytesIO(clean)) as image:
        image.load()
        marked = draw_marks(image, page)
    buffer = io.BytesIO()
    marked.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def _check(mark: Mark, page: MarkedPage) -> None:
    label = mark.label
    if (
        label.x < -_TOLERANCE_PX
        or label.y < -_TOLERANCE_PX
        or label.right > page.width + _TOLERANCE_PX
        or label.bottom > page.height + _TOLERANCE_PX
    ):
        raise ValueError(f"the label of {mark.kind} {mark.number} lies outside the page")


def _scaled(box: Box, scale: float) -> tuple[int, int, int, int]:
    return (
        round(box.x * scale),
        round(box.y * scale),
        round(box.right * scale),
        round(box.bottom * scale),
    )


def _around(corners: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Return the corners of the line around a box: it touches no letter that fills the box."""
    left, top, right, bottom = corners
    return left - _LINE, top - _LINE, right + _LINE, bottom + _LINE


def _draw_box(
    canvas: ImageDraw.ImageDraw,
    corners: tuple[int, int, int, int],
    color: tuple[int, int, int],
    *,
    is_dashed: bool,
) -> None:
    left, top, right, bottom = corners
    if right - left < 2 or bottom - top < 2:
        return
    if not is_dashed:
        canvas.rectangle(corners, outline=color, width=_LINE)
        return
    step = _DASH + _SPACE
    for x in range(left, right, step):
        end = min(x + _DASH, right)
        canvas.line([(x, top), (end, top)], fill=color, width=_LINE)
        canvas.line([(x, bottom), (end, bottom)], fill=color, width=_LINE)
    for y in range(top, bottom, step):
        end = min(y + _DASH, bottom)
        canvas.line([(left, y), (left, end)], fill=color, width=_LINE)
        canvas.line([(right, y), (right, end)], fill=color, width=_LINE)


def _draw_label(canvas: ImageDraw.ImageDraw, mark: Mark, page: MarkedPage, scale: float) -> None:
    left, top, right, bottom = _scaled(mark.label, scale)
    if mark.kind == "form":
        radius = (bottom - top) // 3
        canvas.rounded_rectangle(
            (left, top, right - 1, bottom - 1), radius, fill=FORM_COLOR, outline=_WHITE, width=1
        )
    else:
        canvas.rectangle((left, top, right - 1, bottom - 1), fill=LINK_COLOR, outline=_WHITE)
    canvas.text(
        ((left + right) / 2, (top + bottom) / 2),
        mark.text,
        fill=_WHITE,
        font=label_font(round(page.label_px * scale)),
        anchor="mm",
    )
