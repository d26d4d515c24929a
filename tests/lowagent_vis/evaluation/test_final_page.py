"""The final page is told by path and parameters."""

import pytest

from lowagent_vis.evaluation.final_page import check_final_page
from lowagent_vis.task import FinalPageCriterion


@pytest.mark.parametrize(
    ("url", "passed"),
    [
        ("/p/12", True),
        ("/p/12/", True),
        ("/p/12?page=1", True),
        ("/p/12?q=", True),
        ("/p/123", False),
        ("/p/1", False),
        ("/p/12/reviews", False),
        ("/p/12?page=2", False),
        ("/", False),
    ],
)
def test_path_must_be_equal(url: str, passed: bool) -> None:
    assert check_final_page(FinalPageCriterion("/p/12", {}), url).passed is passed


@pytest.mark.parametrize(
    ("url", "passed"),
    [
        ("/search?q=কলম&sort=price_asc", True),
        ("/search?sort=price_asc&q=%E0%A6%95%E0%A6%B2%E0%A6%AE", True),
        ("/search?q=কলম", False),
        ("/search?q=কলমি&sort=price_asc", False),
    ],
)
def test_parameters_are_free_of_order_and_encoding(url: str, passed: bool) -> None:
    wanted = FinalPageCriterion("/search", {"q": "কলম", "sort": "price_asc"})
    assert check_final_page(wanted, url).passed is passed
