"""Numbers and money as the sites show and read them (`common.md` 6)."""

import unicodedata
from decimal import ROUND_HALF_UP, Decimal

import regex

from lowagent_sites.common.languages import Language

_MAX_DIGITS = 12
_GRID_CENTS = 10
_INVISIBLE = regex.compile(r"[\s\u00a0\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_GROUP_MARKS = regex.compile("(?<=[0-9])[,\u066c\u2019](?=[0-9])")
_PLAIN = regex.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|[+-]?\.[0-9]+")


class NumberProblem(ValueError):  # noqa: N818 - it is the person's typing, not a fault
    """What was typed is no such number; `kind` is `number` or `whole`."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def localize_digits(text: str, language: Language) -> str:
    """Return `text` with the digits 0 to 9 in the language's own."""
    return text.translate(str.maketrans("0123456789", language.digits))


def format_integer(value: int, language: Language) -> str:
    """Return a grouped whole number in the language's digits."""
    sign = "-" if value < 0 else ""
    return localize_digits(sign + _group(str(abs(value)), language), language)


def format_decimal(value: Decimal, places: int, language: Language) -> str:
    """Return a number rounded half up to `places` decimals."""
    rounded = value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    whole, _, fraction = str(abs(rounded)).partition(".")
    text = _group(whole, language) + (language.decimal_separator + fraction if fraction else "")
    return localize_digits(("-" if rounded < 0 else "") + text, language)


def local_amount(cents: int, language: Language) -> Decimal:
    """Return US cents in units of the language's currency; exact on the 10-cent grid."""
    return Decimal(cents) * language.currency.rate / 100


def format_money(cents: int, language: Language) -> str:
    """Return an amount of US cents in the language's currency, symbol included."""
    currency = language.currency
    amount = format_decimal(local_amount(cents, language), currency.decimals, language)
    return currency.pattern.format(symbol=currency.symbol, amount=amount)


def parse_number(text: str, language: Language, *, allow_sign: bool = False) -> Decimal:
    """Read a number typed in any digits (`common.md` 6.4).

    Raises:
        NumberProblem: It is none.
    """
    plain = _to_plain(text, language)
    if not _PLAIN.fullmatch(plain) or (plain[0] in "+-" and not allow_sign):
        raise NumberProblem("number")
    if sum(character.isdigit() for character in plain) > _MAX_DIGITS:
        raise NumberProblem("number")
    return Decimal(plain)


def parse_whole(text: str, language: Language, *, allow_sign: bool = False) -> int:
    """Read a whole number.

    Raises:
        NumberProblem: It is none.
    """
    try:
        number = parse_number(text, language, allow_sign=allow_sign)
    except NumberProblem as problem:
        raise NumberProblem("whole") from problem
    if number != number.to_integral_value():
        raise NumberProblem("whole")
    return int(number)


def parse_money(text: str, language: Language) -> int:
    """Read an amount in local units and return US cents, rounded half up.

    Raises:
        NumberProblem: It is no amount.
    """
    local = parse_number(text, language)
    return int((local * 100 / language.currency.rate).to_integral_value(ROUND_HALF_UP))


def round_down_to_grid(cents: Decimal) -> int:
    """Round an amount down to the 10-cent grid, as discounts are."""
    return int(cents // _GRID_CENTS) * _GRID_CENTS


def _group(digits: str, language: Language) -> str:
    head, tail = digits[:-3], digits[-3:]
    size = 2 if language.grouping == "indian" else 3
    groups = [tail]
    while head:
        groups.insert(0, head[-size:])
        head = head[:-size]
    return language.group_separator.join(groups)


def _to_plain(text: str, language: Language) -> str:
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    currency = language.currency
    for word in sorted({currency.symbol, currency.code, *currency.words}, key=len, reverse=True):
        plain = plain.replace(word, "")
    plain = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in plain
    )
    return _GROUP_MARKS.sub("", plain).replace("\u066b", ".")
