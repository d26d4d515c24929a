"""Accounts, sessions and the protection of forms (`common.md` 4)."""

import dataclasses

import pytest
from sqlalchemy import select
from werkzeug.security import check_password_hash

from lowagent_sites.common.auth import safe_target
from lowagent_sites.common.errors import UnknownNameError
from lowagent_sites.common.passwords import hash_password
from lowagent_sites.common.runtime import DEFAULT_KEY
from lowagent_sites.common.sessions import session_cookie
from tests.lowagent_sites.common.demo_site import (
    NOTES,
    ORIGIN,
    PASSWORD,
    USERNAME,
    Note,
    User,
    open_demo,
    parse,
)

WHO = {
    "username": "new_one",
    "display_name": "নতুন জন",
    "email": "new@example.com",
    "password": "secret12",
    "password2": "secret12",
}


def test_signing_in_leads_to_the_page_that_was_asked_for() -> None:
    client = open_demo().client()
    answer = client.get("/notes/new?x=1")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/login?next=%2Fnotes%2Fnew%3Fx%3D1"
    signed = client.submit(
        answer.headers["Location"], "login", username=USERNAME, password=PASSWORD
    )
    assert signed.status_code == 303
    assert signed.headers["Location"] == "/notes/new?x=1"
    assert "Hello, <bdi>Asha Rao</bdi>" in client.get("/").text


def test_signing_in_without_a_goal_leads_to_the_account() -> None:
    client = open_demo().client()
    answer = client.submit("/login", "login", username=USERNAME, password=PASSWORD)
    assert answer.headers["Location"] == "/account"
    page = client.open("/account")
    assert page.xpath("//dd//text()") == ["asha", "Asha Rao", "asha@example.com", "2025-01-02"]


@pytest.mark.parametrize(
    ("username", "password"), [("nobody", PASSWORD), (USERNAME, "wrong"), ("ASHA", PASSWORD)]
)
def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(
    username: str, password: str
) -> None:
    client = open_demo().client()
    answer = client.submit("/login", "login", username=username, password=password)
    assert answer.status_code == 422
    page = parse(answer.text)
    assert page.xpath("//div[@role='alert']//li//text()") == ["Wrong user name or password"]
    assert page.findtext(".//title") == "Error: Sign in · Demo"
    assert page.xpath("//input[@name='username']/@value") == [username]
    assert page.xpath("//input[@name='password']/@value") == [""]
    assert "Hello" not in client.get("/").text


def test_empty_fields_are_asked_for() -> None:
    answer = open_demo().client().submit("/login", "login")
    page = parse(answer.text)
    assert page.xpath("//div[@role='alert']//li//text()") == [
        "Enter your user name",
        "Enter your password",
    ]


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "/\t/evil.example", "evil",
     "javascript:alert(1)", "", "/\n/evil.example"],
)  # fmt: skip
def test_a_goal_outside_the_site_is_ignored(target: str) -> None:
    assert safe_target(target) is None
    client = open_demo().client()
    answer = client.submit("/login", "login", username=USERNAME, password=PASSWORD, next=target)
    assert answer.headers["Location"] == "/account"


def test_a_goal_on_the_site_is_kept_with_its_query() -> None:
    assert safe_target("/search?q=a%20b&page=2") == "/search?q=a%20b&page=2"


def test_signing_out_is_a_form_and_leads_home() -> None:
    client = open_demo().client()
    client.sign_in()
    answer = client.submit("/", "logout")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "Sign in" in client.get("/").text
    assert client.get("/account").status_code == 302


def test_registering_opens_an_account_and_signs_in() -> None:
    demo = open_demo()
    client = demo.client()
    answer = client.submit("/register", "register", **WHO)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    with demo.database.session() as session:
        user = session.scalars(select(User).where(User.username == "new_one")).one()
        assert user.display_name == "নতুন জন"
        assert check_password_hash(user.password_hash, "secret12")
    assert "Your account is ready" in client.get("/account").text
    assert "Your account is ready" not in client.get("/account").text


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"username": "Ab"}, "Use 3 to 20 small letters, digits or underscores"),
        ({"username": "a" * 21}, "Use 3 to 20 small letters, digits or underscores"),
        ({"username": USERNAME}, "This user name is taken"),
        ({"username": "admin"}, "This user name cannot be used"),
        ({"display_name": "x"}, "Use at least 2 characters"),
        ({"display_name": "x" * 61}, "Use at most 60 characters"),
        ({"email": "nobody"}, "Enter an e-mail address like name@example.com"),
        ({"password": "short1"}, "Use 8 to 72 characters with a letter and a digit"),
        ({"password": "onlyletters"}, "Use 8 to 72 characters with a letter and a digit"),
        ({"password2": "other123"}, "The two passwords differ"),
    ],
)
def test_a_registration_with_a_fault_stores_nothing(change: dict[str, str], error: str) -> None:
    demo = open_demo()
    answer = demo.client().submit("/register", "register", **(WHO | change))
    assert answer.status_code == 422
    page = parse(answer.text)
    assert error in page.xpath("//div[@role='alert']//li//text()")
    assert error in page.xpath("//p[@class='error']//text()")
    assert not any(page.xpath("//input[@type='password']/@value"))
    assert demo.count(User) == 1


def test_the_password_can_be_changed() -> None:
    client = open_demo().client()
    client.sign_in()
    new = {"current": PASSWORD, "password": "quince22", "password2": "quince22"}
    answer = client.submit("/account/password", "password_change", **new)
    assert answer.status_code == 303
    client.submit("/", "logout")
    again = client.submit("/login", "login", username=USERNAME, password="quince22")
    assert again.status_code == 303


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"current": "wrong"}, "The current password is wrong"),
        (
            {"password": PASSWORD, "password2": PASSWORD},
            "The new password must differ from the old one",
        ),
        ({"password2": "different1"}, "The two passwords differ"),
    ],
)
def test_a_password_is_not_changed_with_a_fault(change: dict[str, str], error: str) -> None:
    client = open_demo().client()
    client.sign_in()
    good = {"current": PASSWORD, "password": "quince22", "password2": "quince22"}
    answer = client.submit("/account/password", "password_change", **(good | change))
    assert answer.status_code == 422
    assert error in answer.text
    client.submit("/", "logout")
    client.sign_in()


def test_a_guests_form_does_not_run_and_leads_back_after_signing_in() -> None:
    demo = open_demo()
    client = demo.client()
    page = client.open("/login")
    token = page.xpath("//input[@name='csrf_token']/@value")[0]
    answer = client.post(
        "/notes",
        data={"csrf_token": token, "title": "x", "kind": "home"},
        headers={"Referer": f"{ORIGIN}/notes/3?x=1"},
    )
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/login?next=%2Fnotes%2F3%3Fx%3D1"
    assert demo.count(Note) == NOTES
    assert "Sign in to continue" in client.get(answer.headers["Location"]).text


@pytest.mark.parametrize("token", ["", "0" * 32, "é"])
def test_a_form_without_the_sessions_token_is_refused(token: str) -> None:
    demo = open_demo()
    client = demo.client()
    client.sign_in()
    answer = client.submit("/notes/new", "note_new", csrf_token=token, title="x", kind="home")
    assert answer.status_code == 400
    page = parse(answer.text)
    assert page.findtext(".//h1") == "This form has expired. Open the page again."
    assert page.xpath("//main//a/@href") == ["/notes/new"]
    assert demo.count(Note) == NOTES


def test_a_form_of_before_signing_in_is_void() -> None:
    client = open_demo().client()
    old = client.open("/login").xpath("//input[@name='csrf_token']/@value")[0]
    client.sign_in()
    assert client.post("/logout", data={"csrf_token": old}).status_code == 400


def test_the_session_id_changes_when_someone_signs_in() -> None:
    client = open_demo().client()
    client.get("/")
    before = dict(client.cookies)
    client.sign_in()
    assert list(client.cookies) == ["sid_demo_en"]
    assert dict(client.cookies) != before


def test_the_cookie_is_for_the_site_alone() -> None:
    answer = open_demo("bn").client().get("/")
    name, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert name.startswith("sid_demo_bn=")
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=Lax"]


def test_a_forged_cookie_is_a_new_session() -> None:
    client = open_demo().client()
    client.cookies.set("sid_demo_en", "eyJ1c2VyIjoxfQ.forged")
    assert client.get("/account").status_code == 302


def test_a_session_ends_with_the_reset() -> None:
    demo = open_demo()
    client = demo.client()
    client.sign_in()
    runtime = demo.app.extensions[DEFAULT_KEY]
    demo.app.extensions[DEFAULT_KEY] = dataclasses.replace(runtime, epoch=runtime.epoch + 1)
    assert client.get("/account").status_code == 302


def test_a_cookie_can_be_made_for_tests() -> None:
    demo = open_demo()
    runtime = demo.app.extensions[DEFAULT_KEY]
    client = demo.client()
    client.cookies.set(*session_cookie(demo.app, runtime, USERNAME))
    assert client.get("/account").status_code == 200
    with pytest.raises(UnknownNameError, match="unknown user"):
        session_cookie(demo.app, runtime, "nobody")


def test_equal_passwords_and_salts_give_equal_hashes_that_werkzeug_reads() -> None:
    one = hash_password(PASSWORD, "salt")
    assert one == hash_password(PASSWORD, "salt")
    assert one != hash_password(PASSWORD, "pepper")
    assert check_password_hash(one, PASSWORD)
    assert not check_password_hash(one, PASSWORD + "x")
