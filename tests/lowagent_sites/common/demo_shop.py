"""A tiny shop over the demo's tables, with pages that keep and pages that break the rules."""

from collections.abc import Iterator

from flask import Flask, Response, abort, request, stream_with_context
from sqlalchemy import select
from sqlalchemy.orm import Session

from lowagent_sites.common.runtime import Runtime
from tests.lowagent_sites.common.demo_database import Counter, Item, Order


def runtime() -> Runtime:
    """Return the runtime that the world or server has put into the request."""
    current: Runtime = request.environ["lowagent_sites.runtime"]
    return current


def stock(sku: str) -> str:
    """Show the stock of an item."""
    with runtime().database.session() as session:
        item = session.scalars(select(Item).where(Item.sku == sku)).one_or_none()
        return str(item.stock) if item else abort(404)


def buy(sku: str) -> tuple[str, int]:
    """Sell one piece, under an order number that counts up."""
    database = runtime().database
    with database.session() as session:
        database.begin_write(session)
        item = session.scalars(select(Item).where(Item.sku == sku)).one()
        if item.stock == 0:
            return "sold out", 409
        item.stock -= 1
        counter = session.get_one(Counter, "order")
        counter.value += 1
        session.add(Order(buyer=request.form.get("buyer", "")))
        session.commit()
        return f"order {counter.value}", 200


def token() -> str:
    """Show a token that looks random."""
    return runtime().tokens.next("demo")


def now() -> str:
    """Show the clock and the epoch."""
    return f"{runtime().clock.now().isoformat()} {runtime().epoch}"


def stream() -> Response:
    """Read the database only while the answer is being read."""

    def chunks() -> Iterator[str]:
        with runtime().database.session() as session:
            yield "stock "
            yield str(session.scalar(select(Item.stock).where(Item.sku == "P001")))

    return Response(stream_with_context(chunks()))


def fail() -> str:
    """Fail as no page should."""
    raise RuntimeError("the shop is broken")


def commit() -> str:
    """End the world's transaction, which is forbidden."""
    with runtime().database.raw() as connection:
        connection.execute("COMMIT")
    return "committed"


def leak() -> str:
    """Leave a session open, which is forbidden."""
    session = runtime().database.session()
    session.scalar(select(1))
    _left_open.append(session)
    return "left open"


_left_open: list[Session] = []


def demo_shop() -> Flask:
    """Return the shop; it takes the runtime from the WSGI environment."""
    app = Flask("demo_shop")
    app.add_url_rule("/stock/<sku>", view_func=stock)
    app.add_url_rule("/buy/<sku>", view_func=buy, methods=["POST"])
    app.add_url_rule("/commit", view_func=commit, methods=["POST"])
    for view in (token, now, stream, fail, leak):
        app.add_url_rule(f"/{view.__name__}", view_func=view)
    return app
