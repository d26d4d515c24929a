"""Our visual step against BrowserGym's set-of-marks observation of the same pages.

BrowserGym pins an old Playwright and needs an environment of its own:

    python3 -m venv /tmp/browsergym && /tmp/browsergym/bin/pip install browsergym-core==0.14.3
    .venv/bin/python benchmarks/bench_browsergym.py /tmp/browsergym/bin/python

Rounds take turns; medians count. Ours draws the full page. BrowserGym observes its window: once of
its own size, which the bound is for, once as tall as the page, where both see the same. Its
waits are no part of the measure: it runs with `slow_mo=0` (its default waits a second after each
`goto`), and the time in which it sleeps before it tries again is taken off and printed apart.
"""

import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from lowagent_sites.common.languages import selectable_languages
from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.chromium import ChromiumRenderer, find_chromium
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.page import parse_page
from lowagent_vis.world import World

SITE = "ministore"
PATHS = ("/", "/c/kitchen", "/p/P02403", "/p/P02403/reviews", "/search?q=a")
ROUNDS = 5
BOUND, BOUND_TALL, TALL_PX = 3.0, 1.8, 5000
WINDOW_PX = 720


def main(python: str) -> int:
    """Measure, print a table, return 1 if a bound is missed."""
    has_missed = False
    with ExitStack() as stack:
        assets = stack.enter_context(AssetServer.start())
        renderer = stack.enter_context(ChromiumRenderer.launch(asset_origin=assets.origin))
        other: subprocess.Popen[str] | None = None
        ratios, whole_ratios = [], []
        for language in selectable_languages():
            world = stack.enter_context(World.open(SITE, language.code))
            served = stack.enter_context(AssetServer.start(world.wsgi))
            if other is None:
                other = start(python, served.origin)
            http = stack.enter_context(HttpBrowser(wsgi=world.wsgi, base_url=world.origin))
            for path in PATHS:
                ours, theirs, whole, naps, height_px = [], [], [], [], 0
                for round_ in range(ROUNDS + 1):
                    started_s = time.perf_counter()
                    response = http.send(Request("GET", path))
                    page = parse_page(response.html, url=response.url)
                    page.to_text()
                    rendering = renderer.render(page.stamped_html())
                    rendering.marked_jpeg()
                    own_s = time.perf_counter() - started_s
                    height_px = rendering.height
                    other_s, slept_s = ask(other, f"{served.origin}{path}", WINDOW_PX)
                    whole_s, whole_slept_s = ask(other, f"{served.origin}{path}", height_px)
                    if round_:
                        ours.append(own_s)
                        theirs.append(other_s - slept_s)
                        whole.append(whole_s - whole_slept_s)
                        naps.append(slept_s + whole_slept_s)
                own_s, other_s, whole_s = map(statistics.median, (ours, theirs, whole))
                bound = BOUND_TALL if height_px >= TALL_PX else BOUND
                has_missed |= other_s / own_s < bound
                ratios.append(other_s / own_s)
                whole_ratios.append(whole_s / own_s)
                print(
                    f"{language.code} {path:22} {height_px:5} px  ours {own_s * 1000:6.1f} ms  "
                    f"BrowserGym {other_s * 1000:7.1f} ms  ratio {other_s / own_s:5.2f}  "
                    f"whole page {whole_s * 1000:7.1f} ms {whole_s / own_s:5.2f}  "
                    f"(slept {statistics.mean(naps) * 1000:.1f} ms)"
                )
        if other is not None and other.stdin is not None:
            other.stdin.close()
            other.wait(timeout=30)
    print(f"\nratio, least {min(ratios):.2f}, mean {statistics.mean(ratios):.2f}; bound {BOUND}")
    print(
        f"whole page in both, least {min(whole_ratios):.2f}, "
        f"mean {statistics.mean(whole_ratios):.2f}"
    )
    return int(has_missed)


def start(python: str, address: str) -> "subprocess.Popen[str]":
    """Start BrowserGym in its environment and wait until it has a page."""
    process = subprocess.Popen(
        [python, Path(__file__).with_name("browsergym_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LOWAGENT_VIS_CHROMIUM": str(find_chromium().path)},
    )
    write(process, address)
    if process.stdout is None or process.stdout.readline().strip() != "ready":
        raise RuntimeError("BrowserGym did not start")
    return process


def ask(process: "subprocess.Popen[str]", address: str, height_px: int) -> tuple[float, float]:
    """Return the seconds of one observation and how many of them were sleep."""
    write(process, f"{address} {height_px}")
    if process.stdout is None:
        raise RuntimeError("BrowserGym has no output")
    whole_s, slept_s = process.stdout.readline().split()
    return float(whole_s), float(slept_s)


def write(process: "subprocess.Popen[str]", line: str) -> None:
    """Send one line."""
    if process.stdin is None:
        raise RuntimeError("BrowserGym has no input")
    process.stdin.write(line + "\n")
    process.stdin.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
