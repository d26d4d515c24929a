"""The application of one site in one language; it serves any number of worlds."""

import os
from datetime import date, datetime
from functools import cache
from typing import Any, Literal

import jinja2
from flask import Flask, Response, g, request
from markupsafe import Markup, escape
from sqlalchemy.exc import IntegrityError
from werkzeug.exceptions import HTTPException

from lowagent_sites.common import i18n
from lowagent_sites.common.assets_app import TokenConverter, create_assets_blueprint
from lowagent_sites.common.auth import create_auth_blueprint
from lowagent_sites.common.csrf import check_csrf, csrf_token
from lowagent_sites.common.forms import new_form_id
from lowagent_sites.common.headers import add_headers
from lowagent_sites.common.languages import WESTERN_DIGITS, Language, get_language
from lowagent_sites.common.media import media_path
from lowagent_sites.common.numbers import (
    format_decimal,
    format_integer,
    format_money,
    localize_digits,
)
from lowagent_sites.common.pages import show_conflict, show_fault, show_http_error
from lowagent_sites.common.request_log import RequestLog, install_request_log
from lowagent_sites.common.runtime import (
    DEFAULT_KEY,
    Runtime,
    current_language,
    current_runtime,
    current_user,
    db,
)
from lowagent_sites.common.sessions import save_session, take_flashes
from lowagent_sites.common.site import Site
from lowagent_sites.registry import load_site

Numerals = Literal["local", "western"]
OFFSITE_URL = "http://offsite.invalid/"
_MAX_BODY_BYTES = 64 * 1024
_UNDISTURBED = ("/static/", "/media/", "/__")
_METHODS = frozenset({"GET", "HEAD", "POST"})


def create_app(
    site: Site,
    *,
    language: Language,
    runtime: Runtime | None = None,
    offsite_url: str | None = None,
    numerals: Numerals = "local",
    request_log: RequestLog | None = None,
) -> Flask:
    """Return the application of a site in a language.

    Args:
        site: The site.
        language: Its language, never negotiated.
        runtime: Database, clock and tokens, for requests that bring none.
        offsite_url: Where the ad leads.
        numerals: `western` shows the digits 0 to 9 in every language.
        request_log: Where every request is noted.
    """
    app = _SiteApp(site.package, static_folder=None, template_folder="templates")
    app.config["SECRET_KEY"] = os.environ.get("LOWAGENT_VIS_SECRET_KEY", f"lowagent/{site.name}")
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.config["MAX_CONTENT_LENGTH"] = _MAX_BODY_BYTES
    app.extensions["site"] = site
    app.extensions["language"] = language
    app.extensions["offsite_url"] = offsite_url or os.environ.get(
        "LOWAGENT_VIS_OFFSITE_URL", OFFSITE_URL
    )
    if runtime is not None:
        app.extensions[DEFAULT_KEY] = runtime
    app.url_map.converters["token"] = TokenConverter
    app.url_map.strict_slashes = False
    _set_up_templates(app)
    app.register_blueprint(create_assets_blueprint([site]))
    app.register_blueprint(create_auth_blueprint())
    for blueprint in site.blueprints():
        app.register_blueprint(blueprint)
    if request_log is not None:
        install_request_log(app, request_log)
    app.before_request(_before_request)
    app.after_request(_follow_redirect)
    app.after_request(save_session)
    app.after_request(add_headers)
    if numerals == "western":
        app.after_request(_with_western_digits)
    app.teardown_request(_close_session)
    app.register_error_handler(HTTPException, show_http_error)
    app.register_error_handler(IntegrityError, show_conflict)
    app.register_error_handler(Exception, show_fault)
    return app


class _SiteApp(Flask):
    """Keeps what a POST wrote unless it was refused.

    The commit belongs to the view's run: a conflict that only the database sees at that moment
    must still get its own page, which comes too late in `after_request`.
    """

    def dispatch_request(self) -> Response:
        response = self.make_response(super().dispatch_request())
        if request.method == "POST" and "db" in g:
            if response.status_code < 400:
                g.db.commit()
            else:
                g.db.rollback()
        return response


@cache
def shared_app(site_name: str, language_code: str, numerals: Numerals = "local") -> Flask:
    """Return the application that all worlds of this process share."""
    return create_app(load_site(site_name), language=get_language(language_code), numerals=numerals)


def _set_up_templates(app: Flask) -> None:
    app.jinja_options = {
        "undefined": jinja2.StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
    }
    app.jinja_loader = jinja2.ChoiceLoader(
        [
            jinja2.PackageLoader(app.import_name, "templates"),
            jinja2.PackageLoader("lowagent_sites.common", "templates"),
        ]
    )
    app.jinja_env.add_extension("jinja2.ext.do")
    language: Language = app.extensions["language"]
    site: Site = app.extensions["site"]
    app.jinja_env.globals.update(
        _=i18n.gettext,
        gettext=i18n.gettext,
        ngettext=i18n.ngettext,
        pgettext=i18n.pgettext,
        csrf_token=csrf_token,
        new_form_id=new_form_id,
        media_path=media_path,
        language=language,
        site=site,
        header=site.header,
        current_user=current_user,
        take_flashes=take_flashes,
        now=lambda: current_runtime().clock.now(),
    )
    app.jinja_env.filters.update(
        integer=lambda value: format_integer(value, language),
        decimal=lambda value, places=1: format_decimal(value, places, language),
        digits=lambda value: localize_digits(str(value), language),
        money=lambda cents: Markup('<bdi dir="ltr" class="money">{}</bdi>').format(
            format_money(cents, language)
        ),
        code=lambda value: _isolated(str(value)),
        iso=lambda value: _isolated(_iso(value)),
        isolated=lambda text: Markup("<bdi>{}</bdi>").format(escape(text)),
    )


def _isolated(text: str) -> Markup:
    """Keep a code, date or amount in its own order inside right-to-left text."""
    return Markup('<bdi dir="ltr">{}</bdi>').format(escape(text))


def _iso(value: date) -> str:
    """Return a day, or a moment to the minute, as the sites show it in every language."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    return value.isoformat()


def _before_request() -> Any:
    if request.path.startswith(_UNDISTURBED) or request.method not in _METHODS:
        return None
    interruption = current_runtime().disruptions.intercept()
    if interruption is not None:
        return interruption
    # An address that takes no POST answers 404 or 405, whatever the form holds.
    if request.method == "POST" and request.routing_exception is None:
        current_runtime().database.begin_write(db())
        check_csrf()
    return None


def _follow_redirect(response: Response) -> Response:
    current_runtime().disruptions.follow(response)
    return response


def _with_western_digits(response: Response) -> Response:
    if response.mimetype == "text/html":
        digits = str.maketrans(current_language().digits, WESTERN_DIGITS)
        response.set_data(response.get_data(as_text=True).translate(digits))
    return response


def _close_session(error: BaseException | None) -> None:
    session = g.pop("db", None)
    if session is not None:
        session.rollback()
        session.close()
