"""A page as agents read it: visible text, numbered links, numbered forms.

One pass over the parsed HTML collects the text and numbers the links and forms; vision uses
the same numbers, stamped into the HTML that is drawn. The rules, which follow what a browser
shows without knowing its style sheets:

- Block elements, `li` and `br` start a line; white space collapses.
- Inline elements are joined as written. Links, buttons, labels, pictures and inline elements
  with nothing between them are set apart by a space, which is dropped before punctuation.
- A table row is one line, `a | b | c`; so is a term of a `dl` with its values.
- A picture is `[image]` with its alt text; with an empty alt it is decoration and left out.
- What carries `hidden` or the class `visually-hidden`, closed `details`, scripts, styles,
  templates, inline SVG and the contents of fields are not text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urljoin

from lxml import etree

from lowagent_vis.browsers.addresses import display_address, own_address

__all__ = ["Button", "Field", "Form", "Link", "Option", "Page", "parse_page"]

# Separators inside the collected text. All four are white space to `str.split`, so a label
# that spans several lines or cells collapses without further care.
_LINE, _CELL, _SPACE, _IMAGE = "\x1e", "\x1d", "\x1f", "\x1c"
_IMAGE_WORD = "[image]"
_SPACE_BEFORE_PUNCTUATION = re.compile("\x1f+(?=[.,;:!?)\\]}%”’»…।॥۔،؛؟።፣፤፥፡])")
_HIDDEN_ATTRIBUTE = re.compile(rb"\shidden(?=[\s>=/])")
_HIDDEN_CLASS = "visually-hidden"

_BLOCKS = """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav
    ol p pre search section summary table tbody tfoot thead tr ul
"""
_UNSEEN = """
    area audio base canvas col colgroup datalist embed head iframe link map math meta noframes
    noscript object param script source style svg template title track video
"""
_BUTTON_INPUTS = {"submit": "Submit", "image": "Submit"}


@dataclass(frozen=True)
class Link:
    """A numbered link: its label and its target, resolved against the page's address."""

    number: int
    label: str
    href: str


@dataclass(frozen=True)
class Option:
    """One choice of a select, a radio group or a group of check boxes."""

    value: str
    label: str
    selected: bool = False
    disabled: bool = False


@dataclass(frozen=True)
class Field:
    """A control of a form.

    Attributes:
        name: Its `name`, equal in all languages.
        label: What a person reads beside it.
        kind: `text`, `textarea`, `password`, `select`, `radio`, `checkbox` or `hidden`.
        value: What is sent if nothing is changed; for a check box, what is sent when on.
        options: The choices of a select, radio group or group of check boxes.
        checked: Whether a single check box is on.
        readonly: Sent as it is; cannot be changed.
        multiple: Whether several choices may be made.
        hidden: Sent as it is; not shown.
        disabled: Neither changed nor sent.
    """

    name: str
    label: str
    kind: str
    value: str = ""
    options: tuple[Option, ...] = ()
    checked: bool = False
    readonly: bool = False
    multiple: bool = False
    hidden: bool = False
    disabled: bool = False


@dataclass(frozen=True)
class Button:
    """A button that submits its form; `position` counts the fields before it."""

    label: str
    name: str = ""
    value: str = ""
    position: int = 0


@dataclass(frozen=True)
class Form:
    """A numbered form with its controls in document order."""

    number: int
    name: str
    label: str
    method: str
    action: str
    fields: tuple[Field, ...] = ()
    buttons: tuple[Button, ...] = ()

    @property
    def visible_fields(self) -> tuple[Field, ...]:
        """The fields that a person can see."""
        return tuple(f for f in self.fields if not f.hidden)


@dataclass(frozen=True)
class Page:
    """What an agent can read and use of one page.

    Attributes:
        url: Path and query, as shown.
        title: Text of the title.
        text: Visible text, one block a line.
        links: Links, numbered from 1 in document order.
        forms: Forms, numbered from 1 in document order.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...]
    forms: tuple[Form, ...]
    _root: etree._Element | None = field(default=None, repr=False, compare=False)
    _marked: tuple[tuple[str, etree._Element], ...] = field(default=(), repr=False, compare=False)

    def to_text(
        self, error: str | None = None, *, page_text: bool = True, link_targets: bool = True
    ) -> str:
        """Return the text observation.

        Args:
            error: What was wrong with the last action, if it failed.
            page_text: Whether to include the visible text of the page.
            link_targets: Whether to show where links lead.
        """
        parts = [self.heading_text(error)]
        if page_text:
            parts += ["TEXT:", self.text or "(none)"]
        parts.append("LINKS:")
        parts.append(self._links_with_targets if link_targets else self._links_without_targets)
        parts += ["FORMS:", self._forms_text]
        return "\n".join(parts)

    def heading_text(self, error: str | None = None) -> str:
        """Return the first lines of the observation: address, title and error."""
        lines = [f"URL: {self.url}", f"TITLE: {self.title}"]
        return "\n".join([*lines, f"ERROR: {_collapsed(error)}"] if error else lines)

    @cached_property
    def _links_with_targets(self) -> str:
        lines = [f"[{k.number}] {k.label} -> {display_address(k.href)}" for k in self.links]
        return "\n".join(lines) or "(none)"

    @cached_property
    def _links_without_targets(self) -> str:
        return "\n".join(f"[{k.number}] {k.label}" for k in self.links) or "(none)"

    @cached_property
    def _forms_text(self) -> str:
        return "\n".join(line for form in self.forms for line in _form_lines(form)) or "(none)"

    def stamped_html(self) -> str:
        """Return the HTML with `data-i="L1"` or `data-i="F1"` on every numbered element."""
        if self._root is None:
            return ""
        for mark, element in self._marked:
            element.set("data-i", mark)
        return str(
            etree.tostring(self._root, method="html", encoding="unicode", doctype="<!DOCTYPE html>")
        )


def parse_page(html: bytes, *, url: str, origin: str = "") -> Page:
    """Parse `html`, collect its visible text and number its links and forms.

    Args:
        html: A whole page in UTF-8.
        url: Path and query of the page, as shown; relative targets resolve against it.
        origin: `scheme://host[:port]` of the site; its absolute targets become paths.
    """
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(html, parser) if html.strip() else None
    if root is None:
        return Page(url=url, title="", text="", links=(), forms=())
    walk = _Walk(html, url, origin)
    body = root.find("body")
    walk.collect(root if body is None else body)
    title = root.find("head/title")
    return Page(
        url=url,
        title=_collapsed(title.text or "") if title is not None else "",
        text=_lines_of("".join(walk.chunks)),
        links=tuple(walk.links),
        forms=tuple(_finished_form(n, raw) for n, raw in enumerate(walk.forms, start=1)),
        _root=root,
        _marked=tuple(walk.marked)
        + tuple((f"F{n}", raw.element) for n, raw in enumerate(walk.forms, start=1)),
    )


def _collapsed(text: str) -> str:
    if _SPACE in text:
        text = _SPACE_BEFORE_PUNCTUATION.sub("", text)
    return " ".join(text.split())


def _lines_of(text: str) -> str:
    lines = []
    for raw in _SPACE_BEFORE_PUNCTUATION.sub("", text).split(_LINE):
        if _CELL in raw:
            cells = [" ".join(cell.split()) for cell in raw.split(_CELL)]
            line = " | ".join(cells if cells[0] else cells[1:]) if any(cells) else ""
        else:
            line = " ".join(raw.split())
        if line:
            lines.append(line)
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------
# The walk
# ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _RawControl:
    """A control whose label may come after it."""

    kind: str
    name: str
    value: str = ""
    element_id: str | None = None
    aria_label: str = ""
    wrapped_by: "_RawLabel | None" = None
    group: "_RawGroup | None" = None
    options: tuple[Option, ...] = ()
    is_checked: bool = False
    is_readonly: bool = False
    is_disabled: bool = False
    is_multiple: bool = False


@dataclass(eq=False)
class _RawLabel:
    text: str = ""


@dataclass(eq=False)
class _RawGroup:
    """A `fieldset`; its legend names groups of radio buttons and check boxes."""

    text: str = ""
    is_disabled: bool = False


@dataclass(eq=False)
class _RawForm:
    element: etree._Element
    method: str
    action: str
    label: str
    labels: dict[str, str]
    controls: list[_RawControl] = field(default_factory=list)
    buttons: list[tuple[int, Button]] = field(default_factory=list)


_Handler = Callable[["_Walk", etree._Element], None]


class _Walk:
    """Collects text, links and forms in document order. Speed matters: one call per element."""

    def __init__(self, html: bytes, url: str, origin: str) -> None:
        self.chunks: list[str] = []
        self.links: list[Link] = []
        self.forms: list[_RawForm] = []
        self.marked: list[tuple[str, etree._Element]] = []
        self._url = url
        self._origin = origin
        # Most pages hide nothing: looking at attributes of every element is then saved.
        self._hides = _HIDDEN_CLASS.encode() in html or _HIDDEN_ATTRIBUTE.search(html) is not None
        self._line = _LINE
        self._form: _RawForm | None = None
        self._label: _RawLabel | None = None
        self._group: _RawGroup | None = None
        self._labels: dict[str, str] = {}
        self._images = 0
        self._replaced = 0

    def collect(self, parent: etree._Element) -> None:
        """Collect the contents of `parent`."""
        chunks = self.chunks
        append = chunks.append
        collect = self.collect
        hides = self._hides
        handlers = _HANDLERS
        text = parent.text
        if text:
            append(text)
        is_touching = False
        for child in parent:
            tag = child.tag
            if hides and _is_hidden(child):
                pass
            elif tag in handlers:
                handler = handlers[tag]
                if handler is None:
                    line = self._line
                    append(line)
                    collect(child)
                    append(line)
                else:
                    handler(self, child)
            else:
                if is_touching:
                    append(_SPACE)
                collect(child)
            tail = child.tail
            if tail:
                append(tail)
                is_touching = False
            else:
                is_touching = True

    # -- text ---------------------------------------------------------------------------------

    def skip(self, element: etree._Element) -> None:
        """Leave out an element that shows no text; some of them still make a link visible."""
        if element.tag in ("svg", "canvas", "object", "video", "iframe"):
            self._replaced += 1

    def line_break(self, _element: etree._Element) -> None:
        """Start a line at a `br`."""
        self.chunks.append(self._line)

    def cell(self, element: etree._Element) -> None:
        """Collect a table cell; its blocks share the row's line."""
        self.chunks.append(_CELL)
        line, self._line = self._line, _SPACE
        self.collect(element)
        self._line = line

    def row(self, element: etree._Element) -> None:
        """Collect a table row; a row of a table inside a cell stays on the outer row's line."""
        self.chunks.append(self._line)
        self.collect(element)
        self.chunks.append(self._line)

    def term(self, element: etree._Element) -> None:
        """Start the line of a term of a description list."""
        self.chunks.append(self._line)
        self.cell(element)

    def apart(self, element: etree._Element) -> None:
        """Collect an element that is set apart by spaces."""
        self.chunks.append(_SPACE)
        self.collect(element)
        self.chunks.append(_SPACE)

    def image(self, element: etree._Element) -> None:
        """Put a picture into the text."""
        self._replaced += 1
        alt = element.get("alt")
        if alt != "":
            self._images += 1
            self.chunks.append(f"{_IMAGE}{_IMAGE_WORD} {alt or ''}{_SPACE}")

    def details(self, element: etree._Element) -> None:
        """Collect a `details`: all of it when open, else its summary."""
        self.chunks.append(self._line)
        if element.get("open") is not None:
            self.collect(element)
        else:
            summary = element.find("summary")
            if summary is not None:
                self.collect(summary)
        self.chunks.append(self._line)

    def dialog(self, element: etree._Element) -> None:
        """Collect a `dialog` that is open."""
        if element.get("open") is not None:
            self.chunks.append(self._line)
            self.collect(element)
            self.chunks.append(self._line)

    # -- links --------------------------------------------------------------------------------

    def link(self, element: etree._Element) -> None:
        """Number a link, unless it leads to a place on the same page or cannot be seen."""
        href = element.get("href")
        if href is None or href.lstrip().startswith("#"):
            self.apart(element)
            return
        start, images, replaced = len(self.chunks), self._images, self._replaced
        # The number is taken before nested elements are walked: document order.
        position = len(self.links)
        self.apart(element)
        collected = self.chunks[start:]
        if self._images == images:
            label = _collapsed("".join(collected))
            alt = ""
        else:
            words = [chunk for chunk in collected if not chunk.startswith(_IMAGE)]
            alts = [chunk for chunk in collected if chunk.startswith(_IMAGE)]
            label = _collapsed("".join(words))
            alt = _collapsed(" ".join(alts).replace(_IMAGE_WORD, ""))
        if not label and self._replaced == replaced:
            return
        number = position + 1
        self.links.append(
            Link(number, label or alt or _aria_label(element), self._resolved(href.strip()))
        )
        self.marked.append((f"L{number}", element))

    def _resolved(self, href: str) -> str:
        target = href if href[:1] == "/" and href[1:2] != "/" else urljoin(self._url, href)
        if target[:1] == "/" and target[1:2] != "/":
            return target
        return own_address(target, origin=self._origin) or target

    # -- forms --------------------------------------------------------------------------------

    def form(self, element: etree._Element) -> None:
        """Number a form that has a control or a button to see."""
        action = (element.get("action") or "").strip()
        raw = _RawForm(
            element=element,
            method="POST" if (element.get("method") or "").strip().lower() == "post" else "GET",
            action=self._resolved(action) if action else self._url,
            label=_aria_label(element),
            labels=self._labels,
        )
        outer, self._form = self._form, raw
        position = len(self.forms)
        self.chunks.append(self._line)
        self.collect(element)
        self.chunks.append(self._line)
        self._form = outer
        if raw.buttons or any(control.kind != "hidden" for control in raw.controls):
            self.forms.insert(position, raw)

    def label(self, element: etree._Element) -> None:
        """Collect a label and remember it for its control."""
        raw = _RawLabel()
        outer, self._label = self._label, raw
        start = len(self.chunks)
        self.apart(element)
        self._label = outer
        raw.text = _collapsed("".join(self.chunks[start:]))
        target = element.get("for")
        if target and target not in self._labels:
            self._labels[target] = raw.text

    def fieldset(self, element: etree._Element) -> None:
        """Collect a group of controls."""
        group = _RawGroup(text="", is_disabled=element.get("disabled") is not None)
        if self._group is not None and self._group.is_disabled:
            group.is_disabled = True
        outer, self._group = self._group, group
        self.chunks.append(self._line)
        self.collect(element)
        self.chunks.append(self._line)
        self._group = outer
        group.text = group.text or _aria_label(element)

    def legend(self, element: etree._Element) -> None:
        """Collect the name of a group of controls."""
        start = len(self.chunks)
        self.chunks.append(self._line)
        self.collect(element)
        self.chunks.append(self._line)
        if self._group is not None and not self._group.text:
            self._group.text = _collapsed("".join(self.chunks[start:]))

    def input(self, element: etree._Element) -> None:
        """Collect an `input`."""
        kind = (element.get("type") or "text").strip().lower()
        if kind != "hidden":
            self._replaced += 1
        if kind in _BUTTON_INPUTS:
            label = element.get("value") or element.get("alt") or _aria_label(element)
            self._add_button(element, _collapsed(label or _BUTTON_INPUTS[kind]))
        elif kind in ("checkbox", "radio"):
            self._add_control(
                element,
                kind,
                element.get("value") if element.get("value") is not None else "on",
                is_checked=element.get("checked") is not None,
            )
        elif kind not in ("button", "reset", "file"):
            known = kind in ("hidden", "password")
            self._add_control(element, kind if known else "text", element.get("value") or "")

    def textarea(self, element: etree._Element) -> None:
        """Collect a `textarea`; its contents are a value, not text."""
        self._replaced += 1
        value = _text_content(element).replace("\r\n", "\n").replace("\r", "\n")
        # HTML drops one line break that directly follows the tag.
        self._add_control(element, "textarea", value.removeprefix("\n"))

    def select(self, element: etree._Element) -> None:
        """Collect a `select` with its options."""
        self._replaced += 1
        is_multiple = element.get("multiple") is not None
        options = [_option(option) for option in element.iter("option")]
        chosen = [index for index, option in enumerate(options) if option.selected]
        if not is_multiple:
            enabled = (index for index, option in enumerate(options) if not option.disabled)
            keep = chosen[-1] if chosen else next(enabled, -1)
            options = [
                Option(o.value, o.label, index == keep, o.disabled)
                for index, o in enumerate(options)
            ]
        self._add_control(element, "select", "", options=tuple(options), is_multiple=is_multiple)

    def button(self, element: etree._Element) -> None:
        """Collect a `button`; one that submits belongs to the form."""
        self._replaced += 1
        start, images = len(self.chunks), self._images
        self.apart(element)
        if (element.get("type") or "submit").strip().lower() != "submit":
            return
        collected = self.chunks[start:]
        if self._images != images:
            collected = [chunk.replace(_IMAGE_WORD, "") for chunk in collected]
        label = _collapsed("".join(collected))
        self._add_button(element, label or _aria_label(element) or element.get("value") or "")

    def _add_button(self, element: etree._Element, label: str) -> None:
        if self._form is None or element.get("disabled") is not None:
            return
        button = Button(label, element.get("name") or "", element.get("value") or "")
        self._form.buttons.append((len(self._form.controls), button))

    def _add_control(
        self,
        element: etree._Element,
        kind: str,
        value: str | None,
        *,
        options: tuple[Option, ...] = (),
        is_checked: bool = False,
        is_multiple: bool = False,
    ) -> None:
        name = element.get("name")
        if self._form is None or not name:
            return
        group = self._group
        self._form.controls.append(
            _RawControl(
                kind=kind,
                name=name,
                value=value or "",
                element_id=element.get("id"),
                aria_label=_aria_label(element),
                wrapped_by=self._label,
                group=group,
                options=options,
                is_checked=is_checked,
                is_readonly=element.get("readonly") is not None,
                is_disabled=element.get("disabled") is not None
                or (group is not None and group.is_disabled),
                is_multiple=is_multiple,
            )
        )


def _is_hidden(element: etree._Element) -> bool:
    if element.get("hidden") is not None:
        return True
    classes = element.get("class")
    return classes is not None and _HIDDEN_CLASS in classes.split()


def _aria_label(element: etree._Element) -> str:
    label = element.get("aria-label")
    return " ".join(label.split()) if label else ""


def _text_content(element: etree._Element) -> str:
    return "".join(str(text) for text in element.itertext())


def _option(element: etree._Element) -> Option:
    label = _collapsed(_text_content(element))
    value = element.get("value")
    parent = element.getparent()
    return Option(
        value=label if value is None else value,
        label=element.get("label") or label,
        selected=element.get("selected") is not None,
        disabled=element.get("disabled") is not None
        or (parent is not None and parent.tag == "optgroup" and parent.get("disabled") is not None),
    )


# A tag that is missing here is inline; None is a plain block.
_HANDLERS: dict[object, _Handler | None] = {
    **dict.fromkeys(_BLOCKS.split(), None),
    **dict.fromkeys(_UNSEEN.split(), _Walk.skip),
    "a": _Walk.link,
    "br": _Walk.line_break,
    "button": _Walk.button,
    "dd": _Walk.cell,
    "details": _Walk.details,
    "dialog": _Walk.dialog,
    "dt": _Walk.term,
    "fieldset": _Walk.fieldset,
    "form": _Walk.form,
    "img": _Walk.image,
    "input": _Walk.input,
    "label": _Walk.label,
    "legend": _Walk.legend,
    "select": _Walk.select,
    "td": _Walk.cell,
    "textarea": _Walk.textarea,
    "th": _Walk.cell,
    "tr": _Walk.row,
}


# ---------------------------------------------------------------------------------------------
# Forms: from controls to fields, from fields to text
# ---------------------------------------------------------------------------------------------


def _finished_form(number: int, raw: _RawForm) -> Form:
    fields: list[Field] = []
    field_at: dict[int, int] = {}
    grouped: dict[tuple[str, str], list[_RawControl]] = {}
    for control in raw.controls:
        if control.kind in ("radio", "checkbox"):
            grouped.setdefault((control.kind, control.name), []).append(control)
    for position, control in enumerate(raw.controls):
        field_at[position] = len(fields)
        members = grouped.get((control.kind, control.name))
        if members is None:
            fields.append(_single_field(control, raw.labels))
        elif members[0] is control:
            is_group = control.kind == "radio" or len(members) > 1
            make = _group_field(members, raw.labels) if is_group else None
            fields.append(make or _single_field(control, raw.labels))
    field_at[len(raw.controls)] = len(fields)
    element = raw.element
    return Form(
        number=number,
        name=element.get("name") or element.get("id") or "form",
        label=raw.label,
        method=raw.method,
        action=raw.action,
        fields=tuple(fields),
        buttons=tuple(
            Button(button.label, button.name, button.value, field_at[position])
            for position, button in raw.buttons
        ),
    )


def _label_of(control: _RawControl, labels: dict[str, str]) -> str:
    label = labels.get(control.element_id, "") if control.element_id else ""
    if not label and control.wrapped_by is not None:
        label = control.wrapped_by.text
    return label or control.aria_label


def _single_field(control: _RawControl, labels: dict[str, str]) -> Field:
    chosen = next((o.value for o in control.options if o.selected), "")
    is_single_select = control.kind == "select" and not control.is_multiple
    return Field(
        name=control.name,
        label=_label_of(control, labels),
        kind=control.kind,
        value=chosen if is_single_select else control.value,
        options=control.options,
        checked=control.is_checked,
        readonly=control.is_readonly,
        multiple=control.is_multiple,
        hidden=control.kind == "hidden",
        disabled=control.is_disabled,
    )


def _group_field(members: list[_RawControl], labels: dict[str, str]) -> Field:
    first = members[0]
    is_radio = first.kind == "radio"
    # Of several checked radio buttons a browser keeps the last.
    last_checked = max((i for i, m in enumerate(members) if m.is_checked), default=-1)
    options = tuple(
        Option(
            value=member.value,
            label=_label_of(member, labels),
            selected=index == last_checked if is_radio else member.is_checked,
            disabled=member.is_disabled,
        )
        for index, member in enumerate(members)
    )
    return Field(
        name=first.name,
        label=first.group.text if first.group is not None else "",
        kind=first.kind,
        value=next((o.value for o in options if o.selected), "") if is_radio else "",
        options=options,
        multiple=not is_radio,
        disabled=all(member.is_disabled for member in members),
    )


def _form_lines(form: Form) -> list[str]:
    lines = [f"[{form.number}] {form.name}" + (f" ({form.label})" if form.label else "")]
    lines += [_field_line(f) for f in form.visible_fields]
    buttons = ", ".join(_quoted(button.label) for button in form.buttons)
    lines.append(f"  buttons: {buttons or '(none)'}")
    return lines


def _field_line(control: Field) -> str:
    name = f"{control.name} ({control.label})" if control.label else control.name
    kind = f"{control.kind} multiple" if control.multiple else control.kind
    line = f"  {name} {kind} = {_shown_value(control)}"
    if control.options:
        options = ", ".join(
            f"{_quoted(o.value)} {_quoted(o.label)}" for o in control.options if not o.disabled
        )
        line += f"; options: {options}"
    if control.disabled:
        return f"{line}; disabled"
    return f"{line}; read-only" if control.readonly else line


def _shown_value(control: Field) -> str:
    if control.kind == "password":
        return '""'
    if control.kind == "checkbox" and not control.options:
        return "on" if control.checked else "off"
    if control.multiple:
        return _quoted(",".join(o.value for o in control.options if o.selected))
    return _quoted(control.value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'.replace("\r", "\\r").replace("\n", "\\n")
