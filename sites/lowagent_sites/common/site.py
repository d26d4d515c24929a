"""What a site tells the common parts about itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import Blueprint
from sqlalchemy import MetaData

from lowagent_sites.common.forms import Field
from lowagent_sites.common.languages import Language


@dataclass(frozen=True)
class NavLink:
    """A link of the header or footer; `count` stands behind the label."""

    label: str
    href: str
    count: int | None = None


@dataclass(frozen=True)
class HeaderData:
    """What the header shows besides logo, search and account links.

    Attributes:
        links: Counters such as cart and wishlist.
        menu: The primary menu.
        search_action: Where the search form leads.
        search_label: Label of its field `q`.
        search_fields: Further fields of it, such as a category.
        footer: Links of the footer.
    """

    links: Sequence[NavLink] = ()
    menu: Sequence[NavLink] = ()
    search_action: str | None = None
    search_label: str = ""
    search_fields: Sequence[Field] = ()
    footer: Sequence[NavLink] = ()


@dataclass(frozen=True)
class Site:
    """One site.

    Attributes:
        name: Its name in commands and paths.
        index: Its number, which decides ports.
        title: Its name as shown, equal in all languages.
        package: Its import package; templates and static files lie in it.
        blueprints: Makes its pages.
        metadata: All its tables.
        incidental_tables: Tables that no verdict depends on.
        derived_columns: `table.column` that follow by rule, and the table that they follow.
        user_model: The class of accounts.
        header: Makes the header for the current request.
        build: Writes the database of a language to a file.
        content_version: Hash of all that `build` reads.
        footer_note: A sentence of the footer.
        media_ids: All media ids of the site; no other photo is served. Where it is not given,
            every token shows a photo.
    """

    name: str
    index: int
    title: str
    package: str
    blueprints: Callable[[], Sequence[Blueprint]]
    metadata: MetaData
    incidental_tables: AbstractSet[str]
    derived_columns: Mapping[str, str]
    user_model: type[Any]
    header: Callable[[], HeaderData]
    build: Callable[[Language, Path], None]
    content_version: Callable[[], str]
    footer_note: Callable[[], str] = field(default=lambda: "")
    media_ids: Callable[[], Iterable[str]] | None = None
