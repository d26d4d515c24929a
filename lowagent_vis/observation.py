"""What an agent is shown: the text of a page, its picture with marks, the last error."""

from dataclasses import dataclass, field

from lowagent_vis.browsers.base import Browser
from lowagent_vis.browsers.rendering import Rendering
from lowagent_vis.errors import HarnessError
from lowagent_vis.page import Page


@dataclass(frozen=True)
class ObservationSettings:
    """Study factors of the observation.

    Attributes:
        page_text: Whether the visible text is part of it.
        link_targets: Whether links show where they lead.
        clean_screenshot: Pictures without marks.
        screenshot_only: Pictures without text but address, title and error.
    """

    page_text: bool = True
    link_targets: bool = True
    clean_screenshot: bool = False
    screenshot_only: bool = False


@dataclass(frozen=True)
class Observation:
    """One observation.

    Attributes:
        page: The page it was made from; agents without a model read `text` instead.
        text: The text observation.
        step: Counted from 0.
        steps_left: Actions that are left, the next one included.
        error: What was wrong with the last action.
        rendering: The picture and its marks; None in a text run.
        settings: How it was made.
    """

    page: Page
    text: str
    step: int
    steps_left: int
    error: str | None = None
    rendering: Rendering | None = None
    settings: ObservationSettings = field(default_factory=ObservationSettings)

    def screenshot_jpeg(self) -> bytes | None:
        """Return the picture that the agent is shown, marked unless the settings say clean."""
        if self.rendering is None:
            return None
        if self.settings.clean_screenshot:
            return self.rendering.clean_jpeg
        return self.rendering.marked_jpeg()


def observe(
    page: Page,
    browser: Browser,
    *,
    step: int,
    steps_left: int,
    error: str | None,
    settings: ObservationSettings | None = None,
) -> Observation:
    """Observe a page that was fetched.

    Raises:
        HarnessError: The page cannot be drawn, or its marks are not the numbers of its text.
    """
    chosen = settings or ObservationSettings()
    if chosen.screenshot_only:
        text = page.heading_text(error)
    else:
        text = page.to_text(error, page_text=chosen.page_text, link_targets=chosen.link_targets)
    rendering = browser.render(page)
    if rendering is not None:
        check_numbers(page, rendering)
    return Observation(page, text, step, steps_left, error, rendering, chosen)


def check_numbers(page: Page, rendering: Rendering) -> None:
    """Check that the picture has one mark for each number of the text and no other.

    Raises:
        HarnessError: They differ; such an episode must not be scored.
    """
    numbers = {("link", k.number) for k in page.links} | {("form", f.number) for f in page.forms}
    marked = [(mark.kind, mark.number) for mark in rendering.marked.marks]
    if len(marked) != len(set(marked)) or set(marked) != numbers:
        odd = sorted(numbers.symmetric_difference(marked))
        raise HarnessError(f"marks and numbers differ on {page.url}: {odd[:5]}")
