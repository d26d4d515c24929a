"""Registration, sign-in and password in Ministore: each refusal says why and stores nothing."""

import pytest

from lowagent_sites.common.i18n import load_texts
from tests.lowagent_sites.ministore.shop import (
    PASSWORD,
    USERNAME,
    Shop,
    errors,
    open_shop,
    parse,
    text_of,
)

GOOD = {
    "username": "new_name",
    "display_name": "নতুন নাম",
    "email": "name@example.org",
    "password": "secret 123",
    "password2": "secret 123",
}
PASSWORD_RULE = "Use 8 to 72 characters with a letter and a digit"
REGISTRATION = [
    ({"username": ""}, "Enter a user name"),
    ({"username": "ab"}, "Use 3 to 20 small letters, digits or underscores"),
    ({"username": "Upper"}, "Use 3 to 20 small letters, digits or underscores"),
    ({"username": "a" * 21}, "Use 3 to 20 small letters, digits or underscores"),
    ({"username": "admin"}, "This user name cannot be used"),
    ({"username": USERNAME}, "This user name is taken"),
    ({"display_name": " "}, "Enter a display name"),
    ({"display_name": "x"}, "Use at least 2 characters"),
    ({"email": ""}, "Enter an e-mail address"),
    ({"email": "a@b"}, "Enter an e-mail address like name@example.com"),
    ({"password": "short1", "password2": "short1"}, PASSWORD_RULE),
    ({"password": "nodigits!", "password2": "nodigits!"}, PASSWORD_RULE),
    ({"password2": "other 123"}, "The two passwords differ"),
    ({"password2": ""}, "Repeat the password"),
]


def said(shop: Shop, text: str) -> str:
    return str(load_texts("ministore", shop.world.language).gettext(text))


@pytest.mark.parametrize("code", ["en", "hi", "am"])
@pytest.mark.parametrize(("changes", "text"), REGISTRATION)
def test_a_registration_that_is_refused(code: str, changes: dict[str, str], text: str) -> None:
    with open_shop(code) as shop:
        response = shop.submit("/register", "register", **{**GOOD, **changes})
        assert response.status_code == 422
        assert errors(response) == [said(shop, text)]
        page = parse(response)
        assert page.xpath("//*[@role='alert']//a")
        kept = {**GOOD, **changes}["display_name"].strip()
        assert page.xpath("//input[@name='display_name']/@value") == [kept]
        assert set(page.xpath("//input[@type='password']/@value")) <= {""}
        assert shop.changes() == {}


def test_a_new_account_is_signed_in_and_can_sign_in_again() -> None:
    with open_shop("bn") as shop:
        response = shop.submit("/register", "register", **GOOD)
        assert (response.status_code, response.headers["Location"]) == (303, "/account")
        assert GOOD["display_name"] in text_of(shop.open("/account"))
        assert set(shop.changes()) == {"users"}
        shop.submit("/account", "logout")
        assert shop.get("/account").status_code == 302
        response = shop.submit("/login", "login", username="new_name", password=GOOD["password"])
        assert response.status_code == 303


@pytest.mark.parametrize(
    ("username", "password", "texts"),
    [
        ("", "", ["Enter your user name", "Enter your password"]),
        (USERNAME, "", ["Enter your password"]),
        (USERNAME, PASSWORD.lower(), ["Wrong user name or password"]),
        ("nobody", PASSWORD, ["Wrong user name or password"]),
        ("' OR 1=1 --", "x", ["Wrong user name or password"]),
    ],
)
def test_a_sign_in_that_is_refused(username: str, password: str, texts: list[str]) -> None:
    with open_shop("ur") as shop:
        response = shop.submit("/login", "login", username=username, password=password)
        assert response.status_code == 422
        assert errors(response) == [said(shop, text) for text in texts]
        assert parse(response).xpath("//input[@name='username']/@value") == [username]


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/cart", "/cart"),
        ("/c/kitchen?page=2", "/c/kitchen?page=2"),
        ("//evil.example", "/account"),
        ("https://evil.example/", "/account"),
        ("/\\evil.example", "/account"),
        ("javascript:alert(1)", "/account"),
        ("", "/account"),
    ],
)
def test_after_sign_in_only_a_path_of_the_shop_is_gone_to(target: str, location: str) -> None:
    with open_shop() as shop:
        response = shop.submit("/login", "login", username=USERNAME, password=PASSWORD, next=target)
        assert (response.status_code, response.headers["Location"]) == (303, location)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"current": ""}, "Enter your current password"),
        ({"current": "wrong"}, "The current password is wrong"),
        ({"password": "x1", "password2": "x1"}, PASSWORD_RULE),
        ({"password2": "different 1"}, "The two passwords differ"),
        (
            {"password": PASSWORD, "password2": PASSWORD},
            "The new password must differ from the old one",
        ),
    ],
)
def test_a_password_change_that_is_refused(values: dict[str, str], text: str) -> None:
    good = {"current": PASSWORD, "password": "another 123", "password2": "another 123"}
    with open_shop() as shop:
        shop.sign_in()
        response = shop.submit("/account/password", "password_change", **{**good, **values})
        assert response.status_code == 422
        assert errors(response) == [said(shop, text)]
        assert shop.changes() == {}


def test_a_changed_password_is_the_one_that_counts() -> None:
    with open_shop() as shop:
        shop.sign_in()
        response = shop.submit(
            "/account/password",
            "password_change",
            current=PASSWORD,
            password="another 123",
            password2="another 123",
        )
        assert response.status_code == 303
        shop.submit("/account", "logout")
        refused = shop.submit("/login", "login", username=USERNAME, password=PASSWORD)
        assert refused.status_code == 422
        taken = shop.submit("/login", "login", username=USERNAME, password="another 123")
        assert taken.status_code == 303
