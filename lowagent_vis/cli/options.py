"""Options that several sub-commands share, each also an environment variable."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.common.languages import (
    baseline_language,
    get_language,
    selectable_languages,
)
from lowagent_sites.registry import site_names
from lowagent_vis.errors import UserError

_F = TypeVar("_F", bound=Callable[..., Any])
ENV_PREFIX = "LOWAGENT_VIS_"


def option(*names: str, **attributes: Any) -> Callable[[_F], _F]:
    """Declare a click option whose value may also come from `LOWAGENT_VIS_<FLAG>`."""
    flag = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = ENV_PREFIX + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, **attributes)


def split_names(value: str | None) -> tuple[str, ...] | None:
    """Split `a,b c` into names; None means "all".

    Raises:
        UserError: Nothing is named.
    """
    if value is None:
        return None
    names = tuple(value.replace(",", " ").split())
    if not names:
        raise UserError("a list of names is empty; leave the option out to mean all")
    return names


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


def one_language(value: str | None) -> str:
    """Return the one code that `--lang` names, the baseline's by default.

    Raises:
        UnknownNameError: The code is unknown.
    """
    return get_language(baseline_language().code if value is None else value.strip()).code


def one_site(value: str) -> str:
    """Return the one site that is named.

    Raises:
        UnknownNameError: The site is unknown.
    """
    if value not in site_names():
        raise unknown_name("site", value, site_names())
    return value


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
