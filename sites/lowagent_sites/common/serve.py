"""A site in a language as an ordinary server, for people and for harnesses in other languages.

The server works on a copy of the seed that is gone when it ends.
"""

import os
import secrets
import socket
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from waitress import create_server  # type: ignore[import-untyped]

from lowagent_sites.common.app import create_app
from lowagent_sites.common.clock import Clock
from lowagent_sites.common.database import FileDatabase
from lowagent_sites.common.disruptions import Disruptions
from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.fixtures import apply_fixtures, fixtures_folder, load_fixture
from lowagent_sites.common.harness_api import HarnessApi, HarnessSettings, ServedSite
from lowagent_sites.common.languages import get_language
from lowagent_sites.common.request_log import RequestLog
from lowagent_sites.common.runtime import Runtime
from lowagent_sites.common.seeds import Seed, seed_database
from lowagent_sites.common.sessions import session_cookie
from lowagent_sites.common.tables import Schema
from lowagent_sites.common.tokens import TokenSource
from lowagent_sites.registry import load_site

if TYPE_CHECKING:
    from lowagent_sites.common.languages import Language
    from lowagent_sites.common.site import Site

_FIRST_PORT = 7000
_PORTS_PER_SITE = 10
_THREADS = 4
_SECRET_VARIABLE = "LOWAGENT_VIS_SECRET_KEY"  # noqa: S105 - the variable's name


def default_port(site_name: str, language_code: str) -> int:
    """Return the port of a site in a language: 7000 + 10 x site + language.

    Raises:
        UnknownNameError: There is no such site or language.
    """
    site, language = load_site(site_name), get_language(language_code)
    return _FIRST_PORT + _PORTS_PER_SITE * site.index + language.port_index


def serve(
    site_name: str,
    language_code: str,
    *,
    port: int,
    token: str,
    host: str = "127.0.0.1",
    offsite_url: str | None = None,
    log_file: Path | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve a site until the process is interrupted.

    Args:
        site_name: Name of the site.
        language_code: Code of its language.
        port: Where to listen.
        token: What opens the harness endpoints.
        host: The address to listen on.
        offsite_url: Where a disruption leads who accepts it; the application knows a default.
        log_file: A file to which a line of JSON is appended per request.
        on_ready: Called when requests are answered.

    Raises:
        UnknownNameError: There is no such site or language.
        PrerequisiteError: The token is too short, the seed cannot be built, the port is taken or
            the log cannot be written.
    """
    settings = HarnessSettings(token)
    site, language = load_site(site_name), get_language(language_code)
    seed = seed_database(site_name, language_code)
    log = RequestLog(log_file)
    with (
        closing(_listen(host, port)) as listener,
        open_site(
            site, language, seed, settings=settings, offsite_url=offsite_url, request_log=log
        ) as app,
        closing(create_server(app, sockets=[listener], threads=_THREADS, ident=None)) as server,
    ):
        on_ready()
        server.run()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise PrerequisiteError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another port"
        ) from error


@contextmanager
def open_site(
    site: "Site",
    language: "Language",
    seed: Seed,
    *,
    settings: HarnessSettings,
    offsite_url: str | None = None,
    fixtures: Path | None = None,
    request_log: RequestLog | None = None,
) -> Iterator[HarnessApi]:
    """Yield the WSGI application of a site over a temporary copy of its seed.

    Args:
        site: The site.
        language: Its language.
        seed: Its database.
        settings: What opens the harness endpoints.
        offsite_url: Where a disruption leads who accepts it; the application knows a default.
        fixtures: Folder of the fixtures; the site's own by default.
        request_log: Where requests are noted; in memory by default.
    """
    folder = fixtures or fixtures_folder(site.name)
    log = request_log or RequestLog()
    with TemporaryDirectory(prefix=f"lowagent-{site.name}-") as temporary:
        path = Path(temporary) / "site.sqlite"
        path.write_bytes(seed.data)
        with closing(FileDatabase(path)) as database:
            runtime = Runtime(
                database=database,
                clock=Clock(),
                tokens=TokenSource(None),
                disruptions=Disruptions(),
                epoch=0,
            )
            app = create_app(
                site,
                language=language,
                runtime=runtime,
                offsite_url=offsite_url,
                request_log=log,
            )
            if _SECRET_VARIABLE not in os.environ:
                # The default is public, which is fine only where nobody can forge a cookie.
                app.config["SECRET_KEY"] = secrets.token_urlsafe(32)
            served = ServedSite(
                site=site,
                language_code=language.code,
                app=app,
                build=seed.sha256,
                restore=lambda names: restore(
                    database, site, language.code, seed.data, names, folder=folder
                ),
                log_in=lambda current, username: session_cookie(app, current, username),
                request_log=log,
            )
            yield HarnessApi(served, settings, runtime)


def restore(
    database: FileDatabase,
    schema: Schema,
    language_code: str,
    seed: bytes,
    names: Sequence[str],
    *,
    folder: Path,
) -> None:
    """Bring a served database back to its seed, with the fixtures `names` of `folder` laid over.

    Raises:
        UnknownNameError: There is no fixture of this name; the database is left as it was.
        FixtureError: A fixture does not fit the site; the database is the bare seed.
    """
    for name in names:
        load_fixture(folder, name)
    with closing(sqlite3.connect(":memory:")) as snapshot:
        snapshot.deserialize(seed)
        database.restore(snapshot)
    if names:
        with database.session() as session:
            database.begin_write(session)
            apply_fixtures(session.connection(), schema, language_code, names, folder=folder)
            session.commit()
