"""Every page that links lead to: it answers, changes nothing, and stays within its statements."""

import re
from collections import deque
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from lowagent_sites.common.numbers import format_integer, format_money
from tests.lowagent_sites.ministore.shop import Shop, open_shop, parse, text_of

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


@pytest.mark.parametrize("code", CODES)
def test_links_that_the_crawl_leaves_out_name_what_exists(code: str) -> None:
    with open_shop(code) as shop:
        hrefs = {
            href.partition("#")[0].partition("?")[0]
            for path, status, _count in crawl(shop)
            if status == 200
            for href in parse(shop.get(path)).xpath("//main//a/@href")
        }
        known = {
            address
            for sql in (
                "SELECT '/p/' || sku AS address FROM products",
                "SELECT '/p/' || sku || '/reviews' AS address FROM products",
                "SELECT '/p/' || sku || '/qa' AS address FROM products",
                "SELECT '/review/' || id AS address FROM reviews",
                "SELECT '/q/' || id AS address FROM questions",
                "SELECT '/brand/' || slug AS address FROM brands",
                "SELECT '/c/' || slug AS address FROM categories",
            )
            for address in (row["address"] for row in shop.rows(sql))
        }
    of_rows = {href for href in hrefs if href.startswith(("/p/", "/review/", "/q/", "/b", "/c/"))}
    assert len(of_rows) > 100
    assert of_rows - known <= {"/brands"}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("is_signed_in", [False, True])
def test_every_form_leads_to_an_address_of_the_shop(code: str, is_signed_in: bool) -> None:
    with open_shop(code) as shop:
        if is_signed_in:
            shop.sign_in()
        for path in ("/", "/c/kitchen", "/p/P00007", "/search?q=a", "/cart", "/wishlist", "/x"):
            for form in parse(shop.get(path)).xpath("//form"):
                if form.get("method") == "post":
                    # Without its token: the address takes the form, and nothing happens.
                    assert shop.post(form.get("action")).status_code == 400, (
                        path,
                        form.get("name"),
                    )
                else:
                    assert shop.get(form.get("action")).status_code == 200, (path, form.get("name"))


@pytest.mark.parametrize("code", ["en", "ur"])
def test_breadcrumbs_lead_from_home_to_the_page(code: str) -> None:
    with open_shop(code) as shop:
        (row,) = shop.rows(
            "SELECT p.sku, p.name, b.slug, b.name AS brand, c.slug AS section, c.name AS title "
            "FROM products p JOIN brands b ON b.id = p.brand_id "
            "JOIN categories c ON c.id = p.category_id "
            "JOIN questions q ON q.product_id = p.id ORDER BY p.id LIMIT 1"
        )
        sku = row["sku"]
        (question,) = shop.rows(
            "SELECT q.id FROM questions q JOIN products p ON p.id = q.product_id "
            "WHERE p.sku = :sku ORDER BY q.id LIMIT 1",
            sku=sku,
        )
        for path, links, here in (
            (f"/c/{row['section']}", ["/"], row["title"]),
            (f"/brand/{row['slug']}", ["/", "/brands"], row["brand"]),
            (f"/p/{sku}", ["/", f"/c/{row['section']}"], row["name"]),
            (f"/p/{sku}/reviews", ["/", f"/p/{sku}"], None),
            (f"/p/{sku}/qa", ["/", f"/p/{sku}"], None),
            (f"/q/{question['id']}", ["/", f"/p/{sku}", f"/p/{sku}/qa"], None),
            ("/brands", ["/"], None),
            ("/search?q=a", ["/"], None),
        ):
            (trail,) = shop.open(path).xpath("//nav[@class='breadcrumb']")
            assert trail.xpath(".//a/@href") == links, path
            (last,) = trail.xpath(".//li[@aria-current='page']")
            assert here in (None, text_of(last)), path


def test_the_facts_come_before_the_description() -> None:
    with open_shop() as shop:
        for row in shop.rows("SELECT * FROM products ORDER BY id LIMIT 20"):
            text = text_of(shop.open(f"/p/{row['sku']}").xpath("//main")[0])
            price, description = format_money(row["price_cents"], shop.language), row["description"]
            places = [text.index(part) for part in (row["name"], price, row["sku"], description)]
            assert places == sorted(places)


def test_the_home_page_shows_deals_the_best_rated_and_the_largest_brands() -> None:
    with open_shop() as shop:
        page = shop.open("/")
        products = {row["sku"]: row for row in shop.rows("SELECT * FROM products")}
        deals, top = (
            [products[href.removeprefix("/p/")] for href in grid.xpath(".//h3/a/@href")]
            for grid in page.xpath("//ul[@class='product-grid']")
        )
        assert len(deals) == len(top) == 8
        assert all(row["was_cents"] > row["price_cents"] and row["stock"] for row in deals)
        assert all(row["rating_count"] >= 8 for row in top)
        averages = [row["rating_sum"] / row["rating_count"] for row in top]
        others = [
            row["rating_sum"] / row["rating_count"]
            for row in products.values()
            if row["rating_count"] >= 8 and row not in top
        ]
        assert averages == sorted(averages, reverse=True)
        assert averages[-1] >= max(others)
        largest = shop.rows(
            "SELECT b.slug FROM brands b JOIN products p ON p.brand_id = b.id GROUP BY b.id "
            "ORDER BY COUNT(*) DESC, b.id LIMIT 9"
        )
        brands = page.xpath("//ul[@class='brand-strip']//a/@href")
        assert brands == [f"/brand/{row['slug']}" for row in largest]
        assert len(page.xpath("//a")) <= 70


def test_a_sold_out_product_is_no_deal_of_the_week() -> None:
    with open_shop() as shop:
        grid = "(//ul[@class='product-grid'])[1]//h3/a/@href"
        first = shop.open("/").xpath(grid)[0]
        shop.execute(
            "UPDATE products SET stock = 0 WHERE sku = :sku", sku=first.removeprefix("/p/")
        )
        deals = shop.open("/").xpath(grid)
        assert first not in deals
        assert len(deals) == 8


def test_similar_products_are_six_others_of_the_same_kind() -> None:
    with open_shop() as shop:
        kinds = {row["sku"]: row["ptype"] for row in shop.rows("SELECT sku, ptype FROM products")}
        for sku in list(kinds)[:20]:
            hrefs = shop.open(f"/p/{sku}").xpath("//ul[@class='similar-list']//a/@href")
            shown = [href.removeprefix("/p/") for href in hrefs]
            same = [other for other, kind in kinds.items() if kind == kinds[sku] and other != sku]
            assert len(set(shown)) == len(shown) == min(6, len(same))
            assert set(shown) <= set(same)


@pytest.mark.parametrize("code", CODES)
def test_deliveries_are_dated_in_the_same_way_in_every_language(code: str) -> None:
    with open_shop(code) as shop:
        facts = text_of(shop.open("/p/P00007").xpath("//*[@class='product-facts']")[0])
        assert "2026-06-20" in facts
        assert "2026-06-17" in facts


@pytest.mark.parametrize("stock", [0, 1, 4, 5])
def test_the_stock_is_said_in_words_and_as_a_code(stock: int) -> None:
    with open_shop("bn") as shop:
        shop.execute("UPDATE products SET stock = :stock WHERE sku = 'P00007'", stock=stock)
        page = shop.open("/p/P00007")
        code = "out_of_stock" if not stock else "low_stock" if stock < 5 else "in_stock"
        assert [text_of(e) for e in page.xpath("//*[@class='stock-code']")] == [code]
        (words,) = page.xpath(
            "//*[contains(@class,'product-facts')]//span[starts-with(@class,'stock ')]"
        )
        assert (format_integer(stock, shop.language) in text_of(words)) == (0 < stock < 5)


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
