"""A worker that dies, hangs or fails costs its own episode at most, and that is no failure."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lowagent_sites.common.languages import baseline_language
from lowagent_vis.runs import runner
from lowagent_vis.runs.config import RunConfig, plan_episodes
from lowagent_vis.runs.records import EpisodeRecord
from lowagent_vis.runs.runner import Progress, run_episodes
from lowagent_vis.runs.store import RunStore
from lowagent_vis.task import load_tasks

TASKS = load_tasks()
NAMES = tuple(task.id for task in TASKS[:3])
DOOMED = NAMES[1]
PROGRAM = """
import json, os, signal, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "episode" and {doomed!r} in message["episode"]:
        os.kill(os.getppid(), signal.{signal})
    if message["type"] == "observation":
        print(json.dumps({{"action": "stop"}}), flush=True)
"""


def play(folder: Path, sent: str, *, concurrency: int) -> Mapping[str, EpisodeRecord]:
    """Play three tasks with an agent that sends its worker a signal in one of them."""
    program = folder / "agent.py"
    program.write_text(PROGRAM.format(doomed=DOOMED, signal=sent))
    config = RunConfig(
        agent="command",
        command=shlex.join([sys.executable, str(program)]),
        agent_timeout_s=1.0,
        sites=("ministore",),
        languages=(baseline_language().code,),
        tasks=NAMES,
        concurrency=concurrency,
    )
    store = RunStore.create(folder / "run", {})
    told: list[Progress] = []
    with store.writing():
        run_episodes(
            plan_episodes(config, TASKS),
            config=config,
            tasks={task.id: task for task in TASKS},
            store=store,
            on_progress=told.append,
        )
    assert [progress.done for progress in told] == [1, 2, 3]
    records = list(store.episodes())
    assert records == [progress.record for progress in told]
    return {record.task: record for record in records}


@pytest.mark.parametrize("concurrency", [1, 2])
def test_an_episode_whose_worker_dies_twice_is_a_harness_error_and_the_others_go_on(
    tmp_path: Path, concurrency: int
) -> None:
    records = play(tmp_path, "SIGKILL", concurrency=concurrency)
    assert records.keys() == set(NAMES)
    assert records[DOOMED].outcome == "harness_error"
    assert records[DOOMED].errors == ["the worker died (exit status -9)"] * 2
    others = [record for name, record in records.items() if name != DOOMED]
    assert [record.outcome for record in others] == ["failure"] * 2


def test_a_worker_that_hangs_is_killed_and_is_no_failure_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_SILENCE_MARGIN_S", 5.0)
    records = play(tmp_path, "SIGSTOP", concurrency=2)
    assert records[DOOMED].outcome == "harness_error"
    assert records[DOOMED].errors == ["no sign of life for 6 s; killed"] * 2
    assert {records[name].outcome for name in NAMES if name != DOOMED} == {"failure"}


def test_what_is_stored_already_is_not_played_again(tmp_path: Path) -> None:
    first = play(tmp_path, "SIGKILL", concurrency=1)
    config = RunConfig(
        agent="noop", sites=("ministore",), languages=(baseline_language().code,), tasks=NAMES
    )
    store = RunStore.open(tmp_path / "run")
    run_episodes(
        plan_episodes(config, TASKS),
        config=config,
        tasks={task.id: task for task in TASKS},
        store=store,
        on_progress=lambda progress: pytest.fail("played again"),
    )
    assert {record.task: record for record in store.episodes()} == first
