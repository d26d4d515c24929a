"""The harness endpoints of a served site, over a tiny shop."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData
from werkzeug.test import Client, TestResponse

from lowagent_sites.common.clock import Clock
from lowagent_sites.common.database import FileDatabase
from lowagent_sites.common.disruptions import Disruptions
from lowagent_sites.common.errors import PrerequisiteError, unknown_name
from lowagent_sites.common.harness_api import HarnessApi, HarnessSettings, ServedSite
from lowagent_sites.common.request_log import RequestLog
from lowagent_sites.common.runtime import Runtime
from lowagent_sites.common.serve import restore
from lowagent_sites.common.tokens import TokenSource
from tests.lowagent_sites.common.demo_database import Base, demo_seed
from tests.lowagent_sites.common.demo_shop import demo_shop

TOKEN = "t" * 32
FIXTURE = """
schema: 1
about: Nothing is left of P001.
changes: [{update: {table: items, where: {sku: P001}, set: {stock: 0}}}]
"""


@dataclass(frozen=True)
class ShopSite:
    """What the endpoints need to know of a site."""

    name: str = "demo"
    metadata: MetaData = Base.metadata
    incidental_tables: frozenset[str] = frozenset({"counters"})


def log_in(runtime: Runtime, username: str) -> tuple[str, str]:
    if username != "known":
        raise unknown_name("user", username, ["known"])
    return "sid_demo", f"signed {runtime.epoch}"


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return demo_seed(tmp_path_factory.mktemp("seed"))


@pytest.fixture
def log() -> RequestLog:
    return RequestLog()


@pytest.fixture
def api(seed: bytes, tmp_path: Path, log: RequestLog) -> Iterator[HarnessApi]:
    (tmp_path / "sold_out.yaml").write_text(FIXTURE)
    path = tmp_path / "site.sqlite"
    path.write_bytes(seed)
    with closing(FileDatabase(path)) as database:

        def bring_back(names: Sequence[str]) -> None:
            restore(database, ShopSite(), "qaa", seed, names, folder=tmp_path)

        served = ServedSite(
            site=ShopSite(),
            language_code="qaa",
            app=demo_shop(),
            build="0" * 64,
            restore=bring_back,
            log_in=log_in,
            request_log=log,
        )
        runtime = Runtime(
            database=database,
            clock=Clock(),
            tokens=TokenSource(b"key"),
            disruptions=Disruptions(),
            epoch=0,
        )
        yield HarnessApi(served, HarnessSettings(TOKEN), runtime)


@pytest.fixture
def client(api: HarnessApi) -> Client:
    return Client(api)


def ask(client: Client, path: str, **kwargs: Any) -> TestResponse:
    method = "POST" if "json" in kwargs else "GET"
    return client.open(
        f"/__harness/{path}", method=method, headers={"X-Harness-Token": TOKEN}, **kwargs
    )


def answer(client: Client, path: str, **kwargs: Any) -> Any:
    response = ask(client, path, **kwargs)
    assert response.status_code == 200, response.text
    assert response.headers["Cache-Control"] == "no-store"
    assert response.mimetype == "application/json"
    return json.loads(response.text)


ENDPOINTS = [
    ("GET", "health"),
    ("POST", "reset"),
    ("GET", "rows"),
    ("GET", "diff"),
    ("GET", "digest"),
    ("POST", "clock"),
    ("POST", "disruption"),
    ("GET", "disruption/events"),
    ("POST", "login"),
    ("GET", "log"),
]


def test_every_endpoint_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "harness-endpoints.md").read_text("utf-8")
    assert re.findall(r"^\| `([A-Z]+) /__harness/([a-z/]+)` \|", text, re.MULTILINE) == ENDPOINTS


@pytest.mark.parametrize(("method", "path"), [*ENDPOINTS, ("PUT", "health"), ("GET", "")])
@pytest.mark.parametrize("token", [None, "", "wrong", "t" * 31, "t" * 33, "T" * 32, "ü"])
def test_without_the_token_the_answer_is_that_of_an_unknown_path(
    client: Client, method: str, path: str, token: str | None
) -> None:
    headers = {} if token is None else {"X-Harness-Token": token}
    refused = client.open(f"/__harness/{path}", method=method, headers=headers)
    unknown = client.open(f"/_unknown__/{path}", method=method, headers=headers)
    assert refused.status_code == unknown.status_code == 404
    assert refused.data == unknown.data
    assert refused.headers == unknown.headers


def test_a_short_token_is_refused_and_never_shown() -> None:
    with pytest.raises(PrerequisiteError, match="31 characters; set LOWAGENT_VIS_HARNESS_TOKEN"):
        HarnessSettings("t" * 31)
    assert TOKEN not in repr(HarnessSettings(TOKEN))


def test_health_counts_the_rows_of_all_tables(client: Client) -> None:
    assert answer(client, "health") == {
        "site": "demo",
        "lang": "qaa",
        "now": "2026-06-15T10:00:00",
        "build": "0" * 64,
        "counts": {"counters": 1, "items": 20, "lines": 15, "orders": 5, "pictures": 4},
    }


def test_pages_reach_the_site_and_show_in_the_difference(client: Client) -> None:
    assert client.post("/buy/P001", data={"buyer": "নীলা"}).text == "order 101"
    found = answer(client, "diff")
    assert set(found) == {"items", "orders"}
    assert found["orders"]["added"] == [{"key": {"id": 6}, "row": {"id": 6, "buyer": "নীলা"}}]
    assert set(answer(client, "diff?tables=orders")) == {"orders"}
    assert set(answer(client, "diff?incidental=1")) == {"counters", "items", "orders"}


def test_a_reset_returns_to_the_seed(client: Client) -> None:
    before = answer(client, "digest?incidental=1")
    first = client.post("/buy/P001").text
    assert answer(client, "digest?incidental=1") != before
    assert answer(client, "reset", json={})["ok"] is True
    assert answer(client, "digest?incidental=1") == before
    assert answer(client, "diff?incidental=1") == {}
    assert client.post("/buy/P001").text == first


def test_a_reset_lays_fixtures_and_the_next_one_takes_them_away(client: Client) -> None:
    answer(client, "reset", json={"fixtures": ["sold_out"]})
    assert client.get("/stock/P001").text == "0"
    assert answer(client, "diff") == {}
    answer(client, "reset", json={})
    assert client.get("/stock/P001").text == "1"


def test_a_reset_starts_a_new_epoch_and_the_tokens_anew(client: Client) -> None:
    first = client.get("/token").text
    assert client.get("/token").text != first
    answer(client, "reset", json={})
    assert client.get("/token").text == first
    assert client.get("/now").text == "2026-06-15T10:00:00 1"


def test_the_clock_stands_where_it_was_put_until_the_reset(client: Client) -> None:
    answer(client, "clock", json={"now": "2026-07-01T08:30:00"})
    assert client.get("/now").text == "2026-07-01T08:30:00 0"
    answer(client, "reset", json={})
    assert client.get("/now").text == "2026-06-15T10:00:00 1"


def test_rows_are_selected_by_column_and_value(client: Client) -> None:
    query = {
        "table": "items",
        "where": json.dumps({"sku": ["P003", "P008", "X"], "stock": 3}),
        "columns": "sku,stock",
        "order": "-sku",
    }
    rows = answer(client, "rows", query_string=query)["rows"]
    assert rows == [{"sku": "P008", "stock": 3}, {"sku": "P003", "stock": 3}]


def test_rows_are_limited_and_ordered_by_their_key(client: Client) -> None:
    rows = answer(client, "rows?table=lines&limit=2")["rows"]
    assert rows == [
        {"order_id": 1, "item_id": 1, "qty": 2},
        {"order_id": 1, "item_id": 2, "qty": 3},
    ]


def test_an_empty_list_matches_nothing(client: Client) -> None:
    assert answer(client, 'rows?table=items&where={"id":[]}')["rows"] == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("rows?table=sqlite_schema", 'unknown table "sqlite_schema"'),
        ("rows?table=_before_items", 'unknown table "_before_items"'),
        ("rows?table=items&columns=1", 'unknown column of items "1"'),
        ("rows?table=items&order=id;--", 'unknown column of items "id;--"'),
        ('rows?table=items&where={"1=1 OR id":1}', "unknown column of items"),
        ('rows?table=items&where={"id":{"a":1}}', "not a plain value of id"),
        ("rows?table=items&where=[", "where is not JSON"),
        ("rows?table=items&where=[]", "where is not an object"),
        ("rows?table=items&limit=1001", "limit is not between 1 and 1000"),
        ("rows?table=items&limit=two", "limit is not between 1 and 1000"),
        ("log?last=0", "last is not between 1 and 1000"),
        ("log?last=-1", "last is not between 1 and 1000"),
        ("log?last=" + "9" * 5000, "last is not between 1 and 1000"),
        ("diff?tables=shelves", 'unknown table "shelves"'),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(client: Client, path: str, message: str) -> None:
    response = ask(client, path)
    assert response.status_code == 400
    assert message in json.loads(response.text)["error"]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("reset", {"fixtures": ["sold_outt"]}, 'did you mean "sold_out"'),
        ("reset", {"fixtures": "sold_out"}, "not a list of names"),
        ("clock", {"now": "noon"}, "not an ISO time"),
        ("disruption", {"ad_mode": "always"}, 'unknown ad_mode "always"'),
        ("login", {"username": "unknown"}, 'unknown user "unknown"'),
        ("login", [], "the body is not an object"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(
    client: Client, path: str, body: object, message: str
) -> None:
    response = ask(client, path, json=body)
    assert response.status_code == 400
    assert message in json.loads(response.text)["error"]


def test_disruptions_are_armed_and_gone_after_a_reset(api: HarnessApi, client: Client) -> None:
    answer(client, "disruption", json={"enabled": True, "ad_mode": "once", "seed": "a"})
    assert answer(client, "disruption/events") == {"events": [], "active": None}
    armed = client.get("/token").text
    answer(client, "disruption", json={"enabled": False, "seed": "a"})
    assert client.get("/token").text == armed
    answer(client, "reset", json={})
    assert client.get("/token").text != armed


def test_login_returns_the_cookie_of_the_present_epoch(client: Client) -> None:
    answer(client, "reset", json={})
    cookie = answer(client, "login", json={"username": "known"})
    assert cookie == {"name": "sid_demo", "value": "signed 1"}


def test_a_reset_waits_for_requests_that_are_on_their_way(api: HarnessApi, client: Client) -> None:
    barrier = threading.Barrier(9)

    def buy_or_reset(number: int) -> None:
        barrier.wait()
        for _ in range(5):
            if number == 0:
                answer(Client(api), "reset", json={})
            else:
                Client(api).post("/buy/P004")

    with ThreadPoolExecutor(9) as threads:
        list(threads.map(buy_or_reset, range(9)))
    answer(client, "reset", json={})
    assert answer(client, "diff?incidental=1") == {}


def test_the_latest_lines_of_the_log_are_returned_oldest_first(
    client: Client, log: RequestLog
) -> None:
    for number in range(3):
        log.add({"path": f"/{number}"})
    assert answer(client, "log?last=2") == {"lines": [{"path": "/1"}, {"path": "/2"}]}
    assert len(answer(client, "log")["lines"]) == 3
