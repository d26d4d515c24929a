"""Serves what pages load: style sheets, fonts, photos; and the empty page they are drawn in."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, request, send_from_directory
from werkzeug.routing import BaseConverter

from lowagent_sites.common.headers import HEADERS
from lowagent_sites.common.languages import Language, load_languages
from lowagent_sites.common.media import NeutralPhotoProvider, tokens_of
from lowagent_sites.common.site import Site
from lowagent_sites.paths import data_dir
from lowagent_sites.registry import load_site, site_names

_YEAR_S = 31_536_000
_BLANK = b"<!doctype html><html><head><title></title></head><body></body></html>"
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.(css|woff2|svg)")


class TokenConverter(BaseConverter):
    """Matches the token of a photo."""

    regex = "[a-z2-7]{24}"


def create_assets_app() -> Flask:
    """Return an application with the assets of all sites and `/__blank`, without a database."""
    app = Flask(__name__, static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.converters["token"] = TokenConverter
    app.register_blueprint(create_assets_blueprint([load_site(name) for name in site_names()]))

    @app.get("/__blank")
    def blank() -> Response:
        return Response(_BLANK, mimetype="text/html")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    return app


def create_assets_blueprint(sites: Sequence[Site]) -> Blueprint:
    """Return the routes of the common style sheets, the fonts, and what `sites` add to them."""
    assets = Blueprint("assets", __name__)
    folders = _folders(sites)
    photos = NeutralPhotoProvider()

    @cache
    def media_ids() -> Mapping[str, str] | None:
        return _ids_by_token(sites)

    @assets.get("/static/common/languages.css")
    def languages_css() -> Response:
        response = Response(_languages_css(), mimetype="text/css")
        response.add_etag()
        return _lasting(response)

    @assets.get("/static/<folder>/<name>")
    def static(folder: str, name: str) -> Response:
        if folder not in folders or not _NAME.fullmatch(name):
            abort(404)
        return _lasting(send_from_directory(folders[folder], name))

    @assets.get("/media/<token:token>.jpg")
    def media(token: str) -> Response:
        known = media_ids()
        if known is not None and token not in known:
            abort(404)
        media_id = token if known is None else known[token]
        response = Response(photos.get(media_id), mimetype="image/jpeg")
        # From the token and not from the bytes, so that it says nothing about the picture.
        response.set_etag(token)
        return _lasting(response)

    return assets


def language_css(language: Language) -> str:
    """Return the rule that sets fonts and line heights of a language."""
    return (
        f":lang({language.code}) {{ font-family: {language.font_family}; "
        f"--code-font: {language.code_font_family}; --word-gap: {language.word_spacing_em:g}em; "
        f"--body: {language.body_px}px; --leading: {language.line_height:g}; "
        f"--tight: {language.heading_line_height:g}; }}\n"
    )


@cache
def _languages_css() -> str:
    return "".join(language_css(language) for language in load_languages().values())


def _folders(sites: Iterable[Site]) -> Mapping[str, Path]:
    folders = {"common": Path(__file__).parent / "static", "fonts": data_dir("assets") / "fonts"}
    for site in sites:
        module = import_module(site.package)
        folders[site.name] = Path(str(module.__file__)).parent / "static"
    return folders


def _ids_by_token(sites: Iterable[Site]) -> Mapping[str, str] | None:
    """Return all media ids by token, or None where a site does not tell its own."""
    ids: list[str] = []
    for site in sites:
        if site.media_ids is None:
            return None
        ids += site.media_ids()
    return tokens_of(ids)


def _lasting(response: Response) -> Response:
    response.headers["Cache-Control"] = f"public, max-age={_YEAR_S}, immutable"
    return response.make_conditional(request)  # type: ignore[return-value]
