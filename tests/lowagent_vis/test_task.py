"""Definitions and intents: what a file may say, and what the one line says when it may not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lowagent_sites.common.errors import UnknownNameError
from lowagent_vis.errors import UserError
from lowagent_vis.task import (
    ReferenceStep,
    TaskDefinition,
    definition_sha256,
    load_subset,
    load_task,
    load_tasks,
    placeholders,
    read_definitions,
    read_intents,
)

ADD: Mapping[str, Any] = {
    "id": "MS-T027",
    "revision": 1,
    "family": "cart-add",
    "kind": "state",
    "modality": "text",
    "difficulty": 1,
    "login": True,
    "fixtures": [],
    "branch": None,
    "twin": "MS-T071",
    "step_budget": 30,
    "slots": {
        "product": {"row": ["products", "sku", "P00001"], "show": "name"},
        "qty": {"value": 3, "show": "int"},
    },
    "pre": [{"sql": "SELECT stock >= 8 FROM products WHERE id = :product"}],
    "checks": [
        {
            "state": "exists",
            "table": "cart_items",
            "where": {"user_id": "U", "product_id": "product", "qty": "qty"},
        },
        {"exclusive": ["cart_items"]},
    ],
    "reference": [
        {"goto": "/login"},
        {"fill": "login", "username": "U", "password": "U"},
        {"fill": "search", "q": "product"},
        {"click": "/p/{product.sku}"},
        {"fill": "cart_add", "qty": "qty"},
        {"stop": ""},
    ],
    "decoys": [{"product": "P00002"}],
}
PRICE: Mapping[str, Any] = {
    "id": "MS-T001",
    "revision": 1,
    "family": "price",
    "kind": "info",
    "modality": "text",
    "difficulty": 1,
    "login": False,
    "step_budget": 30,
    "slots": {"product": {"row": ["products", "sku", "P00001"], "show": "name"}},
    "checks": [{"answer": "money", "sql": "SELECT price_cents FROM products WHERE id = :product"}],
    "reference": [{"fill": "search", "q": "product"}, {"stop": "answer"}],
}
NOT_POSSIBLE: Mapping[str, Any] = {
    **ADD,
    "id": "MS-T071",
    "kind": "unachievable",
    "twin": "MS-T027",
    "checks": [{"answer": "NA"}],
}


def _write(folder: Path, *tasks: object) -> Path:
    path = folder / "text.yaml"
    path.write_text(yaml.safe_dump(list(tasks), allow_unicode=True), encoding="utf-8")
    return path


def _problem(folder: Path, task: object) -> str:
    with pytest.raises(UserError) as caught:
        read_definitions(_write(folder, task), site="ministore")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_definition_in_the_documented_form_is_read(tmp_path: Path) -> None:
    (task,) = read_definitions(_write(tmp_path, ADD), site="ministore")

    assert task.id == "MS-T027"
    assert task.site == "ministore"
    assert task.exclusive == ("cart_items",)
    assert task.reference[1].fields == {"username": "U", "password": "U"}
    assert task.decoys == ({"product": "P00002"},)


def test_a_definition_is_frozen(tmp_path: Path) -> None:
    (task,) = read_definitions(_write(tmp_path, ADD), site="ministore")
    with pytest.raises(ValueError, match="frozen"):
        task.family = "other"  # type: ignore[misc]


def test_an_unknown_field_is_refused_with_file_id_and_remedy(tmp_path: Path) -> None:
    message = _problem(tmp_path, {**ADD, "dificulty": 2})
    assert message == (
        "text.yaml: MS-T027: dificulty: Extra inputs are not permitted; "
        "remove it or correct its name"
    )


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    without = {key: value for key, value in ADD.items() if key != "family"}
    assert _problem(tmp_path, without) == "text.yaml: MS-T027: family: Field required; add it"


@pytest.mark.parametrize(
    ("task", "part"),
    [
        ({**ADD, "checks": []}, "checks: "),
        ({**ADD, "checks": [{"exclusive": ["cart_items"]}]}, "needs a state check"),
        ({**ADD, "checks": ADD["checks"][:1]}, "give `exclusive` once"),
        (
            {**ADD, "checks": [ADD["checks"][0], {"exclusive": ["wishlist_items"]}]},
            "add cart_items to `exclusive`",
        ),
        ({**ADD, "checks": [{"stat": "exists"}]}, "one of answer, state, final_page, exclusive"),
        ({**ADD, "slots": {"product": {"rows": 1}}}, "one of row, find, value, phrase"),
        ({**ADD, "slots": {"U": {"value": 1, "show": "int"}}}, "U is no name for a slot"),
        ({**ADD, "slots": {"n": {"value": 1, "show": "colour"}}}, "slots.n.value.show"),
        ({**ADD, "step_budget": 9}, "more than 60 % of the step budget"),
        ({**ADD, "reference": ADD["reference"][:-1]}, "ends with its only `stop`"),
        ({**ADD, "reference": [{"goto": "/", "click": "/"}]}, "one of goto, click, fill, stop"),
        ({**ADD, "reference": [{"wait": "3"}]}, "reference.0"),
        ({**ADD, "id": "T027"}, "id: "),
        ({**PRICE, "checks": [{"answer": "NA"}]}, "an answer other than N/A"),
        ({**PRICE, "checks": [{"answer": "money", "value": "1250"}]}, "is computed: give sql"),
        ({**PRICE, "checks": [{"answer": "colour", "sql": "SELECT 1"}]}, "checks.0.answer.answer"),
        ({**PRICE, "checks": [{"answer": "money", "sql": ""}]}, "is computed: give sql"),
        ({**PRICE, "checks": [{"answer": "choice", "value": "KEPT"}]}, "the options that hold it"),
        ({**NOT_POSSIBLE, "checks": [{"answer": "NA", "sql": "SELECT 1"}]}, "N/A takes no value"),
        ({**NOT_POSSIBLE, "checks": ADD["checks"]}, "answer: NA alone"),
        (
            {**ADD, "checks": [{**ADD["checks"][0], "values": {"qty": 1}}, ADD["checks"][1]]},
            "`values` goes with state: values",
        ),
    ],
)
def test_criteria_that_judge_nothing_or_make_no_sense_are_refused(
    tmp_path: Path, task: Mapping[str, Any], part: str
) -> None:
    message = _problem(tmp_path, task)
    assert message.startswith(f"text.yaml: {task['id']}: ")
    assert part in message


def test_a_file_that_is_no_list_of_tasks_is_refused(tmp_path: Path) -> None:
    assert _problem(tmp_path, "MS-T027").endswith("is no task; start it with `- id:`")

    path = tmp_path / "text.yaml"
    path.write_text("id: MS-T027\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"text.yaml: expected a list of tasks"):
        read_definitions(path, site="ministore")

    path.write_text("- id: [\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"text.yaml: line \d+ is no YAML"):
        read_definitions(path, site="ministore")


def test_an_id_occurs_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MS-T027 occurs twice"):
        read_definitions(_write(tmp_path, ADD, ADD), site="ministore")


def test_the_fields_of_a_form_are_its_other_keys() -> None:
    step = ReferenceStep.model_validate(
        {"fill": "cart_update", "in": "product", "qty": 3, "in_stock": True, "cat": ""}
    )
    assert step.fill == "cart_update"
    assert step.within == "product"
    assert step.fields == {"qty": "3", "in_stock": "on", "cat": ""}


def test_intents_hold_sentences_login_and_phrases(tmp_path: Path) -> None:
    path = tmp_path / "ministore.yaml"
    path.write_text(
        "_login: Sign in as {username} with {password}.\n"
        "_phrases: {standard: standard}\n"
        "MS-T001: What is the price of “{product}”?\n",
        encoding="utf-8",
    )
    intents = read_intents(path)
    assert intents.sentences == {"MS-T001": "What is the price of “{product}”?"}
    assert intents.phrases == {"standard": "standard"}
    assert placeholders(intents.login) == ("username", "password")


def test_a_missing_file_of_intents_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ministore.yaml is missing; write it"):
        read_intents(tmp_path / "ministore.yaml")


def test_the_hash_of_a_task_changes_with_definition_and_sentence() -> None:
    task = TaskDefinition.model_validate({**ADD, "site": "ministore"})
    other = TaskDefinition.model_validate({**ADD, "site": "ministore", "revision": 2})

    assert definition_sha256(task, "a") == definition_sha256(task, "a")
    assert definition_sha256(task, "a") != definition_sha256(task, "b")
    assert definition_sha256(task, "a") != definition_sha256(other, "a")


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r'unknown site "ministor".*"ministore"'):
        load_tasks(["ministor"])
    with pytest.raises(UnknownNameError, match=r'unknown task "MS-T999"'):
        load_task("MS-T999")
    with pytest.raises(UnknownNameError, match=r'unknown subset "nothing"'):
        load_subset("nothing")
