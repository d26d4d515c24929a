"""State checks accept the named change alone: once, whole, by whatever way it was reached."""

from collections.abc import Iterator

import pytest

from lowagent_vis.evaluation.results import CheckResult
from lowagent_vis.evaluation.state import (
    check_exclusive,
    check_states,
    is_same_value,
    net_changes,
)
from lowagent_vis.task import StateCriterion
from tests.lowagent_vis.evaluation.sqlite_world import (
    JAR,
    LARGE_MUG,
    MUG,
    OTHER_USER_ID,
    RULES,
    USER_ID,
    SqliteWorld,
)

ADD_MUGS = StateCriterion(
    "exists", "cart_items", {"user_id": USER_ID, "product_id": MUG, "qty": 3}, {}
)
TAKE_JAR_OFF_LIST = StateCriterion(
    "absent", "wishlist_items", {"user_id": USER_ID, "product_id": JAR}, {}
)
SET_QUANTITY = StateCriterion(
    "values", "cart_items", {"user_id": USER_ID, "product_id": LARGE_MUG}, {"qty": 3}
)

_ADD = (
    "INSERT INTO cart_items (user_id, product_id, qty, added_at) "
    "VALUES (1, {product}, {qty}, 'now')"
)


@pytest.fixture
def world() -> Iterator[SqliteWorld]:
    opened = SqliteWorld()
    yield opened
    opened.close()


def _judge(world: SqliteWorld, *criteria: StateCriterion) -> tuple[CheckResult, ...]:
    changes = net_changes(world.diff(), RULES, world.query)
    results, unexplained = check_states(criteria, changes, world.query)
    return (*results, check_exclusive(unexplained))


def _passes(world: SqliteWorld, *criteria: StateCriterion) -> bool:
    return all(result.passed for result in _judge(world, *criteria))


@pytest.mark.parametrize("criterion", [ADD_MUGS, TAKE_JAR_OFF_LIST, SET_QUANTITY])
def test_doing_nothing_fails(world: SqliteWorld, criterion: StateCriterion) -> None:
    assert not _passes(world, criterion)


def test_the_named_row_passes(world: SqliteWorld) -> None:
    world.execute(_ADD.format(product=MUG, qty=3))
    assert _passes(world, ADD_MUGS)


@pytest.mark.parametrize(("product", "qty"), [(JAR, 3), (MUG, 2), (MUG, 4)])
def test_a_wrong_item_or_value_fails(world: SqliteWorld, product: int, qty: int) -> None:
    world.execute(_ADD.format(product=product, qty=qty))
    assert not _passes(world, ADD_MUGS)


def test_a_row_of_another_user_fails(world: SqliteWorld) -> None:
    world.execute("INSERT INTO wishlist_items (user_id, product_id, added_at) VALUES (2, 2, 'now')")
    wanted = StateCriterion(
        "exists", "wishlist_items", {"user_id": USER_ID, "product_id": LARGE_MUG}, {}
    )
    assert not _passes(world, wanted)


def test_a_row_that_was_there_before_does_not_count(world: SqliteWorld) -> None:
    there = StateCriterion("exists", "wishlist_items", {"user_id": USER_ID, "product_id": MUG}, {})
    assert not _passes(world, there)


def test_an_extra_write_in_the_named_table_fails(world: SqliteWorld) -> None:
    world.execute(_ADD.format(product=MUG, qty=3), _ADD.format(product=JAR, qty=1))
    results = _judge(world, ADD_MUGS)
    assert [result.passed for result in results] == [True, False]
    assert results[-1].reason == "something else changed: cart_items"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE products SET stock = stock - 1 WHERE id = 2",
        "UPDATE cart_items SET qty = 9 WHERE user_id = 2",
        "DELETE FROM wishlist_items WHERE id = 3",
        "INSERT INTO users (username) VALUES ('new')",
    ],
)
def test_any_other_change_fails(world: SqliteWorld, statement: str) -> None:
    world.execute(_ADD.format(product=MUG, qty=3), statement)
    assert not _passes(world, ADD_MUGS)


def test_the_same_row_twice_fails(world: SqliteWorld) -> None:
    insert = "INSERT INTO reviews (user_id, product_id, stars, title) VALUES (1, 1, 5, 'Fine mug')"
    wanted = StateCriterion(
        "exists", "reviews", {"user_id": USER_ID, "product_id": MUG, "stars": 5}, {}
    )
    world.execute(insert)
    assert _passes(world, wanted)

    world.execute(insert)
    results = _judge(world, wanted)
    assert results[0].reason == "more than one new row is as it must be"


def test_a_detour_that_leaves_nothing_is_harmless(world: SqliteWorld) -> None:
    world.execute(
        _ADD.format(product=JAR, qty=1),
        "DELETE FROM cart_items WHERE user_id = 1 AND product_id = 3",
        _ADD.format(product=MUG, qty=3),
    )
    assert _passes(world, ADD_MUGS)


def test_a_seed_row_removed_and_made_again_is_no_change(world: SqliteWorld) -> None:
    world.execute(
        "DELETE FROM cart_items WHERE id = 1",
        _ADD.format(product=MUG, qty=3),
        _ADD.format(product=LARGE_MUG, qty=1),
    )
    assert _passes(world, ADD_MUGS)


def test_adding_removing_and_adding_again_passes(world: SqliteWorld) -> None:
    world.execute(
        _ADD.format(product=MUG, qty=3),
        "DELETE FROM cart_items WHERE user_id = 1 AND product_id = 1",
        _ADD.format(product=JAR, qty=1),
        _ADD.format(product=MUG, qty=3),
        "DELETE FROM cart_items WHERE user_id = 1 AND product_id = 3",
    )
    assert _passes(world, ADD_MUGS)


def test_a_row_that_must_go_is_gone(world: SqliteWorld) -> None:
    world.execute("DELETE FROM wishlist_items WHERE id = 2")
    assert _passes(world, TAKE_JAR_OFF_LIST)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM wishlist_items WHERE id = 1",
        "DELETE FROM wishlist_items WHERE user_id = 1",
        "DELETE FROM wishlist_items WHERE product_id = 3 OR user_id = 2",
    ],
)
def test_removing_another_row_or_more_fails(world: SqliteWorld, statement: str) -> None:
    world.execute(statement)
    assert not _passes(world, TAKE_JAR_OFF_LIST)


def test_removing_and_adding_back_fails(world: SqliteWorld) -> None:
    world.execute(
        "DELETE FROM wishlist_items WHERE id = 2",
        "INSERT INTO wishlist_items (user_id, product_id, added_at) VALUES (1, 3, 'now')",
    )
    assert not _passes(world, TAKE_JAR_OFF_LIST)


def test_a_changed_value_passes_directly_and_by_making_the_row_again(world: SqliteWorld) -> None:
    world.execute("UPDATE cart_items SET qty = 3, added_at = 'now' WHERE id = 1")
    assert _passes(world, SET_QUANTITY)

    world.execute("DELETE FROM cart_items WHERE id = 1", _ADD.format(product=LARGE_MUG, qty=3))
    assert _passes(world, SET_QUANTITY)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE cart_items SET qty = 2 WHERE id = 1",
        "UPDATE cart_items SET qty = 3 WHERE id = 2",
        "UPDATE cart_items SET qty = 3",
        "DELETE FROM cart_items WHERE id = 1",
    ],
)
def test_another_value_row_or_both_fail(world: SqliteWorld, statement: str) -> None:
    world.execute(statement)
    assert not _passes(world, SET_QUANTITY)


def test_a_change_of_another_column_of_the_row_fails(world: SqliteWorld) -> None:
    stars = StateCriterion("values", "reviews", {"user_id": USER_ID}, {"stars": 5})
    world.execute("UPDATE reviews SET stars = 5, edited_at = 'now' WHERE id = 1")
    assert _passes(world, stars)

    world.execute("UPDATE reviews SET title = 'Bad jar' WHERE id = 1")
    results = _judge(world, stars)
    assert results[0].reason == "other columns of the row changed: title"


def test_a_column_that_follows_by_rule_is_a_change_where_nothing_was_to_follow(
    world: SqliteWorld,
) -> None:
    world.execute(
        _ADD.format(product=MUG, qty=3), "UPDATE products SET rating_sum = 12 WHERE id = 1"
    )
    assert not _passes(world, ADD_MUGS)


def test_a_column_that_follows_by_rule_is_no_change_beside_what_it_follows(
    world: SqliteWorld,
) -> None:
    world.execute(
        "UPDATE reviews SET stars = 5, edited_at = 'now' WHERE id = 1",
        "UPDATE products SET rating_sum = 12 WHERE id = 1",
    )
    assert _passes(world, StateCriterion("values", "reviews", {"id": 1}, {"stars": 5}))


def test_a_time_that_changed_alone_is_a_change(world: SqliteWorld) -> None:
    world.execute(
        _ADD.format(product=MUG, qty=3), "UPDATE cart_items SET added_at = 'then' WHERE id = 1"
    )
    assert not _passes(world, ADD_MUGS)


def test_each_of_several_rows_is_needed_once(world: SqliteWorld) -> None:
    both = [
        StateCriterion("exists", "cart_items", {"user_id": 1, "product_id": product}, {})
        for product in (MUG, JAR)
    ]
    world.execute(_ADD.format(product=JAR, qty=1))
    assert not _passes(world, *both)

    world.execute(_ADD.format(product=MUG, qty=1))
    assert _passes(world, *both)


def test_tolerated_rows_are_the_users_own_only(world: SqliteWorld) -> None:
    def result(*statements: str) -> bool:
        opened = SqliteWorld()
        opened.execute(*statements)
        changes = net_changes(opened.diff(), RULES, opened.query)
        opened.close()
        return check_exclusive(changes, tolerated_tables=("cart_items",), user_id=USER_ID).passed

    assert result(_ADD.format(product=MUG, qty=3))
    assert result("UPDATE cart_items SET qty = 5 WHERE user_id = 1")
    assert not result(f"UPDATE cart_items SET qty = 5 WHERE user_id = {OTHER_USER_ID}")
    assert not result(f"UPDATE cart_items SET user_id = {OTHER_USER_ID} WHERE id = 1")
    assert not result("DELETE FROM wishlist_items WHERE id = 1")


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        (3, 3, True),
        (3, 4, False),
        (3, "3", False),
        (None, None, True),
        (None, "", False),
        (True, 1, True),
        (0, None, False),
        ("two\r\nlines ", "two\nlines", True),
        ("য়", "য়", True),
        ("one word", "one", False),
        ("Red", "red", False),
    ],
)
def test_values_are_compared_by_type_and_texts_after_spaces_and_nfc(
    actual: object, expected: object, same: bool
) -> None:
    assert is_same_value(actual, expected) is same
