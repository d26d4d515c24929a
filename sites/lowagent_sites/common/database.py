"""Databases of the sites: in memory for a world, in a file for a server.

A world's database is deserialized from a seed and lives inside one outer transaction that is never
committed: a request's session works in a savepoint, and a reset is a rollback.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

_BEGIN_OPTION = "lowagent_sites_begin"
_START = "lowagent_sites_start"
_CACHED_STATEMENTS = 512
_WORLD_CACHE_KIB = 64
_BUSY_TIMEOUT_MS = 5000

_raw_to_wrap: ContextVar[sqlite3.Connection] = ContextVar("raw_to_wrap")


class DatabaseBrokenError(RuntimeError):
    """Site code ended a world's outer transaction; the site's author must act."""


class Database(ABC):
    """A site's database: sessions for requests, a plain connection for the harness."""

    @abstractmethod
    def session(self) -> Session:
        """Return a new session for one request; whoever asked closes it."""

    @abstractmethod
    def begin_write(self, session: Session) -> None:
        """Start the transaction in which a request writes.

        What the session has read before is forgotten, so that preconditions are read again
        inside the transaction.
        """

    @abstractmethod
    def raw(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend the driver's connection, with rows as tuples."""

    @abstractmethod
    def statements(self) -> AbstractContextManager[list[str]]:
        """Collect the SQL that sessions execute inside the `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Free everything; the database cannot be used afterwards."""


class WorldDatabase(Database):
    """A private copy of a seed in memory; one request at a time, under its owner's lock."""

    def __init__(self, connection: Connection, raw: sqlite3.Connection) -> None:
        """Take over an open connection; use `WorldDatabase.open`."""
        self._raw = raw
        self._has_overlay = False
        self.connection = connection
        self._outer = connection.begin()

    @classmethod
    def open(cls, seed: bytes) -> Self:
        """Return a database with the content of `seed`, the bytes of an SQLite file."""
        raw = sqlite3.connect(
            ":memory:",
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_CACHED_STATEMENTS,
        )
        raw.deserialize(seed)
        _set_pragmas(raw)
        # Pages already lie in memory: a large cache would only hold them twice.
        raw.execute(f"PRAGMA cache_size=-{_WORLD_CACHE_KIB}")
        token = _raw_to_wrap.set(raw)
        try:
            connection = _world_engine().connect()
        finally:
            _raw_to_wrap.reset(token)
        return cls(connection, raw)

    def session(self) -> Session:
        """Return a session whose transactions are savepoints of the world's transaction."""
        return Session(bind=self.connection, join_transaction_mode="create_savepoint")

    def begin_write(self, session: Session) -> None:
        """Start a fresh savepoint; the world's lock already keeps other writers out."""
        session.rollback()
        session.connection()

    @property
    def in_transaction(self) -> bool:
        """Whether the outer transaction is still open, as it must be after every request."""
        return self._raw.in_transaction and self._outer.is_active

    def check_idle(self) -> None:
        """Check what must hold between two requests.

        Raises:
            DatabaseBrokenError: A request ended the outer transaction or left its session open.
        """
        if not self.in_transaction:
            raise DatabaseBrokenError("a request ended the world's outer transaction")
        if self.connection.in_nested_transaction():
            raise DatabaseBrokenError("a request left its session open")

    def reset(self) -> None:
        """Return to the seed, or to the seed with its overlay.

        Raises:
            DatabaseBrokenError: A request ended the outer transaction or left its session open.
        """
        self.check_idle()
        if self._has_overlay:
            self._raw.execute(f"ROLLBACK TO {_START}")
        else:
            self._restart()

    def overlay(self, apply: Callable[[Connection], None]) -> None:
        """Start from the seed and what `apply` changes in it; a reset returns to this state."""
        self.clear()
        apply(self.connection)
        self._raw.execute(f"SAVEPOINT {_START}")
        self._has_overlay = True

    def clear(self) -> None:
        """Return to the bare seed.

        Raises:
            DatabaseBrokenError: A request ended the outer transaction or left its session open.
        """
        self.check_idle()
        self._restart()
        self._has_overlay = False

    @contextmanager
    def raw(self) -> Iterator[sqlite3.Connection]:
        """Lend the world's one connection; the caller must not end its transaction."""
        yield self._raw

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """Collect the SQL that this world's sessions execute inside the `with` block."""
        with _collect(self.connection) as collected:
            yield collected

    def close(self) -> None:
        """Close the connection, which frees the database's memory."""
        self.connection.close()
        self._raw.close()

    def _restart(self) -> None:
        self._outer.rollback()
        self._outer = self.connection.begin()


class FileDatabase(Database):
    """A database file in WAL mode; writers queue up by `BEGIN IMMEDIATE`."""

    def __init__(self, path: Path) -> None:
        """Open the existing file at `path`."""
        self.path = path
        self._engine = create_engine(
            f"sqlite:///{path}",
            connect_args={"isolation_level": None, "cached_statements": _CACHED_STATEMENTS},
        )
        event.listen(self._engine, "connect", _set_up_file_connection)
        event.listen(self._engine, "begin", _emit_begin)

    def session(self) -> Session:
        """Return a session with a connection of its own."""
        return Session(bind=self._engine)

    def begin_write(self, session: Session) -> None:
        """Wait for the write lock, then start the transaction."""
        session.rollback()
        session.connection(execution_options={_BEGIN_OPTION: "IMMEDIATE"})

    @contextmanager
    def raw(self) -> Iterator[sqlite3.Connection]:
        """Lend a new connection in autocommit mode and close it afterwards."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            _set_pragmas(connection)
            connection.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
            yield connection

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """Collect the SQL that all sessions execute inside the `with` block."""
        with _collect(self._engine) as collected:
            yield collected

    def restore(self, snapshot: sqlite3.Connection) -> None:
        """Replace the whole content by that of `snapshot`, in one transaction of the file."""
        with self.raw() as connection:
            snapshot.backup(connection)

    def close(self) -> None:
        """Close all pooled connections."""
        self._engine.dispose()


@cache
def _world_engine() -> Engine:
    """Return the engine of all worlds: compiled statements are then shared between them.

    It never opens a connection of its own: each world hands in the one that it has deserialized
    and holds it until it is closed.
    """
    engine = create_engine("sqlite://", creator=_raw_to_wrap.get, poolclass=NullPool)
    event.listen(engine, "begin", _emit_begin)
    return engine


def _emit_begin(connection: Connection) -> None:
    # The driver's own implicit BEGIN is switched off: it would come too late for reads.
    mode = connection.get_execution_options().get(_BEGIN_OPTION, "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")


def _set_pragmas(raw: sqlite3.Connection) -> None:
    raw.execute("PRAGMA foreign_keys=ON")
    # Without it, the rows that INSERT OR REPLACE deletes would escape the change log.
    raw.execute("PRAGMA recursive_triggers=ON")


def _set_up_file_connection(raw: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    raw.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    raw.execute("PRAGMA journal_mode=WAL")
    _set_pragmas(raw)


@contextmanager
def _collect(target: Connection | Engine) -> Iterator[list[str]]:
    collected: list[str] = []

    def note(
        _connection: object, _cursor: object, statement: str, _parameters: object, *_rest: object
    ) -> None:
        collected.append(statement)

    event.listen(target, "before_cursor_execute", note)
    try:
        yield collected
    finally:
        event.remove(target, "before_cursor_execute", note)
