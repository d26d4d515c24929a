"""`run.json`: what was run, on what, with the hash of everything that can change a result."""

import hashlib
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import set_of_marks
from lowagent_sites.common.seeds import seed_database
from lowagent_sites.paths import data_dir
from lowagent_vis.browsers.chromium import find_chromium
from lowagent_vis.runs.config import RunConfig
from lowagent_vis.runs.records import SCHEMA

_OBSERVING = (
    "page.py",
    "observation.py",
    "actions.py",
    "executor.py",
    "episode.py",
    "task_build.py",
)
"""What decides what an agent sees and what its actions do."""
_MARKS = Path(set_of_marks.__file__).resolve().parent


def build_manifest(config: RunConfig, *, argv: Sequence[str]) -> dict[str, Any]:
    """Return the content of `run.json` (`formats.md` 5)."""
    package = Path(__file__).resolve().parents[1]
    assets = data_dir("assets")
    return {
        "schema": SCHEMA,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "argv": list(argv),
        "config": config.model_dump(mode="json"),
        "versions": {
            "package": _version("lowagent-vis"),
            "python": platform.python_version(),
            "chromium": find_chromium().version if config.visual else None,
            "pillow": _version("pillow"),
        },
        "sha256": {
            "tasks": hash_files(data_dir("tasks").rglob("*.yaml"), data_dir("tasks")),
            "evaluator": hash_files(
                [*(package / "evaluation").glob("*.py"), *_judging_data(assets)], package.parent
            ),
            "observation": hash_files(
                [
                    *(package / name for name in _OBSERVING),
                    *_MARKS.glob("*.py"),
                    *_MARKS.glob("*.js"),
                ],
                package.parent,
            ),
            "fonts": hash_files((assets / "fonts").rglob("*.woff2"), assets),
            "prompts": hash_files((assets / "prompts").rglob("*.txt"), assets),
            "seeds": {
                f"{site}.{language}": seed_database(site, language).sha256
                for site in config.sites
                for language in config.languages
            },
        },
        "subset": config.subset,
    }


def _judging_data(assets: Path) -> Iterable[Path]:
    """Return the files that decide how answers are read."""
    return (assets / "languages").rglob("*.toml")


def hash_files(paths: Iterable[Path], root: Path) -> str:
    """Return one SHA-256 over the names and contents of files, in the order of their paths.

    Files below `root` go by their path from there, others (data installed elsewhere) by their name.
    """
    digest = hashlib.sha256()
    named = ((_name_below(path, root), path) for path in paths)
    for name, path in sorted(named):
        digest.update(name.encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _name_below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
