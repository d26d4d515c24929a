"""The reference agent solves every task in every language, as text and as marked pictures."""

import pytest

from lowagent_vis.agents.reference import ReferenceAgent
from tests.e2e.conftest import LANGUAGES, TASKS, Play

pytestmark = pytest.mark.e2e


def failed_checks(record: object) -> list[str]:
    return [f"{check.name}: {check.reason}" for check in record.checks if not check.passed]  # type: ignore[attr-defined]


@pytest.mark.browser
@pytest.mark.parametrize("disrupted", [False, True], ids=["plain", "disrupted"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", TASKS)
def test_text_and_vision_solve_it_alike(
    task: str, language: str, disrupted: bool, play: Play
) -> None:
    text = play(TASKS[task], language, ReferenceAgent(), disrupted=disrupted)
    vision = play(TASKS[task], language, ReferenceAgent(), disrupted=disrupted, visual=True)
    for played in (text, vision):
        assert played.record.outcome == "success", failed_checks(played.record)
    assert text.texts == vision.texts
    assert text.record.diff == vision.record.diff
    assert text.record.actions == vision.record.actions
    if disrupted:
        assert text.record.disruptions == {"cookie": "dismissed", "ad": "dismissed"}


@pytest.mark.parametrize("task", TASKS)
def test_the_same_task_takes_the_same_actions_in_every_language(task: str, play: Play) -> None:
    played = [play(TASKS[task], language, ReferenceAgent()) for language in LANGUAGES]
    numbers = [[action.split(" ")[:2] for action in p.record.actions[:-1]] for p in played]
    assert all(found == numbers[0] for found in numbers)
    assert all(p.record.diff.keys() == played[0].record.diff.keys() for p in played)


@pytest.mark.parametrize("task", TASKS)
def test_a_reference_uses_at_most_sixty_percent_of_its_budget(task: str, play: Play) -> None:
    record = play(TASKS[task], LANGUAGES[0], ReferenceAgent()).record
    assert record.steps <= 0.6 * record.step_budget
