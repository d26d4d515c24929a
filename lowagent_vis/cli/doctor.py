"""`lowagent-vis doctor`: one line a check, each with its remedy; exit status 1 on a shortfall."""

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.languages import selectable_languages
from lowagent_sites.common.seeds import seed_database
from lowagent_sites.paths import cache_dir, data_dir
from lowagent_sites.registry import site_names
from lowagent_vis.browsers.chromium import find_chromium
from lowagent_vis.cli.options import option
from lowagent_vis.errors import HarnessError, UserError
from lowagent_vis.reports.statistics import has_statistics

_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_FONT_SUFFIXES = {".ttf", ".otf", ".ttc", ".pfb"}
_NEEDED_MIB = 300


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: What was checked.
        passed: Whether it holds; None for a remark that is no shortfall.
        detail: What was found, or what to do.
    """

    name: str
    passed: bool | None
    detail: str


@click.command()
@option("--only", help="Check only these, separated by commas: python, browser, fonts, ...")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(only: str | None, as_json: bool) -> int:
    """Check this machine: Python, browser, fonts, data, and one visual episode per language."""
    chosen = {name.strip() for name in only.split(",")} if only else set(CHECKS)
    unknown = chosen - set(CHECKS)
    if unknown:
        raise UserError(f"unknown check {sorted(unknown)[0]!r}; known: {', '.join(CHECKS)}")
    checks: list[Check] = []
    for name, run_check in CHECKS.items():
        if name not in chosen:
            continue
        for check in run_check():
            checks.append(check)
            if not as_json:
                mark = {True: "ok  ", False: "FAIL", None: "note"}[check.passed]
                click.echo(f"{mark}  {check.name}: {check.detail}")
    if as_json:
        click.echo(json.dumps([vars(check) for check in checks], ensure_ascii=False, indent=1))
    return 1 if any(check.passed is False for check in checks) else 0


def _check_python() -> Iterator[Check]:
    yield Check("python", sys.version_info >= (3, 11), platform.python_version())


def _check_browser() -> Iterator[Check]:
    try:
        install = find_chromium()
    except PrerequisiteError as error:
        yield Check("browser", False, str(error))
        return
    yield Check("browser", True, f"{install.version} at {install.path}")


def _check_fonts() -> Iterator[Check]:
    """A Chromium without any system font hangs, though pages use the project's own."""
    folders = (Path(folder).expanduser() for folder in _FONT_FOLDERS)
    has_font = any(
        path.suffix.lower() in _FONT_SUFFIXES
        for folder in folders
        if folder.is_dir()
        for path in folder.rglob("*")
    )
    remedy = "no system font: Chromium would hang; apt-get install fonts-dejavu-core"
    yield Check("fonts", has_font, "a system font is there" if has_font else remedy)
    count = len(list((data_dir("assets") / "fonts").rglob("*.woff2")))
    yield Check(
        "page fonts",
        count > 0,
        f"{count} font files" if count else "the package's fonts are missing; install it again",
    )


def _check_disk() -> Iterator[Check]:
    folder = cache_dir()
    free_mib = shutil.disk_usage(folder).free // 2**20
    yield Check(
        "disk",
        free_mib >= _NEEDED_MIB,
        f"{free_mib} MiB free at {folder}"
        + ("" if free_mib >= _NEEDED_MIB else f"; {_NEEDED_MIB} MiB are needed"),
    )


def _check_data() -> Iterator[Check]:
    for site in site_names():
        for language in selectable_languages():
            try:
                seed = seed_database(site, language.code)
            except PrerequisiteError as error:
                yield Check(f"data {site}.{language.code}", False, str(error))
            else:
                yield Check(f"data {site}.{language.code}", True, f"sha256 {seed.sha256[:12]}")


def _check_statistics() -> Iterator[Check]:
    found = has_statistics()
    yield Check(
        "statistics",
        True if found else None,
        "intervals and figures" if found else "plain rates; pip install 'lowagent-vis[stats]'",
    )


def _check_episodes() -> Iterator[Check]:
    """Play one visual, disrupted episode per language with the reference agent."""
    from lowagent_vis.runs.trial import play_trial

    try:
        find_chromium()
    except PrerequisiteError:
        yield Check("episodes", False, "need a browser")
        return
    for language in selectable_languages():
        try:
            record = play_trial(language.code)
        except (HarnessError, PrerequisiteError) as error:
            yield Check(f"episode {language.code}", False, str(error))
            continue
        detail = f"{record.episode}: {record.outcome} in {record.steps} steps"
        if record.errors:
            detail += f" ({record.errors[-1]})"
        yield Check(f"episode {language.code}", record.outcome == "success", detail)


CHECKS: dict[str, Callable[[], Iterator[Check]]] = {
    "python": _check_python,
    "browser": _check_browser,
    "fonts": _check_fonts,
    "disk": _check_disk,
    "data": _check_data,
    "statistics": _check_statistics,
    "episodes": _check_episodes,
}
