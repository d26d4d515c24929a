"""A site behind a real server: races, resets under load, and what is refused."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from waitress import create_server as create_waitress
from waitress import wasyncore
from werkzeug.test import Client

from lowagent_sites.common.changes import digest
from lowagent_sites.common.clock import Clock
from lowagent_sites.common.database import FileDatabase
from lowagent_sites.common.disruptions import Disruptions
from lowagent_sites.common.errors import PrerequisiteError, UnknownNameError
from lowagent_sites.common.fixtures import FixtureError
from lowagent_sites.common.harness_api import HarnessApi, HarnessSettings, ServedSite
from lowagent_sites.common.languages import (
    Language,
    baseline_language,
    get_language,
    selectable_languages,
)
from lowagent_sites.common.request_log import RequestLog
from lowagent_sites.common.runtime import Runtime
from lowagent_sites.common.seeds import load_or_build_seed
from lowagent_sites.common.serve import default_port, open_site, restore, serve
from lowagent_sites.common.site import HeaderData, Site
from lowagent_sites.common.tokens import TokenSource
from tests.lowagent_sites.common.demo_database import DEMO, demo_seed
from tests.lowagent_sites.common.demo_shop import demo_shop
from tests.lowagent_sites.common.test_harness_api import TOKEN, ShopSite, log_in

WRONG_FIXTURE = """
schema: 1
about: There is no such item.
changes: [{update: {table: items, where: {sku: P999}, set: {stock: 0}}}]
"""


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return demo_seed(tmp_path_factory.mktemp("seed"))


@pytest.fixture
def database(seed: bytes, tmp_path: Path) -> Iterator[FileDatabase]:
    path = tmp_path / "site.sqlite"
    path.write_bytes(seed)
    with closing(FileDatabase(path)) as opened:
        yield opened


@pytest.fixture
def origin(database: FileDatabase, seed: bytes, tmp_path: Path) -> Iterator[str]:
    served = ServedSite(
        site=ShopSite(),
        language_code="qaa",
        app=demo_shop(),
        build="0" * 64,
        restore=lambda names: restore(database, DEMO, "qaa", seed, names, folder=tmp_path),
        log_in=log_in,
        request_log=RequestLog(),
    )
    runtime = Runtime(
        database=database,
        clock=Clock(),
        tokens=TokenSource(None),
        disruptions=Disruptions(),
        epoch=0,
    )
    api = HarnessApi(served, HarnessSettings(TOKEN), runtime)
    sockets: dict[int, Any] = {}
    server = create_waitress(api, host="127.0.0.1", port=0, threads=8, map=sockets)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    # Sockets are closed by the thread that polls them; from here it would poll closed ones.
    server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets, ignore_all=True))
    thread.join()
    server.task_dispatcher.shutdown()


def test_exactly_one_of_many_parallel_posts_gets_the_last_item(origin: str) -> None:
    barrier = threading.Barrier(8)

    def buy(number: int) -> list[int]:
        with httpx.Client(base_url=origin) as client:
            barrier.wait()
            return [client.post("/buy/P001").status_code for _ in range(5)]

    with ThreadPoolExecutor(8) as threads:
        statuses = [status for part in threads.map(buy, range(8)) for status in part]
    assert sorted(set(statuses)) == [200, 409]
    assert statuses.count(200) == 1


def test_resets_under_load_leave_nothing_of_an_earlier_episode(
    origin: str, database: FileDatabase
) -> None:
    before = digest(database, DEMO, incidental=True)
    barrier = threading.Barrier(6)
    headers = {"X-Harness-Token": TOKEN}

    def work(number: int) -> set[int]:
        with httpx.Client(base_url=origin, headers=headers) as client:
            barrier.wait()
            if number == 0:
                return {client.post("/__harness/reset").status_code for _ in range(10)}
            return {client.post("/buy/P004").status_code for _ in range(20)}

    with ThreadPoolExecutor(6) as threads:
        statuses = set().union(*threads.map(work, range(6)))
    assert statuses <= {200, 409}
    httpx.post(f"{origin}/__harness/reset", headers=headers)
    assert digest(database, DEMO, incidental=True) == before


def test_a_fixture_that_does_not_exist_leaves_the_database_as_it_was(
    database: FileDatabase, seed: bytes, tmp_path: Path
) -> None:
    with database.raw() as connection:
        connection.execute("UPDATE orders SET buyer = 'x'")
    before = digest(database, DEMO)
    with pytest.raises(UnknownNameError):
        restore(database, DEMO, "qaa", seed, ["missing"], folder=tmp_path)
    assert digest(database, DEMO) == before


def test_a_fixture_that_does_not_fit_leaves_the_bare_seed(
    database: FileDatabase, seed: bytes, tmp_path: Path
) -> None:
    before = digest(database, DEMO)
    (tmp_path / "wrong.yaml").write_text(WRONG_FIXTURE)
    with database.raw() as connection:
        connection.execute("UPDATE orders SET buyer = 'x'")
    with pytest.raises(FixtureError):
        restore(database, DEMO, "qaa", seed, ["wrong"], folder=tmp_path)
    assert digest(database, DEMO) == before


def test_a_short_token_keeps_the_server_from_starting() -> None:
    language = selectable_languages()[0]
    with pytest.raises(PrerequisiteError, match="set LOWAGENT_VIS_HARNESS_TOKEN to 32 or more"):
        serve("ministore", language.code, port=0, token="short")


def test_a_taken_port_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PrerequisiteError, match=f"cannot listen on 127.0.0.1:{port}: .*; cho"):
            serve("ministore", baseline_language().code, port=port, token=TOKEN)


def test_ports_follow_the_site_and_the_language() -> None:
    for language in selectable_languages():
        port = default_port("ministore", language.code)
        assert port == 7010 + get_language(language.code).port_index
    ports = {default_port("ministore", language.code) for language in selectable_languages()}
    assert ports == {7010, 7011, 7012, 7013, 7014}


class AccountBase(DeclarativeBase):
    """The base of a site that has accounts and nothing else."""


class Account(AccountBase):
    """What the common pages need to know of an account."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str]
    display_name: Mapped[str]
    email: Mapped[str]
    password_hash: Mapped[str]
    is_login: Mapped[bool]
    joined_on: Mapped[date]


def write_one_account(_language: Language, path: Path) -> None:
    """Write a database with one account."""
    engine = create_engine(f"sqlite:///{path}")
    AccountBase.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(
            Account(
                username="known",
                display_name="Known",
                email="known@example.org",
                password_hash="",
                is_login=True,
                joined_on=date(2026, 1, 1),
            )
        )
        session.commit()
    engine.dispose()


PAGES = Site(
    name="pages",
    index=9,
    title="Pages",
    package="lowagent_sites.common",
    blueprints=tuple,
    metadata=AccountBase.metadata,
    incidental_tables=frozenset(),
    derived_columns={},
    user_model=Account,
    header=HeaderData,
    build=write_one_account,
    content_version=lambda: "1",
)


@pytest.fixture(params=[language.code for language in selectable_languages()])
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Client]:
    language = get_language(request.param)
    seed = load_or_build_seed(PAGES, language, tmp_path)
    with open_site(PAGES, language, seed, settings=HarnessSettings(TOKEN)) as api:
        yield Client(api)


def test_a_wrong_token_gets_the_localized_page_of_an_unknown_path(pages: Client) -> None:
    pages.get("/login")
    refused = pages.get("/__harness/health", headers={"X-Harness-Token": "wrong"})
    unknown = pages.get("/__harness/healthy", headers={"X-Harness-Token": "wrong"})
    assert refused.status_code == unknown.status_code == 404
    assert refused.mimetype == "text/html"
    assert refused.data == unknown.data


def test_a_cookie_of_an_earlier_episode_is_signed_out(pages: Client) -> None:
    headers = {"X-Harness-Token": TOKEN}
    cookie = pages.post("/__harness/login", json={"username": "known"}, headers=headers).json
    pages.set_cookie(cookie["name"], cookie["value"])
    assert pages.get("/account").status_code == 200
    pages.post("/__harness/reset", headers=headers)
    assert pages.get("/account").status_code == 302


def test_harness_requests_are_no_page_loads_and_meet_no_disruption(pages: Client) -> None:
    headers = {"X-Harness-Token": TOKEN}
    pages.post("/__harness/disruption", json={"enabled": True, "seed": "s"}, headers=headers)
    assert pages.get("/__harness/health", headers=headers).json["site"] == "pages"
    events = pages.get("/__harness/disruption/events", headers=headers).json
    assert events == {"events": [], "active": None}
    pages.get("/login")
    events = pages.get("/__harness/disruption/events", headers=headers).json
    assert [(event["kind"], event["event"]) for event in events["events"]] == [("cookie", "shown")]
    assert events["active"] == "cookie"
    pages.post("/__harness/reset", headers=headers)
    assert "password" in pages.get("/login").text


def test_the_harness_reads_which_pages_were_asked_for(pages: Client) -> None:
    headers = {"X-Harness-Token": TOKEN}
    pages.get("/login?next=/account")
    pages.get("/nowhere")
    lines = pages.get("/__harness/log?last=2", headers=headers).json["lines"]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [
        ("GET", "/login?next=/account", 200),
        ("GET", "/nowhere", 404),
    ]


def test_armed_with_the_same_seed_the_pages_are_the_same_bytes(tmp_path: Path) -> None:
    language = baseline_language()
    seed = load_or_build_seed(PAGES, language, tmp_path)

    def load() -> bytes:
        with open_site(PAGES, language, seed, settings=HarnessSettings(TOKEN)) as api:
            client = Client(api)
            client.post(
                "/__harness/disruption",
                json={"enabled": True, "seed": "s"},
                headers={"X-Harness-Token": TOKEN},
            )
            return client.get("/login").data

    assert load() == load()
