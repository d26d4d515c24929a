"""The numbers of a report, from episode records only."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from lowagent_sites.common.languages import baseline_language, load_languages
from lowagent_vis.reports.statistics import Interval, difference_interval, rate_interval
from lowagent_vis.runs.records import EpisodeRecord

DISRUPTION_OUTCOMES = ("dismissed", "accepted", "open_at_stop", "open_at_limit", "not_reached")


@dataclass(frozen=True)
class Rate:
    """Successes among the scored episodes; errors stand beside it, never in it."""

    successes: int
    count: int
    errors: int

    @property
    def value(self) -> float | None:
        """Return the rate, 0..1, or None where nothing was scored."""
        return self.successes / self.count if self.count else None

    @property
    def interval(self) -> Interval | None:
        """Return the 95 % Wilson interval, or None without the extra `stats`."""
        return rate_interval(self.successes, self.count)


@dataclass(frozen=True)
class LanguageRow:
    """One language's line: its rate, the difference to the baseline, its steps."""

    code: str
    name: str
    is_baseline: bool
    rate: Rate
    difference: float | None
    difference_interval: Interval | None
    mean_steps: float | None


@dataclass(frozen=True)
class GroupRow:
    """One line of a table of rates: what it groups by, and the rate by language."""

    name: str
    total: Rate
    by_language: Mapping[str, Rate]


def rate_of(records: Iterable[EpisodeRecord]) -> Rate:
    """Return the success rate of some episodes."""
    outcomes = Counter(record.outcome for record in records)
    scored = outcomes["success"] + outcomes["failure"]
    return Rate(outcomes["success"], scored, sum(outcomes.values()) - scored)


def language_rows(records: Sequence[EpisodeRecord]) -> tuple[LanguageRow, ...]:
    """Return a row a language, the baseline first, then by code."""
    baseline = baseline_language().code
    names = load_languages()
    groups = _group(records, lambda record: record.language)
    base = rate_of(groups[baseline]) if baseline in groups else None
    rows = []
    for code in sorted(groups, key=lambda code: (code != baseline, code)):
        rate = rate_of(groups[code])
        is_compared = base is not None and code != baseline
        rows.append(
            LanguageRow(
                code=code,
                name=names[code].english_name if code in names else code,
                is_baseline=code == baseline,
                rate=rate,
                difference=_difference(rate, base) if is_compared else None,
                difference_interval=_difference_interval(rate, base) if is_compared else None,
                mean_steps=mean(r.steps for r in groups[code]) if groups[code] else None,
            )
        )
    return tuple(rows)


def group_rows(
    records: Sequence[EpisodeRecord], key: Callable[[EpisodeRecord], str]
) -> tuple[GroupRow, ...]:
    """Return a row a value of `key`, in the order of the values."""
    groups = _group(records, key)
    return tuple(
        GroupRow(
            name=name,
            total=rate_of(members),
            by_language={code: rate_of(part) for code, part in _group(members, _language).items()},
        )
        for name, members in sorted(groups.items())
    )


def disruption_counts(records: Iterable[EpisodeRecord]) -> dict[str, dict[str, int]]:
    """Return how often each interruption ended in which way; empty for an undisturbed run."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        for kind, outcome in record.disruptions.items():
            found.setdefault(kind, Counter())[outcome] += 1
    return {
        kind: {outcome: counts[outcome] for outcome in DISRUPTION_OUTCOMES}
        for kind, counts in found.items()
    }


def plain_sentences(records: Sequence[EpisodeRecord]) -> list[str]:
    """Return what a run says in whole sentences, the whole first, then language by language."""
    total = rate_of(records)
    sentences = [f"{total.successes} of {total.count} scored episodes succeeded."]
    if total.errors:
        share = total.errors / len(records)
        sentences.append(
            f"{total.errors} of {len(records)} episodes ({share:.0%}) have no verdict because the "
            "agent's program, its provider or the harness failed; they are counted in no rate."
        )
    rows = language_rows(records)
    sentences += [_language_sentence(row, rows[0]) for row in rows]
    return sentences


def _language_sentence(row: LanguageRow, first: LanguageRow) -> str:
    start = f"{row.name} {row.rate.successes} of {row.rate.count}"
    if row.difference is None:
        return f"{start}."
    points = round(100 * row.difference)
    if points == 0:
        side = f"equal to {first.name}"
    else:
        word = "point" if abs(points) == 1 else "points"
        side = f"{abs(points)} {word} {'below' if points < 0 else 'above'} {first.name}"
    interval = row.difference_interval
    if interval is None:
        return f"{start}, {side}."
    low, high = round(100 * interval.low), round(100 * interval.high)
    verdict = "not distinguishable" if low <= 0 <= high else "distinguishable"
    return f"{start}, {side}, 95 % {low:+d} to {high:+d}: {verdict}."


def report_data(records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return a report's numbers as plain data for `--json`."""
    return {
        "schema": 1,
        "sentences": plain_sentences(records),
        "languages": [
            {
                "language": row.code,
                "successes": row.rate.successes,
                "count": row.rate.count,
                "errors": row.rate.errors,
                "interval": _pair(row.rate.interval),
                "difference": row.difference,
                "difference_interval": _pair(row.difference_interval),
                "mean_steps": row.mean_steps,
            }
            for row in language_rows(records)
        ],
        "kinds": {
            row.name: [row.total.successes, row.total.count]
            for row in group_rows(records, lambda record: record.kind)
        },
        "disruptions": disruption_counts(records),
    }


def _pair(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None


def _difference(rate: Rate, base: Rate | None) -> float | None:
    if base is None or base.value is None or rate.value is None:
        return None
    return rate.value - base.value


def _difference_interval(rate: Rate, base: Rate | None) -> Interval | None:
    if base is None:
        return None
    return difference_interval(rate.successes, rate.count, base.successes, base.count)


def _language(record: EpisodeRecord) -> str:
    return record.language


def _group(
    records: Iterable[EpisodeRecord], key: Callable[[EpisodeRecord], str]
) -> dict[str, list[EpisodeRecord]]:
    groups: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups
