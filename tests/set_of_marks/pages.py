"""Pages as values, for tests of marks without a browser."""

from set_of_marks import Box, CollectedPage, Element


def link(number: int, *boxes: Box, rtl: bool = False) -> Element:
    """A link whose text fills its boxes."""
    return Element(number, "link", boxes, rtl=rtl, texts=boxes)


def form(number: int, box: Box, *fields: Box, rtl: bool = False) -> Element:
    """A form with the places of its fields."""
    return Element(number, "form", (box,), rtl=rtl, texts=fields)


def page(*elements: Element, width: int = 1280, height: int = 800) -> CollectedPage:
    """A page with these elements; all its text is theirs."""
    texts = tuple(box for element in elements for box in element.texts)
    return CollectedPage(width, height, 0, "", elements, texts)
