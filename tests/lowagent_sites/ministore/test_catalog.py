"""Grids: filters, sorting, paging and search against a second computation in Python."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from lowagent_sites.common.numbers import (
    format_integer,
    format_money,
    local_amount,
    localize_digits,
)
from lowagent_sites.common.text import fold
from tests.lowagent_sites.ministore.shop import Shop, errors, open_shop, parse, text_of

CODES = ("en", "bn", "hi", "ur", "am")
Row = dict[str, Any]


@pytest.fixture(scope="module", params=CODES)
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with open_shop(request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def products(shop: Shop) -> list[Row]:
    return shop.rows(
        "SELECT p.*, b.slug AS brand, b.name AS brand_name FROM products p "
        "JOIN brands b ON b.id = p.brand_id ORDER BY p.id"
    )


def skus(page: Any) -> list[str]:
    return [href.removeprefix("/p/") for href in page.xpath("//li//h3/a/@href")]


def all_skus(shop: Shop, path: str) -> list[str]:
    """Return the products of all pages of a grid, by following `Next page`."""
    found: list[str] = []
    while path:
        page = shop.open(path)
        found += skus(page)
        path = next(
            iter(page.xpath("//*[contains(@class,'pagination')]//a[@rel='next']/@href")), ""
        )
    return found


def average(row: Row) -> Fraction:
    return Fraction(row["rating_sum"], row["rating_count"]) if row["rating_count"] else Fraction(-1)


ORDERS: dict[str, Callable[[Row], Any]] = {
    "featured": lambda r: (r["was_cents"] is None, r["id"] * 7919 % 10007, r["id"]),
    "price_asc": lambda r: (r["price_cents"], r["id"]),
    "price_desc": lambda r: (-r["price_cents"], r["id"]),
    "rating": lambda r: (-average(r), -r["rating_count"], r["id"]),
    "reviews": lambda r: (-r["rating_count"], r["id"]),
    "newest": lambda r: ([-int(part) for part in str(r["created_on"]).split("-")], r["id"]),
}


@pytest.mark.parametrize("sort", ORDERS)
def test_each_order_is_total_over_all_pages(shop: Shop, products: list[Row], sort: str) -> None:
    expected = [row["sku"] for row in sorted(products, key=ORDERS[sort])]
    assert all_skus(shop, f"/c/kitchen?sort={sort}") == expected


def test_an_unknown_order_or_filter_is_the_default(shop: Shop) -> None:
    first = skus(shop.open("/c/kitchen"))
    page = shop.open("/c/kitchen?sort=cheap&brand=nobody&rating=9&in_stock=7&page=0")
    assert skus(page) == first
    assert page.xpath("//ul[contains(@class,'chips')]") == []


def test_filters_hold_together(shop: Shop, products: list[Row]) -> None:
    brand = max(
        {r["brand"] for r in products}, key=lambda b: sum(r["brand"] == b for r in products)
    )
    expected = [
        row["sku"]
        for row in sorted(products, key=ORDERS["price_asc"])
        if row["brand"] == brand and row["stock"] > 0 and average(row) >= 3
    ]
    assert expected
    path = f"/c/kitchen?brand={brand}&in_stock=1&rating=3&sort=price_asc"
    assert all_skus(shop, path) == expected
    assert len(shop.open(path).xpath("//ul[contains(@class,'chips')]//a")) == 3


@pytest.mark.parametrize("stars", ["4.5", "4", "3"])
def test_the_average_is_compared_before_it_is_rounded(
    shop: Shop, products: list[Row], stars: str
) -> None:
    expected = {row["sku"] for row in products if average(row) >= Fraction(stars)}
    assert set(all_skus(shop, f"/c/kitchen?rating={stars}")) == expected


def test_a_price_typed_as_shown_is_a_bound_that_includes_it(
    shop: Shop, products: list[Row]
) -> None:
    row = sorted(products, key=ORDERS["price_asc"])[len(products) // 3]
    text = format_money(row["price_cents"], shop.language)
    page = parse(shop.get("/c/kitchen", params={"min_price": text, "max_price": text}))
    expected = {r["sku"] for r in products if r["price_cents"] == row["price_cents"]}
    assert set(skus(page)) == expected


def test_a_price_just_beside_a_product_leaves_it_out(shop: Shop, products: list[Row]) -> None:
    row = sorted(products, key=ORDERS["price_asc"])[len(products) // 2]
    step = Decimal(1).scaleb(-shop.language.currency.decimals)
    shown = local_amount(row["price_cents"], shop.language)
    for name, bound in (("min_price", shown + step), ("max_price", shown - step)):
        text = localize_digits(f"{bound:f}", shop.language)
        found = set(all_skus(shop, f"/c/kitchen?{name}={text}"))
        expected = {
            r["sku"]
            for r in products
            if (local_amount(r["price_cents"], shop.language) >= bound) == (name == "min_price")
            and local_amount(r["price_cents"], shop.language) != bound
        }
        assert found == expected
        assert row["sku"] not in found


def test_a_bound_that_is_no_amount_is_said_so_and_ignored(shop: Shop) -> None:
    response = shop.get("/c/kitchen", params={"min_price": "cheap"})
    assert response.status_code == 200
    assert len(errors(response)) == 1
    assert skus(parse(response)) == skus(shop.open("/c/kitchen"))
    assert parse(response).xpath("//input[@name='min_price']/@value") == ["cheap"]


def test_bounds_the_wrong_way_round_find_nothing(shop: Shop) -> None:
    response = shop.get("/c/kitchen", params={"min_price": "9000000", "max_price": "1"})
    assert response.status_code == 200
    assert skus(parse(response)) == []
    assert len(errors(response)) == 1


def test_the_form_shows_what_was_chosen_and_each_chip_takes_one_away(
    shop: Shop, products: list[Row]
) -> None:
    chosen = {
        "brand": products[0]["brand"],
        "min_price": localize_digits("1", shop.language),
        "max_price": localize_digits("999999", shop.language),
        "rating": "3",
        "in_stock": "1",
    }
    page = parse(shop.get("/c/kitchen", params={**chosen, "sort": "price_desc"}))
    (form,) = page.xpath("//form[@name='filter']")
    assert dict(form.fields) == {**chosen, "sort": "price_desc"}
    left = [
        dict(parse_qsl(urlsplit(href).query))
        for href in page.xpath("//ul[contains(@class,'chips')]//a/@href")
    ]
    assert left == [
        {n: v for n, v in chosen.items() if n != gone} | {"sort": "price_desc"} for gone in chosen
    ]


def test_a_grid_without_products_leads_back_to_all_of_them(shop: Shop) -> None:
    page = parse(shop.get("/c/kitchen", params={"max_price": "0", "sort": "newest"}))
    assert skus(page) == []
    (clear,) = page.xpath("//p[@class='empty']/a/@href")
    assert clear == "/c/kitchen?sort=newest"
    assert skus(shop.open(clear))


@pytest.mark.parametrize("number", ["", "0", "-1", "x", "1.5", "२", "1e9", "9" * 30])
def test_a_page_number_that_is_none_is_the_first(shop: Shop, number: str) -> None:
    page = parse(shop.get("/c/kitchen", params={"page": number}))
    assert skus(page) == skus(shop.open("/c/kitchen"))


@pytest.mark.parametrize("sort", ["featured", "price_asc"])
def test_a_brand_has_the_same_filters_without_the_brand(
    shop: Shop, products: list[Row], sort: str
) -> None:
    slug = products[0]["brand"]
    page = shop.open(f"/brand/{slug}")
    assert page.xpath("//form[@name='filter']//*[@name='brand']") == []
    expected = [
        row["sku"]
        for row in sorted(products, key=ORDERS[sort])
        if row["brand"] == slug and row["stock"] > 0 and average(row) >= 3
    ]
    assert expected
    assert all_skus(shop, f"/brand/{slug}?in_stock=1&rating=3&sort={sort}") == expected


def test_brands_are_those_with_products_with_their_number(shop: Shop, products: list[Row]) -> None:
    sold = Counter(row["brand"] for row in products)
    names = {row["brand"]: row["brand_name"] for row in products}
    shown: dict[str, str] = {}
    for letters in ("A-F", "G-L", "M-R", "S-Z"):
        for item in shop.open(f"/brands?letter={letters}").xpath("//*[@class='brand-list']/li"):
            slug = item.xpath("a/@href")[0].removeprefix("/brand/")
            assert letters[0] <= names[slug][0] <= letters[-1]
            shown[slug] = text_of(item.xpath("span")[0])
    assert set(shown) == set(sold)
    assert list(shown) == sorted(shown, key=lambda slug: names[slug])
    for slug, count in sold.items():
        assert format_integer(count, shop.language) in shown[slug]


def test_pages_keep_the_filters_and_end_at_the_last(shop: Shop) -> None:
    path = "/c/kitchen?in_stock=1&sort=price_desc"
    links = shop.open(path).xpath("//*[contains(@class,'pagination')]//a/@href")
    assert links
    assert all("in_stock=1" in link and "sort=price_desc" in link for link in links)
    beyond = shop.get(f"{path}&page=9999")
    assert beyond.status_code == 302
    assert shop.get(beyond.headers["Location"]).status_code == 200


def matches(row: Row, query: str, shop: Shop) -> bool:
    words = row["search_text"].split()
    return all(any(w.startswith(t) for w in words) for t in fold(query, shop.language).split())


def test_a_name_finds_its_product_first(shop: Shop, products: list[Row]) -> None:
    names = {row["sku"]: row["name"] for row in products}
    for row in products[::31]:
        found = skus(parse(shop.get("/search", params={"q": row["name"]})))
        assert names[found[0]] == row["name"]


def test_every_word_must_begin_a_word_of_the_record(shop: Shop, products: list[Row]) -> None:
    for query in (
        products[0]["name"].split()[0][:3],
        products[0]["brand_name"].upper(),
        products[5]["sku"].lower(),
        f"{products[9]['brand_name']} {products[9]['material_name']}",
        "%",
        "_",
        "\\",
        "'; DROP TABLE products; --",
    ):
        found = parse(shop.get("/search", params={"q": query}))
        expected = {row["sku"] for row in products if matches(row, query, shop)}
        shown = set(skus(found))
        assert shown <= expected, query
        assert len(shown) == min(12, len(expected)), query


def test_the_query_in_the_name_ranks_before_the_query_in_brand_or_code(
    shop: Shop, products: list[Row]
) -> None:
    query = products[0]["name"].split()[0]
    tokens = fold(query, shop.language).split()

    def rank(row: Row) -> tuple[Any, ...]:
        words = row["search_title"].split()
        in_title = all(any(w.startswith(t) for w in words) for t in tokens)
        begins = row["search_title"].startswith(" " + " ".join(tokens))
        return (not in_title, not begins, *ORDERS["featured"](row))

    expected = [r["sku"] for r in sorted(products, key=rank) if matches(r, query, shop)]
    assert all_skus(shop, f"/search?q={query}") == expected


def test_a_name_that_begins_with_the_query_ranks_first() -> None:
    with open_shop() as shop:
        before = all_skus(shop, "/search?q=steel")
        last = before[-1]
        shop.execute(
            "UPDATE products SET search_title = ' steel' || search_title WHERE sku = :sku", sku=last
        )
        assert all_skus(shop, "/search?q=steel") == [last, *before[:-1]]


def respellings(name: str) -> Iterator[str]:
    """Yield a name as it may be typed: other case, digits, marks and spaces."""
    yield name.upper()
    yield f"  {name.replace(' ', '   ')}  "
    yield name.replace(" ", " \u200b ").replace(",", " - ")
    yield unicodedata.normalize("NFD", name)
    yield re.sub("[aeiou]", lambda found: found[0] + "\u0305", name, count=2)
    for zero in "0০०۰٠":
        first = ord(zero)
        yield "".join(
            chr(first + unicodedata.decimal(c)) if c.isdecimal() else c
            for c in name
        )  # fmt: skip


def test_case_digits_and_marks_make_no_difference(shop: Shop, products: list[Row]) -> None:
    for row in products[::67]:
        expected = skus(parse(shop.get("/search", params={"q": row["name"]})))
        assert expected
        for query in respellings(row["name"]):
            assert skus(parse(shop.get("/search", params={"q": query}))) == expected, query


@pytest.mark.parametrize("query", ["", "   ", "\u200b", "-- ,;", "\u202e"])
def test_a_query_of_nothing_is_the_whole_shop(shop: Shop, products: list[Row], query: str) -> None:
    page = parse(shop.get("/search", params={"q": query}))
    expected = [row["sku"] for row in sorted(products, key=ORDERS["featured"])[:12]]
    assert skus(page) == expected


def test_a_search_is_narrowed_by_a_category_and_keeps_its_words(
    shop: Shop, products: list[Row]
) -> None:
    query = products[0]["name"].split()[0]
    slugs = {row["id"]: row["slug"] for row in shop.rows("SELECT id, slug FROM categories")}
    found = [row for row in products if matches(row, query, shop)]
    counts = Counter(slugs[row["category_id"]] for row in found)
    page = parse(shop.get("/search", params={"q": query, "sort": "price_asc"}))
    facets = page.xpath("//ul[@class='facets']//a")
    assert len(facets) == len(counts)
    for facet in facets:
        asked = dict(parse_qsl(urlsplit(facet.get("href")).query))
        assert (asked["q"], asked["sort"]) == (query, "price_asc")
        count = counts[asked["cat"]]
        assert text_of(facet).endswith(f"({format_integer(count, shop.language)})")
        narrowed = shop.open(facet.get("href"))
        (form,) = narrowed.xpath("//form[@name='filter']")
        assert (form.fields["q"], form.fields["cat"]) == (query, asked["cat"])
        expected = [
            row["sku"]
            for row in sorted(found, key=ORDERS["price_asc"])
            if slugs[row["category_id"]] == asked["cat"]
        ]
        assert all_skus(shop, facet.get("href")) == expected


def test_nothing_found_is_said_with_the_query_as_typed(shop: Shop) -> None:
    page = parse(shop.get("/search", params={"q": "<b>zzzz</b>"}))
    assert "<b>zzzz</b>" in text_of(page.xpath("//main")[0])
    assert page.xpath("//main//b") == []


def test_a_query_is_cut_at_a_hundred_characters(shop: Shop) -> None:
    page = parse(shop.get("/search", params={"q": "a" * 500}))
    (value,) = page.xpath("//input[@name='q']/@value")[:1]
    assert value == "a" * 100


def test_order_never_depends_on_how_the_database_finds_rows(shop: Shop) -> None:
    paths = ["/", "/c/kitchen", "/brands", "/search?q=a", "/p/P00007", "/p/P00007/reviews"]
    before = [shop.get(path).text for path in paths]
    shop.execute("PRAGMA reverse_unordered_selects = ON")
    assert [shop.get(path).text for path in paths] == before
