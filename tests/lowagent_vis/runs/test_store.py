"""A run's folder keeps what was finished, drops what was torn, and refuses what differs."""

import json
from pathlib import Path

import pytest

from lowagent_vis.errors import UserError
from lowagent_vis.runs.store import RunStore
from tests.lowagent_vis.records import make_record, make_step

MANIFEST = {
    "schema": 1,
    "created_at": "a",
    "argv": ["run"],
    "config": {"agent": "noop", "seed": "0"},
}


def test_create_refuses_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(UserError, match="exists; continue it with --resume or name another"):
        RunStore.create(tmp_path, MANIFEST)
    assert (tmp_path / "note.txt").read_text() == "mine"


def test_create_takes_an_empty_folder(tmp_path: Path) -> None:
    assert RunStore.create(tmp_path, MANIFEST).manifest() == MANIFEST


def test_open_refuses_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        RunStore.open(tmp_path)


def test_resume_accepts_another_time_command_line_and_concurrency(tmp_path: Path) -> None:
    RunStore.create(tmp_path, {**MANIFEST, "config": {"agent": "noop", "concurrency": 1}})
    changed = {
        **MANIFEST,
        "created_at": "b",
        "argv": [],
        "config": {"agent": "noop", "concurrency": 8},
    }
    RunStore.resume(tmp_path, changed)


def test_resume_names_what_differs(tmp_path: Path) -> None:
    RunStore.create(tmp_path, MANIFEST)
    with pytest.raises(UserError, match=r'made differently \(config.seed: "0" then, "1" now\)'):
        RunStore.resume(tmp_path, {**MANIFEST, "config": {"agent": "noop", "seed": "1"}})


def test_a_torn_last_line_is_not_an_episode_and_is_cut_off_before_writing(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path, MANIFEST)
    store.append_episode(make_record(episode="a"))
    store.append_episode(make_record(episode="b"))
    path = tmp_path / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert [record.episode for record in store.episodes()] == ["a"]
    resumed = RunStore.resume(tmp_path, MANIFEST)
    with resumed.writing():
        resumed.append_episode(make_record(episode="b"))
    assert path.read_bytes() == whole


def test_two_runs_never_write_to_one_folder(tmp_path: Path) -> None:
    first, second = RunStore.create(tmp_path, MANIFEST), RunStore.resume(tmp_path, MANIFEST)
    with (
        first.writing(),
        pytest.raises(UserError, match=r"another run is writing to .*; wait for it or name"),
        second.writing(),
    ):
        pytest.fail("both hold the folder")
    with second.writing():
        second.append_episode(make_record())
    assert len(list(first.episodes())) == 1


def test_create_goes_over_what_a_kill_of_create_left(tmp_path: Path) -> None:
    (tmp_path / ".run.json.tmp").write_text('{"schema"')
    assert RunStore.create(tmp_path, MANIFEST).manifest() == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_records_are_written_without_escapes(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path, MANIFEST)
    store.append_episode(make_record(intent="দাম কত?", answer="৳ ২,৯৮৮"))
    assert "৳ ২,৯৮৮" in (tmp_path / "episodes.jsonl").read_text("utf-8")


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path, MANIFEST)
    store.append_episode(make_record())
    with (tmp_path / "episodes.jsonl").open("a") as lines:
        lines.write('{"schema": 1}\n')
    with pytest.raises(UserError, match=r"line 2 is no episode record"):
        list(store.episodes())


def test_steps_of_an_unfinished_attempt_are_cleared(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path, MANIFEST)
    store.write_step("a", make_step(step=0), b"jpeg")
    store.write_step("a", make_step(step=1), None)
    store.begin_episode("a")
    store.write_step("a", make_step(step=0), None)
    assert [step.step for step in store.steps("a")] == [0]
    assert store.clean_jpeg("a", 0) is None


def test_a_full_disk_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path, MANIFEST)
    (tmp_path / "episodes.jsonl").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"No space left on device.*--resume: finished episodes"):
        store.append_episode(make_record())


def test_an_episode_record_has_the_fields_of_the_format() -> None:
    golden = json.loads(
        (Path(__file__).parents[2] / "fixtures/episode_record.json").read_text("utf-8")
    )
    assert json.loads(make_record().to_json()) == golden


def test_a_step_record_has_the_fields_of_the_format() -> None:
    golden = json.loads(
        (Path(__file__).parents[2] / "fixtures/step_record.json").read_text("utf-8")
    )
    assert json.loads(make_step().to_json()) == golden
