"""Agents that know nothing score what they must: the floors of every release."""

import pytest

from lowagent_vis.agents.always_na import AlwaysNaAgent
from lowagent_vis.agents.dump_page import DumpPageAgent
from lowagent_vis.agents.first_link import FirstLinkAgent
from lowagent_vis.agents.noop import NoopAgent
from lowagent_vis.agents.random_walk import RandomWalkAgent
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
