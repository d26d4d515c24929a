"""Seeds: the database of a site in a language, built once into the user's cache.

A seed is a function of the site's content and code, the language's file and the way it is written;
a change of any of them gives another file name. Two builds give equal bytes.
"""

import errno
import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from lowagent_sites.common.changes import bake_change_log
from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.languages import get_language
from lowagent_sites.paths import cache_dir, data_dir
from lowagent_sites.registry import load_site

if TYPE_CHECKING:
    from sqlalchemy import Engine, MetaData

    from lowagent_sites.common.languages import Language
    from lowagent_sites.common.site import Site

_LAYOUT = 1
"""Raised when the change log or the way a seed is written changes."""
_UNFINISHED = ".building"
_PAGE_BYTES = 4096
_LOCK_TIMEOUT_S = 600
_OS_FAULTS = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EEXIST,
        errno.EFBIG,
        errno.EIO,
        errno.ENOSPC,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)
_SQLITE_FAULTS = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)

Progress: TypeAlias = Callable[[str], None]
"""Called with one line at the start of each stage of a build."""


@dataclass(frozen=True)
class Seed:
    """A built database.

    Attributes:
        path: Its file in the cache.
        sha256: Hexadecimal SHA-256 of its bytes.
        data: Its bytes.
    """

    path: Path
    sha256: str
    data: bytes


def seed_database(site_name: str, language_code: str, *, progress: Progress | None = None) -> Seed:
    """Return the seed of a site in a language; build it if the cache has none that is current.

    Within a process every call returns the same object.

    Raises:
        UnknownNameError: There is no such site or language.
        PrerequisiteError: The cache cannot be written, for want of space or of permission.
    """
    key = (cache_dir(), site_name, language_code)
    if key not in _loaded:
        site, language = load_site(site_name), get_language(language_code)
        seed = load_or_build_seed(site, language, cache_dir() / "seeds", progress=progress)
        _loaded.setdefault(key, seed)
    return _loaded[key]


_loaded: dict[tuple[Path, str, str], Seed] = {}


def create_tables(engine: "Engine", metadata: "MetaData") -> None:
    """Create the tables of a site and their indexes, in the same order in every process.

    `create_all` walks a set of indexes, whose order changes from run to run: the same rows in a
    file of other bytes.
    """
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(CreateTable(table))
            for index in sorted(table.indexes, key=lambda index: str(index.name)):
                connection.execute(CreateIndex(index))


def load_or_build_seed(
    site: "Site", language: "Language", folder: Path, *, progress: Progress | None = None
) -> Seed:
    """Return the current seed in `folder`, after building it if there is none.

    Raises:
        PrerequisiteError: The folder cannot be written.
    """
    stem = f"{site.name}.{language.code}"
    path = folder / f"{stem}.{seed_key(site, language)}.sqlite"
    with _disk_faults_are_the_users(stem, folder):
        folder.mkdir(parents=True, exist_ok=True)
        seed = _load(path)
        if seed is not None:
            return seed
        with _lock(folder / f"{stem}.lock"):
            # Another process may have built it while this one was waiting.
            return _load(path) or build_seed(site, language, path, progress=progress)


def build_seed(
    site: "Site", language: "Language", path: Path, *, progress: Progress | None = None
) -> Seed:
    """Build a seed into `path`, replacing earlier ones of the same site and language.

    Only one process at a time may do this in one folder.

    Raises:
        OSError, sqlite3.Error, sqlalchemy.exc.DBAPIError: The file cannot be written; nothing
            half-written is left.
    """
    stem = f"{site.name}.{language.code}"
    report = progress or (lambda _line: None)
    for unfinished in path.parent.glob(f"{stem}.*{_UNFINISHED}"):
        shutil.rmtree(unfinished)
    with TemporaryDirectory(prefix=f"{stem}.", suffix=_UNFINISHED, dir=path.parent) as folder:
        rendered, final = Path(folder) / "rendered.sqlite", Path(folder) / "final.sqlite"
        report(f"{stem}: rendering the content")
        site.build(language, rendered)
        report(f"{stem}: writing the database")
        _finish(site, rendered, final)
        data = final.read_bytes()
        digest = Path(folder) / "final.sha256"
        digest.write_text(hashlib.sha256(data).hexdigest() + "\n", "ascii")
        for earlier in path.parent.glob(f"{stem}.*.sqlite*"):
            earlier.unlink()
        final.replace(path)
        digest.replace(_digest_path(path))
    return Seed(path, hashlib.sha256(data).hexdigest(), data)


def seed_key(site: "Site", language: "Language") -> str:
    """Return a short hash of everything that a seed is made from."""
    hasher = hashlib.sha256(f"{_LAYOUT} {site.content_version()} {language.code}".encode())
    language_file = data_dir("assets") / "languages" / f"{language.code}.toml"
    if language_file.is_file():
        hasher.update(language_file.read_bytes())
    return hasher.hexdigest()[:16]


def _load(path: Path) -> Seed | None:
    """Return the seed in `path` if it is whole."""
    try:
        data = path.read_bytes()
        expected = _digest_path(path).read_text("ascii").strip()
    except FileNotFoundError:
        return None
    actual = hashlib.sha256(data).hexdigest()
    return Seed(path, actual, data) if actual == expected else None


def _digest_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _finish(site: "Site", rendered: Path, final: Path) -> None:
    """Add the change log and write the file anew, so that its bytes depend on its rows alone."""
    with closing(sqlite3.connect(rendered, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        bake_change_log(connection, site.metadata)
        connection.execute("VACUUM INTO ?", (str(final),))


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep other processes and threads out of the `with` block.

    An exclusive transaction on an empty database is a file lock on every platform, and it ends
    with the process that holds it.
    """
    with closing(
        sqlite3.connect(path, isolation_level=None, timeout=_LOCK_TIMEOUT_S)
    ) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def _disk_faults_are_the_users(stem: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = _disk_fault(cause)
        if reason is None:
            raise
        raise PrerequisiteError(
            f"cannot build the database of {stem} in {folder}: {reason}; "
            "free some space there or set LOWAGENT_VIS_CACHE to another folder"
        ) from error


def _disk_fault(error: BaseException | None) -> str | None:
    """Return what is wrong with the disk or the folder; None if the fault is another one."""
    if isinstance(error, OSError) and error.errno in _OS_FAULTS:
        return error.strerror
    if isinstance(error, sqlite3.Error):
        extended_code: int | None = getattr(error, "sqlite_errorcode", None)
        if extended_code is not None and extended_code & 0xFF in _SQLITE_FAULTS:
            return str(error)
    return None
