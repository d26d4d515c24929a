"""What a browser is to the harness: it sends one request and may draw the page it got."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lowagent_vis.browsers.rendering import Rendering
    from lowagent_vis.page import Page

HARNESS_PREFIX = "/__"
"""Paths that belong to the harness; no browser of an agent requests them."""


@dataclass(frozen=True)
class Request:
    """One request of the agent.

    Attributes:
        method: `GET` or `POST`.
        path: Path and query, percent-encoded ASCII.
        fields: Names and values of a POST form, in document order.
        referer: Path and query of the page that holds the link or form.
    """

    method: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()
    referer: str | None = None


@dataclass(frozen=True)
class Response:
    """What came of a request, after its redirects.

    Attributes:
        status: HTTP status of the last answer.
        url: Path and query of the last answer, non-ASCII characters percent-decoded.
        html: Body of the last answer; empty when the site was left.
        exchanges: Method, path and status of every request sent, in order.
        left_site: Where a redirect to another origin points; nothing was sent there.
    """

    status: int
    url: str
    html: bytes
    exchanges: tuple[tuple[str, str, int], ...] = ()
    left_site: str | None = None


class Browser(Protocol):
    """Fetches pages of one world with one session and, perhaps, draws them."""

    def send(self, request: Request) -> Response:
        """Send `request`, follow redirects inside the site, return the last answer.

        Raises:
            ActionError: The address is not one of the site's pages.
            HarnessError: The site gave no answer.
        """

    def render(self, page: "Page") -> "Rendering | None":
        """Draw a page that was fetched; None where this browser does not draw."""

    def close(self) -> None:
        """Release the session; a shared renderer stays open."""
