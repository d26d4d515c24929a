"""Accounts: sign in, sign out, register, change the password (`common.md` 4)."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec
from urllib.parse import urlencode, urlsplit

import regex
from flask import Blueprint, redirect, render_template, request, url_for
from sqlalchemy import select
from werkzeug.security import check_password_hash
from werkzeug.wrappers import Response

from lowagent_sites.common.forms import Field, Form
from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.pages import referring_page
from lowagent_sites.common.passwords import hash_password
from lowagent_sites.common.runtime import current_runtime, current_site, current_user, db
from lowagent_sites.common.sessions import flash, session_id, sign_in, sign_out

_P = ParamSpec("_P")
_USERNAME = regex.compile(r"[a-z0-9_]{3,20}")
_EMAIL = regex.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
# Browsers drop control characters and read a backslash as a slash: both can make "//host".
_UNSAFE = regex.compile(r"[\\\p{Cc}\s]")
_RESERVED = frozenset({"admin", "support", "harness"})


def login_required(view: Callable[_P, Any]) -> Callable[_P, Any]:
    """Send guests to the sign-in page, with the page that holds the form as the way back."""

    @wraps(view)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        if current_user() is not None:
            return view(*args, **kwargs)
        if request.method == "POST":
            flash(_("Sign in to continue"))
            return redirect(_login_url(referring_page()), 303)
        return redirect(_login_url(request.full_path.rstrip("?")), 302)

    return guarded


def _login_url(target: str) -> str:
    return f"/login?{urlencode({'next': target})}"


def safe_target(target: str) -> str | None:
    """Return `target` if it is a path of this site."""
    if not target.startswith("/") or target.startswith("//") or _UNSAFE.search(target):
        return None
    parts = urlsplit(target)
    return None if parts.scheme or parts.netloc else target


def create_auth_blueprint() -> Blueprint:
    """Return the pages of accounts."""
    auth = Blueprint("auth", __name__)
    auth.add_url_rule("/login", view_func=login, methods=["GET", "POST"])
    auth.add_url_rule("/logout", view_func=logout, methods=["POST"])
    auth.add_url_rule("/register", view_func=register, methods=["GET", "POST"])
    auth.add_url_rule("/account", view_func=account, methods=["GET"])
    auth.add_url_rule("/account/password", view_func=password, methods=["GET", "POST"])
    return auth


def login() -> Any:
    """Sign in."""
    form = Form(
        "login",
        [
            Field(
                "username",
                _("User name"),
                direction="ltr",
                max_length=40,
                required=_("Enter your user name"),
                autocomplete="username",
            ),
            Field(
                "password",
                _("Password"),
                kind="password",
                direction="ltr",
                max_length=72,
                required=_("Enter your password"),
                autocomplete="current-password",
            ),
        ],
    )
    target = safe_target(request.values.get("next", "")) or url_for("auth.account")
    if request.method == "GET":
        return render_template("common/login.html", form=form, next=target)
    form.read(request.form)
    if not form.errors:
        user = _check_login(form.value("username"), form.value("password"))
        if user is not None:
            _change_session(lambda: sign_in(user.id))
            return redirect(target, 303)
        form.add_error("username", _("Wrong user name or password"))
    form.forget_passwords()
    return render_template("common/login.html", form=form, next=target), 422


def logout() -> Response:
    """Sign out."""
    _change_session(sign_out)
    return redirect("/", 303)


def register() -> Any:
    """Open an account and sign in."""
    form = _registration_form()
    if request.method == "GET":
        return render_template("common/register.html", form=form)
    form.read(request.form)
    _check_registration(form)
    if form.errors:
        form.forget_passwords()
        return render_template("common/register.html", form=form), 422
    user = current_site().user_model(
        username=form.value("username"),
        display_name=form.value("display_name"),
        email=form.value("email"),
        password_hash=_hash(form.value("password")),
        is_login=True,
        joined_on=current_runtime().clock.today(),
    )
    db().add(user)
    db().flush()
    _change_session(lambda: sign_in(user.id))
    flash(_("Your account is ready"))
    return redirect(url_for("auth.account"), 303)


@login_required
def account() -> Any:
    """Show one's own account."""
    return render_template("common/account.html", user=current_user())


@login_required
def password() -> Any:
    """Change one's own password."""
    form = Form(
        "password_change",
        [
            Field("current", _("Current password"), kind="password", direction="ltr",
                  required=_("Enter your current password"), max_length=72),
            *_new_password_fields(),
        ],
    )  # fmt: skip
    if request.method == "GET":
        return render_template("common/password.html", form=form)
    form.read(request.form)
    user = current_user()
    if user is None:
        return redirect("/login", 303)
    if not form["current"].error and not check_password_hash(
        user.password_hash, form.value("current")
    ):
        form.add_error("current", _("The current password is wrong"))
    _check_new_password(form)
    if not form.errors and form.value("password") == form.value("current"):
        form.add_error("password", _("The new password must differ from the old one"))
    if form.errors:
        form.forget_passwords()
        return render_template("common/password.html", form=form), 422
    user.password_hash = _hash(form.value("password"))
    flash(_("Your password was changed"))
    return redirect(url_for("auth.account"), 303)


def _registration_form() -> Form:
    return Form(
        "register",
        [
            Field("username", _("User name"), direction="ltr", max_length=40,
                  hint=_("3 to 20 small letters, digits or underscores"),
                  required=_("Enter a user name"), autocomplete="username"),
            Field("display_name", _("Display name"), max_length=60,
                  required=_("Enter a display name")),
            Field("email", _("E-mail"), direction="ltr", max_length=120,
                  required=_("Enter an e-mail address"), autocomplete="email"),
            *_new_password_fields(),
        ],
    )  # fmt: skip


def _new_password_fields() -> list[Field]:
    return [
        Field("password", _("New password"), kind="password", direction="ltr",
              hint=_("8 to 72 characters with a letter and a digit"),
              required=_("Enter a password"), autocomplete="new-password"),
        Field("password2", _("Repeat the password"), kind="password", direction="ltr",
              required=_("Repeat the password"), autocomplete="new-password"),
    ]  # fmt: skip


def _check_registration(form: Form) -> None:
    name = form.value("username")
    if not form["username"].error:
        if not _USERNAME.fullmatch(name):
            form.add_error("username", _("Use 3 to 20 small letters, digits or underscores"))
        elif name in _RESERVED:
            form.add_error("username", _("This user name cannot be used"))
        elif _find_user(name, only_login=False) is not None:
            form.add_error("username", _("This user name is taken"))
    if not form["display_name"].error and len(form.value("display_name")) < 2:
        form.add_error("display_name", _("Use at least 2 characters"))
    if not form["email"].error and not _EMAIL.fullmatch(form.value("email")):
        form.add_error("email", _("Enter an e-mail address like name@example.com"))
    _check_new_password(form)


def _check_new_password(form: Form) -> None:
    chosen = form.value("password")
    if not form["password"].error and not (
        8 <= len(chosen) <= 72
        and any(c.isalpha() for c in chosen)
        and any(c.isdecimal() for c in chosen)
    ):
        form.add_error("password", _("Use 8 to 72 characters with a letter and a digit"))
    if not form["password2"].error and form.value("password2") != chosen:
        form.add_error("password2", _("The two passwords differ"))


def _check_login(username: str, secret: str) -> Any | None:
    """Return the account that name and password belong to, or None."""
    user = _find_user(username)
    return user if user is not None and check_password_hash(user.password_hash, secret) else None


def _find_user(username: str, *, only_login: bool = True) -> Any | None:
    model = current_site().user_model
    query = select(model).where(model.username == username)
    return db().scalar(query.where(model.is_login) if only_login else query)


def _hash(secret: str) -> str:
    return hash_password(secret, current_runtime().tokens.next("salt"))


def _change_session(change: Callable[[], None]) -> None:
    old = session_id()
    change()
    current_runtime().disruptions.moved(old, session_id())
