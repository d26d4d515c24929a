"""The language-neutral catalogue of all 2,565 products (`sites/ministore.md` 3.1, 3.2, 5).

Frozen in `assets/content/ministore/facts/products.csv`; a test makes it again and compares.
"""

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from lowagent_sites.ministore.content.brands import CATEGORY_COUNTS, make_brands, spread_brands
from lowagent_sites.ministore.content.draws import draw, draw_below, draw_unit, pick, shuffled

PRODUCT_COUNT = 2565
REVIEW_COUNT = 12_279
MAX_REVIEWS = 40
QUESTION_COUNT = 640
PRODUCTS_ASKED = 420
ANSWERS_PER_QUESTION = {0: 79, 1: 251, 2: 159, 3: 87, 4: 42, 5: 22}
ZERO_STOCK, LOW_STOCK = 140, 300
DEAL_SHARE = 0.12
GROUPS = {
    "furniture": (3, 3), "lighting": (2, 2), "kitchen": (3, 3), "bedbath": (3, 2),
    "footwear": (3, 3), "jewelry": (2, 3), "bags": (2, 2), "electronics": (3, 2),
    "office": (2, 2), "pantry": (1, 2),
}  # fmt: skip
"""Visual groups of eight and of ten products, by category."""
CHEAPEST_OUT_OF_STOCK = 60
_GROUPS_ASKED_ALIKE = 12
_UNREVIEWED = 165
_GRID = 10
_HALF_TENTH = Decimal("0.05")
_BOUNDS = (Decimal(4), Decimal("4.5"))
_TOP_TENTH, _NEXT_TENTH = Decimal("4.9"), Decimal("4.8")


@dataclass(frozen=True)
class ProductFacts:
    """One line of `products.csv`; amounts in US cents."""

    sku: str
    category: str
    brand: str
    ptype: str
    pool: str
    visual_group: str
    price_cents: int = 0
    was_cents: int | None = None
    stock: int = 0
    rating_count: int = 0
    rating_sum: int = 0
    question_count: int = 0

    @property
    def average(self) -> Decimal:
        """The average of the stars; only asked of products with reviews."""
        return Decimal(self.rating_sum) / self.rating_count


@dataclass(frozen=True)
class PriceBand:
    """A kind of product and the range of its prices."""

    category: str
    ptype: str
    low_cents: int
    high_cents: int


def read_price_bands(path: Path) -> tuple[PriceBand, ...]:
    """Read `ptypes.csv`."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(
            PriceBand(row["category"], row["ptype"], int(row["low_cents"]), int(row["high_cents"]))
            for row in csv.DictReader(file)
        )


def make_catalogue(bands: Sequence[PriceBand]) -> tuple[ProductFacts, ...]:
    """Make all products, in the order of their SKUs."""
    products = _with_ratings(_with_review_counts(_number(_assort(bands))))
    products = _with_prices(products, bands)
    products = _with_low_rated_cheapest(products)
    products = _with_stock(products)
    return tuple(_with_questions(products))


def displayed_tenth(value: Decimal) -> Decimal:
    """Return an average as pages show it."""
    return value.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP)


def _assort(bands: Sequence[PriceBand]) -> list[ProductFacts]:
    """Give every brand's share of a category its kinds of product and its visual groups."""
    kinds = defaultdict(list)
    for band in bands:
        kinds[band.category].append(band.ptype)
    products: list[ProductFacts] = []
    for category in CATEGORY_COUNTS:
        shares = {b: n for (b, c), n in spread_brands(make_brands()).items() if c == category}
        groups = _place_groups(category, shares, kinds[category])
        used: Counter[str] = Counter()
        for brand in sorted(shares):
            left = shares[brand]
            for name, ptype, size in groups.get(brand, ()):
                products += [
                    ProductFacts("", category, brand, ptype, "visual", name) for _ in range(size)
                ]
                left -= size
            while left:
                ptype = min(
                    kinds[category], key=lambda k: (used[k], draw("kind", category, brand, k))
                )
                run = min(left, 2 + draw_below(3, "kind-run", category, brand, left))
                run += left - run == 1
                products += [ProductFacts("", category, brand, ptype, "text", "")] * run
                used[ptype] += run
                left -= run
    return products


def _place_groups(
    category: str, shares: Mapping[str, int], kinds: Sequence[str]
) -> dict[str, list[tuple[str, str, int]]]:
    """Return the visual groups of a category by brand: name, kind, size; two share a kind."""
    eights, tens = GROUPS[category]
    sizes = [8] * eights + [10] * tens
    brands = [brand for brand, count in shares.items() if count >= 15]
    brands.sort(key=lambda brand: draw("group-brand", category, brand))
    order = sorted(kinds, key=lambda kind: draw("group-kind", category, kind))
    placed: dict[str, list[tuple[str, str, int]]] = {}
    for number, size in enumerate(sizes):
        kind = order[max(0, number - 1)]
        name = f"{category}-{number + 1}"
        placed.setdefault(brands[number], []).append((name, kind, size))
    return placed


def _number(products: Sequence[ProductFacts]) -> list[ProductFacts]:
    """Give out SKUs in a drawn order, so that neither number nor order hints at anything."""
    return [
        replace(product, sku=f"P{number:05d}")
        for number, product in enumerate(shuffled(products, "sku"), 1)
    ]


def review_counts() -> list[int]:
    """Return the numbers of reviews by rank: largest remainders, at most 40 each."""
    reviewed = PRODUCT_COUNT - _UNREVIEWED
    weights = [
        70 * math.exp(-25 * i / PRODUCT_COUNT) + 12 * math.exp(-1.2 * i / PRODUCT_COUNT)
        for i in range(reviewed)
    ]
    shares = [REVIEW_COUNT * weight / sum(weights) for weight in weights]
    counts = [min(MAX_REVIEWS, int(share)) for share in shares]
    left = REVIEW_COUNT - sum(counts)
    by_remainder = sorted(range(reviewed), key=lambda i: (-(shares[i] - int(shares[i])), i))
    while left:
        for i in by_remainder:
            if left and counts[i] < MAX_REVIEWS:
                counts[i] += 1
                left -= 1
    return counts + [0] * _UNREVIEWED


def _with_review_counts(products: Sequence[ProductFacts]) -> list[ProductFacts]:
    """Spread the counts; inside a visual group they are pairwise distinct."""
    supply = Counter(review_counts())
    given: dict[str, int] = {}
    groups = _groups(products)
    for name, members in groups.items():
        commonest = sorted(supply, key=lambda count: (-supply[count], count))
        values = [count for count in commonest if count][: len(members)]
        values = shuffled(values, f"group-counts/{name}")
        for member, count in zip(members, values, strict=True):
            given[member.sku] = count
            supply[count] -= 1
    others = [product.sku for product in products if product.sku not in given]
    rest = shuffled(sorted(supply.elements(), reverse=True), "review-count")
    given.update(zip(others, rest, strict=True))
    return [replace(product, rating_count=given[product.sku]) for product in products]


def _with_ratings(products: Sequence[ProductFacts]) -> list[ProductFacts]:
    """Draw averages; one product alone has the top tenth of its category."""
    tops = {
        category: max(
            (p for p in products if p.category == category and p.pool == "text"),
            key=lambda p: (11 <= p.rating_count <= 30, draw("top-rated", p.sku)),
        ).sku
        for category in CATEGORY_COUNTS
    }
    taken: dict[str, set[Decimal]] = defaultdict(set)
    rated = []
    for product in products:
        total = 0
        if product.rating_count:
            wanted = 2.6 + 2.2 * draw_unit("mean", product.sku) ** 0.7
            is_top = tops[product.category] == product.sku
            options = _allowed_sums(product.rating_count, is_top=is_top)
            seen = taken[product.visual_group] if product.visual_group else set()
            options = [s for s in options if Decimal(s) / product.rating_count not in seen]
            total = min(options, key=lambda s: (abs(s / product.rating_count - wanted), s))
            seen.add(Decimal(total) / product.rating_count)
        rated.append(replace(product, rating_sum=total))
    return rated


def _allowed_sums(count: int, *, is_top: bool) -> list[int]:
    """Return the sums of stars whose average no page rounds across a filter's bound."""
    found = []
    for total in range(count, 5 * count + 1):
        average = Decimal(total) / count
        if any(bound - _HALF_TENTH <= average < bound for bound in _BOUNDS):
            continue
        tenth = displayed_tenth(average)
        if (tenth == _TOP_TENTH) if is_top else (tenth <= _NEXT_TENTH):
            found.append(total)
    return found


def _with_prices(
    products: Sequence[ProductFacts], bands: Sequence[PriceBand]
) -> list[ProductFacts]:
    """Draw prices; no two are equal inside a category or a brand.

    A price that is taken moves up by steps of the grid, over the end of its range if need be.
    """
    by_kind = {(band.category, band.ptype): band for band in bands}
    used: dict[str, set[int]] = defaultdict(set)
    deals = set(
        sorted((p.sku for p in products), key=lambda sku: draw("deal", sku))[
            : round(DEAL_SHARE * PRODUCT_COUNT)
        ]
    )
    priced = []
    for product in products:
        band = by_kind[product.category, product.ptype]
        low, high = math.log(band.low_cents), math.log(band.high_cents)
        drawn = math.exp(low + (high - low) * draw_unit("price", product.sku))
        price = _to_grid(drawn, band)
        while price in used[product.category] or price in used[product.brand]:
            price += _GRID
        used[product.category].add(price)
        used[product.brand].add(price)
        was = None
        if product.sku in deals:
            factor = 110 + draw_below(31, "was", product.sku)
            was = -(-price * factor // (100 * _GRID)) * _GRID
        priced.append(replace(product, price_cents=price, was_cents=was))
    return priced


def _to_grid(cents: float, band: PriceBand) -> int:
    return min(max(int(cents) // _GRID * _GRID, band.low_cents), band.high_cents)


def _with_low_rated_cheapest(products: Sequence[ProductFacts]) -> list[ProductFacts]:
    """Trap T2: the cheapest of each category fails both bounds of the rating filter."""
    cheapest = {
        min((p for p in products if p.category == category), key=lambda p: p.price_cents).sku
        for category in CATEGORY_COUNTS
    }
    return [
        replace(p, rating_sum=round(p.rating_count * 3.4)) if p.sku in cheapest else p
        for p in products
    ]


def _with_stock(products: Sequence[ProductFacts]) -> list[ProductFacts]:
    """Draw stocks: 140 products have none, 300 one to four; trap T1 comes first."""
    slices: dict[tuple[str, str], list[ProductFacts]] = defaultdict(list)
    for product in products:
        slices[product.brand, product.category].append(product)
    trapped = sorted(
        (key for key, members in slices.items() if len(members) >= 4),
        key=lambda key: (key[1] != "kitchen", draw("cheapest-gone", *key)),
    )[:CHEAPEST_OUT_OF_STOCK]
    gone, kept = set(), set()
    for key in trapped:
        first, second = sorted(slices[key], key=lambda p: p.price_cents)[:2]
        gone.add(first.sku)
        kept.add(second.sku)
    order = sorted((p.sku for p in products), key=lambda sku: draw("stock", sku))
    free = [sku for sku in order if sku not in gone and sku not in kept]
    gone |= set(free[: ZERO_STOCK - len(gone)])
    low = set([sku for sku in free if sku not in gone][:LOW_STOCK])
    stocked = []
    for product in products:
        if product.sku in gone:
            stock = 0
        elif product.sku in low:
            stock = 1 + draw_below(4, "low-stock", product.sku)
        else:
            stock = 5 + draw_below(56, "high-stock", product.sku)
        stocked.append(replace(product, stock=stock))
    return stocked


def _with_questions(products: Sequence[ProductFacts]) -> Iterable[ProductFacts]:
    """Spread 640 questions over 420 products; twelve visual groups are asked throughout."""
    groups = sorted(_groups(products), key=lambda name: draw("asked-group", name))
    asked = {p.sku for name in groups[:_GROUPS_ASKED_ALIKE] for p in _groups(products)[name]}
    others = [p.sku for p in products if p.sku not in asked and p.pool == "text"]
    others.sort(key=lambda sku: draw("asked", sku))
    skus = [*sorted(asked), *others[: PRODUCTS_ASKED - len(asked)]]
    counts = Counter(skus)
    extra = 0
    while sum(counts.values()) < QUESTION_COUNT:
        extra += 1
        sku = pick(skus, "more-questions", extra)
        counts[sku] += counts[sku] < 4
    return [replace(product, question_count=counts[product.sku]) for product in products]


def answer_counts() -> list[int]:
    """Return how many answers each of the 640 questions has, by its id."""
    numbers = [n for n, times in ANSWERS_PER_QUESTION.items() for _ in range(times)]
    return shuffled(numbers, "answers")


def _groups(products: Iterable[ProductFacts]) -> dict[str, list[ProductFacts]]:
    groups: dict[str, list[ProductFacts]] = defaultdict(list)
    for product in products:
        if product.visual_group:
            groups[product.visual_group].append(product)
    return dict(sorted(groups.items()))


def first_ids(products: Sequence[ProductFacts], count: Callable[[ProductFacts], int]) -> list[int]:
    """Return the id of each product's first review or question, over the whole catalogue."""
    ids, following = [], 1
    for product in products:
        ids.append(following)
        following += count(product)
    return ids
