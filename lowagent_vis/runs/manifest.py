"""`run.json`: what was run, on what, with the hash of everything that can change a result."""

import hashlib
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lowagent_sites.common.seeds import seed_database
from lowagent_sites.paths import data_dir
from lowagent_vis.browsers.chromium import find_chromium
from lowagent_vis.runs.config import RunConfig
from lowagent_vis.runs.records import SCHEMA


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
            "evaluator": hash_files((package / "evaluation").glob("*.py"), package),
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


def hash_files(paths: Iterable[Path], root: Path) -> str:
    """Return one SHA-256 over the names (below `root`) and contents of files, in name order."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
