"""The log has a line for every request and writes no secret."""

import json
from pathlib import Path

import pytest

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.request_log import RequestLog
from tests.lowagent_sites.common.demo_site import PASSWORD, USERNAME, open_demo


def test_every_request_is_a_line_of_json(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    log = RequestLog(path)
    client = open_demo(request_log=log).client()
    client.get("/search?q=চা")
    client.sign_in()
    client.submit("/notes/new", "note_new", title="mine", kind="home")
    client.get("/nowhere")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [(line["method"], line["path"], line["status"], line["user"]) for line in lines] == [
        ("GET", "/search?q=%E0%A6%9A%E0%A6%BE", 200, None),
        ("GET", "/login", 200, None),
        ("POST", "/login", 303, None),
        ("GET", "/notes/new", 200, USERNAME),
        ("POST", "/notes", 303, USERNAME),
        ("GET", "/nowhere", 404, USERNAME),
    ]
    # One note and one used form.
    assert [line["rows_written"] for line in lines] == [0, 0, 0, 0, 2, 0]
    assert all(line["ms"] >= 0 for line in lines)
    assert PASSWORD not in path.read_text("utf-8")


def test_the_latest_lines_can_be_read_oldest_first() -> None:
    log = RequestLog(kept_lines=3)
    for number in range(5):
        log.add({"path": f"/{number}"})
    assert [line["path"] for line in log.tail(2)] == ["/3", "/4"]
    assert len(log.tail(10)) == 3
    assert log.tail(0) == []


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "requests.jsonl"
    with pytest.raises(PrerequisiteError, match="No such file or directory; name a file"):
        RequestLog(path)
