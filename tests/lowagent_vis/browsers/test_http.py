"""Sessions, redirects and the border of the site, in process and over HTTP."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.errors import ActionError, HarnessError
from tests.lowagent_vis.browsers.small_site import PAGE, FileSite, SmallSite


@pytest.fixture
def site() -> SmallSite:
    return SmallSite()


@pytest.fixture
def browser(site: SmallSite) -> Iterator[HttpBrowser]:
    with HttpBrowser(wsgi=site, base_url="http://small.test") as opened:
        yield opened


@contextmanager
def in_process(site: SmallSite) -> Iterator[HttpBrowser]:
    with HttpBrowser(wsgi=site, base_url="http://small.test") as browser:
        yield browser


@contextmanager
def over_http(site: SmallSite) -> Iterator[HttpBrowser]:
    with AssetServer.start(site) as server, HttpBrowser(base_url=server.origin) as browser:
        yield browser


def get(path: str) -> Request:
    return Request("GET", path)


@pytest.mark.parametrize("connect", [in_process, over_http])
def test_a_session_is_equal_in_process_and_over_http(
    site: SmallSite, connect: Callable[[SmallSite], Iterator[HttpBrowser]]
) -> None:
    with connect(site) as browser:  # type: ignore[attr-defined]
        first = browser.send(get("/set"))
        posted = browser.send(Request("POST", "/relative", (("a", "ক খ"), ("b", ""))))
    assert (first.status, first.url, first.html) == (200, "/set", PAGE.encode())
    assert posted.url == "/next?x=1"
    assert posted.exchanges == (("POST", "/relative", 303), ("GET", "/next?x=1", 200))
    assert [(r["method"], r["path"], r["cookie"]) for r in site.requests] == [
        ("GET", "/set", ""),
        ("POST", "/relative", "sid=abc"),
        ("GET", "/next", "sid=abc"),
    ]
    assert site.requests[1]["fields"] == [("a", "ক খ"), ("b", "")]
    assert site.requests[2]["fields"] == []


def test_cookies_end_when_the_site_says_so(browser: HttpBrowser, site: SmallSite) -> None:
    for path in ("/set", "/unset", "/next"):
        browser.send(get(path))
    assert [r["cookie"] for r in site.requests] == ["", "sid=abc", ""]


def test_two_browsers_share_no_cookies(site: SmallSite) -> None:
    with in_process(site) as one, in_process(site) as other:
        one.send(get("/set"))
        other.send(get("/next"))
    assert site.requests[1]["cookie"] == ""


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/away", "http://elsewhere.invalid/app"),
        ("/away-port", "http://small.test:8080/"),
        ("/away-slashes", "http://elsewhere.invalid/"),
    ],
)
def test_a_redirect_to_another_origin_is_reported_and_not_followed(
    browser: HttpBrowser, site: SmallSite, path: str, target: str
) -> None:
    response = browser.send(get(path))
    assert (response.left_site, response.html, response.status) == (target, b"", 303)
    assert [r["path"] for r in site.requests] == [path]


@pytest.mark.parametrize(
    "path", ["/__harness/reset", "/%5f%5fharness", "/%255F_harness", "/__blank?x=1"]
)
def test_harness_paths_are_refused_without_a_request(
    browser: HttpBrowser, site: SmallSite, path: str
) -> None:
    with pytest.raises(ActionError):
        browser.send(get(path))
    assert site.requests == []


@pytest.mark.parametrize("path", ["/harness", "/harness-slashes"])
def test_redirects_to_harness_paths_are_refused(
    browser: HttpBrowser, site: SmallSite, path: str
) -> None:
    with pytest.raises(ActionError):
        browser.send(get(path))
    assert [r["path"] for r in site.requests] == [path]


def test_redirects_end_after_ten(browser: HttpBrowser, site: SmallSite) -> None:
    with pytest.raises(HarnessError, match="redirects more than 10 times"):
        browser.send(get("/loop"))
    assert len(site.requests) == 11


def test_a_redirect_that_keeps_the_method_sends_the_fields_again(
    browser: HttpBrowser, site: SmallSite
) -> None:
    browser.send(Request("POST", "/keep", (("a", "1"),)))
    assert [(r["method"], r["fields"]) for r in site.requests] == [("POST", [("a", "1")])] * 2


def test_absolute_locations_of_the_site_are_followed(browser: HttpBrowser) -> None:
    assert browser.send(get("/absolute")).url == "/next"


def test_addresses_are_shown_decoded_and_sent_encoded(
    browser: HttpBrowser, site: SmallSite
) -> None:
    response = browser.send(get("/%E0%A6%95%2F%20?q=%E0%A6%95%26b"))
    assert response.url == "/ক%2F%20?q=ক%26b"
    assert site.requests[0]["query"] == "q=%E0%A6%95%26b"
    assert browser.send(get("/iri")).url == "/খুঁজুন?q=কাপ"


def test_the_page_that_holds_the_link_is_the_referer(browser: HttpBrowser, site: SmallSite) -> None:
    browser.send(Request("GET", "/next", referer="/p/P1?x=1"))
    assert site.requests[0]["referer"] == "http://small.test/p/P1?x=1"


@pytest.mark.parametrize(("path", "status"), [("/missing", 404), ("/broken", 500)])
def test_error_pages_are_answers(browser: HttpBrowser, path: str, status: int) -> None:
    assert browser.send(get(path)).status == status


def test_files_are_no_pages() -> None:
    with in_process(FileSite()) as browser, pytest.raises(ActionError, match="is a file"):
        browser.send(get("/media/a.jpg"))


def test_a_site_that_does_not_answer_is_our_fault(site: SmallSite) -> None:
    with AssetServer.start(site) as server:
        origin = server.origin
    with HttpBrowser(base_url=origin) as browser, pytest.raises(HarnessError, match="no answer"):
        browser.send(get("/"))
