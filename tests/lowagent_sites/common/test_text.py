"""Typed text is cleaned (`common.md` 13) and search folds spellings (`common.md` 6.6)."""

import pytest

from lowagent_sites.common.languages import get_language, selectable_languages
from lowagent_sites.common.text import (
    clean_block,
    clean_line,
    fold,
    like_pattern,
    query_tokens,
    search_text,
)


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("  a  b ", "a b"),
        ("a\x00b\x7f", "ab"),
        ("e\u0301", "\u00e9"),
        ("a\u202eb", "ab"),
        ("\u200b \u200d", ""),
        ("a\nb", "a b"),
        ("\u09af\u09bc", "\u09af\u09bc"),
    ],
)
def test_a_line_is_stored_clean(typed: str, stored: str) -> None:
    assert clean_line(typed) == stored


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\n\n\n\n\n\nb", "a\n\n\nb"),
        ("a\n\n\nb", "a\n\n\nb"),
        ("\n a \n", "a"),
        (" \n\u200b\n", ""),
        ("<b>&amp;", "<b>&amp;"),
    ],
)
def test_a_text_of_several_lines_is_stored_clean(typed: str, stored: str) -> None:
    assert clean_block(typed) == stored


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("en", "Café-Set", "café set"),
        ("en", "500 ml", "৫০০ ML"),
        ("en", "soft\u00adly \u200bgo", "softly go"),
        ("hi", "क़लम", "कलम"),
        ("hi", "ऩ", "न"),
        ("hi", "चाँद", "चांद"),
        ("hi", "हिन्दी", "हिंदी"),
        ("hi", "पम्प", "पंप"),
        ("hi", "अण्डा", "अंडा"),
        ("bn", "য\u09bc", "\u09df"),
        ("ur", "كتاب", "کتاب"),
        ("ur", "علي", "علی"),
        ("ur", "شہر", "شهر"),
        ("ur", "مُحَمَّد", "محمد"),
        ("ur", "کتـــاب", "کتاب"),
        ("am", "ሐበሻ", "ሀበሻ"),
        ("am", "ሠላም", "ሰላም"),
        ("am", "ዓለም", "አለም"),
        ("am", "ፀሐይ", "ጸሀይ"),
        ("am", "ኃይል", "ሀይል"),
    ],
)
def test_search_takes_these_spellings_as_equal(code: str, one: str, other: str) -> None:
    language = get_language(code)
    assert fold(one, language) == fold(other, language)


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("hi", "दाल", "दिल"),
        ("hi", "जन्म", "जंम"),
        ("bn", "চাল", "চুল"),
        ("bn", "যায়", "যায"),
        ("ur", "آم", "ام"),
        ("ur", "بھائی", "بہائی"),
        ("ur", "لڑکی", "لڑکے"),
        ("am", "ሁሉ", "ሂሉ"),
        ("am", "ቋ", "ቀ"),
    ],
)
def test_search_keeps_these_words_apart(code: str, one: str, other: str) -> None:
    language = get_language(code)
    assert fold(one, language) != fold(other, language)


def test_the_searchable_text_holds_each_token_once_between_spaces() -> None:
    english = get_language("en")
    assert search_text(["Tulip kettle, 2 L", "Tulip", "P00412"], english) == (
        " tulip kettle 2 l p00412 "
    )


@pytest.mark.parametrize("language", selectable_languages(), ids=lambda language: language.code)
def test_punctuation_of_all_scripts_separates_tokens(language) -> None:  # type: ignore[no-untyped-def]
    assert query_tokens("a।b۔c،d؟e፡f።g፣h-i/j", language) == list("abcdefghij")


def test_a_query_is_cut_at_a_hundred_characters_and_not_earlier() -> None:
    english = get_language("en")
    assert query_tokens("a " * 50 + "tail", english) == ["a"] * 50
    assert query_tokens("  ", english) == []


def test_pattern_characters_of_a_token_are_taken_literally() -> None:
    assert like_pattern("50%_\\") == "% 50\\%\\_\\\\%"
