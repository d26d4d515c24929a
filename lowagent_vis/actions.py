"""The four actions: how an agent writes them, how they are read, how a prompt explains them."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from lowagent_vis.errors import ActionParseError

_THINKING = re.compile(r"<(think|thinking|reasoning|thought)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n?(.*?)\n?```", re.DOTALL)
_LABEL = re.compile(r"(?:next )?action\s*:\s*", re.IGNORECASE)
_NAME = re.compile(r"(goto|click|fill|stop)(?=[\s:\uff1a]|$)", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
_MAX_NUMBER = 100_000


@dataclass(frozen=True)
class Goto:
    """`goto <path>` opens a path of this site, for example `goto /cart`."""

    name: ClassVar[str] = "goto"
    path: str


@dataclass(frozen=True)
class Click:
    """`click <n>` follows link n, for example `click 12`."""

    name: ClassVar[str] = "click"
    number: int


@dataclass(frozen=True)
class Fill:
    """`fill <n> name="value"; name="value"` sets fields of form n and submits the form.

    Fields that are not named keep their value; without fields the form's button is pressed. A
    select or radio takes an option's value or label, a check box `on` or `off`, several choices
    `"1,2"`. For example `fill 2 q="blue cup"; sort="price_asc"`.
    """

    name: ClassVar[str] = "fill"
    form: int
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Stop:
    """`stop <answer>` ends the task; the answer may be empty; `stop N/A`: it cannot be done."""

    name: ClassVar[str] = "stop"
    answer: str


Action = Goto | Click | Fill | Stop
ACTIONS: tuple[type[Action], ...] = (Goto, Click, Fill, Stop)


def grammar_prompt() -> str:
    """Return the grammar as a prompt states it: one entry per action."""
    return "\n".join(f"- {' '.join((action.__doc__ or '').split())}" for action in ACTIONS)


def action_to_text(action: Action) -> str:
    """Return an action as an agent would write it; `parse_action` reads it back."""
    match action:
        case Goto(path):
            return f"goto {path}"
        case Click(number):
            return f"click {number}"
        case Stop(answer):
            return f"stop {_quote(answer)}" if _needs_quotes(answer) else f"stop {answer}".strip()
        case Fill(form, fields):
            pairs = "; ".join(f"{name}={_quote(value)}" for name, value in fields)
            return f"fill {form} {pairs}".strip()


def parse_action(reply: str) -> Action:
    """Read the one action that a reply consists of.

    Thinking blocks, one code fence and one leading label are removed; then the whole reply must
    be the action.

    Raises:
        ActionParseError: It is not one action of the grammar; the message says why.
    """
    text = _unwrapped(reply)
    if not text:
        raise ActionParseError("the reply is empty; write one action: goto, click, fill or stop")
    found = _NAME.match(text)
    if found is None:
        raise ActionParseError(
            "the reply must be exactly one action that begins with goto, click, fill or stop"
        )
    name, rest = found[1].lower(), text[found.end() :].lstrip(":\uff1a").strip()
    if name == "stop":
        return Stop(_unquoted(rest))
    if name == "goto":
        return _parse_goto(rest)
    if name == "click":
        return Click(_parse_number(rest, "click", "link"))
    return _parse_fill(rest)


def _unwrapped(reply: str) -> str:
    text = _THINKING.sub("", reply).strip()
    fence = _FENCE.fullmatch(text)
    if fence is not None:
        text = fence[1].strip()
    elif text.startswith("`") and text.endswith("`") and len(text) > 2:
        text = text.strip("`").strip()
    label = _LABEL.match(text)
    return text[label.end() :].strip() if label else text


def _parse_goto(rest: str) -> Goto:
    path = _unquoted(rest)
    if not path:
        raise ActionParseError("goto needs a path, for example goto /cart")
    if len(path.split()) > 1:
        raise ActionParseError("goto takes one path and nothing else")
    return Goto(path)


def _parse_number(text: str, action: str, kind: str) -> int:
    plain = _ascii_digits(text).strip("[]().")
    if kind == "form":
        plain = plain.removeprefix("F").removeprefix("f")
    if not plain.isascii() or not plain.isdigit() or int(plain) > _MAX_NUMBER:
        raise ActionParseError(f"{action} takes the number of one {kind}, for example {action} 3")
    return int(plain)


def _ascii_digits(text: str) -> str:
    """Map full-width characters and the digits of every script to ASCII."""
    text = unicodedata.normalize("NFKC", text).strip()
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _parse_fill(rest: str) -> Fill:
    number, _space, pairs = rest.partition(" ")
    if "\n" in number:
        number, _newline, more = number.partition("\n")
        pairs = f"{more} {pairs}"
    form = _parse_number(number, "fill", "form")
    fields = tuple(_parse_pairs(pairs.strip()))
    names = [name for name, _value in fields]
    if len(names) != len(set(names)):
        raise ActionParseError("a field is named twice; several choices are written name=\"1,2\"")
    return Fill(form, fields)


def _parse_pairs(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        equals = _find_equals(text, position)
        name = _unquoted(text[position:equals].strip())
        if not name:
            raise ActionParseError('fill takes pairs such as name="value"; a name is missing')
        value, position = _read_value(text, equals + 1)
        yield name, value


def _find_equals(text: str, start: int) -> int:
    places = [p for p in (text.find("=", start), text.find("\uff1d", start)) if p >= 0]
    if not places:
        raise ActionParseError('after the form\'s number fill takes pairs such as name="value"')
    return min(places)


def _read_value(text: str, start: int) -> tuple[str, int]:
    """Return a value and where the next pair begins."""
    while start < len(text) and text[start] in " \t":
        start += 1
    if start < len(text) and text[start] in _QUOTES:
        value, end = _read_quoted(text, start)
        rest = text[end:].lstrip()
        if rest and rest[0] not in ";\uff1b\n":
            raise ActionParseError("after a quoted value comes ; or the end")
        skipped = len(text) - len(rest)
        return value, skipped + 1 if rest else len(text)
    ends = [p for p in (text.find(";", start), text.find("\uff1b", start)) if p >= 0]
    newline = text.find("\n", start)
    if newline >= 0 and re.match(r"\n\s*[^\s=;]+\s*=", text[newline:]):
        ends.append(newline)
    end = min(ends, default=len(text))
    return text[start:end].strip(), end + 1


def _read_quoted(text: str, start: int) -> tuple[str, int]:
    closing = _QUOTES[text[start]]
    value, position = [], start + 1
    while position < len(text):
        character = text[position]
        if character == "\\" and position + 1 < len(text):
            following = text[position + 1]
            value.append({"n": "\n", "t": "\t"}.get(following, following))
            position += 2
            continue
        if character == closing:
            return "".join(value), position + 1
        value.append(character)
        position += 1
    raise ActionParseError("a quotation mark is not closed")


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1]:
        inner = text[1:-1]
        if text[0] in "\"'":
            return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), inner, flags=re.DOTALL)
        return inner
    return text


def _needs_quotes(answer: str) -> bool:
    return answer != _unquoted(answer) or answer != answer.strip() or "```" in answer


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
