"""What a cart costs: the worked numbers of the shop's rules, and a second computation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowagent_sites.common.languages import get_language
from lowagent_sites.common.numbers import format_money
from lowagent_sites.ministore.services.totals import (
    EXPRESS_FEE_CENTS,
    FREE_STANDARD_FROM_CENTS,
    STANDARD_FEE_CENTS,
    compute_totals,
)


@pytest.mark.parametrize(
    ("subtotal", "standard", "express"),
    [
        (0, 490, 990),
        (10, 500, 1000),
        (7490, 7980, 8480),
        (7500, 7500, 8490),
        (7510, 7510, 8500),
        (100_000, 100_000, 100_990),
    ],
)
def test_standard_is_free_from_75_dollars_and_express_never(
    subtotal: int, standard: int, express: int
) -> None:
    totals = compute_totals([(subtotal, 1)])
    assert (totals.standard_total_cents, totals.express_total_cents) == (standard, express)


def test_the_free_limit_is_measured_before_the_discount() -> None:
    totals = compute_totals([(7500, 1)], discount_cents=500)
    assert (totals.standard_cents, totals.standard_total_cents) == (0, 7000)


def test_a_discount_is_never_more_than_the_subtotal() -> None:
    totals = compute_totals([(400, 1)], discount_cents=900)
    assert (totals.discount_cents, totals.standard_total_cents) == (400, 490)


@pytest.mark.parametrize(
    ("lines", "discount", "standard", "express"),
    [
        ([(2490, 3)], 0, 7960, 8460),
        ([(2490, 3)], 1120, 6840, 7340),
        ([(2490, 3)], 500, 7460, 7960),
        ([(2490, 4)], 0, 9960, 10_950),
        ([(2490, 4)], 1490, 8470, 9460),
        ([(2490, 4)], 1200, 8760, 9750),
        ([(3950, 2), (1290, 1)], 1970, 7220, 8210),
    ],
)
def test_the_worked_numbers_of_the_rules(
    lines: list[tuple[int, int]], discount: int, standard: int, express: int
) -> None:
    totals = compute_totals(lines, discount_cents=discount)
    assert (totals.standard_total_cents, totals.express_total_cents) == (standard, express)


@pytest.mark.parametrize(
    ("code", "standard", "express", "free_from", "price"),
    [
        ("en", "$4.90", "$9.90", "$75.00", "$24.90"),
        ("bn", "৳ ৫৮৮", "৳ ১,১৮৮", "৳ ৯,০০০", "৳ ২,৯৮৮"),
        ("hi", "₹ ४४१", "₹ ८९१", "₹ ६,७५०", "₹ २,२४१"),
        ("ur", "Rs ۱,۳۷۲", "Rs ۲,۷۷۲", "Rs ۲۱,۰۰۰", "Rs ۶,۹۷۲"),
        ("am", "ETB 735", "ETB 1,485", "ETB 11,250", "ETB 3,735"),
    ],
)
def test_fees_limit_and_prices_in_each_currency(
    code: str, standard: str, express: str, free_from: str, price: str
) -> None:
    amounts = (STANDARD_FEE_CENTS, EXPRESS_FEE_CENTS, FREE_STANDARD_FROM_CENTS, 2490)
    shown = tuple(format_money(cents, get_language(code)) for cents in amounts)
    assert shown == (standard, express, free_from, price)


@given(st.lists(st.tuples(st.integers(1, 90_000), st.integers(1, 10)), max_size=12))
def test_totals_agree_with_adding_unit_by_unit(lines: list[tuple[int, int]]) -> None:
    subtotal = 0
    for unit_cents, qty in lines:
        for _ in range(qty):
            subtotal += unit_cents
    totals = compute_totals(lines)
    assert totals.subtotal_cents == subtotal
    assert totals.standard_total_cents - subtotal == (0 if subtotal >= 7500 else 490)
    assert totals.express_total_cents - subtotal == 990
