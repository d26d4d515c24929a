"""Languages are found by their files and refuse values that no page could show."""

import dataclasses

import pytest

from lowagent_sites.common.errors import UnknownNameError
from lowagent_sites.common.languages import (
    baseline_language,
    get_language,
    load_languages,
    selectable_languages,
)


def test_five_languages_can_be_chosen_in_the_order_of_their_ports() -> None:
    assert [language.code for language in selectable_languages()] == ["en", "bn", "hi", "ur", "am"]
    assert [language.port_index for language in selectable_languages()] == [0, 1, 2, 3, 4]


def test_the_pseudo_language_is_loaded_but_cannot_be_chosen() -> None:
    pseudo = load_languages()["en-XA"]
    assert not pseudo.selectable
    assert pseudo.direction == "rtl"
    assert pseudo.message_brackets == ("⟦", "⟧")


def test_one_language_is_the_baseline() -> None:
    assert baseline_language().code == "en"
    assert sum(language.baseline for language in load_languages().values()) == 1


def test_an_unknown_language_is_named_with_the_known_ones_and_the_closest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        get_language("bnn")
    assert str(caught.value) == (
        'unknown language "bnn"; known: am, bn, en, hi, ur (did you mean "bn"?)'
    )


@pytest.mark.parametrize(
    ("code", "digits", "rate"),
    [
        ("en", "0123456789", 1),
        ("bn", "০১২৩৪৫৬৭৮৯", 120),
        ("hi", "०१२३४५६७८९", 90),
        ("ur", "۰۱۲۳۴۵۶۷۸۹", 280),
        ("am", "0123456789", 150),
    ],
)
def test_digits_and_rates_are_those_of_the_specification(code: str, digits: str, rate: int) -> None:
    assert get_language(code).digits == digits
    assert get_language(code).currency.rate == rate


def test_western_digits_change_nothing_else() -> None:
    urdu = get_language("ur")
    western = urdu.with_western_digits()
    assert western.digits == "0123456789"
    assert dataclasses.replace(western, digits=urdu.digits) == urdu


@pytest.mark.parametrize(
    "wrong",
    [
        {"digits": "012345678"},
        {"digits": "0123456788"},
        {"digits": "abcdefghij"},
        {"direction": "up"},
        {"grouping": "none"},
    ],
)
def test_a_value_that_no_page_can_show_is_refused(wrong: dict[str, str]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"language en: bad {name}"):
        dataclasses.replace(get_language("en"), **wrong)  # type: ignore[arg-type]


def test_a_rate_that_would_need_rounding_is_refused() -> None:
    english = get_language("en")
    with pytest.raises(ValueError, match=r"currency\.rate"):
        dataclasses.replace(english, currency=dataclasses.replace(english.currency, rate=75))
