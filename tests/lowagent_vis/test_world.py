"""Worlds: private, reset without a trace, and one request at a time."""

import gc
import hashlib
import html
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from werkzeug.test import Client

from lowagent_sites.common.database import WorldDatabase
from lowagent_sites.common.errors import UnknownNameError
from lowagent_sites.common.fixtures import FixtureError
from lowagent_sites.common.languages import baseline_language
from lowagent_sites.common.seeds import Seed
from lowagent_vis.errors import HarnessError
from lowagent_vis.world import QueryError, World, WorldTemplate
from tests.lowagent_sites.common.demo_database import DEMO, demo_seed
from tests.lowagent_sites.common.demo_shop import demo_shop

FIXTURE = """
schema: 1
about: Forty pieces of P001 are left.
changes: [{update: {table: items, where: {sku: P001}, set: {stock: 40}}}]
"""
WRONG_FIXTURE = FIXTURE.replace("P001", "P999")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> WorldTemplate:
    folder = tmp_path_factory.mktemp("world")
    data = demo_seed(folder)
    (folder / "plenty.yaml").write_text(FIXTURE)
    (folder / "wrong.yaml").write_text(WRONG_FIXTURE)
    return WorldTemplate(
        site_name="demo",
        language_code="qaa",
        schema=DEMO,
        seed=Seed(folder / "demo.sqlite", hashlib.sha256(data).hexdigest(), data),
        app=demo_shop(),
        fixtures_folder=folder,
    )


@pytest.fixture
def world(template: WorldTemplate) -> Iterator[World]:
    with World.from_template(template) as opened:
        yield opened


@pytest.fixture
def client(world: World) -> Client:
    return Client(world.wsgi)


def test_a_world_knows_where_it_is_and_what_it_was_opened_from(
    world: World, template: WorldTemplate
) -> None:
    assert (world.site, world.language, world.origin) == ("demo", "qaa", "http://demo.test")
    assert world.seed_sha256 == hashlib.sha256(template.seed.data).hexdigest()


def test_what_a_page_writes_is_in_the_difference(world: World, client: Client) -> None:
    assert world.diff() == {}
    client.post("/buy/P001", data={"buyer": "a"})
    assert set(world.diff()) == {"items", "orders"}
    assert set(world.diff(incidental=True)) == {"counters", "items", "orders"}


def test_a_request_that_is_refused_writes_nothing(world: World, client: Client) -> None:
    client.post("/buy/P001")
    before = world.diff(incidental=True)
    assert client.post("/buy/P001").status_code == 409
    assert world.diff(incidental=True) == before


def test_worlds_share_nothing(template: WorldTemplate, client: Client) -> None:
    client.post("/buy/P001")
    with World.from_template(template) as other:
        assert other.diff(incidental=True) == {}
        assert Client(other.wsgi).get("/stock/P001").text == "1"


def test_a_world_opened_after_another_one_finds_the_seed(template: WorldTemplate) -> None:
    with World.from_template(template, fixtures=["plenty"]) as first:
        digests = first.digest(incidental=True)
        Client(first.wsgi).post("/buy/P002")
    with World.from_template(template) as second:
        assert second.diff(incidental=True) == {}
        assert second.digest(incidental=True) != digests
        assert Client(second.wsgi).get("/stock/P001").text == "1"


def test_a_reset_starts_everything_anew(world: World, client: Client) -> None:
    digests = world.digest(incidental=True)
    first = [client.post("/buy/P002").text, client.get("/token").text]
    client.get("/fail")
    world.arm_disruptions("once")
    world.reset()
    assert world.digest(incidental=True) == digests
    assert world.http_5xx == 0
    assert world.disruption_events() == []
    assert [client.post("/buy/P002").text, client.get("/token").text] == first
    assert client.get("/now").text == "2026-06-15T10:00:00 1"


def test_a_reset_keeps_the_fixtures(template: WorldTemplate) -> None:
    with World.from_template(template, fixtures=["plenty"]) as world:
        client = Client(world.wsgi)
        assert client.get("/stock/P001").text == "40"
        client.post("/buy/P001")
        assert world.diff()["items"]["changed"] == [
            {"key": {"id": 1}, "old": {"stock": 40}, "new": {"stock": 39}}
        ]
        world.reset()
        assert client.get("/stock/P001").text == "40"
        assert world.diff(incidental=True) == {}


def test_fixtures_that_do_not_exist_or_fit_are_refused(template: WorldTemplate) -> None:
    with pytest.raises(UnknownNameError, match="known: plenty, wrong"):
        World.from_template(template, fixtures=["plenti"])
    with pytest.raises(FixtureError, match="no row of items"):
        World.from_template(template, fixtures=["wrong"])


def test_equal_keys_give_equal_tokens(template: WorldTemplate) -> None:
    def tokens(key: bytes) -> list[str]:
        with World.from_template(template, key=key) as world:
            return [Client(world.wsgi).get("/token").text for _ in range(3)]

    assert tokens(b"a") == tokens(b"a")
    assert tokens(b"a") != tokens(b"b")
    assert len(set(tokens(b"a"))) == 3


def test_answers_that_say_that_the_site_failed_are_counted(world: World, client: Client) -> None:
    assert client.get("/fail").status_code == 500
    assert client.get("/unknown").status_code == 404
    assert world.http_5xx == 1


def test_a_streamed_answer_is_read_inside_the_lock(world: World, client: Client) -> None:
    assert client.get("/stream").text == "stock 1"
    assert world.diff() == {}


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [("POST", "/commit", "outer transaction"), ("GET", "/leak", "left its session open")],
)
def test_a_page_that_breaks_the_transaction_is_our_fault_and_spoils_no_other_world(
    template: WorldTemplate, method: str, path: str, message: str
) -> None:
    with World.from_template(template) as world:
        Client(world.wsgi).post("/buy/P001")
        with pytest.raises(HarnessError, match=f"demo: {method} {path}: .*{message}"):
            Client(world.wsgi).open(path, method=method)
        with pytest.raises(HarnessError, match=message):
            world.reset()
    with World.from_template(template) as world:
        assert world.diff(incidental=True) == {}
        assert Client(world.wsgi).get("/stock/P001").text == "1"


def test_a_closed_world_is_closed(template: WorldTemplate) -> None:
    world = World.from_template(template)
    world.close()
    world.close()
    with pytest.raises(HarnessError, match=r"the world of demo\.qaa is closed"):
        world.diff()
    with pytest.raises(HarnessError, match="closed"):
        Client(world.wsgi).get("/stock/P001")


def test_exactly_one_of_forty_buyers_gets_the_last_item(world: World) -> None:
    barrier = threading.Barrier(8)

    def buy(number: int) -> list[int]:
        client = Client(world.wsgi)
        barrier.wait()
        return [
            client.post("/buy/P001", data={"buyer": f"{number}.{n}"}).status_code for n in range(5)
        ]

    with ThreadPoolExecutor(8) as threads:
        statuses = [status for part in threads.map(buy, range(8)) for status in part]
    assert sorted(set(statuses)) == [200, 409]
    assert statuses.count(200) == 1
    assert len(world.diff()["orders"]["added"]) == 1
    assert world.http_5xx == 0


def test_worlds_work_side_by_side(template: WorldTemplate) -> None:
    def shop(number: int) -> int:
        with World.from_template(template, fixtures=["plenty"]) as world:
            client = Client(world.wsgi)
            for _ in range(number):
                client.post("/buy/P001")
            return len(world.diff()["orders"]["added"]) if number else 0

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(shop, range(16))) == list(range(16))


def resident_bytes() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_thousand_resets_cost_no_memory_and_no_files(world: World, client: Client) -> None:
    def play() -> None:
        client.post("/buy/P002")
        world.reset()

    for _ in range(200):
        play()
    gc.collect()
    memory, files = resident_bytes(), open_files()
    for _ in range(1000):
        play()
    gc.collect()
    assert resident_bytes() - memory < 4 * 2**20
    assert open_files() == files


def test_a_thousand_worlds_cost_no_memory_and_no_files(template: WorldTemplate) -> None:
    def play() -> None:
        with World.from_template(template, fixtures=["plenty"]) as world:
            Client(world.wsgi).post("/buy/P002")

    for _ in range(100):
        play()
    gc.collect()
    memory, files = resident_bytes(), open_files()
    for _ in range(1000):
        play()
    gc.collect()
    assert resident_bytes() - memory < 4 * 2**20
    assert open_files() == files


def test_of_many_worlds_only_a_few_stay_idle(template: WorldTemplate) -> None:
    worlds = [World.from_template(template) for _ in range(20)]
    for world in worlds:
        assert world.diff() == {}
        world.close()
    del worlds, world
    gc.collect()
    assert sum(isinstance(thing, WorldDatabase) for thing in gc.get_objects()) == 8


def test_a_query_reads_with_bound_values(world: World) -> None:
    rows = world.query("SELECT sku, stock FROM items WHERE sku IN (:a, :b)", {"a": "P001", "b": ""})
    assert rows == [{"sku": "P001", "stock": 1}]
    assert world.query("SELECT count(*) AS n FROM lines WHERE qty > ?", [5]) == [{"n": 10}]
    assert world.query("SELECT id FROM items WHERE id > 99") == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM items",
        "UPDATE items SET stock = 0",
        "INSERT INTO orders (buyer) VALUES ('x') RETURNING id",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT x",
        "ATTACH ':memory:' AS other",
        "PRAGMA foreign_keys",
        "CREATE TEMP TABLE t (id)",
        "DROP TABLE items",
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM _before_items",
        "SELECT * FROM pragma_table_info('items')",
        "SELECT load_extension('x')",
        "SELECT randomblob(10)",
        "SELECT date('now')",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT 1; DELETE FROM items",
        "SELECT nothing FROM items",
        "SELECT :missing",
        "",
        "-- nothing",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "SELECT count(*) FROM " + ", ".join(f"items AS i{n}" for n in range(9)),
    ],
)
def test_a_query_that_does_more_than_read_is_refused(world: World, sql: str) -> None:
    with pytest.raises(QueryError):
        world.query(sql, {})
    assert world.diff(incidental=True) == {}
    assert world.query("SELECT count(*) AS n FROM items") == [{"n": 20}]


def test_a_query_leaves_the_site_able_to_write(world: World, client: Client) -> None:
    world.query("SELECT 1 AS one")
    assert client.post("/buy/P001").status_code == 200
    assert world.query("SELECT stock FROM items WHERE sku = 'P001'") == [{"stock": 0}]


def test_tampering_is_seen_by_the_difference_and_undone_by_a_reset(world: World) -> None:
    with world.tampering() as connection:
        connection.execute("UPDATE orders SET buyer = 'x' WHERE id = 1")
    assert world.diff()["orders"]["changed"][0]["new"] == {"buyer": "x"}
    world.reset()
    assert world.diff() == {}


def crawl(world: World, limit: int = 60) -> dict[str, bytes]:
    """Return the pages that links lead to from the start page, signed in."""
    client = Client(world.wsgi)
    client.set_cookie(*world.login_cookie("nila_shop"))
    pages: dict[str, bytes] = {}
    waiting = ["/"]
    while waiting and len(pages) < limit:
        path = waiting.pop(0)
        if path in pages:
            continue
        pages[path] = client.get(path).data
        links = re.findall(r'href="(/[^"#]*)"', pages[path].decode())
        waiting += [html.unescape(link) for link in links if not link.startswith("/static/")]
    return pages


def test_pages_do_not_depend_on_the_order_in_which_rows_are_found() -> None:
    with World.open("ministore", baseline_language().code, key=b"k") as world:
        expected = crawl(world)
    with World.open("ministore", baseline_language().code, key=b"k") as world:
        with world.tampering() as connection:
            connection.execute("PRAGMA reverse_unordered_selects = ON")
        found = crawl(world)
    assert len(expected) > 20
    assert [path for path in expected if found.get(path) != expected[path]] == []


def test_reading_pages_changes_nothing() -> None:
    with World.open("ministore", baseline_language().code) as world:
        crawl(world)
        assert world.diff(incidental=True) == {}
        assert world.http_5xx == 0


def test_the_same_actions_give_the_same_digests_and_pages_after_a_reset() -> None:
    with World.open("ministore", baseline_language().code, key=b"k") as world:
        (product,) = world.query("SELECT sku FROM products WHERE stock > 2 ORDER BY id LIMIT 1")

        def play() -> tuple[list[bytes], dict[str, str]]:
            client = Client(world.wsgi)
            client.set_cookie(*world.login_cookie("nila_shop"))
            page = client.get(f"/p/{product['sku']}")
            form = re.search(r'<form[^>]*name="cart_add".*?</form>', page.text, re.DOTALL)
            assert form is not None
            action = re.search(r'action="([^"]*)"', form[0])
            assert action is not None
            fields = dict(re.findall(r'<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"', form[0]))
            done = client.post(action[1], data={**fields, "qty": "2"})
            assert done.status_code == 303, done.text
            assert set(world.diff()) == {"cart_items"}
            return [page.data, client.get("/cart").data], world.digest(incidental=True)

        first = play()
        world.reset()
        assert play() == first


def test_the_fixture_of_the_empty_cart_empties_it() -> None:
    with World.open("ministore", baseline_language().code, fixtures=["cart_empty_A"]) as world:
        lines = world.query(
            "SELECT count(*) AS n FROM cart_items JOIN users ON users.id = user_id "
            "WHERE username = 'nila_shop'"
        )
        assert lines == [{"n": 0}]
        assert world.diff(incidental=True) == {}
