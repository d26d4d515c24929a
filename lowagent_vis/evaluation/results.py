"""The result of one check, in the words of webarena-verified: expected, actual, normalised."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CheckResult:
    """Whether one check of a task holds.

    Attributes:
        name: The check, for example `answer` or `state:exists:cart_items`.
        expected: What the check wanted, as displayed or as rows.
        actual: What it found.
        normalized: What it found in the form in which it was compared.
        passed: Whether it holds.
        reason: One English sentence when it does not.
    """

    name: str
    expected: Any
    actual: Any
    normalized: Any
    passed: bool
    reason: str | None = None
