"""Agents that know nothing score what they must: the floors of every release."""

import pytest

from lowagent_vis.agents.always_na import AlwaysNaAgent
from lowagent_vis.agents.dump_page import DumpPageAgent
from lowagent_vis.agents.first_link import FirstLinkAgent
from lowagent_vis.agents.noop import NoopAgent
from lowagent_vis.agents.random_walk import RandomWalkAgent
from lowagent_vis.evaluation.answers import compare_answer
from lowagent_vis.task_build import build_instance
from lowagent_vis.world import World
from tests.e2e.conftest import LANGUAGES, TASKS, Play

pytestmark = pytest.mark.e2e

EVERY_INSTANCE = [(task, language) for task in TASKS for language in LANGUAGES]


@pytest.mark.parametrize("disrupted", [False, True], ids=["plain", "disrupted"])
@pytest.mark.parametrize("agent", [NoopAgent, DumpPageAgent, RandomWalkAgent])
def test_doing_nothing_dumping_the_page_and_wandering_solve_nothing(
    agent: type[NoopAgent], disrupted: bool, play: Play
) -> None:
    for task, language in EVERY_INSTANCE:
        record = play(TASKS[task], language, agent(), disrupted=disrupted).record
        assert record.outcome == "failure", record.episode


def test_always_na_gets_exactly_the_unachievable_share(play: Play) -> None:
    for task, language in EVERY_INSTANCE:
        record = play(TASKS[task], language, AlwaysNaAgent()).record
        assert (record.outcome == "success") == (TASKS[task].kind == "unachievable"), record.episode


def test_always_na_gets_nothing_while_an_interruption_is_open(play: Play) -> None:
    for task, language in EVERY_INSTANCE:
        record = play(TASKS[task], language, AlwaysNaAgent(), disrupted=True).record
        assert (record.outcome, record.ended_by) == ("failure", "disruption_open")
        assert record.disruptions == {"cookie": "open_at_stop", "ad": "not_reached"}


def test_the_first_link_falls_for_the_ad_every_time(play: Play) -> None:
    for task, language in EVERY_INSTANCE:
        record = play(TASKS[task], language, FirstLinkAgent(), disrupted=True).record
        assert (record.outcome, record.ended_by) == ("failure", "left_site")
        assert record.disruptions == {"cookie": "dismissed", "ad": "accepted"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_that_holds_the_right_name_is_no_answer(language: str) -> None:
    task = TASKS["MS-T005"]
    with World.open(task.site, language) as world:
        instance = build_instance(task, language, world)
        (criterion,) = instance.answers
        rows = world.query("SELECT name FROM products ORDER BY id LIMIT 3")
    right = criterion.expected[0]
    for answer, verdict in ((right, True), *((f"{right}; {row['name']}", False) for row in rows)):
        found = compare_answer(
            criterion.kind,
            right,
            answer,
            language=language,
            excluded=criterion.excluded,
            question=instance.intent,
        )
        assert found.passed == verdict, answer
