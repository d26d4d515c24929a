"""Checks on what an episode changed in the database: the right rows, once, and nothing else.

The input is the difference to the reset (`formats.md` 5), so a row that was there before never
counts. Changes are first reduced to their net effect: a row that was removed and made again is
told by its business key, not by its id. Ids are no part of a goal; a timestamp follows the other
columns of its row, and a derived column follows the table that it is derived from: changed
alone, they count. Then each check takes the rows that it explains; what is left must be nothing.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import sqlalchemy

from lowagent_sites.registry import load_site
from lowagent_vis.evaluation.results import CheckResult
from lowagent_vis.task import StateCriterion

Row = Mapping[str, Any]
Diff = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]
Query = Callable[[str, Mapping[str, Any]], Sequence[Row]]

_TIMESTAMP_SUFFIX = "_at"
OWNER_COLUMN = "user_id"


@dataclass(frozen=True)
class StateRules:
    """What a site's schema says about comparing rows.

    Attributes:
        primary_keys: Table to the columns of its primary key.
        business_keys: Table to the sets of columns that tell a row apart for people.
        derived_columns: `table.column` that follow by rule, such as a rating sum, and the
            table that they follow.
    """

    primary_keys: Mapping[str, tuple[str, ...]]
    business_keys: Mapping[str, tuple[tuple[str, ...], ...]]
    derived_columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RowChange:
    """The net change of one row.

    Attributes:
        kind: `added`, `removed` or `changed`.
        old: The row at the reset, empty if it is new.
        new: The row now, empty if it is gone.
        columns: Columns that changed, without ids, timestamps and derived ones.
    """

    table: str
    kind: Literal["added", "removed", "changed"]
    old: Row = field(default_factory=dict)
    new: Row = field(default_factory=dict)
    columns: frozenset[str] = frozenset()

    def to_data(self) -> dict[str, Any]:
        """Return the change as plain data for a record."""
        shown: dict[str, Any] = {"table": self.table, "change": self.kind}
        if self.kind == "changed":
            shown["old"] = {name: self.old[name] for name in sorted(self.columns)}
            shown["new"] = {name: self.new[name] for name in sorted(self.columns)}
        else:
            shown["row"] = dict(self.new or self.old)
        return shown


@cache
def state_rules(site_name: str) -> StateRules:
    """Return the rules that follow from the schema of a site."""
    site = load_site(site_name)
    tables = site.metadata.tables.values()
    return StateRules(
        primary_keys={table.name: tuple(table.primary_key.columns.keys()) for table in tables},
        business_keys={table.name: _business_keys(table) for table in tables},
        derived_columns=dict(site.derived_columns),
    )


def _business_keys(table: sqlalchemy.Table) -> tuple[tuple[str, ...], ...]:
    """Return the unique sets of columns; a primary key that is no bare number counts too."""
    keys = [
        tuple(constraint.columns.keys())
        for constraint in table.constraints
        if isinstance(constraint, sqlalchemy.UniqueConstraint)
    ]
    keys += [tuple(index.columns.keys()) for index in table.indexes if index.unique]
    keys += [(column.name,) for column in table.columns if column.unique]
    primary = tuple(table.primary_key.columns.keys())
    if primary != ("id",):
        keys.append(primary)
    return tuple(dict.fromkeys(sorted(keys)))


def net_changes(diff: Diff, rules: StateRules, query: Query) -> tuple[RowChange, ...]:
    """Return the net changes of a difference; detours that left nothing are gone.

    Args:
        diff: Added, removed and changed rows by table, incidental tables left out.
        rules: The site's rules.
        query: Reads the database as it is now.
    """
    changes: list[RowChange] = []
    for table, entries in diff.items():
        added = [dict(entry["row"]) for entry in entries.get("added", ())]
        removed = [dict(entry["row"]) for entry in entries.get("removed", ())]
        for old in removed:
            twin = next((new for new in added if _is_same_row(table, old, new, rules)), None)
            if twin is None:
                changes.append(RowChange(table, "removed", old=old))
                continue
            added.remove(twin)
            changes += _changed(table, old, twin, rules, diff)
        changes += [RowChange(table, "added", new=row) for row in added]
        for entry in entries.get("changed", ()):
            new = _read_row(table, entry["key"], query)
            old = {**new, **entry["old"]}
            changes += _changed(table, old, new, rules, diff, is_in_place=True)
    return tuple(changes)


def check_states(
    criteria: Sequence[StateCriterion],
    changes: Sequence[RowChange],
    query: Query,
) -> tuple[tuple[CheckResult, ...], tuple[RowChange, ...]]:
    """Check each criterion; also return the changes that none of them explains."""
    left = list(changes)
    results = []
    for criterion in criteria:
        result, explained = _CHECKS[criterion.state](criterion, left, query)
        results.append(result)
        left = [change for change in left if not any(change is row for row in explained)]
    return tuple(results), tuple(left)


def check_exclusive(
    unexplained: Sequence[RowChange],
    *,
    tolerated_tables: Sequence[str] = (),
    user_id: int | None = None,
) -> CheckResult:
    """Check that nothing else changed, but for the user's own rows of tolerated tables."""
    rest = [
        change
        for change in unexplained
        if not (change.table in tolerated_tables and _belongs_to(change, user_id))
    ]
    shown = [change.to_data() for change in rest]
    tables = ", ".join(sorted({change.table for change in rest}))
    return CheckResult(
        name="exclusive",
        expected=[],
        actual=shown,
        normalized=shown,
        passed=not rest,
        reason=f"something else changed: {tables}" if rest else None,
    )


def is_same_value(actual: Any, expected: Any) -> bool:
    """Compare two column values: numbers as numbers, texts after line ends, spaces and NFC."""
    if isinstance(actual, str) and isinstance(expected, str):
        return _clean(actual) == _clean(expected)
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is not None and expected is not None and int(actual) == int(expected)
    return type(actual) is type(expected) and bool(actual == expected)


def _clean(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _matches(row: Row, where: Row) -> bool:
    return bool(row) and all(
        name in row and is_same_value(row[name], value) for name, value in where.items()
    )


def _is_same_row(table: str, old: Row, new: Row, rules: StateRules) -> bool:
    for key in rules.business_keys.get(table, ()):
        values = [(old.get(name), new.get(name)) for name in key]
        if all(a is not None and a == b for a, b in values):
            return True
    return not _goal_columns(_differing_columns(table, old, new, rules))


def _differing_columns(table: str, old: Row, new: Row, rules: StateRules) -> frozenset[str]:
    ignored = set(rules.primary_keys.get(table, ()))
    return frozenset(
        name for name in {*old, *new} if name not in ignored and old.get(name) != new.get(name)
    )


def _goal_columns(columns: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in columns if not name.endswith(_TIMESTAMP_SUFFIX))


def _changed(
    table: str, old: Row, new: Row, rules: StateRules, diff: Diff, *, is_in_place: bool = False
) -> list[RowChange]:
    """Return the change of a row, if there is one.

    Columns that follow a table that changed as well are left out. A timestamp counts only where a
    row that stayed in its place changed in nothing else.
    """
    differing = frozenset(
        name
        for name in _differing_columns(table, old, new, rules)
        if rules.derived_columns.get(f"{table}.{name}") not in diff
    )
    columns = _goal_columns(differing)
    if not columns and is_in_place:
        columns = differing
    return [RowChange(table, "changed", old=old, new=new, columns=columns)] if columns else []


def _read_row(table: str, key: Row, query: Query) -> Row:
    condition = " AND ".join(f'"{name}" = :{name}' for name in key)
    rows = query(f'SELECT * FROM "{table}" WHERE {condition}', key)
    return rows[0] if rows else dict(key)


def _belongs_to(change: RowChange, user_id: int | None) -> bool:
    owners = {row[OWNER_COLUMN] for row in (change.old, change.new) if OWNER_COLUMN in row}
    return user_id is not None and owners == {user_id}


_Found = tuple[CheckResult, Sequence[RowChange]]


def _check_exists(criterion: StateCriterion, changes: Sequence[RowChange], query: Query) -> _Found:
    found = [
        change
        for change in changes
        if change.kind == "added"
        and change.table == criterion.table
        and _matches(change.new, criterion.where)
    ]
    reason = None
    if not found:
        reason = "no new row is as it must be"
    elif len(found) > 1:
        reason = "more than one new row is as it must be"
    return _result(criterion, [change.new for change in found], reason), found


def _check_absent(criterion: StateCriterion, changes: Sequence[RowChange], query: Query) -> _Found:
    gone = [
        change
        for change in changes
        if change.kind == "removed"
        and change.table == criterion.table
        and _matches(change.old, criterion.where)
    ]
    condition = " AND ".join(f'"{name}" IS :{name}' for name in criterion.where)
    left = query(f'SELECT * FROM "{criterion.table}" WHERE {condition}', criterion.where)
    reason = None
    if left:
        reason = "a row that must be gone is still there"
    elif not gone:
        reason = "no such row was there"
    return _result(criterion, list(left), reason), gone


def _check_values(criterion: StateCriterion, changes: Sequence[RowChange], query: Query) -> _Found:
    touched = [
        change
        for change in changes
        if change.kind == "changed"
        and change.table == criterion.table
        and _matches(change.new, criterion.where)
    ]
    reached = [change for change in touched if _matches(change.new, criterion.values)]
    reason = None
    if not touched:
        reason = "the row did not change"
    elif len(touched) > 1:
        reason = "more than one row changed"
    elif not reached:
        reason = "the row holds another value"
    elif others := reached[0].columns - set(criterion.values):
        reason = f"other columns of the row changed: {', '.join(sorted(others))}"
    shown = [{name: change.new[name] for name in criterion.values} for change in touched]
    return _result(criterion, shown, reason), touched


def _result(criterion: StateCriterion, actual: Sequence[Row], reason: str | None) -> CheckResult:
    expected: dict[str, Any] = {"where": dict(criterion.where)}
    if criterion.values:
        expected["values"] = dict(criterion.values)
    rows = [dict(row) for row in actual]
    return CheckResult(
        name=f"state:{criterion.state}:{criterion.table}",
        expected=expected,
        actual=rows,
        normalized=rows,
        passed=reason is None,
        reason=reason,
    )


_CHECKS: Mapping[str, Callable[[StateCriterion, Sequence[RowChange], Query], _Found]] = {
    "exists": _check_exists,
    "absent": _check_absent,
    "values": _check_values,
}
