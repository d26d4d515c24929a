"""The 99 brands and how their products spread over the categories (`sites/ministore.md` 5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from lowagent_sites.ministore.content.draws import draw, draw_below, draw_unit

CATEGORY_COUNTS = {
    "furniture": 330,
    "lighting": 180,
    "kitchen": 310,
    "bedbath": 255,
    "footwear": 340,
    "jewelry": 240,
    "bags": 210,
    "electronics": 300,
    "office": 200,
    "pantry": 200,
}
LARGE = (
    "Aurelo",
    "Bexton",
    "Corvane",
    "Deltora",
    "Emberly",
    "Fennwick",
    "Galdore",
    "Hartling",
    "Ivoria",
)
_STARTS = [
    "Al",
    "Bri",
    "Cas",
    "Dor",
    "El",
    "Fal",
    "Gren",
    "Hal",
    "Jor",
    "Kel",
    "Lum",
    "Mar",
    "Nor",
    "Or",
    "Pel",
    "Quin",
    "Ros",
    "Sol",
    "Tam",
    "Vel",
]
_VOWELS = "aeio"
_ENDS = ["den", "field", "ley", "mont", "nova", "ra", "stone", "via", "wick", "zen"]
_MIN_DISTANCE = 3
_MEDIUM_COUNT, _SMALL_17_COUNT, _SMALL_16_COUNT = 30, 15, 45
_SPLIT_SHARE = 0.4
_DARE = 0.004
_DOUBLE_COST = 40


@dataclass(frozen=True)
class Brand:
    """A brand and the sizes of its parts, the largest first."""

    slug: str
    name: str
    tier: str
    parts: tuple[int, ...]


def make_brands() -> tuple[Brand, ...]:
    """Return the brands: 9 large, 30 medium, 60 small, in the order of their ids."""
    names = [*LARGE, *_make_names(_MEDIUM_COUNT + _SMALL_17_COUNT + _SMALL_16_COUNT)]
    sizes: list[tuple[str, tuple[int, ...]]] = [("large", (24, 20, 16))] * len(LARGE)
    sizes += [("medium", (20, 15))] * _MEDIUM_COUNT
    for total, count in ((17, _SMALL_17_COUNT), (16, _SMALL_16_COUNT)):
        for index in range(count):
            is_split = draw_unit("brand-split", total, index) < _SPLIT_SHARE
            sizes.append(("small", (13, total - 13) if is_split else (total,)))
    return tuple(
        Brand(name.lower(), name, tier, parts)
        for name, (tier, parts) in zip(names, sizes, strict=True)
    )


def spread_brands(brands: Sequence[Brand]) -> dict[tuple[str, str], int]:
    """Return how many products each brand has in each category; the categories sum exactly."""
    categories = list(CATEGORY_COUNTS)
    parts = [(index, size) for index, brand in enumerate(brands) for size in brand.parts]
    place = [draw_below(len(categories), "brand-place", n) for n in range(len(parts))]
    excess = [-count for count in CATEGORY_COUNTS.values()]
    for (_brand, size), category in zip(parts, place, strict=True):
        excess[category] += size
    step = 0
    while any(excess) or _has_doubles(parts, place):
        step += 1
        _improve(parts, place, excess, step)
    return {
        (brands[brand].slug, categories[category]): size
        for (brand, size), category in zip(parts, place, strict=True)
    }


def _improve(
    parts: Sequence[tuple[int, int]], place: list[int], excess: list[int], step: int
) -> None:
    """Move one part, or swap two; undo it where that costs more and no draw allows it."""
    first = draw_below(len(parts), "brand-move", step, "a")
    moves = [(first, draw_below(len(excess), "brand-move", step, "to"))]
    if step % 2:
        other = draw_below(len(parts), "brand-move", step, "b")
        moves = [(first, place[other]), (other, place[first])]
    touched = {parts[part][0] for part, _category in moves}
    before = _cost(parts, place, excess, touched)
    origins = [(part, place[part]) for part, _category in moves]
    _move(parts, place, excess, moves)
    if _cost(parts, place, excess, touched) > before and draw_unit("brand-dare", step) > _DARE:
        _move(parts, place, excess, origins[::-1])


def _move(
    parts: Sequence[tuple[int, int]],
    place: list[int],
    excess: list[int],
    moves: Sequence[tuple[int, int]],
) -> None:
    for part, category in moves:
        excess[place[part]] -= parts[part][1]
        excess[category] += parts[part][1]
        place[part] = category


def _cost(
    parts: Sequence[tuple[int, int]], place: Sequence[int], excess: Sequence[int], brands: set[int]
) -> int:
    doubles = 0
    for brand in brands:
        own = [place[n] for n, (owner, _size) in enumerate(parts) if owner == brand]
        doubles += len(own) - len(set(own))
    return sum(map(abs, excess)) + _DOUBLE_COST * doubles


def _has_doubles(parts: Sequence[tuple[int, int]], place: Sequence[int]) -> bool:
    return len({(brand, c) for (brand, _s), c in zip(parts, place, strict=True)}) < len(parts)


def _make_names(count: int) -> list[str]:
    candidates = ["".join(pieces) for pieces in product(_STARTS, _VOWELS, _ENDS)]
    candidates.sort(key=lambda name: draw("brand-name", name))
    chosen: list[str] = []
    for name in candidates:
        if _is_pronounceable(name) and all(
            edit_distance(name, known) >= _MIN_DISTANCE for known in (*chosen, *LARGE)
        ):
            chosen.append(name)
            if len(chosen) == count:
                return chosen
    raise ValueError(f"the syllables make only {len(chosen)} of {count} names")


def _is_pronounceable(name: str) -> bool:
    """Refuse three of a letter's kind in a row and doubled syllables."""
    return not any(pair in name for pair in ("oo", "aa", "ii", "ee")) and len(name) <= 9


def edit_distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two words, capitals ignored."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first.lower(), 1):
        before, row[0] = row[0], i
        for j, b in enumerate(second.lower(), 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]
