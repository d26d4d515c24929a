"""The words by which an answer in a language is read, compiled into patterns.

Words for currencies, months, percentages, negation and disjunction of every language count in
every language, because a model may answer a Bengali task in English; where a language gives a
word a meaning of its own, that meaning holds.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import regex

from lowagent_vis.evaluation.normalize import (
    MONTHS_PER_YEAR,
    AnswerLanguage,
    answer_language,
    answer_languages,
    normalize_text,
    normalize_words,
)

Pattern: TypeAlias = regex.Pattern[str]

LETTER = r"[\p{L}\p{M}]"
LEFT_EDGE = rf"(?<!{LETTER})"
RIGHT_EDGE = rf"(?!{LETTER})"
_NEVER = r"(?!)"


@dataclass(frozen=True)
class Vocabulary:
    """Compiled words of one language of answers.

    Attributes:
        left_affixes: Pattern text of one prefix that may be glued to a name, or empty.
        right_affixes: Pattern text of up to two suffixes that may be glued to a name, or empty.
        bound: A word that makes a limit of the value behind it, at the end of a text.
        scales: Patterns of `4.5 of 5`; group `value` is the rating, group `scale` its scale.
        months: Pattern text of any month name; `month_number` maps its normalised text.
        currency: Any currency word; `currency_codes` maps its normalised text.
        magnitude: Any word that multiplies; `magnitude_value` maps its normalised text.
    """

    language: str
    date_order: str
    left_affixes: str
    right_affixes: str
    negations: tuple[Pattern, ...]
    disjunction: Pattern
    bound: Pattern
    separator: Pattern
    percent: Pattern
    scales: tuple[Pattern, ...]
    am_marker: str
    pm_marker: str
    hour_word: str
    minute_word: str
    day_suffix: str
    months: str
    month_number: Mapping[str, int]
    number_words: Mapping[str, int]
    currency: Pattern
    currency_codes: Mapping[str, frozenset[str]]
    magnitude: Pattern
    magnitude_value: Mapping[str, int]


@cache
def vocabulary(language: str) -> Vocabulary:
    """Return the compiled words of `language`.

    Raises:
        UnknownNameError: No file describes answers in it.
    """
    own = answer_language(language)
    currencies = _currency_codes(language)
    months = _months(language)
    magnitudes = {
        form: value
        for rules in answer_languages().values()
        for word, value in rules.magnitudes.items()
        for form in normalize_words([word], language=language)
    }

    def every(words: Callable[[AnswerLanguage], Iterable[str]]) -> tuple[str, ...]:
        return normalize_words(
            (word for rules in answer_languages().values() for word in words(rules)),
            language=language,
        )

    return Vocabulary(
        language=language,
        date_order=own.date_order,
        left_affixes=_affixes(own.left_affixes, language, repeat="?"),
        right_affixes=_affixes(own.right_affixes, language, repeat="{0,2}"),
        negations=_negations(every(lambda rules: rules.negations)),
        disjunction=_words(every(lambda rules: rules.disjunctions)),
        bound=regex.compile(
            rf"{LEFT_EDGE}{_alternation(every(lambda rules: rules.bounds))}"
            r"[\s\p{Sc}]*(?:[\p{L}\p{M}.]{1,4} ?)?$"
        ),
        separator=_separator(every(lambda rules: rules.conjunctions)),
        percent=regex.compile(rf"%|{_alternation(every(lambda r: r.percent_words))}{RIGHT_EDGE}"),
        scales=tuple(
            pattern for rules in answer_languages().values() for pattern in _scales(rules.scales)
        ),
        am_marker=_alternation(every(lambda rules: rules.am_markers)),
        pm_marker=_alternation(every(lambda rules: rules.pm_markers)),
        hour_word=_alternation(every(lambda rules: rules.hour_words)),
        minute_word=_alternation(every(lambda rules: rules.minute_words)),
        day_suffix=_alternation(every(lambda rules: rules.day_suffixes)),
        months=_alternation(sorted(months, key=len, reverse=True)),
        month_number=months,
        number_words={
            normalize_text(word, language=language): value
            for value, word in enumerate(own.number_words)
        },
        currency=_currency_pattern(currencies, own, language),
        currency_codes=currencies,
        magnitude=regex.compile(
            rf"{_alternation(sorted(magnitudes, key=len, reverse=True))}{RIGHT_EDGE}"
        ),
        magnitude_value=magnitudes,
    )


def _alternation(forms: Iterable[str]) -> str:
    options = "|".join(regex.escape(form) for form in forms)
    return f"(?:{options})" if options else _NEVER


def _words(forms: Iterable[str]) -> Pattern:
    return regex.compile(f"{LEFT_EDGE}{_alternation(forms)}{RIGHT_EDGE}")


def _affixes(affixes: Iterable[str], language: str, *, repeat: str) -> str:
    forms = normalize_words(affixes, language=language)
    return f"(?:-?{_alternation(forms)}){repeat}" if forms else ""


def _negations(forms: Iterable[str]) -> tuple[Pattern, ...]:
    written = (
        pattern for rules in answer_languages().values() for pattern in rules.negation_patterns
    )
    return (_words(forms), *map(regex.compile, written))


def _separator(conjunctions: Iterable[str]) -> Pattern:
    """What may stand between the members of a set: punctuation, bullets, conjunctions."""
    bullet = r"(?<![\p{L}\p{M}\p{N}])\d{1,2}[.)](?!\d)"
    return regex.compile(
        rf"{bullet}|{LEFT_EDGE}{_alternation(conjunctions)}{RIGHT_EDGE}|[\p{{P}}\p{{S}}\s]"
    )


def _scales(scales: Iterable[str]) -> Iterable[Pattern]:
    number = r"\d+(?:\.\d+)?"
    for scale in scales:
        text = scale.replace("{value}", rf"(?P<value>{number})")
        text = text.replace("{scale}", rf"(?P<scale>{number})")
        yield regex.compile(rf"(?<![\d.,]){text}(?![\d]|[.,]\d)")


def _months(language: str) -> Mapping[str, int]:
    return {
        form: number
        for rules in answer_languages().values()
        for number, names in zip(range(1, MONTHS_PER_YEAR + 1), rules.months, strict=True)
        for form in normalize_words(names, language=language)
    }


def _currency_codes(language: str) -> Mapping[str, frozenset[str]]:
    """Map each currency word to its meanings; the language's own meaning goes before others."""
    codes: dict[str, frozenset[str]] = {}
    others = [rules for code, rules in answer_languages().items() if code != language]
    for rules in others:
        for word, meanings in _by_word(rules, language).items():
            codes[word] = codes.get(word, frozenset()) | meanings
    return codes | _by_word(answer_language(language), language)


def _by_word(rules: AnswerLanguage, language: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for code, words in rules.currencies.items():
        for form in normalize_words(words, language=language):
            found[form] = found.get(form, frozenset()) | {code}
    return found


def _currency_pattern(words: Iterable[str], own: AnswerLanguage, language: str) -> Pattern:
    """Any currency word; signs stand anywhere, words on their own but for affixes and digits."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    signs = _alternation(word for word in ordered if not regex.search(LETTER, word))
    names = _alternation(word for word in ordered if regex.search(LETTER, word))
    left = _affixes(own.left_affixes, language, repeat="?")
    right = _affixes(own.right_affixes, language, repeat="{0,2}")
    return regex.compile(
        rf"(?P<word>{signs})|{LEFT_EDGE}{left}(?P<word>{names}){right}{RIGHT_EDGE}"
    )
