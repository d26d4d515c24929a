"""Languages as data: one file each in `assets/languages`; no module knows a language by name."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.paths import data_dir

WESTERN_DIGITS = "0123456789"


@dataclass(frozen=True)
class Currency:
    """How money is shown.

    Attributes:
        code: ISO 4217.
        symbol: As printed.
        pattern: `{symbol}` and `{amount}` in their order.
        decimals: Decimal places shown.
        rate: Local units per US dollar, a multiple of ten (one for the dollar itself).
        words: Other ways to name it in a typed amount.
    """

    code: str
    symbol: str
    pattern: str
    decimals: int
    rate: int
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchFolds:
    """Letters that search takes as equal; see `lowagent_sites.common.text`.

    Attributes:
        replace: Sequence to replacement, in order.
        nasals: Consonant to the nasal of its class: nasal + virama before it is an anusvara.
    """

    replace: tuple[tuple[str, str], ...] = ()
    virama: str = ""
    anusvara: str = ""
    nasals: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Language:
    """All that differs between languages.

    Attributes:
        digits: The ten digits shown, zero first.
        grouping: Groups of three (`western`) or three, then two (`indian`).
        port_index: Last digit of the port of a server in this language.
        baseline: The language that others are compared with; its texts are the msgids.
        selectable: False for the pseudo-language, which tests alone use.
        font_family: Of running text; `code_font_family` of codes, dates and amounts, where it
            differs. Both are lists for style sheets.
        word_spacing_em: Added to the space between words.
        line_height: Of running text; `heading_line_height` of headings, whose lines are few.
        plural: The gettext plural rule in C, with the number of forms.
        content: The language whose texts fill the databases; the pseudo-language borrows one.
        message_brackets: Put around every interface text by the pseudo-language.
    """

    code: str
    name: str
    english_name: str
    direction: Literal["ltr", "rtl"]
    digits: str
    grouping: Literal["western", "indian"]
    group_separator: str
    decimal_separator: str
    percent: str
    currency: Currency
    font_family: str
    code_font_family: str
    word_spacing_em: float
    body_px: int
    line_height: float
    heading_line_height: float
    script: str
    port_index: int
    baseline: bool
    selectable: bool
    plural: str
    content: str
    message_brackets: tuple[str, str] | None
    search: SearchFolds

    def __post_init__(self) -> None:
        """Refuse a file that would show wrong numbers or pages.

        Raises:
            ValueError: A value is none of those that the sites can show.
        """
        checks = {
            "digits": len(self.digits) == len(set(self.digits)) == len(WESTERN_DIGITS)
            and self.digits.isdecimal(),
            "direction": self.direction in {"ltr", "rtl"},
            "grouping": self.grouping in {"western", "indian"},
            "currency.rate": self.currency.rate == 1 or self.currency.rate % 10 == 0,
        }
        wrong = [name for name, is_right in checks.items() if not is_right]
        if wrong:
            raise ValueError(f"language {self.code}: bad {', '.join(wrong)}")

    def with_western_digits(self) -> "Language":
        """Return this language with the digits 0 to 9."""
        return replace(self, digits=WESTERN_DIGITS)


@cache
def load_languages() -> Mapping[str, Language]:
    """Return all languages by code, the pseudo-language included."""
    found = {}
    for path in sorted((data_dir("assets") / "languages").glob("*.toml")):
        language = _read(tomllib.loads(path.read_text("utf-8")), path.stem)
        found[language.code] = language
    return found


def selectable_languages() -> tuple[Language, ...]:
    """Return the languages that a user can choose, in the order of their port index."""
    chosen = (language for language in load_languages().values() if language.selectable)
    return tuple(sorted(chosen, key=lambda language: language.port_index))


def baseline_language() -> Language:
    """Return the language that others are compared with."""
    return next(language for language in selectable_languages() if language.baseline)


def get_language(code: str) -> Language:
    """Return the language `code`.

    Raises:
        UnknownNameError: There is none; the message lists the selectable ones.
    """
    languages = load_languages()
    if code not in languages:
        raise unknown_name("language", code, (known.code for known in selectable_languages()))
    return languages[code]


def _read(data: Mapping[str, Any], code: str) -> Language:
    folds = data.get("search", {})
    brackets = data.get("message_brackets")
    return Language(
        code=code,
        name=data["name"],
        english_name=data["english_name"],
        direction=data["direction"],
        digits=data["digits"],
        grouping=data["grouping"],
        group_separator=data["group_separator"],
        decimal_separator=data["decimal_separator"],
        percent=data["percent"],
        currency=Currency(
            code=data["currency"]["code"],
            symbol=data["currency"]["symbol"],
            pattern=data["currency"]["pattern"],
            decimals=data["currency"]["decimals"],
            rate=data["currency"]["rate"],
            words=tuple(data["currency"].get("words", ())),
        ),
        font_family=data["font_family"],
        code_font_family=data.get("code_font_family", data["font_family"]),
        word_spacing_em=data.get("word_spacing_em", 0),
        body_px=data["body_px"],
        line_height=data["line_height"],
        heading_line_height=data["heading_line_height"],
        script=data["script"],
        port_index=data["port_index"],
        baseline=data.get("baseline", False),
        selectable=data.get("selectable", True),
        plural=data["plural"],
        content=data.get("content", code),
        message_brackets=(brackets[0], brackets[1]) if brackets else None,
        search=SearchFolds(
            replace=tuple((pair[0], pair[1]) for pair in folds.get("replace", ())),
            virama=folds.get("virama", ""),
            anusvara=folds.get("anusvara", ""),
            nasals=tuple(
                (consonant, nasal)
                for nasal, consonants in folds.get("nasals", {}).items()
                for consonant in consonants
            ),
        ),
    )
