"""Ministore: a shop with catalogue, cart and wishlist."""

from lowagent_sites.common.site import Site
from lowagent_sites.ministore.content.build import build, content_version, media_ids
from lowagent_sites.ministore.models import Base, User
from lowagent_sites.ministore.views import create_blueprints, footer_note, header

SITE = Site(
    name="ministore",
    index=1,
    title="Ministore",
    package=__name__,
    blueprints=create_blueprints,
    metadata=Base.metadata,
    incidental_tables=frozenset({"form_tokens", "counters"}),
    derived_columns={"products.rating_sum": "reviews", "products.rating_count": "reviews"},
    user_model=User,
    header=header,
    footer_note=footer_note,
    build=build,
    content_version=content_version,
    media_ids=media_ids,
)
