"""Rules over the whole code base: who imports whom, and what no module may contain."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lowagent_sites.common.languages import load_languages

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "lowagent_vis": ROOT / "lowagent_vis",
    "lowagent_sites": ROOT / "sites" / "lowagent_sites",
    "set_of_marks": ROOT / "set_of_marks",
}
MODULES = [path for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))]
MAY_IMPORT = {
    "lowagent_vis": {"lowagent_vis", "lowagent_sites", "set_of_marks"},
    "lowagent_sites": {"lowagent_sites"},
    "set_of_marks": {"set_of_marks"},
}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package: str) -> None:
    wrong = [
        f"{name_of(path)} imports {module}"
        for path in sorted(PACKAGES[package].rglob("*.py"))
        for module in imports_of(ast.parse(path.read_text("utf-8")))
        if module.split(".")[0] in PACKAGES.keys() - MAY_IMPORT[package]
    ]
    assert wrong == []


def test_reports_read_records_and_never_a_live_run() -> None:
    live = {"lowagent_vis.world", "lowagent_vis.episode", "lowagent_vis.runs.runner"}
    for path in sorted((ROOT / "lowagent_vis" / "reports").glob("*.py")):
        assert not live & set(imports_of(ast.parse(path.read_text("utf-8")))), name_of(path)


def test_no_model_judges_anything() -> None:
    for path in sorted((ROOT / "lowagent_vis" / "evaluation").glob("*.py")):
        for module in imports_of(ast.parse(path.read_text("utf-8"))):
            assert not module.startswith(("lowagent_vis.models", "openai", "google")), name_of(path)


def test_no_module_contains_a_language_code() -> None:
    codes = set(load_languages())
    wrong = [
        f"{name_of(path)}:{node.lineno} {node.value!r}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in codes
    ]
    assert wrong == []


def test_no_module_contains_text_in_the_scripts_of_the_sites() -> None:
    letters = re.compile("[\u0900-\u0963\u0966-\u09ff\u0621-\u064a\u0671-\u06d3\u1200-\u135a]")
    allowed = {
        "lowagent_vis/evaluation/normalize.py": "single letters of Unicode sequences",
    }
    wrong = [
        f"{name_of(path)}: {line.strip()}"
        for path in MODULES
        if name_of(path) not in allowed
        for line in path.read_text("utf-8").splitlines()
        if letters.search(line)
    ]
    assert wrong == []


def test_nothing_is_evaluated_or_unpickled() -> None:
    banned = {"eval", "exec"}
    for path in MODULES:
        tree = ast.parse(path.read_text("utf-8"))
        calls = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & banned, name_of(path)
        assert not {"pickle", "marshal", "shelve"} & set(imports_of(tree)), name_of(path)


def test_input_is_never_checked_by_assert() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Assert)
    ]
    assert wrong == []


def test_every_module_says_what_it_is_for() -> None:
    for path in MODULES:
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), name_of(path)


def test_a_plain_installation_stays_small() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pulled: set[str] = set()
    pending = [Requirement(text) for text in project["dependencies"]]
    while pending:
        requirement = pending.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in pulled or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        pulled.add(name)
        try:
            pending += [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:
            continue
    assert len(pulled) <= 40, sorted(pulled)
    assert not pulled & {"torch", "ray", "docker", "jpype1"}
