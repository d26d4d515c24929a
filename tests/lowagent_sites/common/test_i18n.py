"""Interface texts come from the catalogues of a language; the catalogues are complete."""

import io
import re
import string
from pathlib import Path

import lxml.html
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations
from markupsafe import Markup

from lowagent_sites.common import catalogues
from lowagent_sites.common.catalogues import domains, extract, missing, unused
from lowagent_sites.common.errors import UnknownNameError
from lowagent_sites.common.i18n import Texts, load_texts, read_catalog
from lowagent_sites.common.languages import get_language, selectable_languages
from tests.lowagent_sites.common.demo_site import open_demo

TRANSLATED = [language.code for language in selectable_languages() if not language.baseline]


def compiled(language_code: str, catalog: Catalog) -> Texts:
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    buffer.seek(0)
    return Texts(get_language(language_code), Translations(buffer))


def texts(language_code: str, **messages: str) -> Texts:
    catalog = Catalog(locale=language_code)
    for message, translation in messages.items():
        catalog.add(message, translation)
    return compiled(language_code, catalog)


def test_the_msgid_stands_in_for_a_missing_translation() -> None:
    assert texts("bn").gettext("Close") == "Close"
    assert texts("bn", Close="বন্ধ").gettext("Close") == "বন্ধ"


def test_placeholders_are_filled_and_percent_signs_kept() -> None:
    assert texts("en").gettext("%(n)s of 100%%", n=3) == "3 of 100%"
    assert texts("en").gettext("100%%") == "100%"


def test_markup_in_a_value_is_kept_and_all_else_escaped() -> None:
    filled = texts("en").gettext("<%(a)s %(b)s>", a=Markup("<bdi>x</bdi>"), b="<y>")
    assert filled == "&lt;<bdi>x</bdi> &lt;y&gt;&gt;"
    assert isinstance(filled, Markup)
    assert not isinstance(texts("en").gettext("<%(a)s>", a="<y>"), Markup)


def test_the_pseudo_language_puts_every_text_in_brackets() -> None:
    pseudo = load_texts("demo", "en-XA")
    assert pseudo.gettext("Hello, %(name)s", name="Asha") == "⟦Hello, Asha⟧"
    assert pseudo.ngettext("%(n)s result", "%(n)s results", 2, n=2) == "⟦2 results⟧"
    assert pseudo.pgettext("verb", "Save") == "⟦Save⟧"


@pytest.mark.parametrize(
    ("code", "singular"),
    [("en", {1}), ("bn", {0, 1}), ("hi", {0, 1}), ("ur", {1}), ("am", {0, 1})],
)
def test_plurals_follow_the_languages_own_rule(code: str, singular: set[int]) -> None:
    lines = [
        'msgid ""',
        'msgstr ""',
        '"Content-Type: text/plain; charset=utf-8\\n"',
        f'"Plural-Forms: {get_language(code).plural}\\n"',
        "",
        'msgid "one"',
        'msgid_plural "many"',
        'msgstr[0] "ONE"',
        'msgstr[1] "MANY"',
    ]
    found = compiled(code, read_po(io.StringIO("\n".join(lines)), locale=code))
    assert {n for n in range(4) if found.ngettext("one", "many", n) == "ONE"} == singular


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize("domain", domains())
def test_a_catalogue_has_the_plural_rule_of_its_language(code: str, domain: str) -> None:
    catalog = read_catalog(code, domain)
    assert catalog is not None
    assert catalog.plural_forms.rstrip(";").replace(" ", "") == (
        get_language(code).plural.rstrip(";").replace(" ", "")
    )


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize("domain", domains())
def test_a_catalogue_translates_every_text_of_the_code_and_no_other(code: str, domain: str) -> None:
    assert missing(code, domain) == []
    assert unused(code, domain) == []


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize("domain", domains())
def test_a_translation_has_the_placeholders_of_its_text(code: str, domain: str) -> None:
    catalog = read_catalog(code, domain)
    assert catalog is not None
    problems = [
        f"{message.id}: {problem}" for message, errors in catalog.check() for problem in errors
    ]
    assert problems == []


def test_texts_of_templates_and_of_modules_are_found() -> None:
    found = extract("common")
    assert found.get("We use cookies") is not None
    assert found.get("Wrong user name or password") is not None
    plural = found.get("%(n)s result")
    assert plural is not None
    assert plural.pluralizable


def test_no_template_glues_punctuation_to_a_text() -> None:
    templates = Path(catalogues.__file__).parents[1].rglob("*.html")
    glued = [
        (template.name, found)
        for template in templates
        for found in re.findall(r"\}\}[:;,.?!](?=[\s<{]).{0,20}", template.read_text("utf-8"))
    ]
    assert not glued


def test_every_site_has_a_domain_of_its_own() -> None:
    assert domains() == ("common", "ministore")
    assert extract("ministore").get("Add to cart") is not None
    assert extract("common").get("Add to cart") is None


def test_texts_without_a_catalogue_are_all_missing() -> None:
    assert len(missing("en-XA", "common")) == len([m for m in extract("common") if m.id])
    assert "We use cookies" in missing("en-XA", "common")


def test_an_unknown_domain_is_named() -> None:
    with pytest.raises(UnknownNameError, match='unknown site "minstore"'):
        extract("minstore")


@pytest.mark.parametrize(
    "path", ["/search?q=a", "/login", "/register", "/notes/new", "/account", "/nowhere"]
)
def test_no_visible_text_of_the_common_pages_escapes_the_catalogue(path: str) -> None:
    client = open_demo("en-XA").client()
    client.sign_in()
    page = client.open(path)
    data = {"demo", "Asha Rao", "asha", "asha@example.com", "2025-01-02", "$24.90"}
    for node in page.xpath("//body//text()[normalize-space()]"):
        text = node.strip()
        is_data = (
            text in data or text.startswith("Note ") or not set(text) & set(string.ascii_letters)
        )
        in_brackets = "⟦" in "".join(node.getparent().itertext()) or node.getparent().tag == "bdi"
        assert is_data or in_brackets, text


def test_a_page_is_the_same_function_of_its_inputs_in_every_call() -> None:
    one, other = (lxml.html.fromstring(open_demo("bn").client().get("/").text) for _ in range(2))
    assert lxml.html.tostring(one) == lxml.html.tostring(other)
