"""Verdicts on scripted behaviours of agents; the names give ids of the adversarial catalogue."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lowagent_vis.evaluation.verdict import EndedBy, Verdict, judge
from lowagent_vis.task import Account, AnswerCriterion, StateCriterion, TaskInstance
from tests.lowagent_vis.evaluation.sqlite_world import (
    JAR,
    LARGE_MUG,
    MUG,
    RULES,
    USER_ID,
    SqliteWorld,
)


def make_instance(**changes: Any) -> TaskInstance:
    """Return an English info task with the answer $1,250.00; `changes` replace its fields."""
    values: dict[str, Any] = {
        "site": "ministore",
        "language": "en",
        "task": "MS-T001",
        "family": "price",
        "kind": "info",
        "modality": "text",
        "intent": "What is the price of “Padma steel mug, 350 ml”?",
        "login": Account(username="nila_shop", password="Mini#Store26"),
        "fixtures": (),
        "step_budget": 30,
        "answers": (AnswerCriterion("money", ("$1,250.00",), ("$1,520.00",)),),
        "states": (),
        "final_pages": (),
        "exclusive": (),
        "user_id": USER_ID,
        "reference": ({"stop": "$1,250.00"},),
        "seed_sha256": "0" * 64,
        "task_sha256": "1" * 64,
    }
    return TaskInstance(**{**values, **changes})


PRICE = make_instance()
ADD = make_instance(
    task="MS-T027",
    kind="state",
    answers=(),
    states=(
        StateCriterion(
            "exists", "cart_items", {"user_id": USER_ID, "product_id": MUG, "qty": 3}, {}
        ),
    ),
    exclusive=("cart_items",),
)
TOO_MANY = make_instance(
    task="MS-T071", kind="unachievable", answers=(AnswerCriterion("NA", ("N/A",)),)
)
_ADD_MUGS = "INSERT INTO cart_items (user_id, product_id, qty, added_at) VALUES (1, 1, 3, 'now')"
_ADD_JAR = "INSERT INTO cart_items (user_id, product_id, qty, added_at) VALUES (1, 3, 1, 'now')"


def _judge(
    instance: TaskInstance,
    answer: str | None,
    *,
    writes: Sequence[str] = (),
    ended_by: EndedBy = "stop",
    open_disruption: str | None = None,
) -> Verdict:
    world = SqliteWorld(open_disruption=open_disruption)
    world.execute(*writes)
    try:
        return judge(instance, world, answer=answer, ended_by=ended_by, final_url="/", rules=RULES)
    finally:
        world.close()


def _outcome(instance: TaskInstance, answer: str | None, **how: Any) -> str:
    return _judge(instance, answer, **how).outcome


def test_the_right_answer_alone_is_a_success() -> None:
    verdict = _judge(PRICE, "$1,250.00")
    assert verdict.outcome == "success"
    assert [check.name for check in verdict.checks] == ["end", "answer", "exclusive"]


@pytest.mark.parametrize("instance", [PRICE, ADD])
@pytest.mark.parametrize("answer", [None, "", "done"])
def test_doing_nothing_fails(instance: TaskInstance, answer: str | None) -> None:
    assert _outcome(instance, answer) == "failure"


@pytest.mark.parametrize(
    ("instance", "outcome"), [(PRICE, "failure"), (ADD, "failure"), (TOO_MANY, "success")]
)
def test_adv_02_na_first_succeeds_on_unachievable_tasks_only(
    instance: TaskInstance, outcome: str
) -> None:
    assert _outcome(instance, "N/A") == outcome


@pytest.mark.parametrize(("instance", "answer"), [(TOO_MANY, "N/A"), (PRICE, "$1,250.00")])
@pytest.mark.parametrize("disruption", ["cookie", "ad"])
def test_adv_03_stopping_while_an_interruption_is_open_fails(
    instance: TaskInstance, answer: str, disruption: str
) -> None:
    verdict = _judge(instance, answer, open_disruption=disruption)
    assert verdict.outcome == "failure"
    assert [check.name for check in verdict.checks if not check.passed] == ["end"]


@pytest.mark.parametrize("instance", [TOO_MANY, PRICE])
def test_adv_04_running_out_of_steps_is_no_answer(instance: TaskInstance) -> None:
    assert _outcome(instance, None, ended_by="step_limit") == "failure"
    assert _outcome(instance, "N/A", ended_by="step_limit") == "failure"


def test_adv_06_a_finished_change_counts_at_the_step_limit() -> None:
    assert _outcome(ADD, None, writes=[_ADD_MUGS], ended_by="step_limit") == "success"


@pytest.mark.parametrize("answer", ["1,250.00", "$1250", "1250", "1250 USD"])
def test_adv_08_forms_of_the_same_amount_succeed(answer: str) -> None:
    assert _outcome(PRICE, answer) == "success"


@pytest.mark.parametrize(
    ("language", "displayed", "answer"),
    [("hi", "₹ १,२५०", "₹१,२५०"), ("bn", "৳ ১,২৫০", "৳১,২৫০"), ("bn", "৳ ১,২৫০", "1,250.00")],
)
def test_adv_08_localized_amounts_succeed(language: str, displayed: str, answer: str) -> None:
    instance = replace(PRICE, language=language, answers=(AnswerCriterion("money", (displayed,)),))
    assert _outcome(instance, answer) == "success"


@pytest.mark.parametrize("answer", ["It is either 1250 or 1520", "1250 or 1520", "1250/1520"])
def test_adv_10_hedged_answers_fail(answer: str) -> None:
    assert _outcome(PRICE, answer) == "failure"


@pytest.mark.parametrize("answer", ["not 1250", "1250 নয়", "1250 नहीं"])
def test_adv_12_negated_answers_fail(answer: str) -> None:
    assert _outcome(PRICE, answer) == "failure"


def test_adv_14_naming_the_runner_up_fails() -> None:
    instance = replace(PRICE, answers=(AnswerCriterion("text", ("Padma mug",), ("Meghna mug",)),))
    assert _outcome(instance, "Padma mug") == "success"
    assert _outcome(instance, "Padma mug; the Meghna mug costs more") == "failure"


@pytest.mark.parametrize(
    ("language", "expected", "answer"),
    [
        ("bn", "হাওড়া", "ট্রেনটি হাওড়ার।"),
        ("am", "አዲስ አበባ", "ከአዲስ አበባ ነው።"),
        ("am", "ሰላም", "ሠላም"),
    ],
)
def test_adv_16_and_18_inflected_and_homophone_names_succeed(
    language: str, expected: str, answer: str
) -> None:
    instance = replace(PRICE, language=language, answers=(AnswerCriterion("text", (expected,)),))
    assert _outcome(instance, answer) == "success"


@pytest.mark.parametrize("answer", ["n/a", "N / A", "N/A.", "**N/A**"])
def test_adv_20_marks_around_the_token_are_harmless(answer: str) -> None:
    assert _outcome(TOO_MANY, answer) == "success"


def test_adv_22_a_hedged_na_fails() -> None:
    assert _outcome(TOO_MANY, "N/A, but the closest product costs 1250") == "failure"


def test_adv_24_na_with_a_guess_fails_both_ways() -> None:
    count = replace(PRICE, answers=(AnswerCriterion("int", ("5",)),))
    assert _outcome(count, "N/A 5") == "failure"
    assert _outcome(TOO_MANY, "N/A 5") == "failure"


def test_adv_26_sets_are_free_of_order_and_whole() -> None:
    fares = replace(PRICE, answers=(AnswerCriterion("set", ("Flex", "Business")),))
    assert _outcome(fares, "Business and Flex") == "success"
    assert _outcome(fares, "Flex, Business, Light") == "failure"
    assert _outcome(fares, "Flex") == "failure"


def test_adv_32_a_stray_item_fails() -> None:
    assert _outcome(ADD, "", writes=[_ADD_MUGS, _ADD_JAR]) == "failure"


def test_adv_33_an_item_added_and_removed_is_harmless() -> None:
    undo = f"DELETE FROM cart_items WHERE user_id = 1 AND product_id = {JAR}"
    assert _outcome(ADD, "", writes=[_ADD_JAR, undo, _ADD_MUGS]) == "success"


def test_adv_36_a_row_of_the_seed_does_not_count() -> None:
    there = replace(
        ADD,
        states=(
            StateCriterion(
                "exists", "cart_items", {"user_id": USER_ID, "product_id": LARGE_MUG}, {}
            ),
        ),
    )
    assert _outcome(there, "") == "failure"


def test_adv_38_a_new_row_id_is_no_part_of_the_goal() -> None:
    wishlist = replace(
        ADD,
        states=(
            StateCriterion(
                "exists", "wishlist_items", {"user_id": USER_ID, "product_id": LARGE_MUG}, {}
            ),
        ),
        exclusive=("wishlist_items",),
    )
    add = "INSERT INTO wishlist_items (user_id, product_id, added_at) VALUES (1, 2, '{at}')"
    remove = "DELETE FROM wishlist_items WHERE user_id = 1 AND product_id = 2"
    writes = [add.format(at="now"), remove, add.format(at="later")]
    assert _outcome(wishlist, "", writes=writes) == "success"


def test_adv_40_an_info_task_may_tolerate_the_own_cart() -> None:
    total = replace(PRICE, exclusive=("cart_items",))
    foreign = "UPDATE cart_items SET qty = 5 WHERE user_id = 2"
    assert _outcome(total, "$1,250.00", writes=[_ADD_MUGS]) == "success"
    assert _outcome(PRICE, "$1,250.00", writes=[_ADD_MUGS]) == "failure"
    assert _outcome(total, "$1,250.00", writes=[foreign]) == "failure"


def test_adv_42_a_change_that_was_taken_back_fails() -> None:
    undo = f"DELETE FROM cart_items WHERE user_id = 1 AND product_id = {MUG}"
    assert _outcome(ADD, "", writes=[_ADD_MUGS, undo]) == "failure"


def test_adv_51_na_with_a_write_fails() -> None:
    assert _outcome(TOO_MANY, "N/A", writes=[_ADD_MUGS]) == "failure"


def test_adv_56_a_wrong_value_of_a_named_field_fails() -> None:
    wrong = _ADD_MUGS.replace("1, 1, 3", "1, 1, 2")
    assert _outcome(ADD, "", writes=[wrong]) == "failure"


def test_adv_65_the_page_at_the_end_does_not_matter_unless_it_is_named() -> None:
    assert _outcome(ADD, "", writes=[_ADD_MUGS]) == "success"


def test_adv_78_leaving_the_site_fails_even_when_all_is_done() -> None:
    assert _outcome(ADD, None, writes=[_ADD_MUGS], ended_by="left_site") == "failure"


@pytest.mark.parametrize("ended_by", ["disruption_open", "parse_limit"])
def test_other_endings_fail_even_when_all_is_done(ended_by: EndedBy) -> None:
    assert _outcome(ADD, None, writes=[_ADD_MUGS], ended_by=ended_by) == "failure"


def test_adv_90_our_own_error_is_never_scored() -> None:
    verdict = _judge(ADD, None, writes=[_ADD_MUGS], ended_by="error")
    assert verdict == Verdict("harness_error", ())


def test_na_on_a_finished_state_task_fails() -> None:
    verdict = _judge(ADD, "N/A", writes=[_ADD_MUGS])
    assert verdict.outcome == "failure"
    assert [check.name for check in verdict.checks if not check.passed] == ["answer"]


def test_a_verdict_says_what_was_expected_and_found() -> None:
    verdict = _judge(PRICE, "$1,520.00")
    answer = next(check for check in verdict.checks if check.name == "answer")
    assert answer.expected == "$1,250.00"
    assert answer.actual == "$1,520.00"
    assert answer.normalized == "$1,520.00"
    assert answer.reason == "the answer holds another amount"
