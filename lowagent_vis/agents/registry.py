"""The agents by name; a new agent is one module and one line here."""

from collections.abc import Mapping
from importlib import import_module

from lowagent_sites.common.errors import unknown_name

AGENTS: Mapping[str, str] = {
    "reference": "lowagent_vis.agents.reference:ReferenceAgent",
    "noop": "lowagent_vis.agents.noop:NoopAgent",
    "always-na": "lowagent_vis.agents.always_na:AlwaysNaAgent",
    "random": "lowagent_vis.agents.random_walk:RandomWalkAgent",
    "first-link": "lowagent_vis.agents.first_link:FirstLinkAgent",
    "dump-page": "lowagent_vis.agents.dump_page:DumpPageAgent",
    "command": "lowagent_vis.agents.command:CommandAgent",
}


def agent_class(name: str) -> type:
    """Import and return the class of the agent `name`.

    Raises:
        UnknownNameError: No agent has this name.
    """
    if name not in AGENTS:
        raise unknown_name("agent", name, AGENTS)
    module_name, _, attribute = AGENTS[name].partition(":")
    found: type = getattr(import_module(module_name), attribute)
    return found
