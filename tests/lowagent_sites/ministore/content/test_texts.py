"""The texts of each language: complete, in the right script, true to the facts of the product."""

import itertools
import unicodedata
from collections import Counter, defaultdict
from typing import Any

import pytest
import regex

from lowagent_sites.common.catalogues import domains, missing, unused
from lowagent_sites.common.languages import Language, get_language, selectable_languages
from lowagent_sites.ministore.content.build import check_language, slot_values
from lowagent_sites.ministore.content.facts import load_kitchen
from lowagent_sites.ministore.content.lexicon import load_lexicon
from lowagent_sites.ministore.content.sentences import load_texts
from lowagent_sites.ministore.models import Base
from lowagent_sites.registry import load_site
from lowagent_vis.world import World

CODES = [language.code for language in selectable_languages()]
LOCALIZED = [
    (table.name, column.name)
    for table in Base.metadata.sorted_tables
    for column in table.columns
    if column.info.get("localized")
]
OPTIONAL = {("products", "color_name"), ("products", "material_name")}
NEUTRAL_TOKENS = regex.compile(r"[A-Z]{2}[A-Z0-9-]*\d|[A-Z][a-z]+|[a-z_]+@\S+|P\d{5}")


def column_values(code: str, table: str, column: str) -> list[Any]:
    key = ", ".join(Base.metadata.tables[table].primary_key.columns.keys())
    with World.open("ministore", code) as world:
        rows = world.query(f"SELECT {column} AS value FROM {table} ORDER BY {key}")
    return [row["value"] for row in rows]


@pytest.mark.parametrize("code", CODES)
def test_every_sentence_of_the_inventory_is_written(code: str) -> None:
    assert check_language(code) == []


@pytest.mark.parametrize("code", [code for code in CODES if not get_language(code).baseline])
def test_every_interface_text_is_translated_and_none_is_left_over(code: str) -> None:
    for domain in domains():
        assert missing(code, domain) == []
        assert unused(code, domain) == []


@pytest.mark.parametrize(("table", "column"), LOCALIZED)
@pytest.mark.parametrize("code", CODES)
def test_a_localized_column_is_clean(code: str, table: str, column: str) -> None:
    language = get_language(code)
    values = column_values(code, table, column)
    for value in values:
        if value is None:
            assert (table, column) in OPTIONAL
            continue
        assert value.strip(), (table, column)
        assert "{" not in value.replace('["', "").replace('"]', ""), value
        assert column in {"search_text"} or "  " not in value, value
        assert unicodedata.is_normalized("NFC", value) or column == "search_text", value
    text = "".join(value or "" for value in values)
    assert script_share(text, language) >= 0.6, (table, column)


def script_share(text: str, language: Language) -> float:
    """Return the share of letters that are of the language's script."""
    letters = regex.findall(
        r"\p{L}", NEUTRAL_TOKENS.sub("", text) if language.script != "Latin" else text
    )
    own = regex.findall(rf"\p{{Script={language.script}}}", "".join(letters))
    return len(own) / len(letters) if letters else 1.0


@pytest.mark.parametrize("code", CODES)
def test_texts_hold_no_letters_of_other_scripts(code: str) -> None:
    language = get_language(code)
    allowed = rf"[\p{{Script={language.script}}}\p{{Common}}\p{{Inherited}}]"
    for key, text in load_texts(language.content).items():
        bare = regex.sub(r"\{\w+\}", "", text)
        odd = regex.sub(allowed, "", bare)
        assert odd == "", (key, odd)


def test_neutral_columns_are_equal_in_all_languages() -> None:
    for table in Base.metadata.sorted_tables:
        if table.name == "form_tokens":
            continue
        for column in table.columns:
            if not column.info.get("localized"):
                found = [column_values(code, table.name, column.name) for code in CODES]
                assert all(values == found[0] for values in found), (table.name, column.name)


@pytest.mark.parametrize("code", CODES)
def test_names_are_unique_and_none_begins_another(code: str) -> None:
    with World.open("ministore", code) as world:
        rows = world.query("SELECT name FROM products WHERE pool = 'text'")
    names = sorted(row["name"] for row in rows)
    assert len(set(names)) == len(names) == 256
    assert [a for a, b in itertools.pairwise(names) if b.startswith(a)] == []


@pytest.mark.parametrize("code", CODES)
def test_members_of_a_visual_group_read_alike_and_name_no_colour(code: str) -> None:
    with World.open("ministore", code) as world:
        rows = world.query(
            "SELECT vgroup, name, description, bullets, material_name, color_name, country_name, "
            "w_mm, d_mm, h_mm, weight_g, warranty_months, model_code FROM products "
            "WHERE pool = 'visual'"
        )
    groups = defaultdict(set)
    for row in rows:
        assert row["color_name"] is None
        groups[row["vgroup"]].add(tuple(row.values()))
    assert len(groups) == 6
    assert all(len(members) == 1 for members in groups.values())


@pytest.mark.parametrize("code", CODES)
def test_a_description_holds_the_values_of_its_product(code: str) -> None:
    lexicon = load_lexicon(get_language(code))
    with World.open("ministore", code) as world:
        rows = world.query("SELECT sku, name, description FROM products")
    shown = {row["sku"]: row for row in rows}
    for facts in load_kitchen():
        for value in slot_values(lexicon, facts).values():
            assert value in shown[facts.sku]["description"], facts.sku
        looks = lexicon.words["feature" if facts.feature else "material"]
        forms = looks[facts.feature or facts.material]["look"]
        assert any(form in shown[facts.sku]["name"] for form in forms), facts.sku


@pytest.mark.parametrize("code", CODES)
def test_no_text_tells_a_warranty(code: str) -> None:
    """Where the row is absent, nothing else on the page may answer for it."""
    word = {"en": "arrant", "bn": "ওয়ারেন্টি", "hi": "वारंटी", "ur": "وارنٹی", "am": "ዋስትና"}[code]
    assert [key for key, text in load_texts(code).items() if word in text] == []


@pytest.mark.parametrize("code", CODES)
def test_searching_a_name_finds_the_product_first(code: str) -> None:
    from werkzeug.test import Client

    with World.open("ministore", code) as world:
        rows = world.query(
            "SELECT sku, name FROM products WHERE pool = 'text' ORDER BY model_code LIMIT 30"
        )
        client = Client(world.wsgi)
        for row in rows:
            page = client.get("/search", query_string={"q": row["name"]}).get_data(as_text=True)
            found = regex.findall(r'href="/p/(P\d{5})"', page)
            assert found[:1] == [row["sku"]], row


def test_sentences_differ_within_a_language() -> None:
    for code in CODES:
        texts = Counter(load_texts(code).values())
        assert max(texts.values()) == 1, (code, texts.most_common(1))


def test_site_lists_its_photos() -> None:
    site = load_site("ministore")
    assert site.media_ids is not None
    assert len(set(site.media_ids())) == 310
