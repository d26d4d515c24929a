"""What an agent is shown, and when an observation must not be used."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from lowagent_vis.browsers.base import Request, Response
from lowagent_vis.browsers.rendering import Rendering
from lowagent_vis.errors import HarnessError
from lowagent_vis.observation import ObservationSettings, check_numbers, observe
from lowagent_vis.page import Page, parse_page
from set_of_marks import Box, Mark, MarkedPage

PAGE = parse_page(
    b"<html><head><title>T</title></head><body><a href=/a>A</a>"
    b"<form name=f><button>B</button></form></body></html>",
    url="/x",
)
MARKS = (
    Mark(1, "link", (Box(40, 10, 50, 20),), Box(10, 10, 20, 18)),
    Mark(1, "form", (Box(40, 50, 90, 30),), Box(10, 50, 20, 18)),
)


def white_jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (200, 100), "white").save(buffer, "JPEG")
    return buffer.getvalue()


RENDERING = Rendering(white_jpeg(), MarkedPage(200, 100, 18, MARKS))


class DrawingBrowser:
    """Draws every page as the rendering that it was given."""

    def __init__(self, rendering: Rendering | None) -> None:
        self.rendering = rendering

    def send(self, request: Request) -> Response:
        raise NotImplementedError

    def render(self, page: Page) -> Rendering | None:
        return self.rendering

    def close(self) -> None:
        pass


def text_with(settings: ObservationSettings, error: str | None = None) -> str:
    browser = DrawingBrowser(None)
    return observe(PAGE, browser, step=0, steps_left=3, error=error, settings=settings).text


def test_the_text_is_the_page_and_the_last_error() -> None:
    assert text_with(ObservationSettings(), "no such link\nhere") == (
        "URL: /x\nTITLE: T\nERROR: no such link here\nTEXT:\nA\nB\n"
        'LINKS:\n[1] A -> /a\nFORMS:\n[1] f\n  buttons: "B"'
    )


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (ObservationSettings(page_text=False), "TEXT:"),
        (ObservationSettings(link_targets=False), "-> /a"),
    ],
)
def test_study_factors_leave_parts_out(settings: ObservationSettings, missing: str) -> None:
    assert missing in text_with(ObservationSettings())
    assert missing not in text_with(settings)


def test_a_screenshot_alone_comes_with_address_title_and_error() -> None:
    assert text_with(ObservationSettings(screenshot_only=True), "bad") == (
        "URL: /x\nTITLE: T\nERROR: bad"
    )


def test_the_agent_is_shown_the_marked_picture_unless_it_is_to_be_clean() -> None:
    browser = DrawingBrowser(RENDERING)
    marked = observe(PAGE, browser, step=0, steps_left=1, error=None)
    clean = observe(
        PAGE,
        browser,
        step=0,
        steps_left=1,
        error=None,
        settings=ObservationSettings(clean_screenshot=True),
    )
    assert marked.screenshot_jpeg() == RENDERING.marked_jpeg() != RENDERING.clean_jpeg
    assert clean.screenshot_jpeg() == RENDERING.clean_jpeg
    assert observe(PAGE, DrawingBrowser(None), step=0, steps_left=1, error=None).rendering is None


@pytest.mark.parametrize("marks", [MARKS[:1], MARKS[1:], (*MARKS, MARKS[0]), ()])
def test_marks_that_are_not_the_numbers_are_our_fault(marks: tuple[Mark, ...]) -> None:
    rendering = replace(RENDERING, marked=MarkedPage(200, 100, 18, marks))
    with pytest.raises(HarnessError, match="marks and numbers differ on /x"):
        check_numbers(PAGE, rendering)
