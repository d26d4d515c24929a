"""Shows pages of the demo in a real Chromium, without a server: each request goes to the site."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, sync_playwright

from lowagent_vis.browsers.chromium import find_chromium
from tests.lowagent_sites.common.demo_site import ORIGIN, DemoClient


@contextmanager
def open_browser() -> Iterator[Page]:
    """Yield an empty page of a fresh Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium().path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser.new_page()
        browser.close()


def show(page: Page, client: DemoClient, path: str, *, width_px: int) -> None:
    """Open the page at `path` of the client's site, in a window of the given width."""

    def answer(route: Route) -> None:
        response = client.get(route.request.url.removeprefix(ORIGIN), follow_redirects=True)
        route.fulfill(
            status=response.status_code,
            headers={
                "Content-Type": response.headers["Content-Type"],
                "Content-Security-Policy": response.headers["Content-Security-Policy"],
            },
            body=response.content,
        )

    page.unroute_all()
    page.route("**/*", answer)
    page.set_viewport_size({"width": width_px, "height": 900})
    page.goto(ORIGIN + path)
    page.evaluate("document.fonts.ready.then(() => null)")
