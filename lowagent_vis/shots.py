"""One page as an agent sees it: clean and marked picture, marks, text, side by side."""

import base64
import html
import re
from dataclasses import dataclass
from pathlib import Path

from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.chromium import ChromiumBrowser, ChromiumRenderer
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.browsers.rendering import Rendering
from lowagent_vis.errors import HarnessError, UserError
from lowagent_vis.executor import resolve_path
from lowagent_vis.observation import observe
from lowagent_vis.page import Page, parse_page
from lowagent_vis.reports.texts import isolated_lines, language_styles
from lowagent_vis.world import World


@dataclass(frozen=True)
class Shot:
    """A page of a language, its HTTP status, its text observation and its picture."""

    language: str
    status: int
    page: Page
    text: str
    rendering: Rendering


def take_shot(
    site: str, language: str, path: str, *, login: str | None = None, width_px: int = 1280
) -> Shot:
    """Open a page of a fresh world and draw it.

    Args:
        site: Name of the site.
        language: Code of the language.
        path: Path and query on the site.
        login: Sign in as this user first.
        width_px: Width of the viewport in CSS pixels.

    Raises:
        UserError: The path is not on the site, or the user does not exist.
        HarnessError: The page cannot be drawn.
    """
    with (
        World.open(site, language) as world,
        AssetServer.start() as assets,
        ChromiumRenderer.launch(asset_origin=assets.origin, width_px=width_px) as renderer,
    ):
        http = HttpBrowser(wsgi=world.wsgi, base_url=world.origin)
        if login is not None:
            http.set_cookie(*world.login_cookie(login))
        browser = ChromiumBrowser(http, renderer)
        response = browser.send(Request("GET", resolve_path(path)))
        if response.status >= 500:
            raise HarnessError(f"the site answered {response.status} for {path}")
        page = parse_page(response.html, url=response.url)
        observation = observe(page, browser, step=0, steps_left=0, error=None)
        if observation.rendering is None:
            raise HarnessError(f"{path} could not be drawn")
        return Shot(language, response.status, page, observation.text, observation.rendering)


def write_shot(shot: Shot, folder: Path) -> None:
    """Write `clean.jpg`, `marked.jpg`, `marks.json`, `text.txt` and `side_by_side.html`.

    Raises:
        UserError: The folder cannot be written.
    """
    marked = shot.rendering.marked_jpeg()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "clean.jpg").write_bytes(shot.rendering.clean_jpeg)
        (folder / "marked.jpg").write_bytes(marked)
        (folder / "marks.json").write_text(shot.rendering.marked.to_json() + "\n", "utf-8")
        (folder / "text.txt").write_text(shot.text + "\n", "utf-8")
        (folder / "side_by_side.html").write_text(_side_by_side(shot, marked), "utf-8")
    except OSError as error:
        raise UserError(
            f"cannot write to {folder} ({error.strerror}); name another folder with --out"
        ) from error


def shot_name(site: str, language: str, url: str) -> str:
    """Return the folder's name for a page: `<site>.<lang>.<slug>`."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", url).strip("-") or "home"
    return f"{site}.{language}.{slug}"


def _side_by_side(shot: Shot, marked: bytes) -> str:
    template = (Path(__file__).parent / "side_by_side.html").read_text("utf-8")
    values = {
        "{{title}}": html.escape(shot.page.url),
        "{{fonts}}": language_styles([shot.language]),
        "{{lang}}": shot.language,
        "{{picture}}": base64.b64encode(marked).decode(),
        "{{text}}": isolated_lines(shot.text),
    }
    return re.sub("|".join(map(re.escape, values)), lambda match: values[match[0]], template)
