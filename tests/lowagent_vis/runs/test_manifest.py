"""`run.json` has the fields of the format, and each hash follows what it names."""

import json
import re
from pathlib import Path
from typing import Any

from lowagent_sites.common.languages import baseline_language
from lowagent_vis.runs.config import RunConfig
from lowagent_vis.runs.manifest import build_manifest, hash_files

GOLDEN = Path(__file__).parents[2] / "fixtures" / "run.json"


def masked(value: Any) -> Any:
    """Replace what differs from machine to machine by what kind of thing it is."""
    if isinstance(value, dict):
        return {name: masked(part) for name, part in value.items()}
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value):
        return "SHA-256"
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)+\S*", value):
        return "VERSION"
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", value):
        return "TIME"
    return value


def test_a_run_is_described_with_the_fields_of_the_format() -> None:
    config = RunConfig(
        sites=("ministore",), languages=(baseline_language().code,), tasks=("MS-T001",)
    )
    manifest = build_manifest(config, argv=["run", "--langs", "en"])
    assert masked(json.loads(json.dumps(manifest))) == json.loads(GOLDEN.read_text("utf-8"))


def test_a_hash_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1")
    (tmp_path / "b.txt").write_text("2")
    before = hash_files(tmp_path.glob("*.txt"), tmp_path)
    assert hash_files(sorted(tmp_path.glob("*.txt"), reverse=True), tmp_path) == before
    (tmp_path / "b.txt").write_text("3")
    changed = hash_files(tmp_path.glob("*.txt"), tmp_path)
    (tmp_path / "b.txt").write_text("2")
    (tmp_path / "b.txt").rename(tmp_path / "c.txt")
    renamed = hash_files(tmp_path.glob("*.txt"), tmp_path)
    assert len({before, changed, renamed}) == 3
