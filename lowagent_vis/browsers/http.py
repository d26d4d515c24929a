"""Fetches pages with one session, in process or over HTTP, and draws nothing."""

from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin

import httpx

from lowagent_vis.browsers.addresses import (
    display_address,
    encode_address,
    encode_fields,
    is_harness_path,
    own_address,
)
from lowagent_vis.browsers.base import Request, Response
from lowagent_vis.browsers.wsgi import WsgiTransport
from lowagent_vis.errors import ActionError, HarnessError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from lowagent_vis.browsers.rendering import Rendering
    from lowagent_vis.page import Page

MAX_REDIRECTS = 10
_TIMEOUT_S = 30.0
_SERVER_ERROR = 500
_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class HttpBrowser:
    """A session with one site: one cookie jar, redirects followed inside the site only.

    Args:
        base_url: `scheme://host[:port]` of the site.
        wsgi: The site in this process; without it requests go over HTTP to `base_url`.
    """

    def __init__(self, *, base_url: str, wsgi: "WSGIApplication | None" = None) -> None:
        self._origin = base_url.rstrip("/")
        transport = WsgiTransport(wsgi) if wsgi is not None else None
        self._client = httpx.Client(
            transport=transport,
            base_url=self._origin,
            timeout=_TIMEOUT_S,
            trust_env=False,
            headers={"Accept": "text/html", "Accept-Encoding": "identity"},
        )

    def __enter__(self) -> Self:
        """Use the session in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the session."""
        self.close()

    def send(self, request: Request) -> Response:
        """Send a request and follow its redirects inside the site.

        Raises:
            ActionError: The address is one that no agent may request, or holds no page.
            HarnessError: The site gave no answer, or redirects without end.
        """
        method, path, fields = request.method, request.path, request.fields
        referer = request.referer
        exchanges: list[tuple[str, str, int]] = []
        for _hop in range(MAX_REDIRECTS + 1):
            if is_harness_path(path):
                raise ActionError("this address is not a page of this site")
            answer = self._exchange(method, path, fields, referer)
            exchanges.append((method, display_address(path), answer.status_code))
            location = answer.headers.get("location")
            if answer.status_code not in _REDIRECTS or location is None:
                _check_is_page(answer, path)
                return Response(
                    answer.status_code, display_address(path), answer.content, tuple(exchanges)
                )
            target = urljoin(f"{self._origin}{path}", location)
            own = own_address(target, origin=self._origin)
            if own is None:
                return Response(
                    answer.status_code, display_address(path), b"", tuple(exchanges), target
                )
            path = encode_address(own)
            if answer.status_code in {301, 302, 303}:
                method, fields = "GET", ()
        raise HarnessError(f"{request.path} redirects more than {MAX_REDIRECTS} times")

    def render(self, page: "Page") -> "Rendering | None":
        """Draw nothing."""
        return None

    def set_cookie(self, name: str, value: str) -> None:
        """Put a cookie into the session."""
        self._client.cookies.set(name, value)

    def close(self) -> None:
        """End the session."""
        self._client.close()

    def _exchange(
        self, method: str, path: str, fields: tuple[tuple[str, str], ...], referer: str | None
    ) -> httpx.Response:
        headers = {"Referer": f"{self._origin}{referer}"} if referer else {}
        content = None
        if method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            content = encode_fields(fields).encode()
        try:
            return self._client.request(method, path, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise HarnessError(f"{method} {path} got no answer: {error}") from error


def _check_is_page(answer: httpx.Response, path: str) -> None:
    kind = answer.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    if kind not in _PAGE_TYPES and answer.status_code < _SERVER_ERROR:
        raise ActionError(f"{display_address(path)} is a file ({kind}), not a page")
