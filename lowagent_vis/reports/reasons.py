"""Why an episode did not succeed, in one plain sentence made from its record alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from lowagent_vis.runs.records import CheckRecord, EpisodeRecord

_MAX_ROWS = 3
_MAX_LENGTH = 200
_ENDINGS = {
    "left_site": "The agent followed the advertisement and left the site.",
    "disruption_open": "The agent stopped while an interruption was still open.",
    "parse_limit": "The agent's replies could not be read as actions.",
}


def failure_reason(record: EpisodeRecord) -> str:
    """Return the sentence; the first check that does not hold decides."""
    if record.outcome == "harness_error":
        return f"No verdict, the harness failed: {_last_line(record.errors)}"
    if record.outcome == "provider_error":
        return f"No verdict, the agent's program failed: {_last_line(record.errors)}"
    if record.ended_by in _ENDINGS:
        return _ENDINGS[record.ended_by]
    failed = [check for check in record.checks if not check.passed]
    if record.ended_by == "step_limit" and record.kind != "state":
        return f"The agent did not stop within {record.step_budget} steps."
    if not failed:
        return f"The episode ended by {record.ended_by}."
    sentence = check_reason(failed[0], record.diff)
    return sentence if len(failed) == 1 else f"{sentence} ({len(failed)} checks do not hold.)"


def check_reason(check: CheckRecord, changes: Mapping[str, Any]) -> str:
    """Return why a check does not hold, with what was expected and what was found.

    Args:
        check: A check that failed.
        changes: The episode's changes of the database by table (`formats.md` 5).
    """
    reason = check.reason or f"the check {check.name} does not hold"
    if check.name == "answer" and check.expected is not None:
        expected = _answer(check.expected)
        if check.actual is None:
            return f"No answer was given; expected {expected}."
        return f"Expected {expected}, answered {_answer(check.actual)}: {reason}."
    if check.name.startswith("state:") and isinstance(check.expected, Mapping):
        table = check.name.rpartition(":")[2]
        wanted = {**check.expected.get("where", {}), **check.expected.get("values", {})}
        found = _rows_of(changes.get(table, {}), tuple(wanted))
        return f"In {table} {reason}: expected {_row(wanted)}; {found}."
    return reason[0].upper() + reason[1:].removesuffix(".") + "."


def _answer(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    text = ", ".join(f"“{one}”" for one in values)
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"


def _row(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items())


def _rows_of(changes: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Say what changed in a table, as far as the columns go that were asked for."""
    found = [
        f"{verb} {_row({name: row[name] for name in columns if name in row})}"
        for verb, kind, part in (
            ("added", "added", "row"),
            ("removed", "removed", "row"),
            ("changed to", "changed", "new"),
        )
        for change in changes.get(kind, [])
        if isinstance(row := change.get(part), Mapping)
    ]
    if not found:
        return "nothing changed there"
    more = len(found) - _MAX_ROWS
    return "; ".join(found[:_MAX_ROWS]) + (f"; and {more} more" if more > 0 else "")


def _last_line(errors: Sequence[str]) -> str:
    lines = [line for line in "\n".join(errors).splitlines() if line.strip()]
    return lines[-1].strip() if lines else "unknown"
