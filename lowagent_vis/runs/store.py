"""A run's folder: nothing that was finished is ever lost or counted twice (`formats.md` 5).

Only the parent process of a run writes here. An episode is appended as one line and flushed to
the disk when it ends; a line torn by a kill is dropped when the run is resumed.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from lowagent_vis.errors import UserError
from lowagent_vis.runs.records import EpisodeRecord, StepRecord

_RUN_FILE = "run.json"
_UNFINISHED_RUN_FILE = ".run.json.tmp"
_EPISODES_FILE = "episodes.jsonl"
_STEPS_FOLDER = "steps"
_SHOWN_DIFFERENCES = 3
_MAY_DIFFER = frozenset({"created_at", "argv"})


class RunStore:
    """Reads and writes one run folder.

    Args:
        folder: The run's folder; see `create` and `open`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, manifest: Mapping[str, Any]) -> "RunStore":
        """Make a new run folder with its `run.json`.

        Raises:
            UserError: The folder exists and is not empty, or cannot be written.
        """
        with _disk_errors(folder):
            is_free = not folder.exists() or _is_empty(folder)
        if not is_free:
            raise UserError(
                f"{folder} exists; continue it with --resume or name another with --out"
            )
        store = cls(folder)
        with _disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(manifest, ensure_ascii=False, indent=1)
            _write_text(folder / _UNFINISHED_RUN_FILE, text)
            (folder / _UNFINISHED_RUN_FILE).replace(folder / _RUN_FILE)
        return store

    @classmethod
    def open(cls, folder: Path) -> "RunStore":
        """Open an existing run folder for reading.

        Raises:
            UserError: There is no run in the folder.
        """
        if not (folder / _RUN_FILE).is_file():
            raise UserError(f"{folder} holds no run (no {_RUN_FILE}); name a run's folder")
        return cls(folder)

    @classmethod
    def resume(cls, folder: Path, manifest: Mapping[str, Any]) -> "RunStore":
        """Open an existing run to go on with it.

        Raises:
            UserError: The folder holds no run, or one that was made differently.
        """
        store = cls.open(folder)
        differing = _differences(store.manifest(), manifest)
        if differing:
            shown = "; ".join(differing[:_SHOWN_DIFFERENCES])
            more = len(differing) - _SHOWN_DIFFERENCES
            rest = f"; and {more} more" if more > 0 else ""
            raise UserError(
                f"{folder} was made differently ({shown}{rest}); "
                "resume it with the same settings or name another folder with --out"
            )
        return store

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder while its episodes are written; a torn last line is cut off.

        Raises:
            UserError: Another process is writing to the folder.
        """
        with _disk_errors(self.folder):
            lock = (self.folder / _RUN_FILE).open("ab")
        with lock:
            self._take(lock)
            with _disk_errors(self.folder):
                self._drop_torn_line()
            yield

    def manifest(self) -> dict[str, Any]:
        """Return what `run.json` holds.

        Raises:
            UserError: The file is damaged.
        """
        path = self.folder / _RUN_FILE
        try:
            content = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read ({error}); the run cannot be used") from error
        if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
            raise UserError(f"{path} is not a run's description; the run cannot be used")
        return content

    def episodes(self) -> Iterator[EpisodeRecord]:
        """Yield the finished episodes in the order in which they ended.

        A last line without its end is skipped: its episode was not finished.

        Raises:
            UserError: A line is no record of an episode.
        """
        path = self.folder / _EPISODES_FILE
        if not path.exists():
            return
        seen: dict[str, int] = {}
        with _open_lines(path) as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith("\n"):
                    return
                try:
                    record = EpisodeRecord.model_validate_json(line)
                except ValidationError as error:
                    first = error.errors()[0]
                    raise UserError(
                        f"{path}, line {number} is no episode record "
                        f"({'.'.join(map(str, first['loc']))}: {first['msg']}); remove the line"
                    ) from error
                earlier = seen.setdefault(record.episode, number)
                if earlier != number:
                    raise UserError(
                        f"{path} holds {record.episode} twice (lines {earlier} and {number}); "
                        "remove one"
                    )
                yield record

    def forget_errors(self) -> None:
        """Take out the episodes that ended without a verdict, so that they are played again."""
        kept = [r for r in self.episodes() if not r.outcome.endswith("_error")]
        path = self.folder / _EPISODES_FILE
        with _disk_errors(self.folder):
            unfinished = path.with_suffix(".tmp")
            unfinished.write_text("".join(r.to_json() + "\n" for r in kept), encoding="utf-8")
            unfinished.replace(path)

    def begin_episode(self, episode: str) -> None:
        """Clear what an unfinished attempt at this episode may have left."""
        with _disk_errors(self.folder):
            shutil.rmtree(self._steps(episode), ignore_errors=True)

    def write_step(self, episode: str, step: StepRecord, clean_jpeg: bytes | None) -> None:
        """Write one step: the picture first, so that a step's record never misses it."""
        folder = self._steps(episode)
        with _disk_errors(self.folder):
            folder.mkdir(parents=True, exist_ok=True)
            if clean_jpeg is not None:
                (folder / f"{step.step:03d}.jpg").write_bytes(clean_jpeg)
            _write_text(folder / f"{step.step:03d}.json", step.to_json())

    def append_episode(self, record: EpisodeRecord) -> None:
        """Append a finished episode and force it to the disk."""
        path = self.folder / _EPISODES_FILE
        with _disk_errors(self.folder), path.open("a", encoding="utf-8") as lines:
            lines.write(record.to_json() + "\n")
            lines.flush()
            os.fsync(lines.fileno())

    def steps(self, episode: str) -> Iterator[StepRecord]:
        """Yield an episode's steps in order.

        Raises:
            UserError: A file holds no step.
        """
        for path in sorted(self._steps(episode).glob("[0-9][0-9][0-9].json")):
            try:
                yield StepRecord.model_validate_json(path.read_bytes())
            except (OSError, ValidationError) as error:
                raise UserError(f"{path} is no record of a step; remove the file") from error

    def clean_jpeg(self, episode: str, step: int) -> bytes | None:
        """Return the clean picture of a step as it was captured, or None."""
        path = self._steps(episode) / f"{step:03d}.jpg"
        return path.read_bytes() if path.is_file() else None

    def _steps(self, episode: str) -> Path:
        return self.folder / _STEPS_FOLDER / episode

    def _take(self, lock: IO[bytes]) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(
                f"another run is writing to {self.folder}; wait for it or name another with --out"
            ) from error
        except OSError:
            return  # a file system without locks: two runs in one folder are up to the user

    def _drop_torn_line(self) -> None:
        path = self.folder / _EPISODES_FILE
        if not path.exists():
            return
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("rb+") as lines:
                lines.truncate(whole)
                lines.flush()
                os.fsync(lines.fileno())


@contextmanager
def _open_lines(path: Path) -> Iterator[IO[str]]:
    try:
        with path.open(encoding="utf-8") as lines:
            yield lines
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}); the run cannot be used") from error


class _disk_errors:  # noqa: N801 - used as a context manager, reads as one
    """Turns a full or read-only disk into one line with the remedy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        """Enter; nothing is held."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise `UserError` in place of an operating system's error."""
        if isinstance(error, OSError | UnicodeEncodeError):
            why = error.strerror if isinstance(error, OSError) else "not a name of a folder"
            raise UserError(
                f"cannot write to {str(self._folder)!r} ({why}); free space or choose another "
                "folder, then continue with --resume: finished episodes are kept"
            ) from error


def _is_empty(folder: Path) -> bool:
    """Tell whether a folder holds nothing but what a kill during `create` may have left."""
    return folder.is_dir() and all(item.name == _UNFINISHED_RUN_FILE for item in folder.iterdir())


def _write_text(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for name in sorted(set(old) | set(new)):
        if (not prefix and name in _MAY_DIFFER) or name == "concurrency":
            continue
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            found += _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            found.append(f"{prefix}{name}: {json.dumps(before)} then, {json.dumps(after)} now")
    return found
