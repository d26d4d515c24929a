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
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page as PlaywrightPage
from playwright.sync_api import sync_playwright

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_vis.browsers.base import Request, Response
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.browsers.rendering import Rendering
from lowagent_vis.errors import HarnessError
from lowagent_vis.page import Page
from set_of_marks import COLLECT_SCRIPT, parse_collected, place_labels

PATH_VARIABLE = "LOWAGENT_VIS_CHROMIUM"
VIEWPORT_WIDTH_PX, VIEWPORT_HEIGHT_PX = 1280, 800
MAX_HEIGHT_PX = 16_000
JPEG_QUALITY = 90
_DEADLINE_S = 10.0
_START_DEADLINE_S = 60.0
_SYSTEM_PATH = Path("/usr/lib/chromium/chromium-headless-shell")
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_FLAGS = (
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
    version = re.search(r"\d+(?:\.\d+){2,3}", result.stdout)
    return ChromiumInstall(path, version[0]) if version else None


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
            renderer._thread.call(lambda page: None, timeout_s=_START_DEADLINE_S)
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
        last: BaseException | None = None
        for recover in (None, self._thread.renew_page, self._restart):
            try:
                if recover is not None:
                    recover()
                return self._thread.call(
                    lambda page: _draw(page, html, self._width_px), timeout_s=self._deadline_s
                )
            except (PlaywrightError, FutureTimeoutError) as error:
                last = error
        raise HarnessError(f"the browser failed: {_first_line(last)}") from last

    def call(self, work: Callable[[PlaywrightPage], Any], *, timeout_s: float = 60.0) -> Any:
        """Run `work` with the Playwright page, for tests and measurements."""
        return self._thread.call(work, timeout_s=timeout_s)

    def close(self) -> None:
        """Close the browser and its thread."""
        self._thread.stop()

    def _restart(self) -> None:
        self._thread.stop()
        self._thread = _PlaywrightThread(self.install, self._asset_origin, self._width_px)


class ChromiumBrowser:
    """Fetches with an HTTP session and draws what was fetched."""

    def __init__(self, http: HttpBrowser, renderer: ChromiumRenderer) -> None:
        self._http = http
        self._renderer = renderer

    def send(self, request: Request) -> Response:
        """Send a request; see `HttpBrowser.send`."""
        return self._http.send(request)

    def render(self, page: Page) -> Rendering:
        """Draw a page that was fetched.

        Raises:
            HarnessError: It cannot be drawn.
        """
        return self._renderer.render(page.stamped_html())

    def close(self) -> None:
        """End the session; the renderer stays open for the next episode."""
        self._http.close()


def _draw(page: PlaywrightPage, html: str, width_px: int) -> Rendering:
    page.set_content(html, wait_until="load")
    collected = parse_collected(page.evaluate(COLLECT_SCRIPT, {"stamped": True}))
    if collected.height > MAX_HEIGHT_PX:
        raise HarnessError(f"the page is {collected.height} px tall; at most {MAX_HEIGHT_PX}")
    session = page.context.new_cdp_session(page)
    try:
        shot = session.send(
            "Page.captureScreenshot",
            {
                "format": "jpeg",
                "quality": JPEG_QUALITY,
                "captureBeyondViewport": True,
                "clip": {
                    "x": 0, "y": 0, "width": width_px, "height": collected.height, "scale": 1,
                },
            },
        )  # fmt: skip
    finally:
        session.detach()
    return Rendering(base64.b64decode(shot["data"]), place_labels(collected))


_Task = tuple[Callable[[PlaywrightPage], Any] | None, "Future[Any]"]


class _PlaywrightThread:
    """Owns Playwright, the browser and its page; runs one piece of work after another."""

    def __init__(self, install: ChromiumInstall, asset_origin: str, width_px: int) -> None:
        self._install = install
        self._blank = f"{asset_origin}/__blank"
        self._width_px = width_px
        self._work: queue.Queue[_Task | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def call(self, work: Callable[[PlaywrightPage], Any], *, timeout_s: float) -> Any:
        """Run `work` with the page; what it raises is raised here."""
        future: Future[Any] = Future()
        self._work.put((work, future))
        return future.result(timeout=timeout_s)

    def renew_page(self) -> None:
        """Replace the page and its context, after a crash of the page."""
        future: Future[Any] = Future()
        self._work.put((None, future))
        future.result(timeout=_START_DEADLINE_S)

    def stop(self) -> None:
        """Close the browser; a thread that hangs is left behind, its browser is killed."""
        self._work.put(None)
        self._thread.join(timeout=10)
        if self._thread.is_alive():
            self._kill()

    def _run(self) -> None:
        failure: BaseException | None = None
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=str(self._install.path),
                    args=list(_FLAGS),
                    chromium_sandbox=os.geteuid() != 0,
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                page = self._open_page(browser)
                while (task := self._work.get()) is not None:
                    work, future = task
                    try:
                        if work is None:
                            with contextlib.suppress(PlaywrightError):
                                page.context.close()
                            page = self._open_page(browser)
                            future.set_result(None)
                        else:
                            future.set_result(work(page))
                    except (PlaywrightError, HarnessError) as error:
                        future.set_exception(error)
                browser.close()
        except PlaywrightError as error:
            failure = error
        while True:
            try:
                task = self._work.get_nowait()
            except queue.Empty:
                return
            if task is not None:
                task[1].set_exception(failure or PlaywrightError("the browser is closed"))

    def _open_page(self, browser: Any) -> PlaywrightPage:
        context = browser.new_context(
            viewport={"width": self._width_px, "height": VIEWPORT_HEIGHT_PX},
            device_scale_factor=1,
            java_script_enabled=False,
            service_workers="block",
        )
        page: PlaywrightPage = context.new_page()
        page.goto(self._blank)
        return page

    def _kill(self) -> None:
        """Kill this process's Chromium children that carry our flags, by their ids."""
        marker = str(self._install.path).encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                if command.startswith(marker) and _is_descendant(int(entry.name)):
                    os.kill(int(entry.name), 9)


def _is_descendant(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        with contextlib.suppress(OSError):
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            continue
        return False
    return False


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
