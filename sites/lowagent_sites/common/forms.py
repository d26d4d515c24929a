"""Forms: fields with their rules, errors beside them, and protection against a second send.

A view makes a form, reads what was sent and shows it again with status 422 when it has errors:

    form = Form("cart_add", [Field("qty", _("Quantity"), value="1", inputmode="numeric",
                                   direction="ltr", required=_("Enter a whole number"))])
    if request.method == "POST":
        form.read(request.form)
        if not form.errors and quantity > stock:
            form.add_error("qty", _("Only %(n)s in stock", n=stock))
        if form.errors:
            return render_template("ministore/product.html", form=form), 422

The template prints it by the macros of `common/macros.html`, which the layout imports as `ui`:

    {{ ui.error_summary(form) }}
    <form method="post" action="/cart/add" name="cart_add" aria-label="{{ _('Add to cart') }}"
      novalidate>
    {{ ui.csrf() }}
    {{ ui.field(form, "qty") }}
    <button type="submit">{{ _("Add to cart") }}</button>
    </form>

A form that creates something also carries `{{ ui.form_id() }}`, and its view runs under `once`:

    def add_review() -> str:
        review = reviews.add(db(), ...)
        return f"/review/{review.id}"

    return once(add_review)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from flask import abort, redirect, request
from sqlalchemy import select
from werkzeug.wrappers import Response

from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.numbers import format_integer
from lowagent_sites.common.runtime import current_language, current_runtime, current_site, db
from lowagent_sites.common.sessions import session_id
from lowagent_sites.common.text import clean_block, clean_line

FieldKind = Literal["text", "password", "textarea", "select", "checkbox", "radio"]
FORM_ID_FIELD = "form_id"
_MAX_FORM_ID_LENGTH = 64


@dataclass(frozen=True)
class Choice:
    """An option: its code, the same in all languages, and its label."""

    value: str
    label: str


@dataclass
class Field:
    """One field of a form.

    Attributes:
        name: Sent with the value; English, the same in all languages.
        kind: A `checkbox` sends `1` or nothing and is never required.
        value: What the field shows: its start value, then what was typed, cleaned.
        hint: A sentence under the label.
        direction: `auto` for prose, `ltr` for codes, mails, numbers and amounts.
        inputmode: `numeric` or `decimal` for numbers, whose type stays `text`.
        choices: The options of a `select` or `radio`; any other value is an error.
        required: The error when it is empty, or None for an optional field.
        max_length: Most characters, after cleaning.
    """

    name: str
    label: str
    kind: FieldKind = "text"
    value: str = ""
    hint: str = ""
    direction: Literal["auto", "ltr"] = "auto"
    inputmode: Literal["", "numeric", "decimal"] = ""
    choices: Sequence[Choice] = ()
    required: str | None = None
    max_length: int | None = None
    autocomplete: str = "off"
    error: str | None = None

    @property
    def is_marked_optional(self) -> bool:
        """Whether the label says that the field may stay empty.

        A `select` always has a value, a `checkbox` may always stay empty.
        """
        return not self.required and self.kind not in {"select", "checkbox"}


@dataclass
class Form:
    """A form and what was typed into it; `name` also begins the ids of its controls."""

    name: str
    fields: list[Field] = field(default_factory=list)

    def __getitem__(self, name: str) -> Field:
        """Return the field `name`.

        Raises:
            KeyError: The form has no such field.
        """
        for found in self.fields:
            if found.name == name:
                return found
        raise KeyError(name)

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
            found.value = _clean(found, sent.get(found.name, ""))
            found.error = _find_error(found)

    def forget_passwords(self) -> None:
        """Empty the password fields, which are never shown again."""
        for found in self.fields:
            if found.kind == "password":
                found.value = ""


def _clean(found: Field, raw: str) -> str:
    if found.kind == "password":
        return raw
    if found.kind == "checkbox":
        return "1" if raw == "1" else ""
    return clean_block(raw) if found.kind == "textarea" else clean_line(raw)


def _find_error(found: Field) -> str | None:
    if not found.value:
        return found.required
    if found.max_length is not None and len(found.value) > found.max_length:
        limit = format_integer(found.max_length, current_language())
        return _("Use at most %(n)s characters", n=limit)
    if found.choices and found.value not in {choice.value for choice in found.choices}:
        return found.required or _("Choose one of the options")
    return None


def once(run: Callable[[], str]) -> Response:
    """Run a creating action unless this very form was sent before; redirect to its result.

    Args:
        run: Does the work and returns the address of the result.

    Raises:
        BadRequest: The form has no id, or one that another session has used.
    """
    form_id = request.form.get(FORM_ID_FIELD, "")
    if not 0 < len(form_id) <= _MAX_FORM_ID_LENGTH:
        abort(400)
    table = current_site().metadata.tables["form_tokens"]
    used = db().execute(
        select(table.c.sid, table.c.result_url).where(table.c.form_id == form_id)
    ).first()  # fmt: skip
    if used is not None:
        if used.sid != session_id():
            abort(400)
        return redirect(used.result_url, 303)
    target = run()
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
    return current_runtime().tokens.next(FORM_ID_FIELD)
