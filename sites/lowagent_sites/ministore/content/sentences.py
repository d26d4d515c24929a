"""The inventory of sentences, which all languages share, and each language's texts."""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lowagent_sites.paths import data_dir


@dataclass(frozen=True)
class Sentence:
    """What a sentence states, in no language.

    Attributes:
        use: Where it stands: a review, a title, a description, ...
        topic: The aspect of a review, the subject of a question.
        polarity: `good`, `bad`, `mixed` or `neutral`, where that applies.
        ptypes: Kinds of product for which it is true; empty for all.
        materials: Materials for which it is true; empty for all.
        features: One of these must be named; empty for any product.
        slots: Values that it shows.
    """

    id: str
    use: str
    topic: str
    polarity: str
    ptypes: tuple[str, ...]
    materials: tuple[str, ...]
    features: tuple[str, ...]
    slots: tuple[str, ...]


def content_dir() -> Path:
    """Return the folder of the shop's content."""
    return data_dir("assets") / "content" / "ministore"


@cache
def load_inventory() -> tuple[Sentence, ...]:
    """Read `sentences.csv`."""
    with (content_dir() / "facts" / "sentences.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Sentence(
                id=row["id"],
                use=row["use"],
                topic=row["topic"],
                polarity=row["polarity"],
                ptypes=_names(row["ptypes"]),
                materials=_names(row["materials"]),
                features=_names(row["features"]),
                slots=_names(row["slots"]),
            )
            for row in csv.DictReader(file)
        )


def load_texts(content: str) -> Mapping[str, str]:
    """Return a language's sentences by id; `content` is the name of its folder."""
    path = content_dir() / content / "sentences.toml"
    if not path.is_file():
        return {}
    texts: Mapping[str, str] = tomllib.loads(path.read_text("utf-8"))["sentences"]
    return texts


def _names(cell: str) -> tuple[str, ...]:
    return () if cell in {"", "*"} else tuple(cell.split())
