"""The agent that always follows the first link, as a careless user presses the first button."""

from lowagent_vis.agents.base import Reply
from lowagent_vis.agents.noop import NoopAgent
from lowagent_vis.agents.observed import read_observation
from lowagent_vis.observation import Observation


class FirstLinkAgent(NoopAgent):
    """Clicks link 1 until the episode ends; stops where a page has none."""

    def act(self, observation: Observation) -> Reply:
        """Click the first link."""
        return Reply("click 1" if read_observation(observation.text).links else "stop")
