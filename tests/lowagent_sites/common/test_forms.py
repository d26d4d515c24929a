"""Forms as people and agents see them, their errors, and the second send of a form."""

import pytest

from lowagent_sites.common.forms import Choice, Field, Form
from tests.lowagent_sites.common.demo_site import (
    NOTES,
    Demo,
    DemoClient,
    FormToken,
    Note,
    open_demo,
    parse,
)


def signed_in() -> tuple[Demo, DemoClient]:
    demo = open_demo()
    client = demo.client()
    client.sign_in()
    return demo, client


def test_a_creating_form_runs_and_redirects_to_its_result() -> None:
    demo, client = signed_in()
    answer = client.submit("/notes/new", "note_new", title="mine", kind="home", price="24.90")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/notes/{NOTES + 1}")
    assert demo.count(Note) == NOTES + 1
    page = client.open(f"/notes/{NOTES + 1}")
    assert page.xpath("//article//bdi/text()") == ["$24.90", "2026-06-15 10:00"]
    assert page.xpath("//p[@role='status']/text()") == ["Save"]


def test_the_same_form_sent_twice_creates_once_and_leads_to_the_same_result() -> None:
    demo, client = signed_in()
    form = client.open("/notes/new").forms[-1]
    data = {name: value or "" for name, value in form.fields.items()}
    data |= {"title": "mine", "kind": "home"}
    first, second = (client.post("/notes", data=data) for _ in range(2))
    assert first.headers["Location"] == second.headers["Location"] == f"/notes/{NOTES + 1}"
    assert second.status_code == 303
    assert demo.count(Note) == NOTES + 1
    assert demo.count(FormToken) == 1


def test_a_form_shown_again_creates_another() -> None:
    demo, client = signed_in()
    for title in ("one", "two"):
        assert client.submit("/notes/new", "note_new", title=title, kind="home").is_redirect
    assert demo.count(Note) == NOTES + 2


def test_showing_a_creating_form_writes_nothing() -> None:
    demo, client = signed_in()
    client.get("/notes/new")
    assert demo.count(FormToken) == 0


@pytest.mark.parametrize("form_id", ["", "x" * 65])
def test_a_creating_form_without_a_proper_id_is_refused(form_id: str) -> None:
    demo, client = signed_in()
    answer = client.submit("/notes/new", "note_new", title="x", kind="home", form_id=form_id)
    assert answer.status_code == 400
    assert demo.count(Note) == NOTES


def test_an_id_that_another_session_has_used_is_refused() -> None:
    demo, client = signed_in()
    client.submit("/notes/new", "note_new", title="one", kind="home", form_id="taken")
    other = demo.client()
    other.sign_in()
    answer = other.submit("/notes/new", "note_new", title="two", kind="home", form_id="taken")
    assert answer.status_code == 400
    assert demo.count(Note) == NOTES + 1


def test_a_faulty_form_keeps_what_was_typed_and_names_each_fault_twice() -> None:
    demo, client = signed_in()
    answer = client.submit(
        "/notes/new", "note_new", title="x" * 21, body=" a\r\nb ", price="12", place="search",
        is_public="1",
    )  # fmt: skip
    assert answer.status_code == 422
    page = parse(answer.text)
    faults = ["Use at most 20 characters", "Password"]
    assert page.xpath("//div[@role='alert']/h2/text()") == ["There is a problem"]
    assert page.xpath("//div[@role='alert']//a/text()") == faults
    assert page.xpath("//p[@class='error']/text()") == faults
    for target in page.xpath("//div[@role='alert']//a/@href"):
        assert len(page.xpath("//*[@id=$id]", id=target.removeprefix("#"))) == 1
    (form,) = page.xpath("//form[@name='note_new']")
    assert form.fields["title"] == "x" * 21
    assert form.fields["body"] == "a\nb"
    assert form.fields["place"] == "search"
    assert form.fields["is_public"] == "1"
    assert demo.count(Note) == NOTES
    assert demo.count(FormToken) == 0


def test_hints_and_errors_are_tied_to_their_field() -> None:
    _demo, client = signed_in()
    answer = client.submit("/notes/new", "note_new", kind="home")
    page = parse(answer.text)
    (title,) = page.xpath("//input[@name='title']")
    assert title.get("aria-invalid") == "true"
    assert page.get_element_by_id(title.get("aria-describedby")).text == "Enter a user name"
    (body,) = page.xpath("//textarea")
    assert body.get("aria-invalid") is None
    assert page.get_element_by_id(body.get("aria-describedby")).text == "We use cookies"


def test_every_control_has_a_label_and_a_direction() -> None:
    _demo, client = signed_in()
    page = client.open("/notes/new")
    for control in page.xpath("//main//*[self::input or self::select or self::textarea]"):
        if control.get("type") == "hidden":
            continue
        assert len(page.xpath("//label[@for=$id]", id=control.get("id"))) == 1
        if control.get("type") not in {"radio", "checkbox"} and control.tag != "select":
            assert control.get("dir") in {"auto", "ltr"}
    assert page.xpath("//fieldset/legend/text()") == ["Pages"]


def test_amounts_are_text_fields_with_a_number_keyboard() -> None:
    _demo, client = signed_in()
    (price,) = client.open("/notes/new").xpath("//input[@name='price']")
    assert (price.get("type"), price.get("inputmode"), price.get("dir")) == (
        "text",
        "decimal",
        "ltr",
    )


def test_optional_text_fields_say_so_and_others_do_not() -> None:
    _demo, client = signed_in()
    labels = client.open("/notes/new").xpath("//main//label/text()")
    assert [text for text in labels if "(optional)" in text] == [
        "Display name (optional)",
        "E-mail (optional)",
    ]


def test_typed_markup_is_shown_as_it_was_typed() -> None:
    _demo, client = signed_in()
    typed = '"><script>1</script>'
    answer = client.submit("/notes/new", "note_new", title=typed, body=typed)
    page = parse(answer.text)
    assert page.xpath("//input[@name='title']/@value") == [typed]
    assert page.xpath("//textarea/text()") == [typed]
    assert not page.xpath("//script")


def test_a_choice_that_was_not_offered_is_an_error() -> None:
    _demo, client = signed_in()
    answer = client.submit("/notes/new", "note_new", title="x", kind="home", place="nowhere")
    assert answer.status_code == 422
    assert "Choose one of the options" in answer.text


def test_reading_a_form_again_forgets_old_errors() -> None:
    demo = open_demo()
    with demo.app.test_request_context("/"):
        form = Form("f", [Field("a", "A", required="Enter A", choices=[Choice("1", "One")])])
        form.read({})
        assert [field.error for field in form.errors] == ["Enter A"]
        form.read({"a": "1"})
        assert form.errors == []


def test_an_unknown_field_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Form("f", [])["a"]
