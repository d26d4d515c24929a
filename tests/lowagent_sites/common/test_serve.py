"""A site behind a real server: races, resets under load, and what is refused."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from waitress import create_server

from lowagent_sites.common.changes import digest
from lowagent_sites.common.clock import Clock
from lowagent_sites.common.database import FileDatabase
from lowagent_sites.common.disruptions import Disruptions
from lowagent_sites.common.errors import PrerequisiteError, UnknownNameError
from lowagent_sites.common.fixtures import FixtureError
from lowagent_sites.common.harness_api import HarnessApi, HarnessSettings, ServedSite
from lowagent_sites.common.languages import get_language, selectable_languages
from lowagent_sites.common.runtime import Runtime
from lowagent_sites.common.serve import default_port, restore, serve
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
    )
    runtime = Runtime(
        database=database,
        clock=Clock(),
        tokens=TokenSource(None),
        disruptions=Disruptions(),
        epoch=0,
    )
    api = HarnessApi(served, HarnessSettings(TOKEN), runtime)
    server = create_server(api, host="127.0.0.1", port=0, threads=8)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    server.close()
    thread.join()


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


def test_ports_follow_the_site_and_the_language() -> None:
    for language in selectable_languages():
        port = default_port("ministore", language.code)
        assert port == 7010 + get_language(language.code).port_index
    ports = {default_port("ministore", language.code) for language in selectable_languages()}
    assert ports == {7010, 7011, 7012, 7013, 7014}
