"""The font of the labels: ten digits and F, shipped with the package (OFL-1.1)."""

from functools import cache
from pathlib import Path

from PIL import ImageFont

_FILE = Path(__file__).parent / "LabelSans.ttf"
_SIZE_SHARE = 0.82
_PADDING_SHARE = 0.22


@cache
def label_font(label_px: int) -> ImageFont.FreeTypeFont:
    """Return the font for labels of this height in pixels."""
    return ImageFont.truetype(str(_FILE), round(label_px * _SIZE_SHARE))


@cache
def label_width(text: str, label_px: int) -> int:
    """Return the width of a label in pixels, its padding included."""
    return round(label_font(label_px).getlength(text) + 2 * _PADDING_SHARE * label_px)
