"""The language-neutral facts of the kitchen's 310 products, their reviews and questions.

Frozen in `kitchen.csv`, `reviews_kitchen.csv`, `questions_kitchen.csv` and `answers_kitchen.csv`.
Ids of reviews, questions and answers count over the whole catalogue, so that they stay when the
other categories come.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from lowagent_sites.ministore.content.catalogue import (
    ProductFacts,
    answer_counts,
    first_ids,
)
from lowagent_sites.ministore.content.draws import (
    draw,
    draw_below,
    draw_unit,
    pick,
    shuffled,
)
from lowagent_sites.ministore.content.sentences import Sentence

CATEGORY = "kitchen"
WARRANTIES = (3, 6, 9, 12, 18, 24, 36, 60)
COUNTRIES = (
    "bangladesh",
    "india",
    "pakistan",
    "ethiopia",
    "vietnam",
    "turkiye",
    "portugal",
    "china",
)
COLLECTIONS = [
    "padma",
    "meghna",
    "jamuna",
    "surma",
    "karnali",
    "kaveri",
    "narmada",
    "tapti",
    "chambal",
    "indus",
    "jhelum",
    "chenab",
    "ravi",
    "sutlej",
    "kabul",
    "swat",
    "awash",
    "abay",
    "omo",
    "baro",
    "tana",
    "tekeze",
    "shebelle",
    "genale",
    "danube",
    "loire",
    "tagus",
    "oder",
    "volga",
    "rhine",
    "lotus",
    "jasmine",
    "marigold",
    "tulip",
    "saffron",
    "cedar",
    "banyan",
    "acacia",
    "juniper",
    "olive",
]
COLORS = (
    "red",
    "orange",
    "yellow",
    "green",
    "blue",
    "pink",
    "brown",
    "beige",
    "white",
    "grey",
    "black",
)
_WARRANTED_SHARE = 0.6
_FIRST_REVIEW, _LAST_REVIEW = date(2023, 7, 1), date(2026, 6, 14)
_FIRST_CREATED = date(2023, 1, 5)
_REVIEWERS = 600
_CONTEXT_SHARE = 0.6
_MAX_MIDDLING = 8
"""Three-star reviews of one product: each needs a title of its own."""


@dataclass(frozen=True)
class Kind:
    """What products of a kind may be made of, how large they are and what they weigh.

    Attributes:
        measure: `diameter_mm`, `capacity_ml`, `pieces` or `board_mm`.
        sizes: Values of the measure; of a board, width and depth.
        colored: Materials that come in colours.
    """

    materials: tuple[str, ...]
    features: tuple[str, ...]
    measure: str
    sizes: tuple[int | tuple[int, int], ...]
    colored: tuple[str, ...] = ()
    grams_per_unit: float = 1.0
    base_grams: int = 0


KINDS: Mapping[str, Kind] = {
    "frying_pan": Kind(("steel", "aluminium", "copper"), ("non-stick", "lightweight"),
                       "diameter_mm", (200, 220, 240, 260, 280, 300), (), 4.2, 0),
    "saucepan": Kind(("steel", "aluminium", "copper"), ("non-stick",), "capacity_ml",
                     (1000, 1500, 2000, 2500, 3000), (), 0.38, 320),
    "pressure_cooker": Kind(("steel", "aluminium"), (), "capacity_ml",
                            (2000, 3000, 4000, 5000, 6500, 8000), (), 0.42, 700),
    "knife_set": Kind(("steel", "ceramic"), ("lightweight",), "pieces", (3, 4, 5, 6, 8),
                      ("ceramic",), 140.0, 60),
    "cutting_board": Kind(("oak", "teak", "bamboo", "plastic"), (), "board_mm",
                          ((300, 200), (350, 250), (400, 280), (450, 300)), ("plastic",), 0.012, 0),
    "mug": Kind(("ceramic", "porcelain", "glass", "steel", "clay"), ("handmade", "double-walled"),
                "capacity_ml", (250, 300, 350, 400, 450), ("ceramic", "porcelain"), 0.7, 90),
    "plate_set": Kind(("porcelain", "ceramic", "glass", "steel", "clay"), ("stackable", "handmade"),
                      "pieces", (4, 6, 8, 12), ("porcelain", "ceramic"), 420.0, 0),
    "bowl_set": Kind(("steel", "glass", "ceramic", "porcelain", "clay"), ("stackable", "handmade"),
                     "pieces", (3, 4, 5, 6), ("ceramic", "porcelain"), 330.0, 0),
    "water_bottle": Kind(("steel", "glass", "plastic", "copper"), ("double-walled", "lightweight"),
                         "capacity_ml", (500, 600, 750, 1000), ("plastic",), 0.22, 130),
    "lunch_box": Kind(("steel", "plastic", "glass", "aluminium"), ("stackable", "lightweight"),
                      "capacity_ml", (600, 800, 1000, 1200), ("plastic",), 0.32, 180),
    "kettle": Kind(("steel", "copper", "aluminium"), ("lightweight",), "capacity_ml",
                   (1000, 1500, 2000, 2500), (), 0.4, 380),
    "storage_jar": Kind(("glass", "ceramic", "steel", "plastic"), ("stackable",), "capacity_ml",
                        (500, 750, 1000, 1500, 2000), ("ceramic", "plastic"), 0.45, 160),
}  # fmt: skip
_FEATURE_MATERIALS: Mapping[str, tuple[str, ...]] = {
    "non-stick": ("aluminium", "steel"),
    "lightweight": ("aluminium", "plastic", "steel"),
    "handmade": ("ceramic", "clay", "porcelain"),
    "double-walled": ("steel", "glass"),
    "stackable": ("steel", "ceramic", "porcelain", "plastic", "glass"),
}


@dataclass(frozen=True)
class KitchenFacts:
    """One line of `kitchen.csv`: lengths in mm, weight in g; sentences by id."""

    sku: str
    collection: str
    material: str
    feature: str
    measure: str
    size: int
    size2: int
    w_mm: int
    d_mm: int
    h_mm: int
    weight_g: int
    color: str
    country: str
    warranty_months: int | None
    model_code: str
    created_on: date
    description: tuple[str, ...]
    bullets: tuple[str, ...]


@dataclass(frozen=True)
class ReviewFacts:
    """One line of `reviews_kitchen.csv`."""

    id: int
    sku: str
    username: str
    stars: int
    title: str
    sentences: tuple[str, ...]
    helpful: int
    verified: bool
    created_at: datetime


@dataclass(frozen=True)
class QuestionFacts:
    """One line of `questions_kitchen.csv`."""

    id: int
    sku: str
    username: str
    sentence: str
    created_at: datetime


@dataclass(frozen=True)
class AnswerFacts:
    """One line of `answers_kitchen.csv`."""

    id: int
    question_id: int
    username: str
    sentence: str
    helpful: int
    created_at: datetime


def make_kitchen(
    catalogue: Sequence[ProductFacts], inventory: Sequence[Sentence]
) -> tuple[KitchenFacts, ...]:
    """Make the facts of the kitchen's products, in the order of their SKUs."""
    products = [product for product in catalogue if product.category == CATEGORY]
    lines = _make_lines(products)
    warranted = _warranties(products, lines)
    facts = []
    for product in products:
        line, size = lines[product.sku]
        kind = KINDS[product.ptype]
        key = product.visual_group or product.sku
        first, second = size if isinstance(size, tuple) else (size, 0)
        w_mm, d_mm, h_mm = _dimensions(kind, first, second, key)
        is_colored = product.pool == "text" and line.material in kind.colored
        facts.append(
            KitchenFacts(
                sku=product.sku,
                collection=line.collection,
                material=line.material,
                feature=line.feature,
                measure=kind.measure,
                size=first,
                size2=second,
                w_mm=w_mm,
                d_mm=d_mm,
                h_mm=h_mm,
                weight_g=_weight(kind, first, second, key),
                color=pick(COLORS, "color", product.sku) if is_colored else "",
                country=pick(COUNTRIES, "country", line.name),
                warranty_months=warranted.get(product.sku),
                model_code=_model_code(product.ptype, key),
                created_on=_created_on(product),
                description=_description(product.ptype, line, kind, key, inventory),
                bullets=_bullets(product.ptype, line, key, inventory),
            )
        )
    return tuple(facts)


@dataclass(frozen=True)
class _Line:
    """What siblings share: they differ in size alone."""

    name: str
    collection: str
    material: str
    feature: str


def _make_lines(
    products: Sequence[ProductFacts],
) -> dict[str, tuple[_Line, int | tuple[int, int]]]:
    """Sort products of a kind into lines of up to four sizes; each visual group is one product."""
    found: dict[str, tuple[_Line, int | tuple[int, int]]] = {}
    for ptype, kind in KINDS.items():
        looks = _looks(kind)
        options = [
            (collection, material, feature)
            for collection in COLLECTIONS
            for material, feature in looks
        ]
        options = shuffled(options, f"line/{ptype}")
        seen_names: set[tuple[str, str]] = set()
        following = iter(options)

        def new_line(
            ptype: str = ptype,
            following: Iterable[tuple[str, str, str]] = following,
            seen: set[tuple[str, str]] = seen_names,
        ) -> _Line:
            for collection, material, feature in following:
                shown = (collection, feature or material)
                if shown not in seen:
                    seen.add(shown)
                    return _Line(f"{ptype}/{collection}/{shown[1]}", collection, material, feature)
            raise ValueError(f"no name is left for {ptype}")

        own = [product for product in products if product.ptype == ptype]
        groups = sorted({p.visual_group for p in own if p.visual_group})
        for group in groups:
            line, size = new_line(), pick(kind.sizes, "group-size", group)
            found.update({p.sku: (line, size) for p in own if p.visual_group == group})
        text = [p for p in own if p.pool == "text"]
        text.sort(key=lambda p: (p.brand, draw("line-order", p.sku)))
        while text:
            same_brand = sum(p.brand == text[0].brand for p in text[:4])
            members, text = text[:same_brand], text[same_brand:]
            line = new_line()
            sizes = shuffled(kind.sizes, f"sizes/{line.name}")
            for member, size in zip(members, sizes, strict=False):
                found[member.sku] = (line, size)
    return found


def _looks(kind: Kind) -> list[tuple[str, str]]:
    """Return pairs of material and named feature; an empty feature names the material."""
    plain = [(material, "") for material in kind.materials]
    named = [
        (material, feature)
        for feature in kind.features
        for material in kind.materials
        if material in _FEATURE_MATERIALS[feature]
    ]
    return plain * 2 + named


def _warranties(
    products: Sequence[ProductFacts],
    lines: Mapping[str, tuple[_Line, int | tuple[int, int]]],
) -> dict[str, int]:
    """Give six of ten text products a warranty, each length about equally often.

    In lines of several sizes one member goes without, which is trap T7.
    """
    by_line: dict[str, list[str]] = defaultdict(list)
    for product in products:
        if product.pool == "text":
            by_line[lines[product.sku][0].name].append(product.sku)
    chosen = []
    for members in by_line.values():
        order = sorted(members, key=lambda sku: draw("warranty", sku))
        if len(order) > 1:
            chosen += order[1:]
        elif draw_unit("warranty-single", order[0]) < _WARRANTED_SHARE:
            chosen += order
    chosen.sort(key=lambda sku: draw("warranty-length", sku))
    return {sku: WARRANTIES[index % len(WARRANTIES)] for index, sku in enumerate(chosen)}


def _dimensions(kind: Kind, first: int, second: int, key: str) -> tuple[int, int, int]:
    jitter = draw_below(5, "dimension", key) * 5
    if kind.measure == "diameter_mm":
        return first, first, 55 + jitter
    if kind.measure == "board_mm":
        return first, second, 20
    if kind.measure == "pieces":
        return 260 + jitter, 260 + jitter, 40 + 15 * first
    edge = round((first * 1000) ** (1 / 3) / 5) * 5
    return edge + jitter, edge + jitter, edge + 10 + jitter


def _weight(kind: Kind, first: int, second: int, key: str) -> int:
    amount = first * second if second else first
    grams = kind.base_grams + kind.grams_per_unit * amount
    return round(grams * (0.9 + 0.2 * draw_unit("weight", key)) / 10) * 10


def _model_code(ptype: str, key: str) -> str:
    letters = "".join(word[0] for word in ptype.upper().split("_"))
    return f"K{letters}-{1000 + draw_below(9000, 'model', key)}"


def _created_on(product: ProductFacts) -> date:
    span = 900 if product.rating_count else 1240
    return _FIRST_CREATED + timedelta(days=draw_below(span, "created", product.sku))


def _fits(sentence: Sentence, ptype: str, material: str, feature: str) -> bool:
    return (
        ptype in (sentence.ptypes or (ptype,))
        and material in (sentence.materials or (material,))
        and (not sentence.features or feature in sentence.features)
    )


def _description(
    ptype: str, line: _Line, kind: Kind, key: str, inventory: Sequence[Sentence]
) -> tuple[str, ...]:
    slot = {
        "diameter_mm": "diameter",
        "capacity_ml": "capacity",
        "pieces": "pieces",
        "board_mm": "size",
    }
    chosen = []
    for use in ("description_use", "description_care", "description_size"):
        options = [
            s.id
            for s in inventory
            if s.use == use
            and _fits(s, ptype, line.material, line.feature)
            and (use != "description_size" or s.slots == (slot[kind.measure],))
            and (use != "description_care" or line.material in s.materials)
        ]
        chosen.append(pick(options, use, key))
    return tuple(chosen)


def _bullets(ptype: str, line: _Line, key: str, inventory: Sequence[Sentence]) -> tuple[str, ...]:
    fitting = [
        s for s in inventory if s.use == "bullet" and _fits(s, ptype, line.material, line.feature)
    ]
    stated = [s.id for s in fitting if s.features or s.materials]
    others = [s.id for s in fitting if not s.features and not s.materials]
    others.sort(key=lambda name: draw("bullet", key, name))
    return tuple([*stated, *others][:5])


def reviewer_names() -> tuple[str, ...]:
    """Return the 600 reviewers' user names."""
    first = [
        "quiet",
        "early",
        "late",
        "rainy",
        "sunny",
        "river",
        "paper",
        "copper",
        "silver",
        "lemon",
        "mango",
        "cedar",
        "lotus",
        "tea",
        "cotton",
        "morning",
        "evening",
        "winter",
        "monsoon",
        "garden",
        "window",
        "market",
        "village",
        "station",
        "corner",
    ]
    second = [
        "kite",
        "lamp",
        "boat",
        "drum",
        "bird",
        "stone",
        "road",
        "bridge",
        "bell",
        "song",
        "leaf",
        "cloud",
        "spoon",
        "letter",
        "door",
        "roof",
        "field",
        "star",
        "moon",
        "seed",
        "bread",
        "salt",
        "wheel",
        "thread",
    ]
    names = [f"{a}_{b}" for a in first for b in second]
    return tuple(shuffled(names, "reviewer")[:_REVIEWERS])


def make_reviews(
    catalogue: Sequence[ProductFacts],
    kitchen: Mapping[str, KitchenFacts],
    inventory: Sequence[Sentence],
) -> tuple[ReviewFacts, ...]:
    """Make the reviews of the kitchen's products; counts and sums are those of the catalogue."""
    reviews: list[ReviewFacts] = []
    starts = first_ids(catalogue, lambda product: product.rating_count)
    for product, first_id in zip(catalogue, starts, strict=True):
        if product.category == CATEGORY and product.rating_count:
            reviews += _product_reviews(product, kitchen[product.sku], first_id, inventory)
    return tuple(reviews)


def _product_reviews(
    product: ProductFacts, facts: KitchenFacts, first_id: int, inventory: Sequence[Sentence]
) -> list[ReviewFacts]:
    count = product.rating_count
    stars = _star_list(product)
    authors = sorted(reviewer_names(), key=lambda name: draw("author", product.sku, name))[:count]
    dates = _review_dates(product, facts)
    helpful = _helpful_counts(product.sku, stars, dates)
    titles: set[str] = set()
    used: Counter[str] = Counter()
    pool = [s for s in inventory if _fits(s, product.ptype, facts.material, facts.feature)]
    reviews = []
    for index in range(count):
        title, sentences = _write(product.sku, index, stars[index], pool, titles, used)
        titles.add(title)
        reviews.append(
            ReviewFacts(
                id=first_id + index,
                sku=product.sku,
                username=authors[index],
                stars=stars[index],
                title=title,
                sentences=sentences,
                helpful=helpful[index],
                verified=draw_unit("verified", product.sku, index) < 0.7,
                created_at=dates[index],
            )
        )
    return reviews


def _star_list(product: ProductFacts) -> list[int]:
    """Return stars, drawn around the average, whose sum is exact."""
    count, total = product.rating_count, product.rating_sum
    mean = total / count
    stars = [
        min(5, max(1, round(mean + 3.2 * (draw_unit("stars", product.sku, i) - 0.5))))
        for i in range(count)
    ]
    step = 0
    while sum(stars) != total:
        step += 1
        index = draw_below(count, "star-fix", product.sku, step)
        change = 1 if sum(stars) < total else -1
        if 1 <= stars[index] + change <= 5:
            stars[index] += change
    middling = [index for index in range(count) if stars[index] == 3]
    rest = middling[_MAX_MIDDLING:]
    for first, second in zip(rest[::2], rest[1::2], strict=False):
        stars[first], stars[second] = 4, 2
    return stars


def _review_dates(product: ProductFacts, facts: KitchenFacts) -> list[datetime]:
    """Return distinct moments, oldest first, after the product was listed."""
    first = max(_FIRST_REVIEW, facts.created_on + timedelta(days=7))
    span = (_LAST_REVIEW - first).days + 1
    days: set[int] = set()
    attempt = 0
    while len(days) < product.rating_count:
        attempt += 1
        days.add(draw_below(span, "review-day", product.sku, attempt))
    return [
        datetime.combine(
            first + timedelta(days=day),
            time(
                8 + draw_below(13, "review-hour", product.sku, day),
                draw_below(60, "m", product.sku, day),
            ),
        )
        for day in sorted(days)
    ]


def _helpful_counts(sku: str, stars: Sequence[int], dates: Sequence[datetime]) -> list[int]:
    """Return distinct counts; the highest is not the newest review's nor, if possible, a 5's."""
    count = len(stars)
    counts, value = [], draw_below(4, "helpful-low", sku)
    for index in range(count):
        counts.append(value)
        value += 1 + draw_below(3, "helpful-step", sku, index)
    order = sorted(range(count), key=lambda i: draw("helpful-order", sku, i))
    newest = max(range(count), key=lambda i: dates[i])
    best = next((i for i in order if i != newest and stars[i] < 5), None)
    if best is None:
        best = next((i for i in order if i != newest), newest)
    order.remove(best)
    order.append(best)
    found = [0] * count
    for index, value in zip(order, counts, strict=True):
        found[index] = value
    return found


_BANDS: Mapping[int, tuple[str, tuple[str, ...], str]] = {
    5: ("good", ("good", "good"), "good"),
    4: ("good", ("good", "bad"), ""),
    3: ("mixed", ("good", "bad"), "mixed"),
    2: ("bad", ("bad", "bad", "good"), ""),
    1: ("bad", ("bad", "bad"), "bad"),
}


def _write(
    sku: str,
    index: int,
    stars: int,
    pool: Sequence[Sentence],
    titles: set[str],
    used: Counter[str],
) -> tuple[str, tuple[str, ...]]:
    """Choose a title and two to four sentences whose polarity fits the stars (5.7)."""
    title_polarity, polarities, closing = _BANDS[stars]

    def choose(options: Iterable[Sentence], part: object) -> Sentence:
        ranked = sorted(
            options, key=lambda s: (used[s.id], draw("sentence", sku, index, part, s.id))
        )
        used[ranked[0].id] += 1
        return ranked[0]

    title = choose(
        (
            s
            for s in pool
            if s.use == "review_title" and s.polarity == title_polarity and s.id not in titles
        ),
        "title",
    )
    sentences: list[Sentence] = []
    fresh = [s for s in pool if s.topic == "context" and not used[s.id]]
    if fresh and draw_unit("context", sku, index) < _CONTEXT_SHARE:
        sentences.append(choose(fresh, "context"))
    aspects: set[str] = set()
    for number, polarity in enumerate(polarities):
        options = [
            s
            for s in pool
            if s.use == "review" and s.polarity == polarity and s.topic not in aspects
        ]
        if number == 0:
            titled = [s for s in options if s.topic == title.topic]
            options = titled or options
        sentence = choose(options, number)
        aspects.add(sentence.topic)
        sentences.append(sentence)
    if closing and (len(sentences) < 3 or draw_unit("closing", sku, index) < 0.5):
        sentences.append(
            choose(
                (s for s in pool if s.use == "review_closing" and s.polarity == closing), "closing"
            )
        )
    return title.id, tuple(s.id for s in sentences[:4])


def make_questions(
    catalogue: Sequence[ProductFacts],
    kitchen: Mapping[str, KitchenFacts],
    inventory: Sequence[Sentence],
) -> tuple[tuple[QuestionFacts, ...], tuple[AnswerFacts, ...]]:
    """Make the questions of the kitchen's products and their answers."""
    counts = answer_counts()
    first_answer = [1]
    for number in counts:
        first_answer.append(first_answer[-1] + number)
    questions: list[QuestionFacts] = []
    answers: list[AnswerFacts] = []
    starts = first_ids(catalogue, lambda product: product.question_count)
    for product, first_id in zip(catalogue, starts, strict=True):
        if product.category != CATEGORY or not product.question_count:
            continue
        facts = kitchen[product.sku]
        pool = [s for s in inventory if _fits(s, product.ptype, facts.material, facts.feature)]
        chosen = _choose_questions(product, pool)
        for index, sentence in enumerate(chosen):
            question_id = first_id + index
            asked = _moment("asked", product.sku, index, after=facts.created_on)
            questions.append(
                QuestionFacts(
                    question_id,
                    product.sku,
                    pick(reviewer_names(), "asker", question_id),
                    sentence.id,
                    asked,
                )
            )
            answers += _answers(
                question_id, sentence, pool, counts[question_id - 1], first_answer, asked
            )
    return tuple(questions), tuple(answers)


def _choose_questions(product: ProductFacts, pool: Sequence[Sentence]) -> list[Sentence]:
    """Choose different questions; the first of a visual group is the same for all its members."""
    options = [s for s in pool if s.use == "question"]
    options.sort(key=lambda s: draw("question", product.sku, s.id))
    if product.visual_group:
        common = min(options, key=lambda s: draw("group-question", product.visual_group, s.id))
        options.remove(common)
        options.insert(0, common)
    return options[: product.question_count]


def _answers(
    question_id: int,
    question: Sentence,
    pool: Sequence[Sentence],
    count: int,
    first_answer: Sequence[int],
    asked: datetime,
) -> list[AnswerFacts]:
    stem = question.id.removeprefix("q.")
    own = [s.id for s in pool if s.use == "answer" and s.id.startswith(f"a.{stem}.")]
    general = [s.id for s in pool if s.use == "answer" and s.topic == "any"]
    own.sort(key=lambda name: draw("answer", question_id, name))
    general.sort(key=lambda name: draw("answer", question_id, name))
    texts = [*own, *general][:count]
    authors = sorted(reviewer_names(), key=lambda name: draw("answerer", question_id, name))
    helpful = shuffled(
        [draw_below(6, "answer-helpful", question_id) + 3 * n for n in range(count)],
        f"answer-helpful/{question_id}",
    )
    return [
        AnswerFacts(
            first_answer[question_id - 1] + index,
            question_id,
            authors[index],
            text,
            helpful[index],
            min(
                asked + timedelta(days=1 + index * 2, hours=index + 1),
                datetime.combine(_LAST_REVIEW, time(20, index)),
            ),
        )
        for index, text in enumerate(texts)
    ]


def _moment(purpose: str, sku: str, index: int, *, after: date) -> datetime:
    first = max(_FIRST_REVIEW, after + timedelta(days=3))
    span = (_LAST_REVIEW - timedelta(days=20) - first).days
    day = first + timedelta(days=draw_below(max(span, 1), purpose, sku, index))
    return datetime.combine(day, time(9 + draw_below(11, purpose, "h", sku, index), index * 7))
