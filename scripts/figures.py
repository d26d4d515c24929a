#!/usr/bin/env python3
"""Draws the pictures of docs/figures: marked pages and the two interruptions."""

import io
from pathlib import Path

from PIL import Image

from lowagent_sites.common.languages import selectable_languages
from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.chromium import ChromiumBrowser, ChromiumRenderer
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.page import Page, parse_page
from lowagent_vis.world import World

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures"
SITE = "ministore"
WIDTH_PX = 960
HEIGHT_PX = 1200
QUALITY = 72


def write_figure(name: str, jpeg: bytes) -> None:
    """Write the top of a picture, reduced."""
    with Image.open(io.BytesIO(jpeg)) as image:
        height = round(image.height * WIDTH_PX / image.width)
        small = image.convert("RGB").resize((WIDTH_PX, height), Image.Resampling.LANCZOS)
    small.crop((0, 0, WIDTH_PX, min(height, HEIGHT_PX))).save(
        FOLDER / f"{name}.jpg", "JPEG", quality=QUALITY, optimize=True
    )


def main() -> None:
    """Draw the home page and a category in every language, and the interruptions in one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        AssetServer.start() as assets,
        ChromiumRenderer.launch(asset_origin=assets.origin) as renderer,
    ):
        for language in selectable_languages():
            with World.open(SITE, language.code) as world:
                http = HttpBrowser(wsgi=world.wsgi, base_url=world.origin)
                browser = ChromiumBrowser(http, renderer)
                for name, path in (("home", "/"), ("category", "/c/kitchen")):
                    page = fetch(browser, path)
                    write_figure(f"{name}.{language.code}", browser.render(page).marked_jpeg())
                if language.direction == "rtl":
                    world.arm_disruptions("once")
                    cookie = fetch(browser, "/")
                    write_figure("cookie-notice", browser.render(cookie).marked_jpeg())
                    fetch(browser, cookie.links[0].href)
                    ad = fetch(browser, "/c/kitchen")
                    write_figure("ad", browser.render(ad).marked_jpeg())


def fetch(browser: ChromiumBrowser, path: str) -> Page:
    """Open a page."""
    response = browser.send(Request("GET", path))
    return parse_page(response.html, url=response.url)


if __name__ == "__main__":
    main()
