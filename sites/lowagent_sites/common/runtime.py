"""What belongs to one world: the request brings it, so one application serves many worlds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import current_app, g, request
from sqlalchemy.orm import Session

from lowagent_sites.common.clock import Clock
from lowagent_sites.common.languages import Language
from lowagent_sites.common.tokens import TokenSource

if TYPE_CHECKING:
    from lowagent_sites.common.database import Database
    from lowagent_sites.common.disruptions import Disruptions
    from lowagent_sites.common.site import Site

ENVIRON_KEY = "lowagent_sites.runtime"
DEFAULT_KEY = "lowagent_sites.default_runtime"


@dataclass(frozen=True)
class Runtime:
    """The changing parts of one world.

    Attributes:
        epoch: Counts resets; a session of an earlier epoch is signed out.
    """

    database: "Database"
    clock: Clock
    tokens: TokenSource
    disruptions: "Disruptions"
    epoch: int = 0


def current_runtime() -> Runtime:
    """Return the runtime of this request."""
    runtime: Runtime | None = request.environ.get(ENVIRON_KEY)
    if runtime is None:
        runtime = current_app.extensions[DEFAULT_KEY]
    return runtime


def db() -> Session:
    """Return this request's database session."""
    if "db" not in g:
        g.db = current_runtime().database.session()
    session: Session = g.db
    return session


def current_language() -> Language:
    """Return the language of the application."""
    language: Language = current_app.extensions["language"]
    return language


def current_site() -> "Site":
    """Return the site of the application."""
    site: Site = current_app.extensions["site"]
    return site


def current_user() -> Any | None:
    """Return the signed-in account, or None."""
    if "user" not in g:
        from lowagent_sites.common.sessions import load_user

        g.user = load_user()
    return g.user
