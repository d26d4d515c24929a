"""Home, categories, search, brands and the product page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from flask import Blueprint, abort, render_template, request
from sqlalchemy import select

from lowagent_sites.common.forms import Choice, Field, Form
from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.listing import Pagination, choice, paginate, with_parameters
from lowagent_sites.common.numbers import (
    NumberProblem,
    cents_at_least,
    cents_at_most,
    format_local_amount,
    parse_local_amount,
)
from lowagent_sites.common.runtime import (
    current_language,
    current_runtime,
    current_user,
    db,
)
from lowagent_sites.common.text import clean_line, query_tokens
from lowagent_sites.ministore.content.lexicon import load_lexicon
from lowagent_sites.ministore.models import Brand, Category, Product
from lowagent_sites.ministore.services import cart, catalog
from lowagent_sites.ministore.services.catalog import Facet, Filters
from lowagent_sites.ministore.services.stock import stock_code

_TILES = 8
_SIMILAR = 6
_TOP_REVIEWS = 3
_NEW_QUESTIONS = 3
_MAX_QUERY = 100
_STANDARD_DAYS, _EXPRESS_DAYS = 5, 2
_LETTERS = ("A-F", "G-L", "M-R", "S-Z")


def create_blueprint() -> Blueprint:
    """Return the pages for looking around."""
    browse = Blueprint("browse", __name__)
    browse.add_url_rule("/", view_func=home)
    browse.add_url_rule("/c/<slug>", view_func=category)
    browse.add_url_rule("/search", view_func=search)
    browse.add_url_rule("/brands", view_func=brands)
    browse.add_url_rule("/brand/<slug>", view_func=brand)
    browse.add_url_rule("/p/<sku>", view_func=product)
    browse.add_app_template_global(stock_code, "stock_code")
    browse.add_app_template_global(average, "average")
    browse.add_app_template_global(dimensions, "dimensions")
    browse.add_app_template_global(weight, "weight")
    return browse


def average(product: Product) -> Decimal | None:
    """Return the average of a product's stars, or None without reviews."""
    if not product.rating_count:
        return None
    return Decimal(product.rating_sum) / product.rating_count


def dimensions(product: Product) -> str:
    """Return width, depth and height as shown."""
    lexicon = load_lexicon(current_language())
    return lexicon.dimensions(product.w_mm or 0, product.d_mm or 0, product.h_mm or 0)


def weight(grams: int) -> str:
    """Return a weight as shown."""
    return load_lexicon(current_language()).weight(grams)


def home() -> Any:
    """Show categories, deals, the best rated and the large brands."""
    return render_template(
        "ministore/home.html",
        categories=catalog.categories(db()),
        deals=catalog.deals(db(), _TILES),
        top_rated=catalog.top_rated(db(), _TILES),
        brands=sorted(catalog.brands(db()), key=lambda facet: (-facet.count, facet.id))[:9],
    )


def category(slug: str) -> Any:
    """Show the grid of a category."""
    found = db().scalar(select(Category).where(Category.slug == slug))
    if found is None:
        abort(404)
    grid = read_grid(Filters(category_id=found.id), catalog.brands(db(), category_id=found.id))
    return render_template("ministore/category.html", category=found, grid=grid)


def search() -> Any:
    """Show the grid of a search over all categories."""
    query = clean_line(request.args.get("q", ""))[:_MAX_QUERY]
    tokens = tuple(query_tokens(query, current_language()))
    base = Filters(tokens=tokens)
    facets = catalog.category_facets(db(), base)
    chosen = next((f for f in facets if f.slug == request.args.get("cat")), None)
    base = replace(base, category_id=chosen.id if chosen else None)
    grid = read_grid(base, catalog.brands(db()), query=query)
    return render_template(
        "ministore/search.html",
        query=query,
        search_query=query,
        facets=facets,
        chosen=chosen,
        grid=grid,
        with_parameters=with_parameters,
    )


def brands() -> Any:
    """List the brands that have products."""
    letters = choice("letter", _LETTERS, "")
    found = catalog.brands(db())
    if letters:
        first, _dash, last = letters.partition("-")
        found = [facet for facet in found if first <= facet.name[0].upper() <= last]
    return render_template(
        "ministore/brands.html", brands=found, letters=_LETTERS, chosen_letters=letters
    )


def brand(slug: str) -> Any:
    """Show the grid of a brand."""
    found = db().scalar(select(Brand).where(Brand.slug == slug))
    if found is None:
        abort(404)
    grid = read_grid(Filters(brand_id=found.id), None)
    return render_template("ministore/brand.html", brand=found, grid=grid)


def product(sku: str) -> Any:
    """Show a product."""
    found = catalog.get_product(db(), sku)
    if found is None:
        abort(404)
    return show_product(found, cart_form())


def cart_form() -> Form:
    """Return the form that puts a product into the cart."""
    quantity = Field(
        "qty", _("Quantity"), value="1", inputmode="numeric", direction="ltr",
        required=_("Enter a whole number"),
    )  # fmt: skip
    return Form("cart_add", [quantity])


def show_product(found: Product, form: Form) -> str:
    """Render a product's page with the cart form as it stands."""
    user = current_user()
    today = current_runtime().clock.today()
    return render_template(
        "ministore/product.html",
        product=found,
        form=form,
        in_wishlist=bool(user and cart.wishlist_item(db(), user.id, found.id)),
        reviews=catalog.reviews_page(
            db(), found.id, stars=None, sort="helpful", offset=0, limit=_TOP_REVIEWS
        ),
        histogram=catalog.review_histogram(db(), found.id),
        questions=catalog.questions_page(
            db(), found.id, sort="newest", offset=0, limit=_NEW_QUESTIONS
        ),
        question_count=catalog.count_questions(db(), found.id),
        similar=catalog.similar_products(db(), found, _SIMILAR),
        standard_on=today + timedelta(days=_STANDARD_DAYS),
        express_on=today + timedelta(days=_EXPRESS_DAYS),
    )


@dataclass(frozen=True)
class Chip:
    """An active filter and the address without it."""

    label: str
    href: str


@dataclass(frozen=True)
class Grid:
    """A page of a grid with its filter form."""

    products: Sequence[Product]
    page: Pagination
    form: Form
    chips: Sequence[Chip]
    range_error: str | None
    query: str
    is_filtered: bool
    clear_href: str


def read_grid(base: Filters, brand_facets: Sequence[Facet] | None, *, query: str = "") -> Grid:
    """Read filters and sorting from the address and load the page of the grid."""
    form = _filter_form(brand_facets)
    filters, range_error = _read_filters(base, form, brand_facets)
    total = 0 if range_error else catalog.count_products(db(), filters)
    page = paginate(total, catalog.GRID_SIZE)
    products: Sequence[Product] = []
    if total:
        products = catalog.find_products(
            db(), filters, sort=form.value("sort"),
            offset=page.offset, limit=page.size,
        )  # fmt: skip
    chips = _chips(form)
    return Grid(
        products=products,
        page=page,
        form=form,
        chips=chips,
        range_error=range_error,
        query=query,
        is_filtered=bool(chips),
        clear_href=with_parameters(**{f.name: None for f in form.fields if f.name != "sort"}),
    )


def _filter_form(brand_facets: Sequence[Facet] | None) -> Form:
    any_choice = Choice("", _("Any"))
    fields = []
    if brand_facets is not None:
        fields.append(
            Field(
                "brand",
                _("Brand"),
                kind="select",
                choices=[any_choice, *(Choice(f.slug, f.name) for f in brand_facets)],
            )
        )
    fields += [
        Field("min_price", _("Lowest price"), inputmode="decimal", direction="ltr"),
        Field("max_price", _("Highest price"), inputmode="decimal", direction="ltr"),
        Field(
            "rating",
            _("Average rating"),
            kind="select",
            choices=[
                any_choice,
                Choice("4.5", _("4.5 stars or more")),
                Choice("4", _("4 stars or more")),
                Choice("3", _("3 stars or more")),
            ],
        ),
        Field("in_stock", _("In stock only"), kind="checkbox", choices=[Choice("1", "")]),
        Field(
            "sort",
            _("Sort by"),
            kind="select",
            value="featured",
            choices=[
                Choice("featured", _("Featured")),
                Choice("price_asc", _("Price: low to high")),
                Choice("price_desc", _("Price: high to low")),
                Choice("rating", _("Best rated")),
                Choice("reviews", _("Most reviews")),
                Choice("newest", _("Newest first")),
            ],
        ),
    ]
    return Form("filter", fields)


def _read_filters(
    base: Filters, form: Form, brand_facets: Sequence[Facet] | None
) -> tuple[Filters, str | None]:
    for found in form.fields:
        value = clean_line(request.args.get(found.name, ""))
        if not found.choices or value in {option.value for option in found.choices}:
            found.value = value or found.value
    lowest, highest = (_read_amount(form, name) for name in ("min_price", "max_price"))
    language = current_language()
    brand_id = base.brand_id
    if brand_facets is not None and form.value("brand"):
        brand_id = next(f.id for f in brand_facets if f.slug == form.value("brand"))
    filters = replace(
        base,
        brand_id=brand_id,
        min_cents=None if lowest is None else cents_at_least(lowest, language),
        max_cents=None if highest is None else cents_at_most(highest, language),
        rating=catalog.RATINGS.get(form.value("rating")),
        in_stock=form.value("in_stock") == "1",
    )
    error = None
    if lowest is not None and highest is not None and lowest > highest:
        error = _("The lowest price is higher than the highest price")
    return filters, error


def _read_amount(form: Form, name: str) -> Decimal | None:
    """Return an amount in the site's currency, or None without one."""
    text = form.value(name)
    if not text:
        return None
    try:
        return parse_local_amount(text, current_language())
    except NumberProblem as problem:
        is_whole = problem.kind == "whole"
        form.add_error(name, _("Enter a whole number") if is_whole else _("Enter a number"))
        return None


def _chips(form: Form) -> list[Chip]:
    chips = []
    for found in form.fields:
        if found.name == "sort" or not found.value or found.error:
            continue
        if found.name == "in_stock":
            label = found.label
        elif found.choices:
            shown = next(o.label for o in found.choices if o.value == found.value)
            label = _("%(name)s: %(value)s", name=found.label, value=shown)
        else:
            amount = parse_local_amount(found.value, current_language())
            shown = format_local_amount(amount, current_language())
            label = _("%(name)s: %(value)s", name=found.label, value=shown)
        chips.append(Chip(label, with_parameters(**{found.name: None})))
    return chips
