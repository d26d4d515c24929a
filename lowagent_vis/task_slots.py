"""Slots of a task in one world: what each stands for in queries, and how the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

import regex

from lowagent_sites.common.languages import Language
from lowagent_sites.common.numbers import format_decimal, format_integer, format_money
from lowagent_vis.errors import UserError
from lowagent_vis.evaluation.answers import AnswerKind
from lowagent_vis.task import (
    USER,
    FoundSlot,
    Intents,
    PhraseSlot,
    Query,
    RowSlot,
    TaskDefinition,
    ValueSlot,
)

_REFERENCE = regex.compile(r"\{(\w+)(?:\.(\w+))?\}")


class Facts(Protocol):
    """A world as the builder sees it: read-only SQL over seed and fixtures."""

    @property
    def seed_sha256(self) -> str:
        """Hash of the seed database."""

    def query(self, sql: str, params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a SELECT."""


@dataclass(frozen=True)
class ResolvedSlot:
    """A slot in one world.

    Attributes:
        bound: What stands for it in queries and checks: a row's id, a value, a text.
        shown: How the intent and the page show it; None if the intent does not name it.
        typed: What a reference types into a field.
        row: The row's columns, empty for values.
    """

    bound: int | str
    shown: str | None
    typed: str
    row: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Bindings:
    """All that a definition's names stand for in one world.

    Attributes:
        user_id: Id of the test account, None if the task's modality has none.
    """

    task_id: str
    facts: Facts
    slots: Mapping[str, ResolvedSlot]
    user_id: int | None

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of every query: slots by name, and the user."""
        return {name: slot.bound for name, slot in self.slots.items()} | {USER: self.user_id}

    def rows(self, sql: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a query with the slots bound."""
        return self.facts.query(sql, self.params)

    def scalar(self, sql: str) -> Any:
        """Return the one value that a query finds.

        Raises:
            UserError: It finds none or several.
        """
        values = [next(iter(row.values())) for row in self.rows(sql)]
        if len(values) != 1 or values[0] is None:
            found = "no value" if values in ([], [None]) else f"{len(values)} values"
            raise UserError(f"{self.task_id}: {found} for: {sql}; choose other slot values")
        return values[0]

    def value(self, value: int | str | Query | None) -> int | str | None:
        """Return what a value of a check stands for: a slot, a column, the user, or itself."""
        if isinstance(value, Query):
            found: int | str = self.scalar(value.sql)
            return found
        if value == USER:
            return self.user_id
        if isinstance(value, str):
            name, _, column = value.partition(".")
            if name in self.slots:
                return self._column(name, column) if column else self.slots[name].bound
        return value

    def fill_in(self, template: str) -> str:
        """Return a text with `{slot}` and `{slot.column}` replaced.

        Raises:
            UserError: There is no such slot or column.
        """
        return _REFERENCE.sub(
            lambda match: str(self._column(match.group(1), match.group(2))), template
        )

    def _column(self, name: str, column: str | None) -> int | str:
        if name not in self.slots:
            raise UserError(f"{self.task_id}: there is no slot {name}; add it to `slots`")
        slot = self.slots[name]
        if not column:
            return slot.bound
        if column not in slot.row:
            raise UserError(f"{self.task_id}: slot {name} has no column {column}; correct it")
        found: int | str = slot.row[column]
        return found


def resolve(
    task: TaskDefinition,
    facts: Facts,
    *,
    language: Language,
    intents: Intents,
    username: str | None,
    overrides: Mapping[str, int | str] | None = None,
) -> Bindings:
    """Return what the names of `task` stand for in a world.

    Args:
        task: The definition.
        facts: The world.
        language: The site's language, with the numerals that the page shows.
        intents: The site language's sentences; its phrases are the labels of options.
        username: The test account.
        overrides: Other keys or values for some slots: a decoy.

    Raises:
        UserError: A slot names no row, or more than one.
    """
    user_id = _user_id(task, facts, username)
    slots: dict[str, ResolvedSlot] = {}
    for name, slot in task.slots.items():
        so_far = Bindings(task.id, facts, slots, user_id)
        override = (overrides or {}).get(name)
        slots[name] = _resolve_slot(name, slot, so_far, language, intents, override)
    return Bindings(task.id, facts, slots, user_id)


def display(kind: AnswerKind, value: Any, *, language: Language, places: int = 1) -> str:
    """Return a database value as the page shows it; amounts are in cents."""
    match kind:
        case "int":
            return format_integer(int(value), language)
        case "money":
            return format_money(int(value), language)
        case "decimal":
            return format_decimal(Decimal(str(value)), places, language)
        case "percent":
            return f"{format_integer(int(value), language)}{language.percent}"
        case _:
            return str(value)


def _user_id(task: TaskDefinition, facts: Facts, username: str | None) -> int | None:
    if username is None:
        return None
    rows = facts.query("SELECT id FROM users WHERE username = :username", {"username": username})
    if not rows:
        raise UserError(f"{task.id}: no user {username} in the database; correct accounts.yaml")
    return int(rows[0]["id"])


def _resolve_slot(
    name: str,
    slot: RowSlot | FoundSlot | ValueSlot | PhraseSlot,
    so_far: Bindings,
    language: Language,
    intents: Intents,
    override: int | str | None,
) -> ResolvedSlot:
    match slot:
        case RowSlot(row=(table, column, key), show=show):
            sql = f'SELECT * FROM "{table}" WHERE "{column}" = :key'
            rows = so_far.facts.query(sql, {"key": key if override is None else override})
            return _row(name, so_far, rows, show)
        case FoundSlot(find=(table, sql), show=found_show):
            row_id = so_far.scalar(sql) if override is None else override
            rows = so_far.facts.query(f'SELECT * FROM "{table}" WHERE id = :id', {"id": row_id})
            return _row(name, so_far, rows, found_show)
        case ValueSlot(value=value, show=show):
            chosen = value if override is None else override
            if show == "phrase":
                label = _phrase(name, so_far, str(chosen), intents)
                return ResolvedSlot(bound=chosen, shown=label, typed=str(chosen))
            places = len(str(chosen).partition(".")[2])
            shown = display(show, chosen, language=language, places=places)
            return ResolvedSlot(bound=chosen, shown=shown, typed=shown)
        case PhraseSlot(phrase=key):
            text = _phrase(name, so_far, str(key if override is None else override), intents)
            return ResolvedSlot(bound=text, shown=text, typed=text)


def _row(
    name: str,
    so_far: Bindings,
    rows: Sequence[Mapping[str, Any]],
    show: str | None,
) -> ResolvedSlot:
    if len(rows) != 1:
        raise UserError(f"{so_far.task_id}: slot {name} names {len(rows)} rows; choose another")
    row = dict(rows[0])
    if show is not None and show not in row:
        raise UserError(f"{so_far.task_id}: slot {name} has no column {show} to show; correct it")
    shown = None if show is None else str(row[show])
    return ResolvedSlot(bound=row["id"], shown=shown, typed=shown or str(row["id"]), row=row)


def _phrase(name: str, so_far: Bindings, key: str, intents: Intents) -> str:
    if key not in intents.phrases:
        raise UserError(f"{so_far.task_id}: slot {name}: add {key} to `_phrases` of the intents")
    return intents.phrases[key]
