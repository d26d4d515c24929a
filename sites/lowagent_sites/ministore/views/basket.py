"""Cart and wishlist."""

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request
from werkzeug.wrappers import Response

from lowagent_sites.common.auth import login_required
from lowagent_sites.common.forms import Field, Form
from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.listing import paginate
from lowagent_sites.common.numbers import NumberProblem, format_integer, parse_whole
from lowagent_sites.common.runtime import (
    current_language,
    current_runtime,
    current_user,
    db,
)
from lowagent_sites.common.sessions import flash
from lowagent_sites.ministore.models import MAX_QTY, Product
from lowagent_sites.ministore.services import cart, catalog
from lowagent_sites.ministore.services.cart import QuantityProblem
from lowagent_sites.ministore.views.browse import cart_form, show_product

_WISHLIST_SIZE = 12


def create_blueprint() -> Blueprint:
    """Return the pages of cart and wishlist."""
    basket = Blueprint("basket", __name__)
    basket.add_url_rule("/cart", view_func=show_cart)
    basket.add_url_rule("/cart/add", view_func=add, methods=["POST"])
    basket.add_url_rule(
        "/cart/<int(max=2147483647):line_id>/update", view_func=update, methods=["POST"]
    )
    basket.add_url_rule(
        "/cart/<int(max=2147483647):line_id>/remove", view_func=remove, methods=["POST"]
    )
    basket.add_url_rule("/cart/clear", view_func=clear, methods=["POST"])
    basket.add_url_rule("/wishlist", view_func=show_wishlist)
    basket.add_url_rule("/wishlist/add", view_func=wish, methods=["POST"])
    basket.add_url_rule("/wishlist/remove", view_func=unwish, methods=["POST"])
    basket.add_url_rule("/wishlist/move", view_func=move, methods=["POST"])
    return basket


@login_required
def show_cart() -> Any:
    """Show the cart."""
    return _render_cart({})


@login_required
def add() -> Any:
    """Put a product into the cart."""
    product = _sent_product()
    form = cart_form()
    form.read(request.form)
    qty = _read_quantity(form)
    if qty is not None:
        try:
            cart.add_to_cart(
                db(),
                user_id=_user_id(),
                product=product,
                qty=qty,
                now=current_runtime().clock.now(),
            )
        except QuantityProblem as problem:
            form.add_error("qty", _quantity_error(problem))
    if form.errors:
        return show_product(product, form), 422
    flash(_("The product was added to your cart"))
    return redirect("/cart", 303)


@login_required
def update(line_id: int) -> Any:
    """Change the quantity of a line."""
    line = cart.cart_line(db(), _user_id(), line_id)
    if line is None:
        abort(404)
    form = _line_form(line.id, line.qty)
    form.read(request.form)
    qty = _read_quantity(form)
    if qty is not None:
        try:
            cart.change_quantity(line, qty)
        except QuantityProblem as problem:
            form.add_error("qty", _quantity_error(problem))
    if form.errors:
        return _render_cart({line.id: form}), 422
    flash(_("The quantity was changed"))
    return redirect("/cart", 303)


@login_required
def remove(line_id: int) -> Response:
    """Take a line out of the cart."""
    line = cart.cart_line(db(), _user_id(), line_id)
    if line is None:
        abort(404)
    db().delete(line)
    flash(_("The product was removed from your cart"))
    return redirect("/cart", 303)


@login_required
def clear() -> Response:
    """Take everything out of the cart."""
    cart.clear_cart(db(), _user_id())
    flash(_("Your cart was emptied"))
    return redirect("/cart", 303)


@login_required
def show_wishlist() -> Any:
    """Show the wishlist."""
    page = paginate(cart.count_wishlist(db(), _user_id()), _WISHLIST_SIZE)
    items = cart.wishlist_page(db(), _user_id(), offset=page.offset, limit=page.size)
    return render_template("ministore/wishlist.html", items=items, page=page)


@login_required
def wish() -> Response:
    """Put a product on the wishlist."""
    product = _sent_product()
    cart.add_to_wishlist(
        db(), user_id=_user_id(), product_id=product.id, now=current_runtime().clock.now()
    )
    flash(_("The product was added to your wishlist"))
    return redirect("/wishlist", 303)


@login_required
def unwish() -> Response:
    """Take a product off the wishlist."""
    product = _sent_product()
    cart.remove_from_wishlist(db(), user_id=_user_id(), product_id=product.id)
    flash(_("The product was removed from your wishlist"))
    return redirect("/wishlist", 303)


@login_required
def move() -> Response:
    """Move one unit of a product from the wishlist to the cart."""
    product = _sent_product()
    try:
        cart.move_to_cart(
            db(), user_id=_user_id(), product=product, now=current_runtime().clock.now()
        )
    except QuantityProblem as problem:
        flash(_quantity_error(problem), "alert")
        return redirect("/wishlist", 303)
    flash(_("The product was moved to your cart"))
    return redirect("/cart", 303)


def _render_cart(forms: dict[int, Form]) -> str:
    lines = cart.cart_lines(db(), _user_id())
    faulty = next(iter(forms.values()), None)
    return render_template(
        "ministore/cart.html",
        lines=lines,
        forms={line.id: forms.get(line.id) or _line_form(line.id, line.qty) for line in lines},
        form=faulty or Form("cart_update"),
        totals=cart.cart_totals(lines),
    )


def _line_form(line_id: int, qty: int) -> Form:
    quantity = Field(
        "qty", _("Quantity"), value=format_integer(qty, current_language()), inputmode="numeric",
        direction="ltr", required=_("Enter a whole number"),
    )  # fmt: skip
    return Form(f"line-{line_id}", [quantity])


def _read_quantity(form: Form) -> int | None:
    if form.errors:
        return None
    try:
        return parse_whole(form.value("qty"), current_language(), allow_sign=True)
    except NumberProblem:
        form.add_error("qty", _("Enter a whole number"))
        return None


def _quantity_error(problem: QuantityProblem) -> str:
    language = current_language()
    if problem.kind == "too_few":
        return _("Quantity must be at least 1")
    if problem.kind == "too_many":
        return _("At most %(n)s per order", n=format_integer(MAX_QTY, language))
    return _("Only %(n)s in stock", n=format_integer(problem.available, language))


def _sent_product() -> Product:
    found = catalog.get_product(db(), request.form.get("sku", "")[:10])
    if found is None:
        abort(404)
    return found


def _user_id() -> int:
    user = current_user()
    if user is None:
        abort(403)
    user_id: int = user.id
    return user_id
