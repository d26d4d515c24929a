"""One-time names repeat with a key and are random without; the clock stands still."""

import re
from datetime import date, datetime

from lowagent_sites.common.clock import Clock
from lowagent_sites.common.tokens import TokenSource


def test_the_same_key_gives_the_same_names_in_the_same_order() -> None:
    one, other = (
        TokenSource(b"run/ministore.bn.MS-T017.r1"),
        TokenSource(b"run/ministore.bn.MS-T017.r1"),
    )
    assert [one.next("sid") for _ in range(3)] == [other.next("sid") for _ in range(3)]


def test_names_differ_by_key_purpose_and_turn() -> None:
    source = TokenSource(b"a")
    names = [source.next("sid"), source.next("sid"), source.next("form_id")]
    names.append(TokenSource(b"b").next("sid"))
    assert len(set(names)) == 4
    assert all(re.fullmatch("[a-z2-7]{24}", name) for name in names)


def test_a_reset_starts_again_from_the_first_name() -> None:
    source = TokenSource(b"a")
    first = source.next("sid")
    source.next("sid")
    source.reset()
    assert source.next("sid") == first


def test_without_a_key_names_are_random() -> None:
    assert TokenSource(None).next("sid") != TokenSource(None).next("sid")


def test_the_clock_stands_still_on_a_monday() -> None:
    assert Clock().now() == datetime(2026, 6, 15, 10, 0, 0)
    assert Clock().today() == date(2026, 6, 15)
    assert Clock().today().isoweekday() == 1
