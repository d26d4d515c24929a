"""Typed values in a normalised text: numbers, amounts, dates, months, times and durations.

Each reader returns every value of its type that the text names. Before a count is looked for,
what only looks like one is blanked: dates, clock times, ranges, codes, zero-led runs, the scale
of a rating (5 must not be found in 14:05, nor 102 in SA-102).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache

import regex

from lowagent_vis.evaluation.vocabulary import (
    LETTER,
    RIGHT_EDGE,
    Pattern,
    Vocabulary,
    vocabulary,
)

BLANK = "\ufffc"
"""Stands for what is no number; neither letter, digit, space nor punctuation."""

MINUTES_PER_HOUR = 60
_NOON_HOUR = 12

_YEAR = r"(?<!\d)(?P<year>\d{4})(?!\d)"
_DATE_GAP = r"[ ,،፣.]*"
_NUMBER_RUN = regex.compile(r"\d(?:[\d.,]*\d)?")
_WELL_FORMED = regex.compile(r"(?:\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:,\d{2})*,\d{3})(?:\.\d+)?")
_ZERO_LED = regex.compile(r"0\d")
_ISO_DATE = regex.compile(
    r"(?<![\d-])(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?![\d-])"
)
_SHORT_DATE = regex.compile(
    r"(?<![\d/.-])(?P<first>\d{1,2})(?P<sep>[/.-])(?P<second>\d{1,2})(?P=sep)(?P<year>\d{4})"
    r"(?![\d/-])"
)
_CLOCK = r"(?<![\d:.,])(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?::\d{2})?(?![\d:]|[.,]\d)"
_COLON_TIME = regex.compile(r"(?<![\d:])\d{1,3}:\d{2}(?::\d{2})?(?![\d:])")
_RATING = regex.compile(r"(?<![\d./,])(?P<value>\d+(?:\.\d+)?) ?/ ?(?:5|10)(?![\d/]|[.,]\d)")
_FRACTION = regex.compile(r"\d[\d.,]* ?/ ?\d[\d.,]*(?:/\d+)*")
_RANGE = regex.compile(r"(?<!\d)\d[\d.,]*-\d[\d.,]*(?:-\d+)*")
_LATIN_TOKEN = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}])[a-z0-9]+(?:[-_][a-z0-9]+)*(?![\p{L}\p{M}\p{N}])"
)
_COMPOUND = regex.compile(r"\d+-[a-z]{3,}")
"""`36-month`: a number with its unit, no code."""
_GLUED = regex.compile(r"[a-z]{1,2}(?![\p{L}\p{M}])")
"""A unit or a magnitude at a number: `36k`, `1.5l`."""
_WORD_BEFORE = regex.compile(r"([\p{L}\p{M}]+)[\s,،፣-]*$")
_WORD_AFTER = regex.compile(r"[\s-]*([\p{L}\p{M}]+)")
_CODE = regex.compile(r"[a-z]+(?:[-_][a-z]+)*[-_]?\d.*|\d+[-_][a-z].*|\d+[a-z]+[-_]?\d.*")


@dataclass(frozen=True)
class NumberToken:
    """A number in a text.

    Attributes:
        value: The number, after a magnitude word.
        is_percent: A percent sign or word belongs to it.
        is_money: A currency stands beside it.
        start: Index of its first character.
        end: Index behind its last character.
    """

    value: Decimal
    is_percent: bool
    is_money: bool
    start: int
    end: int


def find_numbers(text: str, words: Vocabulary) -> tuple[NumberToken, ...]:
    """Return the numbers of a normalised text, dates, times, codes and scales left out."""
    masked = _mask(text, words)
    runs = list(_runs(masked, words))
    return tuple(_join_magnitudes(runs, masked, words))


def neighbours(token: NumberToken, text: str) -> frozenset[tuple[str, str]]:
    """Return the words right before and right behind a number of a text."""
    before = _WORD_BEFORE.search(text[: token.start])
    after = _WORD_AFTER.match(text, token.end)
    found = [("before", before[1])] if before else []
    return frozenset([*found, ("after", after[1])] if after else found)


def currencies_named(text: str, words: Vocabulary) -> tuple[frozenset[str], ...]:
    """Return, for each currency word of the text, the ISO codes that it can mean."""
    return tuple(
        words.currency_codes[match.group("word")] for match in words.currency.finditer(text)
    )


def find_dates(text: str, words: Vocabulary) -> frozenset[date]:
    """Return the Gregorian dates that a text names."""
    return frozenset(found for _, found in _dates(text, words) if found is not None)


def find_months(text: str, words: Vocabulary) -> frozenset[tuple[int, int]]:
    """Return the (year, month) pairs that a text names without a day."""
    masked = _blank(text, [match.span() for match, _ in _dates(text, words)])
    found: set[tuple[int, int]] = set()
    for pattern in _month_patterns(words.language):
        for match in pattern.finditer(masked):
            groups = match.groupdict()
            number = words.month_number.get(groups.get("name") or "") or int(groups["month"] or 0)
            if 1 <= number <= len(set(words.month_number.values())):
                found.add((int(groups["year"]), number))
    return frozenset(found)


def find_times(text: str, words: Vocabulary) -> tuple[int, ...]:
    """Return the clock times of a text in minutes since midnight, in order."""
    masked = _blank(text, [match.span() for match, _ in _dates(text, words)])
    minutes = (_minute_of_day(match) for match in _time_pattern(words.language).finditer(masked))
    return tuple(minute for minute in minutes if minute is not None)


def find_durations(text: str, words: Vocabulary) -> frozenset[int]:
    """Return the durations of a text in minutes: `9:30`, or hours and minutes in words."""
    found: set[int] = set()
    for match in _duration_pattern(words.language).finditer(text):
        hours, minutes = match.group("hours"), match.group("minutes")
        found.add(int(hours or 0) * MINUTES_PER_HOUR + int(minutes or 0))
    for match in _COLON_TIME.finditer(text):
        hours, minutes = match.group().split(":")[:2]
        found.add(int(hours) * MINUTES_PER_HOUR + int(minutes))
    return frozenset(found)


def find_codes(text: str) -> tuple[str, ...]:
    """Return the tokens of Latin letters and digits, hyphens inside, of a normalised text."""
    return tuple(match.group() for match in _LATIN_TOKEN.finditer(text))


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + BLANK * (end - start) + text[end:]
    return text


def _mask(text: str, words: Vocabulary) -> str:
    text = _blank(text, [match.span() for match, _ in _dates(text, words)])
    for scale in words.scales:
        text = _blank(text, [match.span("scale") for match in scale.finditer(text)])
    text = _blank(text, [m.span() for m in _COLON_TIME.finditer(text)])
    text = _blank(text, [(m.end("value"), m.end()) for m in _RATING.finditer(text)])
    for pattern in (_FRACTION, _RANGE):
        text = _blank(text, [match.span() for match in pattern.finditer(text)])
    codes = [
        match.span() for match in _LATIN_TOKEN.finditer(text) if _is_code(match.group(), words)
    ]
    return _blank(text, codes)


def _is_code(token: str, words: Vocabulary) -> bool:
    if not _CODE.fullmatch(token) or _COMPOUND.fullmatch(token):
        return False
    letters = regex.match("[a-z]*", token)
    return not (letters and letters.group() in words.currency_codes)


def _runs(text: str, words: Vocabulary) -> Iterator[NumberToken]:
    currencies = [match.span() for match in words.currency.finditer(text)]
    for match in _NUMBER_RUN.finditer(text):
        value = _value(text, match.start(), match.end())
        glued = _GLUED.match(text, match.end())
        if value is None or (glued and glued.group() not in words.currency_codes):
            continue
        before, after = text[: match.start()], text[match.end() :]
        is_percent = bool(words.percent.match(after.lstrip(" "))) or before.endswith("%")
        beside = _currency_beside(text, match.span(), currencies)
        sign_at = beside[0] if beside and beside[1] <= match.start() else match.start()
        if _has_minus(text, match.start()) or _has_minus(text, sign_at):
            value = -value
        yield NumberToken(value, is_percent, beside is not None, match.start(), match.end())


def _value(text: str, start: int, end: int) -> Decimal | None:
    token = text[start:end]
    following, preceding = text[end : end + 1], text[max(0, start - 2) : start]
    if following and regex.match(r"\p{No}|\p{Nl}", following):
        return None
    if preceding and regex.match(r"\p{No}|\p{Nl}", preceding[-1]):
        return None
    if _ZERO_LED.match(token) or not _WELL_FORMED.fullmatch(token):
        return None
    if preceding.endswith(".") and not regex.match(LETTER, preceding):
        return Decimal(f"0.{token}") if token.isdecimal() else None
    return Decimal(token.replace(",", ""))


def _has_minus(text: str, start: int) -> bool:
    """A minus counts only when no letter or digit stands before it: `10-12` is a range."""
    return bool(regex.search(r"(?<![\p{L}\p{M}\p{N}])-$", text[:start]))


def _currency_beside(
    text: str, span: tuple[int, int], currencies: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    start, end = span
    for left, right in currencies:
        gap = text[right:start] if right <= start else text[end:left] if left >= end else None
        if gap is not None and gap.strip(" .-") == "" and len(gap) <= 2:
            return left, right
    return None


def _join_magnitudes(
    runs: Sequence[NumberToken], text: str, words: Vocabulary
) -> Iterator[NumberToken]:
    """Multiply numbers by the magnitude word behind them; `1 thousand 250` is one number."""
    pending: NumberToken | None = None
    limit: int | None = None
    for run in runs:
        number, factor = _scale(run, text, words)
        if pending is None:
            pending, limit = number, factor
            continue
        touches = text[pending.end : number.start].strip(" ") == ""
        if limit is not None and touches and number.value < limit:
            value = pending.value + number.value
            is_money = pending.is_money or number.is_money
            pending = replace(pending, value=value, end=number.end, is_money=is_money)
        else:
            yield pending
            pending = number
        limit = factor
    if pending is not None:
        yield pending


def _scale(run: NumberToken, text: str, words: Vocabulary) -> tuple[NumberToken, int | None]:
    """Return the number with the magnitude word behind it, and that word's factor."""
    gap = len(text) - run.end - len(text[run.end :].lstrip(" "))
    word = words.magnitude.match(text, run.end + gap)
    if word is None:
        return run, None
    factor = words.magnitude_value[word.group()]
    span = (run.start, word.end())
    currencies = [match.span() for match in words.currency.finditer(text)]
    is_money = run.is_money or _currency_beside(text, span, currencies) is not None
    return replace(run, value=run.value * factor, end=word.end(), is_money=is_money), factor


def _dates(text: str, words: Vocabulary) -> Iterator[tuple["regex.Match[str]", date | None]]:
    taken: list[tuple[int, int]] = []
    for pattern in (_ISO_DATE, _SHORT_DATE, *_named_date_patterns(words.language)):
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < right and left < end for left, right in taken):
                continue
            taken.append((start, end))
            yield match, _date(match.groupdict(), words)


def _date(groups: dict[str, str | None], words: Vocabulary) -> date | None:
    year = int(groups["year"] or 0)
    if groups.get("name"):
        month, day = words.month_number[groups["name"] or ""], int(groups["day"] or 0)
    elif groups.get("first"):
        first, second = int(groups["first"] or 0), int(groups["second"] or 0)
        day, month = (first, second) if words.date_order == "dmy" else (second, first)
    else:
        month, day = int(groups["month"] or 0), int(groups["day"] or 0)
    try:
        return date(year, month, day)
    except ValueError:
        return None


@lru_cache(maxsize=32)
def _named_date_patterns(language: str) -> tuple[Pattern, ...]:
    words = vocabulary(language)
    name = _month_name(words)
    day = rf"(?<!\d)(?P<day>\d{{1,2}})(?:-?{words.day_suffix})?(?!\d)"
    return tuple(
        regex.compile(text)
        for text in (
            rf"{day}{_DATE_GAP}(?:of )?{name}{_DATE_GAP}{_YEAR}",
            rf"{name}{_DATE_GAP}{day}{_DATE_GAP}{_YEAR}",
            rf"{_YEAR}{_DATE_GAP}{name}{_DATE_GAP}{day}",
        )
    )


@lru_cache(maxsize=32)
def _month_patterns(language: str) -> tuple[Pattern, ...]:
    name = _month_name(vocabulary(language))
    return tuple(
        regex.compile(text)
        for text in (
            r"(?<![\d/-])(?P<year>\d{4})[-/](?P<month>\d{1,2})(?![\d/-])",
            r"(?<![\d/-])(?P<month>\d{1,2})[/-](?P<year>\d{4})(?![\d/-])",
            rf"{name}{_DATE_GAP}{_YEAR}",
            rf"{_YEAR}{_DATE_GAP}{name}",
        )
    )


def _month_name(words: Vocabulary) -> str:
    return rf"(?<!{LETTER})(?P<name>{words.months}){words.right_affixes}{RIGHT_EDGE}"


@lru_cache(maxsize=32)
def _time_pattern(language: str) -> Pattern:
    words = vocabulary(language)
    before = rf"(?:(?P<am_before>{words.am_marker})|(?P<pm_before>{words.pm_marker}))"
    after = rf"(?:(?P<am_after>{words.am_marker})|(?P<pm_after>{words.pm_marker})){RIGHT_EDGE}"
    return regex.compile(rf"(?:(?<!{LETTER}){before} )?{_CLOCK}(?: ?{after})?")


@lru_cache(maxsize=32)
def _duration_pattern(language: str) -> Pattern:
    words = vocabulary(language)
    hours = rf"(?P<hours>\d+) ?{words.hour_word}{RIGHT_EDGE}"
    minutes = rf"(?P<minutes>\d+) ?{words.minute_word}{RIGHT_EDGE}"
    between = rf"(?:{words.separator.pattern})*"
    return regex.compile(rf"(?<![\d.,])(?:{hours}(?:{between}{minutes})?|{minutes})")


def _minute_of_day(match: "regex.Match[str]") -> int | None:
    groups = match.groupdict()
    hour, minute = int(groups["hour"]), int(groups["minute"])
    is_am = bool(groups["am_before"] or groups["am_after"])
    is_pm = bool(groups["pm_before"] or groups["pm_after"])
    if (is_am and is_pm) or minute >= MINUTES_PER_HOUR:
        return None
    if is_am or (is_pm and hour <= _NOON_HOUR):
        hour = hour % _NOON_HOUR + (_NOON_HOUR if is_pm else 0)
    return hour * MINUTES_PER_HOUR + minute if hour < 24 else None
