"""Error pages in the site's layout (`common.md` 10), and the headers of every answer."""

import logging
from typing import Any

import httpx
import pytest

from lowagent_sites.common.languages import load_languages
from tests.lowagent_sites.common.demo_site import NOTES, ORIGIN, Demo, Note, open_demo, parse


def page_of(answer: httpx.Response) -> Any:
    return parse(answer.text)


def post(demo: Demo, path: str, **headers: str) -> httpx.Response:
    client = demo.client()
    token = client.open("/login").xpath("//input[@name='csrf_token']/@value")[0]
    return client.post(path, data={"csrf_token": token}, headers=headers)


@pytest.mark.parametrize("path", ["/nowhere", "/notes/999", "/__harness/health", "/n/aaaa"])
def test_unknown_addresses_and_unknown_things_look_the_same(path: str) -> None:
    demo = open_demo()
    client = demo.client()
    client.get("/")
    unknown, answer = client.get("/nowhere"), client.get(path)
    assert answer.status_code == 404
    assert answer.content == unknown.content
    page = page_of(answer)
    assert page.findtext(".//h1") == "We could not find this page"
    assert page.findtext(".//title") == "We could not find this page · Demo"
    assert page.xpath("//header//form[@name='search']")
    assert page.xpath("//footer")


@pytest.mark.parametrize(
    ("path", "nearest"), [("/logout", "/"), ("/notes/clash", "/"), ("/notes", "/")]
)
def test_a_form_address_that_is_opened_leads_to_the_nearest_page(path: str, nearest: str) -> None:
    answer = open_demo().client().get(path)
    assert answer.status_code == 405
    page = page_of(answer)
    assert page.findtext(".//h1") == "This address does not accept that"
    assert page.xpath("//main//a/@href") == [nearest]


def test_a_form_sent_to_a_page_leads_to_that_page() -> None:
    answer = open_demo().client().post("/notes/3")
    assert answer.status_code == 405
    assert page_of(answer).xpath("//main//a/@href") == ["/notes/3"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method: str) -> None:
    assert open_demo().client().request(method, "/notes/3").status_code == 405


def test_a_form_sent_to_an_unknown_address_is_not_found() -> None:
    assert open_demo().client().post("/nowhere").status_code == 404


def test_a_head_request_is_answered_without_a_body() -> None:
    answer = open_demo().client().head("/")
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_rule_refuses_in_its_own_words_and_nothing_is_kept() -> None:
    demo = open_demo()
    answer = post(demo, "/refused")
    assert answer.status_code == 409
    page = page_of(answer)
    assert page.findtext(".//h1") == "The <status> is shipped"
    assert page.xpath("//main//a/@href") == ["/notes/7"]
    assert demo.count(Note) == NOTES
    assert page.xpath("//ul[@class='account-links']//a[1]/text()")[0] == f"Save ({NOTES})"


def test_what_was_written_before_a_fault_of_the_form_is_not_kept() -> None:
    demo = open_demo()
    assert post(demo, "/notes/half").status_code == 422
    assert demo.count(Note) == NOTES


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        (f"{ORIGIN}/notes/3?x=1", "/notes/3?x=1"),
        ("http://other.test/notes/3", "/"),
        ("nonsense", "/"),
        ("", "/"),
    ],
)
def test_a_refusal_leads_back_to_where_the_request_came_from(referer: str, back: str) -> None:
    answer = open_demo().client().get("/refused", headers={"Referer": referer})
    assert answer.status_code == 403
    assert page_of(answer).xpath("//main//a/@href") == [back]


def test_a_conflict_that_only_the_database_sees_is_no_fault_of_ours() -> None:
    demo = open_demo()
    answer = post(demo, "/notes/clash", Referer=f"{ORIGIN}/notes/1")
    assert answer.status_code == 409
    assert page_of(answer).xpath("//main//a/@href") == ["/notes/1"]
    assert demo.count(Note) == NOTES
    assert demo.client().get("/").status_code == 200


def test_more_than_64_kilobytes_are_too_large() -> None:
    client = open_demo().client()
    client.sign_in()
    answer = client.submit("/notes/new", "note_new", body="x" * 70_000)
    assert answer.status_code == 413
    assert page_of(answer).findtext(".//h1") == "What you sent is too large"


def test_a_fault_shows_an_incident_and_nothing_of_the_code(
    caplog: pytest.LogCaptureFixture,
) -> None:
    demo = open_demo()
    with caplog.at_level(logging.CRITICAL):
        answers = [demo.client().get("/broken?x=1"), demo.client().get("/broken?x=1")]
        other = demo.client().get("/broken?x=2")
    assert [answer.status_code for answer in answers] == [500, 500]
    page = page_of(answers[0])
    assert page.findtext(".//h1") == "Something went wrong on our side"
    (incident,) = page.xpath("//main//p/bdi/text()")
    assert len(incident) == 12
    assert incident in answers[1].text
    assert incident not in other.text
    assert "secret" not in answers[0].text


def test_a_fault_is_logged_with_its_incident(caplog: pytest.LogCaptureFixture) -> None:
    answer = open_demo().client().get("/broken")
    (incident,) = page_of(answer).xpath("//main//p/bdi/text()")
    assert incident in caplog.text
    assert "a secret of the code" in caplog.text


@pytest.mark.parametrize("code", sorted(load_languages()))
def test_error_pages_speak_the_sites_language(code: str) -> None:
    answer = open_demo(code).client().get("/nowhere")
    page = page_of(answer)
    assert page.get("lang") == code
    is_english = code == "en"
    assert (page.findtext(".//h1") == "We could not find this page") == is_english


@pytest.mark.parametrize("path", ["/", "/nowhere", "/account", "/static/common/base.css"])
def test_every_answer_forbids_scripts_and_foreign_content(path: str) -> None:
    headers = open_demo().client().get(path).headers
    assert headers["Content-Security-Policy"] == (
        "default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/account", "/login", "/nowhere"])
def test_pages_are_never_stored(path: str) -> None:
    assert open_demo().client().get(path).headers["Cache-Control"] == "no-store"
