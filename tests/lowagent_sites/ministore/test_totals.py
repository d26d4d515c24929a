"""What a cart costs: the worked numbers of the shop's rules, and a second computation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowagent_sites.ministore.services.totals import compute_totals


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
