"""Cart and wishlist through the pages: what is stored, what is refused and how it is said."""

from collections.abc import Iterator

import pytest

from lowagent_sites.common.i18n import load_texts
from lowagent_sites.common.languages import get_language
from lowagent_sites.common.numbers import format_integer, format_money, localize_digits
from lowagent_sites.ministore.services.totals import compute_totals
from tests.lowagent_sites.ministore.shop import Shop, errors, flashes, open_shop, text_of

LANGUAGES = ("en", "bn", "ur")


@pytest.fixture(params=LANGUAGES)
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with open_shop(request.param, fixtures=("cart_empty_A",)) as opened:
        opened.sign_in()
        yield opened


def sku_with_stock(shop: Shop, condition: str) -> str:
    found = shop.rows(
        f"SELECT sku FROM products WHERE stock {condition} AND id NOT IN "
        "(SELECT product_id FROM wishlist_items) ORDER BY id LIMIT 1"
    )
    return str(found[0]["sku"])


def said(shop: Shop, text: str, **values: int) -> str:
    """Return an interface text in the shop's language."""
    language = get_language(shop.world.language)
    shown = {name: format_integer(value, language) for name, value in values.items()}
    return str(load_texts("ministore", language.code).gettext(text, **shown))


def lines(shop: Shop) -> list[tuple[str, int]]:
    rows = shop.rows(
        "SELECT p.sku, c.qty FROM cart_items c JOIN products p ON p.id = c.product_id "
        "JOIN users u ON u.id = c.user_id WHERE u.username = 'nila_shop' ORDER BY c.id"
    )
    return [(row["sku"], row["qty"]) for row in rows]


def test_a_product_is_added_once_and_then_counted_up(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    for qty in ("2", localize_digits("3", shop.language)):
        response = shop.submit(f"/p/{sku}", "cart_add", qty=qty)
        assert (response.status_code, response.headers["Location"]) == (303, "/cart")
    assert lines(shop) == [(sku, 5)]
    assert flashes(shop.open("/cart"))[-1:] == [said(shop, "The product was added to your cart")]


@pytest.mark.parametrize(
    ("qty", "text", "values"),
    [
        ("", "Enter a whole number", {}),
        ("two", "Enter a whole number", {}),
        ("1.5", "Enter a whole number", {}),
        ("1²", "Enter a whole number", {}),
        ("0", "Quantity must be at least 1", {}),
        ("-3", "Quantity must be at least 1", {}),
        ("11", "At most %(n)s per order", {"n": 10}),
        ("9" * 12, "At most %(n)s per order", {"n": 10}),
        ("9" * 500, "Enter a whole number", {}),
    ],
)
def test_a_quantity_that_is_refused_is_explained_and_kept(
    shop: Shop, qty: str, text: str, values: dict[str, int]
) -> None:
    sku = sku_with_stock(shop, ">= 10")
    response = shop.submit(f"/p/{sku}", "cart_add", qty=qty)
    assert response.status_code == 422
    assert errors(response) == [said(shop, text, **values)]
    assert lines(shop) == []
    assert shop.changes() == {}


def test_more_than_the_stock_is_refused_with_what_is_in_the_cart_counted(shop: Shop) -> None:
    sku = sku_with_stock(shop, "= 3")
    assert shop.submit(f"/p/{sku}", "cart_add", qty="2").status_code == 303
    response = shop.submit(f"/p/{sku}", "cart_add", qty="2")
    assert response.status_code == 422
    assert errors(response) == [said(shop, "Only %(n)s in stock", n=3)]
    assert lines(shop) == [(sku, 2)]


def test_a_product_that_is_sold_out_cannot_be_bought(shop: Shop) -> None:
    sku = sku_with_stock(shop, "= 0")
    page = shop.open(f"/p/{sku}")
    assert page.xpath("//form[@name='cart_add']") == []
    assert said(shop, "Out of stock") in text_of(page)


def test_a_line_is_changed_and_removed_and_the_cart_emptied(shop: Shop) -> None:
    first, second = (
        row["sku"] for row in shop.rows("SELECT sku FROM products WHERE stock >= 10 LIMIT 2")
    )
    for sku in (first, second):
        shop.submit(f"/p/{sku}", "cart_add", qty="1")
    assert shop.submit("/cart", "cart_update", nth=1, qty="4").status_code == 303
    assert lines(shop) == [(first, 1), (second, 4)]
    assert shop.submit("/cart", "cart_remove").status_code == 303
    assert lines(shop) == [(second, 4)]
    assert shop.submit("/cart", "cart_clear").status_code == 303
    assert lines(shop) == []
    assert said(shop, "Your cart is empty.") in text_of(shop.open("/cart"))


def test_a_line_keeps_its_quantity_when_the_change_is_refused(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    shop.submit(f"/p/{sku}", "cart_add", qty="2")
    response = shop.submit("/cart", "cart_update", qty="11")
    assert response.status_code == 422
    assert errors(response) == [said(shop, "At most %(n)s per order", n=10)]
    assert lines(shop) == [(sku, 2)]


def test_the_cart_shows_the_totals_of_both_ways_of_shipping(shop: Shop) -> None:
    rows = shop.rows("SELECT sku, price_cents FROM products WHERE stock >= 10 ORDER BY id LIMIT 3")
    for row in rows:
        shop.submit(f"/p/{row['sku']}", "cart_add", qty="2")
    totals = compute_totals((row["price_cents"], 2) for row in rows)
    shown = text_of(shop.open("/cart"))
    for cents in (
        totals.subtotal_cents,
        totals.standard_total_cents,
        totals.express_cents,
        totals.express_total_cents,
    ):
        assert format_money(cents, shop.language) in shown


def test_sold_out_lines_stay_and_cost_nothing(shop: Shop) -> None:
    first, second = (
        row["sku"] for row in shop.rows("SELECT sku FROM products WHERE stock >= 10 LIMIT 2")
    )
    for sku in (first, second):
        shop.submit(f"/p/{sku}", "cart_add", qty="1")
    shop.execute("UPDATE products SET stock = 0 WHERE sku = :sku", sku=first)
    shown = text_of(shop.open("/cart"))
    price = shop.rows("SELECT price_cents FROM products WHERE sku = :sku", sku=second)
    totals = compute_totals([(price[0]["price_cents"], 1)])
    assert format_money(totals.subtotal_cents, shop.language) in shown
    assert said(shop, "Out of stock") in shown
    assert len(lines(shop)) == 2


def test_a_wish_is_kept_once_removed_and_moved(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    before = len(shop.rows("SELECT id FROM wishlist_items WHERE user_id = 1"))
    form = shop.open(f"/p/{sku}").xpath("//form[@name='wishlist_add']")[0]
    for _ in range(2):
        assert shop.post(form.get("action"), data=dict(form.fields)).status_code == 303
    assert len(shop.rows("SELECT id FROM wishlist_items WHERE user_id = 1")) == before + 1
    assert shop.submit(f"/p/{sku}", "wishlist_remove").status_code == 303
    assert shop.changes() == {}
    shop.submit(f"/p/{sku}", "wishlist_add")
    names = [f.fields["sku"] for f in shop.open("/wishlist").xpath("//form[@name='wishlist_move']")]
    assert sku in names
    assert shop.submit("/wishlist", "wishlist_move", nth=names.index(sku)).status_code == 303
    assert lines(shop) == [(sku, 1)]
    assert len(shop.rows("SELECT id FROM wishlist_items WHERE user_id = 1")) == before


@pytest.mark.parametrize("path", ["/cart", "/wishlist"])
def test_guests_are_sent_to_sign_in_and_back(path: str) -> None:
    with open_shop() as guest:
        response = guest.get(path)
        assert response.status_code == 302
        assert response.headers["Location"] == f"/login?next=%2F{path[1:]}"


def test_a_guest_who_puts_something_into_the_cart_comes_back_to_the_product() -> None:
    with open_shop() as guest:
        sku = sku_with_stock(guest, ">= 10")
        response = guest.submit(f"/p/{sku}", "cart_add")
        assert response.status_code == 303
        assert response.headers["Location"] == f"/login?next=%2Fp%2F{sku}"
        assert guest.changes() == {}


def test_lines_of_others_do_not_exist(shop: Shop) -> None:
    shop.submit(f"/p/{sku_with_stock(shop, '>= 10')}", "cart_add")
    token = shop.open("/cart").xpath("//form[@name='cart_update']")[0].fields["csrf_token"]
    shop.execute("UPDATE cart_items SET user_id = 2")
    (line,) = shop.rows("SELECT id FROM cart_items WHERE user_id = 2 ORDER BY id DESC LIMIT 1")
    for action in ("update", "remove"):
        data = {"csrf_token": token, "qty": "5"}
        assert shop.post(f"/cart/{line['id']}/{action}", data=data).status_code == 404


def test_a_form_without_its_token_changes_nothing(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    assert shop.post("/cart/add", data={"sku": sku, "qty": "1"}).status_code == 400
    assert shop.changes() == {}


def test_an_unknown_product_is_not_found(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    token = shop.open(f"/p/{sku}").xpath("//form[@name='cart_add']")[0].fields["csrf_token"]
    data = {"csrf_token": token, "sku": "P99999", "qty": "1"}
    assert shop.post("/cart/add", data=data).status_code == 404
    assert shop.get("/p/P99999").status_code == 404
