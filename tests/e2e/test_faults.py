"""What is ours is never the agent's failure; what the documentation shows works."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lowagent_vis.agents.reference import ReferenceAgent
from lowagent_vis.browsers.chromium import ChromiumRenderer
from lowagent_vis.cli.main import run_cli
from lowagent_vis.page import parse_page
from lowagent_vis.world import World
from tests.e2e.conftest import LANGUAGES, TASKS, Play
from tests.e2e.test_tampering import template_changed

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]


def test_a_page_that_answers_500_is_never_the_agents_failure(play: Play) -> None:
    with template_changed("ministore/product.html", "{{ product.name }}", "{{ 1 // 0 }}"):
        record = play(TASKS["MS-T001"], LANGUAGES[0], ReferenceAgent()).record
    assert (record.outcome, record.ended_by) == ("harness_error", "error")
    assert record.http_5xx == 1
    assert "answered 500" in record.errors[0]


def test_the_agent_of_the_documentation_plays(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "external-agents.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    program = tmp_path / "agent.py"
    program.write_text(code[1])
    folder = tmp_path / "run"
    status = run_cli(
        ["run", "--agent", "command", "--command", f"{sys.executable} {program}",
         "--tasks", "MS-T001", "--langs", "en", "--out", str(folder)]
    )  # fmt: skip
    assert status == 0
    record = json.loads((folder / "episodes.jsonl").read_text("utf-8"))
    assert (record["outcome"], record["answer"], record["steps"]) == ("failure", "N/A", 11)


@pytest.mark.browser
def test_a_page_gives_one_picture_over_three_browser_starts() -> None:
    from werkzeug.test import Client

    from lowagent_vis.browsers.assets import AssetServer

    paths = ("/", "/c/kitchen", "/p/P02403", "/p/P02403/reviews")
    pages = {}
    for code in LANGUAGES:
        with World.open("ministore", code) as world:
            client = Client(world.wsgi)
            for path in paths:
                page = parse_page(client.get(path).data, url=path)
                pages[code, path] = page.stamped_html()
    found: dict[tuple[str, str], set[bytes]] = {}
    with AssetServer.start() as assets:
        for start in range(3):
            # Another page comes first each time: what a browser drew before must not matter.
            keys = list(pages)[start * 7 :] + list(pages)[: start * 7]
            with ChromiumRenderer.launch(asset_origin=assets.origin) as renderer:
                for key in keys:
                    html = pages[key]
                    found.setdefault(key, set()).add(renderer.render(html).clean_jpeg)
    assert {key: len(pictures) for key, pictures in found.items()} == dict.fromkeys(pages, 1)


def test_a_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    """From a folder that holds a user's own tasks/, sites/ and assets.py."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--wheel-dir", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size <= 60 * 2**20
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.startswith(("sites/", "tests/"))]
        archive.extractall(installed)
    folder = tmp_path / "study"
    for name in ("tasks", "sites"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise ImportError('the user\\'s own')\n")
    (folder / "assets.py").write_text("raise ImportError('the user\\'s own')\n")
    code = (
        "import lowagent_vis, lowagent_sites, set_of_marks, sys\n"
        f"assert all(m.__file__.startswith({str(installed)!r}) "
        "for m in (lowagent_vis, lowagent_sites, set_of_marks))\n"
        "from lowagent_vis.cli.main import main\n"
        "main(['run', '--subset', 'smoke', '--concurrency', '2', '--out', 'run'])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={
            "PYTHONPATH": str(installed),
            "PATH": "/usr/bin:/bin",
            "LOWAGENT_VIS_CACHE": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "15 of 15 played" in result.stdout
