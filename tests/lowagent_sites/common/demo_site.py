"""A small site of notes, to try the common parts of all sites for real."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import lxml.html
from flask import Blueprint, Flask, abort, redirect, render_template, request
from sqlalchemy import ForeignKey, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from werkzeug.wrappers import Response

from lowagent_sites.common.app import Numerals, create_app
from lowagent_sites.common.auth import login_required
from lowagent_sites.common.clock import Clock
from lowagent_sites.common.database import WorldDatabase
from lowagent_sites.common.disruptions import Disruptions
from lowagent_sites.common.forms import Choice, Field, Form, once
from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.languages import Language, get_language
from lowagent_sites.common.listing import Chip, choice, paginate, with_parameters
from lowagent_sites.common.numbers import NumberProblem, parse_money
from lowagent_sites.common.pages import refuse
from lowagent_sites.common.passwords import hash_password
from lowagent_sites.common.request_log import RequestLog
from lowagent_sites.common.runtime import (
    Runtime,
    current_language,
    current_runtime,
    current_user,
    db,
)
from lowagent_sites.common.sessions import flash
from lowagent_sites.common.site import HeaderData, NavLink, Site
from lowagent_sites.common.tokens import TokenSource

ORIGIN = "http://demo.test"
OFFSITE = "http://partner.invalid/app"
USERNAME, PASSWORD = "asha", "plum7tree"
NOTES = 25
PHOTO = "demo/1"


class Base(DeclarativeBase):
    """The demo's declarative base."""


class User(Base):
    """An account, with the attributes that the common parts ask for."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(unique=True)
    display_name: Mapped[str]
    email: Mapped[str]
    password_hash: Mapped[str]
    is_login: Mapped[bool]
    joined_on: Mapped[date]


class Note(Base):
    """What users create."""

    __tablename__ = "notes"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    title: Mapped[str] = mapped_column(unique=True)
    body: Mapped[str]
    price_cents: Mapped[int]
    created_at: Mapped[datetime]


class FormToken(Base):
    """A form that was sent."""

    __tablename__ = "form_tokens"
    form_id: Mapped[str] = mapped_column(primary_key=True)
    sid: Mapped[str]
    endpoint: Mapped[str]
    result_url: Mapped[str]
    used_at: Mapped[datetime]


def notes() -> Any:
    """List the notes."""
    sort = choice("sort", ("oldest", "newest"), "oldest")
    page = paginate(count_notes(), 10)
    order = Note.id.desc() if sort == "newest" else Note.id
    rows = db().scalars(select(Note).order_by(order).offset(page.offset).limit(page.size)).all()
    chips = [Chip(_("Search"), with_parameters(q=None))] if request.args.get("q") else []
    return render_template("demo/notes.html", notes=rows, page=page, chips=chips)


def count_notes() -> int:
    """Return how many notes this request sees."""
    return db().scalar(select(func.count()).select_from(Note)) or 0


def show_note(note_id: int) -> Any:
    """Show a note."""
    note = db().get(Note, note_id)
    if note is None:
        abort(404)
    return render_template("demo/note.html", note=note)


@login_required
def new_note() -> Any:
    """Show the form of a new note."""
    return render_template("demo/new_note.html", form=note_form())


@login_required
def create_note() -> Any:
    """Create a note."""
    form = note_form()
    form.read(request.form)
    cents = 0
    try:
        cents = parse_money(form.value("price") or "0", current_language())
    except NumberProblem:
        form.add_error("price", _("Choose one of the options"))
    if form.errors:
        return render_template("demo/new_note.html", form=form), 422

    def run() -> str:
        user = current_user()
        assert user is not None
        note = Note(
            user_id=user.id,
            title=form.value("title"),
            body=form.value("body"),
            price_cents=cents,
            created_at=current_runtime().clock.now(),
        )
        db().add(note)
        db().flush()
        flash(_("Save"))
        return f"/notes/{note.id}"

    return once(run)


def note_form() -> Form:
    """Return a form with a field of every kind."""
    options = [Choice("home", _("Home")), Choice("search", _("Search"))]
    return Form(
        "note_new",
        [
            Field("title", _("User name"), required=_("Enter a user name"), max_length=20),
            Field("body", _("Display name"), kind="textarea", hint=_("We use cookies")),
            Field("price", _("E-mail"), inputmode="decimal", direction="ltr"),
            Field("place", _("Home"), kind="select", value="home", choices=options),
            Field("kind", _("Pages"), kind="radio", choices=options, required=_("Password")),
            Field("is_public", _("Save"), kind="checkbox"),
        ],
    )


def refused() -> Any:
    """Refuse by a rule."""
    if request.method == "POST":
        db().add(_note("written before the refusal"))
        db().flush()
        refuse(409, "The <status> is shipped", back="/notes/7")
    refuse(403, "Not your note")


def half() -> Any:
    """Write, then find a fault."""
    db().add(_note("written before the fault"))
    db().flush()
    return "faulty", 422


def clash() -> Any:
    """Break a rule that only the database knows."""
    db().add(_note("Note 1"))
    return redirect("/", 303)


def broken() -> Any:
    """Fail as no page should."""
    raise RuntimeError("a secret of the code")


def moved() -> Response:
    """Lead somewhere else."""
    return redirect("/notes/1", 302)


def _note(title: str) -> Note:
    return Note(user_id=1, title=title, body="", price_cents=0, created_at=Clock().now())


def header() -> HeaderData:
    """Return the header."""
    return HeaderData(
        links=[NavLink(_("Save"), "/notes/new", count_notes())],
        menu=[NavLink(_("Home"), "/"), NavLink(_("Search"), "/search")],
        search_action="/search",
        search_label=_("Search"),
        search_fields=[
            Field("place", _("Home"), kind="select", choices=[Choice("", _("Pages"))]),
        ],
        footer=[NavLink(_("Home"), "/")],
    )


def create_blueprints() -> Sequence[Blueprint]:
    """Return the pages."""
    demo = Blueprint("demo", __name__)
    demo.add_url_rule("/", view_func=notes)
    demo.add_url_rule("/search", view_func=notes, endpoint="search")
    demo.add_url_rule("/notes", view_func=create_note, methods=["POST"])
    demo.add_url_rule("/notes/new", view_func=new_note)
    demo.add_url_rule("/notes/<int:note_id>", view_func=show_note)
    demo.add_url_rule("/refused", view_func=refused, methods=["GET", "POST"])
    demo.add_url_rule("/notes/half", view_func=half, methods=["POST"])
    demo.add_url_rule("/notes/clash", view_func=clash, methods=["POST"])
    demo.add_url_rule("/broken", view_func=broken, methods=["GET", "POST"])
    demo.add_url_rule("/moved", view_func=moved)
    return [demo]


def build(language: Language, path: Path) -> None:
    """Write the database."""
    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(
            User(
                username=USERNAME,
                display_name="Asha Rao",
                email="asha@example.com",
                password_hash=hash_password(PASSWORD, "fixedsalt"),
                is_login=True,
                joined_on=date(2025, 1, 2),
            )
        )
        session.flush()
        for number in range(1, NOTES + 1):
            note = _note(f"Note {number}")
            note.price_cents = 2490
            session.add(note)
        session.commit()
    engine.dispose()


DEMO_SITE = Site(
    name="demo",
    index=9,
    title="Demo",
    package=__name__,
    blueprints=create_blueprints,
    metadata=Base.metadata,
    incidental_tables=frozenset({"form_tokens"}),
    derived_columns={},
    user_model=User,
    header=header,
    build=build,
    content_version=lambda: "1",
    media_ids=lambda: [PHOTO],
)


@dataclass(frozen=True)
class Demo:
    """The demo in one language with a world of its own."""

    app: Flask
    database: WorldDatabase
    disruptions: Disruptions
    tokens: TokenSource

    def client(self) -> "DemoClient":
        """Return a browser without cookies."""
        transport = httpx.WSGITransport(app=self.app)
        return DemoClient(transport=transport, base_url=ORIGIN)

    def count(self, model: type[Base]) -> int:
        """Return how many rows a table has."""
        with closing(self.database.session()) as session:
            return session.scalar(select(func.count()).select_from(model)) or 0


class DemoClient(httpx.Client):
    """Sends forms as a browser does; follows no redirect by itself."""

    def open(self, path: str) -> Any:
        """Return the page at `path`, after redirects."""
        return parse(self.get(path, follow_redirects=True).text)

    def submit(self, path: str, form_name: str, /, **values: str) -> httpx.Response:
        """Fill the form `form_name` of the page at `path` and send it."""
        page = self.open(path)
        (form,) = page.xpath("//form[@name=$name]", name=form_name)
        data = {name: value or "" for name, value in form.fields.items()} | values
        return self.post(form.get("action"), data=data, headers={"Referer": f"{ORIGIN}{path}"})

    def sign_in(self) -> None:
        """Sign the test account in."""
        response = self.submit("/login", "login", username=USERNAME, password=PASSWORD)
        assert response.status_code == 303, response.text


def parse(html: str) -> Any:
    """Return a page as lxml's element; the types that xpath gives depend on the expression."""
    return lxml.html.document_fromstring(html)


def open_demo(
    language_code: str = "en",
    *,
    key: bytes | None = b"key",
    numerals: Numerals = "local",
    request_log: RequestLog | None = None,
) -> Demo:
    """Return the demo over a fresh database."""
    language = get_language(language_code)
    database = WorldDatabase.open(demo_seed(language))
    disruptions, tokens = Disruptions(), TokenSource(key)
    app = create_app(
        DEMO_SITE,
        language=language,
        runtime=Runtime(database, Clock(), tokens, disruptions),
        offsite_url=OFFSITE,
        numerals=numerals,
        request_log=request_log,
    )
    return Demo(app, database, disruptions, tokens)


def demo_seed(language: Language) -> bytes:
    """Return the bytes of the demo's database."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "demo.sqlite"
        build(language, path)
        with closing(sqlite3.connect(path)) as connection:
            return connection.serialize()
