"""A drawn page: the clean picture as captured and the marks that belong to it."""

from dataclasses import dataclass
from functools import cached_property

from set_of_marks import MarkedPage, draw_on_jpeg


@dataclass(frozen=True)
class Rendering:
    """The picture of a page.

    Attributes:
        clean_jpeg: The full page as captured, JPEG.
        marked: Boxes and labels of its marks.
    """

    clean_jpeg: bytes
    marked: MarkedPage

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.marked.width

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.marked.height

    @cached_property
    def _marked_jpeg(self) -> bytes:
        return draw_on_jpeg(self.clean_jpeg, self.marked)

    def marked_jpeg(self) -> bytes:
        """Return the picture with its marks, a function of the clean bytes and the marks."""
        return self._marked_jpeg
