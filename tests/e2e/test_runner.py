"""Runs: order and workers change nothing, kills lose nothing, programs can be agents."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from lowagent_vis.runs.records import TIME_FIELDS
from lowagent_vis.runs.store import RunStore

pytestmark = pytest.mark.e2e

COMMAND = [sys.executable, "-c", "from lowagent_vis.cli.main import main; main()"]
MARK = "LOWAGENT_VIS_TEST_MARK"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=600,
    )


def without_times(record: Any) -> dict[str, Any]:
    return {k: v for k, v in json.loads(record.to_json()).items() if k not in TIME_FIELDS}


def records_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {r.episode: without_times(r) for r in RunStore.open(folder).episodes()}


def steps_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    store = RunStore.open(folder)
    return {
        record.episode: [without_times(step) for step in store.steps(record.episode)]
        for record in store.episodes()
    }


def test_one_and_eight_workers_and_another_order_give_equal_records(tmp_path: Path) -> None:
    one, eight = tmp_path / "one", tmp_path / "eight"
    assert run("run", "--out", str(one)).returncode == 0
    tasks = [plan["task"] for plan in records_of(one).values()]
    order = ",".join(sorted(set(tasks), reverse=True))
    result = run("run", "--tasks", order, "--concurrency", "8", "--out", str(eight))
    assert result.returncode == 0, result.stderr
    assert records_of(one) == records_of(eight)
    assert steps_of(one) == steps_of(eight)


def processes_marked(mark: str) -> list[int]:
    needle = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def count_steps(folder: Path) -> int:
    """Count the steps on the disk; a folder that the run clears meanwhile counts as empty."""
    total = 0
    for episode in list((folder / "steps").iterdir()) if (folder / "steps").is_dir() else []:
        with contextlib.suppress(FileNotFoundError):
            total += sum(name.suffix == ".json" for name in episode.iterdir())
    return total


def wait_for(condition: Any, *, limit_s: float) -> bool:
    """Poll a condition; the pauses only keep the processor free for what is waited for."""
    limit = time.monotonic() + limit_s
    poll = threading.Event()
    while time.monotonic() < limit:
        if condition():
            return True
        poll.wait(0.02)
    return bool(condition())


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_prints_the_command_that_continues_it(
    tmp_path: Path, sent: signal.Signals
) -> None:
    folder = tmp_path / "run"
    process = subprocess.Popen(
        [*COMMAND, "run", "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert wait_for(lambda: (folder / "episodes.jsonl").exists(), limit_s=120)
    process.send_signal(sent)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.endswith(
        f"stopped; continue with: lowagent-vis run --out {folder} --resume\n"
    ), printed
    finished = records_of(folder)
    assert run("run", "--out", str(folder), "--resume").returncode == 0
    assert finished.items() <= records_of(folder).items()


@pytest.mark.parametrize("visual", [False, pytest.param(True, marks=pytest.mark.browser)])
def test_killing_a_run_at_random_moments_loses_no_finished_episode(
    tmp_path: Path, visual: bool
) -> None:
    kills = 8 if visual else 42
    draws = random.Random(20260615 + visual)
    folder = tmp_path / "run"
    arguments = ["run", "--concurrency", "2", "--out", str(folder), "--disruptions"]
    if visual:
        arguments += ["--visual", "--langs", "ur,en"]
    finished: dict[str, dict[str, Any]] = {}
    for _ in range(kills):
        mark = uuid.uuid4().hex
        resume = ["--resume"] if (folder / "run.json").exists() else []
        process = subprocess.Popen(
            [*COMMAND, *arguments, *resume],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, MARK: mark},
        )
        target = count_steps(folder) + draws.randrange(0, 12)
        wait_for(
            lambda process=process, target=target: (
                process.poll() is not None or count_steps(folder) >= target
            ),
            limit_s=120,
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wait_for(
            lambda mark=mark: not any(map(is_running, processes_marked(mark))), limit_s=5
        )
        if not (folder / "run.json").exists():
            continue
        now = records_of(folder)
        assert finished.items() <= now.items()
        finished = now
    assert run(*arguments, "--resume").returncode == 0
    lines = (folder / "episodes.jsonl").read_text("utf-8").splitlines()
    episodes = [json.loads(line)["episode"] for line in lines]
    assert len(episodes) == len(set(episodes))
    assert finished.items() <= records_of(folder).items()
    fresh = tmp_path / "fresh"
    again = [str(fresh) if value == str(folder) else value for value in arguments]
    assert run(*again).returncode == 0
    assert records_of(fresh) == records_of(folder)


def test_the_reference_needs_only_what_a_program_is_told(tmp_path: Path) -> None:
    """The reference's actions, chosen by a program from the text alone, solve every task."""
    program = tmp_path / "agent.py"
    program.write_text(
        textwrap.dedent(
            """
            import json, sys
            from lowagent_vis.agents.base import EpisodeStart
            from lowagent_vis.agents.reference import ReferenceAgent
            from lowagent_vis.task import load_tasks
            from lowagent_vis.task_build import build_instance
            from lowagent_vis.world import World

            tasks = {task.id: task for task in load_tasks()}
            agent = ReferenceAgent()
            for line in sys.stdin:
                message = json.loads(line)
                if message["type"] == "episode":
                    task = tasks[message["episode"].split(".")[2]]
                    language = message["language"]
                    with World.open(task.site, language, fixtures=task.fixtures) as world:
                        agent.use_script(build_instance(task, language, world).reference)
                    agent.start(EpisodeStart("", "", "", "", "", 0))
                elif message["type"] == "observation":
                    print(json.dumps({"action": agent.next_action(message["text"])}), flush=True)
            """
        )
    )
    folder = tmp_path / "run"
    result = run(
        "run", "--agent", "command", "--command", f"{sys.executable} {program}",
        "--disruptions", "--out", str(folder), "--concurrency", "2",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    outcomes = {record["outcome"] for record in records_of(folder).values()}
    assert outcomes == {"success"}
