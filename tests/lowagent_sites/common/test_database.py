"""Databases: isolation of a world's transaction, resets, writers that queue up."""

import ast
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

import lowagent_sites
from lowagent_sites.common.changes import digest
from lowagent_sites.common.database import (
    Database,
    DatabaseBrokenError,
    FileDatabase,
    WorldDatabase,
)
from tests.lowagent_sites.common.demo_database import DEMO, Item, Line, Order, demo_seed


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return demo_seed(tmp_path_factory.mktemp("seed"))


@pytest.fixture
def world(seed: bytes) -> Iterator[WorldDatabase]:
    with closing(WorldDatabase.open(seed)) as database:
        yield database


@pytest.fixture
def file_database(seed: bytes, tmp_path: Path) -> Iterator[FileDatabase]:
    path = tmp_path / "site.sqlite"
    path.write_bytes(seed)
    with closing(FileDatabase(path)) as database:
        yield database


def count_items(database: Database) -> int:
    with database.session() as session:
        return session.scalar(select(func.count()).select_from(Item)) or 0


def add_item(database: Database, sku: str) -> int:
    with database.session() as session:
        database.begin_write(session)
        item = Item(sku=sku, name="new", stock=1)
        session.add(item)
        session.commit()
        return item.id


def test_a_commit_is_seen_by_the_next_session_and_gone_after_a_reset(world: WorldDatabase) -> None:
    add_item(world, "X1")
    assert count_items(world) == 21
    world.reset()
    assert count_items(world) == 20
    assert world.in_transaction


def test_a_rollback_touches_only_its_own_request(world: WorldDatabase) -> None:
    add_item(world, "X1")
    with world.session() as session:
        session.add(Item(sku="X2", name="new", stock=1))
        session.flush()
        session.rollback()
    assert count_items(world) == 21
    assert world.in_transaction


def test_an_integrity_error_leaves_the_world_usable(world: WorldDatabase) -> None:
    with world.session() as session, pytest.raises(IntegrityError):
        session.add(Item(sku="P001", name="twin", stock=1))
        session.flush()
    assert add_item(world, "X1") == 21


def test_ids_start_again_after_a_reset(world: WorldDatabase) -> None:
    first = add_item(world, "X1")
    world.reset()
    assert add_item(world, "X2") == first == 21


def test_worlds_share_nothing(world: WorldDatabase, seed: bytes) -> None:
    with closing(WorldDatabase.open(seed)) as other:
        add_item(world, "X1")
        assert count_items(other) == 20


def test_a_reset_returns_to_the_overlay(world: WorldDatabase) -> None:
    world.overlay(lambda connection: connection.execute(text("DELETE FROM lines")))
    add_item(world, "X1")
    world.reset()
    with world.session() as session:
        assert session.scalars(select(Line.qty)).all() == []
    assert count_items(world) == 20
    world.clear()
    with world.session() as session:
        assert len(session.scalars(select(Line.qty)).all()) == 15


@pytest.mark.parametrize("has_overlay", [False, True])
def test_a_reset_undoes_writes_of_many_megabytes(world: WorldDatabase, has_overlay: bool) -> None:
    if has_overlay:
        world.overlay(lambda connection: connection.execute(text("DELETE FROM lines")))
    before = digest(world, DEMO, incidental=True)
    for _ in range(2):
        with world.session() as session:
            world.begin_write(session)
            session.add_all(Item(sku=f"X{n}", name="n" * 4000, stock=1) for n in range(2000))
            session.flush()
            session.execute(text("UPDATE items SET name = name || '+'"))
            session.commit()
        assert count_items(world) == 2020
        world.reset()
        assert digest(world, DEMO, incidental=True) == before


def test_foreign_keys_hold(world: WorldDatabase) -> None:
    with world.session() as session, pytest.raises(IntegrityError):
        session.add(Line(order_id=99, item_id=1, qty=1))
        session.flush()


@pytest.mark.parametrize("statement", ["COMMIT", "ROLLBACK"])
def test_a_raw_end_of_the_transaction_is_noticed(world: WorldDatabase, statement: str) -> None:
    with world.raw() as connection:
        connection.execute(statement)
    assert not world.in_transaction
    with pytest.raises(DatabaseBrokenError, match="outer transaction"):
        world.reset()


def test_a_commit_on_the_outer_connection_is_noticed(world: WorldDatabase) -> None:
    with world.session() as session:
        session.connection().commit()
    with pytest.raises(DatabaseBrokenError, match="outer transaction"):
        world.check_idle()


def test_a_session_left_open_is_noticed(world: WorldDatabase) -> None:
    session = world.session()
    session.scalar(select(1))
    with pytest.raises(DatabaseBrokenError, match="left its session open"):
        world.check_idle()
    session.close()
    world.check_idle()


def test_begin_write_forgets_what_was_read(file_database: FileDatabase) -> None:
    with file_database.session() as session:
        item = session.scalars(select(Item).where(Item.sku == "P001")).one()
        assert item.stock == 1
        with file_database.raw() as connection:
            connection.execute("UPDATE items SET stock = 0 WHERE sku = 'P001'")
        file_database.begin_write(session)
        assert item.stock == 0


def test_the_file_is_in_wal_mode_with_its_pragmas_on(file_database: FileDatabase) -> None:
    pragmas = ("journal_mode", "foreign_keys", "recursive_triggers", "busy_timeout")
    with file_database.session() as session:
        values = [session.scalar(text(f"PRAGMA {name}")) for name in pragmas]
    assert values == ["wal", 1, 1, 5000]


def test_one_of_many_writers_gets_the_last_item(file_database: FileDatabase) -> None:
    barrier = threading.Barrier(8)

    def buy(buyer: int) -> bool:
        barrier.wait()
        with file_database.session() as session:
            session.scalar(select(Item.stock).where(Item.sku == "P001"))
            file_database.begin_write(session)
            item = session.scalars(select(Item).where(Item.sku == "P001")).one()
            if item.stock == 0:
                return False
            item.stock -= 1
            session.add(Order(id=100 + buyer, buyer="last"))
            session.commit()
            return True

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(buy, range(8)))
    assert won.count(True) == 1
    with file_database.raw() as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (6,)


@pytest.mark.parametrize("kind", ["world", "file_database"])
def test_statements_collects_the_sql_of_sessions(kind: str, request: pytest.FixtureRequest) -> None:
    database: Database = request.getfixturevalue(kind)
    with database.statements() as statements:
        count_items(database)
    count_items(database)
    assert sum("FROM items" in statement for statement in statements) == 1


def test_statements_of_another_world_are_not_collected(world: WorldDatabase, seed: bytes) -> None:
    with closing(WorldDatabase.open(seed)) as other, world.statements() as statements:
        count_items(other)
    assert statements == []


def test_no_module_of_the_sites_ends_a_transaction_by_raw_sql() -> None:
    folder = Path(lowagent_sites.__file__).parent
    wrong = [
        f"{path.relative_to(folder)}:{node.lineno} {node.value!r}"
        for path in sorted(folder.rglob("*.py"))
        if path != folder / "common" / "database.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"(COMMIT|END|ROLLBACK)\b", node.value, re.IGNORECASE)
        and len(node.value.split()) <= 3
    ]
    assert wrong == []
