"""Who is signed in: a signed cookie that a reset of the world makes void."""

from typing import Any

from flask import Flask, Response, current_app, g, request
from itsdangerous import BadSignature, URLSafeSerializer
from sqlalchemy import select

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.common.runtime import Runtime, current_runtime, current_site, db

_SALT = "lowagent-sites-session"


def cookie_name(app: Flask) -> str:
    """Return the cookie's name: one per site and language, since cookies ignore ports."""
    return f"sid_{app.extensions['site'].name}_{app.extensions['language'].code}"


def _serializer(app: Flask) -> URLSafeSerializer:
    return URLSafeSerializer(app.config["SECRET_KEY"], salt=_SALT)


def session_data() -> dict[str, Any]:
    """Return this request's session: `sid`, `user`, `epoch`, `flashes`."""
    if "session_data" not in g:
        g.session_data = _read_cookie() or _new_session()
        g.session_before = dict(g.session_data)
    data: dict[str, Any] = g.session_data
    return data


def session_id() -> str:
    """Return the session's id."""
    return str(session_data()["sid"])


def sign_in(user_id: int) -> None:
    """Sign an account in, under a new session id."""
    data = session_data()
    data["sid"] = current_runtime().tokens.next("sid")
    data["user"] = user_id
    g.pop("user", None)


def sign_out() -> None:
    """Sign out, under a new session id."""
    data = session_data()
    data["sid"] = current_runtime().tokens.next("sid")
    data["user"] = None
    g.pop("user", None)


def flash(message: str, kind: str = "status") -> None:
    """Show a message on the next page; `kind` is `status` or `alert`."""
    data = session_data()
    data["flashes"] = [*data.get("flashes", []), [kind, message]]


def take_flashes() -> list[tuple[str, str]]:
    """Return the messages for this page and forget them."""
    return [(kind, text) for kind, text in session_data().pop("flashes", [])]


def load_user() -> Any | None:
    """Return the account that is signed in, or None."""
    user_id = session_data().get("user")
    if user_id is None:
        return None
    model = current_site().user_model
    return db().scalar(select(model).where(model.id == user_id, model.is_login))


def save_session(response: Response) -> Response:
    """Put the session into the response where it is new or changed."""
    if "session_data" in g and (
        g.session_data != g.session_before or cookie_name(current_app) not in request.cookies
    ):
        response.set_cookie(
            cookie_name(current_app),
            str(_serializer(current_app).dumps(g.session_data)),
            httponly=True,
            samesite="Lax",
            path="/",
        )
    return response


def session_cookie(app: Any, runtime: Runtime, username: str) -> tuple[str, str]:
    """Return name and value of a cookie that signs `username` in; for tests and pictures.

    Raises:
        UnknownNameError: No account with a login has this name.
    """
    model = app.extensions["site"].user_model
    with runtime.database.session() as session:
        rows = session.execute(select(model.username, model.id).where(model.is_login))
        names = {row.username: row.id for row in rows}
    if username not in names:
        raise unknown_name("user", username, names)
    data = {
        "sid": runtime.tokens.next("sid"),
        "user": names[username],
        "epoch": runtime.epoch,
    }
    return cookie_name(app), str(_serializer(app).dumps(data))


def _read_cookie() -> dict[str, Any] | None:
    value = request.cookies.get(cookie_name(current_app))
    if value is None:
        return None
    try:
        data = _serializer(current_app).loads(value)
    except BadSignature:
        return None
    if not isinstance(data, dict) or data.get("epoch") != current_runtime().epoch:
        return None
    return data


def _new_session() -> dict[str, Any]:
    runtime = current_runtime()
    return {"sid": runtime.tokens.next("sid"), "user": None, "epoch": runtime.epoch}
