"""The catalogue: grids of products with filters and sorting, reviews, questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.orm import Session, joinedload, selectinload

from lowagent_sites.common.text import like_pattern
from lowagent_sites.ministore.models import (
    Answer,
    Brand,
    Category,
    Product,
    Question,
    Review,
)

GRID_SIZE = 12
REVIEW_SIZE = 10
QUESTION_SIZE = 10
SORTS = ("featured", "price_asc", "price_desc", "rating", "reviews", "newest")
RATINGS: Mapping[str, Decimal] = {"4.5": Decimal("4.5"), "4": Decimal(4), "3": Decimal(3)}
REVIEW_SORTS = ("helpful", "newest", "oldest", "stars_desc", "stars_asc")
QUESTION_SORTS = ("newest", "most_answers")
_HASH_STEP = 7919
_HASH_MODULUS = 10007


@dataclass(frozen=True)
class Filters:
    """What a grid of products is restricted to; None does not restrict.

    Attributes:
        tokens: Each must begin a word of the product's searchable text.
        rating: Lowest average of the stars.
    """

    category_id: int | None = None
    brand_id: int | None = None
    tokens: tuple[str, ...] = ()
    min_cents: int | None = None
    max_cents: int | None = None
    rating: Decimal | None = None
    in_stock: bool = False

    @property
    def is_empty_range(self) -> bool:
        """Whether no price can lie between the bounds."""
        return (
            self.min_cents is not None
            and self.max_cents is not None
            and self.min_cents > self.max_cents
        )

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions in SQL."""
        found: list[ColumnElement[bool]] = [
            Product.search_text.like(like_pattern(token), escape="\\") for token in self.tokens
        ]
        if self.category_id is not None:
            found.append(Product.category_id == self.category_id)
        if self.brand_id is not None:
            found.append(Product.brand_id == self.brand_id)
        if self.min_cents is not None:
            found.append(Product.price_cents >= self.min_cents)
        if self.max_cents is not None:
            found.append(Product.price_cents <= self.max_cents)
        if self.rating is not None:
            tenths = int(self.rating * 10)
            found.append(
                and_(
                    Product.rating_count > 0,
                    Product.rating_sum * 10 >= tenths * Product.rating_count,
                )
            )
        if self.in_stock:
            found.append(Product.stock > 0)
        return found


@dataclass(frozen=True)
class Facet:
    """A value that a grid can be restricted to, and how many products have it."""

    id: int
    slug: str
    name: str
    count: int


def count_products(session: Session, filters: Filters) -> int:
    """Return how many products pass."""
    if filters.is_empty_range:
        return 0
    query = select(func.count()).select_from(Product).where(*filters.conditions())
    return session.scalar(query) or 0


def find_products(
    session: Session, filters: Filters, *, sort: str, offset: int, limit: int
) -> Sequence[Product]:
    """Return a part of the products that pass, in the order `sort`."""
    if filters.is_empty_range:
        return []
    ids = (
        select(Product.id)
        .where(*filters.conditions())
        .order_by(*_order(sort, filters))
        .offset(offset)
        .limit(limit)
    )
    return load_products(session, session.scalars(ids).all())


def load_products(session: Session, ids: Sequence[int]) -> Sequence[Product]:
    """Return products with brand and photos, in the order of their ids."""
    rows = session.scalars(
        select(Product)
        .where(Product.id.in_(ids))
        .options(joinedload(Product.brand), selectinload(Product.photos))
    )
    by_id = {product.id: product for product in rows}
    return [by_id[product_id] for product_id in ids]


def get_product(session: Session, sku: str) -> Product | None:
    """Return a product with all that its page shows of it."""
    return session.scalar(
        select(Product)
        .where(Product.sku == sku)
        .options(
            joinedload(Product.brand),
            joinedload(Product.category),
            selectinload(Product.photos),
        )
    )


def similar_products(session: Session, product: Product, limit: int) -> Sequence[Product]:
    """Return other products of the same kind, the same ones every time."""
    ids = session.scalars(
        select(Product.id)
        .where(Product.ptype == product.ptype, Product.id != product.id)
        .order_by((Product.id * _HASH_STEP + product.id) % _HASH_MODULUS, Product.id)
        .limit(limit)
    ).all()
    return load_products(session, ids)


def deals(session: Session, limit: int) -> Sequence[Product]:
    """Return products on deal that are in stock, the same ones every time."""
    ids = session.scalars(
        select(Product.id)
        .where(Product.was_cents.is_not(None), Product.stock > 0)
        .order_by(_shuffle(), Product.id)
        .limit(limit)
    ).all()
    return load_products(session, ids)


def top_rated(session: Session, limit: int) -> Sequence[Product]:
    """Return the best rated products with eight reviews or more."""
    ids = session.scalars(
        select(Product.id)
        .where(Product.rating_count >= 8)
        .order_by(*_by_rating(), Product.id)
        .limit(limit)
    ).all()
    return load_products(session, ids)


def categories(session: Session) -> Sequence[Facet]:
    """Return the categories that have products."""
    return _facets(session, Category, Product.category_id, Category.position)


def brands(session: Session, *, category_id: int | None = None) -> Sequence[Facet]:
    """Return the brands that have products, A to Z."""
    where = () if category_id is None else (Product.category_id == category_id,)
    return _facets(session, Brand, Product.brand_id, Brand.name, *where)


def category_facets(session: Session, filters: Filters) -> Sequence[Facet]:
    """Return the categories of the products that pass."""
    return _facets(session, Category, Product.category_id, Category.position, *filters.conditions())


def review_histogram(session: Session, product_id: int) -> Mapping[int, int]:
    """Return how many reviews gave 5, 4, 3, 2, 1 stars."""
    rows = session.execute(
        select(Review.stars, func.count())
        .where(Review.product_id == product_id)
        .group_by(Review.stars)
    )
    counts: dict[int, int] = {row[0]: row[1] for row in rows}
    return {stars: counts.get(stars, 0) for stars in (5, 4, 3, 2, 1)}


def reviews_page(
    session: Session, product_id: int, *, stars: int | None, sort: str, offset: int, limit: int
) -> Sequence[Review]:
    """Return a part of a product's reviews."""
    orders: Mapping[str, tuple[Any, ...]] = {
        "helpful": (Review.helpful_count.desc(),),
        "newest": (Review.created_at.desc(),),
        "oldest": (Review.created_at,),
        "stars_desc": (Review.stars.desc(), Review.helpful_count.desc()),
        "stars_asc": (Review.stars, Review.helpful_count.desc()),
    }
    query = select(Review).where(Review.product_id == product_id)
    if stars is not None:
        query = query.where(Review.stars == stars)
    query = query.order_by(*orders[sort], Review.id).offset(offset).limit(limit)
    return session.scalars(query.options(joinedload(Review.user))).all()


def questions_page(
    session: Session, product_id: int, *, sort: str, offset: int, limit: int
) -> Sequence[tuple[Question, int]]:
    """Return a part of a product's questions, each with its number of answers."""
    count = func.count(Answer.id)
    first = count.desc() if sort == "most_answers" else Question.created_at.desc()
    query = (
        select(Question, count)
        .outerjoin(Answer, Answer.question_id == Question.id)
        .where(Question.product_id == product_id)
        .group_by(Question.id)
        .order_by(first, Question.created_at.desc(), Question.id)
        .offset(offset)
        .limit(limit)
        .options(joinedload(Question.user))
    )
    return [(row[0], row[1]) for row in session.execute(query)]


def count_questions(session: Session, product_id: int) -> int:
    """Return how many questions a product has."""
    query = select(func.count()).select_from(Question).where(Question.product_id == product_id)
    return session.scalar(query) or 0


def question_answers(session: Session, question_id: int) -> Sequence[Answer]:
    """Return the answers to a question, the most helpful first, then the oldest."""
    return session.scalars(
        select(Answer)
        .where(Answer.question_id == question_id)
        .order_by(Answer.helpful_count.desc(), Answer.created_at, Answer.id)
        .options(joinedload(Answer.user))
    ).all()


def _facets(
    session: Session, model: type[Any], key: Any, order: Any, *where: ColumnElement[bool]
) -> Sequence[Facet]:
    rows = session.execute(
        select(model.id, model.slug, model.name, func.count())
        .join(Product, key == model.id)
        .where(*where)
        .group_by(model.id)
        .order_by(order, model.id)
    )
    return [Facet(*row) for row in rows]


def _order(sort: str, filters: Filters) -> Sequence[Any]:
    by_sort: Mapping[str, Sequence[Any]] = {
        "featured": [Product.was_cents.is_(None), _shuffle()],
        "price_asc": [Product.price_cents],
        "price_desc": [Product.price_cents.desc()],
        "rating": _by_rating(),
        "reviews": [Product.rating_count.desc()],
        "newest": [Product.created_on.desc()],
    }
    relevance = _by_relevance(filters.tokens) if filters.tokens and sort == "featured" else []
    return [*relevance, *by_sort[sort], Product.id]


def _by_relevance(tokens: Sequence[str]) -> list[Any]:
    """All words of the query in the name first, then names that begin with the query."""
    in_title = and_(
        *(Product.search_title.like(like_pattern(token), escape="\\") for token in tokens)
    )
    start = like_pattern(" ".join(tokens)).removeprefix("%")
    begins = Product.search_title.like(start, escape="\\")
    return [case((in_title, 0), else_=1), case((begins, 0), else_=1)]


def _by_rating() -> list[Any]:
    """Unrounded average, then number of reviews; products without reviews come last."""
    average = Product.rating_sum * 1.0 / func.nullif(Product.rating_count, 0)
    return [Product.rating_count == 0, average.desc(), Product.rating_count.desc()]


def _shuffle() -> Any:
    return (Product.id * _HASH_STEP) % _HASH_MODULUS
