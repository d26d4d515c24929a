"""The tables of a site as the harness sees them: checked or incidental, with their keys."""

from collections.abc import Set as AbstractSet
from typing import Protocol

from sqlalchemy import MetaData, Table

from lowagent_sites.common.errors import unknown_name


class Schema(Protocol):
    """What the harness needs to know of a site's tables; `Site` has it."""

    @property
    def metadata(self) -> MetaData:
        """All tables of the site."""

    @property
    def incidental_tables(self) -> AbstractSet[str]:
        """Names of the tables that no task's verdict depends on."""


def select_tables(schema: Schema, *, incidental: bool = False) -> tuple[Table, ...]:
    """Return the checked tables by name; with `incidental`, all tables."""
    return tuple(
        table
        for name, table in sorted(schema.metadata.tables.items())
        if incidental or name not in schema.incidental_tables
    )


def get_table(schema: Schema, name: str) -> Table:
    """Return the table `name`.

    Raises:
        UnknownNameError: The site has no such table.
    """
    tables = schema.metadata.tables
    if name not in tables:
        raise unknown_name("table", name, tables)
    return tables[name]


def column_names(table: Table) -> tuple[str, ...]:
    """Return the names of all columns, in the order of their declaration."""
    return tuple(column.name for column in table.columns)


def key_names(table: Table) -> tuple[str, ...]:
    """Return the names of the primary key's columns.

    Raises:
        ValueError: The table has no primary key, so its changes cannot be told apart.
    """
    names = tuple(column.name for column in table.primary_key.columns)
    if not names:
        raise ValueError(f"table {table.name} has no primary key")
    return names


def quote_name(name: str) -> str:
    """Return `name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_names(names: tuple[str, ...], prefix: str = "") -> str:
    """Return `names` as a list of SQL identifiers, each after `prefix`."""
    return ", ".join(prefix + quote_name(name) for name in names)
