"""Forms: fields with their rules, errors beside them, and protection against a second send.

A view makes a form, validates it and shows it again with status 422 when it has errors:

    form = Form("cart_add", TextField("qty", _("Quantity"), default="1"))
    if request.method == "POST":
        form.read(request.form)
        ...
        form.add_error("qty", _("Only %(n)s in stock", n=3))
        if form.errors:
            return render_form("ministore/product.html", form=form), 422
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from flask import redirect, request
from sqlalchemy import select
from werkzeug.wrappers import Response

from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.runtime import current_runtime, current_site, db
from lowagent_sites.common.sessions import session_id
from lowagent_sites.common.text import clean_block, clean_line

FieldKind = Literal["text", "password", "textarea", "select", "checkbox", "radio"]


@dataclass(frozen=True)
class Choice:
    """An option: its code and its label."""

    value: str
    label: str


@dataclass
class Field:
    """One field of a form.

    Attributes:
        direction: `auto` for prose, `ltr` for codes, mails, amounts.
        required: The error when it is empty, or None for an optional field.
        max_length: Most characters, after cleaning.
    """

    name: str
    label: str
    kind: FieldKind = "text"
    value: str = ""
    hint: str = ""
    direction: Literal["auto", "ltr"] = "auto"
    inputmode: str = ""
    choices: Sequence[Choice] = ()
    required: str | None = None
    max_length: int | None = None
    autocomplete: str = "off"
    error: str | None = None


@dataclass
class Form:
    """A form and what was typed into it."""

    name: str
    fields: list[Field] = field(default_factory=list)

    def __getitem__(self, name: str) -> Field:
        """Return the field `name`."""
        return next(found for found in self.fields if found.name == name)

    @property
    def errors(self) -> list[Field]:
        """The fields that have an error."""
        return [found for found in self.fields if found.error]

    def value(self, name: str) -> str:
        """Return what was typed into a field, cleaned."""
        return self[name].value

    def add_error(self, name: str, message: str) -> None:
        """Give a field an error unless it has one."""
        if self[name].error is None:
            self[name].error = message

    def read(self, sent: Mapping[str, str]) -> None:
        """Take what was sent, clean it, and check what every field asks for."""
        for found in self.fields:
            raw = sent.get(found.name, "")
            if found.kind == "password":
                found.value = raw
            else:
                found.value = clean_block(raw) if found.kind == "textarea" else clean_line(raw)
            if not found.value and found.required:
                found.error = found.required
            elif found.max_length is not None and len(found.value) > found.max_length:
                found.error = _("Use at most %(n)s characters", n=found.max_length)
            elif found.choices and found.value not in {c.value for c in found.choices}:
                found.error = found.required or _("Choose one of the options")

    def forget_passwords(self) -> None:
        """Empty the password fields, which are never shown again."""
        for found in self.fields:
            if found.kind == "password":
                found.value = ""


def once(run: Callable[[], str]) -> Response:
    """Run a creating action unless this very form was sent before; redirect to its result.

    Args:
        run: Does the work and returns the address of the result.
    """
    form_id = request.form.get("form_id", "")[:64]
    table = current_site().metadata.tables["form_tokens"]
    if form_id:
        known = db().execute(
            select(table.c.result_url).where(
                table.c.form_id == form_id, table.c.sid == session_id()
            )
        )
        result = known.scalar()
        if result is not None:
            return redirect(str(result), 303)
    target = run()
    if form_id:
        db().execute(
            table.insert().values(
                form_id=form_id,
                sid=session_id(),
                endpoint=request.endpoint or "",
                result_url=target,
                used_at=current_runtime().clock.now(),
            )
        )
    return redirect(target, 303)


def new_form_id() -> str:
    """Return a fresh one-time id for a creating form."""
    return current_runtime().tokens.next("form_id")
