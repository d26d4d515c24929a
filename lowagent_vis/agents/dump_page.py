"""The agent that answers with all it sees: the floor under lenient answer matching."""

from lowagent_vis.agents.base import Reply
from lowagent_vis.agents.noop import NoopAgent
from lowagent_vis.agents.observed import read_observation
from lowagent_vis.observation import Observation


class DumpPageAgent(NoopAgent):
    """Answers with the whole text of the first page."""

    def act(self, observation: Observation) -> Reply:
        """Stop with the page's text."""
        return Reply(f"stop {read_observation(observation.text).text}")
