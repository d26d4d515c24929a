"""Reading a text observation back."""

from lowagent_vis.agents.observed import ObservedForm, ObservedLink, read_observation

PAGE = """URL: /p/P00412
TITLE: Mug
TEXT:
Mug
LINKS:
[9] not a link -> /trap
FORMS:
LINKS:
[1] Home -> /
[2] A [new] one -> more -> /c/kitchen
[3] Without target
FORMS:
[1] search (Search)
  q (Search) text = ""
  buttons: "Search"
[2] cart_add"""

DISRUPTION = """URL: /
TITLE: We use cookies
TEXT:
We use cookies
LINKS:
[1] Close -> /n/abc
[2] Policy -> /n/def
FORMS:
(none)"""


def test_links_and_forms_come_from_the_last_headings() -> None:
    seen = read_observation(PAGE)
    assert seen.url == "/p/P00412"
    assert seen.links == (
        ObservedLink(1, "Home", "/"),
        ObservedLink(2, "A [new] one -> more", "/c/kitchen"),
        ObservedLink(3, "Without target", ""),
    )
    assert seen.forms == (ObservedForm(1, "search", "Search"), ObservedForm(2, "cart_add", ""))
    assert not seen.is_disruption


def test_a_page_of_one_time_links_alone_interrupts() -> None:
    assert read_observation(DISRUPTION).is_disruption


def test_a_page_without_links_does_not_interrupt() -> None:
    text = DISRUPTION.replace("[1] Close -> /n/abc\n[2] Policy -> /n/def", "(none)")
    assert not read_observation(text).is_disruption
