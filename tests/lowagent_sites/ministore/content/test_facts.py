"""The frozen facts: made again they are equal, every sum is exact, every trap is planted."""

from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from lowagent_sites.ministore.content.brands import (
    CATEGORY_COUNTS,
    LARGE,
    edit_distance,
    spread_brands,
)
from lowagent_sites.ministore.content.catalogue import answer_counts, displayed_tenth
from lowagent_sites.ministore.content.facts import (
    facts_dir,
    load_answers,
    load_brands,
    load_kitchen,
    load_products,
    load_questions,
    load_reviews,
    make_facts,
    to_csv,
)
from lowagent_sites.ministore.content.sentences import load_inventory

PRICE_RANGES_CENTS = {
    "furniture": (3990, 89990),
    "lighting": (990, 24990),
    "kitchen": (390, 18990),
    "bedbath": (590, 14990),
    "footwear": (1490, 18990),
    "jewelry": (990, 49990),
    "bags": (1290, 24990),
    "electronics": (490, 69990),
    "office": (190, 21990),
    "pantry": (190, 3990),
}
PRODUCTS = load_products()
KITCHEN = {facts.sku: facts for facts in load_kitchen()}
REVIEWS = load_reviews()
QUESTIONS = load_questions()
ANSWERS = load_answers()


def test_the_frozen_files_are_what_the_generator_makes() -> None:
    for name, rows in make_facts().items():
        assert (facts_dir() / f"{name}.csv").read_text("utf-8") == to_csv(rows), name


def test_products_are_spread_over_categories_and_brands_as_fixed() -> None:
    assert Counter(p.category for p in PRODUCTS) == CATEGORY_COUNTS
    assert sum(CATEGORY_COUNTS.values()) == len(PRODUCTS) == 2565
    sizes = Counter(Counter(p.brand for p in PRODUCTS).values())
    assert sizes == {60: 9, 35: 30, 17: 15, 16: 45}
    shares = spread_brands(load_brands())
    assert Counter((p.brand, p.category) for p in PRODUCTS) == shares
    brands_of = Counter(category for _brand, category in shares)
    assert min(brands_of.values()) >= 12
    assert {3, 4} <= set(shares.values())


def test_brand_names_are_far_from_each_other() -> None:
    names = [brand.name for brand in load_brands()]
    assert len(names) == len(set(names)) == 99
    made = [name for name in names if name not in LARGE]
    close = [
        (a, b) for i, a in enumerate(names) for b in names[i + 1 :]
        if (a in made or b in made) and edit_distance(a, b) < 3
    ]  # fmt: skip
    assert close == []


def test_reviews_add_up() -> None:
    counts = [p.rating_count for p in PRODUCTS]
    assert sum(counts) == 12_279
    assert max(counts) == 40
    assert sum(count >= 12 for count in counts) == 182
    assert sum(3 <= count <= 40 for count in counts) == 1_891
    assert counts.count(0) == 165


def test_questions_and_answers_add_up() -> None:
    assert sum(p.question_count for p in PRODUCTS) == 640
    assert sum(p.question_count > 0 for p in PRODUCTS) == 420
    assert Counter(answer_counts()) == {0: 79, 1: 251, 2: 159, 3: 87, 4: 42, 5: 22}
    assert sum(answer_counts()) == 1_108


def test_prices_lie_on_the_grid_within_their_category() -> None:
    for product in PRODUCTS:
        low, high = PRICE_RANGES_CENTS[product.category]
        assert low <= product.price_cents <= high, product
        assert product.price_cents % 10 == 0
        if product.was_cents is not None:
            assert product.was_cents % 10 == 0
            assert 1.10 <= product.was_cents / product.price_cents <= 1.42, product
    assert sum(p.was_cents is not None for p in PRODUCTS) == 308


@pytest.mark.parametrize("key", ["category", "brand"])
def test_no_two_prices_of_a_list_are_equal(key: str) -> None:
    prices = Counter((getattr(p, key), p.price_cents) for p in PRODUCTS)
    assert max(prices.values()) == 1


def test_stock_is_spread_as_fixed() -> None:
    stocks = [p.stock for p in PRODUCTS]
    assert stocks.count(0) == 140
    assert sum(1 <= stock <= 4 for stock in stocks) == 300
    assert all(stock == 0 or 1 <= stock <= 60 for stock in stocks)


def test_trap_1_the_cheapest_of_sixty_slices_is_out_of_stock() -> None:
    slices = defaultdict(list)
    for product in PRODUCTS:
        slices[product.brand, product.category].append(product)
    trapped = 0
    for members in slices.values():
        first, *rest = sorted(members, key=lambda p: p.price_cents)
        trapped += len(members) >= 4 and first.stock == 0 and rest[0].stock > 0
    assert trapped >= 60


@pytest.mark.parametrize("bound", [Decimal(4), Decimal("4.5")])
@pytest.mark.parametrize("category", CATEGORY_COUNTS)
def test_trap_2_the_cheapest_of_a_category_fails_the_rating_bound(
    category: str, bound: Decimal
) -> None:
    cheapest = min((p for p in PRODUCTS if p.category == category), key=lambda p: p.price_cents)
    assert not cheapest.rating_count or cheapest.average < bound


def test_trap_3_twenty_brands_fill_two_pages_of_a_category() -> None:
    shares = Counter((p.brand, p.category) for p in PRODUCTS)
    assert sum(count > 12 for count in shares.values()) >= 20


def test_trap_4_siblings_differ_in_size_alone() -> None:
    lines = defaultdict(list)
    for product in PRODUCTS:
        facts = KITCHEN.get(product.sku)
        if facts is not None and product.pool == "text":
            lines[product.ptype, facts.collection, facts.feature or facts.material].append(product)
    siblings = [members for members in lines.values() if len(members) > 1]
    assert sum(map(len, siblings)) >= 150
    for members in siblings:
        sizes = {(KITCHEN[p.sku].size, KITCHEN[p.sku].size2) for p in members}
        assert len(sizes) == len(members)


def test_trap_5_the_most_helpful_review_is_often_neither_newest_nor_five_stars() -> None:
    by_product = defaultdict(list)
    for review in REVIEWS:
        by_product[review.sku].append(review)
    trapped = 0
    for reviews in by_product.values():
        best = max(reviews, key=lambda r: r.helpful)
        newest = max(reviews, key=lambda r: r.created_at)
        if len(reviews) > 1:
            assert best is not newest
        trapped += best.stars < 5
    assert trapped >= 15


def test_trap_7_a_sibling_lacks_the_warranty_row() -> None:
    lines = defaultdict(list)
    for product in PRODUCTS:
        facts = KITCHEN.get(product.sku)
        if facts is not None and product.pool == "text":
            lines[product.ptype, facts.collection, facts.feature or facts.material].append(facts)
    trapped = sum(
        any(f.warranty_months for f in members) and any(not f.warranty_months for f in members)
        for members in lines.values()
    )
    assert trapped >= 20


def test_no_warranty_is_common() -> None:
    lengths = Counter(f.warranty_months for f in KITCHEN.values() if f.warranty_months)
    assert set(lengths) == {3, 6, 9, 12, 18, 24, 36, 60}
    assert max(lengths.values()) <= 0.15 * sum(lengths.values())


def test_averages_are_never_rounded_across_a_bound_and_one_product_leads() -> None:
    for category in CATEGORY_COUNTS:
        rated = [p for p in PRODUCTS if p.category == category and p.rating_count]
        tenths = Counter(displayed_tenth(p.average) for p in rated)
        assert tenths[max(tenths)] == 1, category
        for product in rated:
            assert 1 <= product.average <= 5
            for bound in (Decimal(4), Decimal("4.5")):
                assert not bound - Decimal("0.05") <= product.average < bound, product


def test_visual_groups_are_eight_and_ten_and_tell_members_apart_by_numbers() -> None:
    groups = defaultdict(list)
    for product in PRODUCTS:
        assert (product.pool == "visual") == bool(product.visual_group)
        if product.visual_group:
            groups[product.visual_group].append(product)
    assert Counter(map(len, groups.values())) == {8: 24, 10: 24}
    kitchen = [members for name, members in groups.items() if name.startswith("kitchen")]
    assert Counter(map(len, kitchen)) == {8: 3, 10: 3}
    assert len({members[0].ptype for members in kitchen}) == 5
    for members in groups.values():
        assert len({(p.brand, p.ptype) for p in members}) == 1
        assert len({p.rating_count for p in members}) == len(members)
        assert len({p.price_cents for p in members}) == len(members)
        averages = [p.average for p in members if p.rating_count]
        assert len(set(averages)) == len(averages)


def test_reviews_of_the_kitchen_have_the_counts_and_sums_of_the_catalogue() -> None:
    stars = defaultdict(list)
    for review in REVIEWS:
        stars[review.sku].append(review.stars)
    for product in PRODUCTS:
        if product.category == "kitchen":
            assert len(stars[product.sku]) == product.rating_count
            assert sum(stars[product.sku]) == product.rating_sum


def test_review_ids_count_over_the_whole_catalogue() -> None:
    first = 1
    for product in PRODUCTS:
        own = [review.id for review in REVIEWS if review.sku == product.sku]
        if own:
            assert own == list(range(first, first + product.rating_count))
        first += product.rating_count


def test_a_review_fits_its_stars_and_its_product() -> None:
    inventory = {sentence.id: sentence for sentence in load_inventory()}
    ptypes = {product.sku: product.ptype for product in PRODUCTS}
    titles = Counter((review.sku, review.title) for review in REVIEWS)
    assert max(titles.values()) == 1
    for review in REVIEWS:
        sentences = [inventory[name] for name in (review.title, *review.sentences)]
        assert 2 <= len(review.sentences) <= 4
        assert len(set(review.sentences)) == len(review.sentences)
        polarities = {s.polarity for s in sentences}
        assert review.stars < 5 or "bad" not in polarities
        assert review.stars > 1 or "good" not in polarities
        for sentence in sentences:
            assert not sentence.ptypes or ptypes[review.sku] in sentence.ptypes


def test_no_answer_to_a_question_stands_twice() -> None:
    assert max(Counter((a.question_id, a.sentence) for a in ANSWERS).values()) == 1
    assert {a.question_id for a in ANSWERS} <= {q.id for q in QUESTIONS}
    for question in QUESTIONS:
        own = [a.helpful for a in ANSWERS if a.question_id == question.id]
        if len(own) >= 3:
            assert own.count(max(own)) == 1


def test_the_kitchen_alone_uses_more_than_three_hundred_sentences() -> None:
    used = {name for f in KITCHEN.values() for name in (*f.description, *f.bullets)}
    used |= {name for r in REVIEWS for name in (r.title, *r.sentences)}
    used |= {q.sentence for q in QUESTIONS} | {a.sentence for a in ANSWERS}
    assert len(used) >= 300
