"""World: one site in one language with a private database, as one episode sees it.

Opening a world is the reset; there is nothing to undo afterwards. It is the only module of the
harness that knows databases.
"""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from lowagent_sites.common.app import shared_app
from lowagent_sites.common.changes import Diff, diff, digest
from lowagent_sites.common.clock import Clock
from lowagent_sites.common.database import DatabaseBrokenError, WorldDatabase
from lowagent_sites.common.disruptions import Disruptions
from lowagent_sites.common.fixtures import apply_fixtures, fixtures_folder
from lowagent_sites.common.runtime import Runtime
from lowagent_sites.common.seeds import Seed, seed_database
from lowagent_sites.common.sessions import session_cookie
from lowagent_sites.common.tables import Schema
from lowagent_sites.common.tokens import TokenSource
from lowagent_sites.registry import load_site
from lowagent_vis.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from _typeshed import OptExcInfo
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Numerals: TypeAlias = Literal["local", "western"]
DisruptionMode: TypeAlias = Literal["once", "every_click"]

_MAX_IDLE_WORLDS = 8
_STEPS_PER_CHECK = 100_000
_MAX_CHECKS = 500
"""A query may take 50 million steps of SQLite's machine, about a second."""
_QUERY_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
_QUERY_FUNCTIONS = frozenset(
    [
        "abs",
        "avg",
        "coalesce",
        "count",
        "group_concat",
        "iif",
        "ifnull",
        "instr",
        "json",
        "json_array_length",
        "json_each",
        "json_extract",
        "length",
        "like",
        "lower",
        "max",
        "min",
        "nullif",
        "replace",
        "round",
        "row_number",
        "rank",
        "dense_rank",
        "substr",
        "substring",
        "sum",
        "total",
        "trim",
        "upper",
        "->>",
    ]
)


class QueryError(HarnessError):
    """A task's query is not a plain SELECT over the site's tables, or is wrong or too long."""


@dataclass(frozen=True)
class WorldTemplate:
    """What the worlds of one site, language and kind of numerals share.

    Attributes:
        site_name: Name of the site.
        language_code: Code of its language.
        schema: Its tables.
        seed: Its database.
        app: Its pages; takes the runtime from the WSGI environment.
        fixtures_folder: Where its fixtures are.
    """

    site_name: str
    language_code: str
    schema: Schema
    seed: Seed
    app: "WSGIApplication"
    fixtures_folder: Path


class World:
    """A site that one episode has for itself; safe to use from several threads.

    Attributes:
        site: Name of the site.
        language: Code of its language.
        origin: Scheme and host under which its pages are served.
        seed_sha256: SHA-256 of the database it was opened from, without its fixtures.
        http_5xx: Number of answers so far that say that the site itself failed.
    """

    def __init__(self, template: WorldTemplate, database: WorldDatabase, key: bytes) -> None:
        """Take over a database in its start state; use `World.open`."""
        self.site = template.site_name
        self.language = template.language_code
        self.origin = f"http://{template.site_name}.test"
        self.seed_sha256 = template.seed.sha256
        self.http_5xx = 0
        self._template = template
        self._database = database
        self._lock = threading.RLock()
        self._is_open = True
        self._is_tampered_with = False
        self._runtime = Runtime(
            database=database,
            clock=Clock(),
            tokens=TokenSource(key),
            disruptions=Disruptions(),
            epoch=0,
        )

    @classmethod
    def open(
        cls,
        site: str,
        language: str,
        *,
        fixtures: Sequence[str] = (),
        numerals: Numerals = "local",
        key: bytes = b"",
    ) -> Self:
        """Open a fresh world.

        Args:
            site: Name of the site.
            language: Code of the language.
            fixtures: Names of the fixtures laid over the seed, in this order.
            numerals: Whether pages show the language's own digits or western ones.
            key: Seeds every random-looking token of the site: equal keys and equal requests
                give equal bytes.

        Raises:
            UnknownNameError: There is no such site, language or fixture.
            PrerequisiteError: The seed cannot be built.
            FixtureError: A fixture does not fit the site.
        """
        template = WorldTemplate(
            site_name=site,
            language_code=language,
            schema=load_site(site),
            seed=seed_database(site, language),
            app=shared_app(site, language, numerals),
            fixtures_folder=fixtures_folder(site),
        )
        return cls.from_template(template, fixtures=fixtures, key=key)

    @classmethod
    def from_template(
        cls, template: WorldTemplate, *, fixtures: Sequence[str] = (), key: bytes = b""
    ) -> Self:
        """Open a fresh world of a site that need not be registered; else like `open`."""
        database = _idle.take(template.seed)
        with ExitStack() as undo:
            undo.callback(database.close)
            if fixtures:
                database.overlay(
                    partial(
                        apply_fixtures,
                        schema=template.schema,
                        language_code=template.language_code,
                        names=tuple(fixtures),
                        folder=template.fixtures_folder,
                    )
                )
            undo.pop_all()
        return cls(template, database, key)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: "TracebackType | None",
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hand the database back; closing twice is harmless."""
        with self._lock:
            if not self._is_open:
                return
            self._is_open = False
            if self._is_tampered_with:
                self._database.close()
            else:
                _idle.put(self._template.seed, self._database)

    def wsgi(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer one request, to its very end; requests of a world run one after another.

        Raises:
            HarnessError: The world is closed, or the site has ended its transaction.
        """
        answer = _Answer()
        with self._lock:
            self._check_open()
            environ["lowagent_sites.runtime"] = self._runtime
            answer.run(self._template.app, environ)
            try:
                self._database.check_idle()
            except DatabaseBrokenError as error:
                request = f"{environ.get('REQUEST_METHOD')} {environ.get('PATH_INFO')}"
                raise HarnessError(f"{self.site}: {request}: {error}") from error
            self.http_5xx += answer.status.startswith("5")
        start_response(answer.status, answer.headers)
        return [answer.body]

    def reset(self) -> None:
        """Return to the start state; sessions of before are signed out.

        Raises:
            HarnessError: The world is closed, or the site has ended its transaction.
        """
        with self._lock:
            self._check_open()
            try:
                self._database.reset()
            except DatabaseBrokenError as error:
                raise HarnessError(f"{self.site}: {error}") from error
            self._runtime.tokens.reset()
            self._runtime.disruptions.reset()
            self._runtime = Runtime(
                database=self._database,
                clock=Clock(),
                tokens=self._runtime.tokens,
                disruptions=self._runtime.disruptions,
                epoch=self._runtime.epoch + 1,
            )
            self.http_5xx = 0

    def diff(self, incidental: bool = False) -> Diff:
        """Return the rows added, removed and changed since the reset, per table that changed.

        Args:
            incidental: Include tables that no verdict depends on, such as one-time form ids.
        """
        with self._lock:
            self._check_open()
            return diff(self._database, self._template.schema, incidental=incidental)

    def digest(self, incidental: bool = False) -> dict[str, str]:
        """Return the SHA-256 over all rows of each table."""
        with self._lock:
            self._check_open()
            return digest(self._database, self._template.schema, incidental=incidental)

    def query(
        self, sql: str, params: Mapping[str, Any] | Sequence[Any] = ()
    ) -> list[dict[str, Any]]:
        """Return the rows of one SELECT as mappings from column to value.

        Task files are data and not trusted: anything but reading the site's tables with plain
        functions is refused by SQLite's authorizer, and so is a query that does not end.

        Raises:
            QueryError: The query was refused, is wrong or takes too long.
        """
        with self._lock, self._database.raw() as connection:
            self._check_open()
            with _reading_only(connection, self._template.schema):
                try:
                    cursor = connection.execute(sql, params)
                    names = [column[0] for column in cursor.description or ()]
                    rows = cursor.fetchall()
                except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
                    raise QueryError(f"{error}: {sql}") from error
        if not names:
            raise QueryError(f"not a SELECT: {sql}")
        return [dict(zip(names, row, strict=True)) for row in rows]

    @contextmanager
    def tampering(self) -> "Iterator[sqlite3.Connection]":
        """Lend the driver's connection, for checks that change data behind the site's back."""
        with self._lock, self._database.raw() as connection:
            self._check_open()
            # Settings of a connection outlive a rollback: no other world may inherit it.
            self._is_tampered_with = True
            yield connection

    def arm_disruptions(self, mode: DisruptionMode) -> None:
        """Let the cookie notice and the pop-up interrupt the episode."""
        with self._lock:
            self._runtime.disruptions.arm(mode)

    def disruption_events(self) -> list[dict[str, Any]]:
        """Return what happened with the interruptions so far, in order."""
        with self._lock:
            return list(self._runtime.disruptions.events())

    def disruption_active(self) -> str | None:
        """Return the kind of the interruption that is on screen, if one is."""
        with self._lock:
            return self._runtime.disruptions.active

    def login_cookie(self, username: str) -> tuple[str, str]:
        """Return the name and value of a cookie that signs `username` in; never for episodes.

        Raises:
            UnknownNameError: There is no such user.
        """
        with self._lock:
            self._check_open()
            return session_cookie(self._template.app, self._runtime, username)

    def _check_open(self) -> None:
        if not self._is_open:
            raise HarnessError(f"the world of {self.site}.{self.language} is closed")


class _Answer:
    """Collects what a WSGI application says, so that it is over before anything is sent."""

    def __init__(self) -> None:
        self.status = ""
        self.headers: list[tuple[str, str]] = []
        self.body = b""
        self._written: list[bytes] = []

    def run(self, app: "WSGIApplication", environ: "WSGIEnvironment") -> None:
        chunks = app(environ, self._start_response)
        try:
            rest = b"".join(chunks)
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()
        self.body = b"".join(self._written) + rest

    def _start_response(
        self,
        status: str,
        headers: list[tuple[str, str]],
        _error: "OptExcInfo | None" = None,
        /,
    ) -> Any:
        self.status, self.headers = status, headers
        return self._written.append


class _IdleDatabases:
    """Databases of closed worlds, ready for the next one; the longest idle go first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._databases: OrderedDict[WorldDatabase, str] = OrderedDict()

    def take(self, seed: Seed) -> WorldDatabase:
        with self._lock:
            for database, sha256 in reversed(self._databases.items()):
                if sha256 == seed.sha256:
                    del self._databases[database]
                    return database
        return WorldDatabase.open(seed.data)

    def put(self, seed: Seed, database: WorldDatabase) -> None:
        try:
            database.clear()
        except DatabaseBrokenError:
            database.close()
            return
        with self._lock:
            self._databases[database] = seed.sha256
            surplus = [
                self._databases.popitem(last=False)[0]
                for _ in range(len(self._databases) - self._limit)
            ]
        for old in surplus:
            old.close()


_idle = _IdleDatabases(_MAX_IDLE_WORLDS)


@contextmanager
def _reading_only(connection: sqlite3.Connection, schema: Schema) -> "Iterator[None]":
    checks_left = _MAX_CHECKS

    def authorize(
        action: int, first: str | None, second: str | None, _database: object, _trigger: object
    ) -> int:
        is_allowed = action in _QUERY_ACTIONS
        if action == sqlite3.SQLITE_READ:
            is_allowed = first in schema.metadata.tables or first == "json_each"
        elif action == sqlite3.SQLITE_FUNCTION:
            is_allowed = (second or "").lower() in _QUERY_FUNCTIONS
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    def is_over_budget() -> bool:
        nonlocal checks_left
        checks_left -= 1
        return checks_left < 0

    connection.set_authorizer(authorize)
    connection.set_progress_handler(is_over_budget, _STEPS_PER_CHECK)
    try:
        yield
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
