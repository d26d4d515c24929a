"""Fixtures: what the small language can say, and what it refuses."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lowagent_sites.common.changes import diff
from lowagent_sites.common.database import WorldDatabase
from lowagent_sites.common.errors import UnknownNameError
from lowagent_sites.common.fixtures import (
    FixtureError,
    apply_fixtures,
    fixture_names,
    fixtures_folder,
    load_fixture,
)
from tests.lowagent_sites.common.demo_database import DEMO, demo_seed

FIXTURE = """
schema: 1
about: Order 1 holds one item, which is scarce.
changes:
  - delete: {table: lines, where: {order_id: {orders: {buyer: buyer 1}}}}
  - update: {table: items, where: {sku: P007}, set: {stock: 1, made_on: 2026-06-14}}
  - insert:
      table: lines
      rows:
        - {order_id: {orders: {buyer: buyer 1}}, item_id: {items: {sku: P007}}, qty: 2}
  - insert:
      table: orders
      rows: [{id: 9, buyer: {localized: {aa: first, bb: second}}}]
"""


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return demo_seed(tmp_path_factory.mktemp("seed"))


@pytest.fixture
def world(seed: bytes) -> Iterator[WorldDatabase]:
    with closing(WorldDatabase.open(seed)) as database:
        yield database


def lay(world: WorldDatabase, folder: Path, content: str, language_code: str = "aa") -> None:
    (folder / "demo.yaml").write_text(content, "utf-8")
    world.overlay(
        lambda connection: apply_fixtures(connection, DEMO, language_code, ["demo"], folder=folder)
    )


def rows(world: WorldDatabase, sql: str) -> list[tuple[object, ...]]:
    with world.raw() as connection:
        return connection.execute(sql).fetchall()


def test_changes_run_in_order_with_references_resolved(
    world: WorldDatabase, tmp_path: Path
) -> None:
    lay(world, tmp_path, FIXTURE)
    assert rows(world, "SELECT item_id, qty FROM lines WHERE order_id = 1") == [(7, 2)]
    assert rows(world, "SELECT stock, made_on FROM items WHERE id = 7") == [(1, "2026-06-14")]


def test_a_localized_text_is_the_one_of_the_language(world: WorldDatabase, tmp_path: Path) -> None:
    lay(world, tmp_path, FIXTURE, "bb")
    assert rows(world, "SELECT buyer FROM orders WHERE id = 9") == [("second",)]


def test_differences_are_told_from_the_seed_with_its_fixtures(
    world: WorldDatabase, tmp_path: Path
) -> None:
    lay(world, tmp_path, FIXTURE)
    assert diff(world, DEMO, incidental=True) == {}
    with world.raw() as connection:
        connection.execute("UPDATE items SET stock = 0 WHERE id = 7")
    (changed,) = diff(world, DEMO)["items"]["changed"]
    assert changed["old"] == {"stock": 1}
    world.reset()
    assert diff(world, DEMO) == {}
    assert rows(world, "SELECT stock FROM items WHERE id = 7") == [(1,)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("delete: {table: shelves, where: {}}", 'unknown table "shelves"'),
        ("delete: {table: lines, where: {qyt: 1}}", 'did you mean "qty"'),
        ("delete: {table: lines}", "where"),
        ("insert: {table: lines, rows: []}", "rows"),
        ("update: {table: items, where: {sku: X}, set: {stock: 1}}", "no row of items"),
        ("update: {table: items, where: {sku: P001}, set: {stock: -1}}", "CHECK"),
        ("delete: {table: lines, where: {item_id: {items: {sku: X}}}}", "0 rows of items"),
        ("delete: {table: lines, where: {item_id: {items: {}}}}", "20 rows of items"),
        ("delete: {table: items, where: {name: {localized: {cc: x}}}}", "localized text"),
        ("delete: {table: items, where: {id: {items: {}, orders: {}}}}", "not a reference"),
        ("delete: {table: items, where: {id: {lines: {qty: 2}}}}", "several columns"),
        ("remove: {table: items, where: {}}", "remove"),
        ("{}", "exactly one of"),
    ],
)
def test_what_does_not_fit_the_site_is_refused(
    world: WorldDatabase, tmp_path: Path, change: str, message: str
) -> None:
    content = f"schema: 1\nabout: wrong\nchanges:\n  - {change}\n"
    load_fixture.cache_clear()
    with pytest.raises(FixtureError, match="fixture demo: ") as caught:
        lay(world, tmp_path, content)
    assert message in str(caught.value)


def test_an_unknown_fixture_is_named_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "cart_empty.yaml").write_text(FIXTURE, "utf-8")
    with pytest.raises(UnknownNameError, match="known: cart_empty"):
        load_fixture(tmp_path, "cart_emty")


def test_the_fixtures_of_the_sites_are_well_formed() -> None:
    folder = fixtures_folder("ministore")
    assert "cart_empty_A" in fixture_names(folder)
    for name in fixture_names(folder):
        assert load_fixture(folder, name).about
