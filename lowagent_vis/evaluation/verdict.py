"""The verdict on an episode: all checks of its task, and how it ended (`design.md` 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lowagent_vis.evaluation.answers import claims_not_available, compare_answer
from lowagent_vis.evaluation.final_page import check_final_page
from lowagent_vis.evaluation.results import CheckResult
from lowagent_vis.evaluation.state import (
    Diff,
    StateRules,
    check_exclusive,
    check_states,
    net_changes,
    state_rules,
)
from lowagent_vis.task import AnswerCriterion, TaskInstance

__all__ = ["CheckResult", "EndedBy", "JudgedWorld", "Outcome", "Verdict", "judge"]

Outcome = Literal["success", "failure", "harness_error", "provider_error"]
EndedBy = Literal["stop", "step_limit", "left_site", "disruption_open", "parse_limit", "error"]

_ENDS_IN_FAILURE: Mapping[EndedBy, str] = {
    "left_site": "the agent left the site",
    "disruption_open": "the episode was stopped while an interruption was open",
    "parse_limit": "too many replies in a row were no action",
}


class JudgedWorld(Protocol):
    """What a verdict reads of a world."""

    def diff(self, *, incidental: bool = False) -> Diff:
        """Return what changed since the reset."""

    def query(self, sql: str, params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Read the database as it is now."""

    def disruption_active(self) -> str | None:
        """Return the interruption that is open, if any."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of an episode and the checks that led to it."""

    outcome: Outcome
    checks: tuple[CheckResult, ...]


def judge(
    instance: TaskInstance,
    world: JudgedWorld,
    *,
    answer: str | None,
    ended_by: EndedBy,
    final_url: str,
    rules: StateRules | None = None,
) -> Verdict:
    """Judge an episode after its last response; every check must pass.

    Args:
        instance: The task as it was played.
        world: The world in which it was played.
        answer: What stood behind `stop`; None without one. An episode that ran out of steps is
            judged on its state, and has no answer.
        ended_by: How it ended; `error` is never scored.
        final_url: Path and query of the last page.
        rules: The rules of the site's schema, by default those of `instance.site`.
    """
    if ended_by == "error":
        return Verdict("harness_error", ())
    if ended_by == "stop" and world.disruption_active():
        ended_by = "disruption_open"
    checks = (
        _check_end(ended_by),
        *_check_answers(instance, None if ended_by == "step_limit" else answer),
        *_check_database(instance, world, rules or state_rules(instance.site)),
        *(check_final_page(page, final_url) for page in instance.final_pages),
    )
    outcome: Outcome = "success" if all(check.passed for check in checks) else "failure"
    return Verdict(outcome, checks)


def _check_end(ended_by: EndedBy) -> CheckResult:
    reason = _ENDS_IN_FAILURE.get(ended_by)
    return CheckResult(
        name="end",
        expected=["stop", "step_limit"],
        actual=ended_by,
        normalized=ended_by,
        passed=reason is None,
        reason=reason,
    )


def _check_answers(instance: TaskInstance, answer: str | None) -> tuple[CheckResult, ...]:
    if instance.answers:
        return tuple(_check_answer(criterion, instance, answer) for criterion in instance.answers)
    is_claim = answer is not None and claims_not_available(answer, language=instance.language)
    reason = "the answer says N/A and the task can be done" if is_claim else None
    return (CheckResult("answer", None, answer, answer, not is_claim, reason),)


def _check_answer(
    criterion: AnswerCriterion, instance: TaskInstance, answer: str | None
) -> CheckResult:
    expected = criterion.expected if criterion.kind == "set" else criterion.expected[0]
    if answer is None:
        return CheckResult("answer", expected, None, None, False, "no answer was given")
    comparison = compare_answer(
        criterion.kind,
        expected,
        answer,
        language=instance.language,
        excluded=criterion.excluded,
        question=instance.intent,
    )
    return CheckResult(
        name="answer",
        expected=expected,
        actual=answer,
        normalized=comparison.normalized,
        passed=comparison.passed,
        reason=comparison.reason,
    )


def _check_database(
    instance: TaskInstance, world: JudgedWorld, rules: StateRules
) -> tuple[CheckResult, ...]:
    changes = net_changes(world.diff(), rules, world.query)
    states, unexplained = check_states(instance.states, changes, world.query)
    tolerated = () if instance.kind == "state" else instance.exclusive
    exclusive = check_exclusive(unexplained, tolerated_tables=tolerated, user_id=instance.user_id)
    return (*states, exclusive)
