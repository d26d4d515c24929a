"""Seeds: built once, byte-equal, and never left half-written."""

import errno
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import pytest
from sqlalchemy import MetaData

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.seeds import load_or_build_seed, seed_key
from tests.lowagent_sites.common.demo_database import Base, write_rows


@dataclass(frozen=True)
class DemoLanguage:
    """What a seed needs to know of a language."""

    code: str = "qaa"


@dataclass(frozen=True)
class BuildableSite:
    """What a seed needs to know of a site; counts its builds."""

    builds: list[str] = field(default_factory=list)
    version: str = "1"
    before: Callable[[Path], None] = lambda _path: None
    name: str = "demo"
    metadata: MetaData = Base.metadata

    def build(self, language: DemoLanguage, path: Path) -> None:
        self.builds.append(language.code)
        self.before(path)
        write_rows(path)

    def content_version(self) -> str:
        return self.version


LANGUAGE = DemoLanguage()


def test_a_seed_is_built_once_and_then_read(tmp_path: Path) -> None:
    site = BuildableSite()
    first = load_or_build_seed(site, LANGUAGE, tmp_path)
    second = load_or_build_seed(site, LANGUAGE, tmp_path)
    assert first == second
    assert first.path.read_bytes() == first.data
    assert site.builds == ["qaa"]


def test_two_builds_give_equal_bytes(tmp_path: Path) -> None:
    seeds = [load_or_build_seed(BuildableSite(), LANGUAGE, tmp_path / name) for name in "ab"]
    assert seeds[0].data == seeds[1].data
    assert seeds[0].sha256 == seeds[1].sha256


def test_a_seed_opens_read_only_and_carries_the_change_log(tmp_path: Path) -> None:
    seed = load_or_build_seed(BuildableSite(), LANGUAGE, tmp_path)
    with closing(sqlite3.connect(f"file:{seed.path}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA page_size").fetchone() == (4096,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM _before_items").fetchone() == (0,)


def test_changed_content_replaces_the_seed(tmp_path: Path) -> None:
    old = load_or_build_seed(BuildableSite(), LANGUAGE, tmp_path)
    new = load_or_build_seed(BuildableSite(version="2"), LANGUAGE, tmp_path)
    assert new.path != old.path
    assert not old.path.exists()
    assert seed_key(BuildableSite(version="2"), LANGUAGE) in new.path.name


def test_other_languages_keep_their_seeds(tmp_path: Path) -> None:
    other = load_or_build_seed(BuildableSite(), DemoLanguage("qab"), tmp_path)
    load_or_build_seed(BuildableSite(version="2"), LANGUAGE, tmp_path)
    assert other.path.exists()


def test_a_damaged_seed_is_built_again(tmp_path: Path) -> None:
    site = BuildableSite()
    seed = load_or_build_seed(site, LANGUAGE, tmp_path)
    seed.path.write_bytes(seed.data[:-1] + b"x")
    assert load_or_build_seed(site, LANGUAGE, tmp_path) == seed
    assert len(site.builds) == 2


def test_progress_names_the_site_and_the_language(tmp_path: Path) -> None:
    lines: list[str] = []
    load_or_build_seed(BuildableSite(), LANGUAGE, tmp_path, progress=lines.append)
    assert lines == ["demo.qaa: rendering the content", "demo.qaa: writing the database"]


def test_threads_that_want_the_same_seed_build_it_once(tmp_path: Path) -> None:
    site, barrier = BuildableSite(), threading.Barrier(4)

    def load(_number: int) -> str:
        barrier.wait()
        return load_or_build_seed(site, LANGUAGE, tmp_path).sha256

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(load, range(4)))) == 1
    assert len(site.builds) == 1


def build_and_note(folder: Path) -> str:
    def note(_path: Path) -> None:
        with (folder / "builds").open("a") as file:
            file.write("x")

    return load_or_build_seed(BuildableSite(before=note), LANGUAGE, folder).sha256


def test_processes_that_want_the_same_seed_build_it_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        assert len(set(processes.map(build_and_note, [tmp_path] * 4))) == 1
    assert (tmp_path / "builds").read_text() == "x"


def test_a_failed_build_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(PrerequisiteError) as caught:
        load_or_build_seed(BuildableSite(before=fail), LANGUAGE, tmp_path)
    assert str(caught.value) == (
        f"cannot build the database of demo.qaa in {tmp_path}: No space left on device; "
        "free some space there or set LOWAGENT_VIS_CACHE to another folder"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["demo.qaa.lock"]


def build_within_file_limit(folder: Path) -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    try:
        return load_or_build_seed(BuildableSite(), LANGUAGE, folder).sha256
    except PrerequisiteError as error:
        return str(error)


def test_a_disk_that_takes_no_more_is_one_clear_line(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        message = processes.submit(build_within_file_limit, tmp_path).result()
    assert message.startswith(f"cannot build the database of demo.qaa in {tmp_path}: ")
    assert "\n" not in message
    assert [path.name for path in tmp_path.iterdir()] == ["demo.qaa.lock"]


def test_a_folder_that_is_a_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("in the way")
    with pytest.raises(PrerequisiteError, match="set LOWAGENT_VIS_CACHE"):
        load_or_build_seed(BuildableSite(), LANGUAGE, tmp_path / "seeds")


def test_a_fault_of_the_content_is_not_blamed_on_the_disk(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        (path.parent / "missing.csv").read_text()

    with pytest.raises(FileNotFoundError):
        load_or_build_seed(BuildableSite(before=fail), LANGUAGE, tmp_path)


def die_while_building(folder: Path) -> None:
    def die(_path: Path) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    load_or_build_seed(BuildableSite(before=die), LANGUAGE, folder)


def test_a_process_that_was_killed_leaves_no_lock_and_no_rest(tmp_path: Path) -> None:
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as processes,
        pytest.raises(BrokenProcessPool),
    ):
        processes.submit(die_while_building, tmp_path).result()
    seed = load_or_build_seed(BuildableSite(), LANGUAGE, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "demo.qaa.lock",
        seed.path.name,
        f"{seed.path.name}.sha256",
    }


def test_every_process_builds_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; import sys;"
        "from lowagent_sites.common.languages import get_language;"
        "from lowagent_sites.common.seeds import load_or_build_seed;"
        "from lowagent_sites.registry import load_site;"
        "site, language = load_site('ministore'), get_language('ur');"
        "print(load_or_build_seed(site, language, Path(sys.argv[1])).sha256)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / str(number))],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(number)},
        ).stdout
        for number in range(6)
    }
    assert len(found) == 1
