"""Instances: slots, answers and references of one language, from its own database."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from lowagent_vis.errors import UserError
from lowagent_vis.evaluation.answers import compare_answer
from lowagent_vis.task import AnswerCriterion, StateCriterion, TaskDefinition, TaskInstance
from lowagent_vis.task_build import build_instance, instance_sha256, render_intent
from tests.lowagent_vis.evaluation.sqlite_world import LARGE_MUG, MUG, USER_ID, SqliteWorld
from tests.lowagent_vis.test_task import ADD, NOT_POSSIBLE, PRICE


@pytest.fixture
def world() -> Iterator[SqliteWorld]:
    opened = SqliteWorld()
    yield opened
    opened.close()


def _define(base: Mapping[str, Any], **changes: Any) -> TaskDefinition:
    return TaskDefinition.model_validate({**base, "site": "ministore", **changes})


def _build(
    world: SqliteWorld, base: Mapping[str, Any], language: str = "en", **changes: Any
) -> TaskInstance:
    return build_instance(_define(base, **changes), language, world)


def test_the_intent_holds_values_as_shown_and_the_credentials(world: SqliteWorld) -> None:
    instance = _build(world, ADD)
    assert instance.intent == (
        "Add 3 units of “Padma steel mug, 350 ml” to my cart. "
        "Sign in with the user name nila_shop and the password Mini#Store26."
    )
    assert instance.login is not None
    assert instance.login.username == "nila_shop"


def test_without_login_the_intent_is_the_sentence_alone(world: SqliteWorld) -> None:
    instance = _build(world, PRICE)
    assert instance.intent == "What is the price of “Padma steel mug, 350 ml”?"
    assert instance.login is None


def test_checks_are_resolved_to_ids(world: SqliteWorld) -> None:
    instance = _build(world, ADD)
    assert instance.states == (
        StateCriterion(
            "exists", "cart_items", {"user_id": USER_ID, "product_id": MUG, "qty": 3}, {}
        ),
    )
    assert instance.exclusive == ("cart_items",)
    assert instance.user_id == USER_ID


def test_the_reference_is_at_id_level(world: SqliteWorld) -> None:
    assert _build(world, ADD).reference == (
        {"goto": "/login"},
        {"fill": "login", "fields": {"username": "nila_shop", "password": "Mini#Store26"}},
        {"fill": "search", "fields": {"q": "Padma steel mug, 350 ml"}},
        {"click": "/p/P00001"},
        {"fill": "cart_add", "fields": {"qty": "3"}},
        {"stop": ""},
    )


def test_a_repeated_form_is_told_by_its_label(world: SqliteWorld) -> None:
    reference = [{"fill": "cart_update", "in": "product", "qty": "qty"}, {"stop": ""}]
    assert _build(world, ADD, reference=reference).reference[0] == {
        "fill": "cart_update",
        "label": "Padma steel mug, 350 ml",
        "fields": {"qty": "3"},
    }


def test_the_answer_is_computed_and_shown_as_the_page_shows_it(world: SqliteWorld) -> None:
    instance = _build(world, PRICE)
    assert instance.answers == (AnswerCriterion("money", ("$24.90",)),)
    assert instance.reference[-1] == {"stop": "$24.90"}


@pytest.mark.parametrize(
    ("answer", "sql", "shown"),
    [
        ("int", "SELECT 1234", "1,234"),
        ("decimal", "SELECT 4.25", "4.3"),
        ("percent", "SELECT 12", "12%"),
        ("money", "SELECT 123450", "$1,234.50"),
        ("date", "SELECT '2026-06-15'", "2026-06-15"),
        ("code", "SELECT sku FROM products WHERE id = :product", "P00001"),
    ],
)
def test_each_type_of_answer_is_displayed_by_its_formatter(
    world: SqliteWorld, answer: str, sql: str, shown: str
) -> None:
    instance = _build(world, PRICE, checks=[{"answer": answer, "sql": sql}])
    assert instance.answers[0].expected == (shown,)


def test_a_set_holds_every_row_and_excluded_values_leave_the_right_ones_out(
    world: SqliteWorld,
) -> None:
    check = {
        "answer": "set",
        "sql": "SELECT name FROM products WHERE stock > 0 ORDER BY id",
        "exclude": [{"sql": "SELECT name FROM products ORDER BY id"}],
    }
    answer = _build(world, PRICE, checks=[check]).answers[0]
    assert answer.expected == ("Padma steel mug, 350 ml", "Padma steel mug, 500 ml")
    assert answer.excluded == ("Meghna glass jar, 1 L",)


def test_the_options_of_a_choice_exclude_each_other(world: SqliteWorld) -> None:
    check = {"answer": "choice", "value": "KEPT", "options": ["KEPT", "BOUGHT"]}
    answer = _build(world, PRICE, checks=[check]).answers[0]
    assert answer == AnswerCriterion("choice", ("KEPT",), ("BOUGHT",))


def test_the_token_of_an_unachievable_task_is_na(world: SqliteWorld) -> None:
    assert _build(world, NOT_POSSIBLE).answers == (AnswerCriterion("NA", ("N/A",)),)


def test_a_found_row_is_bound_by_id_and_not_named(world: SqliteWorld) -> None:
    slots = {
        **ADD["slots"],
        "target": {"find": ["products", "SELECT id FROM products WHERE price_cents = 2990"]},
    }
    checks = [
        {"state": "exists", "table": "cart_items", "where": {"product_id": "target"}},
        {"exclusive": ["cart_items"]},
    ]
    instance = _build(
        world,
        ADD,
        slots=slots,
        checks=checks,
        reference=[{"click": "/p/{target.sku}"}, {"stop": ""}],
    )
    assert instance.states[0].where == {"product_id": LARGE_MUG}
    assert instance.reference[0] == {"click": "/p/P00002"}


def test_each_makes_one_check_per_row(world: SqliteWorld) -> None:
    checks = [
        {
            "state": "exists",
            "table": "cart_items",
            "where": {"user_id": "U"},
            "each": "SELECT id AS product_id FROM products WHERE stock > 0 ORDER BY id",
        },
        {"exclusive": ["cart_items"]},
    ]
    wheres = [state.where for state in _build(world, ADD, checks=checks).states]
    assert wheres == [
        {"user_id": USER_ID, "product_id": MUG},
        {"user_id": USER_ID, "product_id": LARGE_MUG},
    ]


def test_a_literal_a_column_and_a_query_stand_for_their_values(world: SqliteWorld) -> None:
    checks = [
        {
            "state": "values",
            "table": "orders",
            "where": {"sku": "product.sku", "status": "placed"},
            "values": {
                "stock": {"sql": "SELECT stock - :qty FROM products WHERE id = :product"},
                "note": None,
            },
        },
        {"exclusive": ["orders"]},
    ]
    state = _build(world, ADD, checks=checks).states[0]
    assert state.where == {"sku": "P00001", "status": "placed"}
    assert state.values == {"stock": 6, "note": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pre": [{"sql": "SELECT 0"}]}, "MS-T001: does not hold in en: SELECT 0; choose other"),
        (
            {"slots": {"product": {"row": ["products", "sku", "P99999"], "show": "name"}}},
            "MS-T001: slot product names 0 rows; choose another",
        ),
        (
            {"slots": {"product": {"row": ["products", "sku", "P00001"], "show": "title"}}},
            "MS-T001: slot product has no column title to show",
        ),
        (
            {"checks": [{"answer": "int", "sql": "SELECT stock FROM products"}]},
            "MS-T001: 3 values for: SELECT stock FROM products",
        ),
        (
            {
                "checks": [
                    {"answer": "int", "sql": "SELECT warranty_months FROM products WHERE id = 3"}
                ]
            },
            "MS-T001: no value for",
        ),
        (
            {"reference": [{"click": "/p/{mug.sku}"}, {"stop": ""}]},
            "MS-T001: there is no slot mug",
        ),
        (
            {"reference": [{"click": "/p/{product.code}"}, {"stop": ""}]},
            "MS-T001: slot product has no column code",
        ),
        (
            {
                "slots": {},
                "checks": [{"answer": "int", "sql": "SELECT 5"}],
                "reference": [{"stop": ""}],
            },
            "MS-T001: the intent has a wrong slot",
        ),
        ({"id": "MS-T999"}, "MS-T999: no intent in this language"),
    ],
)
def test_what_does_not_fit_the_database_is_one_line(
    world: SqliteWorld, changes: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        _build(world, PRICE, **changes)
    assert str(caught.value).startswith(message)


def test_a_decoy_takes_the_place_of_a_slot(world: SqliteWorld) -> None:
    decoy = build_instance(_define(ADD), "en", world, overrides={"product": "P00002", "qty": 2})
    assert decoy.reference[3] == {"click": "/p/P00002"}
    assert decoy.states[0].where == {"user_id": USER_ID, "product_id": LARGE_MUG, "qty": 2}


def test_an_intent_can_be_rendered_for_another_site_language(world: SqliteWorld) -> None:
    text = render_intent(_define(PRICE), sentence_language="en", site_language="en", world=world)
    assert text == "What is the price of “Padma steel mug, 350 ml”?"


def test_the_expected_answer_passes_its_own_check(world: SqliteWorld) -> None:
    (answer,) = _build(world, PRICE).answers
    assert compare_answer(answer.kind, answer.expected[0], answer.expected[0], language="en").passed


def test_the_hash_of_an_instance_is_that_of_what_it_asks_and_expects(world: SqliteWorld) -> None:
    first, again = _build(world, PRICE), _build(world, PRICE)
    other = _build(world, PRICE, step_budget=20)
    assert instance_sha256(first) == instance_sha256(again)
    assert instance_sha256(first) != instance_sha256(other)
