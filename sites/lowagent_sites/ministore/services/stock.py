"""What the stock of a product allows."""

from typing import Literal

StockCode = Literal["in_stock", "low_stock", "out_of_stock"]
LOW_STOCK_BELOW = 5


def stock_code(stock: int) -> StockCode:
    """Return the code that pages print, equal in all languages."""
    if stock == 0:
        return "out_of_stock"
    return "low_stock" if stock < LOW_STOCK_BELOW else "in_stock"
