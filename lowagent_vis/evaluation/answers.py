"""Compares the answer of an episode with the expected one, by type.

Typed values are compared as values, never as substrings; names are found on boundaries that know
combining marks; hedges, negations, lists of everything and pasted pages are refused. No model
judges. The rules and their reasons are tested pair by pair (`tests/fixtures/answer_pairs.jsonl`).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeVar, get_args

import regex

from lowagent_sites.common.errors import unknown_name
from lowagent_vis.evaluation.normalize import normalize_text
from lowagent_vis.evaluation.values import (
    NumberToken,
    currencies_named,
    find_codes,
    find_dates,
    find_durations,
    find_months,
    find_numbers,
    find_times,
    neighbours,
)
from lowagent_vis.evaluation.vocabulary import Pattern, Vocabulary, vocabulary

AnswerKind = Literal[
    "int",
    "decimal",
    "percent",
    "money",
    "date",
    "month",
    "time",
    "time_range",
    "duration",
    "code",
    "choice",
    "text",
    "set",
    "NA",
]
ANSWER_KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)

Value = TypeVar("Value")

NOT_AVAILABLE = "N/A"
MAX_ANSWER_CHARACTERS = 200
MAX_ANSWER_RATIO = 3
_MAX_RAW_CHARACTERS = 20_000

_NA_ALONE = regex.compile(r"[\p{P}\p{S}\s]*?n ?/ ?a[\p{P}\p{S}\s]*")
_NA_START = regex.compile(r"[\p{P}\p{S}\s]*n ?/ ?a(?![\p{L}\p{M}\p{N}])")
_GAP = regex.compile(r"[\s,،፣;]+")
_TOUCH = r"[\p{L}\p{M}\p{N}]"


@dataclass(frozen=True)
class AnswerComparison:
    """Whether an answer is the expected one.

    Attributes:
        passed: The verdict.
        normalized: The answer in the form in which it was compared, cut if it was too long.
        reason: One English sentence when it did not pass.
    """

    passed: bool
    normalized: str
    reason: str | None = None


@dataclass(frozen=True)
class _Question:
    """What is compared: normalised texts and the language's words."""

    expected: str
    answer: str
    asked: str
    excluded: tuple[str, ...]
    members: tuple[str, ...]
    words: Vocabulary


class _Refused(Exception):  # noqa: N818 - not an error: the answer is wrong, for this reason
    """The answer is not the expected one."""


def is_same_answer(expected: str, answer: str, *, language: str) -> bool:
    """Return whether `answer` gives the value `expected`, both as displayed.

    The type follows from the form of `expected`: a percentage, an amount with a currency, a date,
    a clock time, a number, a code, the token `N/A`, else text.
    """
    kind = infer_kind(expected, language=language)
    return compare_answer(kind, expected, answer, language=language).passed


def compare_answer(
    kind: AnswerKind,
    expected: str | Sequence[str],
    answer: str,
    *,
    language: str,
    excluded: Sequence[str] = (),
    question: str = "",
) -> AnswerComparison:
    """Compare an answer with the expected value of type `kind`.

    Args:
        kind: One of `ANSWER_KINDS`.
        expected: The value as displayed; the members for a set.
        answer: What the agent wrote behind `stop`, nothing else.
        language: BCP 47 code of the site's language.
        excluded: Values as displayed that make an answer wrong when it names them.
        question: The intent; values that it names may be repeated in the answer.

    Raises:
        UnknownNameError: `kind` or `language` does not exist.
    """
    if kind not in ANSWER_KINDS:
        raise unknown_name("kind of answer", kind, ANSWER_KINDS)
    words = vocabulary(language)
    members = (expected,) if isinstance(expected, str) else tuple(expected)
    normal = _normalizer(language)
    shown = normal(answer[:_MAX_RAW_CHARACTERS])
    limit = max(MAX_ANSWER_CHARACTERS, MAX_ANSWER_RATIO * sum(map(len, members)))
    if len(shown) > limit or len(answer) > _MAX_RAW_CHARACTERS:
        reason = f"the answer is longer than {limit} characters"
        return AnswerComparison(False, shown[:limit], reason)
    compared = _Question(
        expected=normal(", ".join(members)),
        answer=shown,
        asked=normal(question[:_MAX_RAW_CHARACTERS]),
        excluded=tuple(map(normal, excluded)),
        members=tuple(map(normal, members)),
        words=words,
    )
    try:
        _check(kind, compared)
    except _Refused as refusal:
        return AnswerComparison(False, shown, str(refusal))
    return AnswerComparison(True, shown)


def claims_not_available(answer: str, *, language: str) -> bool:
    """Return whether an answer begins with the token N/A, whatever follows."""
    text = normalize_text(answer[:_MAX_RAW_CHARACTERS], language=language)
    return bool(_NA_START.match(text))


def infer_kind(expected: str, *, language: str) -> AnswerKind:
    """Return the type that a displayed value has by its form."""
    words = vocabulary(language)
    text = normalize_text(expected, language=language)
    if _NA_ALONE.fullmatch(text):
        return "NA"
    if regex.fullmatch(r"\d{4}-\d{2}-\d{2}", text) and find_dates(text, words):
        return "date"
    if regex.fullmatch(r"\d{1,2}:\d{2}", text) and find_times(text, words):
        return "time"
    if _is_code(text):
        return "code"
    numbers = find_numbers(text, words)
    bare = words.currency.sub("", words.percent.sub("", text))
    if len(numbers) != 1 or regex.search(r"[\p{L}\p{M}/]", bare):
        return "text"
    if numbers[0].is_percent:
        return "percent"
    return "money" if numbers[0].is_money else "decimal"


def _is_code(text: str) -> bool:
    has_zero_led_digits = regex.fullmatch(r"0\d+", text)
    mixes = regex.fullmatch(r"[\p{Latin}\p{Cyrillic}\d]+(?:[-_][\p{Latin}\d]+)*", text)
    is_mixed = mixes and regex.search(r"\d", text) and regex.search(r"\p{Latin}", text)
    return bool(has_zero_led_digits or is_mixed)


def _normalizer(language: str) -> Callable[[str], str]:
    return lambda text: normalize_text(text, language=language)


def _check(kind: AnswerKind, compared: _Question) -> None:
    if kind == "NA":
        _check_not_available(compared)
        return
    if not compared.answer:
        raise _Refused("the answer is empty")
    if _NA_START.match(compared.answer):
        raise _Refused("the answer says N/A and the task can be done")
    if kind in ("int", "decimal") and _is_spelled_number(compared):
        return
    _refuse_negation(compared)
    _refuse_disjunction(compared)
    _CHECKS[kind](compared)


def _check_not_available(compared: _Question) -> None:
    if not _NA_ALONE.fullmatch(compared.answer):
        raise _Refused("only the token N/A alone is right")


def _is_spelled_number(compared: _Question) -> bool:
    """A number in words counts only when it is the whole answer."""
    word = compared.answer.strip(" .!?\"'।።۔")
    return word in compared.words.number_words and _only(
        find_numbers(compared.expected, compared.words), "number"
    ).value == Decimal(compared.words.number_words[word])


def _refuse_negation(compared: _Question) -> None:
    for pattern in compared.words.negations:
        if pattern.search(compared.answer) and not pattern.search(compared.expected):
            raise _Refused("the answer holds a negation that the expected value lacks")


def _refuse_disjunction(compared: _Question) -> None:
    outside = compared.answer
    for member in compared.members:
        outside = outside.replace(member, " ")
    if compared.words.disjunction.search(outside):
        raise _Refused("the answer offers alternatives")


def _check_number(compared: _Question) -> None:
    _compare_numbers(lambda n: not (n.is_percent or n.is_money), compared, "number")


def _check_percent(compared: _Question) -> None:
    _compare_numbers(lambda number: number.is_percent, compared, "percentage")


def _check_money(compared: _Question) -> None:
    meant = frozenset().union(*currencies_named(compared.expected, compared.words))
    for named in currencies_named(compared.answer, compared.words):
        if meant and not named & meant:
            raise _Refused("the answer names another currency")
    _compare_numbers(lambda number: not number.is_percent, compared, "amount")


def _compare_numbers(
    is_kind: Callable[[NumberToken], bool], compared: _Question, noun: str
) -> None:
    """Refuse unless the answer names exactly the expected number.

    A number that the intent names is no candidate where it stands beside the same word as there:
    an answer may repeat its question, yet "36, alternatively 12" offers two numbers although the
    question is about a set of "12 pieces".
    """

    def numbers(text: str) -> list[NumberToken]:
        return [number for number in find_numbers(text, compared.words) if is_kind(number)]

    wanted = _only(sorted({number.value for number in numbers(compared.expected)}), noun)
    asked = {
        (number.value, word)
        for number in numbers(compared.asked)
        for word in neighbours(number, compared.asked)
    }
    shown = numbers(compared.answer)
    found = {
        number.value
        for number in shown
        if number.value == wanted
        or not any((number.value, w) in asked for w in neighbours(number, compared.answer))
    }
    _refuse_unless_only(wanted, found, noun)
    if any(
        compared.words.bound.search(compared.answer[: number.start])
        for number in shown
        if number.value == wanted
    ):
        raise _Refused(f"the answer gives a limit and no {noun}")


def _check_date(compared: _Question) -> None:
    _compare_values(lambda text: find_dates(text, compared.words), compared, "date")


def _check_month(compared: _Question) -> None:
    _compare_values(lambda text: find_months(text, compared.words), compared, "month")


def _check_time(compared: _Question) -> None:
    _compare_values(lambda text: frozenset(find_times(text, compared.words)), compared, "time")


def _check_time_range(compared: _Question) -> None:
    found, wanted = (
        find_times(text, compared.words) for text in (compared.answer, compared.expected)
    )
    if found != wanted:
        raise _Refused("the answer does not name these two times in this order, and no others")


def _check_duration(compared: _Question) -> None:
    _compare_values(lambda text: find_durations(text, compared.words), compared, "duration")


def _compare_values(
    values: Callable[[str], Iterable[Hashable]], compared: _Question, noun: str
) -> None:
    """Refuse unless the answer names exactly the expected value.

    Values that the intent names are no candidates: an answer may repeat its question.
    """
    wanted = _only(values(compared.expected), noun)
    asked = frozenset(values(compared.asked)) - {wanted}
    _refuse_unless_only(wanted, frozenset(values(compared.answer)) - asked, noun)


def _refuse_unless_only(wanted: Hashable, found: Collection[Hashable], noun: str) -> None:
    if not found:
        raise _Refused(f"the answer holds no {noun}")
    if len(found) > 1:
        raise _Refused(f"the answer holds more than one {noun}")
    if wanted not in found:
        raise _Refused(f"the answer holds another {noun}")


def _only(values: Iterable[Value], noun: str) -> Value:
    """Return the one value of an expected answer.

    Raises:
        ValueError: The task is wrong: its expected answer is not one value of its kind.
    """
    found = tuple(values)
    if len(found) != 1:
        raise ValueError(f"the expected answer is not one {noun}")
    return found[0]


def _check_code(compared: _Question) -> None:
    pattern = _code_pattern(compared.expected)
    if not pattern.search(compared.answer):
        raise _Refused("the answer does not hold the code")
    rest = pattern.sub(" ", compared.answer)
    shape = _shape(compared.expected)
    asked = set(find_codes(compared.asked))
    rivals = [code for code in find_codes(rest) if _shape(code) == shape and code not in asked]
    if "9" in shape and rivals:
        raise _Refused("the answer holds more than one code")
    _refuse_excluded(compared, _code_pattern)


def _check_text(compared: _Question) -> None:
    def make_pattern(value: str) -> Pattern:
        return _name_pattern(value, compared.words.language)

    if not regex.search(_TOUCH, compared.expected):
        raise _Refused("the expected answer holds no letter or digit")
    pattern = make_pattern(compared.expected)
    if not pattern.search(compared.answer):
        raise _Refused("the answer does not hold the expected text")
    if _has_slashed_rival(pattern, compared):
        raise _Refused("the answer offers alternatives")
    _refuse_excluded(compared, make_pattern)


def _has_slashed_rival(pattern: Pattern, compared: _Question) -> bool:
    for match in pattern.finditer(compared.answer):
        before = compared.answer[: match.start()].rstrip(" \"'")
        after = compared.answer[match.end() :].lstrip(" \"'")
        if before.endswith("/") or after.startswith("/"):
            return True
    return False


def _refuse_excluded(compared: _Question, make_pattern: Callable[[str], Pattern]) -> None:
    """Refuse a rival; one that is part of the expected name must stand apart from it."""
    expected = make_pattern(compared.expected)
    without_expected = expected.sub(" ", compared.answer)
    for rival in compared.excluded:
        pattern = make_pattern(rival)
        is_part = bool(pattern.search(compared.expected))
        if pattern.search(without_expected if is_part else compared.answer):
            raise _Refused("the answer names an excluded value")


def _check_set(compared: _Question) -> None:
    rest = compared.answer
    for member in sorted(compared.members, key=len, reverse=True):
        pattern = _name_pattern(member, compared.words.language)
        if not pattern.search(rest):
            raise _Refused("the answer lacks a member of the set")
        rest = pattern.sub(" ", rest)
    if compared.words.separator.sub("", rest):
        raise _Refused("the answer holds more than the members of the set")


@lru_cache(maxsize=512)
def _code_pattern(code: str) -> Pattern:
    return regex.compile(
        rf"(?<!{_TOUCH})(?<!{_TOUCH}[-_]){regex.escape(code)}(?!{_TOUCH})(?![-_]{_TOUCH})"
    )


def _shape(code: str) -> str:
    return regex.sub(r"\d", "9", regex.sub(r"[a-z]", "a", code))


@lru_cache(maxsize=512)
def _name_pattern(name: str, language: str) -> Pattern:
    """A name on boundaries: no letter, mark or digit may touch it, but for allowed affixes.

    White space and commas inside the name are optional unless they part two digits.
    """
    words = vocabulary(language)
    name = name.strip(" .,;:!?\"'।።۔")
    parts = [regex.escape(part) for part in _GAP.split(name)]
    gaps = [
        r"[\s,،፣;]+" if _parts_digits(name, match.start(), match.end()) else r"[\s,،፣;]*"
        for match in _GAP.finditer(name)
    ]
    body = parts[0] + "".join(gap + part for gap, part in zip(gaps, parts[1:], strict=True))
    left = rf"(?<!{_TOUCH})(?<!{_TOUCH}-){words.left_affixes}"
    right = rf"{words.right_affixes}(?!{_TOUCH})(?!-{_TOUCH})"
    if name[:1].isdecimal():
        left = rf"(?<![\d][.,])(?<!-){left}"
    if name[-1:].isdecimal():
        right = rf"{right}(?![.,]\d)"
    return regex.compile(f"{left}{body}{right}")


def _parts_digits(name: str, start: int, end: int) -> bool:
    return name[start - 1 : start].isdecimal() and name[end : end + 1].isdecimal()


_CHECKS: Mapping[AnswerKind, Callable[[_Question], None]] = {
    "int": _check_number,
    "decimal": _check_number,
    "percent": _check_percent,
    "money": _check_money,
    "date": _check_date,
    "month": _check_month,
    "time": _check_time,
    "time_range": _check_time_range,
    "duration": _check_duration,
    "code": _check_code,
    "choice": _check_text,
    "text": _check_text,
    "set": _check_set,
}
