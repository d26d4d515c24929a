"""The cookie notice and the ad: every numbered sentence of `common.md` 12."""

import httpx
import pytest

from lowagent_sites.common.disruptions import DisruptionMode
from lowagent_sites.common.languages import load_languages
from tests.lowagent_sites.common.demo_site import (
    NOTES,
    OFFSITE,
    PASSWORD,
    USERNAME,
    Demo,
    DemoClient,
    Note,
    open_demo,
    parse,
)

COOKIE, AD = "We use cookies", "Get our partner app"


def armed(mode: DisruptionMode = "once", key: bytes = b"key") -> tuple[Demo, DemoClient]:
    demo = open_demo(key=key)
    demo.disruptions.arm(mode)
    return demo, demo.client()


def heading(response: httpx.Response) -> str:
    return str(parse(response.text).findtext(".//h1"))


def links(response: httpx.Response) -> dict[str, str]:
    page = parse(response.text)
    return {str(link.text): str(link.get("href")) for link in page.xpath("//a")}


def follow(client: DemoClient, shown: httpx.Response, label: str) -> httpx.Response:
    """Follow a link and the redirects after it, as the harness's browser does."""
    return client.get(links(shown)[label], follow_redirects=True)


def events(demo: Demo) -> list[tuple[str, str]]:
    return [(event["kind"], event["event"]) for event in demo.disruptions.events()]


def test_nothing_is_interrupted_unless_it_was_armed() -> None:
    demo = open_demo()
    client = demo.client()
    assert [heading(client.get("/")) for _ in range(3)] == ["Home"] * 3
    assert demo.disruptions.events() == []
    assert demo.disruptions.active is None


def test_1_the_first_page_load_shows_the_cookie_notice_in_the_pages_place() -> None:
    demo, client = armed()
    shown = client.get("/notes/3?x=1")
    assert shown.status_code == 200
    assert heading(shown) == COOKIE
    assert shown.url.raw_path == b"/notes/3?x=1"
    assert demo.disruptions.active == "cookie"
    assert demo.disruptions.events() == [
        {"t": "2026-06-15T10:00:00", "kind": "cookie", "event": "shown", "path": "/notes/3?x=1"}
    ]


def test_1_its_first_link_closes_it_and_is_the_only_one_that_does() -> None:
    _demo, client = armed()
    shown = client.get("/")
    assert list(links(shown)) == ["Close", "Read about cookies"]
    again = client.get(links(shown)["Read about cookies"])
    assert again.status_code == 200
    assert heading(again) == COOKIE


@pytest.mark.parametrize("kind", ["cookie", "ad"])
def test_1_an_interruption_has_no_form_header_menu_or_footer(kind: str) -> None:
    _demo, client = armed()
    shown = client.get("/")
    if kind == "ad":
        follow(client, shown, "Close")
        shown = client.get("/")
    page = parse(shown.text)
    assert not page.xpath("//form | //header | //nav | //footer | //script | //input | //button")


def test_2_close_leads_to_the_page_that_was_asked_for_first() -> None:
    demo, client = armed()
    client.get("/notes/3?x=1")
    later = client.get("/notes/4")
    answer = client.get(links(later)["Close"])
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/notes/3?x=1"
    assert demo.disruptions.active is None
    assert heading(client.get("/notes/3?x=1")) == "Note 3"


def test_3_the_next_page_load_shows_the_ad_with_install_first() -> None:
    demo, client = armed()
    follow(client, client.get("/"), "Close")
    shown = client.get("/notes/2")
    assert heading(shown) == AD
    assert list(links(shown)) == ["Install the app", "No thanks"]
    assert demo.disruptions.active == "ad"


def test_3_install_leaves_the_site() -> None:
    demo, client = armed()
    follow(client, client.get("/"), "Close")
    answer = client.get(links(client.get("/notes/2"))["Install the app"])
    assert answer.status_code == 303
    assert answer.headers["Location"] == OFFSITE
    assert events(demo)[-1] == ("ad", "accepted")
    assert demo.disruptions.active is None


def test_3_no_thanks_leads_to_the_page_that_was_asked_for() -> None:
    demo, client = armed()
    follow(client, client.get("/"), "Close")
    page = follow(client, client.get("/notes/2"), "No thanks")
    assert heading(page) == "Note 2"
    assert events(demo) == [
        ("cookie", "shown"),
        ("cookie", "dismissed"),
        ("ad", "shown"),
        ("ad", "dismissed"),
    ]
    assert heading(client.get("/notes/3")) == "Note 3"


def test_3_the_way_back_counts_as_no_page_load_even_when_it_redirects() -> None:
    _demo, client = armed()
    shown = client.get("/moved")
    assert heading(follow(client, shown, "Close")) == "Note 1"
    assert heading(client.get("/notes/2")) == AD


def test_3_only_the_way_back_is_let_through() -> None:
    _demo, client = armed()
    client.get(links(client.get("/notes/3"))["Close"])
    assert heading(client.get("/notes/4")) == AD


def test_3_an_address_in_another_script_is_found_again() -> None:
    _demo, client = armed()
    shown = client.get("/search", params={"q": "কেটলি ও 50%"})
    assert heading(follow(client, shown, "Close")) == "Home"


def test_3_a_path_keeps_its_escapes_on_the_way_back() -> None:
    _demo, client = armed()
    answer = client.get(links(client.get("/what%3F%25"))["Close"])
    assert answer.headers["Location"] == "/what%3F%25"


@pytest.mark.parametrize("path", ["/", "/nowhere", "/notes/1?x=2", "/login", "/n/aaaa"])
def test_4_every_address_shows_the_same_interruption_while_it_is_active(path: str) -> None:
    demo, client = armed()
    client.get("/notes/3")
    assert heading(client.get(path)) == COOKIE
    assert events(demo) == [("cookie", "shown"), ("cookie", "reshown")]


def test_4_style_sheets_and_photos_are_served_meanwhile() -> None:
    demo, client = armed()
    client.get("/")
    assert client.get("/static/common/base.css").headers["Content-Type"].startswith("text/css")
    assert client.get("/static/fonts/fonts.css").status_code == 200
    assert events(demo) == [("cookie", "shown")]


def test_4_a_form_sent_while_one_is_active_does_nothing() -> None:
    demo = open_demo()
    client = demo.client()
    client.sign_in()
    form = parse(client.get("/notes/new").text).forms[-1]
    data = {name: value or "" for name, value in form.fields.items()}
    demo.disruptions.arm()
    client.get("/")
    answer = client.post("/notes", data=data | {"title": "new", "kind": "home"})
    assert answer.status_code == 200
    assert heading(answer) == COOKIE
    assert events(demo) == [("cookie", "shown"), ("cookie", "reshown")]
    assert demo.count(Note) == NOTES


def test_4_a_form_sent_while_the_ad_is_pending_runs_once_and_its_result_shows_the_ad() -> None:
    demo = open_demo()
    client = demo.client()
    client.sign_in()
    demo.disruptions.arm()
    page = follow(client, client.get("/notes/new"), "Close")
    (form,) = parse(page.text).xpath("//form[@name='note_new']")
    data = {name: value or "" for name, value in form.fields.items()}
    answer = client.post("/notes", data=data | {"title": "new", "kind": "home"})
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/notes/{NOTES + 1}"
    assert demo.count(Note) == NOTES + 1
    shown = client.get(answer.headers["Location"])
    assert heading(shown) == AD
    page = follow(client, shown, "No thanks")
    assert heading(page) == "new"
    assert "flash-status" in page.text
    assert demo.count(Note) == NOTES + 1


def test_4_a_faulty_form_is_shown_again_without_the_ad() -> None:
    _demo, client = armed()
    page = follow(client, client.get("/login"), "Close")
    form = parse(page.text).forms[-1]
    answer = client.post("/login", data=dict(form.fields.items()))
    assert answer.status_code == 422
    assert heading(answer) == "Sign in"
    assert heading(client.get("/login")) == AD


def test_4_a_post_as_the_very_first_request_runs() -> None:
    demo, client = armed()
    assert client.post("/login", data={"csrf_token": "wrong"}).status_code == 400
    assert events(demo) == []
    assert heading(client.get("/")) == COOKIE


def test_5_links_are_new_on_every_rendering() -> None:
    _demo, client = armed()
    first, second = links(client.get("/")), links(client.get("/"))
    assert len({*first.values(), *second.values()}) == 4
    assert all(path.startswith("/n/") for path in first.values())


def test_5_a_void_token_shows_the_interruption_again() -> None:
    demo, client = armed()
    void = links(client.get("/notes/3"))["Close"]
    client.get("/notes/3")
    assert heading(client.get(void)) == COOKIE
    assert demo.disruptions.active == "cookie"


def test_5_a_token_is_unknown_once_nothing_is_active() -> None:
    demo, client = armed()
    used = links(client.get("/"))["Close"]
    client.get(used, follow_redirects=True)
    assert client.get(used).status_code == 404
    assert client.get("/n/aaaaaaaaaaaaaaaaaaaaaaaa").status_code == 404
    assert events(demo) == [("cookie", "shown"), ("cookie", "dismissed")]


def test_5_a_token_works_by_get_alone() -> None:
    demo, client = armed()
    token = links(client.get("/"))["Close"]
    assert heading(client.post(token)) == COOKIE
    assert client.head(links(client.get("/"))["Close"]).status_code == 200
    assert demo.disruptions.active == "cookie"


def test_5_the_same_key_gives_the_same_bytes() -> None:
    pages = []
    for _ in range(2):
        _demo, client = armed(key=b"run/demo.en.T1.r1")
        shown = client.get("/")
        pages.append((shown.text, shown.headers["Set-Cookie"], follow(client, shown, "Close").text))
    assert pages[0] == pages[1]


def test_6_a_second_session_starts_at_the_first_step_again() -> None:
    demo, client = armed()
    follow(client, client.get("/"), "Close")
    other = demo.client()
    assert heading(other.get("/")) == COOKIE
    assert heading(client.get("/")) == AD
    client.cookies.clear()
    assert heading(client.get("/")) == COOKIE


def test_6_signing_in_does_not_start_the_course_again() -> None:
    demo, client = armed()
    page = follow(client, client.get("/login"), "Close")
    form = parse(page.text).forms[-1]
    data = dict(form.fields.items()) | {"username": USERNAME, "password": PASSWORD}
    answer = client.post("/login", data=data)
    assert answer.status_code == 303
    shown = client.get(answer.headers["Location"])
    assert heading(shown) == AD
    follow(client, shown, "No thanks")
    assert [kind for kind, event in events(demo) if event == "shown"] == ["cookie", "ad"]


def test_7_dismissing_writes_nothing() -> None:
    demo, client = armed()
    with demo.database.raw() as connection:
        before = connection.total_changes
        follow(client, client.get("/"), "Close")
        follow(client, client.get("/"), "No thanks")
        assert connection.total_changes == before


@pytest.mark.parametrize("code", sorted(load_languages()))
def test_7_both_interruptions_have_two_links_in_every_language(code: str) -> None:
    demo = open_demo(code)
    demo.disruptions.arm()
    client = demo.client()
    shown = client.get("/")
    assert len(links(shown)) == 2
    client.get(next(iter(links(shown).values())), follow_redirects=True)
    shown = client.get("/")
    assert len(links(shown)) == 2
    assert demo.disruptions.active == "ad"


def test_8_every_click_shows_the_ad_again_at_each_page_load() -> None:
    demo, client = armed("every_click")
    assert heading(follow(client, client.get("/"), "Close")) == "Home"
    for number in (1, 2, 3):
        shown = client.get(f"/notes/{number}")
        assert heading(shown) == AD
        assert heading(follow(client, shown, "No thanks")) == f"Note {number}"
    assert [event for event in events(demo) if event[0] == "cookie"] == [
        ("cookie", "shown"),
        ("cookie", "dismissed"),
    ]


def test_9_what_is_still_on_screen_can_be_told_from_what_was_dismissed() -> None:
    demo, client = armed()
    follow(client, client.get("/"), "Close")
    client.get("/notes/1")
    assert demo.disruptions.active == "ad"
    assert events(demo)[-1] == ("ad", "shown")


def test_a_reset_disarms_and_forgets() -> None:
    demo, client = armed()
    client.get("/")
    demo.disruptions.reset()
    assert demo.disruptions.events() == []
    assert demo.disruptions.active is None
    assert heading(client.get("/")) == "Home"


def test_disarming_keeps_what_happened() -> None:
    demo, client = armed()
    client.get("/")
    demo.disruptions.disarm()
    assert events(demo) == [("cookie", "shown")]
    assert heading(client.get("/")) == "Home"
