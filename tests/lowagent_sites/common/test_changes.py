"""The change log, held against a comparison of every row."""

import hashlib
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lowagent_sites.common.changes import bake_change_log, diff, digest, full_diff
from lowagent_sites.common.database import FileDatabase, WorldDatabase
from tests.lowagent_sites.common.demo_database import DEMO, Base, demo_seed

SEEDS = range(60)


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return demo_seed(tmp_path_factory.mktemp("seed"))


@pytest.fixture
def world(seed: bytes) -> Iterator[WorldDatabase]:
    with closing(WorldDatabase.open(seed)) as database:
        yield database


@pytest.fixture(scope="module")
def untouched(seed: bytes) -> Iterator[WorldDatabase]:
    with closing(WorldDatabase.open(seed)) as database:
        yield database


def write(world: WorldDatabase, *statements: str) -> None:
    with world.raw() as connection:
        for statement in statements:
            connection.execute(statement)


def test_nothing_done_is_no_difference(world: WorldDatabase) -> None:
    assert diff(world, DEMO) == {}


def test_the_three_kinds_of_change_have_the_agreed_form(world: WorldDatabase) -> None:
    write(
        world,
        "INSERT INTO orders (id, buyer) VALUES (7, 'নীলা')",
        "UPDATE items SET stock = 4, name = 'x' WHERE id = 1",
        "DELETE FROM lines WHERE order_id = 1 AND item_id = 2",
    )
    assert diff(world, DEMO) == {
        "items": {
            "added": [],
            "removed": [],
            "changed": [
                {
                    "key": {"id": 1},
                    "old": {"name": "নাম 1", "stock": 1},
                    "new": {"name": "x", "stock": 4},
                }
            ],
        },
        "lines": {
            "added": [],
            "removed": [
                {
                    "key": {"order_id": 1, "item_id": 2},
                    "row": {"order_id": 1, "item_id": 2, "qty": 3},
                }
            ],
            "changed": [],
        },
        "orders": {
            "added": [{"key": {"id": 7}, "row": {"id": 7, "buyer": "নীলা"}}],
            "removed": [],
            "changed": [],
        },
    }


def test_changed_and_changed_back_is_no_difference(world: WorldDatabase) -> None:
    write(
        world,
        "UPDATE items SET stock = 9 WHERE id = 1",
        "UPDATE items SET stock = 1 WHERE id = 1",
        "INSERT INTO orders (id, buyer) VALUES (9, 'a')",
        "DELETE FROM orders WHERE id = 9",
    )
    assert diff(world, DEMO) == {}


def test_incidental_tables_are_shown_on_request(world: WorldDatabase) -> None:
    write(world, "UPDATE counters SET value = 101")
    assert diff(world, DEMO) == {}
    changed = diff(world, DEMO, incidental=True)["counters"]["changed"]
    assert changed == [{"key": {"name": "order"}, "old": {"value": 100}, "new": {"value": 101}}]


def test_a_row_replaced_twice_is_compared_with_its_first_state(world: WorldDatabase) -> None:
    write(
        world,
        "INSERT OR REPLACE INTO orders (id, buyer) VALUES (5, 'second')",
        "INSERT OR REPLACE INTO orders (id, buyer) VALUES (5, 'third')",
    )
    assert diff(world, DEMO)["orders"]["changed"] == [
        {"key": {"id": 5}, "old": {"buyer": "buyer 5"}, "new": {"buyer": "third"}}
    ]


def test_rows_that_a_unique_conflict_deletes_are_seen(
    world: WorldDatabase, untouched: WorldDatabase
) -> None:
    write(
        world,
        "DELETE FROM lines",
        "INSERT OR REPLACE INTO items (id, sku, name, stock) VALUES (50, 'P003', 'n', 1)",
    )
    found = diff(world, DEMO)
    assert [entry["key"] for entry in found["items"]["removed"]] == [{"id": 3}]
    assert [entry["key"] for entry in found["items"]["added"]] == [{"id": 50}]
    assert found == full_diff(untouched, world, DEMO)


def test_cascades_and_moved_keys_are_seen(world: WorldDatabase, untouched: WorldDatabase) -> None:
    write(
        world,
        "DELETE FROM orders WHERE id = 2",
        "UPDATE items SET id = id + 100 WHERE id > 10",
        "UPDATE lines SET item_id = item_id - 1 WHERE order_id = 4",
    )
    found = diff(world, DEMO)
    assert len(found["lines"]["removed"]) == 4
    assert len(found["items"]["added"]) == len(found["items"]["removed"]) == 10
    assert found == full_diff(untouched, world, DEMO)


def test_deleting_everything_is_seen(world: WorldDatabase) -> None:
    write(world, "DELETE FROM lines", "DELETE FROM items", "DELETE FROM pictures")
    found = diff(world, DEMO)
    assert {name: len(changes["removed"]) for name, changes in found.items()} == {
        "items": 20,
        "lines": 15,
        "pictures": 4,
    }


def test_binary_values_are_hexadecimal_and_the_whole_is_json(world: WorldDatabase) -> None:
    write(world, "UPDATE pictures SET data = X'00ff' WHERE name = 'p1'")
    changed = json.loads(json.dumps(diff(world, DEMO)))["pictures"]["changed"]
    assert changed == [{"key": {"name": "p1"}, "old": {"data": "0100ff"}, "new": {"data": "00ff"}}]


def test_a_rolled_back_request_leaves_no_trace(world: WorldDatabase) -> None:
    write(world, "SAVEPOINT s", "DELETE FROM lines", "ROLLBACK TO s", "RELEASE s")
    assert diff(world, DEMO) == {}


def test_the_log_empties_with_a_reset(world: WorldDatabase) -> None:
    write(world, "DELETE FROM lines")
    world.reset()
    assert diff(world, DEMO) == {}


def test_a_file_keeps_the_same_log(seed: bytes, tmp_path: Path) -> None:
    path = tmp_path / "site.sqlite"
    path.write_bytes(seed)
    with closing(FileDatabase(path)) as database:
        with database.raw() as connection:
            connection.execute("INSERT OR REPLACE INTO orders (id, buyer) VALUES (5, 'x')")
        assert len(diff(database, DEMO)["orders"]["changed"]) == 1


@pytest.mark.parametrize("draw", SEEDS)
def test_log_and_full_comparison_agree_after_random_writes(
    world: WorldDatabase, untouched: WorldDatabase, draw: int
) -> None:
    generator = random.Random(draw)
    done = 0
    with world.raw() as connection:
        for _ in range(40):
            try:
                connection.execute(random_write(generator))
                done += 1
            except sqlite3.IntegrityError:
                continue
    assert done > 5
    expected = full_diff(untouched, world, DEMO, incidental=True)
    assert expected != {}
    assert diff(world, DEMO, incidental=True) == expected


def random_write(generator: random.Random) -> str:
    """Return one raw statement; those that break a constraint are part of the game."""
    n, m = generator.randint(1, 25), generator.randint(1, 25)
    conflict = generator.choice(["", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT"])
    value = generator.choice(["NULL", "1.5", "'1.5'", "X'00ff'", "'নতুন'", "1e300", "0.1"])
    choices = (
        f"INSERT {conflict} INTO items (id, sku, name, stock, weight) "
        f"VALUES ({n}, 'P{m:03}', 'i', 1, {value})",
        f"INSERT {conflict} INTO items (sku, name, stock) SELECT sku || {n}, name, {m} FROM items",
        f"INSERT INTO items (id, sku, name, stock) VALUES ({n}, 'P{m:03}', 'u', 1) "
        f"ON CONFLICT (id) DO UPDATE SET stock = stock + 1, weight = {value}",
        f"INSERT {conflict} INTO lines (order_id, item_id, qty) VALUES ({n % 7}, {m}, 1)",
        f"INSERT {conflict} INTO pictures (name, data) VALUES ('p{n % 6}', {value})",
        f"INSERT {conflict} INTO counters (name, value) VALUES ('order', {n})",
        f"UPDATE {conflict} items SET id = {m} WHERE id = {n}",
        f"UPDATE {conflict} items SET sku = 'P{m:03}', weight = {value} WHERE id = {n}",
        f"UPDATE {conflict} items SET stock = stock - 1 WHERE id % 3 = {n % 3}",
        f"UPDATE {conflict} orders SET id = id + {m - 12} WHERE id > {n % 7}",
        f"UPDATE {conflict} lines SET item_id = {m}, order_id = {n % 7} WHERE item_id = {n}",
        f"UPDATE {conflict} pictures SET name = 'p{m % 6}' WHERE name = 'p{n % 6}'",
        f"DELETE FROM orders WHERE id = {n % 7}",
        f"DELETE FROM lines WHERE item_id > {n}",
        f"DELETE FROM {generator.choice(['lines', 'pictures', 'counters'])}",
        f"DELETE FROM items WHERE id IN ({n}, {m})",
    )
    return generator.choice(choices)


def test_digests_tell_every_difference_and_no_other(world: WorldDatabase) -> None:
    before = digest(world, DEMO)
    assert set(before) == {"items", "lines", "orders", "pictures"}
    write(world, "UPDATE orders SET buyer = 'x' WHERE id = 1")
    after = digest(world, DEMO)
    assert {name for name in before if before[name] != after[name]} == {"orders"}
    world.reset()
    assert digest(world, DEMO) == before


def test_a_digest_is_the_sha256_of_one_json_line_per_row(world: WorldDatabase) -> None:
    expected = hashlib.sha256(b'["order", 100]\n').hexdigest()
    assert digest(world, DEMO, incidental=True)["counters"] == expected


def test_a_table_without_a_model_is_refused() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE stray (id INTEGER PRIMARY KEY)")
        with pytest.raises(ValueError, match="tables without a model: stray"):
            bake_change_log(connection, Base.metadata)
