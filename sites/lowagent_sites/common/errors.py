"""Errors that the sites and the harness share, each with who must act on it."""

import difflib
from collections.abc import Iterable


class PrerequisiteError(Exception):
    """The user's machine lacks something; the message is one line with the remedy."""


class UnknownNameError(LookupError):
    """The user named a site, language, task, agent or fixture that does not exist."""

    def __str__(self) -> str:
        """Return the message without the quotes that `LookupError` may add."""
        return str(self.args[0]) if self.args else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Build the error for an unknown `name`, listing the known ones and the closest.

    Example:
        `unknown language "bnn"; known: am, bn, en, hi, ur (did you mean "bn"?)`
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return UnknownNameError(f'unknown {kind} "{name}"; known: {", ".join(names)}{hint}')
