"""Reads a text observation back: its address, text, links and forms.

The agents of this package see nothing but an observation's text, so what they can do a model
can do as well.
"""

import re
from dataclasses import dataclass

_LINK = re.compile(r"^\[(\d+)\] (.*?)(?: -> (/\S*))?$")
_FORM = re.compile(r"^\[(\d+)\] (\S+)(?: \((.*)\))?$")
_DISRUPTION_PREFIX = "/n/"


@dataclass(frozen=True)
class ObservedLink:
    """A numbered link: its number, label and target (empty when targets are hidden)."""

    number: int
    label: str
    target: str


@dataclass(frozen=True)
class ObservedForm:
    """A numbered form: its number, name and accessible label."""

    number: int
    name: str
    label: str


@dataclass(frozen=True)
class Observed:
    """The parts of a text observation that actions refer to."""

    url: str
    text: str
    links: tuple[ObservedLink, ...]
    forms: tuple[ObservedForm, ...]

    @property
    def is_disruption(self) -> bool:
        """Whether the page interrupts: every link leads to a one-time address, no form."""
        return (
            bool(self.links)
            and not self.forms
            and all(link.target.startswith(_DISRUPTION_PREFIX) for link in self.links)
        )


def read_observation(text: str) -> Observed:
    """Split a text observation (the shape is `Page.to_text`'s) at its headings.

    The text of a page may itself hold a line `LINKS:`; the headings proper are the last ones.
    """
    head, _, rest = text.rpartition("\nLINKS:\n")
    links, _, forms = rest.rpartition("\nFORMS:\n")
    top, _, body = head.partition("\nTEXT:\n")
    return Observed(
        url=top.partition("\n")[0].removeprefix("URL: "),
        text=body,
        links=tuple(_links(links)),
        forms=tuple(_forms(forms)),
    )


def _links(section: str) -> list[ObservedLink]:
    matches = (_LINK.match(line) for line in section.split("\n"))
    return [ObservedLink(int(m[1]), m[2], m[3] or "") for m in matches if m]


def _forms(section: str) -> list[ObservedForm]:
    matches = (_FORM.match(line) for line in section.split("\n"))
    return [ObservedForm(int(m[1]), m[2], m[3] or "") for m in matches if m]
