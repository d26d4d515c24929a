"""The endpoints of a served site that only the harness may use.

They stand in front of the site's application and not inside it. A request without the right token
goes on to the site, which has no such page: the answer is the one of any unknown path, by
construction, and no endpoint is a page load, opens a session or meets a disruption.
"""

import dataclasses
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from lowagent_sites.common.changes import diff, digest
from lowagent_sites.common.clock import Clock
from lowagent_sites.common.errors import PrerequisiteError, UnknownNameError, unknown_name
from lowagent_sites.common.fixtures import FixtureError
from lowagent_sites.common.tables import (
    column_names,
    get_table,
    key_names,
    quote_name,
    quote_names,
    select_tables,
)
from lowagent_sites.common.tokens import TokenSource

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from sqlalchemy import Table

    from lowagent_sites.common.request_log import RequestLog
    from lowagent_sites.common.runtime import Runtime
    from lowagent_sites.common.site import Site

PREFIX = "/__harness/"
TOKEN_HEADER = "X-Harness-Token"  # noqa: S105 - the header's name
MIN_TOKEN_LENGTH = 32
_MAX_ROWS = 1000
_MAX_BODY_BYTES = 64 * 1024
_FIRST_YEAR, _LAST_YEAR = 1970, 2200
_AD_MODES = ("once", "every_click")

Answer: TypeAlias = Mapping[str, Any]


class BadRequestError(ValueError):
    """The harness asked for something that the endpoint does not do; answered with 400."""


@dataclass(frozen=True)
class HarnessSettings:
    """What opens the endpoints.

    Attributes:
        token: The secret of the header `X-Harness-Token`, 32 characters at least.

    Raises:
        PrerequisiteError: The token is too short.
    """

    token: str = dataclasses.field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a token that could be guessed."""
        if len(self.token) < MIN_TOKEN_LENGTH:
            raise PrerequisiteError(
                f"the harness token has {len(self.token)} characters; set "
                f"LOWAGENT_VIS_HARNESS_TOKEN to {MIN_TOKEN_LENGTH} or more"
            )


@dataclass(frozen=True)
class ServedSite:
    """The site behind the endpoints.

    Attributes:
        site: The site.
        language_code: Code of its language.
        app: Its pages; takes the runtime from the WSGI environment.
        build: SHA-256 of its seed.
        restore: Brings its database back to the seed with the named fixtures.
        log_in: Returns the name and value of the session cookie of a user name.
        request_log: Where its requests are noted.
    """

    site: "Site"
    language_code: str
    app: "WSGIApplication"
    build: str
    restore: Callable[[Sequence[str]], None]
    log_in: Callable[["Runtime", str], tuple[str, str]]
    request_log: "RequestLog"


class HarnessApi:
    """A WSGI application: the endpoints for who holds the token, the site for everyone else."""

    def __init__(self, served: ServedSite, settings: HarnessSettings, runtime: "Runtime") -> None:
        """Put the endpoints in front of `served`, which starts with `runtime`."""
        self._served = served
        self._token = settings.token.encode()
        self._seed_runtime = runtime
        self._runtime = runtime
        self._gate = _Gate()
        self._endpoints: Mapping[tuple[str, str], Callable[[Request], Answer]] = {
            ("GET", "health"): self._health,
            ("POST", "reset"): self._reset,
            ("GET", "rows"): self._rows,
            ("GET", "diff"): self._diff,
            ("GET", "digest"): self._digest,
            ("POST", "clock"): self._set_clock,
            ("POST", "disruption"): self._arm_disruption,
            ("GET", "disruption/events"): self._disruption_events,
            ("POST", "login"): self._log_in,
            ("GET", "log"): self._log,
        }

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer one request."""
        endpoint = self._find_endpoint(environ)
        if endpoint is not None:
            return _answer(endpoint, Request(environ))(environ, start_response)
        with self._gate.passing():
            environ["lowagent_sites.runtime"] = self._runtime
            return _materialized(self._served.app, environ, start_response)

    def _find_endpoint(self, environ: "WSGIEnvironment") -> Callable[[Request], Answer] | None:
        path = str(environ.get("PATH_INFO", ""))
        given = str(environ.get("HTTP_X_HARNESS_TOKEN", "")).encode("latin-1", "replace")
        if not path.startswith(PREFIX) or not hmac.compare_digest(given, self._token):
            return None
        return self._endpoints.get((environ["REQUEST_METHOD"], path.removeprefix(PREFIX)))

    def _health(self, _request: Request) -> Answer:
        tables = select_tables(self._served.site, incidental=True)
        with self._runtime.database.raw() as connection:
            counts = {
                table.name: connection.execute(
                    f"SELECT count(*) FROM {quote_name(table.name)}"
                ).fetchone()[0]
                for table in tables
            }
        return {
            "site": self._served.site.name,
            "lang": self._served.language_code,
            "now": self._runtime.clock.now().isoformat(),
            "build": self._served.build,
            "counts": counts,
        }

    def _reset(self, request: Request) -> Answer:
        fixtures = _body(request).get("fixtures", [])
        if not isinstance(fixtures, list) or not all(isinstance(name, str) for name in fixtures):
            raise BadRequestError("fixtures is not a list of names")
        started_s = time.perf_counter()
        with self._gate.closed():
            self._served.restore(fixtures)
            self._runtime = dataclasses.replace(self._seed_runtime, epoch=self._runtime.epoch + 1)
            self._runtime.tokens.reset()
            self._runtime.disruptions.reset()
        return {"ok": True, "ms": round(1000 * (time.perf_counter() - started_s), 1)}

    def _rows(self, request: Request) -> Answer:
        query = _RowQuery.from_request(self._served.site, request)
        with self._runtime.database.raw() as connection:
            rows = connection.execute(query.sql, query.parameters).fetchall()
        return {"rows": [dict(zip(query.columns, row, strict=True)) for row in rows]}

    def _diff(self, request: Request) -> Answer:
        wanted = _names(request.args.get("tables", ""))
        incidental = request.args.get("incidental") == "1"
        for name in wanted:
            get_table(self._served.site, name)
        changes = diff(self._runtime.database, self._served.site, incidental=incidental)
        return {name: found for name, found in changes.items() if not wanted or name in wanted}

    def _digest(self, request: Request) -> Answer:
        incidental = request.args.get("incidental") == "1"
        return digest(self._runtime.database, self._served.site, incidental=incidental)

    def _set_clock(self, request: Request) -> Answer:
        text = str(_body(request).get("now", ""))
        try:
            now = datetime.fromisoformat(text)
        except ValueError as error:
            raise BadRequestError(f"not an ISO time: {text!r}") from error
        if not _FIRST_YEAR <= now.year <= _LAST_YEAR:
            raise BadRequestError(f"the year is not between {_FIRST_YEAR} and {_LAST_YEAR}")
        with self._gate.closed():
            self._runtime = dataclasses.replace(self._runtime, clock=Clock(now))
        return {"now": now.isoformat()}

    def _arm_disruption(self, request: Request) -> Answer:
        body = _body(request)
        mode, key = body.get("ad_mode", _AD_MODES[0]), body.get("seed")
        if mode not in _AD_MODES:
            raise unknown_name("ad_mode", str(mode), _AD_MODES)
        with self._gate.closed():
            if key is not None:
                tokens = TokenSource(str(key).encode())
                self._runtime = dataclasses.replace(self._runtime, tokens=tokens)
            if body.get("enabled", True):
                self._runtime.disruptions.arm(mode)
            else:
                self._runtime.disruptions.disarm()
        return {"ok": True}

    def _disruption_events(self, _request: Request) -> Answer:
        disruptions = self._runtime.disruptions
        return {"events": list(disruptions.events()), "active": disruptions.active}

    def _log_in(self, request: Request) -> Answer:
        username = str(_body(request).get("username", ""))
        name, value = self._served.log_in(self._runtime, username)
        return {"name": name, "value": value}

    def _log(self, request: Request) -> Answer:
        return {"lines": self._served.request_log.tail(_limit(request, "last"))}


class _Gate:
    """Lets requests pass side by side; closes when none is on its way and holds the next ones."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._passing = 0
        self._closing = 0

    @contextmanager
    def passing(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: self._closing == 0)
            self._passing += 1
        try:
            yield
        finally:
            with self._condition:
                self._passing -= 1
                self._condition.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        with self._condition:
            self._closing += 1
            try:
                self._condition.wait_for(lambda: self._passing == 0)
                yield
            finally:
                self._closing -= 1
                self._condition.notify_all()


@dataclass(frozen=True)
class _RowQuery:
    columns: tuple[str, ...]
    sql: str
    parameters: tuple[Any, ...]

    @classmethod
    def from_request(cls, site: "Site", request: Request) -> "_RowQuery":
        table = get_table(site, request.args.get("table", ""))
        columns = _known(table, _names(request.args.get("columns", ""))) or column_names(table)
        condition, parameters = _condition(table, request.args.get("where", "{}"))
        order = _order(table, _names(request.args.get("order", "")))
        limit = _limit(request, "limit")
        sql = (
            f"SELECT {quote_names(columns)} FROM {quote_name(table.name)} "
            f"WHERE {condition} ORDER BY {order} LIMIT ?"
        )
        return cls(columns, sql, (*parameters, limit))


def _condition(table: "Table", text: str) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL of `where`, a JSON object of column to value or list of values."""
    try:
        where = json.loads(text)
    except ValueError as error:
        raise BadRequestError("where is not JSON") from error
    if not isinstance(where, dict):
        raise BadRequestError("where is not an object")
    terms: list[str] = ["1"]
    parameters: list[Any] = []
    for name in _known(table, tuple(where)):
        values = where[name] if isinstance(where[name], list) else [where[name]]
        if any(isinstance(value, dict | list) for value in values):
            raise BadRequestError(f"where: not a plain value of {name}")
        choices = " OR ".join(f"{quote_name(name)} IS ?" for _ in values) or "0"
        terms.append(f"({choices})")
        parameters += values
    return " AND ".join(terms), tuple(parameters)


def _order(table: "Table", names: tuple[str, ...]) -> str:
    """Return the SQL of `order`, column names, descending after `-`; the key breaks ties."""
    terms = [
        quote_name(name.removeprefix("-")) + (" DESC" if name.startswith("-") else "")
        for name in names
    ]
    _known(table, tuple(name.removeprefix("-") for name in names))
    return ", ".join([*terms, quote_names(key_names(table))])


def _known(table: "Table", names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in table.c:
            raise unknown_name(f"column of {table.name}", name, column_names(table))
    return names


def _limit(request: Request, name: str) -> int:
    text = request.args.get(name, str(_MAX_ROWS))
    if not text.isdecimal() or not 0 < int(text[:9]) <= _MAX_ROWS:
        raise BadRequestError(f"{name} is not between 1 and {_MAX_ROWS}")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _body(request: Request) -> Mapping[str, Any]:
    request.max_content_length = _MAX_BODY_BYTES
    data = request.get_data()
    if not data:
        return {}
    try:
        body = json.loads(data)
    except ValueError as error:
        raise BadRequestError("the body is not JSON") from error
    if not isinstance(body, dict):
        raise BadRequestError("the body is not an object")
    return body


def _answer(endpoint: Callable[[Request], Answer], request: Request) -> Response:
    try:
        content, status = endpoint(request), 200
    except (BadRequestError, FixtureError, UnknownNameError) as error:
        content, status = {"error": str(error)}, 400
    except (OverflowError, RecursionError, UnicodeError) as error:
        content, status = {"error": f"a value that cannot be used: {error}"}, 400
    except HTTPException as error:
        content, status = {"error": error.name}, error.code or 400
    return Response(
        json.dumps(content, ensure_ascii=False),
        status,
        {"Cache-Control": "no-store"},
        content_type="application/json; charset=utf-8",
    )


def _materialized(
    app: "WSGIApplication", environ: "WSGIEnvironment", start_response: "StartResponse"
) -> list[bytes]:
    """Run a request to its very end, teardown included, before anything is sent."""
    chunks = app(environ, start_response)
    try:
        return list(chunks)
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
