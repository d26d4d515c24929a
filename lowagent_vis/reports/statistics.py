"""Intervals of success rates, from statsmodels; without the extra `stats` there are none."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

_LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of a rate or of a difference of rates, both in 0..1 or -1..1."""

    low: float
    high: float


def has_statistics() -> bool:
    """Whether the extra `stats` is installed."""
    return _proportion("proportion_confint") is not None


def rate_interval(successes: int, count: int) -> Interval | None:
    """Return the Wilson score interval of a success rate, or None without the extra or data."""
    compute = _proportion("proportion_confint")
    if compute is None or not count:
        return None
    low, high = compute(successes, count, alpha=1 - _LEVEL, method="wilson")
    return Interval(float(low), float(high))


def difference_interval(
    successes: int, count: int, base_successes: int, base_count: int
) -> Interval | None:
    """Return Newcombe's interval of the difference of two rates (first minus base).

    It takes the two samples as independent. Runs of the same tasks are not: the interval is then
    too wide rather than too narrow.
    """
    compute = _proportion("confint_proportions_2indep")
    if compute is None or not count or not base_count:
        return None
    low, high = compute(
        successes, count, base_successes, base_count, method="newcomb", alpha=1 - _LEVEL
    )
    return Interval(float(low), float(high))


def _proportion(name: str) -> Callable[..., Any] | None:
    try:
        module = import_module("statsmodels.stats.proportion")
    except ImportError:
        return None
    function: Callable[..., Any] = getattr(module, name)
    return function
