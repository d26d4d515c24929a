"""Draws pages with a real Chromium; it never fetches a page itself (`rendering.md` 2).

Playwright's objects live in a thread of their own, so that a renderer can be used from any
thread and inside a running event loop.
"""

import base64
import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from playwright.sync_api import Browser as PlaywrightBrowser
from playwright.sync_api import CDPSession, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page as PlaywrightPage

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_vis.browsers.base import Request, Response
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.browsers.rendering import Rendering
from lowagent_vis.errors import HarnessError
from lowagent_vis.page import Page
from set_of_marks import CollectedPage, collect_elements, place_labels

_Result = TypeVar("_Result")

PATH_VARIABLE = "LOWAGENT_VIS_CHROMIUM"
VIEWPORT_WIDTH_PX, VIEWPORT_HEIGHT_PX = 1280, 800
MAX_HEIGHT_PX = 16_000
JPEG_QUALITY = 90
_DEADLINE_S = 10.0
_START_DEADLINE_S = 60.0
_CLOSE_DEADLINE_S = 10.0
# A browser grows with each page it draws; a fresh one takes half a second.
_PAGES_PER_BROWSER = 500
_SYSTEM_PATH = Path("/usr/lib/chromium/chromium-headless-shell")
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--hide-scrollbars",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_REMEDY = (
    "no Chromium found; run `make setup` in a checkout, or `playwright install chromium`, "
    f"or set {PATH_VARIABLE} to a Chromium"
)


@dataclass(frozen=True)
class ChromiumInstall:
    """A Chromium on this machine."""

    path: Path
    version: str


def find_chromium() -> ChromiumInstall:
    """Return the first Chromium that runs: the environment's, the system's, Playwright's.

    Raises:
        PrerequisiteError: There is none; the message is the remedy.
    """
    named = os.environ.get(PATH_VARIABLE)
    if named:
        found = _probe(Path(named))
        if found is None:
            raise PrerequisiteError(f"{PATH_VARIABLE}={named} is not a Chromium that runs")
        return found
    candidates = [_SYSTEM_PATH, *(Path(p) for p in map(shutil.which, _NAMES) if p)]
    for path in (*candidates, *_playwright_paths()):
        found = _probe(path)
        if found is not None:
            return found
    raise PrerequisiteError(_REMEDY)


def _playwright_paths() -> list[Path]:
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright"
    root = Path(folder).expanduser()
    names = ("chromium*/chrome-linux*/headless_shell", "chromium*/chrome-linux*/chrome")
    return [path for name in names for path in sorted(root.glob(name), reverse=True)]


def _probe(path: Path) -> ChromiumInstall | None:
    if not path.is_file() or not os.access(path, os.X_OK):
        return None
    try:
        result = subprocess.run(  # noqa: S603 - a browser that the user or the system installed
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"Chrom\D*(\d+(?:\.\d+){2,3})", result.stdout)
    return ChromiumInstall(path, version[1]) if version else None


class ChromiumRenderer:
    """One Chromium with one persistent page on the asset server's empty page.

    Args:
        asset_origin: Where style sheets, fonts and photos come from.
        width_px: Width of the viewport.
        deadline_s: Longest time for one page.
    """

    def __init__(
        self,
        *,
        asset_origin: str,
        width_px: int = VIEWPORT_WIDTH_PX,
        deadline_s: float = _DEADLINE_S,
    ) -> None:
        self.install = find_chromium()
        self._asset_origin = asset_origin
        self._width_px = width_px
        self._deadline_s = deadline_s
        self._drawn = 0
        self._thread = _PlaywrightThread(self.install, asset_origin, width_px)

    @classmethod
    def launch(
        cls,
        *,
        asset_origin: str,
        width_px: int = VIEWPORT_WIDTH_PX,
        deadline_s: float = _DEADLINE_S,
    ) -> Self:
        """Start a browser.

        Raises:
            PrerequisiteError: There is no Chromium, or it does not start.
        """
        renderer = cls(asset_origin=asset_origin, width_px=width_px, deadline_s=deadline_s)
        try:
            renderer._thread.call(lambda canvas: None, timeout_s=_START_DEADLINE_S)
        except (PlaywrightError, FutureTimeoutError) as error:
            renderer.close()
            raise PrerequisiteError(
                f"{renderer.install.path} does not start ({_first_line(error)}); "
                f"install another Chromium or set {PATH_VARIABLE}"
            ) from error
        return renderer

    def __enter__(self) -> Self:
        """Use the renderer in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the browser."""
        self.close()

    def render(self, html: str) -> Rendering:
        """Draw stamped HTML as a full page with marks.

        After a crash the page is drawn once more in a new page, then once in a new browser.

        Raises:
            HarnessError: The page cannot be drawn in time, or is taller than 16,000 px.
        """
        if self._drawn >= _PAGES_PER_BROWSER:
            self._restart()
        self._drawn += 1
        last: Exception | None = None
        for recover in (None, self._thread.renew_page, self._restart):
            try:
                if recover is not None:
                    recover()
                rendering = self._thread.call(
                    lambda canvas: _draw(canvas, html, self._width_px), timeout_s=self._deadline_s
                )
            except FutureTimeoutError as error:
                # What hangs ends when its browser does; the two ways out then follow at once.
                last = error
                self._thread.kill_browser()
            except PlaywrightError as error:
                last = error
            else:
                self._thread.post(lambda canvas: _flatten(canvas, self._width_px))
                return rendering
        raise HarnessError(f"the browser failed: {_first_line(last)}") from last

    def call(
        self, work: Callable[[PlaywrightPage], _Result], *, timeout_s: float = 60.0
    ) -> _Result:
        """Run `work` with the Playwright page, for tests and measurements."""

        def run(canvas: _Canvas) -> _Result:
            canvas.is_flat = False  # the work may change the window
            return work(canvas.page)

        return self._thread.call(run, timeout_s=timeout_s)

    @property
    def browser_pid(self) -> int | None:
        """Process id of the browser; None before it has started."""
        return self._thread.browser_pid

    def close(self) -> None:
        """Close the browser and its thread."""
        self._thread.stop()

    def _restart(self) -> None:
        self._thread.stop()
        self._thread = _PlaywrightThread(self.install, self._asset_origin, self._width_px)
        self._thread.call(lambda canvas: None, timeout_s=_START_DEADLINE_S)
        self._drawn = 0


class ChromiumBrowser:
    """Fetches with an HTTP session and draws what was fetched."""

    def __init__(self, http: HttpBrowser, renderer: ChromiumRenderer) -> None:
        self._http = http
        self._renderer = renderer
        self._last: tuple[Page, Rendering] | None = None

    def send(self, request: Request) -> Response:
        """Send a request; see `HttpBrowser.send`."""
        return self._http.send(request)

    def render(self, page: Page) -> Rendering:
        """Draw a page that was fetched; after an action that failed it is the same picture.

        Raises:
            HarnessError: It cannot be drawn.
        """
        if self._last is None or self._last[0] is not page:
            self._last = (page, self._renderer.render(page.stamped_html()))
        return self._last[1]

    def close(self) -> None:
        """End the session; the renderer stays open for the next episode."""
        self._http.close()


@dataclass
class _Canvas:
    """The page that everything is drawn in, and the session that takes its picture."""

    page: PlaywrightPage
    session: CDPSession
    is_flat: bool = False


def _flatten(canvas: _Canvas, width_px: int) -> None:
    """Make the window one pixel high; done ahead, while the agent thinks."""
    if not canvas.is_flat:
        canvas.page.set_viewport_size({"width": width_px, "height": 1})
        canvas.is_flat = True


def _draw(canvas: _Canvas, html: str, width_px: int) -> Rendering:
    """Lay the page out in a window of no height, then open the window to the page's height.

    Nothing is painted before the page is complete and the window never changes while a picture
    is taken: with `captureBeyondViewport` pictures of one page differed now and then by a few
    levels in scaled photos and shadows, and each took a third longer.
    """
    page = canvas.page
    _flatten(canvas, width_px)
    page.set_content(html, wait_until="load")
    collected = collect_elements(page, stamped=True)
    collected = replace(collected, height=max(collected.height, VIEWPORT_HEIGHT_PX))
    _check_drawable(collected)
    with ThreadPoolExecutor(1) as second_thread:
        marked = second_thread.submit(place_labels, collected)
        canvas.is_flat = False
        page.set_viewport_size({"width": width_px, "height": collected.height})
        options = {"format": "jpeg", "quality": JPEG_QUALITY}
        shot = canvas.session.send("Page.captureScreenshot", options)
    return Rendering(base64.b64decode(shot["data"]), marked.result())


def _check_drawable(collected: CollectedPage) -> None:
    if collected.height > MAX_HEIGHT_PX:
        raise HarnessError(f"the page is {collected.height} px tall; at most {MAX_HEIGHT_PX}")
    for element in collected.elements:
        if not any(box.width >= 1 and box.height >= 1 for box in element.boxes):
            raise HarnessError(f"{element.kind} {element.number} is numbered but cannot be seen")


class _PlaywrightThread:
    """Owns Playwright, the browser and its page; runs one piece of work after another."""

    def __init__(self, install: ChromiumInstall, asset_origin: str, width_px: int) -> None:
        self.browser_pid: int | None = None
        self._install = install
        self._blank = f"{asset_origin}/__blank"
        self._width_px = width_px
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._failure: PlaywrightError | None = None
        self._has_ended = False
        self._ending = threading.Lock()
        self._canvas: _Canvas | None = None
        self._browser: PlaywrightBrowser | None = None
        self._thread = threading.Thread(target=self._run, name="chromium", daemon=True)
        self._thread.start()

    def call(self, work: Callable[[_Canvas], _Result], *, timeout_s: float) -> _Result:
        """Run `work` with the page; what it raises is raised here."""
        return self._submit(lambda: work(self._open_canvas())).result(timeout=timeout_s)

    def post(self, work: Callable[[_Canvas], None]) -> None:
        """Run `work` with the page later; the next call waits for it and finds out if it failed."""

        def run() -> None:
            with contextlib.suppress(PlaywrightError):
                work(self._open_canvas())

        with self._ending:
            if not self._has_ended:
                self._work.put(run)

    def renew_page(self) -> None:
        """Replace the page and its context, after a crash of the page."""
        self._submit(self._replace_page).result(timeout=_START_DEADLINE_S)

    def stop(self) -> None:
        """Close the browser; one that does not close is killed."""
        self._work.put(None)
        self._thread.join(timeout=_CLOSE_DEADLINE_S)
        self.kill_browser()
        self._thread.join(timeout=_CLOSE_DEADLINE_S)

    def kill_browser(self) -> None:
        """Kill the browser by its process id, if it still runs."""
        pid = self.browser_pid
        if pid is None:
            return
        with contextlib.suppress(OSError):
            # The id may belong to another program by now.
            if Path(f"/proc/{pid}/exe").samefile(self._install.path.resolve()):
                os.kill(pid, signal.SIGKILL)

    def _submit(self, work: Callable[[], _Result]) -> "Future[_Result]":
        future: Future[_Result] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # handed to the thread that asked for it
                future.set_exception(error)

        with self._ending:
            if self._has_ended:
                raise self._failure or PlaywrightError("the browser is closed")
            self._work.put(run)
        return future

    def _run(self) -> None:
        try:
            with sync_playwright() as playwright:
                self._browser = playwright.chromium.launch(
                    executable_path=str(self._install.path),
                    args=list(CHROMIUM_FLAGS),
                    chromium_sandbox=os.geteuid() != 0,
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                self.browser_pid = _process_id(self._browser)
                while (work := self._work.get()) is not None:
                    work()
                self._browser.close()
        except PlaywrightError as error:
            self._failure = error
        finally:
            self._refuse_further_work()

    def _refuse_further_work(self) -> None:
        with self._ending:
            self._has_ended = True
        self._canvas = self._browser = None
        while not self._work.empty():
            work = self._work.get()
            if work is not None:
                work()

    def _open_canvas(self) -> _Canvas:
        if self._browser is None:
            raise self._failure or PlaywrightError("the browser is closed")
        if self._canvas is None:
            context = self._browser.new_context(
                viewport={"width": self._width_px, "height": VIEWPORT_HEIGHT_PX},
                device_scale_factor=1,
                java_script_enabled=False,
                service_workers="block",
            )
            page = context.new_page()
            page.goto(self._blank)
            self._canvas = _Canvas(page, context.new_cdp_session(page))
        return self._canvas

    def _replace_page(self) -> None:
        if self._canvas is not None:
            context, self._canvas = self._canvas.page.context, None
            with contextlib.suppress(PlaywrightError):
                context.close()
        self._open_canvas()


def _process_id(browser: PlaywrightBrowser) -> int | None:
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return next((int(p["id"]) for p in processes if p["type"] == "browser"), None)


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
