"""The named errors of the harness, each with who must act on it.

Three faults have three fates: the agent's is shown in its next observation, ours becomes an
error outcome that is retried and never scored, the user's is one line with its remedy.
"""

from lowagent_sites.common.errors import PrerequisiteError, UnknownNameError

__all__ = [
    "ActionError",
    "ActionParseError",
    "AgentFault",
    "HarnessError",
    "PrerequisiteError",
    "UnknownNameError",
    "UserError",
]


class AgentFault(Exception):  # noqa: N818 - the common name of the two errors below
    """The agent must act: the step is spent and the message is its next observation's error."""


class ActionParseError(AgentFault):
    """The reply is not one action of the grammar; nothing was done."""


class ActionError(AgentFault):
    """The action does not fit the page or leaves the site; no request was sent for it."""


class HarnessError(Exception):
    """We must act: a site, a browser or the harness failed; the episode is not scored."""


class UserError(Exception):
    """The user must act: one line with the remedy, exit status 2, no traceback."""
