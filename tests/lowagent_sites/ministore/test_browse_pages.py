"""Every page that links lead to: it answers, changes nothing, and stays within its statements."""

import re
from collections import deque
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.lowagent_sites.ministore.shop import Shop, open_shop, parse

CODES = ("en", "bn", "hi", "ur", "am", "en-XA")
MAX_STATEMENTS = 15
PER_KIND = 12
"""Of pages of one kind (all products, all reviews) so many are opened."""


def kind_of(path: str) -> str:
    """Return what pages have in common: the path without ids and the names of parameters."""
    parts = urlsplit(path)
    shape = re.sub(r"/(P\d+|\d+)(?=/|$)", "/#", parts.path)
    shape = re.sub(r"^/(brand|c)/[\w-]+", r"/\1/#", shape)
    names = sorted(pair.partition("=")[0] for pair in parts.query.split("&") if pair)
    return f"{shape}?{'&'.join(names)}"


def crawl(shop: Shop) -> Iterator[tuple[str, int, int]]:
    """Follow all links from the home page; yield path, status and number of SQL statements."""
    queue, seen, opened = deque(["/"]), {"/"}, dict[str, int]()
    while queue:
        path = queue.popleft()
        kind = kind_of(path)
        opened[kind] = opened.get(kind, 0) + 1
        if opened[kind] > PER_KIND:
            continue
        with shop.statements() as statements:
            response = shop.get(path)
        yield path, response.status_code, len(statements)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            for href in parse(response).xpath("//a/@href"):
                assert href.startswith(("/", "#")), (path, href)
                target = href.partition("#")[0]
                if target and target not in seen:
                    seen.add(target)
                    queue.append(target)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("is_signed_in", [False, True])
def test_every_link_leads_to_a_page_that_changes_nothing(code: str, is_signed_in: bool) -> None:
    with open_shop(code) as shop:
        if is_signed_in:
            shop.sign_in()
        before = shop.world.digest(incidental=True)
        found = list(crawl(shop))
        assert shop.world.digest(incidental=True) == before
    kinds = {kind_of(path) for path, _status, _count in found}
    assert {"/?", "/c/#?", "/p/#?", "/p/#/reviews?", "/p/#/qa?", "/brand/#?", "/brands?"} <= kinds
    refused = {path for path, status, _count in found if status != 200}
    assert all(path in {"/cart", "/wishlist"} and not is_signed_in for path in refused), refused
    assert len(found) > 60
    busy = {path: count for path, _status, count in found if count > MAX_STATEMENTS}
    assert busy == {}


@pytest.mark.parametrize(
    "path",
    [
        "/p/P99999",
        "/p/x",
        "/c/garden",
        "/brand/nobody",
        "/review/0",
        "/q/0",
        "/q/x",
        "/p/P9/reviews",
    ],
)
def test_what_does_not_exist_is_not_found(path: str) -> None:
    with open_shop() as shop:
        page = shop.open(path, status=404)
        assert page.xpath("//h1")
        assert page.xpath("//form[@name='search']")


@pytest.mark.parametrize(
    "path",
    [
        "/p/P00007?x=<script>",
        "/search?q=<script>alert(1)</script>",
        "/c/kitchen?brand=<script>",
        "/c/kitchen?min_price=%22><script>",
        "/brands?letter=<b>",
        "/<script>",
    ],
)
def test_markup_in_an_address_is_text(path: str) -> None:
    with open_shop() as shop:
        response = shop.get(path)
        assert response.status_code in {200, 404}
        assert "<script" not in response.text
        assert "<b>" not in response.text


@pytest.mark.parametrize(
    ("path", "method"), [("/", "POST"), ("/cart/add", "GET"), ("/p/P00007", "DELETE")]
)
def test_a_wrong_method_is_an_error_page(path: str, method: str) -> None:
    with open_shop() as shop:
        response = shop.request(method, path)
        assert response.status_code in {400, 404, 405}
        assert parse(response).xpath("//h1")
