"""Numbers and money as the sites show and read them (`common.md` 6)."""

import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

import regex

from lowagent_sites.common.languages import WESTERN_DIGITS, Currency, Language

_MAX_DIGITS = 12
_GRID_CENTS = 10
_INVISIBLE = regex.compile(r"[\s\u00a0\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_GROUP_MARKS = regex.compile("(?<=[0-9])[,\u066c\u2019](?=[0-9])")
_PLAIN = regex.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
# NFKC would read a small raised 2 as the digit 2: a hundred squared would become 1002.
_NOT_IN_LINE = ("<super>", "<sub>", "<circle>", "<fraction>")


class NumberProblem(ValueError):  # noqa: N818 - it is the person's typing, not a fault
    """What was typed is no such number; `kind` is `number` or `whole`."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def localize_digits(text: str, language: Language) -> str:
    """Return `text` with the digits 0 to 9 in the language's own."""
    return text.translate(str.maketrans(WESTERN_DIGITS, language.digits))


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
    return format_local_amount(local_amount(cents, language), language)


def format_local_amount(local: Decimal, language: Language) -> str:
    """Return an amount in units of the language's currency, symbol included."""
    currency = language.currency
    amount = format_decimal(abs(local), currency.decimals, language)
    text = currency.pattern.format(symbol=currency.symbol, amount=amount)
    return f"-{text}" if local < 0 else text


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


def parse_local_amount(text: str, language: Language) -> Decimal:
    """Read an amount in units of the language's currency.

    Raises:
        NumberProblem: It is no amount, or has more decimals than the currency shows.
    """
    local = parse_number(text, language)
    decimals = language.currency.decimals
    if local != round(local, decimals):
        raise NumberProblem("number" if decimals else "whole")
    return local


def parse_money(text: str, language: Language) -> int:
    """Read an amount in local units and return US cents, rounded half up, as it is stored.

    A bound of a filter is rounded by `cents_at_least` and `cents_at_most` instead.

    Raises:
        NumberProblem: It is no amount.
    """
    return _to_cents(parse_local_amount(text, language), language, ROUND_HALF_UP)


def cents_at_least(local: Decimal, language: Language) -> int:
    """Return the fewest US cents that are worth `local` or more: a filter's lower bound."""
    return _to_cents(local, language, ROUND_CEILING)


def cents_at_most(local: Decimal, language: Language) -> int:
    """Return the most US cents that are worth `local` or less: a filter's upper bound."""
    return _to_cents(local, language, ROUND_FLOOR)


def round_down_to_grid(cents: Decimal) -> int:
    """Round an amount down to the 10-cent grid, as discounts are."""
    return _round_to_grid(cents, ROUND_FLOOR)


def round_up_to_grid(cents: Decimal) -> int:
    """Round an amount up to the 10-cent grid, as taxes and charges are."""
    return _round_to_grid(cents, ROUND_CEILING)


def round_half_up_to_grid(cents: Decimal) -> int:
    """Round an amount to the nearest point of the 10-cent grid, as instalments are."""
    return _round_to_grid(cents, ROUND_HALF_UP)


def _round_to_grid(cents: Decimal, rounding: str) -> int:
    return int((cents / _GRID_CENTS).to_integral_value(rounding)) * _GRID_CENTS


def _to_cents(local: Decimal, language: Language, rounding: str) -> int:
    return int((local * 100 / language.currency.rate).to_integral_value(rounding))


def _group(digits: str, language: Language) -> str:
    head, tail = digits[:-3], digits[-3:]
    size = 2 if language.grouping == "indian" else 3
    groups = [tail]
    while head:
        groups.insert(0, head[-size:])
        head = head[:-size]
    return language.group_separator.join(groups)


def _to_plain(text: str, language: Language) -> str:
    if any(unicodedata.decomposition(character).startswith(_NOT_IN_LINE) for character in text):
        raise NumberProblem("number")
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    plain = _without_currency(plain, language.currency)
    plain = "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in plain
    )
    return _GROUP_MARKS.sub("", plain).replace("\u066b", ".")


def _without_currency(text: str, currency: Currency) -> str:
    """Take the currency's names off both ends, the full stop of an abbreviation with them."""
    names = "|".join(_names(currency))
    text = regex.sub(f"^(?:{names})+", "", text, flags=regex.IGNORECASE)
    return regex.sub(f"(?:{names})+$", "", text, flags=regex.IGNORECASE)


def _names(currency: Currency) -> Iterable[str]:
    """Return patterns of all names of a currency, the longest first, as they are after NFKC."""
    names = {currency.symbol, currency.code, *currency.words}
    for name in sorted({unicodedata.normalize("NFKC", name) for name in names}, key=len)[::-1]:
        # "Rs." is an abbreviation; the point of "$.50" belongs to the number.
        is_abbreviation = name.isalpha() and name != currency.code
        yield regex.escape(name) + (r"\.?" if is_abbreviation else "")
