"""Draws that are the same on every machine: BLAKE2b of a purpose and a number."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")
_PREFIX = "lowagent-vis/ministore"


def draw(purpose: str, *key: object) -> int:
    """Return a 64-bit number for a purpose and a key."""
    text = "/".join([_PREFIX, purpose, *map(str, key)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def draw_below(limit: int, purpose: str, *key: object) -> int:
    """Return a number from 0 to `limit` - 1."""
    return draw(purpose, *key) % limit


def draw_unit(purpose: str, *key: object) -> float:
    """Return a number from 0 (included) to 1 (not included)."""
    return draw(purpose, *key) / 2**64


def pick(options: Sequence[_T], purpose: str, *key: object) -> _T:
    """Return one of the options."""
    return options[draw_below(len(options), purpose, *key)]


def shuffled(values: Sequence[_T], purpose: str) -> list[_T]:
    """Return the values in a drawn order."""
    order = sorted(range(len(values)), key=lambda index: draw(purpose, index))
    return [values[index] for index in order]
