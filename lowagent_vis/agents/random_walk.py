"""The agent that acts at random, from a seed: the floor under short tasks."""

import random

from lowagent_vis.agents.base import EpisodeStart, Reply
from lowagent_vis.agents.observed import read_observation
from lowagent_vis.observation import Observation

_STOP_PROBABILITY = 0.05


class RandomWalkAgent:
    """Clicks a link or presses a form's button, each equally likely; sometimes stops.

    The draws depend on the episode's seed only, so a run can be repeated.
    """

    def __init__(self) -> None:
        self._random = random.Random()  # noqa: S311 - draws of a baseline, not a secret

    def start(self, episode: EpisodeStart) -> None:
        """Seed the draws from the episode."""
        self._random.seed(episode.seed + episode.episode.encode())

    def act(self, observation: Observation) -> Reply:
        """Draw one action."""
        seen = read_observation(observation.text)
        choices = [f"click {link.number}" for link in seen.links]
        choices += [f"fill {form.number}" for form in seen.forms]
        if not choices or self._random.random() < _STOP_PROBABILITY:
            return Reply("stop")
        return Reply(self._random.choice(choices))

    def end(self, ended_by: str) -> None:
        """Learn how the episode ended."""

    def close(self) -> None:
        """Release nothing."""
