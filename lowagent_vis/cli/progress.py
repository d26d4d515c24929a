"""A run's progress on the terminal: done, success by language, errors, time left."""

import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lowagent_vis.reports.reasons import failure_reason
from lowagent_vis.runs.records import EpisodeRecord

_PLAIN_INTERVAL_S = 10.0


class ProgressDisplay:
    """A bar on a terminal, a line every ten seconds elsewhere.

    Args:
        total: Episodes of the whole run.
        earlier: Episodes that an interrupted run had finished.
    """

    def __init__(self, *, total: int, earlier: Sequence[EpisodeRecord] = ()) -> None:
        self._console = Console(stderr=True)
        self._total = total
        self._records = list(earlier)
        self._started_s = time.monotonic()
        self._printed_s = self._started_s
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=total, completed=len(self._records))
        self._played = 0

    def __enter__(self) -> "ProgressDisplay":
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self._bar.stop()

    @property
    def has_errors(self) -> bool:
        """Whether an episode ended without a verdict."""
        return any(record.outcome.endswith("_error") for record in self._records)

    def advance(self, record: EpisodeRecord) -> None:
        """Count a finished episode."""
        self._records.append(record)
        self._played += 1
        self._bar.update(self._task, completed=len(self._records), description=self._rates())
        now_s = time.monotonic()
        is_last = len(self._records) == self._total
        if not self._console.is_terminal and (
            is_last or now_s - self._printed_s >= _PLAIN_INTERVAL_S
        ):
            self._printed_s = now_s
            self._console.print(
                f"{len(self._records)} of {self._total}  {self._rates()}  {self._left(now_s)}",
                highlight=False,
                soft_wrap=True,
            )

    def summary(self) -> str:
        """Return who succeeded, by language, and the first reason why one has no verdict."""
        line = f"{len(self._records)} of {self._total} played: {self._rates()}"
        for record in self._records:
            if record.outcome.endswith("_error"):
                return f"{line}\n{record.episode}: {failure_reason(record)}"
        return line

    def _rates(self) -> str:
        scored: Counter[str] = Counter()
        solved: Counter[str] = Counter()
        errors = 0
        for record in self._records:
            if record.outcome.endswith("_error"):
                errors += 1
                continue
            scored[record.language] += 1
            solved[record.language] += record.outcome == "success"
        parts = [f"{language} {solved[language]}/{scored[language]}" for language in sorted(scored)]
        return "  ".join([*parts, f"errors {errors}"])

    def _left(self, now_s: float) -> str:
        left = self._total - len(self._records)
        if not left:
            return f"took {_minutes(now_s - self._started_s)}"
        per_episode_s = (now_s - self._started_s) / max(1, self._played)
        return f"about {_minutes(left * per_episode_s)} left"


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
