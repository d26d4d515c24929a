"""A small schema with every kind of key and constraint, and databases made from it."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from sqlalchemy import CheckConstraint, ForeignKey, MetaData, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from lowagent_sites.common.changes import bake_change_log
from lowagent_sites.common.database import WorldDatabase


class Base(DeclarativeBase):
    """The demo's declarative base."""


class Item(Base):
    """A row with a surrogate key, a business key and every type."""

    __tablename__ = "items"
    __table_args__ = (CheckConstraint("stock >= 0"), {"sqlite_autoincrement": True})
    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    stock: Mapped[int]
    weight: Mapped[float | None]
    made_on: Mapped[date | None]


class Order(Base):
    """A parent whose lines go with it."""

    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    buyer: Mapped[str]


class Line(Base):
    """A row whose key has two columns."""

    __tablename__ = "lines"
    order_id: Mapped[int] = mapped_column(
        ForeignKey("orders.id", ondelete="CASCADE"), primary_key=True
    )
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id"), primary_key=True)
    qty: Mapped[int]


class Picture(Base):
    """A row with a text key and binary data."""

    __tablename__ = "pictures"
    name: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[bytes | None]


class Counter(Base):
    """An incidental row."""

    __tablename__ = "counters"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int]


@dataclass(frozen=True)
class DemoSchema:
    """What the harness needs to know of the demo's tables."""

    metadata: MetaData = field(default_factory=lambda: Base.metadata)
    incidental_tables: frozenset[str] = frozenset({"counters"})


DEMO = DemoSchema()


def write_rows(path: Path) -> None:
    """Write the demo's rows into a new file."""
    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(
            Item(
                sku=f"P{n:03}",
                name=f"নাম {n}",
                stock=n % 5,
                weight=n / 3,
                made_on=date(2026, 1, n),
            )
            for n in range(1, 21)
        )
        session.add_all(Order(id=n, buyer=f"buyer {n}") for n in range(1, 6))
        session.flush()
        session.add_all(
            Line(order_id=order, item_id=item, qty=order + item)
            for order in range(1, 6)
            for item in range(order, order + 3)
        )
        session.add_all(Picture(name=f"p{n}", data=bytes([n, 0, 255])) for n in range(4))
        session.add(Counter(name="order", value=100))
        session.commit()
    engine.dispose()


def demo_seed(folder: Path) -> bytes:
    """Return the bytes of the demo's database, change log included."""
    path = folder / "demo.sqlite"
    write_rows(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        bake_change_log(connection, Base.metadata)
    return path.read_bytes()


def demo_world(folder: Path) -> WorldDatabase:
    """Return a world's database over the demo's rows."""
    return WorldDatabase.open(demo_seed(folder))
