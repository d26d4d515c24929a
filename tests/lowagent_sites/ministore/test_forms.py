"""Registration, sign-in and password in Ministore: each refusal says why and stores nothing."""

import pytest

from lowagent_sites.common.i18n import load_texts
from lowagent_sites.common.numbers import format_integer
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
    ({"username": "name\u200b1"}, "Use 3 to 20 small letters, digits or underscores"),
    ({"username": "nàme"}, "Use 3 to 20 small letters, digits or underscores"),
    ({"display_name": " "}, "Enter a display name"),
    ({"display_name": "\u200b\u202e"}, "Enter a display name"),
    ({"display_name": "x"}, "Use at least 2 characters"),
    ({"email": ""}, "Enter an e-mail address"),
    ({"email": "a@b"}, "Enter an e-mail address like name@example.com"),
    ({"password": "short1", "password2": "short1"}, PASSWORD_RULE),
    ({"password": "nodigits!", "password2": "nodigits!"}, PASSWORD_RULE),
    ({"password": "12345678", "password2": "12345678"}, PASSWORD_RULE),
    ({"password": "a1" * 36 + "a", "password2": "a1" * 36 + "a"}, PASSWORD_RULE),
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
        sent = {**GOOD, **changes}
        for name in {"username", "email", "display_name"} - set(changes):
            assert page.xpath("//input[@name=$name]/@value", name=name) == [sent[name]]
        assert set(page.xpath("//input[@type='password']/@value")) <= {""}
        assert shop.changes() == {}


@pytest.mark.parametrize("code", ["en", "bn", "ur"])
@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("username", "a" * 41, 40),
        ("display_name", "আ" * 61, 60),
        ("email", f"{'a' * 109}@example.org", 120),
    ],
)
def test_a_value_that_is_too_long_is_refused_with_the_limit(
    code: str, name: str, value: str, limit: int
) -> None:
    with open_shop(code) as shop:
        response = shop.submit("/register", "register", **{**GOOD, name: value})
        assert response.status_code == 422
        text = load_texts("ministore", code).gettext(
            "Use at most %(n)s characters", n=format_integer(limit, shop.language)
        )
        assert errors(response) == [text]
        assert shop.changes() == {}


def test_all_faults_are_named_at_once_in_the_order_of_the_fields() -> None:
    with open_shop("am") as shop:
        response = shop.submit("/register", "register", **dict.fromkeys(GOOD, ""))
        expected = [
            said(shop, text)
            for text in (
                "Enter a user name",
                "Enter a display name",
                "Enter an e-mail address",
                "Enter a password",
                "Repeat the password",
            )
        ]
        assert errors(response) == expected
        summary = parse(response).xpath("//*[@role='alert']//a")
        assert [text_of(link) for link in summary] == expected
        for link in summary:
            assert parse(response).xpath("//*[@id=$id]", id=link.get("href")[1:])


@pytest.mark.parametrize(("path", "form"), [("/register", "register"), ("/login", "login")])
def test_typed_markup_comes_back_as_it_was_typed(path: str, form: str) -> None:
    typed = '"><img src=x onerror=alert(1)>'
    with open_shop() as shop:
        response = shop.submit(path, form, username=typed, password="")
        assert response.status_code == 422
        page = parse(response)
        assert page.xpath("//input[@name='username']/@value") == [typed]
        assert page.xpath("//img[@src='x']") == []


def test_a_display_name_of_markup_is_text_on_every_page() -> None:
    with open_shop() as shop:
        values = {**GOOD, "display_name": "<b>&amp;</b>"}
        assert shop.submit("/register", "register", **values).status_code == 303
        for path in ("/account", "/", "/p/P00007"):
            page = shop.open(path)
            assert "<b>&amp;</b>" in text_of(page.xpath("//header")[0])
            assert page.xpath("//b") == []


@pytest.mark.parametrize(
    ("path", "is_signed_in"),
    [("/login", False), ("/register", False), ("/account/password", True), ("/logout", True)],
)
def test_an_account_form_without_its_token_does_nothing(path: str, is_signed_in: bool) -> None:
    with open_shop() as shop:
        if is_signed_in:
            shop.sign_in()
        values = {**GOOD, "current": PASSWORD}
        for data in (values, values | {"csrf_token": "0" * 32}):
            assert shop.post(path, data=data).status_code == 400
        assert shop.changes() == {}
        assert (shop.get("/account").status_code == 200) == is_signed_in


def test_registering_twice_with_one_form_opens_one_account() -> None:
    with open_shop() as shop:
        data = dict(shop.open("/register").xpath("//form[@name='register']")[0].fields) | GOOD
        cookies = dict(shop.cookies)
        assert shop.post("/register", data=data).status_code == 303
        shop.cookies.clear()
        shop.cookies.update(cookies)
        response = shop.post("/register", data=data)
        assert response.status_code == 422
        assert errors(response) == [said(shop, "This user name is taken")]
        assert len(shop.rows("SELECT id FROM users WHERE username = 'new_name'")) == 1


@pytest.mark.parametrize("secret", ["abcdefg1", "a1" * 36])
def test_the_shortest_and_the_longest_password_are_taken(secret: str) -> None:
    with open_shop() as shop:
        values = {**GOOD, "password": secret, "password2": secret}
        assert shop.submit("/register", "register", **values).status_code == 303
        shop.submit("/account", "logout")
        response = shop.submit("/login", "login", username="new_name", password=secret)
        assert response.status_code == 303


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
        ({"password2": ""}, "Repeat the password"),
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
