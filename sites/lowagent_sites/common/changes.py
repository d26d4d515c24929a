"""What an episode has changed in a site's database, told from the state after the reset.

Triggers inside the seed keep, for every key that is written, the row as it was before the first
write. A difference compares those rows with the rows now, so what was changed and changed back is
no change. The full comparison reads every row; it exists to check the log.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import Connection, MetaData, Table

from lowagent_sites.common.database import Database
from lowagent_sites.common.tables import (
    Schema,
    column_names,
    key_names,
    quote_name,
    quote_names,
    select_tables,
)

_LOG_PREFIX = "_before_"

Row: TypeAlias = tuple[Any, ...]
TableDiff: TypeAlias = dict[str, list[dict[str, Any]]]
Diff: TypeAlias = dict[str, TableDiff]
"""Per changed table: `added`, `removed` (`key`, `row`) and `changed` (`key`, `old`, `new`)."""


def bake_change_log(connection: sqlite3.Connection, metadata: MetaData) -> None:
    """Add the log tables and their triggers to a built database.

    Connections that write need `PRAGMA recursive_triggers=ON`.

    Raises:
        ValueError: A table of the database is not in the metadata, or has no primary key.
    """
    stored = {
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_")
    }
    if unlisted := sorted(stored - set(metadata.tables)):
        raise ValueError(f"tables without a model: {', '.join(unlisted)}")
    for table in metadata.sorted_tables:
        for statement in _log_statements(table):
            connection.execute(statement)


def clear_change_log(connection: Connection, schema: Schema) -> None:
    """Make the present state the one that differences are told from."""
    for table in select_tables(schema, incidental=True):
        connection.exec_driver_sql(f"DELETE FROM {_log_name(table)}")


def diff(database: Database, schema: Schema, *, incidental: bool = False) -> Diff:
    """Return the rows added, removed and changed since the reset.

    Values are those that SQLite stores; binary ones as hexadecimal text.

    Args:
        database: The database as the episode left it.
        schema: The site, which names its tables and those that are incidental.
        incidental: Include the incidental tables.
    """
    tables = select_tables(schema, incidental=incidental)
    with database.raw() as connection:
        logged = {table: connection.execute(_log_query(table)).fetchall() for table in tables}
    return _without_unchanged(
        {table.name: _logged_changes(table, rows) for table, rows in logged.items() if rows}
    )


def full_diff(
    before: Database, after: Database, schema: Schema, *, incidental: bool = False
) -> Diff:
    """Return what `diff` returns, by reading every row of two databases. Slow."""
    found: Diff = {}
    with before.raw() as old_connection, after.raw() as new_connection:
        for table in select_tables(schema, incidental=incidental):
            old_rows = _rows_by_key(old_connection, table)
            new_rows = _rows_by_key(new_connection, table)
            pairs = [
                (key, old_rows.get(key), new_rows.get(key)) for key in {**old_rows, **new_rows}
            ]
            found[table.name] = _compare_rows(table, pairs)
    return _without_unchanged(found)


def digest(database: Database, schema: Schema, *, incidental: bool = False) -> dict[str, str]:
    """Return, per table, the SHA-256 over all rows in the order of their primary key."""
    with database.raw() as connection:
        return {
            table.name: _table_digest(connection, table)
            for table in select_tables(schema, incidental=incidental)
        }


def _log_name(table: Table) -> str:
    return quote_name(_LOG_PREFIX + table.name)


def _log_statements(table: Table) -> Iterator[str]:
    """Yield the SQL of a table's log.

    The log's columns have no type, so that they keep a value exactly as it was stored. SQLite
    reads all of it at every opening: short statements are the cheapest part of a fast reset.
    """
    log, name, keys = _log_name(table), quote_name(table.name), quote_names(key_names(table))
    columns = column_names(table)
    old_values = quote_names(columns, "OLD.")
    new_key = quote_names(key_names(table), "NEW.")
    keep_old = f"INSERT INTO {log} SELECT 1, {old_values} {_unless_kept(table, 'OLD')};"
    keep_none = f"INSERT INTO {log} (_e, {keys}) SELECT 0, {new_key} {_unless_kept(table, 'NEW')};"
    bodies = {"INSERT": keep_none, "UPDATE": keep_old + keep_none, "DELETE": keep_old}
    yield (f"CREATE TABLE {log} (_e, {quote_names(columns)}, PRIMARY KEY ({keys})) WITHOUT ROWID")
    for event, body in bodies.items():
        trigger = quote_name(f"{_LOG_PREFIX}{table.name}_{event.lower()}")
        yield f"CREATE TRIGGER {trigger} AFTER {event} ON {name} BEGIN {body} END"


def _unless_kept(table: Table, row: str) -> str:
    # Not INSERT OR IGNORE: inside a trigger the conflict clause of the outer statement holds, so
    # an INSERT OR REPLACE would overwrite the first row that was kept.
    same_key = " AND ".join(
        f"{quote_name(key)} = {row}.{quote_name(key)}" for key in key_names(table)
    )
    return f"WHERE NOT EXISTS (SELECT 1 FROM {_log_name(table)} WHERE {same_key})"


def _logged_changes(table: Table, rows: Sequence[Row]) -> TableDiff:
    start = 2 + len(key_names(table))
    middle = start + len(table.columns)
    return _compare_rows(
        table,
        (
            (row[2:start], row[start:middle] if row[0] else None, row[middle:] if row[1] else None)
            for row in rows
        ),
    )


@cache
def _log_query(table: Table) -> str:
    """Return the SELECT of whether a row was and is there, its key, its old and its new values."""
    columns, keys = column_names(table), key_names(table)
    same_key = " AND ".join(f"log.{quote_name(key)} = now.{quote_name(key)}" for key in keys)
    return (
        f"SELECT log._e, now.{quote_name(keys[0])} IS NOT NULL, {quote_names(keys, 'log.')}, "
        f"{quote_names(columns, 'log.')}, {quote_names(columns, 'now.')} "
        f"FROM {_log_name(table)} AS log LEFT JOIN {quote_name(table.name)} AS now ON {same_key}"
    )


def _compare_rows(table: Table, pairs: Iterable[tuple[Row, Row | None, Row | None]]) -> TableDiff:
    changes: TableDiff = {"added": [], "removed": [], "changed": []}
    columns, keys = column_names(table), key_names(table)
    for key, old, new in sorted(pairs, key=lambda pair: _sort_key(pair[0])):
        entry: dict[str, Any] = {"key": _to_mapping(keys, key)}
        if old is None and new is not None:
            changes["added"].append(entry | {"row": _to_mapping(columns, new)})
        elif new is None and old is not None:
            changes["removed"].append(entry | {"row": _to_mapping(columns, old)})
        elif old is not None and new is not None and old != new:
            changed = [i for i in range(len(columns)) if old[i] != new[i]]
            names = [columns[i] for i in changed]
            old_values = _to_mapping(names, [old[i] for i in changed])
            new_values = _to_mapping(names, [new[i] for i in changed])
            changes["changed"].append(entry | {"old": old_values, "new": new_values})
    return changes


def _without_unchanged(found: Diff) -> Diff:
    return {name: changes for name, changes in found.items() if any(changes.values())}


def _rows_by_key(connection: sqlite3.Connection, table: Table) -> dict[Row, Row]:
    columns = column_names(table)
    positions = [columns.index(key) for key in key_names(table)]
    rows = connection.execute(f"SELECT {quote_names(columns)} FROM {quote_name(table.name)}")
    return {tuple(row[i] for i in positions): row for row in rows}


def _table_digest(connection: sqlite3.Connection, table: Table) -> str:
    order = quote_names(key_names(table))
    rows = connection.execute(
        f"SELECT {quote_names(column_names(table))} FROM {quote_name(table.name)} ORDER BY {order}"
    )
    hasher = hashlib.sha256()
    for row in rows:
        line = json.dumps([_to_json(value) for value in row], ensure_ascii=False)
        hasher.update(line.encode() + b"\n")
    return hasher.hexdigest()


def _to_mapping(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: _to_json(value) for name, value in zip(names, values, strict=True)}


def _to_json(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _sort_key(key: Row) -> list[tuple[bool, Any]]:
    # Numbers before texts, as SQLite orders them; a key never holds NULL.
    return [
        (isinstance(value, str | bytes), value if isinstance(value, int | float) else str(value))
        for value in key
    ]
