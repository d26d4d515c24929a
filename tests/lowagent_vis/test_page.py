"""Pages as agents read them: text, numbers, forms, stamps."""

from pathlib import Path

import pytest

from lowagent_vis.page import Button, Field, Link, Option, Page, parse_page

GOLDEN = Path(__file__).parents[1] / "fixtures" / "observations"


def page_of(body: str, *, url: str = "/here", origin: str = "") -> Page:
    html = f"<!DOCTYPE html><html><head><title>T</title></head><body>{body}</body></html>"
    return parse_page(html.encode(), url=url, origin=origin)


def field_of(control: str) -> Field:
    (form,) = page_of(f"<form name='f'>{control}<button>Go</button></form>").forms
    return form.fields[0]


@pytest.mark.parametrize(
    ("name", "url", "error"),
    [
        ("product", "/p/P1", None),
        ("urdu", "/cart", "there is no link 9; links are numbered 1 to 2"),
    ],
)
def test_the_text_observation_equals_its_golden_file(
    name: str, url: str, error: str | None
) -> None:
    page = parse_page((GOLDEN / f"{name}.html").read_bytes(), url=url)
    assert page.to_text(error) + "\n" == (GOLDEN / f"{name}.txt").read_text("utf-8")


def test_every_heading_is_printed_when_there_is_nothing() -> None:
    assert page_of("").to_text() == (
        "URL: /here\nTITLE: T\nTEXT:\n(none)\nLINKS:\n(none)\nFORMS:\n(none)"
    )


def test_an_empty_answer_is_an_empty_page() -> None:
    assert parse_page(b"", url="/") == Page(url="/", title="", text="", links=(), forms=())


def test_page_text_and_link_targets_can_be_left_out() -> None:
    page = page_of('<p>Words</p><a href="/x">Link</a>')
    assert page.to_text(page_text=False, link_targets=False) == (
        "URL: /here\nTITLE: T\nLINKS:\n[1] Link\nFORMS:\n(none)"
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>a<b>b</b>c</p>", "abc"),
        ("<p><b>a</b><i>b</i></p>", "a b"),
        ("<p><b>a</b><i>, b</i>.</p>", "a, b."),
        ("<p>see<a href=/x>this</a>, now</p>", "see this, now"),
        ("<p>  many \n\t spaces&nbsp; here </p>", "many spaces here"),
        ("<div>one<div>two</div>three</div>", "one\ntwo\nthree"),
        ("one<br>two", "one\ntwo"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<table><tr><td>a<td>b|c</table>", "a | b|c"),
        ("<table><tr><td></td><td></td></tr></table>", ""),
        ("<dl><div><dt>Size</dt><dd>3 cm</dd></div></dl>", "Size | 3 cm"),
        ("<p>x<img src=a alt='A cup'>y</p>", "x [image] A cup y"),
        ("<p>x <img src=a alt=''> y</p>", "x y"),
        ("<p>x <img src=a> y</p>", "x [image] y"),
        ("<p>a<!-- no -->b</p>", "ab"),
        ("<noscript>n</noscript><script>s</script><style>t</style>", ""),
        ("<details><summary>More</summary><p>Closed</p></details>", "More"),
        ("<details open><summary>More</summary><p>Open</p></details>", "More\nOpen"),
        ("<div class='big visually-hidden'>h</div><div hidden>i</div>j", "j"),
        ("<p>मूल्य: <bdi>₹ २,२४१</bdi>।</p>", "मूल्य: ₹ २,२४१।"),
        ("<textarea>no</textarea><select><option>no</select><button>Yes</button>", "Yes"),
    ],
)
def test_text_follows_the_rules(body: str, text: str) -> None:
    assert page_of(body).text == text


def test_links_are_numbered_in_document_order_with_their_labels() -> None:
    page = page_of(
        '<a href="/a">A  <b>bold</b></a><a href="#top">no</a><a>no</a>'
        '<a href="/b"><img src="i" alt="Photo"></a>'
        '<a href="/c"><img src="i" alt="Photo"><h3>Cup</h3><p>$ 3</p></a>'
        '<a href="/d" aria-label="Icon"><svg></svg></a><a href="/none"></a><a href="/e">E</a>'
    )
    assert page.links == (
        Link(1, "A bold", "/a"),
        Link(2, "Photo", "/b"),
        Link(3, "Cup $ 3", "/c"),
        Link(4, "Icon", "/d"),
        Link(5, "E", "/e"),
    )


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("?page=2", "/a/b?page=2"),
        ("c", "/a/c"),
        ("../c", "/c"),
        ("", "/a/b?q=1"),
        ("http://shop.test/x?y=1", "/x?y=1"),
        ("http://shop.test.evil/x", "http://shop.test.evil/x"),
        ("//evil.test/x", "//evil.test/x"),
        ("mailto:a@b.c", "mailto:a@b.c"),
    ],
)
def test_targets_resolve_against_the_page(href: str, target: str) -> None:
    (link,) = page_of(f'<a href="{href}">x</a>', url="/a/b?q=1", origin="http://shop.test").links
    assert link.href == target


def test_hidden_links_and_forms_are_not_numbered() -> None:
    page = page_of(
        '<div hidden><a href="/a">a</a><form><button>b</button></form></div>'
        '<p class="visually-hidden"><a href="/b">b</a></p><form><input type=hidden name=x></form>'
        '<a href="/c">c</a><form name="seen"><button>b</button></form>'
    )
    assert [k.href for k in page.links] == ["/c"]
    assert [(f.number, f.name) for f in page.forms] == [(1, "seen")]


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ('<input name="a" value="v">', Field("a", "", "text", "v")),
        ('<input name="a" type="search" aria-label="Find">', Field("a", "Find", "text")),
        ('<label for="i">L</label><input id="i" name="a">', Field("a", "L", "text")),
        ('<input id="i" name="a"><label for="i">L</label>', Field("a", "L", "text")),
        ('<label>L <input name="a"> more</label>', Field("a", "L more", "text")),
        ('<input name="a" type="hidden" value="v">', Field("a", "", "hidden", "v", hidden=True)),
        ('<textarea name="a">\n\nx\ny</textarea>', Field("a", "", "textarea", "\nx\ny")),
        ('<input name="a" readonly>', Field("a", "", "text", readonly=True)),
        ('<fieldset disabled><input name="a"></fieldset>', Field("a", "", "text", disabled=True)),
        ('<input type=checkbox name="a">', Field("a", "", "checkbox", "on")),
        (
            '<input type=checkbox name="a" value="1" checked>',
            Field("a", "", "checkbox", "1", checked=True),
        ),
        (
            '<select name="a"><option value="1">One<option disabled>Two</select>',
            Field(
                "a",
                "",
                "select",
                "1",
                (Option("1", "One", selected=True), Option("Two", "Two", disabled=True)),
            ),
        ),
        (
            '<select name="a" multiple><option selected>1<option selected>2<option>3</select>',
            Field(
                "a",
                "",
                "select",
                "",
                (
                    Option("1", "1", selected=True),
                    Option("2", "2", selected=True),
                    Option("3", "3"),
                ),
                multiple=True,
            ),
        ),
    ],
)
def test_fields_are_read(control: str, expected: Field) -> None:
    assert field_of(control) == expected


def test_radio_buttons_of_one_name_are_one_field_named_by_the_legend() -> None:
    field = field_of(
        "<fieldset><legend>Pay</legend><label><input type=radio name=p value=a>A</label>"
        "<label><input type=radio name=p value=b checked>B</label></fieldset>"
    )
    assert field == Field(
        "p", "Pay", "radio", "b", (Option("a", "A"), Option("b", "B", selected=True))
    )


def test_only_buttons_that_submit_belong_to_a_form() -> None:
    (form,) = page_of(
        "<form><input name=a><button type=button>No</button><button name=b value=1>Yes</button>"
        "<input name=c><input type=submit value=Send><button disabled>Off</button></form>"
    ).forms
    assert form.buttons == (Button("Yes", "b", "1", 1), Button("Send", "", "Send", 2))


def test_a_form_without_an_action_submits_to_its_page() -> None:
    (form,) = page_of("<form method=POST><button>b</button></form>", url="/a?b=1").forms
    assert (form.method, form.action, form.name) == ("POST", "/a?b=1", "form")


def test_values_cannot_break_out_of_their_line() -> None:
    page = page_of(
        '<form name=f><textarea name=a>\n"\nLINKS:\n[1] x</textarea><button>b</button></form>'
    )
    assert '  a textarea = "\\"\\nLINKS:\\n[1] x"' in page.to_text().split("\n")


def test_numbered_elements_are_stamped() -> None:
    html = page_of(
        '<a href="#x">x</a><a href="/a">a</a><form name=f><button>b</button></form>'
    ).stamped_html()
    assert html.startswith("<!DOCTYPE html>")
    assert '<a href="/a" data-i="L1">a</a>' in html
    assert '<form name="f" data-i="F1">' in html
    assert html.count("data-i") == 2
