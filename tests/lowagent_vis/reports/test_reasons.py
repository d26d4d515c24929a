"""A failure has one plain reason that says what was expected and what was found."""

from typing import Any

from lowagent_vis.reports.reasons import failure_reason
from lowagent_vis.runs.records import CheckRecord
from tests.lowagent_vis.records import make_record


def reason(*checks: CheckRecord, **changes: Any) -> str:
    return failure_reason(make_record(outcome="failure", checks=list(checks), **changes))


def test_endings_that_need_no_check() -> None:
    assert reason(ended_by="left_site") == "The agent followed the advertisement and left the site."
    assert reason(ended_by="step_limit", step_budget=30) == (
        "The agent did not stop within 30 steps."
    )


def test_a_wrong_answer_is_shown_beside_the_right_one() -> None:
    check = CheckRecord(
        name="answer",
        expected="৳ ৯,৭০৮",
        actual="৳ ৯,৭০৭",
        passed=False,
        reason="the answer holds another amount",
    )
    assert reason(check) == (
        "Expected “৳ ৯,৭০৮”, answered “৳ ৯,৭০৭”: the answer holds another amount."
    )


def test_all_members_of_a_set_are_shown_and_a_long_answer_is_cut() -> None:
    check = CheckRecord(
        name="answer", expected=["A", "B"], actual="x" * 500, passed=False, reason="too long"
    )
    found = reason(check)
    assert found.startswith("Expected “A”, “B”, answered “xxx")
    assert found.endswith("x…: too long.")
    assert len(found) < 260


def test_no_answer_is_said_so() -> None:
    check = CheckRecord(name="answer", expected="N/A", passed=False, reason="no answer was given")
    assert reason(check) == "No answer was given; expected “N/A”."


def test_a_missing_row_is_shown_beside_what_changed() -> None:
    check = CheckRecord(
        name="state:exists:cart_items",
        expected={"where": {"product_id": 680, "qty": 3}},
        actual=[],
        passed=False,
        reason="no new row is as it must be",
    )
    start = "In cart_items no new row is as it must be: expected product_id 680, qty 3; "
    assert reason(check, kind="state") == start + "nothing changed there."
    added = {"added": [{"key": {"id": 4}, "row": {"id": 4, "product_id": 680, "qty": 2}}]}
    assert reason(check, kind="state", diff={"cart_items": added}) == (
        start + "added product_id 680, qty 2."
    )
    changed = {"changed": [{"key": {"id": 1}, "old": {"qty": 1}, "new": {"qty": 2}}]}
    assert reason(check, kind="state", diff={"cart_items": changed}) == (
        start + "changed to qty 2."
    )


def test_several_failed_checks_are_counted() -> None:
    other = CheckRecord(name="exclusive", passed=False, reason="something else changed: carts")
    assert reason(other, other) == ("Something else changed: carts. (2 checks do not hold.)")


def test_errors_name_their_cause() -> None:
    record = make_record(outcome="provider_error", errors=["cannot start 'python3.99'"])
    assert failure_reason(record) == (
        "No verdict, the agent's program failed: cannot start 'python3.99'"
    )
