"""Interruptions: a cookie notice, then an ad, as ordinary pages (`common.md` 12).

Each session runs through `cookie pending -> cookie active -> ad pending -> ad active -> done`; with
`every_click` the ad is pending again after it was refused.
"""

import threading
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from flask import Response, current_app, g, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from lowagent_sites.common.runtime import current_runtime
from lowagent_sites.common.sessions import session_id

DisruptionMode = Literal["once", "every_click"]
Kind = Literal["cookie", "ad"]
Action = Literal["dismiss", "accept", "again"]
_PREFIX = "/n/"
_PATH_CHARACTERS = "/:@!$&'()*+,;=~"


@dataclass
class _Course:
    """How far one session is.

    Attributes:
        pending: The interruption that the next page load meets.
        active: The interruption on screen.
        wanted: Address of the page that was asked for when it came.
        links: What each one-time path of the latest rendering does.
        returning: Address of the page load that follows a dismissal and counts as none.
    """

    pending: Kind | None = "cookie"
    active: Kind | None = None
    wanted: str = "/"
    links: dict[str, Action] = field(default_factory=dict)
    returning: str | None = None


class Disruptions:
    """The interruptions of one world; disarmed until `arm` is called."""

    def __init__(self) -> None:
        self._mode: DisruptionMode | None = None
        self._courses: dict[str, _Course] = {}
        self._latest: _Course | None = None
        self._events: list[dict[str, Any]] = []
        self._lock = threading.RLock()

    def arm(self, mode: DisruptionMode = "once") -> None:
        """Interrupt every session from now on; what happened before is forgotten."""
        with self._lock:
            self.reset()
            self._mode = mode

    def disarm(self) -> None:
        """Stop interrupting; what happened stays known."""
        with self._lock:
            self._mode = None
            self._courses.clear()
            self._latest = None

    def reset(self) -> None:
        """Disarm and forget what happened."""
        with self._lock:
            self.disarm()
            self._events.clear()

    def events(self) -> list[dict[str, Any]]:
        """Return what happened, in order.

        Each event has `t` (ISO time), `kind` (`cookie` or `ad`), `event` (`shown`, `reshown`,
        `dismissed` or `accepted`) and `path` (the address that was asked for).
        """
        with self._lock:
            return [dict(event) for event in self._events]

    @property
    def active(self) -> Kind | None:
        """The interruption that the latest session has on screen."""
        latest = self._latest
        return latest.active if latest else None

    def intercept(self) -> BaseResponse | None:
        """Return the page or redirect that takes this request's place, or None."""
        if self._mode is None:
            return None
        with self._lock:
            course = self._courses.setdefault(session_id(), _Course())
            self._latest = course
            if course.active is not None:
                return self._continue(course, course.active)
            return self._begin(course)

    def follow(self, response: BaseResponse) -> None:
        """Let the way back from a dismissed interruption go on where the page redirects."""
        course: _Course | None = g.get("returning_course")
        if course is None:
            return
        location = response.headers.get("Location") if 300 <= response.status_code < 400 else None
        with self._lock:
            course.returning = None if location is None else _normalized(location)

    def moved(self, old_sid: str, new_sid: str) -> None:
        """Carry a session's state on under its new id, as it signs in or out."""
        with self._lock:
            if old_sid in self._courses:
                self._courses[new_sid] = self._courses.pop(old_sid)

    def _continue(self, course: _Course, kind: Kind) -> BaseResponse:
        """Answer any request while an interruption is on screen."""
        action = course.links.get(request.path) if request.method == "GET" else None
        if action == "dismiss":
            return self._dismiss(course, kind)
        if action == "accept":
            self._note(kind, "accepted")
            course.active, course.pending, course.links = None, None, {}
            return redirect(current_app.extensions["offsite_url"], 303)
        return self._show(course, kind, "reshown")

    def _begin(self, course: _Course) -> BaseResponse | None:
        """Show what is pending if this request is a page load."""
        if request.method == "HEAD":
            return None
        returning, course.returning = course.returning, None
        if request.method != "GET" or request.path.startswith(_PREFIX):
            return None
        if returning is not None and _address() == returning:
            g.returning_course = course
            return None
        if course.pending is None:
            return None
        kind = course.active = course.pending
        course.pending, course.wanted = None, _address()
        return self._show(course, kind, "shown")

    def _dismiss(self, course: _Course, kind: Kind) -> BaseResponse:
        self._note(kind, "dismissed")
        course.active, course.links = None, {}
        if kind == "cookie" or self._mode == "every_click":
            course.pending = "ad"
        course.returning = course.wanted
        return redirect(course.wanted, 303)

    def _show(self, course: _Course, kind: Kind, event: str) -> Response:
        self._note(kind, event)
        tokens = current_runtime().tokens
        first, second = (f"{_PREFIX}{tokens.next('disruption')}" for _ in range(2))
        actions: tuple[Action, Action] = (
            ("dismiss", "again") if kind == "cookie" else ("accept", "dismiss")
        )
        course.links = dict(zip((first, second), actions, strict=True))
        return make_response(render_template(f"common/{kind}.html", first=first, second=second))

    def _note(self, kind: Kind, event: str) -> None:
        now = current_runtime().clock.now().isoformat()
        self._events.append({"t": now, "kind": kind, "event": event, "path": _address()})


def _address() -> str:
    """Return path and query of this request, as a browser writes them."""
    path = quote(request.path, safe=_PATH_CHARACTERS)
    query = request.query_string.decode("latin-1")
    return f"{path}?{query}" if query else path


def _normalized(location: str) -> str:
    """Return path and query of a redirect's target, as `_address` will give them."""
    parts = urlsplit(location)
    path = quote(unquote(parts.path), safe=_PATH_CHARACTERS)
    return f"{path}?{parts.query}" if parts.query else path
