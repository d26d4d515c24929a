"""The shop's tables (`sites/ministore.md` 2). Amounts are US cents on the 10-cent grid."""

import json
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Date,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    String,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

MAX_QTY = 10
LOCALIZED: dict[str, Any] = {"localized": True}
NO_ID_TWICE: dict[str, Any] = {"sqlite_autoincrement": True}
"""A row that is removed and made again is another row: the diff must not take it for a change."""


class Base(DeclarativeBase):
    """The base of all tables of the shop; `info["localized"]` marks texts of a language."""


class Category(Base):
    """A department of the shop."""

    __tablename__ = "categories"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str] = mapped_column(info=LOCALIZED)
    blurb: Mapped[str] = mapped_column(info=LOCALIZED)
    position: Mapped[int]


class Brand(Base):
    """A maker; its name is Latin in every language."""

    __tablename__ = "brands"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str] = mapped_column(unique=True)
    blurb: Mapped[str] = mapped_column(info=LOCALIZED)


class Product(Base):
    """A product; `color` is empty in the visual pool, whose looks no text tells."""

    __tablename__ = "products"
    __table_args__ = (
        CheckConstraint("price_cents > 0 AND price_cents % 10 = 0"),
        CheckConstraint("stock >= 0"),
        CheckConstraint("pool IN ('text', 'visual')"),
        Index("ix_products_listing", "category_id", "brand_id", "price_cents", "stock"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    sku: Mapped[str] = mapped_column(String(6), unique=True)
    category_id: Mapped[int] = mapped_column(ForeignKey("categories.id"))
    brand_id: Mapped[int] = mapped_column(ForeignKey("brands.id"), index=True)
    ptype: Mapped[str]
    name: Mapped[str] = mapped_column(info=LOCALIZED)
    description: Mapped[str] = mapped_column(info=LOCALIZED)
    bullets: Mapped[str] = mapped_column(info=LOCALIZED)
    material: Mapped[str | None]
    material_name: Mapped[str | None] = mapped_column(info=LOCALIZED)
    color: Mapped[str | None]
    color_name: Mapped[str | None] = mapped_column(info=LOCALIZED)
    country: Mapped[str]
    country_name: Mapped[str] = mapped_column(info=LOCALIZED)
    w_mm: Mapped[int | None]
    d_mm: Mapped[int | None]
    h_mm: Mapped[int | None]
    weight_g: Mapped[int | None]
    warranty_months: Mapped[int | None]
    model_code: Mapped[str]
    price_cents: Mapped[int]
    was_cents: Mapped[int | None]
    stock: Mapped[int]
    rating_sum: Mapped[int]
    rating_count: Mapped[int]
    created_on: Mapped[date] = mapped_column(Date)
    pool: Mapped[str]
    vgroup: Mapped[str | None]
    search_text: Mapped[str] = mapped_column(info=LOCALIZED)
    search_title: Mapped[str] = mapped_column(info=LOCALIZED)

    category: Mapped[Category] = relationship()
    brand: Mapped[Brand] = relationship()
    photos: Mapped[list["ProductPhoto"]] = relationship(order_by="ProductPhoto.position")

    @property
    def bullet_list(self) -> list[str]:
        """The bullet points, which are stored as JSON."""
        points: list[str] = json.loads(self.bullets)
        return points


class ProductPhoto(Base):
    """A photo of a product; position 1 is the catalogue photo."""

    __tablename__ = "product_photos"
    __table_args__ = (
        UniqueConstraint("product_id", "position"),
        CheckConstraint("position BETWEEN 1 AND 4"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    position: Mapped[int]
    media_id: Mapped[str] = mapped_column(unique=True)


class User(Base):
    """An account; reviewers have no login."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(unique=True)
    display_name: Mapped[str] = mapped_column(info=LOCALIZED)
    email: Mapped[str]
    password_hash: Mapped[str]
    is_login: Mapped[bool]
    joined_on: Mapped[date] = mapped_column(Date)


class Cart(Base):
    """What belongs to a cart as a whole."""

    __tablename__ = "carts"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    coupon_id: Mapped[int | None]


class CartItem(Base):
    """A line of a cart."""

    __tablename__ = "cart_items"
    __table_args__ = (
        UniqueConstraint("user_id", "product_id"),
        CheckConstraint(f"qty BETWEEN 1 AND {MAX_QTY}"),
        NO_ID_TWICE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    qty: Mapped[int]
    added_at: Mapped[datetime] = mapped_column(DateTime)

    product: Mapped[Product] = relationship()


class WishlistItem(Base):
    """A product that somebody keeps in mind."""

    __tablename__ = "wishlist_items"
    __table_args__ = (UniqueConstraint("user_id", "product_id"), NO_ID_TWICE)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    added_at: Mapped[datetime] = mapped_column(DateTime)

    product: Mapped[Product] = relationship()


class Review(Base):
    """A review of a product, one a user."""

    __tablename__ = "reviews"
    __table_args__ = (
        UniqueConstraint("product_id", "user_id"),
        CheckConstraint("stars BETWEEN 1 AND 5"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    stars: Mapped[int]
    title: Mapped[str] = mapped_column(info=LOCALIZED)
    body: Mapped[str] = mapped_column(info=LOCALIZED)
    helpful_count: Mapped[int]
    verified: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(DateTime)
    edited_at: Mapped[datetime | None] = mapped_column(DateTime)

    user: Mapped[User] = relationship()
    product: Mapped[Product] = relationship()


class Question(Base):
    """A question about a product."""

    __tablename__ = "questions"

    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    body: Mapped[str] = mapped_column(info=LOCALIZED)
    created_at: Mapped[datetime] = mapped_column(DateTime)

    user: Mapped[User] = relationship()
    product: Mapped[Product] = relationship()


class Answer(Base):
    """An answer to a question."""

    __tablename__ = "answers"

    id: Mapped[int] = mapped_column(primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    body: Mapped[str] = mapped_column(info=LOCALIZED)
    helpful_count: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(DateTime)

    user: Mapped[User] = relationship()


class HelpfulVote(Base):
    """A user found a review or an answer helpful."""

    __tablename__ = "helpful_votes"
    __table_args__ = (
        UniqueConstraint("user_id", "kind", "target_id"),
        CheckConstraint("kind IN ('review', 'answer')"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    kind: Mapped[str]
    target_id: Mapped[int]


class FormToken(Base):
    """A form that was sent, so that a second send does nothing."""

    __tablename__ = "form_tokens"

    form_id: Mapped[str] = mapped_column(String, primary_key=True)
    sid: Mapped[str]
    endpoint: Mapped[str]
    result_url: Mapped[str]
    used_at: Mapped[datetime] = mapped_column(DateTime)


class Counter(Base):
    """The next number of a public code."""

    __tablename__ = "counters"

    name: Mapped[str] = mapped_column(String, primary_key=True)
    value: Mapped[int] = mapped_column(Integer)
