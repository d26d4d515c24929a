"""A small shop in SQLite that a verdict can read: rows, differences, no pages."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from lowagent_vis.evaluation.state import StateRules

SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    price_cents INTEGER NOT NULL, stock INTEGER NOT NULL, warranty_months INTEGER,
    rating_sum INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE cart_items (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, product_id INTEGER NOT NULL,
    qty INTEGER NOT NULL, added_at TEXT NOT NULL, UNIQUE (user_id, product_id)
);
CREATE TABLE wishlist_items (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, product_id INTEGER NOT NULL,
    added_at TEXT NOT NULL, UNIQUE (user_id, product_id)
);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, product_id INTEGER NOT NULL,
    stars INTEGER NOT NULL, title TEXT NOT NULL, edited_at TEXT
);
INSERT INTO users VALUES (1, 'nila_shop'), (2, 'omar');
INSERT INTO products VALUES
    (1, 'P00001', 'Padma steel mug, 350 ml', 2490, 9, 24, 0),
    (2, 'P00002', 'Padma steel mug, 500 ml', 2990, 3, 36, 0),
    (3, 'P00003', 'Meghna glass jar, 1 L', 1250, 0, NULL, 0);
INSERT INTO cart_items VALUES (1, 1, 2, 1, 'seed'), (2, 2, 1, 4, 'seed');
INSERT INTO wishlist_items VALUES (1, 1, 1, 'seed'), (2, 1, 3, 'seed'), (3, 2, 1, 'seed');
INSERT INTO reviews VALUES (1, 1, 3, 4, 'Good jar', NULL);
"""

RULES = StateRules(
    primary_keys=dict.fromkeys(
        ("users", "products", "cart_items", "wishlist_items", "reviews"), ("id",)
    ),
    business_keys={
        "users": (("username",),),
        "products": (("sku",),),
        "cart_items": (("user_id", "product_id"),),
        "wishlist_items": (("user_id", "product_id"),),
    },
    derived_columns={"products.rating_sum": "reviews"},
)

USER_ID = 1
OTHER_USER_ID = 2
MUG, LARGE_MUG, JAR = 1, 2, 3


class SqliteWorld:
    """A database that remembers how it was when it was made."""

    seed_sha256 = "0" * 64

    def __init__(self, *, open_disruption: str | None = None) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(SCHEMA)
        self._seed = self._rows()
        self._open_disruption = open_disruption

    def execute(self, *statements: str) -> None:
        for statement in statements:
            self._connection.execute(statement)

    def query(self, sql: str, params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return [dict(row) for row in self._connection.execute(sql, dict(params))]

    def disruption_active(self) -> str | None:
        return self._open_disruption

    def diff(self, *, incidental: bool = False) -> dict[str, dict[str, list[dict[str, Any]]]]:
        found: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for table, rows in self._rows().items():
            old = self._seed[table]
            entries = {
                "added": [_row(key, rows[key]) for key in rows if key not in old],
                "removed": [_row(key, old[key]) for key in old if key not in rows],
                "changed": [
                    _change(key, old[key], rows[key])
                    for key in rows
                    if key in old and old[key] != rows[key]
                ],
            }
            if any(entries.values()):
                found[table] = entries
        return found

    def close(self) -> None:
        self._connection.close()

    def _rows(self) -> dict[str, dict[int, dict[str, Any]]]:
        return {
            table: {
                row["id"]: dict(row)
                for row in self._connection.execute(f"SELECT * FROM {table} ORDER BY id")
            }
            for table in RULES.primary_keys
        }


def _row(key: int, row: dict[str, Any]) -> dict[str, Any]:
    return {"key": {"id": key}, "row": row}


def _change(key: int, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    columns = [name for name in new if new[name] != old[name]]
    return {
        "key": {"id": key},
        "old": {name: old[name] for name in columns},
        "new": {name: new[name] for name in columns},
    }
