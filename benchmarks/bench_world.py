"""How fast worlds open, reset and tell their differences, held against plain SQLite.

Each bound is a ratio between two ways measured in turns in one run, with its absolute beside it:

- open: a world with its change log, ready for pages, against the same recipe over the same rows
  without a log (deserialize, engine, outer transaction, first query);
- reset: a reset of an open world against opening one;
- diff: the change log after eight changed rows against EXCEPT over all tables, both ways; this
  bound holds for databases of full size, so a smaller one is grown by lengthening its texts;
- memory: what one more open world adds once all its pages are read, against its seed's size.
"""

import contextlib
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import String, create_engine, event, text
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from lowagent_sites.common.changes import bake_change_log, diff
from lowagent_sites.common.database import WorldDatabase
from lowagent_sites.common.fixtures import fixture_names, fixtures_folder
from lowagent_sites.common.languages import selectable_languages
from lowagent_sites.common.seeds import seed_database
from lowagent_sites.common.site import Site
from lowagent_sites.common.tables import column_names, quote_name, quote_names, select_tables
from lowagent_sites.registry import load_site, site_names
from lowagent_vis.world import World

ROUNDS = 5
REPEATS = 7
CHANGED_ROWS = 8
MIB = 2**20
FULL_SIZE_BYTES = 8 * MIB


@dataclass(frozen=True)
class Result:
    """One measured quantity; a bound of None is reported only."""

    what: str
    value: float
    bound: float | None

    @property
    def is_met(self) -> bool:
        """Whether the value is within its bound."""
        return self.bound is None or self.value <= self.bound


def elapsed_ms(action: Callable[[], object]) -> float:
    """Return how long `action` takes."""
    started_s = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - started_s)


def medians(*actions: Callable[[], float]) -> list[float]:
    """Run measurements in turns; return the median over rounds of each one's round median."""
    rounds: list[list[float]] = []
    for _ in range(ROUNDS):
        taken: list[list[float]] = [[] for _ in actions]
        for _ in range(REPEATS):
            for times, action in zip(taken, actions, strict=True):
                times.append(action())
        rounds.append([statistics.median(times) for times in taken])
    return [statistics.median(values) for values in zip(*rounds, strict=True)]


def first_query(site: Site) -> str:
    """Return a query that makes SQLite read the schema and one row."""
    table = select_tables(site)[0]
    return f"SELECT {quote_names(column_names(table))} FROM {quote_name(table.name)} LIMIT 1"


def open_ours_ms(seed: bytes, query: str) -> float:
    """Time the opening of a world's database, its first query included."""
    started_s = time.perf_counter()
    database = WorldDatabase.open(seed)
    with database.session() as session:
        session.execute(text(query)).all()
    taken_ms = 1000 * (time.perf_counter() - started_s)
    database.close()
    return taken_ms


def open_plain_ms(seed: bytes, query: str) -> float:
    """Time the same recipe as it is usually written, over a seed without a log."""
    started_s = time.perf_counter()
    raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    raw.deserialize(seed)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    connection = engine.connect()
    connection.begin()
    with Session(bind=connection, join_transaction_mode="create_savepoint") as session:
        session.execute(text(query)).all()
    taken_ms = 1000 * (time.perf_counter() - started_s)
    connection.close()
    raw.close()
    return taken_ms


def without_log(seed: bytes, site: Site) -> bytes:
    """Return the same rows without log tables and triggers."""
    with TemporaryDirectory() as folder, closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(seed)
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {quote_name(trigger)}")
        for table in select_tables(site, incidental=True):
            connection.execute(f"DROP TABLE {quote_name('_before_' + table.name)}")
        connection.commit()
        path = Path(folder) / "plain.sqlite"
        connection.execute("VACUUM INTO ?", (str(path),))
        return path.read_bytes()


def with_log(plain: bytes, site: Site) -> bytes:
    """Return the same rows with log tables and triggers."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(plain)
        bake_change_log(connection, site.metadata)
        return connection.serialize()


def change_statements(seed: bytes, site: Site) -> list[str]:
    """Return updates that change one row each, eight in all, spread over the tables."""
    statements: list[str] = []
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(seed)
        connection.execute("PRAGMA foreign_keys=ON")
        for offset in range(CHANGED_ROWS):
            for statement in text_updates(site, offset):
                try:
                    is_done = connection.execute(statement).rowcount == 1
                except sqlite3.IntegrityError:
                    # The column is one that a constraint speaks of.
                    is_done = False
                if is_done:
                    statements.append(statement)
                if len(statements) == CHANGED_ROWS:
                    return statements
    raise RuntimeError(f"{site.name} has too few texts to change")


def text_updates(site: Site, offset: int) -> Iterator[str]:
    """Yield, for each text column of each table, an update of the row at `offset`."""
    for table in select_tables(site):
        name = quote_name(table.name)
        for column in table.columns:
            if isinstance(column.type, String):
                text_name = quote_name(column.name)
                yield (
                    f"UPDATE {name} SET {text_name} = {text_name} || '+' WHERE rowid = "
                    f"(SELECT rowid FROM {name} LIMIT 1 OFFSET {offset})"
                )


def grow(seed: bytes, statements: list[str]) -> bytes:
    """Return the database with the columns of `statements` long enough for its full size."""
    assignments = [statement.split(" WHERE rowid")[0] for statement in statements]
    while len(seed) < FULL_SIZE_BYTES:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(seed)
            connection.execute("PRAGMA foreign_keys=ON")
            for assignment in assignments:
                padded = assignment.replace("|| '+'", "|| hex(zeroblob(200))")
                with contextlib.suppress(sqlite3.IntegrityError):
                    connection.execute(padded)
            connection.commit()
            seed = connection.serialize()
    return seed


def except_ms(seed: bytes, site: Site, statements: list[str]) -> float:
    """Time EXCEPT over all tables between a changed database and its seed."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(seed)
        connection.execute("ATTACH ':memory:' AS before")
        connection.deserialize(seed, name="before")
        for statement in statements:
            connection.execute(statement)

        def compare() -> None:
            for table in select_tables(site):
                name = quote_name(table.name)
                for new, old in (("main", "before"), ("before", "main")):
                    sql = f"SELECT * FROM {new}.{name} EXCEPT SELECT * FROM {old}.{name}"
                    connection.execute(sql).fetchall()

        return elapsed_ms(compare)


def diff_ms(seed: bytes, site: Site, statements: list[str]) -> float:
    """Return the median time of a difference told by the change log."""
    with closing(WorldDatabase.open(seed)) as database:
        with database.raw() as connection:
            for statement in statements:
                connection.execute(statement)
        if not diff(database, site):
            raise RuntimeError("nothing was changed, so there is nothing to measure")
        (taken_ms,) = medians(lambda: elapsed_ms(lambda: diff(database, site)))
        return taken_ms


def resident_bytes() -> int:
    """Return the memory that this process holds."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def memory_ratio(site_name: str, language_code: str) -> float:
    """Return what a further world takes, all its pages read, in units of its seed's size.

    A process of its own measures it: memory that was freed before would be used again unseen.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        return processes.submit(measure_memory, site_name, language_code).result()


def measure_memory(site_name: str, language_code: str) -> float:
    """Return what `memory_ratio` returns, measured in this process."""
    site, seed = load_site(site_name), seed_database(site_name, language_code).data
    databases, taken = [], []
    for _ in range(8):
        before = resident_bytes()
        database = WorldDatabase.open(seed)
        with database.raw() as connection:
            for table in select_tables(site, incidental=True):
                connection.execute(f"SELECT * FROM {quote_name(table.name)}").fetchall()
        databases.append(database)
        taken.append(resident_bytes() - before)
    for database in databases:
        database.close()
    return statistics.median(taken) / len(seed)


def reset_results(
    site: Site, language_code: str, statements: list[str], open_ms: float
) -> Iterator[Result]:
    """Measure resets of a world after a write, without and with fixtures."""
    names = fixture_names(fixtures_folder(site.name))[:1]
    for fixtures in ((), names) if names else ((),):
        with World.open(site.name, language_code, fixtures=fixtures) as world:

            def write_and_reset(world: World = world) -> float:
                with world.tampering() as connection:
                    for statement in statements:
                        connection.execute(statement)
                return elapsed_ms(world.reset)

            (reset_ms,) = medians(write_and_reset)
        label = "reset with fixtures" if fixtures else "reset"
        yield Result(f"{label}, ms", reset_ms, 5.0 if fixtures else 1.0)
        yield Result(f"{label} / open", reset_ms / open_ms, 0.05)

    def reopen() -> None:
        World.open(site.name, language_code, fixtures=names).close()

    (reopen_ms,) = medians(lambda: elapsed_ms(reopen))
    yield Result("next world with fixtures, ms", reopen_ms, 5.0)


def measure(site: Site, language_code: str) -> Iterator[Result]:
    """Measure everything for one site in one language."""
    seed = seed_database(site.name, language_code).data
    plain, query = without_log(seed, site), first_query(site)
    statements = change_statements(seed, site)
    yield Result("seed, MiB", len(seed) / MIB, None)
    yield Result("memory of a further world / seed", memory_ratio(site.name, language_code), 1.4)
    ours_ms, plain_ms = medians(
        lambda: open_ours_ms(seed, query), lambda: open_plain_ms(plain, query)
    )
    yield Result("open, ms", ours_ms, 10.0)
    yield Result("open without log, ms", plain_ms, None)
    yield Result("open / open without log", ours_ms / plain_ms, 1.5)
    yield from reset_results(site, language_code, statements, ours_ms)
    full = grow(plain, statements)
    yield Result("diff, ms", diff_ms(seed, site, statements), 2.0)
    yield from diff_results(with_log(full, site), full, site, statements)


def diff_results(seed: bytes, plain: bytes, site: Site, statements: list[str]) -> Iterator[Result]:
    """Hold the change log against EXCEPT, on a database of full size."""
    log_ms = diff_ms(seed, site, statements)
    all_ms = statistics.median(except_ms(plain, site, statements) for _ in range(3))
    yield Result("full size, MiB", len(seed) / MIB, None)
    yield Result("diff at full size, ms", log_ms, 2.0)
    yield Result("EXCEPT over all tables, ms", all_ms, None)
    yield Result("diff / EXCEPT", log_ms / all_ms, 0.005)


def main() -> int:
    """Print a table of all sites and languages; return 1 if a bound is missed."""
    is_met = True
    for name in site_names():
        for language in selectable_languages():
            print(f"\n{name}.{language.code}")
            for result in measure(load_site(name), language.code):
                is_met &= result.is_met
                bound = "" if result.bound is None else f"<= {result.bound:g}"
                mark = "" if result.is_met else "  MISSED"
                print(f"  {result.what:<34}{result.value:>10.4f}  {bound}{mark}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
