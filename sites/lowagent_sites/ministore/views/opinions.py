"""Reviews and questions, to read."""

from typing import Any

from flask import Blueprint, abort, render_template
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from lowagent_sites.common.forms import Choice, Field, Form
from lowagent_sites.common.i18n import gettext as _
from lowagent_sites.common.i18n import ngettext
from lowagent_sites.common.listing import choice, paginate
from lowagent_sites.common.numbers import format_integer
from lowagent_sites.common.runtime import current_language, db
from lowagent_sites.ministore.models import Product, Question, Review
from lowagent_sites.ministore.services import catalog

_STARS = ("5", "4", "3", "2", "1")


def create_blueprint() -> Blueprint:
    """Return the pages of reviews and questions."""
    opinions = Blueprint("opinions", __name__)
    opinions.add_url_rule("/p/<sku>/reviews", view_func=reviews)
    opinions.add_url_rule("/review/<int(max=2147483647):review_id>", view_func=review)
    opinions.add_url_rule("/p/<sku>/qa", view_func=questions)
    opinions.add_url_rule("/q/<int(max=2147483647):question_id>", view_func=question)
    return opinions


def reviews(sku: str) -> Any:
    """Show a product's reviews."""
    product = _product(sku)
    stars = choice("stars", _STARS, "")
    sort = choice("sort", catalog.REVIEW_SORTS, "helpful")
    histogram = catalog.review_histogram(db(), product.id)
    total = histogram[int(stars)] if stars else sum(histogram.values())
    page = paginate(total, catalog.REVIEW_SIZE)
    return render_template(
        "ministore/reviews.html",
        product=product,
        histogram=histogram,
        page=page,
        form=_reviews_form(stars, sort),
        reviews=catalog.reviews_page(
            db(), product.id, stars=int(stars) if stars else None, sort=sort,
            offset=page.offset, limit=page.size,
        ),
    )  # fmt: skip


def review(review_id: int) -> Any:
    """Show one review."""
    found = db().scalar(
        select(Review)
        .where(Review.id == review_id)
        .options(joinedload(Review.user), joinedload(Review.product))
    )
    if found is None:
        abort(404)
    return render_template("ministore/review.html", review=found, product=found.product)


def questions(sku: str) -> Any:
    """Show a product's questions."""
    product = _product(sku)
    sort = choice("sort", catalog.QUESTION_SORTS, "newest")
    page = paginate(catalog.count_questions(db(), product.id), catalog.QUESTION_SIZE)
    form = Form(
        "qa_sort",
        [
            Field(
                "sort", _("Sort by"), kind="select", value=sort,
                choices=[
                    Choice("newest", _("Newest first")),
                    Choice("most_answers", _("Most answers")),
                ],
            )
        ],
    )  # fmt: skip
    return render_template(
        "ministore/questions.html",
        product=product,
        page=page,
        form=form,
        questions=catalog.questions_page(
            db(), product.id, sort=sort, offset=page.offset, limit=page.size
        ),
    )


def question(question_id: int) -> Any:
    """Show a question with its answers."""
    found = db().scalar(
        select(Question)
        .where(Question.id == question_id)
        .options(joinedload(Question.user), joinedload(Question.product))
    )
    if found is None:
        abort(404)
    return render_template(
        "ministore/question.html",
        question=found,
        product=found.product,
        answers=catalog.question_answers(db(), question_id),
    )


def _product(sku: str) -> Product:
    found = catalog.get_product(db(), sku)
    if found is None:
        abort(404)
    return found


def _reviews_form(stars: str, sort: str) -> Form:
    language = current_language()
    star_choices = [
        Choice(s, ngettext("%(n)s star", "%(n)s stars", int(s), n=format_integer(int(s), language)))
        for s in _STARS
    ]
    return Form(
        "reviews_filter",
        [
            Field("stars", _("Stars"), kind="select", value=stars,
                  choices=[Choice("", _("All")), *star_choices]),
            Field("sort", _("Sort by"), kind="select", value=sort,
                  choices=[
                      Choice("helpful", _("Most helpful")),
                      Choice("newest", _("Newest first")),
                      Choice("oldest", _("Oldest first")),
                      Choice("stars_desc", _("Most stars")),
                      Choice("stars_asc", _("Fewest stars")),
                  ]),
        ],
    )  # fmt: skip
