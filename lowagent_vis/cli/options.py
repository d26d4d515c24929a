"""Options that several sub-commands share, each also an environment variable."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.common.languages import get_language, selectable_languages
from lowagent_sites.registry import site_names

_F = TypeVar("_F", bound=Callable[..., Any])
ENV_PREFIX = "LOWAGENT_VIS_"


def option(*names: str, **attributes: Any) -> Callable[[_F], _F]:
    """Declare a click option whose value may also come from `LOWAGENT_VIS_<FLAG>`."""
    flag = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = ENV_PREFIX + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, **attributes)


def split_names(value: str | None) -> tuple[str, ...] | None:
    """Split `a,b c` into names; None and the empty string mean "all"."""
    return tuple((value or "").replace(",", " ").split()) or None


def chosen_languages(value: str | None) -> tuple[str, ...]:
    """Return the codes that `--langs` names, all selectable ones by default.

    Raises:
        UnknownNameError: A code is unknown.
    """
    names = split_names(value)
    if names is None:
        return tuple(language.code for language in selectable_languages())
    return tuple(get_language(name).code for name in dict.fromkeys(names))


def chosen_sites(value: str | None) -> tuple[str, ...]:
    """Return the sites that `--sites` names, all by default.

    Raises:
        UnknownNameError: A site is unknown.
    """
    return chosen_names("site", value, site_names())


def chosen_names(kind: str, value: str | None, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names in `value`, or all that are known, in their given order.

    Raises:
        UnknownNameError: A name is unknown.
    """
    all_names = tuple(known)
    names = split_names(value)
    if names is None:
        return all_names
    for name in names:
        if name not in all_names:
            raise unknown_name(kind, name, all_names)
    return tuple(dict.fromkeys(names))
