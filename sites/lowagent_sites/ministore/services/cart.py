"""Cart and wishlist: what may be put in, how much, and what is done with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, joinedload

from lowagent_sites.ministore.models import MAX_QTY, CartItem, Product, WishlistItem
from lowagent_sites.ministore.services.totals import Totals, compute_totals

Problem = Literal["too_few", "too_many", "stock"]


@dataclass(frozen=True)
class QuantityProblem(Exception):  # noqa: N818 - a rule of the shop, not a fault
    """A quantity that the shop refuses; `available` is what the stock still allows."""

    kind: Problem
    available: int = 0


def check_quantity(qty: int, *, in_cart: int = 0, stock: int) -> None:
    """Check that `qty` more units may be in a cart that holds `in_cart` of them.

    Raises:
        QuantityProblem: Fewer than one, more than ten, or more than there are.
    """
    if qty < 1:
        raise QuantityProblem("too_few")
    if qty + in_cart > MAX_QTY:
        raise QuantityProblem("too_many")
    if qty + in_cart > stock:
        raise QuantityProblem("stock", stock)


def add_to_cart(
    session: Session, *, user_id: int, product: Product, qty: int, now: datetime
) -> None:
    """Put units of a product into a cart, on top of those that are in it.

    Raises:
        QuantityProblem: The rules of quantity refuse it; nothing is clamped.
    """
    line = session.scalar(
        select(CartItem).where(CartItem.user_id == user_id, CartItem.product_id == product.id)
    )
    check_quantity(qty, in_cart=line.qty if line else 0, stock=product.stock)
    if line is None:
        session.add(CartItem(user_id=user_id, product_id=product.id, qty=qty, added_at=now))
    else:
        line.qty += qty


def change_quantity(line: CartItem, qty: int) -> None:
    """Set the quantity of a line.

    Raises:
        QuantityProblem: The rules of quantity refuse it.
    """
    check_quantity(qty, stock=line.product.stock)
    line.qty = qty


def cart_lines(session: Session, user_id: int) -> Sequence[CartItem]:
    """Return the lines of a cart in the order in which they were put in."""
    return session.scalars(
        select(CartItem)
        .where(CartItem.user_id == user_id)
        .order_by(CartItem.added_at, CartItem.id)
        .options(
            joinedload(CartItem.product).joinedload(Product.brand),
            joinedload(CartItem.product).selectinload(Product.photos),
        )
    ).all()


def cart_line(session: Session, user_id: int, line_id: int) -> CartItem | None:
    """Return a line of this user's cart, or None."""
    return session.scalar(
        select(CartItem)
        .where(CartItem.id == line_id, CartItem.user_id == user_id)
        .options(joinedload(CartItem.product))
    )


def cart_totals(lines: Sequence[CartItem]) -> Totals:
    """Return what the lines that are in stock cost."""
    return compute_totals(
        (line.product.price_cents, line.qty) for line in lines if line.product.stock
    )


def clear_cart(session: Session, user_id: int) -> None:
    """Take everything out of a cart."""
    session.execute(delete(CartItem).where(CartItem.user_id == user_id))


@dataclass(frozen=True)
class Counts:
    """What the header counts: units in the cart, products in the wishlist."""

    units: int
    wishes: int


def count_for_header(session: Session, user_id: int) -> Counts:
    """Return both counts of a user with one statement, as every page shows them."""
    units = select(func.coalesce(func.sum(CartItem.qty), 0)).where(CartItem.user_id == user_id)
    wishes = select(func.count()).select_from(WishlistItem).where(WishlistItem.user_id == user_id)
    row = session.execute(select(units.scalar_subquery(), wishes.scalar_subquery())).one()
    return Counts(row[0], row[1])


def count_wishlist(session: Session, user_id: int) -> int:
    """Return how many products a wishlist holds."""
    return (
        session.scalar(
            select(func.count()).select_from(WishlistItem).where(WishlistItem.user_id == user_id)
        )
        or 0
    )


def wishlist_page(
    session: Session, user_id: int, *, offset: int, limit: int
) -> Sequence[WishlistItem]:
    """Return a part of a wishlist in the order in which it was made."""
    return session.scalars(
        select(WishlistItem)
        .where(WishlistItem.user_id == user_id)
        .order_by(WishlistItem.added_at, WishlistItem.id)
        .offset(offset)
        .limit(limit)
        .options(
            joinedload(WishlistItem.product).joinedload(Product.brand),
            joinedload(WishlistItem.product).selectinload(Product.photos),
        )
    ).all()


def wishlist_item(session: Session, user_id: int, product_id: int) -> WishlistItem | None:
    """Return the entry of a product in this user's wishlist, or None."""
    return session.scalar(
        select(WishlistItem).where(
            WishlistItem.user_id == user_id, WishlistItem.product_id == product_id
        )
    )


def add_to_wishlist(session: Session, *, user_id: int, product_id: int, now: datetime) -> None:
    """Keep a product in mind; doing it again changes nothing."""
    if wishlist_item(session, user_id, product_id) is None:
        session.add(WishlistItem(user_id=user_id, product_id=product_id, added_at=now))


def remove_from_wishlist(session: Session, *, user_id: int, product_id: int) -> None:
    """Forget a product; doing it again changes nothing."""
    entry = wishlist_item(session, user_id, product_id)
    if entry is not None:
        session.delete(entry)


def move_to_cart(session: Session, *, user_id: int, product: Product, now: datetime) -> None:
    """Move one unit of a product from the wishlist to the cart; doing it again changes nothing.

    Raises:
        QuantityProblem: The rules of quantity refuse it; the product stays on the wishlist.
    """
    entry = wishlist_item(session, user_id, product.id)
    if entry is not None:
        add_to_cart(session, user_id=user_id, product=product, qty=1, now=now)
        session.delete(entry)
