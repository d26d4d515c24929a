"""The agent that calls every task impossible: the floor that unachievable tasks give away."""

from lowagent_vis.agents.base import Reply
from lowagent_vis.agents.noop import NoopAgent
from lowagent_vis.observation import Observation


class AlwaysNaAgent(NoopAgent):
    """Answers `N/A` at once."""

    def act(self, observation: Observation) -> Reply:
        """Stop with `N/A`."""
        return Reply("stop N/A")
