"""Serves what pages load: style sheets, fonts, photos; and the empty page they are drawn in."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, send_from_directory
from werkzeug.routing import BaseConverter

from lowagent_sites.common.headers import HEADERS
from lowagent_sites.common.media import NeutralPhotoProvider
from lowagent_sites.paths import data_dir
from lowagent_sites.registry import load_site, site_names

_YEAR_S = 31_536_000
_BLANK = b"<!doctype html><html><head><title></title></head><body></body></html>"
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.(css|woff2)")


class TokenConverter(BaseConverter):
    """Matches the token of a photo."""

    regex = "[a-z2-7]{24}"


def create_assets_app() -> Flask:
    """Return an application with the assets of all sites and `/__blank`, without a database."""
    app = Flask(__name__, static_folder=None)
    app.url_map.converters["token"] = TokenConverter
    app.register_blueprint(create_assets_blueprint())

    @app.get("/__blank")
    def blank() -> Response:
        return Response(_BLANK, mimetype="text/html")

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    return app


def create_assets_blueprint() -> Blueprint:
    """Return the routes of style sheets, fonts and photos, for every application."""
    assets = Blueprint("assets", __name__)

    @assets.get("/static/<folder>/<name>")
    def static(folder: str, name: str) -> Response:
        if folder not in _folders() or not _NAME.fullmatch(name):
            abort(404)
        return _lasting(send_from_directory(_folders()[folder], name))

    @assets.get("/media/<token:token>.jpg")
    def media(token: str) -> Response:
        photo = NeutralPhotoProvider().get(token)
        response = _lasting(Response(photo, mimetype="image/jpeg"))
        response.set_etag(token)
        return response

    return assets


@cache
def _folders() -> dict[str, Path]:
    folders = {"common": Path(__file__).parent / "static", "fonts": data_dir("assets") / "fonts"}
    for name in site_names():
        module = import_module(load_site(name).package)
        folders[name] = Path(str(module.__file__)).parent / "static"
    return folders


def _lasting(response: Response) -> Response:
    response.headers["Cache-Control"] = f"public, max-age={_YEAR_S}, immutable"
    return response
