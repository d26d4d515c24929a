"""The log of requests: one JSON line each, kept in memory and, if wanted, in a file."""

import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Flask, Response, g, request

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.runtime import current_user, db

_KEPT_LINES = 1000


class RequestLog:
    """Collects the lines; give it to `create_app`.

    Args:
        path: A file outside the folders that are served, appended to; None for memory only.
        kept_lines: How many of the latest lines `tail` can return.

    Raises:
        PrerequisiteError: The file cannot be written.
    """

    def __init__(self, path: Path | None = None, *, kept_lines: int = _KEPT_LINES) -> None:
        self._path = path
        if path is not None:
            _check_is_writable(path)
        self._lines: deque[Mapping[str, Any]] = deque(maxlen=kept_lines)
        self._lock = threading.Lock()

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line."""
        with self._lock:
            self._lines.append(line)
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def tail(self, count: int) -> list[Mapping[str, Any]]:
        """Return the latest `count` lines, oldest first.

        A line has `time` (UTC, ISO), `method`, `path` (with query), `status`, `user` (name or
        None), `ms` and `rows_written` (those of triggers, such as the change log, included).
        """
        with self._lock:
            return list(self._lines)[-count:] if count > 0 else []


def _check_is_writable(path: Path) -> None:
    try:
        path.open("a", encoding="utf-8").close()
    except OSError as error:
        raise PrerequisiteError(
            f"cannot write the log {path}: {error.strerror}; name a file in a folder that exists"
        ) from error


def install_request_log(app: Flask, log: RequestLog) -> None:
    """Log every request of `app`."""

    @app.before_request
    def start() -> None:
        g.started_s = time.perf_counter()
        if request.method == "POST":
            g.changes_before = _count_changes()

    @app.after_request
    def finish(response: Response) -> Response:
        user = current_user() if "user" in g else None
        log.add(
            {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "method": request.method,
                "path": request.full_path.removesuffix("?"),
                "status": response.status_code,
                "user": None if user is None else user.username,
                "ms": round(1000 * (time.perf_counter() - g.started_s), 1),
                "rows_written": _count_changes() - g.changes_before if "changes_before" in g else 0,
            }
        )
        return response


def _count_changes() -> int:
    """Return how many rows the request's connection has ever written, those of triggers too."""
    driver = db().connection().connection.driver_connection
    return driver.total_changes if isinstance(driver, sqlite3.Connection) else 0
