"""Fixtures: named sets of rows laid over a site's seed before an episode.

A fixture is a YAML file `assets/content/<site>/fixtures/<name>.yaml`; its changes run in order:

```yaml
schema: 1
about: The cart of the account for text tasks holds one kettle.
changes:
  - delete: {table: cart_items, where: {user_id: {users: {username: nila_shop}}}}
  - insert:
      table: cart_items
      rows:
        - {user_id: {users: {username: nila_shop}}, product_id: {products: {sku: P00412}}, qty: 2}
  - update: {table: products, where: {sku: P00412}, set: {stock: 5}}
```

A value is a plain one, a reference or a localized text. A reference `{products: {sku: P00412}}`
names another row by its business key and stands for that row's primary key. A localized text
`{localized: {<language code>: "…"}}` stands for the text of the database's language. Dates and
times are written unquoted where the column has such a type. `where: {}` matches every row.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection, Table, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from lowagent_sites.common.changes import clear_change_log
from lowagent_sites.common.errors import UnknownNameError, unknown_name
from lowagent_sites.common.tables import Schema, column_names, get_table, key_names
from lowagent_sites.paths import data_dir

Plain: TypeAlias = bool | int | float | datetime | date | str | None
Value: TypeAlias = Plain | dict[str, dict[str, Plain]]
Values: TypeAlias = dict[str, Value]

_LOCALIZED = "localized"


class FixtureError(ValueError):
    """A fixture does not fit its site; the content's author must act."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Delete(_Strict):
    """Remove the rows of `table` that match `where`."""

    table: str
    where: Values


class Insert(_Strict):
    """Add `rows` to `table`."""

    table: str
    rows: Annotated[tuple[Values, ...], Field(min_length=1)]


class Update(_Strict):
    """Assign the values of `set` in the rows of `table` that match `where`; one at least must."""

    table: str
    where: Values
    assign: Annotated[Values, Field(alias="set", min_length=1)]


class Change(_Strict):
    """Exactly one of the three kinds of change."""

    delete: Delete | None = None
    insert: Insert | None = None
    update: Update | None = None

    def kind(self) -> Delete | Insert | Update:
        """Return the change itself.

        Raises:
            FixtureError: None or more than one kind is given.
        """
        given = [kind for kind in (self.delete, self.insert, self.update) if kind is not None]
        if len(given) != 1:
            raise FixtureError("a change is exactly one of delete, insert and update")
        return given[0]


class Fixture(_Strict):
    """The content of a fixture's file."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    about: str
    changes: tuple[Change, ...]


def fixtures_folder(site_name: str) -> Path:
    """Return the folder of a site's fixtures."""
    return data_dir("assets") / "content" / site_name / "fixtures"


def fixture_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the fixtures in `folder`, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


@cache
def load_fixture(folder: Path, name: str) -> Fixture:
    """Read a fixture.

    Raises:
        UnknownNameError: There is no fixture of this name.
        FixtureError: The file does not have the form that this module describes.
    """
    known = fixture_names(folder)
    if name not in known:
        raise unknown_name("fixture", name, known)
    try:
        content = yaml.safe_load((folder / f"{name}.yaml").read_text("utf-8"))
        return Fixture.model_validate(content)
    except (yaml.YAMLError, ValidationError) as error:
        raise FixtureError(f"fixture {name}: {error}") from error


def apply_fixtures(
    connection: Connection,
    schema: Schema,
    language_code: str,
    names: Sequence[str],
    *,
    folder: Path,
) -> None:
    """Lay fixtures over a seed, in the order of `names`, inside the caller's transaction.

    Differences are told from the resulting state.

    Raises:
        UnknownNameError: There is no fixture of this name.
        FixtureError: A fixture names an unknown table, column or row, or breaks a constraint.
    """
    for name in names:
        fixture = load_fixture(folder, name)
        try:
            for change in fixture.changes:
                _apply(connection, schema, language_code, change.kind())
        except (FixtureError, UnknownNameError, SQLAlchemyError) as error:
            raise FixtureError(f"fixture {name}: {error}") from error
    clear_change_log(connection, schema)


def _apply(
    connection: Connection, schema: Schema, language_code: str, change: Delete | Insert | Update
) -> None:
    table = get_table(schema, change.table)

    def resolve(values: Values) -> dict[str, Any]:
        return {
            column: _resolve(connection, schema, language_code, value)
            for column, value in _check_columns(table, values).items()
        }

    if isinstance(change, Insert):
        for row in change.rows:
            connection.execute(insert(table).values(resolve(row)))
        return
    condition = [table.c[name].is_(value) for name, value in resolve(change.where).items()]
    if isinstance(change, Delete):
        connection.execute(delete(table).where(*condition))
        return
    result = connection.execute(update(table).where(*condition).values(resolve(change.assign)))
    if result.rowcount == 0:
        raise FixtureError(f"no row of {table.name} matches {change.where}")


def _check_columns(table: Table, values: Values) -> Values:
    for name in values:
        if name not in table.c:
            raise unknown_name(f"column of {table.name}", name, column_names(table))
    return values


def _resolve(connection: Connection, schema: Schema, language_code: str, value: Value) -> Any:
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise FixtureError(f"not a reference to one row: {value}")
    ((name, mapping),) = value.items()
    if name == _LOCALIZED:
        if language_code not in mapping:
            raise unknown_name("language of a localized text", language_code, mapping)
        return mapping[language_code]
    return _find_key(connection, get_table(schema, name), mapping)


def _find_key(connection: Connection, table: Table, business_key: Mapping[str, Plain]) -> Any:
    keys = key_names(table)
    if len(keys) != 1:
        raise FixtureError(f"{table.name} has a primary key of several columns")
    _check_columns(table, dict(business_key))
    condition = [table.c[name] == value for name, value in business_key.items()]
    found = connection.execute(select(table.c[keys[0]]).where(*condition)).scalars().all()
    if len(found) != 1:
        raise FixtureError(f"{len(found)} rows of {table.name} match {dict(business_key)}")
    return found[0]
