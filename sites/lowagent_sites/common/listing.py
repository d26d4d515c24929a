"""Lists: pages, sorting, filters that the address carries (`common.md` 7).

    sort = choice("sort", ("newest", "oldest"), "newest")
    page = paginate(total, 10)
    rows = session.scalars(query.offset(page.offset).limit(page.size))
    chips = [Chip(_("In stock only"), with_parameters(in_stock=None))]
    return render_template("...", page=page, rows=rows, chips=chips)

The template prints `ui.result_line(page)`, `ui.chips(chips)` above the rows and
`ui.pagination(page)` below them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import redirect, request
from werkzeug.exceptions import HTTPException


@dataclass(frozen=True)
class PageLink:
    """A link of the pagination."""

    number: int
    href: str
    is_current: bool


@dataclass(frozen=True)
class Chip:
    """An active filter, and the address of the list without it."""

    label: str
    href: str


@dataclass(frozen=True)
class Pagination:
    """One page of a list.

    Attributes:
        number: From 1.
        size: Entries a page.
        total: Entries of the whole list.
    """

    number: int
    size: int
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def offset(self) -> int:
        """Entries before this page."""
        return (self.number - 1) * self.size

    def href(self, number: int) -> str:
        """Return the address of another page, all other parameters kept."""
        return with_parameters(page=str(number) if number > 1 else None)

    @property
    def links(self) -> Sequence[PageLink]:
        """The first, the last, this page and its neighbours."""
        near = {1, self.pages, self.number - 1, self.number, self.number + 1}
        shown = sorted(number for number in near if 1 <= number <= self.pages)
        return [PageLink(number, self.href(number), number == self.number) for number in shown]


def paginate(total: int, size: int) -> Pagination:
    """Return the page that the address asks for; beyond the last one it redirects there."""
    text = request.args.get("page", "1")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 1
    page = Pagination(max(1, number), size, total)
    if page.number > page.pages:
        raise HTTPException(response=redirect(page.href(page.pages), 302))
    return page


def choice(name: str, allowed: Sequence[str], default: str) -> str:
    """Return a parameter's value if it is allowed, else the default."""
    value = request.args.get(name, default)
    return value if value in allowed else default


def with_parameters(**changes: str | None) -> str:
    """Return this page's address with some parameters changed; None removes one.

    Empty parameters are left out, and so is `page` unless it is given.
    """
    kept: Mapping[str, str] = {
        name: value
        for name, value in request.args.items()
        if value and name != "page" and name not in changes
    }
    pairs = [*kept.items(), *((n, v) for n, v in changes.items() if v)]
    query = urlencode(pairs)
    return request.path + (f"?{query}" if query else "")
