"""The reference agent: plays a task's reference actions through observations only.

It knows what to do at the level of names (open this form, follow the link to that path) and
must find each in what it is shown, as a model must: the number of the link or form comes from
the observation's text, and so does whether a page interrupts.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from lowagent_vis.actions import Click, Fill, Goto, Stop, action_to_text
from lowagent_vis.agents.base import EpisodeStart, Reply
from lowagent_vis.agents.observed import Observed, ObservedForm, read_observation
from lowagent_vis.observation import Observation

_CLOSE_COOKIE_NOTICE = 1
_DECLINE_AD = 2


class ReferenceAgent:
    """Replays reference actions; gives up with an empty answer where one cannot be done.

    Interruptions are dismissed by position: the cookie notice closes with its first link, the ad
    is declined with its second.
    """

    def __init__(self) -> None:
        self._script: Sequence[Mapping[str, Any]] = ()
        self._pending: deque[Mapping[str, Any]] = deque()
        self._has_seen_cookie_notice = False

    def use_script(self, script: Sequence[Mapping[str, Any]]) -> None:
        """Set the reference actions of the next episode (`TaskInstance.reference`)."""
        self._script = script

    def start(self, episode: EpisodeStart) -> None:
        """Begin at the first reference action."""
        self._pending = deque(self._script)
        self._has_seen_cookie_notice = False

    def act(self, observation: Observation) -> Reply:
        """Dismiss an interruption, or play the next reference action."""
        return Reply(self.next_action(observation.text))

    def next_action(self, text: str) -> str:
        """Return the action for a text observation; the script moves on by one."""
        seen = read_observation(text)
        if seen.is_disruption:
            return self._dismiss(seen)
        if not self._pending:
            return action_to_text(Stop(""))
        return _play(self._pending.popleft(), seen)

    def end(self, ended_by: str) -> None:
        """Learn how the episode ended."""

    def close(self) -> None:
        """Release nothing."""

    def _dismiss(self, seen: Observed) -> str:
        number = _DECLINE_AD if self._has_seen_cookie_notice else _CLOSE_COOKIE_NOTICE
        self._has_seen_cookie_notice = True
        return action_to_text(Click(number))


def _play(step: Mapping[str, Any], seen: Observed) -> str:
    if "stop" in step:
        return action_to_text(Stop(str(step["stop"])))
    if "goto" in step:
        return action_to_text(Goto(str(step["goto"])))
    if "click" in step:
        target = str(step["click"])
        link = next((link for link in seen.links if link.target == target), None)
        return action_to_text(Click(link.number)) if link else _lost(f"no link to {target}")
    form = _find_form(step, seen)
    if form is None:
        return _lost(f"no form {step['fill']}")
    fields = tuple((name, str(value)) for name, value in step.get("fields", {}).items())
    return action_to_text(Fill(form.number, fields))


def _find_form(step: Mapping[str, Any], seen: Observed) -> ObservedForm | None:
    wanted = str(step.get("label", ""))
    named = (form for form in seen.forms if form.name == step["fill"])
    return next((form for form in named if wanted in form.label), None)


def _lost(reason: str) -> str:
    """An answer that is wrong for every task and says why the replay failed."""
    return action_to_text(Stop(f"(reference lost: {reason})"))
