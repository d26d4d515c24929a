"""The one executor: turns an action on a numbered page into one request, checked, and sends it."""

import unicodedata

from lowagent_vis.actions import Action, Click, Fill, Goto
from lowagent_vis.browsers.addresses import (
    checked_address,
    encode_address,
    encode_fields,
    is_harness_path,
    own_address,
    shortened,
)
from lowagent_vis.browsers.base import Browser, Request, Response
from lowagent_vis.errors import ActionError
from lowagent_vis.page import Button, Field, Form, Page


def execute(action: Action, page: Page, browser: Browser) -> Response:
    """Perform `goto`, `click` or `fill`; `stop` is the episode's to handle.

    Raises:
        ActionError: The action does not fit the page or leaves the site; nothing was sent.
        HarnessError: The site gave no answer.
    """
    return browser.send(resolve(action, page))


def resolve(action: Action, page: Page) -> Request:
    """Return the one request that an action stands for.

    Raises:
        ActionError: The action does not fit the page or leaves the site.
    """
    referer = encode_address(page.url)
    match action:
        case Goto(path):
            return Request("GET", checked_address(path))
        case Click(number):
            return Request("GET", _link_target(page, number), referer=referer)
        case Fill(number, fields):
            return _submit(_find_form(page, number), fields, referer)
    raise ActionError(f"{action.name} sends no request")


def _link_target(page: Page, number: int) -> str:
    if not 1 <= number <= len(page.links):
        raise ActionError(f"there is no link {number}; {_numbered('links', len(page.links))}")
    return _checked_target(page.links[number - 1].href, f"link {number}")


def _checked_target(href: str, what: str) -> str:
    """Return the address that a link or form of the page leads to, encoded."""
    target = own_address(href)
    if target is None or is_harness_path(target):
        raise ActionError(f"{what} leaves the site ({shortened(href)})")
    return encode_address(target)


def _numbered(what: str, count: int) -> str:
    return f"{what} are numbered 1 to {count}" if count else f"this page has no {what}"


def _find_form(page: Page, number: int) -> Form:
    if not 1 <= number <= len(page.forms):
        raise ActionError(f"there is no form {number}; {_numbered('forms', len(page.forms))}")
    return page.forms[number - 1]


def _submit(form: Form, typed: tuple[tuple[str, str], ...], referer: str) -> Request:
    chosen: dict[str, str] = {}
    for name, value in typed:
        control = _find_field(form, name)
        if control.name in chosen:
            raise ActionError(f'the field "{control.name}" is set twice')
        chosen[control.name] = value
    pairs: list[tuple[str, str]] = []
    button = form.buttons[0] if form.buttons else None
    for position, control in enumerate(form.fields):
        pairs += _pressed(button, position)
        pairs += _successful(control, None if control.hidden else chosen.get(control.name))
    pairs += _pressed(button, len(form.fields))
    path = _checked_target(form.action, f"form {form.number}")
    if form.method == "POST":
        return Request("POST", path, tuple(pairs), referer=referer)
    return Request("GET", f"{path.partition('?')[0]}?{encode_fields(pairs)}", referer=referer)


def _pressed(button: Button | None, position: int) -> list[tuple[str, str]]:
    """Return what the form's first button sends, at its place among the fields."""
    if button is None or not button.name or button.position != position:
        return []
    return [(button.name, button.value)]


def _find_field(form: Form, name: str) -> Field:
    """Find a field by its name, else by its label."""
    visible = form.visible_fields
    found = [f for f in visible if f.name == name]
    if not found:
        found = [f for f in visible if f.label and _comparable(f.label) == _comparable(name)]
    if not found:
        known = ", ".join(f.name for f in visible) or "none"
        raise ActionError(
            f'form {form.number} has no field "{shortened(name)}"; its fields: {known}'
        )
    if len(found) > 1:
        same = ", ".join(f.name for f in found)
        raise ActionError(f'several fields are called "{shortened(name)}"; use a name: {same}')
    control = found[0]
    if control.readonly or control.disabled:
        raise ActionError(f'the field "{control.name}" cannot be changed')
    return control


def _comparable(text: str) -> str:
    """Return a label as it is compared: composed, one space, no case, ASCII digits."""
    folded = " ".join(unicodedata.normalize("NFC", text).split()).casefold()
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)


def _successful(control: Field, typed: str | None) -> list[tuple[str, str]]:
    """Return what a browser would send for a field."""
    if control.disabled:
        return []
    if control.options:
        return [(control.name, value) for value in _choices(control, typed)]
    if control.kind == "checkbox":
        is_on = control.checked if typed is None else _switch(control, typed)
        return [(control.name, control.value)] if is_on else []
    if control.kind in ("select", "radio"):
        return []
    value = control.value if typed is None else typed
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    is_one_line = control.kind in ("text", "password")
    return [(control.name, value.replace("\n", "" if is_one_line else "\r\n"))]


def _switch(control: Field, typed: str) -> bool:
    word = unicodedata.normalize("NFKC", typed).strip().lower()
    if word not in ("on", "off"):
        raise ActionError(
            f'the check box "{control.name}" takes on or off, not "{shortened(typed)}"'
        )
    return word == "on"


def _choices(control: Field, typed: str | None) -> list[str]:
    """Return the chosen values, in the order of the options."""
    if typed is None:
        return [o.value for o in control.options if o.selected and not o.disabled]
    single = _find_option(control, typed)
    if single is not None:
        return [single]
    if not control.multiple:
        raise _no_option(control, typed)
    chosen = set()
    for part in typed.split(",") if typed.strip() else ():
        found = _find_option(control, part)
        if found is None:
            raise _no_option(control, part)
        chosen.add(found)
    return [option.value for option in control.options if option.value in chosen]


def _find_option(control: Field, typed: str) -> str | None:
    """Find an option by its value, else by its label."""
    usable = [option for option in control.options if not option.disabled]
    for wanted in (typed, typed.strip()):
        if any(option.value == wanted for option in usable):
            return wanted
    labelled = {o.value for o in usable if _comparable(o.label) == _comparable(typed)}
    valued = {o.value for o in usable if _comparable(o.value) == _comparable(typed)}
    for values in (labelled, valued):
        if len(values) == 1:
            return values.pop()
    return None


def _no_option(control: Field, typed: str) -> ActionError:
    known = ", ".join(f'"{o.value}" "{o.label}"' for o in control.options if not o.disabled)
    return ActionError(f'"{control.name}" has no option "{shortened(typed)}"; its options: {known}')


def resolve_path(path: str) -> str:
    """Check and encode a path that a person typed.

    Raises:
        ActionError: It is no path of the site.
    """
    return checked_address(path)
