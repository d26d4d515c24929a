"""The agent that does nothing: the floor under every success rate."""

from lowagent_vis.agents.base import EpisodeStart, Reply
from lowagent_vis.observation import Observation


class NoopAgent:
    """Stops at once with an empty answer."""

    def start(self, episode: EpisodeStart) -> None:
        """Begin an episode; there is nothing to remember."""

    def act(self, observation: Observation) -> Reply:
        """Stop."""
        return Reply("stop")

    def end(self, ended_by: str) -> None:
        """Learn how the episode ended."""

    def close(self) -> None:
        """Release nothing."""
