"""Real Chromium: what it draws is what the text says, and it fails without taking us along."""

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.chromium import (
    MAX_HEIGHT_PX,
    PATH_VARIABLE,
    ChromiumBrowser,
    ChromiumRenderer,
    find_chromium,
)
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.errors import HarnessError, PrerequisiteError
from lowagent_vis.observation import check_numbers
from lowagent_vis.page import Page, parse_page
from tests.lowagent_vis.browsers.small_site import SmallSite

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from playwright.sync_api import Page as PlaywrightPage

pytestmark = pytest.mark.browser

GOLDEN = Path(__file__).parents[2] / "fixtures" / "observations"
CSS = b"p.red { color: #c00; background: #c00 } .flex { display: flex; gap: 8px }"
CSP = "default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'"
PAGES = {
    "product": (GOLDEN / "product.html").read_text("utf-8"),
    "urdu": (GOLDEN / "urdu.html").read_text("utf-8"),
    "bengali": '<html lang="bn"><body><div class="flex"><a href="/a">রান্নাঘর</a>'
    '<span>৳ ২,৯৮৮</span><a href="/b">কাপ</a></div><p>দাম<b> ৩</b>।</p></body></html>',
    "devanagari": '<html lang="hi"><body><ol><li>पहला <a href="/a">लिंक</a></li><li>दूसरा</li></ol>'
    "<table><tr><th>मूल्य</th><td>₹ २,२४१</td></tr></table></body></html>",
    "ethiopic": '<html lang="am"><body><h1>ዕቃዎች</h1><dl><dt>ዋጋ</dt><dd>ETB 3,735</dd></dl>'
    '<form name="f"><label>ብዛት <input name="q"></label><button>ያክሉ</button></form></body></html>',
}


class Assets:
    """A style sheet and the empty page; remembers the paths it was asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> list[bytes]:
        path = str(environ["PATH_INFO"])
        self.paths.append(path)
        is_css = path == "/static/a.css"
        kind = "text/css" if is_css else "text/html"
        start_response("200 OK", [("Content-Type", kind), ("Content-Security-Policy", CSP)])
        return [CSS if is_css else b"<!doctype html><html><body></body></html>"]


@pytest.fixture(scope="module")
def assets() -> Assets:
    return Assets()


@pytest.fixture(scope="module")
def asset_origin(assets: Assets) -> Iterator[str]:
    with AssetServer.start(assets) as server:
        yield server.origin


@pytest.fixture(scope="module")
def renderer(asset_origin: str) -> Iterator[ChromiumRenderer]:
    with ChromiumRenderer.launch(asset_origin=asset_origin) as started:
        yield started


def page_of(html: str) -> Page:
    return parse_page(html.encode(), url="/x")


def styled(body: str) -> str:
    return (
        '<!DOCTYPE html><html><head><link rel="stylesheet" href="/static/a.css"></head>'
        f"<body>{body}</body></html>"
    )


def visible_text(page: "PlaywrightPage") -> str:
    """The browser's own text, without what the text observation prints elsewhere."""
    return str(
        page.evaluate(
            """() => {
              for (const e of document.querySelectorAll('.visually-hidden, select')) e.remove();
              return document.body.innerText;
            }"""
        )
    )


def without_space(text: str) -> str:
    return re.sub(r"[\s|]", "", text)


@pytest.mark.parametrize("name", PAGES)
def test_the_text_is_the_browsers_text(renderer: ChromiumRenderer, name: str) -> None:
    page = page_of(PAGES[name])
    renderer.call(lambda drawn: drawn.set_content(page.stamped_html()))
    ours = re.sub(r"\[image\] Photo \d of \d", "", page.text)
    assert without_space(ours) == without_space(renderer.call(visible_text))


@pytest.mark.parametrize("name", PAGES)
def test_what_is_numbered_is_what_has_a_box(renderer: ChromiumRenderer, name: str) -> None:
    page = page_of(PAGES[name])
    check_numbers(page, renderer.render(page.stamped_html().replace("visually-hidden", "x")))
    seen = """() => [...document.querySelectorAll('a[href]:not([href^="#"]), form')].filter(
      e => [...e.getClientRects()].some(r => r.width && r.height)
        && !e.closest('.visually-hidden')).map(e => e.dataset.i)"""
    assert None not in renderer.call(lambda drawn: drawn.evaluate(seen))


def test_style_sheets_come_from_the_asset_server(
    renderer: ChromiumRenderer, assets: Assets
) -> None:
    rendering = renderer.render(page_of(styled('<p class="red">x</p>')).stamped_html())
    pixels = np.asarray(Image.open(io.BytesIO(rendering.clean_jpeg)))
    assert "/static/a.css" in assets.paths
    assert abs(int(pixels[25, 600, 0]) - 0xCC) < 8
    assert int(pixels[25, 600, 1]) < 8


def test_the_picture_is_the_whole_page_in_css_pixels(renderer: ChromiumRenderer) -> None:
    tall = renderer.render(page_of(styled("<p>line</p>" * 80)).stamped_html())
    short = renderer.render(page_of(styled("<p>line</p>")).stamped_html())
    for rendering in (tall, short):
        size = Image.open(io.BytesIO(rendering.clean_jpeg)).size
        assert size == (rendering.width, rendering.height)
    assert (short.width, short.height) == (1280, 800)
    assert tall.height > 2000


def test_the_same_page_gives_the_same_picture(renderer: ChromiumRenderer) -> None:
    other = page_of(PAGES["urdu"]).stamped_html()
    html = page_of(PAGES["product"]).stamped_html()
    pictures = set()
    for _ in range(4):
        pictures.add(renderer.render(html).clean_jpeg)
        renderer.render(other)
    assert len(pictures) == 1


def test_the_width_can_be_chosen(asset_origin: str) -> None:
    with ChromiumRenderer.launch(asset_origin=asset_origin, width_px=390) as narrow:
        assert narrow.render(page_of(PAGES["urdu"]).stamped_html()).width == 390


def test_scripts_do_not_run_and_nothing_leaves_this_machine(
    renderer: ChromiumRenderer, assets: Assets
) -> None:
    html = page_of("<p>x</p>").stamped_html()
    html = html.replace("<p>", '<script src="/evil.js"></script><img src="http://evil.test/a"><p>')
    renderer.render(html)
    assert not [path for path in assets.paths if "evil" in path]
    failure = "() => fetch('http://198.51.100.1/').then(() => 'sent', () => 'refused')"
    assert renderer.call(lambda drawn: drawn.evaluate(failure)) == "refused"


def test_pages_that_are_too_tall_are_our_fault(renderer: ChromiumRenderer) -> None:
    html = page_of(styled("<p>line</p>" * 600)).stamped_html()
    with pytest.raises(HarnessError, match=f"at most {MAX_HEIGHT_PX}"):
        renderer.render(html)


def test_a_number_without_a_box_is_our_fault(renderer: ChromiumRenderer) -> None:
    html = page_of('<a href="/a">x</a>').stamped_html().replace(">x<", "><")
    with pytest.raises(HarnessError, match="link 1 is numbered but cannot be seen"):
        renderer.render(html)


def test_a_crashed_page_and_a_killed_browser_are_replaced(asset_origin: str) -> None:
    html = page_of(PAGES["urdu"]).stamped_html()
    with ChromiumRenderer.launch(asset_origin=asset_origin) as renderer:
        before = renderer.render(html)
        first_pid = renderer.browser_pid
        with pytest.raises(Exception, match="crash"):
            renderer.call(lambda drawn: drawn.goto("chrome://crash"))
        assert renderer.render(html) == before
        assert renderer.browser_pid == first_pid
        assert first_pid is not None
        os.kill(first_pid, signal.SIGKILL)
        assert renderer.render(html) == before
        assert renderer.browser_pid != first_pid


def test_a_page_that_hangs_ends_at_its_deadline(asset_origin: str) -> None:
    html = page_of(PAGES["urdu"]).stamped_html()
    with (
        ChromiumRenderer.launch(asset_origin=asset_origin, deadline_s=0.001) as renderer,
        pytest.raises(HarnessError, match="the browser failed"),
    ):
        renderer.render(html)


def test_closing_ends_the_browser(asset_origin: str) -> None:
    with ChromiumRenderer.launch(asset_origin=asset_origin) as renderer:
        pid = renderer.browser_pid
        assert Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{pid}").exists()


def test_a_renderer_works_inside_a_running_event_loop(renderer: ChromiumRenderer) -> None:
    async def draw() -> int:
        return renderer.render(page_of(PAGES["urdu"]).stamped_html()).width

    assert asyncio.run(draw()) == 1280


def test_pages_are_fetched_once_and_drawn_from_what_was_fetched(
    renderer: ChromiumRenderer, assets: Assets
) -> None:
    site = SmallSite()
    http = HttpBrowser(wsgi=site, base_url="http://small.test")
    browser = ChromiumBrowser(http, renderer)
    seen = len(assets.paths)
    response = browser.send(Request("GET", "/"))
    page = parse_page(response.html, url=response.url)
    first, again = browser.render(page), browser.render(page)
    browser.close()
    assert first is again
    assert [mark.number for mark in first.marked.marks] == [1]
    assert [r["path"] for r in site.requests] == ["/"]
    assert assets.paths[seen:] == []


def test_a_killed_parent_leaves_no_process_behind(asset_origin: str) -> None:
    program = (
        "import sys, time\n"
        "from lowagent_vis.browsers.chromium import ChromiumRenderer\n"
        f"r = ChromiumRenderer.launch(asset_origin={asset_origin!r})\n"
        "print(r.browser_pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        browser_pid = int(parent.stdout.readline())
        family = _descendants(parent.pid)
        assert browser_pid in family
        parent.kill()
    deadline = time.monotonic() + 5
    while (left := [pid for pid in family if _runs(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _descendants(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = int(fields[1])
    found = [pid]
    for parent in found:
        found += [child for child, its_parent in parents.items() if its_parent == parent]
    return found[1:]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_environment_names_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_chromium()
    monkeypatch.setenv(PATH_VARIABLE, str(found.path))
    assert find_chromium() == found


def test_a_missing_browser_is_one_line_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(PrerequisiteError, match=PATH_VARIABLE) as caught:
        find_chromium()
    assert "\n" not in str(caught.value)
