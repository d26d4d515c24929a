"""Pages that say what went wrong, in the site's own layout (`common.md` 10)."""

import hashlib
import logging
from typing import Any, NoReturn
from urllib.parse import urlsplit

from flask import current_app, g, render_template, request
from sqlalchemy.exc import IntegrityError
from werkzeug.exceptions import HTTPException, InternalServerError
from werkzeug.routing import RequestRedirect

_INCIDENT_LENGTH = 12
_log = logging.getLogger(__name__)


class RefusedError(HTTPException):
    """A request that a rule of the site refuses; raise it by `refuse`."""

    def __init__(self, status: int, message: str, back: str | None) -> None:
        super().__init__(message)
        self.code = status
        self.back = back


def refuse(status: int, message: str, *, back: str | None = None) -> NoReturn:
    """End the request with an error page.

        refuse(409, _("This order can no longer be changed"), back=f"/orders/{order.id}")

    Args:
        status: 403, 404 or 409.
        message: The rule's own sentence, translated; it is the page's heading.
        back: Where the page's link leads; by default to the page that the request came from.

    Raises:
        RefusedError: Always.
    """
    raise RefusedError(status, message, back)


def show_http_error(error: HTTPException) -> Any:
    """Show the page of an HTTP error; a redirect that was raised is answered as it is."""
    if error.response is not None:
        return error.response
    if isinstance(error, InternalServerError):
        return show_fault(error.original_exception or error)
    if request.method == "POST":
        _roll_back()
    status = error.code or 500
    message = error.description if isinstance(error, RefusedError) else None
    back = getattr(error, "back", None)
    if back is None and status != 404:
        back = _nearest_page() if status == 405 else referring_page()
    return _render(status, message=message, back=back)


def show_conflict(error: IntegrityError) -> Any:
    """Show the page of a conflict that only the database noticed: two requests at once."""
    _log.warning("conflict: %s %s: %s", request.method, request.path, error.orig)
    _roll_back()
    return _render(409, back=referring_page())


def show_fault(error: BaseException) -> Any:
    """Show the page of a fault of ours, with an incident id that follows from the request."""
    text = f"{request.method} {request.full_path}"
    incident = hashlib.sha256(text.encode()).hexdigest()[:_INCIDENT_LENGTH]
    _log.error("incident %s: %s %s", incident, request.method, request.path, exc_info=error)
    _roll_back()
    return _render(500, incident=incident)


def referring_page() -> str:
    """Return path and query of the page of this site that the request came from, else home."""
    parts = urlsplit(request.referrer or "")
    if parts.netloc != request.host or not parts.path.startswith("/"):
        return "/"
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _nearest_page() -> str:
    """Return the closest address at or above this one that can be opened."""
    steps = request.path.rstrip("/").split("/")
    for count in range(len(steps), 1, -1):
        path = "/".join(steps[:count])
        if _can_open(path):
            return path
    return "/"


def _can_open(path: str) -> bool:
    adapter = current_app.create_url_adapter(request)
    if adapter is None:
        return False
    try:
        adapter.match(path, method="GET")
    except RequestRedirect:
        return True
    except HTTPException:
        return False
    return True


def _roll_back() -> None:
    if "db" in g:
        g.db.rollback()


def _render(
    status: int,
    *,
    message: str | None = None,
    back: str | None = None,
    incident: str | None = None,
) -> tuple[str, int]:
    page = render_template(
        "common/error.html", status=status, message=message, back=back, incident=incident
    )
    return page, status
