"""Answers are compared by type, in every language, and no trick makes a wrong one right."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lowagent_sites.common.errors import UnknownNameError
from lowagent_vis.evaluation.answers import (
    ANSWER_KINDS,
    AnswerKind,
    compare_answer,
    infer_kind,
    is_same_answer,
)
from lowagent_vis.evaluation.normalize import (
    answer_languages,
    normalize_text,
    parse_ethiopic_number,
)

_PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "fixtures" / "answer_pairs.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
_LISTED_PER_TASK = {"বাঙলা", "½", "रुपए", "لئے"}
"""Spelling variants of tier C that a task may list and that are not folded for all."""


def _passes(
    kind: AnswerKind,
    expected: str | list[str],
    answer: str,
    language: str = "en",
    excluded: tuple[str, ...] = (),
    question: str = "",
) -> bool:
    comparison = compare_answer(
        kind, expected, answer, language=language, excluded=excluded, question=question
    )
    assert (comparison.reason is None) == comparison.passed
    return comparison.passed


def test_the_fixture_holds_all_pairs() -> None:
    assert len(_PAIRS) == 198


@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: f"{pair['lang']}-{pair['kind']}")
def test_pair_of_displayed_answers_gets_its_verdict(pair: dict[str, Any]) -> None:
    if pair["answer"] in _LISTED_PER_TASK:
        assert pair["tier"] == "C"
        return
    same = is_same_answer(pair["expected"], pair["answer"], language=pair["lang"])
    assert same is pair["same"], pair["why"]


@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: f"{pair['lang']}-{pair['kind']}")
def test_every_displayed_value_equals_itself(pair: dict[str, Any]) -> None:
    assert is_same_answer(pair["expected"], pair["expected"], language=pair["lang"])


@pytest.mark.parametrize(
    ("kind", "expected", "answer", "language", "verdict"),
    [
        ("int", "1,250", "1250", "en", True),
        ("int", "1,250", "12500", "en", False),
        ("int", "1,250", "125", "en", False),
        ("int", "1,250", "1250.5", "en", False),
        ("int", "12", "12.00", "en", True),
        ("int", "12", "$12", "en", False),
        ("int", "24", "24 months", "en", True),
        ("int", "24", "24 or 36 months", "en", False),
        ("int", "24", "24 and 36", "en", False),
        ("int", "24", "The code is MS-24", "en", False),
        ("int", "4", "kavya_reads_7 gave 4 out of 5 stars", "en", True),
        ("int", "4", "4/5", "en", True),
        ("int", "4", "3 out of 5, not 4", "en", False),
        ("int", "5", "at 14:05 on 2026-06-05", "en", False),
        ("int", "5", "five", "en", True),
        ("int", "5", "not five", "en", False),
        ("int", "9", "নয়", "bn", True),
        ("int", "1250", "1.25 thousand", "en", True),
        ("int", "1250", "1 thousand 250", "en", True),
        ("decimal", "4.3", "4.3 out of 5 stars", "en", True),
        ("decimal", "4.3", "4.31", "en", False),
        ("percent", "12%", "12 per cent", "en", True),
        ("percent", "12%", "12", "en", False),
        ("money", "$99.95", "$100.00", "en", False),
        ("money", "$24.90", "24.9", "en", True),
        ("money", "$24.90", "$24.90 (was $30.00)", "en", False),
        ("money", "৳ ২,৯৮৮", "২৯৮৮ টাকা", "bn", True),
        ("money", "৳ ২,৯৮৮", "2,988 BDT", "bn", True),
        ("money", "₹ २,२४१", "Rs 2241", "hi", True),
        ("money", "Rs ۶,۹۷۲", "۶٬۹۷۲ روپے", "ur", True),
        ("money", "ETB 3,735", "3,735 ብር", "am", True),
        ("money", "ETB 3,735", "3,735 dollars", "am", False),
        ("date", "2026-06-15", "15 June 2026", "en", True),
        ("date", "2026-06-15", "June 15th, 2026", "en", True),
        ("date", "2026-06-15", "১৫ জুন ২০২৬", "bn", True),
        ("date", "2026-06-15", "2026-06-15 or 2026-06-16", "en", False),
        ("date", "2026-06-15", "2026-06-15, 2026-06-16", "en", False),
        ("date", "2026-06-15", "2026-06-150", "en", False),
        ("month", "2026-05", "May 2026", "en", True),
        ("month", "2026-05", "২০২৬-০৫", "bn", True),
        ("month", "2026-05", "2026-05-04", "en", False),
        ("time", "14:05", "2:05 pm", "en", True),
        ("time", "00:30", "12:30 AM", "en", True),
        ("time", "14:05", "14:50", "en", False),
        ("time_range", "10:00-12:30", "from 10:00 to 12:30", "en", True),
        ("time_range", "10:00-12:30", "12:30-10:00", "en", False),
        ("duration", "9:30", "9 h 30 min", "en", True),
        ("duration", "9:30", "570 minutes", "en", True),
        ("duration", "9:30", "14:30", "en", False),
        ("duration", "9:30", "৯ ঘণ্টা ৩০ মিনিট", "bn", True),
        ("code", "MS-100103", "ms-100103", "en", True),
        ("code", "MS-100103", "MS-100103 or MS-100104", "en", False),
        ("code", "MS-100103", "MS-100103, MS-100104", "en", False),
        ("code", "MS-100103", "MS-1001031", "en", False),
        ("code", "0170", "000000170", "en", False),
        ("code", "nila_shop", "It was nila_shop.", "en", True),
        ("text", "Padma steel mug, 350 ml", "Padma steel mug 350 ml", "en", True),
        ("text", "Padma steel mug, 350 ml", "padma steel mug, 3500 ml", "en", False),
        ("text", "Padma steel mug, 350 ml", "Padma steel mug, 350.5 ml", "en", False),
        ("text", "Box, 45×90 cm", "Box 45x90 cm", "en", True),
        ("text", "stick", "non-stick", "en", False),
        ("text", "red", "red/blue", "en", False),
        ("text", "red", "blue / red", "en", False),
        ("text", "কলম", "এটি কলমটি।", "bn", True),
        ("text", "कलम", "कलमी", "hi", False),
        ("NA", "N/A", "n/a", "en", True),
        ("NA", "N/A", "N / A", "en", True),
        ("NA", "N/A", "**N/A**", "en", True),
        ("NA", "N/A", "N/A.", "en", True),
        ("NA", "N/A", "", "en", False),
        ("NA", "N/A", "not available", "en", False),
        ("int", "5", "N/A 5", "en", False),
        ("text", "red", "N/A red", "en", False),
        ("text", "red", "", "en", False),
    ],
)
def test_typed_comparison(
    kind: AnswerKind, expected: str, answer: str, language: str, verdict: bool
) -> None:
    assert _passes(kind, expected, answer, language) is verdict


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Flex, Business", True),
        ("Business and Flex", True),
        ("business; flex.", True),
        ("1. Flex\n2. Business", True),
        ("- Flex\n- Business", True),
        ("Flex, Business, Light", False),
        ("Flex", False),
        ("Flex or Business", False),
        ("", False),
    ],
)
def test_set_needs_all_members_and_no_other(answer: str, verdict: bool) -> None:
    assert _passes("set", ["Flex", "Business"], answer) is verdict


@pytest.mark.parametrize(("answer", "language"), [("ক ও খ", "bn"), ("খ, ক", "bn"), ("ক। খ।", "bn")])
def test_set_is_free_of_order_and_separator(answer: str, language: str) -> None:
    assert _passes("set", ["ক", "খ"], answer, language)


def test_every_proper_subset_of_a_set_fails() -> None:
    members = ["PADMA", "MEGHNA", "JAMUNA"]
    for chosen in range(1, 7):
        subset = [name for bit, name in enumerate(members) if chosen >> bit & 1]
        assert not _passes("set", members, ", ".join(subset)), subset
    assert _passes("set", members, ", ".join(members))


def test_a_second_value_is_refused_unless_the_question_names_it() -> None:
    question = "How many months of warranty does “Padma steel mug, 350 ml” come with?"
    answer = "The Padma steel mug, 350 ml has 24 months"

    assert not _passes("int", "24", answer)
    assert _passes("int", "24", answer, question=question)
    assert not _passes("int", "24", "24 months, not 350", question=question)


def test_a_price_beside_another_price_is_refused() -> None:
    assert not _passes("money", "$1,250.00", "P costs 1250, not 1520")
    assert not _passes("money", "$1,250.00", "It is either 1250 or 1520")
    assert not _passes("money", "$1,250.00", "1250 1520")


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("not 1250", "en"),
        ("1250 নয়", "bn"),
        ("1250 नहीं", "hi"),
        ("1250 نہیں", "ur"),
        ("1250 አይደለም", "am"),
    ],
)
def test_a_negated_value_is_refused(answer: str, language: str) -> None:
    assert not _passes("int", "1250", answer, language)


@pytest.mark.parametrize("language", sorted(answer_languages()))
def test_a_negation_in_any_language_counts_in_all(language: str) -> None:
    assert not _passes("int", "1250", "not 1250", language)


@pytest.mark.parametrize("language", sorted(answer_languages()))
@pytest.mark.parametrize(
    ("kind", "expected", "right", "wrong"),
    [
        ("int", "24", "24", "42"),
        ("date", "2026-06-15", "2026-06-15", "2026-06-16"),
        ("time", "14:05", "14:05", "05:14"),
        ("code", "MS-100103", "MS-100103", "MS-100104"),
        ("percent", "12%", "12%", "21%"),
    ],
)
def test_a_language_free_answer_has_one_verdict_in_all_languages(
    language: str, kind: AnswerKind, expected: str, right: str, wrong: str
) -> None:
    assert _passes(kind, expected, right, language)
    assert not _passes(kind, expected, wrong, language)


def test_an_excluded_value_is_refused_even_beside_the_right_one() -> None:
    answer = "Padma mug; the Meghna mug is dearer"

    assert _passes("text", "Padma mug", answer)
    assert not _passes("text", "Padma mug", answer, excluded=("Meghna mug",))


def test_an_excluded_name_inside_the_expected_one_must_stand_apart() -> None:
    assert _passes("text", "Corolla Cross", "Corolla Cross", excluded=("Corolla",))
    assert not _passes("text", "Corolla Cross", "Corolla Cross, Corolla", excluded=("Corolla",))
    assert not _passes("text", "Corolla", "Corolla Cross", excluded=("Corolla Cross",))


def test_an_answer_that_lists_all_values_is_refused() -> None:
    assert not _passes("int", "24", "3 6 9 12 18 24 36 60")
    names = ("Padma mug", "Meghna mug", "Jamuna mug")
    assert not _passes("text", names[0], ", ".join(names), excluded=names[1:])


def test_a_pasted_page_is_refused() -> None:
    page = "Padma mug " + "and many other words of the page " * 10
    assert not _passes("text", "Padma mug", page)
    assert not _passes("text", "Padma mug", "Padma mug" + " " * 30_000)


def test_a_long_expected_text_may_be_answered_whole() -> None:
    title = "word " * 60
    assert _passes("text", title, f"The title is: {title}")


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("፲፪", 12),
        ("፪፻፶", 250),
        ("፳፻፲፱", 2019),
        ("፻፳፫፼፵፭፻፷፯", 1234567),
        ("፻", 100),
        ("፲፻", 1000),
        ("፼", 10000),
        ("፩፪", None),
        ("፪፲", None),
        ("፲፳", None),
    ],
)
def test_ethiopic_numerals_add_and_multiply(numeral: str, value: int | None) -> None:
    assert parse_ethiopic_number(numeral) == value


def test_unknown_language_and_kind_are_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r'unknown language of answers "xx".*bn'):
        is_same_answer("1", "1", language="xx")
    with pytest.raises(UnknownNameError, match=r'unknown kind of answer "colour"'):
        compare_answer("colour", "1", "1", language="en")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "kind"),
    [
        ("N/A", "NA"),
        ("2026-06-15", "date"),
        ("14:05", "time"),
        ("007", "code"),
        ("RJ-4521", "code"),
        ("$24.90", "money"),
        ("12%", "percent"),
        ("1,234", "decimal"),
        ("Padma steel mug, 350 ml", "text"),
    ],
)
def test_the_kind_follows_from_the_displayed_form(expected: str, kind: str) -> None:
    assert infer_kind(expected, language="en") == kind


_LANGUAGE = st.sampled_from(sorted(answer_languages()))
_EXPECTED: dict[AnswerKind, str | list[str]] = {
    "int": "24",
    "decimal": "4.3",
    "percent": "12%",
    "money": "1,250",
    "date": "2026-06-15",
    "month": "2026-05",
    "time": "14:05",
    "time_range": "10:00-12:30",
    "duration": "9:30",
    "code": "MS-100103",
    "choice": "KEPT",
    "text": "Padma mug",
    "set": ["Flex", "Business"],
    "NA": "N/A",
}
_NASTY = st.text(
    st.one_of(
        st.characters(), st.sampled_from("0123456789.,:-/%$৳₹ ১২६ع፲፪፻²½\u200d\u200f\u09c7\u09bc")
    )
)


def test_the_fuzz_knows_every_kind() -> None:
    assert set(_EXPECTED) == set(ANSWER_KINDS)


@settings(
    max_examples=10_000,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(kind=st.sampled_from(ANSWER_KINDS), answer=_NASTY, language=_LANGUAGE)
def test_no_answer_crashes_the_comparison(kind: AnswerKind, answer: str, language: str) -> None:
    comparison = compare_answer(kind, _EXPECTED[kind], answer, language=language)
    assert comparison.passed in (True, False)
    comparison.normalized.encode("utf-8")


@settings(max_examples=1_000, deadline=None, derandomize=True)
@given(expected=_NASTY, answer=_NASTY, language=_LANGUAGE)
def test_no_pair_of_texts_crashes_the_comparison(expected: str, answer: str, language: str) -> None:
    assert is_same_answer(expected, answer, language=language) in (True, False)


_INVISIBLE = st.sampled_from("\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2066\u2069\ufeff\u00ad")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    pair=st.sampled_from([pair for pair in _PAIRS if pair["tier"] == "A"]),
    character=_INVISIBLE,
    data=st.data(),
)
def test_an_invisible_character_changes_no_verdict(
    pair: dict[str, Any], character: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(pair["answer"])))
    answer = pair["answer"][:place] + character + pair["answer"][place:]
    same = is_same_answer(pair["expected"], answer, language=pair["lang"])
    assert same is pair["same"]


@settings(max_examples=500, deadline=None, derandomize=True)
@given(value=st.integers(0, 10**9), language=_LANGUAGE)
def test_every_way_to_write_an_integer_is_read(value: int, language: str) -> None:
    for written in (f"{value}", f"{value:,}", f"{value}.00"):
        assert _passes("int", str(value), written, language)
    assert not _passes("int", str(value), f"{value}0", language)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(text=_NASTY, language=_LANGUAGE)
def test_normalization_is_stable(text: str, language: str) -> None:
    once = normalize_text(text, language=language)
    assert normalize_text(once, language=language) == once


@pytest.mark.parametrize(
    ("kind", "expected", "answer", "language"),
    [
        ("money", "$80.90", "anything but $80.90", "en"),
        ("money", "$80.90", "$80.90k", "en"),
        ("money", "$80.90", "80.90 cents", "en"),
        ("money", "$80.90", "C$80.90", "en"),
        ("money", "$80.90", "80.90 yuan", "en"),
        ("money", "₹ ७,२८१", "7,281 Pakistani rupees", "hi"),
        ("money", "Rs ۲۲,۶۵۲", "22,652 Indian rupees", "ur"),
        ("int", "20", "20 is wrong", "en"),
        ("int", "২০", "২০ ভুল", "bn"),
        ("int", "२०", "२० ग़लत है", "hi"),
        ("int", "۲۰", "۲۰ غلط ہے", "ur"),
        ("int", "20", "20 ስህተት ነው", "am"),
        ("int", "36", "less than 36", "en"),
        ("int", "36", "at least 36 months", "en"),
        ("int", "৩৬", "কমপক্ষে ৩৬", "bn"),
        ("int", "३६", "कम से कम ३६", "hi"),
        ("int", "۳۶", "کم از کم ۳۶", "ur"),
        ("int", "36", "ቢያንስ 36", "am"),
        ("int", "36", "36k", "en"),
    ],
)
def test_a_denial_a_limit_or_another_unit_is_no_answer(
    kind: AnswerKind, expected: str, answer: str, language: str
) -> None:
    assert not compare_answer(kind, expected, answer, language=language).passed


@pytest.mark.parametrize(
    ("expected", "answer", "language"),
    [
        ("2", "2 stars out of 5", "en"),
        ("২", "৫ তারার মধ্যে ২ তারা", "bn"),
        ("२", "५ स्टार में से २ स्टार", "hi"),
        ("۲", "۵ ستاروں میں سے ۲ ستارے", "ur"),
        ("2", "ከ5 ኮከብ 2 ኮከብ", "am"),
        ("36", "a 36-month warranty", "en"),
        ("৩৬", "৩৬-মাসের ওয়ারেন্টি", "bn"),
        ("३६", "३६-महीने की वारंटी", "hi"),
    ],
)
def test_a_scale_and_a_unit_are_read_alike_in_every_language(
    expected: str, answer: str, language: str
) -> None:
    assert compare_answer("int", expected, answer, language=language).passed


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("36", True),
        ("The set of 12 pieces has 36 months", True),
        ("“Danube clay plate set, 12 pieces”: 36", True),
        ("36, alternatively 12", False),
        ("36 - 12", False),
        ("36 (12?)", False),
        ("36 and 12", False),
    ],
)
def test_a_number_of_the_question_is_repeated_only_beside_its_own_word(
    answer: str, verdict: bool
) -> None:
    question = "How many months of warranty has “Danube clay plate set, 12 pieces”?"
    found = compare_answer("int", "36", answer, language="en", question=question)
    assert found.passed == verdict
