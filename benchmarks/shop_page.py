"""A generated shop page of realistic size and shape, for benchmarks that need no site."""

import random

_WORDS = {
    "Latin": "steel kettle small wooden spoon blue glass bottle large round oven tray set",
    "Bengali": "স্টিল কেটলি ছোট কাঠের চামচ নীল কাচের বোতল বড় গোল ট্রে সেট রান্নাঘর",
    "Arabic": "اسٹیل کیتلی چھوٹا لکڑی چمچ نیلی شیشے بوتل بڑا گول ٹرے سیٹ باورچی",
}


def shop_page(script: str = "Latin", *, cards: int = 24, facts: int = 60, seed: int = 7) -> bytes:
    """Return a page with a header, filters, product cards, a table, reviews and a footer.

    Args:
        script: Whose words fill the page: `Latin`, `Bengali` or `Arabic`.
        cards: How many product cards.
        facts: How many rows of the table, and of reviews.
        seed: Two calls with equal arguments return equal bytes.
    """
    draw = random.Random(seed)
    words = _WORDS[script].split()

    def text(count: int) -> str:
        return " ".join(draw.choice(words) for _ in range(count))

    def card(index: int) -> str:
        return (
            f'<li class="card"><a class="card__photo" href="/p/P{index:05d}"><img src="/media/'
            f'{index:024d}.jpg" alt="Photo 1 of 1" width="220" height="220"></a>\n'
            f'  <h3 class="card__title"><a class="card__link" href="/p/P{index:05d}">{text(5)}</a>'
            f'</h3>\n  <p class="card__brand"><span class="muted">{text(1)}</span></p>\n'
            f'  <p class="price"><bdi dir="ltr">$ {index}.90</bdi> <s><bdi dir="ltr">$ {index + 9}'
            f'.90</bdi></s></p>\n  <p class="rating"><span>4.3 out of 5</span> '
            f'<span class="muted">({index})</span></p>\n'
            f'  <p class="stock"><span class="badge badge--ok">in_stock</span></p></li>\n'
        )

    def row() -> str:
        return f'<tr><th scope="row">{text(2)}</th><td>{text(4)}</td><td>{text(3)}</td></tr>\n'

    def review(index: int) -> str:
        return (
            f'<article class="review"><h3>{text(4)}</h3><p class="review__meta"><bdi>user{index}'
            f'</bdi> · <time datetime="2026-05-0{index % 9 + 1}"><bdi dir="ltr">2026-05-01</bdi>'
            f'</time></p><div class="review__body"><p>{text(30)}.</p></div>'
            f'<form method="post" action="/r/{index}/helpful" name="helpful" '
            f'aria-label="{text(2)}">'
            f'<input type="hidden" name="csrf_token" value="{"a" * 40}">'
            f'<input type="hidden" name="value" value="1"><button type="submit">{text(1)}</button>'
            f"</form></article>\n"
        )

    options = "".join(f'<option value="c{i}">{text(2)}</option>' for i in range(12))
    return (
        f'<!DOCTYPE html>\n<html lang="x" dir="ltr"><head><meta charset="utf-8"><title>{text(3)}'
        '</title><link rel="stylesheet" href="/static/common/base.css"></head>\n<body>\n'
        '<a class="skip" href="#main">Skip</a>\n<header><a class="logo" href="/">Shop</a>'
        '<form method="get" action="/search" name="search" aria-label="Search">'
        f'<label for="q">{text(1)}</label><input id="q" name="q" type="text" dir="auto">'
        f'<label for="c">{text(1)}</label><select id="c" name="category">{options}</select>'
        f"<button>{text(1)}</button></form></header>\n<nav><ul>"
        + "".join(f'<li><a href="/c/{i}">{text(2)}</a></li>' for i in range(12))
        + f'</ul></nav><main id="main"><h1>{text(4)}</h1>\n<ul class="cards">'
        + "".join(card(i) for i in range(cards))
        + "</ul><table><caption>Facts</caption><tbody>"
        + "".join(row() for _ in range(facts))
        + "</tbody></table>"
        + "".join(review(i) for i in range(facts // 4))
        + "</main><footer><ul>"
        + "".join(f'<li><a href="/help/{i}">{text(2)}</a></li>' for i in range(6))
        + "</ul><p>Today: <bdi>2026-06-15 10:00</bdi></p></footer></body></html>\n"
    ).encode()
