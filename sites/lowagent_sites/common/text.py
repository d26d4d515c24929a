"""Typed text: cleaned before it is stored, folded before it is searched."""

import unicodedata
from collections.abc import Iterable

import regex

from lowagent_sites.common.languages import Language

_CONTROL = regex.compile(r"[\p{Cc}--\n]", regex.V1)
_BIDI = regex.compile("[\u202a-\u202e\u2066-\u2069]")
_BLANK_LINES = regex.compile(r"\n{4,}")
_NOTHING = regex.compile(r"[\s\p{Cf}\p{Cc}]*")
_UNSEEN = regex.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u0300-\u036f]"
)
_PUNCTUATION = regex.compile(r"[\p{P}\p{S}--\u0950]", regex.V1)
_MAX_QUERY = 100


def clean_line(text: str) -> str:
    """Return one line as it is stored: NFC, no control characters, spaces collapsed."""
    return " ".join(clean_block(text).split())


def clean_block(text: str) -> str:
    """Return text of several lines as it is stored (`common.md` 13)."""
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    text = _BIDI.sub("", _CONTROL.sub("", text))
    text = _BLANK_LINES.sub("\n\n\n", text).strip()
    return "" if _NOTHING.fullmatch(text) else text


def fold(text: str, language: Language) -> str:
    """Return text in the form in which search compares it (`common.md` 6.6, steps 1 to 5)."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = _UNSEEN.sub("", text)
    text = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in text
    )
    text = _PUNCTUATION.sub(" ", text)
    folds = language.search
    for old, new in folds.replace:
        text = text.replace(old, new)
    for consonant, nasal in folds.nasals:
        text = text.replace(nasal + folds.virama + consonant, folds.anusvara + consonant)
    return " ".join(text.split())


def search_text(parts: Iterable[str], language: Language) -> str:
    """Return the searchable column of a record: ` tok tok … `, each token once."""
    tokens = dict.fromkeys(" ".join(fold(part, language) for part in parts).split())
    return f" {' '.join(tokens)} "


def query_tokens(query: str, language: Language) -> list[str]:
    """Return the tokens of a query, of which each must begin a token of a record."""
    return fold(query[:_MAX_QUERY], language).split()


def like_pattern(token: str) -> str:
    r"""Return the `LIKE` pattern (escape character `\`) that finds a token's beginning."""
    escaped = token.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"% {escaped}%"
