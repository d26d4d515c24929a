"""Normalisation of text for comparison, shared by the evaluator and the task builder.

The order of the steps follows Unicode's own traps: NFC first (a hamza falls apart otherwise),
compatibility forms only where they keep the value (`10²` must not become 102), joiners only after
the sequences that need them. What differs by language is data: `assets/languages/answers/`.
"""

import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.paths import data_dir
from lowagent_vis.errors import UserError

MONTHS_PER_YEAR = 12

# Compatibility forms whose plain form has another value (superscript two is not a two).
_KEPT_COMPATIBILITY = frozenset({"<super>", "<sub>", "<fraction>", "<circle>", "<square>"})
_IGNORABLE = regex.compile(
    "[\u00ad\u034f\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff]"
)
_SURROGATE = regex.compile("[\ud800-\udfff]")
_DASH = regex.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_SINGLE_QUOTE = regex.compile("[\u2018\u2019\u201a\u201b\u2032\u00b4]")
_DOUBLE_QUOTE = regex.compile("[\u201c-\u201f\u00ab\u00bb\u2033]")
_SLASH = regex.compile("[\u060d\u2215\u2044]")
_ETHIOPIC_NUMERAL = regex.compile("[\u1369-\u137c]+")
_TIMES = regex.compile(r"(?<=\d)\s*[×✕*xX]\s*(?=\d)")
_MARKDOWN = regex.compile(r"[*`~\\]|(?<![\p{L}\p{M}\p{N}])_+|_+(?![\p{L}\p{M}\p{N}])")
_SPACE = regex.compile(r"\s+")
_PLAIN = str.maketrans({"\u066a": "%", "\u066b": ".", "\u066c": ","})


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LetterFold(_Data):
    """Letters that one writes for another: `from_[i]` becomes `to[i]`."""

    from_: str = Field(alias="from")
    to: str


class PatternFold(_Data):
    """A regular expression of letters and what replaces it."""

    find: str
    replace: str


class AnswerLanguage(_Data):
    """How answers in one language are read; `assets/languages/answers/en.toml` explains it."""

    date_order: Literal["dmy", "mdy"]
    left_affixes: tuple[str, ...]
    right_affixes: tuple[str, ...]
    negations: tuple[str, ...]
    negation_patterns: tuple[str, ...] = ()
    disjunctions: tuple[str, ...]
    bounds: tuple[str, ...]
    conjunctions: tuple[str, ...]
    percent_words: tuple[str, ...]
    scales: tuple[str, ...]
    am_markers: tuple[str, ...]
    pm_markers: tuple[str, ...]
    hour_words: tuple[str, ...]
    minute_words: tuple[str, ...]
    day_suffixes: tuple[str, ...]
    relative_days: tuple[str, ...]
    months: tuple[tuple[str, ...], ...] = Field(
        min_length=MONTHS_PER_YEAR, max_length=MONTHS_PER_YEAR
    )
    number_words: tuple[str, ...]
    sequences: Mapping[str, str] = {}
    letters: tuple[LetterFold, ...] = ()
    patterns: tuple[PatternFold, ...] = ()
    currencies: Mapping[str, tuple[str, ...]]
    magnitudes: Mapping[str, int]


@cache
def answer_languages() -> Mapping[str, AnswerLanguage]:
    """Return the answer rules of all languages by BCP 47 code."""
    folder = data_dir("assets") / "languages" / "answers"
    return {path.stem: _read_language(path) for path in sorted(folder.glob("*.toml"))}


def _read_language(path: Path) -> AnswerLanguage:
    try:
        return AnswerLanguage.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        first = str(error).splitlines()[0]
        raise UserError(f"{path.name}: {first}; compare it with en.toml") from error


def answer_language(language: str) -> AnswerLanguage:
    """Return the answer rules of `language`.

    Raises:
        UnknownNameError: There is no file for it.
    """
    known = answer_languages()
    if language not in known:
        raise unknown_name("language of answers", language, known)
    return known[language]


def normalize_text(text: str, *, language: str) -> str:
    """Return `text` in the form in which answers are compared.

    Digits are ASCII, letters folded by the rules of `language`, invisible characters, emphasis
    signs and case gone, white space single. Signs, separators and units stay: what they mean
    depends on the type of the answer.
    """
    own = answer_language(language)
    text = _SURROGATE.sub("\ufffd", text)
    for sequence, letter in own.sequences.items():
        text = text.replace(sequence, letter)
    text = _IGNORABLE.sub("", text)
    text = unicodedata.normalize("NFC", text)
    text = unicodedata.normalize("NFC", "".join(map(_compatible, text)))
    text = _fold_ethiopic_wordspace(text)
    text = _IGNORABLE.sub("", text)
    text = "".join(map(_ascii_digit, text))
    text = _ETHIOPIC_NUMERAL.sub(_ethiopic_number, text)
    text = _fold_punctuation(text)
    text = _fold_letters(text, own)
    text = _MARKDOWN.sub(" ", text)
    return _SPACE.sub(" ", text).strip().casefold()


def normalize_words(words: Iterable[str], *, language: str) -> tuple[str, ...]:
    """Return the different normalised forms of `words`, the longest first."""
    forms = {normalize_text(word, language=language) for word in words} - {""}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


@lru_cache(maxsize=4096)
def _compatible(character: str) -> str:
    decomposition = unicodedata.decomposition(character)
    if not decomposition.startswith("<") or decomposition.split()[0] in _KEPT_COMPATIBILITY:
        return character
    return unicodedata.normalize("NFKC", character)


def _ascii_digit(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _fold_ethiopic_wordspace(text: str) -> str:
    text = text.replace("\u1361\u1361", "\u1362")
    text = regex.sub(r"(?<=\d)\u1361(?=\d)", ":", text)
    return text.replace("\u1361", " ")


def _ethiopic_number(match: regex.Match[str]) -> str:
    value = parse_ethiopic_number(match.group())
    return match.group() if value is None else str(value)


def parse_ethiopic_number(numeral: str) -> int | None:
    """Return the value of a number in Ethiopic numerals, or None if it is not well formed.

    Tens and units add up below a hundred; the signs for a hundred and ten thousand multiply what
    stands before them, or one. Units are never positional: the signs 1 and 2 are not twelve.
    """
    hundred, myriad = "\u137b", "\u137c"
    total = 0
    for index, group in enumerate(reversed(numeral.split(myriad))):
        high, has_hundred, low = group.rpartition(hundred)
        if hundred in high:
            return None
        is_leading = index > 0 and not group
        hundreds = _below_hundred(high) if high else int(bool(has_hundred))
        rest = 1 if is_leading else _below_hundred(low) if low else 0
        if hundreds is None or rest is None:
            return None
        total += (hundreds * 100 + rest) * 10_000**index
    return total


def _below_hundred(numeral: str) -> int | None:
    values = [int(unicodedata.numeric(sign)) for sign in numeral]
    match values:
        case [value]:
            return value
        case [tens, unit] if tens >= 10 > unit:
            return tens + unit
        case _:
            return None


def _fold_punctuation(text: str) -> str:
    text = _DASH.sub("-", text)
    text = _SINGLE_QUOTE.sub("'", text)
    text = _DOUBLE_QUOTE.sub('"', text)
    text = _SLASH.sub("/", text)
    text = regex.sub(r"(?<=\d)\u060c(?=\d)", ",", text)
    text = regex.sub(r"(?<=\d)\u06d4(?=\d)", ".", text)
    return _TIMES.sub("x", text.translate(_PLAIN))


def _fold_letters(text: str, own: AnswerLanguage) -> str:
    for fold in own.letters:
        text = text.translate(str.maketrans(fold.from_, fold.to))
    for pattern in own.patterns:
        text = regex.sub(pattern.find, pattern.replace, text)
    return text
