"""The sites by name; a new site is one line here."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from lowagent_sites.common.errors import unknown_name

if TYPE_CHECKING:
    from lowagent_sites.common.site import Site

SITES: Mapping[str, str] = {
    "ministore": "lowagent_sites.ministore:SITE",
}


def site_names() -> tuple[str, ...]:
    """Return the names of all sites, in the order of their indices."""
    return tuple(SITES)


@cache
def load_site(name: str) -> "Site":
    """Import and return the site `name`.

    Raises:
        UnknownNameError: No site has this name.
    """
    if name not in SITES:
        raise unknown_name("site", name, SITES)
    module_name, _, attribute = SITES[name].partition(":")
    site: Site = getattr(import_module(module_name), attribute)
    return site
