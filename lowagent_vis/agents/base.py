"""What an agent is: it reads observations and answers each with one action as text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lowagent_vis.actions import sendable
from lowagent_vis.observation import Observation


@dataclass(frozen=True)
class EpisodeStart:
    """What an agent is told before its first observation.

    Attributes:
        episode: The episode's id, for example `ministore.bn.MS-T027.visual`.
        site: Name of the site.
        language: BCP 47 code of the site's language.
        intent: The task as one or two sentences.
        system: The system prompt: grammar of the actions and credentials.
        step_budget: How many actions the episode allows, `stop` included.
        reference_images: Encoded pictures that belong to the intent (visual tasks).
        seed: Seed of this episode for agents that draw at random.
    """

    episode: str
    site: str
    language: str
    intent: str
    system: str
    step_budget: int
    reference_images: tuple[bytes, ...] = ()
    seed: bytes = b""


@dataclass(frozen=True)
class Reply:
    """What an agent answers to an observation.

    Attributes:
        text: The action in the grammar of `lowagent_vis.actions`, as the agent wrote it.
        note: A remark for the record, never parsed.
        usage: Tokens and calls, by name.
    """

    text: str
    note: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)

    def sendable(self) -> "Reply":
        """Return the reply without halves of surrogate pairs, which no one can send or store."""
        note = None if self.note is None else sendable(self.note)
        return Reply(sendable(self.text), note, json.loads(sendable(_json(self.usage))))


def _json(usage: Mapping[str, Any]) -> str:
    return json.dumps(dict(usage), ensure_ascii=False)


class AgentFailure(Exception):  # noqa: N818 - an outcome of the agent's program, not a fault of ours
    """The agent's program or provider gave no reply; the episode is a `provider_error`."""


class Agent(Protocol):
    """Chooses actions. One instance plays many episodes, one after the other."""

    def start(self, episode: EpisodeStart) -> None:
        """Begin an episode; nothing of an earlier one may be used."""

    def act(self, observation: Observation) -> Reply:
        """Answer an observation with one action.

        Raises:
            AgentFailure: There is no reply; not the fault of the agent's judgement.
        """

    def end(self, ended_by: str) -> None:
        """Learn how the episode ended; the verdict is not told."""

    def close(self) -> None:
        """Release what the agent holds, at the end of the run."""
