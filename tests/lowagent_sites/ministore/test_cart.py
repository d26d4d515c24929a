"""Cart and wishlist through the pages: what is stored, what is refused and how it is said."""

from collections.abc import Iterator

import pytest

from lowagent_sites.common.app import shared_app
from lowagent_sites.common.i18n import load_texts
from lowagent_sites.common.languages import get_language
from lowagent_sites.common.numbers import format_integer, format_money, localize_digits
from lowagent_sites.ministore.services.totals import compute_totals
from tests.lowagent_sites.ministore.shop import Shop, errors, flashes, open_shop, parse, text_of

LANGUAGES = ("en", "bn", "ur")
POSTS = (
    "/cart/add",
    "/cart/{line}/update",
    "/cart/{line}/remove",
    "/cart/clear",
    "/wishlist/add",
    "/wishlist/remove",
    "/wishlist/move",
)
"""All addresses of cart and wishlist that change something."""


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
    assert parse(response).xpath("//form[@name='cart_add']//input[@name='qty']/@value") == [qty]
    assert lines(shop) == []
    assert shop.changes() == {}


@pytest.mark.parametrize("digits", ["০১২৩৪৫৬৭৮৯", "०१२३४५६७८९", "۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩"])
def test_a_quantity_is_read_in_the_digits_of_any_script(shop: Shop, digits: str) -> None:
    sku = sku_with_stock(shop, ">= 10")
    assert shop.submit(f"/p/{sku}", "cart_add", qty=f" {digits[3]} ").status_code == 303
    assert shop.submit("/cart", "cart_update", qty=digits[1] + digits[0]).status_code == 303
    assert lines(shop) == [(sku, 10)]
    assert shop.submit("/cart", "cart_update", qty=digits[4] + "abc").status_code == 422


def test_typed_markup_in_a_quantity_is_shown_as_text(shop: Shop) -> None:
    typed = '"><b onclick=x>3'
    response = shop.submit(f"/p/{sku_with_stock(shop, '>= 10')}", "cart_add", qty=typed)
    assert response.status_code == 422
    form = parse(response).xpath("//form[@name='cart_add']")[0]
    assert form.xpath(".//input[@name='qty']/@value") == [typed]
    assert form.xpath(".//b") == []


def test_what_is_in_the_cart_counts_towards_the_most_of_an_order(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 20")
    assert shop.submit(f"/p/{sku}", "cart_add", qty="8").status_code == 303
    response = shop.submit(f"/p/{sku}", "cart_add", qty="3")
    assert errors(response) == [said(shop, "At most %(n)s per order", n=10)]
    assert lines(shop) == [(sku, 8)]
    assert shop.submit(f"/p/{sku}", "cart_add", qty="2").status_code == 303
    assert lines(shop) == [(sku, 10)]


def test_the_most_of_an_order_is_said_before_the_stock(shop: Shop) -> None:
    sku = sku_with_stock(shop, "= 3")
    for qty, text, limit in (
        ("11", "At most %(n)s per order", 10),
        ("10", "Only %(n)s in stock", 3),
        ("4", "Only %(n)s in stock", 3),
    ):
        response = shop.submit(f"/p/{sku}", "cart_add", qty=qty)
        assert errors(response) == [said(shop, text, n=limit)]
    assert shop.submit(f"/p/{sku}", "cart_add", qty="3").status_code == 303


def test_prices_and_owners_are_never_taken_from_the_form(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    (row,) = shop.rows("SELECT price_cents FROM products WHERE sku = :sku", sku=sku)
    forged = {"price": "1", "unit_cents": "1", "total": "1", "user_id": "2", "line_id": "1"}
    assert shop.submit(f"/p/{sku}", "cart_add", qty="2", **forged).status_code == 303
    assert lines(shop) == [(sku, 2)]
    assert set(shop.changes()) == {"cart_items"}
    assert format_money(2 * row["price_cents"], shop.language) in text_of(shop.open("/cart"))


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
    for qty, text, values in (
        ("11", "At most %(n)s per order", {"n": 10}),
        ("0", "Quantity must be at least 1", {}),
        ("", "Enter a whole number", {}),
        ("x", "Enter a whole number", {}),
    ):
        response = shop.submit("/cart", "cart_update", qty=qty)
        assert response.status_code == 422
        assert errors(response) == [said(shop, text, **values)]
        assert parse(response).xpath("//form[@name='cart_update']//input[@name='qty']/@value") == [
            qty
        ]
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


def test_moving_a_wish_twice_puts_one_unit_into_the_cart(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    shop.submit(f"/p/{sku}", "wishlist_add")
    forms = shop.open("/wishlist").xpath("//form[@name='wishlist_move']")
    (data,) = (dict(form.fields) for form in forms if form.fields["sku"] == sku)
    for _ in range(2):
        response = shop.post("/wishlist/move", data=data)
        assert (response.status_code, response.headers["Location"]) == (303, "/cart")
    assert lines(shop) == [(sku, 1)]


def test_a_wish_that_is_sold_out_stays_and_cannot_be_moved(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 10")
    shop.submit(f"/p/{sku}", "wishlist_add")
    forms = shop.open("/wishlist").xpath("//form[@name='wishlist_move']")
    (data,) = (dict(form.fields) for form in forms if form.fields["sku"] == sku)
    shop.execute("UPDATE products SET stock = 0 WHERE sku = :sku", sku=sku)
    page = shop.open("/wishlist")
    offered = page.xpath("//form[@name='wishlist_move']//input[@name='sku']/@value")
    assert sku not in offered
    before = shop.world.digest()
    response = shop.post("/wishlist/move", data=data)
    assert (response.status_code, response.headers["Location"]) == (303, "/wishlist")
    assert flashes(shop.open("/wishlist"))[-1:] == [said(shop, "Only %(n)s in stock", n=0)]
    assert shop.world.digest() == before


def test_a_wish_that_would_be_the_eleventh_unit_is_not_moved(shop: Shop) -> None:
    sku = sku_with_stock(shop, ">= 20")
    shop.submit(f"/p/{sku}", "cart_add", qty="10")
    shop.submit(f"/p/{sku}", "wishlist_add")
    before = shop.world.digest()
    forms = shop.open("/wishlist").xpath("//form[@name='wishlist_move']")
    (data,) = (dict(form.fields) for form in forms if form.fields["sku"] == sku)
    assert shop.post("/wishlist/move", data=data).headers["Location"] == "/wishlist"
    expected = said(shop, "At most %(n)s per order", n=10)
    assert flashes(shop.open("/wishlist"))[-1:] == [expected]
    assert shop.world.digest() == before


def test_the_header_counts_units_and_wishes(shop: Shop) -> None:
    wishes = len(shop.rows("SELECT id FROM wishlist_items WHERE user_id = 1"))
    sku = sku_with_stock(shop, ">= 10")
    shop.submit(f"/p/{sku}", "cart_add", qty="7")
    shop.submit(f"/p/{sku}", "wishlist_add")
    header = shop.open("/").xpath("//header")[0]
    for path, count in (("/cart", 7), ("/wishlist", wishes + 1)):
        (link,) = header.xpath(".//a[@href=$path]", path=path)
        assert text_of(link).endswith(f"({format_integer(count, shop.language)})")


def test_a_long_wishlist_has_pages_and_keeps_its_order(shop: Shop) -> None:
    shop.execute(
        "INSERT INTO wishlist_items (user_id, product_id, added_at) "
        "SELECT 1, id, '2026-06-15 09:00:00.000000' FROM products WHERE stock > 0 AND id NOT IN "
        "(SELECT product_id FROM wishlist_items WHERE user_id = 1) ORDER BY id DESC LIMIT 20"
    )
    expected = [
        row["sku"]
        for row in shop.rows(
            "SELECT p.sku FROM wishlist_items w JOIN products p ON p.id = w.product_id "
            "WHERE w.user_id = 1 ORDER BY w.added_at, w.id"
        )
    ]
    shown = [
        href.removeprefix("/p/")
        for number in (1, 2, 3)
        for href in shop.open(f"/wishlist?page={number}").xpath("//li//h2/a/@href")
    ]
    assert shown == expected


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


def test_all_addresses_that_change_something_are_tested() -> None:
    rules = shared_app("ministore", "en").url_map.iter_rules()
    found = {
        rule.rule.replace("<int(max=2147483647):line_id>", "{line}")
        for rule in rules
        if "POST" in (rule.methods or ()) and rule.rule.startswith(("/cart", "/wishlist"))
    }
    assert found == set(POSTS)


def filled_cart(shop: Shop) -> tuple[str, dict[str, str]]:
    """Return a line's id and what a form about its product sends."""
    sku = sku_with_stock(shop, ">= 10")
    shop.submit(f"/p/{sku}", "cart_add", qty="2")
    shop.submit(f"/p/{sku}", "wishlist_add")
    (line,) = shop.rows("SELECT id FROM cart_items WHERE user_id = 1")
    token = shop.open("/cart").xpath("//form[@name='cart_clear']")[0].fields["csrf_token"]
    return str(line["id"]), {"csrf_token": token, "sku": sku, "qty": "1"}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("token", [None, "", "0" * 32, "৩" * 32])
def test_a_form_without_its_token_changes_nothing(path: str, token: str | None) -> None:
    with open_shop(fixtures=("cart_empty_A",)) as shop:
        shop.sign_in()
        line, data = filled_cart(shop)
        del data["csrf_token"]
        if token is not None:
            data["csrf_token"] = token
        before = shop.world.digest(incidental=True)
        assert shop.post(path.format(line=line), data=data).status_code == 400
        assert shop.world.digest(incidental=True) == before


@pytest.mark.parametrize("path", POSTS)
def test_a_guests_form_changes_nothing_and_leads_to_signing_in(path: str) -> None:
    with open_shop(fixtures=("cart_empty_A",)) as shop:
        shop.sign_in()
        line, data = filled_cart(shop)
        before = shop.world.digest(incidental=True)
        shop.cookies.clear()
        form = shop.open(f"/p/{data['sku']}").xpath("//form[@name='cart_add']")[0]
        data["csrf_token"] = form.fields["csrf_token"]
        response = shop.post(path.format(line=line), data=data)
        assert response.status_code == 303
        assert response.headers["Location"].startswith("/login?next=")
        assert flashes(shop.open("/login")) == [said(shop, "Sign in to continue")]
        assert shop.world.digest(incidental=True) == before


@pytest.mark.parametrize("path", POSTS)
def test_what_changes_something_cannot_be_opened(path: str) -> None:
    with open_shop(fixtures=("cart_empty_A",)) as shop:
        shop.sign_in()
        line, data = filled_cart(shop)
        before = shop.world.digest(incidental=True)
        response = shop.get(path.format(line=line), params=data)
        assert response.status_code == 405
        assert shop.world.digest(incidental=True) == before


@pytest.mark.parametrize("path", ["/cart/add", "/wishlist/add", "/wishlist/remove"])
@pytest.mark.parametrize("sku", ["", "P99999", "P0000", "' OR 1=1 --", "P00007" + "x" * 4000])
def test_a_form_about_an_unknown_product_is_not_found(path: str, sku: str) -> None:
    with open_shop(fixtures=("cart_empty_A",)) as shop:
        shop.sign_in()
        _line, data = filled_cart(shop)
        before = shop.world.digest(incidental=True)
        assert shop.post(path, data=data | {"sku": sku}).status_code == 404
        assert shop.world.digest(incidental=True) == before
