"""The one executor: turns an action on a numbered page into one request, checked, and sends it."""

from urllib.parse import urlencode

from lowagent_vis.actions import Action, Click, Fill, Goto
from lowagent_vis.browsers.addresses import checked_address, encode_address, own_address, shortened
from lowagent_vis.browsers.base import Browser, Request, Response
from lowagent_vis.errors import ActionError
from lowagent_vis.page import Field, Form, Page

_ON = {"on", "true", "yes", "1"}
_OFF = {"off", "false", "no", "0", ""}


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
            return _submit(_find_form(page, number), dict(fields), page.url, referer)
    raise ActionError(f"{action.name} sends no request")


def _link_target(page: Page, number: int) -> str:
    if not 1 <= number <= len(page.links):
        raise ActionError(f"there is no link {number}; links go from 1 to {len(page.links)}")
    href = page.links[number - 1].href
    target = own_address(href)
    if target is None:
        raise ActionError(f"link {number} leaves the site ({shortened(href)})")
    return encode_address(target)


def _find_form(page: Page, number: int) -> Form:
    if not 1 <= number <= len(page.forms):
        raise ActionError(f"there is no form {number}; forms go from 1 to {len(page.forms)}")
    return page.forms[number - 1]


def _submit(form: Form, typed: dict[str, str], url: str, referer: str) -> Request:
    chosen = {_find_field(form, name).name: value for name, value in typed.items()}
    if len(chosen) < len(typed):
        raise ActionError("two of the names mean the same field")
    pairs: list[tuple[str, str]] = []
    button = form.buttons[0] if form.buttons else None
    for position, control in enumerate(form.fields):
        if button is not None and button.name and button.position == position:
            pairs.append((button.name, button.value))
        pairs += _successful(control, chosen.get(control.name))
    if button is not None and button.name and button.position >= len(form.fields):
        pairs.append((button.name, button.value))
    target = own_address(form.action) if form.action else url
    if target is None:
        raise ActionError(f"form {form.number} sends its data to another site")
    path = encode_address(target)
    if form.method == "POST":
        return Request("POST", path, tuple(pairs), referer=referer)
    return Request("GET", path.partition("?")[0] + "?" + urlencode(pairs), referer=referer)


def _find_field(form: Form, name: str) -> Field:
    """Find a field by its name, else by its label."""
    visible = form.visible_fields
    for control in visible:
        if control.name == name:
            break
    else:
        labelled = [f for f in visible if f.label.casefold() == name.casefold()]
        if len(labelled) != 1:
            known = ", ".join(f.name for f in visible) or "none"
            raise ActionError(f'form {form.number} has no field "{shortened(name)}"; known: {known}')
        control = labelled[0]
    if control.readonly or control.disabled:
        raise ActionError(f'the field "{control.name}" cannot be changed')
    return control


def _successful(control: Field, typed: str | None) -> list[tuple[str, str]]:
    """Return what a browser would send for a field."""
    if control.disabled:
        return []
    if control.options:
        return [(control.name, value) for value in _choices(control, typed)]
    if control.kind == "checkbox":
        is_on = control.checked if typed is None else _switch(control, typed)
        return [(control.name, control.value)] if is_on else []
    value = control.value if typed is None else typed
    if control.kind == "textarea":
        value = value.replace("\r\n", "\n").replace("\n", "\r\n")
    elif control.kind != "hidden":
        value = value.replace("\r", "").replace("\n", " ")
    return [(control.name, value)]


def _switch(control: Field, typed: str) -> bool:
    word = typed.strip().casefold()
    if word in _ON or word == control.value.casefold():
        return True
    if word in _OFF:
        return False
    raise ActionError(f'the check box "{control.name}" takes on or off')


def _choices(control: Field, typed: str | None) -> list[str]:
    if typed is None:
        return [option.value for option in control.options if option.selected]
    single = _find_option(control, typed)
    if single is not None:
        return [single]
    if not control.multiple:
        raise _no_option(control, typed)
    values = []
    for part in typed.split(","):
        found = _find_option(control, part)
        if found is None:
            raise _no_option(control, part)
        values.append(found)
    return [option.value for option in control.options if option.value in values]


def _find_option(control: Field, typed: str) -> str | None:
    wanted = typed.strip()
    usable = [option for option in control.options if not option.disabled]
    for option in usable:
        if option.value == wanted:
            return option.value
    labelled = [o.value for o in usable if o.label.casefold() == wanted.casefold()]
    return labelled[0] if len(labelled) == 1 else None


def _no_option(control: Field, typed: str) -> ActionError:
    known = ", ".join(f'"{option.value}"' for option in control.options)
    return ActionError(f'"{control.name}" has no option "{shortened(typed)}"; known: {known}')


def resolve_path(path: str) -> str:
    """Check and encode a path that a person typed.

    Raises:
        ActionError: It is no path of the site.
    """
    return checked_address(path)
