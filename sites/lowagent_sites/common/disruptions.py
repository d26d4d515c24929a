"""Interruptions: a cookie notice, then an ad, as ordinary pages (`common.md` 12)."""

import threading
from dataclasses import dataclass, field
from typing import Any, Literal

from flask import Response, current_app, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from lowagent_sites.common.runtime import current_runtime
from lowagent_sites.common.sessions import session_id

DisruptionMode = Literal["once", "every_click"]
Kind = Literal["cookie", "ad"]
_PREFIX = "/n/"


@dataclass
class _Course:
    """How far one session is.

    Attributes:
        active: The interruption on screen.
        wanted: The page that was asked for when it came.
        links: One-time path to what it does.
        passes: A page load to let through, after an interruption was dismissed.
    """

    next: Kind | None = "cookie"
    active: Kind | None = None
    wanted: str = "/"
    links: dict[str, str] = field(default_factory=dict)
    passes: bool = False


class Disruptions:
    """The interruptions of one world; disarmed until `arm` is called."""

    def __init__(self) -> None:
        self._mode: DisruptionMode | None = None
        self._courses: dict[str, _Course] = {}
        self._latest: _Course | None = None
        self._events: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def arm(self, mode: DisruptionMode = "once") -> None:
        """Interrupt every session from now on."""
        self.reset()
        self._mode = mode

    def disarm(self) -> None:
        """Stop interrupting."""
        self._mode = None
        self._courses.clear()
        self._latest = None

    def reset(self) -> None:
        """Disarm and forget what happened."""
        self.disarm()
        self._events.clear()

    def events(self) -> list[dict[str, Any]]:
        """Return what happened: `t`, `kind`, `event`, `path`, in order."""
        return list(self._events)

    @property
    def active(self) -> Kind | None:
        """The interruption that the latest session has on screen."""
        return self._latest.active if self._latest else None

    def intercept(self) -> BaseResponse | None:
        """Return the page or redirect that takes this request's place, or None."""
        if self._mode is None:
            return None
        with self._lock:
            course = self._courses.setdefault(session_id(), _Course())
            self._latest = course
            return self._intercept(course)

    def moved(self, old_sid: str, new_sid: str) -> None:
        """Carry a session's state on under its new id, as it signs in or out."""
        if old_sid in self._courses:
            self._courses[new_sid] = self._courses.pop(old_sid)

    def _intercept(self, course: _Course) -> BaseResponse | None:
        path = request.full_path.rstrip("?")
        if course.active is not None:
            action = course.links.get(request.path) if request.method == "GET" else None
            if action == "dismiss":
                return self._dismiss(course)
            if action == "accept":
                self._note("ad", "accepted", path)
                course.active, course.next = None, None
                return redirect(current_app.extensions["offsite_url"], 303)
            return self._show(course, "reshown")
        if request.method != "GET":
            return None
        if course.passes:
            course.passes = False
            return None
        if course.next is None or request.path.startswith(_PREFIX):
            return None
        course.active, course.wanted = course.next, path
        return self._show(course, "shown")

    def _dismiss(self, course: _Course) -> BaseResponse:
        kind = course.active or "cookie"
        self._note(kind, "dismissed", request.path)
        course.active, course.passes, course.links = None, True, {}
        if kind == "cookie" or self._mode == "every_click":
            course.next = "ad"
        else:
            course.next = None
        return redirect(course.wanted, 303)

    def _show(self, course: _Course, event: str) -> Response:
        kind = course.active or "cookie"
        self._note(kind, event, request.path)
        tokens = current_runtime().tokens
        first, second = (f"{_PREFIX}{tokens.next('disruption')}" for _ in range(2))
        if kind == "cookie":
            course.links = {first: "dismiss", second: "again"}
        else:
            course.links = {first: "accept", second: "dismiss"}
        body = render_template(f"common/{kind}.html", first=first, second=second)
        return make_response(body)

    def _note(self, kind: str, event: str, path: str) -> None:
        now = current_runtime().clock.now().isoformat()
        self._events.append({"t": now, "kind": kind, "event": event, "path": path})
