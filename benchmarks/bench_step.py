"""How fast a step is, text and visual, held against the plain way of doing the same.

Each bound is a ratio between ways measured in turns in one run, medians over the rounds:

- visual: fetch, number, draw, mark and encode, against goto + full-page PNG and against goto +
  full-page JPEG of quality 80 (`page.screenshot`) in the same browser;
- text: request, parse, number and print, against the bare request, in process and over HTTP;
- parse: parse, number and print a generated page, against lxml's bare parse of its bytes.

    python -m benchmarks.bench_step                 worlds of every language
    python -m benchmarks.bench_step URL [URL ...]   pages of running servers
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from lxml import etree
from playwright.sync_api import Page as PlaywrightPage

from benchmarks.shop_page import shop_page
from lowagent_sites.common.languages import selectable_languages
from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.chromium import ChromiumRenderer
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.errors import PrerequisiteError
from lowagent_vis.page import Page, parse_page
from lowagent_vis.world import World

SITE = "ministore"
ROUNDS = 5
TEXT_REPEATS = 20
BOUNDS = {
    "visual / PNG, any page": 0.90,
    "visual / PNG, mean": 0.65,
    "visual / JPEG, any page": 1.30,
    "visual / JPEG, mean": 1.15,
    "text in process, any page": 1.5,
    "text over HTTP, any page": 1.45,
    "parse, any page": 5.0,
}

Timed = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One page: where it is served and, perhaps, the world that serves it in this process."""

    name: str
    origin: str
    path: str
    world: World | None = None


@dataclass(frozen=True)
class Row:
    """Ratios of one page by measure, and the absolute of our way in milliseconds."""

    name: str
    height_px: int
    ratios: dict[str, float]
    step_ms: float


def main(urls: Sequence[str]) -> int:
    """Measure, print a table and return 1 if a bound is missed."""
    with ExitStack() as stack:
        cases = list(_url_cases(urls) if urls else _world_cases(stack))
        assets = stack.enter_context(AssetServer.start())
        renderer = stack.enter_context(ChromiumRenderer.launch(asset_origin=assets.origin))
        rows = [_measure(case, renderer) for case in cases]
    rows += [_measure_parse(script) for script in ("Latin", "Bengali", "Arabic")]
    for row in rows:
        ratios = "  ".join(f"{what} {value:.2f}" for what, value in row.ratios.items())
        print(f"{row.name:28} {row.height_px:5} px {row.step_ms:7.1f} ms  {ratios}")
    return _verdict(rows)


def _verdict(rows: Sequence[Row]) -> int:
    has_missed = False
    print()
    for bound, limit in BOUNDS.items():
        measure, _, kind = bound.partition(", ")
        values = [row.ratios[measure] for row in rows if measure in row.ratios]
        if not values:
            continue
        value = statistics.mean(values) if kind == "mean" else max(values)
        has_missed |= value > limit
        state = "ok" if value <= limit else "MISSED"
        print(f"{bound:28} {value:6.3f}  bound {limit:5.2f}  {state}")
    return int(has_missed)


def _url_cases(urls: Sequence[str]) -> Iterator[Case]:
    for url in urls:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        yield Case(url, f"{parts.scheme}://{parts.netloc}", path)


def _world_cases(stack: ExitStack) -> Iterator[Case]:
    for language in selectable_languages():
        try:
            world = stack.enter_context(World.open(SITE, language.code))
        except PrerequisiteError as error:
            print(f"{language.code}: left out, {error}")
            continue
        server = stack.enter_context(AssetServer.start(world.wsgi))
        for kind, path in _page_kinds(world):
            yield Case(f"{language.code} {kind}", server.origin, path, world)


def _page_kinds(world: World) -> Iterator[tuple[str, str]]:
    yield "home", "/"
    with HttpBrowser(wsgi=world.wsgi, base_url=world.origin) as browser:
        home = _read(browser, "/")
        category = next(k.href for k in home.links if k.href.startswith("/c/"))
        yield "category", category
        listed = _read(browser, category)
        product = next(k.href for k in listed.links if k.href.startswith("/p/"))
        brand = next(k.href for k in _read(browser, product).links if k.href.startswith("/brand/"))
    yield "product", product
    yield "reviews", f"{product}/reviews"
    yield "questions", f"{product}/qa"
    yield "search", "/search?q=a"
    yield "brands", "/brands"
    yield "brand", brand
    yield "sign in", "/login"
    yield "registration", "/register"


def _read(browser: HttpBrowser, path: str) -> Page:
    response = browser.send(Request("GET", path))
    return parse_page(response.html, url=response.url)


def _measure(case: Case, renderer: ChromiumRenderer) -> Row:
    ratios: dict[str, float] = {}
    with ExitStack() as stack:
        http = stack.enter_context(HttpBrowser(base_url=case.origin))
        ratios["text over HTTP"] = _text_ratio(http, case.path)
        nearest = http
        if case.world is not None:
            # Episodes fetch in process; only the plain way needs a server.
            nearest = stack.enter_context(
                HttpBrowser(wsgi=case.world.wsgi, base_url=case.world.origin)
            )
            ratios["text in process"] = _text_ratio(nearest, case.path)
        height_px = 0

        def step() -> None:
            nonlocal height_px
            rendering = renderer.render(_read(nearest, case.path).stamped_html())
            rendering.marked_jpeg()
            height_px = rendering.height

        plain = renderer.call(_plain_page)
        png = _screenshot_way(renderer, plain, case, kind="png")
        jpeg = _screenshot_way(renderer, plain, case, kind="jpeg")
        step_s, png_s, jpeg_s = _medians((step, png, jpeg), ROUNDS)
        renderer.call(lambda page: plain.context.close())
    ratios["visual / PNG"], ratios["visual / JPEG"] = step_s / png_s, step_s / jpeg_s
    return Row(case.name, height_px, ratios, step_s * 1000)


def _plain_page(page: PlaywrightPage) -> PlaywrightPage:
    browser = page.context.browser
    if browser is None:
        raise RuntimeError("the page has no browser")
    return browser.new_context(viewport={"width": 1280, "height": 800}).new_page()


def _screenshot_way(
    renderer: ChromiumRenderer, plain: PlaywrightPage, case: Case, *, kind: str
) -> Timed:
    def shoot(_page: PlaywrightPage) -> int:
        plain.goto(f"{case.origin}{case.path}")
        if kind == "png":
            return len(plain.screenshot(full_page=True))
        return len(plain.screenshot(full_page=True, type="jpeg", quality=80))

    return lambda: renderer.call(shoot)


def _text_ratio(browser: HttpBrowser, path: str) -> float:
    def request() -> None:
        browser.send(Request("GET", path))

    def step() -> None:
        _read(browser, path).to_text()

    request_s, step_s = _medians((request, step), TEXT_REPEATS)
    return step_s / request_s


def _measure_parse(script: str) -> Row:
    html = shop_page(script, cards=60, facts=100)

    def bare() -> None:
        etree.fromstring(html, etree.HTMLParser(encoding="utf-8"))

    def ours() -> None:
        parse_page(html, url="/").to_text()

    bare_s, ours_s = _medians((bare, ours), 50)
    return Row(
        f"generated {script} {len(html) // 1024} KiB", 0, {"parse": ours_s / bare_s}, ours_s * 1000
    )


def _medians(ways: Sequence[Timed], rounds: int) -> list[float]:
    """Return the median seconds of each way; the ways take turns, one round is not counted."""
    times: list[list[float]] = [[] for _ in ways]
    for round_ in range(rounds + 1):
        for way, own in zip(ways, times, strict=True):
            started_s = time.perf_counter()
            way()
            if round_:
                own.append(time.perf_counter() - started_s)
    return [statistics.median(own) for own in times]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
