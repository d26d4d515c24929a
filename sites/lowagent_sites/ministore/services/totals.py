"""What an order costs (`sites/ministore.md` 3.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

STANDARD_FEE_CENTS = 490
EXPRESS_FEE_CENTS = 990
FREE_STANDARD_FROM_CENTS = 7500


@dataclass(frozen=True)
class Totals:
    """Amounts of a cart in US cents, for both ways of shipping."""

    subtotal_cents: int
    discount_cents: int
    standard_cents: int
    express_cents: int

    @property
    def standard_total_cents(self) -> int:
        """What is paid with standard shipping."""
        return self.subtotal_cents - self.discount_cents + self.standard_cents

    @property
    def express_total_cents(self) -> int:
        """What is paid with express shipping."""
        return self.subtotal_cents - self.discount_cents + self.express_cents


def standard_fee(subtotal_cents: int) -> int:
    """Return the fee of standard shipping: free from a subtotal on, before any discount."""
    return 0 if subtotal_cents >= FREE_STANDARD_FROM_CENTS else STANDARD_FEE_CENTS


def compute_totals(lines: Iterable[tuple[int, int]], *, discount_cents: int = 0) -> Totals:
    """Return the totals of lines of (unit price in cents, quantity)."""
    subtotal = sum(unit_cents * qty for unit_cents, qty in lines)
    return Totals(
        subtotal_cents=subtotal,
        discount_cents=min(discount_cents, subtotal),
        standard_cents=standard_fee(subtotal),
        express_cents=EXPRESS_FEE_CENTS,
    )
