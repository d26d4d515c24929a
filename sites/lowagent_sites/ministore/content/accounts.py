"""The accounts with a login and what they have in cart and wishlist."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from lowagent_sites.common.passwords import hash_password
from lowagent_sites.ministore.content.catalogue import ProductFacts
from lowagent_sites.ministore.content.draws import draw
from lowagent_sites.ministore.content.facts import load_products
from lowagent_sites.ministore.content.kitchen import CATEGORY

TEXT_ACCOUNT, VISUAL_ACCOUNT = "nila_shop", "nila_photo"
PASSWORDS = {TEXT_ACCOUNT: "Mini#Store26", VISUAL_ACCOUNT: "Mini#Photo26"}
OTHER_LOGINS = ("river_reader", "green_basket", "copper_cup")
LOGINS = (*PASSWORDS, *OTHER_LOGINS)
_CART_QUANTITIES = (1, 2, 1)
_WISHES_IN_STOCK = 5
_PLENTY = 8


def unknowable_hash(username: str) -> str:
    """Return a password hash that no known password has."""
    secret = hashlib.blake2b(f"lowagent-vis/ministore/secret/{username}".encode()).hexdigest()
    return hash_password(secret, f"ministore{username}")


def cart_skus() -> tuple[str, ...]:
    """Return the three products in the cart of the account for text tasks."""
    plenty = [p for p in _text_products() if p.stock >= _PLENTY]
    plenty.sort(key=lambda p: draw("account-cart", p.sku))
    return tuple(p.sku for p in plenty[: len(_CART_QUANTITIES)])


def wishlist_skus() -> tuple[str, ...]:
    """Return its six wishes: exactly one is out of stock, prices spread over the range."""
    in_cart = set(cart_skus())
    by_price = sorted(_text_products(), key=lambda p: p.price_cents)
    in_stock = [p for p in by_price if p.stock >= _PLENTY and p.sku not in in_cart]
    step = len(in_stock) // _WISHES_IN_STOCK
    chosen = [in_stock[step // 2 + step * n].sku for n in range(_WISHES_IN_STOCK)]
    gone = [p for p in by_price if p.stock == 0]
    chosen.insert(2, gone[len(gone) // 2].sku)
    return tuple(chosen)


def cart_rows(
    user_ids: Mapping[str, object], product_ids: Mapping[str, int]
) -> list[dict[str, object]]:
    """Return the rows of `cart_items`."""
    first = datetime(2026, 6, 10, 9, 30)
    return [
        {
            "id": number,
            "user_id": user_ids[TEXT_ACCOUNT],
            "product_id": product_ids[sku],
            "qty": qty,
            "added_at": first + timedelta(days=number),
        }
        for number, (sku, qty) in enumerate(zip(cart_skus(), _CART_QUANTITIES, strict=True), 1)
    ]


def wishlist_rows(
    user_ids: Mapping[str, object], product_ids: Mapping[str, int]
) -> list[dict[str, object]]:
    """Return the rows of `wishlist_items`."""
    first = datetime(2026, 5, 3, 18, 15)
    return [
        {
            "id": number,
            "user_id": user_ids[TEXT_ACCOUNT],
            "product_id": product_ids[sku],
            "added_at": first + timedelta(days=5 * number),
        }
        for number, sku in enumerate(wishlist_skus(), 1)
    ]


def _text_products() -> list[ProductFacts]:
    return [p for p in load_products() if p.category == CATEGORY and p.pool == "text"]
