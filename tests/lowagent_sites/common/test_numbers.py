"""Numbers and money as pages show them and as people type them (`common.md` 6)."""

from decimal import Decimal

import pytest

from lowagent_sites.common.languages import get_language, selectable_languages
from lowagent_sites.common.numbers import (
    NumberProblem,
    cents_at_least,
    cents_at_most,
    format_decimal,
    format_integer,
    format_money,
    localize_digits,
    parse_local_amount,
    parse_money,
    parse_number,
    parse_whole,
    round_down_to_grid,
    round_half_up_to_grid,
    round_up_to_grid,
)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("en", "$24.90"),
        ("bn", "৳ ২,৯৮৮"),
        ("hi", "₹ २,२४१"),
        ("ur", "Rs ۶,۹۷۲"),
        ("am", "ETB 3,735"),
    ],
)
def test_2490_cents_are_shown_as_in_the_locale_table(code: str, shown: str) -> None:
    assert format_money(2490, get_language(code)) == shown


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("en", "1,234,567"),
        ("bn", "১২,৩৪,৫৬৭"),
        ("hi", "१२,३४,५६७"),
        ("ur", "۱,۲۳۴,۵۶۷"),
        ("am", "1,234,567"),
    ],
)
def test_a_million_is_grouped_by_the_languages_own_custom(code: str, shown: str) -> None:
    assert format_integer(1234567, get_language(code)) == shown


def test_small_and_negative_numbers_are_grouped_right() -> None:
    english, hindi = get_language("en"), get_language("hi")
    assert [format_integer(n, english) for n in (0, 7, 999, 1000, -1000)] == [
        "0", "7", "999", "1,000", "-1,000",
    ]  # fmt: skip
    assert format_integer(100000, hindi) == "१,००,०००"
    assert format_money(-2490, english) == "-$24.90"


def test_decimals_are_rounded_half_up_and_use_the_languages_point() -> None:
    assert format_decimal(Decimal("4.25"), 1, get_language("en")) == "4.3"
    assert format_decimal(Decimal("4.25"), 1, get_language("ur")) == "۴٫۳"
    assert format_decimal(Decimal("1234.5"), 1, get_language("bn")) == "১,২৩৪.৫"
    assert format_decimal(Decimal("-0.04"), 1, get_language("en")) == "0.0"


def test_only_western_digits_are_localized() -> None:
    assert localize_digits("P00412 / 3", get_language("bn")) == "P০০৪১২ / ৩"


@pytest.mark.parametrize("language", selectable_languages(), ids=lambda language: language.code)
def test_every_shown_amount_on_the_grid_is_read_back_exactly(language) -> None:  # type: ignore[no-untyped-def]
    for cents in (0, 10, 2490, 99990, 12345670):
        assert parse_money(format_money(cents, language), language) == cents


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", "12"),
        (" 1 234 ", "1234"),
        ("1,234.50", "1234.50"),
        ("১২,৩৪,৫৬৭", "1234567"),
        ("१२", "12"),
        ("۱۲٫۵", "12.5"),
        ("١٢٬٣٤٥", "12345"),
        ("1২3", "123"),
        ("１２", "12"),
        ("1’000", "1000"),
        ("\u200f12\u200e", "12"),
        ("1\u00a0000", "1000"),
        (".5", "0.5"),
        ("999999999999", "999999999999"),
    ],
)
def test_digits_of_any_script_are_read_in_any_language(text: str, number: str) -> None:
    for language in selectable_languages():
        assert parse_number(text, language) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", "abc", "1.2.3", "1e5", "-5", "+5", "5.", "1234567890123", "10²", "①", "½", "፲፪",
     "1,2,", ",1", "12 apples"],
)  # fmt: skip
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NumberProblem) as caught:
        parse_number(text, get_language("en"))
    assert caught.value.kind == "number"


def test_a_sign_is_read_where_it_is_allowed() -> None:
    assert parse_number("-5", get_language("en"), allow_sign=True) == -5
    assert parse_whole("-৫", get_language("bn"), allow_sign=True) == -5


@pytest.mark.parametrize("text", ["2.5", "", "two", "-1"])
def test_a_whole_number_is_asked_for_as_such(text: str) -> None:
    with pytest.raises(NumberProblem) as caught:
        parse_whole(text, get_language("en"))
    assert caught.value.kind == "whole"


@pytest.mark.parametrize(
    ("code", "text", "cents"),
    [
        ("en", "$24.90", 2490),
        ("en", "24.9 usd", 2490),
        ("en", "$.50", 50),
        ("bn", "2988", 2490),
        ("bn", "৳ ২,৯৮৮", 2490),
        ("bn", "২৯৮৮ টাকা", 2490),
        ("hi", "Rs. 2,241", 2490),
        ("ur", "Rs. ۶۹۷۲", 2490),
        ("ur", "6972 روپے", 2490),
        ("am", "ETB 3735", 2490),
        ("bn", "1", 1),
        ("bn", "3", 3),
    ],
)
def test_typed_amounts_are_local_units_with_or_without_the_currency(
    code: str, text: str, cents: int
) -> None:
    assert parse_money(text, get_language(code)) == cents


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        ("bn", "2988.5", "whole"),
        ("en", "24.905", "number"),
        ("en", "$", "number"),
        ("en", "1$2", "number"),
        ("en", "-5", "number"),
    ],
)
def test_what_is_no_amount_of_the_currency_is_refused(code: str, text: str, kind: str) -> None:
    with pytest.raises(NumberProblem) as caught:
        parse_money(text, get_language(code))
    assert caught.value.kind == kind


def test_a_filter_never_lets_a_price_through_that_lies_outside_its_bounds() -> None:
    urdu = get_language("ur")
    # 10 cents are Rs 28 and 20 cents Rs 56.
    assert cents_at_most(parse_local_amount("27", urdu), urdu) == 9
    assert cents_at_most(parse_local_amount("28", urdu), urdu) == 10
    assert cents_at_least(parse_local_amount("28", urdu), urdu) == 10
    assert cents_at_least(parse_local_amount("29", urdu), urdu) == 11


def test_rules_round_to_the_grid_in_their_own_direction() -> None:
    assert round_down_to_grid(Decimal("249.9")) == 240
    assert round_up_to_grid(Decimal("240.1")) == 250
    assert round_up_to_grid(Decimal(240)) == 240
    assert round_half_up_to_grid(Decimal(245)) == 250
    assert round_half_up_to_grid(Decimal("244.9")) == 240
