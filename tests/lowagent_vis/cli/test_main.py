"""Bad input gets one line with the remedy and exit status 2; nothing is lost."""

import sys
from pathlib import Path

import pytest

from lowagent_vis.actions import grammar_prompt
from lowagent_vis.cli.main import run_cli


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = run_cli(arguments)
    return status, capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run", "--langs", "bnn"],
            'unknown language "bnn"; known: am, bn, en, hi, ur (did you mean "bn"?)',
        ),
        (["run", "--sites", "ministor"], 'known: ministore (did you mean "ministore"?)'),
        (["run", "--tasks", "MS-T002"], 'unknown task "MS-T002"; known: MS-T001,'),
        (["run", "--agent", "refrence"], '(did you mean "reference"?)'),
        (["run", "--subset", "smok"], '(did you mean "smoke"?)'),
        (["run", "--agent", "command"], "--agent command goes with --command"),
        (["run", "--command", "x"], "--agent command goes with --command"),
        (["run", "--resume"], "--resume goes with --out"),
        (["run", "--ad-every-click"], "--ad-every-click goes with --disruptions"),
        (["run", "--screenshot-only"], "go with --visual"),
        (["run", "--retry-errors"], "--retry-errors goes with --resume"),
        (["run", "--agent", ""], 'unknown agent ""'),
        (["run", "--tasks", ","], "a list of names is empty; leave the option out to mean all"),
        (["run", "--sites", ""], "a list of names is empty; leave the option out to mean all"),
        (["run", "--agent-timeout", "nan"], "--agent-timeout is not a number of seconds"),
        (["run", "--agent-timeout", "inf"], "invalid value for '--agent-timeout'"),
        (["run", "--repeats", "100000000"], "invalid value for '--repeats'"),
        (["run", "--agent", "command", "--command", "'"], "--command cannot be read"),
        (["run", "--agent", "command", "--command", "no-such"], 'there is no program "no-such"'),
        (["run", "--out", "a" * 300], "File name too long"),
        (["shot", "ministore", "/", "--lang", "en,bn"], 'unknown language "en,bn"'),
        (["shot", ""], 'unknown site ""'),
        (["serve", "--site", "ministore", "--port", "99999"], "invalid value for '--port'"),
        (["run", "--limit", "0"], "invalid value for '--limit'"),
        (["rnu"], '(did you mean "run"?)'),
        (["report", "nowhere"], "nowhere holds no run"),
        (["tasks", "show", "MS-T02"], 'unknown task "MS-T02"'),
        (["tasks", "show", "MS-T001", "--lang", "xx"], 'unknown language "xx"'),
        (["doctor", "--only", "brain"], "unknown check 'brain'; known: python, browser"),
        (["serve", "--site", "shop"], 'unknown site "shop"'),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    status, printed = check(capsys, *arguments)
    assert status == 2
    assert printed.startswith("error: ")
    assert message in printed
    assert printed.count("\n") == 1


def test_a_folder_that_exists_is_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    status, printed = check(capsys, "run", "--out", str(tmp_path))
    assert (status, printed.count("\n")) == (2, 1)
    assert "continue it with --resume or name another with --out" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_run_of_other_settings_is_not_continued(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "run")
    first = ["run", "--agent", "noop", "--tasks", "MS-T001", "--langs", "en", "--out", out]
    assert run_cli(first) == 0
    before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    status, printed = check(capsys, *first, "--seed", "7", "--resume")
    assert status == 2
    assert 'config.seed: "0" then, "7" now' in printed
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == before


def test_a_missing_browser_is_named_before_anything_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOWAGENT_VIS_CHROMIUM", "/nowhere/chrome")
    status, printed = check(capsys, "run", "--visual", "--out", str(tmp_path / "run"))
    assert status == 2
    assert "LOWAGENT_VIS_CHROMIUM=/nowhere/chrome is not a Chromium that runs" in printed
    assert not (tmp_path / "run").exists()


def test_a_flag_can_come_from_the_environment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOWAGENT_VIS_LANGS", "am")
    assert run_cli(["run", "--tasks", "MS-T001", "--out", str(tmp_path / "run")]) == 0
    assert "am 1/1" in capsys.readouterr().out


def test_the_first_line_says_who_plays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["run", "--subset", "smoke", "--langs", "en", "--out", str(tmp_path / "run")]
    assert run_cli(arguments) == 0
    assert capsys.readouterr().out.startswith("agent: reference (no --agent given)\n")


def test_a_task_is_shown_with_intent_answer_and_reference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_cli(["tasks", "show", "MS-T027", "--lang", "bn"]) == 0
    shown = capsys.readouterr().out
    assert "intent: “" in shown
    assert "nila_shop" in shown
    assert '"fill": "cart_add", "fields": {"qty": "৩"}' in shown


@pytest.mark.parametrize("arguments", [[], ["tasks"]])
def test_a_command_without_arguments_shows_its_help(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run_cli(arguments) == 2
    printed = capsys.readouterr().out
    assert printed.startswith("Usage: ")
    assert "\nCommands:\n" in printed


def test_errors_are_named_and_played_again_on_request(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program, out = tmp_path / "agent.py", tmp_path / "run"
    command = ["run", "--agent", "command", "--command", f"{sys.executable} {program}"]
    command += ["--limit", "2", "--langs", "en", "--out", str(out)]
    program.write_text("raise SystemExit(1)")
    assert run_cli(command) == 1
    assert "the agent's program failed: the agent's program has exited" in capsys.readouterr().out
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    if json.loads(line)['type'] == 'observation': print('stop 1', flush=True)\n"
    )
    assert run_cli([*command, "--resume"]) == 1
    assert "errors 2" in capsys.readouterr().out
    assert run_cli([*command, "--resume", "--retry-errors"]) == 0
    assert "2 of 2 played: en 0/2  errors 0" in capsys.readouterr().out


def test_an_episode_is_written_as_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run_cli(["run", "--agent", "noop", "--limit", "1", "--langs", "en", "--out", str(out)])
    capsys.readouterr()
    assert run_cli(["report", str(out), "--episode", "ministore.en.MS-T001"]) == 0
    page = out / "episodes" / "ministore.en.MS-T001.html"
    assert capsys.readouterr().out == f"episode: {page}\n"
    assert "Step 0: /" in page.read_text("utf-8")
    status, printed = check(capsys, "report", str(out), "--episode", "ministore.en.MS-T01")
    assert (status, printed.count("\n")) == (2, 1)
    assert 'did you mean "ministore.en.MS-T001"?' in printed


def test_the_documented_grammar_is_the_one_of_the_prompt() -> None:
    text = (Path(__file__).parents[3] / "docs" / "external-agents.md").read_text("utf-8")
    assert grammar_prompt().strip() in text
