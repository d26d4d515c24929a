"""The pages of the shop: thin views over the services."""

from collections.abc import Sequence

from flask import Blueprint

from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.runtime import current_user, db
from lowagent_sites.common.site import HeaderData, NavLink
from lowagent_sites.ministore.services import cart, catalog


def create_blueprints() -> Sequence[Blueprint]:
    """Return the shop's blueprints."""
    from lowagent_sites.ministore.views import basket, browse, opinions

    return [browse.create_blueprint(), opinions.create_blueprint(), basket.create_blueprint()]


def header() -> HeaderData:
    """Return the shop's header: counters, categories, search."""
    user = current_user()
    counts = cart.count_for_header(db(), user.id) if user else None
    return HeaderData(
        links=(
            NavLink(_("Wishlist"), "/wishlist", counts.wishes if counts else None),
            NavLink(_("Cart"), "/cart", counts.units if counts else None),
        ),
        menu=(
            *(NavLink(c.name, f"/c/{c.slug}") for c in catalog.categories(db())),
            NavLink(_("Brands"), "/brands"),
        ),
        search_action="/search",
        search_label=_("Search for products"),
    )


def footer_note() -> str:
    """Return the sentence of the footer."""
    return _("Prices include tax.")
