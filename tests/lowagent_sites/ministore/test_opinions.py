"""Reviews and questions: which are shown, in what order, against a second computation."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lowagent_sites.common.numbers import format_integer
from tests.lowagent_sites.ministore.shop import Shop, open_shop, text_of

Row = dict[str, Any]


@pytest.fixture(scope="module", params=["en", "bn", "ur"])
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with open_shop(request.param) as opened:
        yield opened


def most_discussed(shop: Shop, table: str) -> Row:
    (row,) = shop.rows(
        f"SELECT p.id, p.sku FROM {table} t JOIN products p ON p.id = t.product_id "
        "GROUP BY p.id ORDER BY COUNT(*) DESC, p.id LIMIT 1"
    )
    return row


def all_ids(shop: Shop, path: str, prefix: str) -> list[int]:
    """Return the entries of all pages of a list, by following `Next page`."""
    found: list[int] = []
    while path:
        page = shop.open(path)
        found += [
            int(href.removeprefix(prefix))
            for href in page.xpath("//ul[@class='opinions']//h2/a/@href")
        ]
        path = next(iter(page.xpath("//a[@rel='next']/@href")), "")
    return found


def newest(row: Row) -> list[int]:
    return [-ord(character) for character in str(row["created_at"])]


REVIEW_ORDERS: dict[str, Callable[[Row], Any]] = {
    "helpful": lambda r: (-r["helpful_count"], r["id"]),
    "newest": lambda r: (newest(r), r["id"]),
    "oldest": lambda r: (r["created_at"], r["id"]),
    "stars_desc": lambda r: (-r["stars"], -r["helpful_count"], r["id"]),
    "stars_asc": lambda r: (r["stars"], -r["helpful_count"], r["id"]),
}


@pytest.mark.parametrize("sort", REVIEW_ORDERS)
@pytest.mark.parametrize("stars", ["", "5", "4", "3", "2", "1"])
def test_reviews_are_filtered_by_stars_and_sorted(shop: Shop, sort: str, stars: str) -> None:
    product = most_discussed(shop, "reviews")
    rows = shop.rows("SELECT * FROM reviews WHERE product_id = :id", id=product["id"])
    assert len(rows) > 10
    expected = [
        row["id"]
        for row in sorted(rows, key=REVIEW_ORDERS[sort])
        if not stars or row["stars"] == int(stars)
    ]
    path = f"/p/{product['sku']}/reviews?sort={sort}&stars={stars}"
    assert all_ids(shop, path, "/review/") == expected


def test_an_unknown_order_or_number_of_stars_is_the_default(shop: Shop) -> None:
    path = f"/p/{most_discussed(shop, 'reviews')['sku']}/reviews"
    assert all_ids(shop, f"{path}?sort=best&stars=6", "/review/") == all_ids(shop, path, "/review/")


def test_the_histogram_and_the_average_are_those_of_the_rows(shop: Shop) -> None:
    product = most_discussed(shop, "reviews")
    rows = shop.rows("SELECT stars FROM reviews WHERE product_id = :id", id=product["id"])
    counts = Counter(row["stars"] for row in rows)
    expected = [
        [format_integer(number, shop.language) for number in (stars, counts[stars])]
        for stars in (5, 4, 3, 2, 1)
    ]
    for path in (f"/p/{product['sku']}", f"/p/{product['sku']}/reviews"):
        table = shop.open(path).xpath("//table[@class='histogram']/tbody/tr")
        assert [[text_of(cell) for cell in row] for row in table] == expected


def test_every_products_denormalised_rating_is_that_of_its_reviews(shop: Shop) -> None:
    wrong = shop.rows(
        "SELECT p.sku FROM products p LEFT JOIN reviews r ON r.product_id = p.id GROUP BY p.id "
        "HAVING p.rating_count <> COUNT(r.id) OR p.rating_sum <> COALESCE(SUM(r.stars), 0)"
    )
    assert wrong == []


@pytest.mark.parametrize("sort", ["newest", "most_answers"])
def test_questions_are_sorted_with_their_answers_counted(shop: Shop, sort: str) -> None:
    product = most_discussed(shop, "questions")
    rows = shop.rows(
        "SELECT q.*, (SELECT COUNT(*) FROM answers a WHERE a.question_id = q.id) AS answers "
        "FROM questions q WHERE q.product_id = :id",
        id=product["id"],
    )
    assert len(rows) > 1

    def order(row: Row) -> Any:
        return (-row["answers"] if sort == "most_answers" else 0, newest(row), row["id"])

    expected = [row["id"] for row in sorted(rows, key=order)]
    assert all_ids(shop, f"/p/{product['sku']}/qa?sort={sort}", "/q/") == expected


def test_answers_come_the_most_helpful_first_then_the_oldest(shop: Shop) -> None:
    rows = shop.rows("SELECT * FROM answers ORDER BY question_id")
    question_id, count = Counter(row["question_id"] for row in rows).most_common(1)[0]
    assert count > 2
    expected = [
        row["body"]
        for row in sorted(rows, key=lambda r: (-r["helpful_count"], r["created_at"], r["id"]))
        if row["question_id"] == question_id
    ]
    text = text_of(shop.open(f"/q/{question_id}").xpath("//main")[0])
    places = [text.find(" ".join(body.split())) for body in expected]
    assert -1 not in places
    assert places == sorted(places)


def test_equals_keep_the_order_in_which_they_were_written() -> None:
    with open_shop() as shop:
        shop.execute("UPDATE reviews SET helpful_count = 0, stars = 3, created_at = '2026-01-01'")
        shop.execute("UPDATE questions SET created_at = '2026-01-01'")
        for table, place, prefix, sorts in (
            ("reviews", "reviews", "/review/", REVIEW_ORDERS),
            ("questions", "qa", "/q/", ["newest"]),
        ):
            product = most_discussed(shop, table)
            rows = shop.rows(
                f"SELECT id FROM {table} WHERE product_id = :id ORDER BY id", id=product["id"]
            )
            for sort in sorts:
                path = f"/p/{product['sku']}/{place}?sort={sort}"
                assert all_ids(shop, path, prefix) == [row["id"] for row in rows]


def test_of_equally_helpful_answers_the_oldest_comes_first() -> None:
    with open_shop() as shop:
        (row,) = shop.rows(
            "SELECT question_id FROM answers GROUP BY question_id "
            "ORDER BY COUNT(*) DESC, question_id LIMIT 1"
        )
        # The later an answer was written, the earlier it is dated.
        shop.execute(
            "UPDATE answers SET helpful_count = 1, body = 'Answer ' || id, "
            "created_at = date('2026-06-01', '-' || id || ' days') || ' 00:00:00.000000'"
        )
        rows = shop.rows(
            "SELECT body FROM answers WHERE question_id = :id ORDER BY id DESC",
            id=row["question_id"],
        )
        shown = shop.open(f"/q/{row['question_id']}").xpath("//main//*[@class='body']")
        bodies = [text_of(e) for e in shown]
        assert [body for body in bodies if body.startswith("Answer ")] == [r["body"] for r in rows]


def test_opinions_name_the_user_and_never_the_display_name() -> None:
    with open_shop() as shop:
        shop.execute("UPDATE users SET display_name = 'Display ' || id")
        product = most_discussed(shop, "reviews")
        authors = shop.rows(
            "SELECT r.id, u.username FROM reviews r JOIN users u ON u.id = r.user_id "
            "WHERE r.product_id = :id ORDER BY r.id LIMIT 5",
            id=product["id"],
        )
        shown = {row["id"]: shop.get(f"/review/{row['id']}").text for row in authors}
        assert all(row["username"] in shown[row["id"]] for row in authors)
        discussed = most_discussed(shop, "questions")["sku"]
        others = [f"/p/{product['sku']}/reviews", f"/p/{discussed}", f"/p/{discussed}/qa"]
        assert "Display" not in "".join([*shown.values(), *(shop.get(p).text for p in others)])
