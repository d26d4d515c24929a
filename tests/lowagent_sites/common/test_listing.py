"""Pages, sorting and filters of lists (`common.md` 7)."""

import pytest

from lowagent_sites.common.listing import Pagination, choice, with_parameters
from tests.lowagent_sites.common.demo_site import DemoClient, open_demo


@pytest.fixture
def client() -> DemoClient:
    return open_demo().client()


def titles(client: DemoClient, path: str) -> list[str]:
    return [str(text) for text in client.open(path).xpath("//ul[@class='notes']//a/text()")]


@pytest.mark.parametrize("page", ["", "0", "-1", "two", "1.5", "২", "1e1", "0x2"])
def test_a_page_that_is_none_is_the_first(client: DemoClient, page: str) -> None:
    assert titles(client, f"/?page={page}")[0] == "Note 1"


def test_the_last_page_holds_the_rest(client: DemoClient) -> None:
    assert titles(client, "/?page=3") == ["Note 21", "Note 22", "Note 23", "Note 24", "Note 25"]


@pytest.mark.parametrize("page", ["4", "999999"])
def test_beyond_the_last_page_leads_to_it_with_all_parameters(
    client: DemoClient, page: str
) -> None:
    answer = client.get(f"/search?q=a%26b&sort=newest&page={page}")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/search?q=a%26b&sort=newest&page=3"


def test_the_result_line_tells_results_and_pages(client: DemoClient) -> None:
    assert client.open("/?page=2").xpath("//p[@class='result-line']/text()") == [
        "25 results · Page 2 of 3"
    ]


def test_the_pagination_marks_the_current_page_and_keeps_parameters(client: DemoClient) -> None:
    page = client.open("/search?sort=newest&page=2")
    (nav,) = page.xpath("//nav[@aria-label='Pages']")
    assert nav.xpath(".//*[@aria-current='page']/text()") == ["2"]
    assert nav.xpath(".//a/@href") == [
        "/search?sort=newest",
        "/search?sort=newest",
        "/search?sort=newest&page=3",
        "/search?sort=newest&page=3",
    ]


def test_a_list_of_one_page_has_no_pagination() -> None:
    page = Pagination(1, 10, 10)
    assert page.pages == 1
    assert Pagination(1, 10, 0).pages == 1
    assert Pagination(1, 10, 11).pages == 2
    assert Pagination(3, 10, 25).offset == 20


def test_an_unknown_order_is_the_default(client: DemoClient) -> None:
    assert titles(client, "/?sort=newest")[0] == "Note 25"
    assert titles(client, "/?sort=stolen")[0] == "Note 1"


def test_an_active_filter_is_a_link_that_removes_it(client: DemoClient) -> None:
    page = client.open("/search?q=tea&sort=newest&page=2")
    assert page.xpath("//ul[@class='chips']//a/@href") == ["/search?sort=newest"]
    assert page.xpath("//ul[@class='chips']//a/text()") == ["Search ×"]
    assert client.open("/search").xpath("//ul[@class='chips']") == []


def test_parameters_are_changed_added_and_removed() -> None:
    with open_demo().app.test_request_context("/search?q=a+b&cat=x&empty=&page=4"):
        assert with_parameters() == "/search?q=a+b&cat=x"
        assert with_parameters(cat=None, page="2") == "/search?q=a+b&page=2"
        assert with_parameters(cat="y&z") == "/search?q=a+b&cat=y%26z"
        assert choice("cat", ("x", "y"), "y") == "x"
        assert choice("q", ("x", "y"), "y") == "y"
