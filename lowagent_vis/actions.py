"""The four actions: how an agent writes them, how they are read, how a prompt explains them.

The rules for reading are the same in every language. Before the action is read, thinking
blocks, one code fence and one leading label (`Action:`) are removed; what is left must be one
action and nothing else.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from lowagent_vis.errors import ActionParseError

_THINKING = re.compile(r"\s*<(think|thinking|reasoning|thought)>.*?</\1>", re.DOTALL | re.I)
# Servers that open the block in the prompt return a reply with its end only.
_THINKING_END = re.compile(r"^.*?</(?:think|thinking|reasoning|thought)>", re.DOTALL | re.I)
_THINKING_START = re.compile(r"<(?:think|thinking|reasoning|thought)>", re.I)
_FENCE = re.compile(r"(```+|~~~+)(?:[A-Za-z]*[ \t]*\r?\n)?(.*?)\s*\1", re.DOTALL)
_LABEL = re.compile(
    r"\*{0,2}(?:(?:next|final) )?(?:action|answer|command)\*{0,2}\s*[:：]\*{0,2}", re.I
)
# One word in another script and a colon: the same label, in the language of the task.
_LOCAL_LABEL = re.compile(r"[^\s\x00-\x7f:：=＝]+\s*[:：](?=\s*[^\W\d_])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_CLOSING_QUOTES = {'"': '"', "'": "'", "＂": "＂", "＇": "＇", "“": "”", "‘": "’"}
_EQUALS, _SEPARATORS = "=＝", ";；"
_MAX_NUMBER = 100_000
_NUMERAL_HUNDRED = 100
_EXAMPLE = 'for example fill 2 q="blue cup"; sort="price_asc"'
_USE_ONE_ACTION = "write one action and nothing else: goto, click, fill or stop"


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
    r"""`fill <n> name="value"; name="value"` sets fields of form n and submits the form.

    Fields that are not named keep their value; without fields the form's button is pressed. A
    field is named by its name or its label. A select or radio takes an option's value or label,
    a check box `on` or `off`, several choices `"1,2"`. In a quoted value `\"` is a quotation
    mark and `\n` a line break. For example `fill 2 q="blue cup"; sort="price_asc"`.
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
            return _stop_text(answer)
        case Fill(form, fields):
            pairs = "; ".join(f"{_name_text(name)}={_quote(value)}" for name, value in fields)
            return f"fill {form} {pairs}".rstrip()


def parse_action(reply: str) -> Action:
    """Read the one action that a reply consists of.

    Raises:
        ActionParseError: It is not one action of the grammar; the message says why.
    """
    text = _unwrapped(reply)
    if not text:
        raise ActionParseError(f"the reply is empty; {_USE_ONE_ACTION}")
    word, *more = text.split(maxsplit=1)
    rest = more[0] if more else ""
    match unicodedata.normalize("NFKC", word).lower():
        case "goto":
            return _parse_goto(rest)
        case "click":
            return Click(_parse_number(rest, "click", "link"))
        case "fill":
            return _parse_fill(rest)
        case "stop":
            return Stop(_without_outer_quotes(rest.rstrip()))
    raise ActionParseError(
        f'the reply does not begin with an action ("{_cut(word)}"); {_USE_ONE_ACTION}'
    )


# ---------------------------------------------------------------------------------------------
# Around the action
# ---------------------------------------------------------------------------------------------


def sendable(text: str) -> str:
    """Replace halves of surrogate pairs; models that copy JSON escapes can leave them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unwrapped(reply: str) -> str:
    """Remove thinking, one label and one code fence, whichever of the two comes first."""
    text = _without_thinking(sendable(reply).lstrip("\ufeff")).strip()
    unlabelled = _without_label(text)
    fence = _FENCE.fullmatch(unlabelled)
    if fence is None:
        return unlabelled
    inside = fence[2].strip()
    return inside if unlabelled != text else _without_label(inside)


def _without_thinking(text: str) -> str:
    rest, block = text, _THINKING.match(text)
    while block is not None:
        rest = rest[block.end() :]
        block = _THINKING.match(rest)
    if rest != text:
        return rest
    if _THINKING_START.match(text.lstrip()):
        raise ActionParseError(f"the reply ends while thinking; {_USE_ONE_ACTION}")
    return _THINKING_END.sub("", text, count=1)


def _without_label(text: str) -> str:
    label = _LABEL.match(text) or _LOCAL_LABEL.match(text)
    return text[label.end() :].strip() if label else text


def _without_outer_quotes(text: str) -> str:
    if len(text) > 1 and _CLOSING_QUOTES.get(text[0]) == text[-1]:
        return text[1:-1]
    return text


def _cut(text: str, limit: int = 40) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


# ---------------------------------------------------------------------------------------------
# goto and numbers
# ---------------------------------------------------------------------------------------------


def _parse_goto(rest: str) -> Goto:
    parts = rest.split()
    if not parts:
        raise ActionParseError("goto takes a path, for example goto /cart")
    if len(parts) > 1:
        raise ActionParseError(
            "goto takes one path and nothing else; a space in a path is written %20"
        )
    return Goto(_without_outer_quotes(parts[0]))


def _parse_number(text: str, action: str, kind: str) -> int:
    token = text.strip()
    prefixed = unicodedata.normalize("NFKC", token)
    if kind == "form":
        prefixed = prefixed.removeprefix("F").removeprefix("f")
    number = _number_of(prefixed)
    if number is None:
        if kind == "link" and prefixed[:1] in "Ff" and _number_of(prefixed[1:]) is not None:
            raise ActionParseError(
                f"{_cut(token)} is a form: use fill {_cut(token)}; click takes the number of a link"
            )
        raise ActionParseError(
            f'{action} takes the number of one {kind}, for example {action} 3, not "{_cut(token)}"'
        )
    return number


def _number_of(digits: str) -> int | None:
    """Return the value of digits of any script, Ethiopic numerals included."""
    if not digits:
        return None
    if digits.isdecimal():
        value = int(digits) if len(digits) <= len(str(_MAX_NUMBER)) else _MAX_NUMBER + 1
        return value if value <= _MAX_NUMBER else None
    if all(unicodedata.name(c, "").startswith("ETHIOPIC ") and c.isnumeric() for c in digits):
        return _ethiopic_value(digits)
    return None


def _ethiopic_value(digits: str) -> int | None:
    """Return the value of a numeral: units and tens add up, hundreds and myriads multiply."""
    total = pending = 0
    for character in digits:
        value = int(unicodedata.numeric(character))
        if value < _NUMERAL_HUNDRED:
            pending += value
        elif value == _NUMERAL_HUNDRED:
            total, pending = total + max(pending, 1) * value, 0
        else:
            total, pending = max(total + pending, 1) * value, 0
    value = total + pending
    return value if value <= _MAX_NUMBER else None


# ---------------------------------------------------------------------------------------------
# fill
# ---------------------------------------------------------------------------------------------


def _parse_fill(rest: str) -> Fill:
    token, *more = rest.split(maxsplit=1)[:2] or [""]
    form = _parse_number(token, "fill", "form")
    fields = tuple(_parse_pairs(more[0].rstrip() if more else ""))
    names = [name for name, _value in fields]
    for name in names:
        if names.count(name) > 1:
            raise ActionParseError(
                f'the field "{_cut(name)}" is named twice; several choices are written "1,2"'
            )
    return Fill(form, fields)


def _parse_pairs(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while (position := _skip(text, position, also=_SEPARATORS)) < len(text):
        name, position = _read_name(text, position)
        value, position = _read_value(text, position)
        yield name, value


def _skip(text: str, position: int, *, also: str = "") -> int:
    while position < len(text) and (text[position].isspace() or text[position] in also):
        position += 1
    return position


def _read_name(text: str, start: int) -> tuple[str, int]:
    """Read a field's name and the equals sign after it."""
    if text[start] in _CLOSING_QUOTES:
        name, position = _read_quoted(text, start)
        position = _skip(text, position)
    else:
        position = start
        while position < len(text) and text[position] not in _EQUALS + _SEPARATORS + "\n":
            position += 1
        name = text[start:position]
    if position >= len(text) or text[position] not in _EQUALS or not name.strip():
        raise ActionParseError(
            f'after the number fill takes name="value", not "{_cut(text[start:])}"; {_EXAMPLE}'
        )
    return name.strip(), position + 1


def _read_value(text: str, start: int) -> tuple[str, int]:
    """Read a value up to the separator after it or the end."""
    begin = start
    while begin < len(text) and text[begin].isspace() and text[begin] != "\n":
        begin += 1
    if begin < len(text) and text[begin] in _CLOSING_QUOTES:
        value, position = _read_quoted(text, begin)
        position = _skip(text, position)
        if position < len(text) and text[position] not in _SEPARATORS:
            raise ActionParseError(
                f'after a quoted value comes ; or the end, not "{_cut(text[position:])}"'
            )
        return value, position + 1
    end = begin
    while end < len(text) and text[end] not in _SEPARATORS:
        end += 1
    value = text[begin:end].strip()
    if "\n" in value:
        raise ActionParseError(
            "a value with a line break must be quoted, and a reply holds one action only"
        )
    return value, end + 1


def _read_quoted(text: str, start: int) -> tuple[str, int]:
    closing = _CLOSING_QUOTES[text[start]]
    value: list[str] = []
    position = start + 1
    while position < len(text):
        character = text[position]
        following = text[position + 1 : position + 2]
        if character == closing:
            return "".join(value), position + 1
        if character == "\\" and following and (following in _ESCAPES or not following.isalnum()):
            value.append(_ESCAPES.get(following, following))
            position += 2
        else:
            value.append(character)
            position += 1
    raise ActionParseError(f'a quotation mark is not closed in "{_cut(text[start:])}"')


# ---------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _name_text(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_.-]+", name) else _quote(name)


def _stop_text(answer: str) -> str:
    is_plain = answer == answer.strip() and answer == _without_outer_quotes(answer)
    text = f"stop {answer}".rstrip() if is_plain else f'stop "{answer}"'
    return f"<think></think>\n{text}" if _THINKING_END.match(text) else text
