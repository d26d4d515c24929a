"""Checks the page at the end of an episode by path and parameters, never by its text."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from lowagent_vis.evaluation.results import CheckResult
from lowagent_vis.task import FinalPageCriterion

_DEFAULTS = frozenset({("page", "1")})
"""Parameters that change nothing wherever they occur."""


def check_final_page(criterion: FinalPageCriterion, url: str) -> CheckResult:
    """Check that `url` (path and query) is the page that the intent names.

    A closing slash, the order of parameters, empty and default parameters and percent signs make
    no difference; a longer path does.
    """
    wanted = (_path(criterion.path), _without_defaults(criterion.query))
    found = normalize_url(url)
    return CheckResult(
        name="final_page",
        expected={"path": criterion.path, "query": dict(criterion.query)},
        actual=url,
        normalized={"path": found[0], "query": dict(found[1])},
        passed=found == wanted,
        reason=None if found == wanted else "the episode ended on another page",
    )


def normalize_url(url: str) -> tuple[str, Mapping[str, str]]:
    """Return path and parameters of a URL in the form in which they are compared."""
    parts = urlsplit(url)
    return _path(parts.path), _without_defaults(dict(parse_qsl(parts.query)))


def _path(path: str) -> str:
    return "/" + unquote(path).strip("/")


def _without_defaults(query: Mapping[str, str]) -> Mapping[str, str]:
    return {
        name: value for name, value in query.items() if value and (name, value) not in _DEFAULTS
    }
