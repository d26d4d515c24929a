"""Rules that a task must keep, each broken once."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lowagent_vis.task import AnswerCriterion, Intents, TaskDefinition
from lowagent_vis.task_build import build_task
from lowagent_vis.task_lint import BuiltTask, lint_tasks
from tests.lowagent_vis.evaluation.sqlite_world import SqliteWorld
from tests.lowagent_vis.test_task import ADD, NOT_POSSIBLE, PRICE


@pytest.fixture
def world() -> Iterator[SqliteWorld]:
    opened = SqliteWorld()
    yield opened
    opened.close()


def _define(base: Mapping[str, Any], **changes: Any) -> TaskDefinition:
    return TaskDefinition.model_validate({**base, "site": "ministore", **changes})


def _say(entry: BuiltTask, sentence: str, **phrases: str) -> BuiltTask:
    intents = Intents(sentences={entry.task.id: sentence}, login="", phrases=phrases)
    return replace(entry, intents=intents)


def _only(lines: list[str]) -> str:
    assert len(lines) == 1, lines
    return lines[0]


def test_sound_tasks_break_no_rule(world: SqliteWorld) -> None:
    tasks = [_define(PRICE), _define(ADD), _define(NOT_POSSIBLE)]
    assert lint_tasks(tasks, [build_task(task, "en", world) for task in tasks]) == []


def test_an_unachievable_task_needs_an_achievable_twin(world: SqliteWorld) -> None:
    task = _define(NOT_POSSIBLE)
    assert _only(lint_tasks([task], [])) == (
        "MS-T071: N-05: needs an achievable twin in the catalogue; name it in `twin`"
    )
    other = _define(NOT_POSSIBLE, id="MS-T027", twin="MS-T071")
    assert "its twin cannot be done either" in lint_tasks([task, other], [])[0]


def test_twins_name_each_other_and_share_their_sentence(world: SqliteWorld) -> None:
    add, not_possible = _define(ADD, twin=None), _define(NOT_POSSIBLE)
    line = _only(lint_tasks([add, not_possible], []))
    assert line.startswith("MS-T071: N-05: MS-T027 does not name it as its twin")

    tasks = [_define(ADD), not_possible]
    entry = build_task(not_possible, "en", world)
    sentences = {"MS-T027": "Put {qty} “{product}” away.", "MS-T071": "Add {qty} “{product}”."}
    entry = replace(entry, intents=Intents(sentences=sentences, login="", phrases={}))
    line = _only(lint_tasks(tasks, [entry]))
    assert line.startswith("en: MS-T071: N-05: its sentence differs from that of MS-T027")


def test_every_shown_slot_is_named(world: SqliteWorld) -> None:
    task = _define(PRICE)
    entry = _say(build_task(task, "en", world), "What is the price?")
    assert _only(lint_tasks([task], [entry])).startswith(
        "en: MS-T001: L-02: the intent does not name product"
    )


def test_a_relative_day_is_refused(world: SqliteWorld) -> None:
    task = _define(PRICE)
    entry = _say(build_task(task, "en", world), "What does “{product}” cost today?")
    assert "T-10: the intent says today" in _only(lint_tasks([task], [entry]))


@pytest.mark.parametrize(
    ("sentence", "is_fine"),
    [
        ("When was “{product}” made? Answer in YYYY-MM-DD format.", True),
        ("When was “{product}” made?", False),
    ],
)
def test_a_date_needs_its_format_in_the_intent(
    world: SqliteWorld, sentence: str, is_fine: bool
) -> None:
    task = _define(PRICE, checks=[{"answer": "date", "sql": "SELECT '2026-06-15'"}])
    lines = lint_tasks([task], [_say(build_task(task, "en", world), sentence)])
    assert (lines == []) is is_fine
    assert is_fine or "T-08: the intent does not say the format YYYY-MM-DD" in lines[0]


def test_rival_names_need_the_phrase_that_asks_for_the_name_only(world: SqliteWorld) -> None:
    check = {
        "answer": "text",
        "sql": "SELECT name FROM products WHERE id = 3",
        "exclude": [{"sql": "SELECT name FROM products WHERE id = 2"}],
    }
    task = _define(PRICE, checks=[check])
    entry = build_task(task, "en", world)
    asked, phrase = "What is like “{product}”?", "Answer with the name only."

    assert "has no name_only" in _only(lint_tasks([task], [_say(entry, asked)]))
    assert "does not hold" in _only(lint_tasks([task], [_say(entry, asked, name_only=phrase)]))
    full = _say(entry, f"{asked} {phrase}", name_only=phrase)
    assert lint_tasks([task], [full]) == []


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("SELECT 1", "T-09: the answer is 0 or 1"),
        ("SELECT 0", "T-09: the answer is 0 or 1"),
        ("SELECT 350", "T-09: the intent holds the answer"),
    ],
)
def test_an_answer_that_can_be_guessed_is_refused(world: SqliteWorld, sql: str, rule: str) -> None:
    task = _define(PRICE, checks=[{"answer": "int", "sql": sql}])
    assert rule in _only(lint_tasks([task], [build_task(task, "en", world)]))


def test_an_answer_that_its_own_check_refuses_is_reported(world: SqliteWorld) -> None:
    task = _define(PRICE)
    entry = build_task(task, "en", world)
    wrong = AnswerCriterion("money", ("$24.90",), ("$24.9",))
    entry = replace(entry, instance=replace(entry.instance, answers=(wrong,)))
    assert "A-16: “$24.9” is judged wrongly" in _only(lint_tasks([task], [entry]))


def test_an_empty_answer_is_refused(world: SqliteWorld) -> None:
    task = _define(PRICE, checks=[{"answer": "text", "sql": "SELECT ''"}])
    assert "S-19: the expected answer is empty" in _only(
        lint_tasks([task], [build_task(task, "en", world)])
    )


def test_a_name_that_is_part_of_another_is_refused(world: SqliteWorld) -> None:
    world.execute(
        "INSERT INTO products VALUES (9, 'P00009', 'Padma steel mug, 350 ml, blue', 1, 1, 1, 0)"
    )
    task = _define(PRICE)
    assert "T-16: the name of slot product is part of another name" in _only(
        lint_tasks([task], [build_task(task, "en", world)])
    )


def test_hidden_characters_in_a_name_are_refused(world: SqliteWorld) -> None:
    world.execute("UPDATE products SET name = 'Padma\u200e mug' WHERE id = 1")
    task = _define(PRICE)
    assert "L-13: slot product holds hidden characters" in _only(
        lint_tasks([task], [build_task(task, "en", world)])
    )


def test_rows_and_language_free_answers_are_equal_in_all_languages(world: SqliteWorld) -> None:
    slots = {"product": {"find": ["products", "SELECT max(id) FROM products"], "show": "name"}}
    checks = [{"answer": "int", "sql": "SELECT id FROM products WHERE id = :product"}]
    task = _define(PRICE, slots=slots, checks=checks)
    first = build_task(task, "en", world)
    world.execute("INSERT INTO products VALUES (9, 'P00009', 'Surma jar', 1, 1, 1, 0)")
    second = build_task(task, "en", world)

    lines = lint_tasks([task], [first, second])
    assert len(lines) == 2
    assert "L-04: slot product is another row" in lines[0]
    assert "L-04: the answer differs" in lines[1]
