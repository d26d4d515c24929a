"""Writes and reads the frozen facts: `assets/content/ministore/facts/*.csv`."""

import csv
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from lowagent_sites.ministore.content.brands import Brand, make_brands
from lowagent_sites.ministore.content.catalogue import (
    ProductFacts,
    make_catalogue,
    read_price_bands,
)
from lowagent_sites.ministore.content.kitchen import (
    AnswerFacts,
    KitchenFacts,
    QuestionFacts,
    ReviewFacts,
    make_kitchen,
    make_questions,
    make_reviews,
)
from lowagent_sites.ministore.content.sentences import content_dir, load_inventory

_T = TypeVar("_T")


def facts_dir() -> Path:
    """Return the folder of the frozen facts."""
    return content_dir() / "facts"


def make_facts() -> Mapping[str, Sequence[Any]]:
    """Make all facts again, by the name of their file."""
    catalogue = make_catalogue(read_price_bands(facts_dir() / "ptypes.csv"))
    inventory = load_inventory()
    kitchen = make_kitchen(catalogue, inventory)
    by_sku = {facts.sku: facts for facts in kitchen}
    questions, answers = make_questions(catalogue, by_sku, inventory)
    return {
        "brands": make_brands(),
        "products": catalogue,
        "kitchen": kitchen,
        "reviews_kitchen": make_reviews(catalogue, by_sku, inventory),
        "questions_kitchen": questions,
        "answers_kitchen": answers,
    }


def write_facts(folder: Path) -> None:
    """Write all facts as CSV; only for a deliberate change of the frozen files."""
    for name, rows in make_facts().items():
        (folder / f"{name}.csv").write_text(to_csv(rows), encoding="utf-8")


def to_csv(rows: Sequence[Any]) -> str:
    """Return dataclass instances as CSV with a heading; tuples are separated by spaces."""
    fields = [field.name for field in dataclasses.fields(rows[0])]
    lines = [fields] + [[_to_cell(getattr(row, name)) for name in fields] for row in rows]
    return "".join(",".join(line) + "\n" for line in lines)


def load_brands() -> tuple[Brand, ...]:
    """Read `brands.csv`."""
    return _read("brands", Brand)


def load_products() -> tuple[ProductFacts, ...]:
    """Read `products.csv`."""
    return _read("products", ProductFacts)


def load_kitchen() -> tuple[KitchenFacts, ...]:
    """Read `kitchen.csv`."""
    return _read("kitchen", KitchenFacts)


def load_reviews() -> tuple[ReviewFacts, ...]:
    """Read `reviews_kitchen.csv`."""
    return _read("reviews_kitchen", ReviewFacts)


def load_questions() -> tuple[QuestionFacts, ...]:
    """Read `questions_kitchen.csv`."""
    return _read("questions_kitchen", QuestionFacts)


def load_answers() -> tuple[AnswerFacts, ...]:
    """Read `answers_kitchen.csv`."""
    return _read("answers_kitchen", AnswerFacts)


def _to_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return str(value)


def _read(name: str, kind: type[_T]) -> tuple[_T, ...]:
    hints = get_type_hints(kind)
    with (facts_dir() / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            kind(**{key: _from_cell(cell, hints[key]) for key, cell in row.items()})
            for row in csv.DictReader(file)
        )


def _from_cell(cell: str, hint: Any) -> Any:
    if hint == tuple[str, ...]:
        return tuple(cell.split())
    if hint == tuple[int, ...]:
        return tuple(map(int, cell.split()))
    if hint is bool:
        return cell == "1"
    if hint is datetime:
        return datetime.fromisoformat(cell)
    if hint is date:
        return date.fromisoformat(cell)
    if hint is str:
        return cell
    return int(cell) if cell else None
