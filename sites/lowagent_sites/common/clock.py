"""The sites' clock, which stands still so that a page is the same on every day."""

from dataclasses import dataclass
from datetime import date, datetime

FROZEN_NOW = datetime(2026, 6, 15, 10, 0, 0)
"""A Monday, in the site's own zone."""


@dataclass(frozen=True)
class Clock:
    """Tells one moment for ever."""

    moment: datetime = FROZEN_NOW

    def now(self) -> datetime:
        """Return the moment, without a zone."""
        return self.moment

    def today(self) -> date:
        """Return the day of the moment."""
        return self.moment.date()
