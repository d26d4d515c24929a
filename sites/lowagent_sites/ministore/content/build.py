"""Builds a language's database of the shop from facts, words and sentences."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import create_engine, insert
from sqlalchemy.orm import Session

from lowagent_sites.common.errors import PrerequisiteError
from lowagent_sites.common.languages import Language
from lowagent_sites.common.numbers import format_integer
from lowagent_sites.common.passwords import hash_password
from lowagent_sites.common.seeds import create_tables
from lowagent_sites.common.text import fold, search_text
from lowagent_sites.ministore import models
from lowagent_sites.ministore.content import accounts
from lowagent_sites.ministore.content.draws import pick
from lowagent_sites.ministore.content.facts import (
    facts_dir,
    load_answers,
    load_brands,
    load_kitchen,
    load_products,
    load_questions,
    load_reviews,
)
from lowagent_sites.ministore.content.kitchen import CATEGORY, KitchenFacts, reviewer_names
from lowagent_sites.ministore.content.lexicon import Lexicon, load_lexicon
from lowagent_sites.ministore.content.sentences import (
    content_dir,
    load_inventory,
    load_texts,
)
from lowagent_sites.paths import data_dir

_POSITIONS = [
    "furniture",
    "lighting",
    "kitchen",
    "bedbath",
    "footwear",
    "jewelry",
    "bags",
    "electronics",
    "office",
    "pantry",
]


def content_version() -> str:
    """Return the hash of all that a build reads, its own source included."""
    digest = hashlib.sha256()
    sources = Path(__file__).parent
    folders = [
        *sorted(sources.glob("*.py")),
        sources.parent / "models.py",
        *sorted((sources.parents[1] / "common").glob("*.py")),
        *sorted(facts_dir().glob("*.csv")),
        *sorted(content_dir().glob("*/*.toml")),
        *sorted((data_dir("assets") / "languages").glob("*.toml")),
    ]
    for path in folders:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def media_ids() -> tuple[str, ...]:
    """Return the ids of all photos that pages may show."""
    return tuple(photo_id(facts.sku) for facts in load_kitchen())


def photo_id(sku: str) -> str:
    """Return the media id of a product's catalogue photo."""
    return f"ministore/{sku}/1"


def check_language(content: str) -> list[str]:
    """Return what is wrong with a language's sentences: one line each."""
    texts = load_texts(content)
    wrong = []
    for sentence in load_inventory():
        text = texts.get(sentence.id)
        if text is None:
            wrong.append(f"{sentence.id}: missing")
        elif any("{" + slot + "}" not in text for slot in sentence.slots):
            wrong.append(f"{sentence.id}: a slot is missing")
    return wrong


def build(language: Language, path: Path) -> None:
    """Write the database of `language` to a new file at `path`.

    Raises:
        PrerequisiteError: The language's texts are not complete.
    """
    wrong = check_language(language.content)
    if wrong:
        raise PrerequisiteError(
            f"the texts of {language.english_name} are not complete: {len(wrong)} sentences, "
            f"first {wrong[0]}; install the package again"
        )
    engine = create_engine(f"sqlite:///{path}")
    create_tables(engine, models.Base.metadata)
    with Session(engine) as session:
        for table, rows in _tables(language):
            session.execute(insert(table), rows)
        session.commit()
    engine.dispose()


def _tables(language: Language) -> Iterable[tuple[type[models.Base], list[dict[str, object]]]]:
    lexicon = load_lexicon(language)
    texts = load_texts(language.content)
    catalogue = load_products()
    product_ids = {product.sku: number for number, product in enumerate(catalogue, 1)}
    kitchen = {facts.sku: facts for facts in load_kitchen()}
    yield models.Category, [_category(texts)]
    yield models.Brand, _brands(texts)
    yield models.Product, _products(lexicon, texts, kitchen, product_ids)
    yield (
        models.ProductPhoto,
        [
            {"id": product_ids[sku], "product_id": product_ids[sku], "position": 1,
             "media_id": photo_id(sku)}
            for sku in kitchen
        ],
    )  # fmt: skip
    users = _users(texts)
    user_ids = {str(user["username"]): user["id"] for user in users}
    yield models.User, users
    yield models.Cart, [{"user_id": user_ids[name], "coupon_id": None} for name in accounts.LOGINS]
    yield models.CartItem, accounts.cart_rows(user_ids, product_ids)
    yield models.WishlistItem, accounts.wishlist_rows(user_ids, product_ids)
    yield (
        models.Review,
        [
            {
                "id": review.id,
                "product_id": product_ids[review.sku],
                "user_id": user_ids[review.username],
                "stars": review.stars,
                "title": texts[review.title],
                "body": " ".join(texts[sentence] for sentence in review.sentences),
                "helpful_count": review.helpful,
                "verified": review.verified,
                "created_at": review.created_at,
                "edited_at": None,
            }
            for review in load_reviews()
        ],
    )
    yield (
        models.Question,
        [
            {
                "id": question.id,
                "product_id": product_ids[question.sku],
                "user_id": user_ids[question.username],
                "body": texts[question.sentence],
                "created_at": question.created_at,
            }
            for question in load_questions()
        ],
    )
    yield (
        models.Answer,
        [
            {
                "id": answer.id,
                "question_id": answer.question_id,
                "user_id": user_ids[answer.username],
                "body": texts[answer.sentence],
                "helpful_count": answer.helpful,
                "created_at": answer.created_at,
            }
            for answer in load_answers()
        ],
    )
    yield models.Counter, [{"name": "order", "value": 100_114}]


def _category(texts: Mapping[str, str]) -> dict[str, object]:
    return {
        "id": _POSITIONS.index(CATEGORY) + 1,
        "slug": CATEGORY,
        "name": texts[f"name.category.{CATEGORY}"],
        "blurb": texts[f"blurb.category.{CATEGORY}"],
        "position": _POSITIONS.index(CATEGORY) + 1,
    }


def _brands(texts: Mapping[str, str]) -> list[dict[str, object]]:
    in_use = {product.brand for product in load_products() if product.category == CATEGORY}
    blurbs = [s.id for s in load_inventory() if s.use == "brand_blurb"]
    return [
        {
            "id": number,
            "slug": brand.slug,
            "name": brand.name,
            "blurb": texts[pick(blurbs, "brand-blurb", brand.slug)].format(brand=brand.name),
        }
        for number, brand in enumerate(load_brands(), 1)
        if brand.slug in in_use
    ]


def slot_values(lexicon: Lexicon, facts: KitchenFacts) -> dict[str, str]:
    """Return the values that a product's sentences may show, by slot."""
    if facts.measure == "diameter_mm":
        return {"diameter": lexicon.centimetres(facts.size)}
    if facts.measure == "capacity_ml":
        return {"capacity": lexicon.capacity(facts.size)}
    if facts.measure == "pieces":
        return {"pieces": format_integer(facts.size, lexicon.language)}
    return {"size": lexicon.board(facts.size, facts.size2)}


def size_token(lexicon: Lexicon, facts: KitchenFacts) -> str:
    """Return the last part of a product's name."""
    if facts.measure == "pieces":
        return lexicon.pieces(facts.size)
    return next(iter(slot_values(lexicon, facts).values()))


def _products(
    lexicon: Lexicon,
    texts: Mapping[str, str],
    kitchen: Mapping[str, KitchenFacts],
    product_ids: Mapping[str, int],
) -> list[dict[str, object]]:
    brands = {brand.slug: (number, brand.name) for number, brand in enumerate(load_brands(), 1)}
    rows: list[dict[str, object]] = []
    for product in load_products():
        facts = kitchen.get(product.sku)
        if facts is None:
            continue
        values = slot_values(lexicon, facts)
        name = lexicon.product_name(
            collection=facts.collection,
            ptype=product.ptype,
            material=facts.material,
            feature=facts.feature,
            size=size_token(lexicon, facts),
        )
        brand_id, brand_name = brands[product.brand]
        rows.append(
            {
                "id": product_ids[product.sku],
                "sku": product.sku,
                "category_id": _POSITIONS.index(product.category) + 1,
                "brand_id": brand_id,
                "ptype": product.ptype,
                "name": name,
                "description": " ".join(
                    texts[sentence].format(**values) for sentence in facts.description
                ),
                "bullets": json.dumps(
                    [texts[bullet] for bullet in facts.bullets], ensure_ascii=False
                ),
                "material": facts.material,
                "material_name": lexicon.text("material", facts.material),
                "color": facts.color or None,
                "color_name": lexicon.text("colour", facts.color) if facts.color else None,
                "country": facts.country,
                "country_name": lexicon.text("country", facts.country),
                "w_mm": facts.w_mm,
                "d_mm": facts.d_mm,
                "h_mm": facts.h_mm,
                "weight_g": facts.weight_g,
                "warranty_months": facts.warranty_months,
                "model_code": facts.model_code,
                "price_cents": product.price_cents,
                "was_cents": product.was_cents,
                "stock": product.stock,
                "rating_sum": product.rating_sum,
                "rating_count": product.rating_count,
                "created_on": facts.created_on,
                "pool": product.pool,
                "vgroup": product.visual_group or None,
                "search_text": search_text(
                    [
                        name,
                        brand_name,
                        product.sku,
                        facts.model_code,
                        lexicon.text("material", facts.material),
                    ],
                    lexicon.language,
                ),
                "search_title": f" {fold(name, lexicon.language)} ",
            }
        )
    return rows


def _users(texts: Mapping[str, str]) -> list[dict[str, object]]:
    joined = datetime(2023, 1, 2).date()
    rows: list[dict[str, object]] = [
        {
            "username": name,
            "display_name": texts[f"name.user.{name}"],
            "email": f"{name}@example.com",
            "password_hash": hash_password(password, f"ministore{name}"),
            "is_login": True,
        }
        for name, password in accounts.PASSWORDS.items()
    ]
    others: Sequence[str] = (*accounts.OTHER_LOGINS, *reviewer_names())
    rows += [
        {
            "username": name,
            "display_name": texts["name.user.other"],
            "email": f"{name}@example.com",
            "password_hash": accounts.unknowable_hash(name) if name in accounts.LOGINS else "",
            "is_login": name in accounts.LOGINS,
        }
        for name in others
    ]
    return [{"id": number, "joined_on": joined, **row} for number, row in enumerate(rows, 1)]
