"""No page needs more than fifteen SQL statements, however much it shows."""

from collections.abc import Iterator

import pytest

from tests.lowagent_sites.ministore.shop import Shop, open_shop

MAX_STATEMENTS = 15
KINDS = (
    "/",
    "/c/kitchen",
    "/c/kitchen?page=2&sort=rating",
    "/c/kitchen?brand={brand}&in_stock=1&rating=3&min_price=1&max_price=99999&sort=price_asc",
    "/c/kitchen?min_price=9&max_price=2",
    "/c/kitchen?min_price=x",
    "/search",
    "/search?q=a",
    "/search?q=a&cat=kitchen&sort=newest",
    "/search?q=zzzz",
    "/brands",
    "/brands?letter=A-F",
    "/brand/{brand}",
    "/p/{reviewed}",
    "/p/{asked}",
    "/p/{silent}",
    "/p/{reviewed}/reviews",
    "/p/{reviewed}/reviews?stars=5&sort=oldest&page=2",
    "/p/{asked}/qa",
    "/p/{asked}/qa?sort=most_answers",
    "/review/{review}",
    "/q/{question}",
    "/login",
    "/register",
    "/nowhere",
    "/p/P99999",
)
USER_KINDS = ("/account", "/account/password", "/cart", "/wishlist")


@pytest.fixture(scope="module", params=["guest", "user"])
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with open_shop() as opened:
        if request.param == "user":
            opened.sign_in()
        yield opened


def fullest(shop: Shop) -> dict[str, object]:
    """Return what addresses of pages are made of: the products about which most was written."""
    (found,) = shop.rows(
        "SELECT (SELECT sku FROM products ORDER BY rating_count DESC, id LIMIT 1) AS reviewed, "
        "(SELECT sku FROM products WHERE rating_count = 0 ORDER BY id LIMIT 1) AS silent, "
        "(SELECT p.sku FROM products p JOIN questions q ON q.product_id = p.id GROUP BY p.id "
        "ORDER BY COUNT(*) DESC, p.id LIMIT 1) AS asked, "
        "(SELECT question_id FROM answers GROUP BY question_id ORDER BY COUNT(*) DESC LIMIT 1) "
        "AS question, (SELECT MIN(id) FROM reviews) AS review, "
        "(SELECT b.slug FROM brands b JOIN products p ON p.brand_id = b.id GROUP BY b.id "
        "ORDER BY COUNT(*) DESC, b.id LIMIT 1) AS brand"
    )
    return found


@pytest.mark.parametrize("kind", (*KINDS, *USER_KINDS))
def test_a_page_needs_few_statements(shop: Shop, kind: str) -> None:
    path = kind.format(**fullest(shop))
    with shop.statements() as statements:
        status = shop.get(path).status_code
    assert status in {200, 302, 404}
    assert len(statements) <= MAX_STATEMENTS, statements
    # A guest is sent away from a user's page before anything is read.
    assert bool(statements) == (status != 302)


@pytest.mark.parametrize("size", [12, 200])
def test_a_cart_or_wishlist_needs_as_many_statements_whatever_it_holds(size: int) -> None:
    counts = {}
    for units in (1, size):
        with open_shop(fixtures=("cart_empty_A",)) as shop:
            shop.sign_in()
            for table, columns, values in (
                ("cart_items", "user_id, product_id, added_at, qty", "1, id, :now, 1"),
                ("wishlist_items", "user_id, product_id, added_at", "1, id, :now"),
            ):
                shop.execute(f"DELETE FROM {table} WHERE user_id = 1")
                shop.execute(
                    f"INSERT INTO {table} ({columns}) SELECT {values} FROM products LIMIT :units",
                    now="2026-06-15 09:00:00.000000",
                    units=units,
                )
            for path in ("/cart", "/wishlist"):
                with shop.statements() as statements:
                    shop.open(path)
                counts[path, units] = len(statements)
    assert max(counts.values()) <= MAX_STATEMENTS
    for path in ("/cart", "/wishlist"):
        assert counts[path, 1] == counts[path, size]


def test_what_is_refused_needs_few_statements_too() -> None:
    with open_shop() as shop:
        shop.sign_in()
        sku = fullest(shop)["reviewed"]
        shop.execute("UPDATE products SET stock = 20 WHERE sku = :sku", sku=sku)
        for path, form in ((f"/p/{sku}", "cart_add"), ("/cart", "cart_update")):
            data = dict(shop.open(path).xpath("//form[@name=$name]", name=form)[0].fields)
            action = shop.open(path).xpath("//form[@name=$name]/@action", name=form)[0]
            with shop.statements() as statements:
                assert shop.post(action, data=data | {"qty": "x"}).status_code == 422
            assert len(statements) <= MAX_STATEMENTS, statements
