"""One episode: observe, ask the agent, act, until it ends; then judge."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lowagent_vis.actions import Stop, action_to_text, grammar_prompt, parse_action
from lowagent_vis.agents.base import Agent, AgentFailure, EpisodeStart, Reply
from lowagent_vis.agents.reference import ReferenceAgent
from lowagent_vis.browsers.base import Browser, Request, Response
from lowagent_vis.browsers.chromium import ChromiumBrowser, ChromiumRenderer
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.errors import ActionError, ActionParseError, HarnessError
from lowagent_vis.evaluation.verdict import Verdict, judge
from lowagent_vis.executor import execute
from lowagent_vis.observation import Observation, ObservationSettings, observe
from lowagent_vis.page import Page, parse_page
from lowagent_vis.prompts import system_prompt
from lowagent_vis.runs.config import EpisodePlan, RunConfig
from lowagent_vis.runs.records import (
    CheckRecord,
    DisruptionKind,
    DisruptionOutcome,
    EndedBy,
    EpisodeRecord,
    ImageRecord,
    StepRecord,
)
from lowagent_vis.task import TaskDefinition, TaskInstance
from lowagent_vis.task_build import build_instance
from lowagent_vis.world import Numerals, World

DISRUPTION_EXTRA_STEPS = 2
"""Steps that two interruptions add to a budget."""

_MAX_USAGE = 1e15
"""Counts beyond are no counts; NaN is not below it either."""

StepSink = Callable[[StepRecord, bytes | None], None]


@dataclass(frozen=True)
class EpisodeSettings:
    """What holds for every episode of a run."""

    agent: str
    model: str | None = None
    seed: str = "0"
    numerals: Numerals = "local"
    ad_every_click: bool = False
    parse_limit: int | None = None
    observation: ObservationSettings = field(default_factory=ObservationSettings)

    @classmethod
    def from_config(cls, config: RunConfig) -> "EpisodeSettings":
        """Take the settings from a run's configuration."""
        return cls(
            agent=config.agent,
            model=config.model,
            seed=config.seed,
            numerals=config.numerals,
            ad_every_click=config.ad_every_click,
            parse_limit=config.parse_limit,
            observation=ObservationSettings(
                page_text=config.page_text,
                link_targets=config.link_targets,
                clean_screenshot=config.clean_screenshot,
                screenshot_only=config.screenshot_only,
            ),
        )

    def episode_key(self, plan: EpisodePlan) -> bytes:
        """Return the key of an episode's one-time tokens: equal in text and vision."""
        return hmac.digest(self.seed.encode(), plan.seed_name.encode(), hashlib.sha256)


@dataclass
class _Course:
    """What happened so far in an episode."""

    actions: list[str] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    answer: str | None = None
    ended_by: EndedBy = "step_limit"
    parse_errors_in_a_row: int = 0
    url: str = "/"


def play_episode(
    plan: EpisodePlan,
    task: TaskDefinition,
    *,
    agent: Agent,
    settings: EpisodeSettings,
    renderer: ChromiumRenderer | None,
    sink: StepSink,
) -> EpisodeRecord:
    """Play one planned episode in a fresh world and return its record.

    Faults of ours and of the agent's program become error outcomes; they are never scored.
    """
    started_at, started_s = datetime.now(UTC), time.monotonic()
    with World.open(
        plan.site,
        plan.language,
        fixtures=task.fixtures,
        numerals=settings.numerals,
        key=settings.episode_key(plan),
    ) as world:
        instance = build_instance(task, plan.language, world)
        if plan.disrupted:
            world.arm_disruptions("every_click" if settings.ad_every_click else "once")
        browser = _open_browser(world, renderer)
        budget = instance.step_budget + DISRUPTION_EXTRA_STEPS * plan.disrupted
        if settings.ad_every_click:
            budget = 2 * instance.step_budget + DISRUPTION_EXTRA_STEPS
        course = _Course()
        try:
            _introduce(agent, plan, instance, budget, settings)
            _play(agent, browser, course, budget=budget, settings=settings, sink=sink)
            agent.end(course.ended_by)
            if course.ended_by == "stop" and world.disruption_active():
                course.ended_by = "disruption_open"
            verdict = judge(
                instance,
                world,
                answer=course.answer,
                ended_by=course.ended_by,
                final_url=course.url,
            )
            outcome = verdict.outcome
        except HarnessError as error:
            verdict, outcome = None, "harness_error"
            course.ended_by, course.errors = "error", [*course.errors, str(error)]
        except AgentFailure as error:
            verdict, outcome = None, "provider_error"
            course.ended_by, course.errors = "error", [*course.errors, str(error)]
        finally:
            browser.close()
        return EpisodeRecord(
            episode=plan.id,
            site=plan.site,
            language=plan.language,
            task=plan.task,
            family=instance.family,
            kind=instance.kind,
            modality=instance.modality,
            visual=plan.visual,
            disrupted=plan.disrupted,
            factors=dict(plan.factors),
            repeat=plan.repeat,
            agent=settings.agent,
            model=settings.model,
            outcome=outcome,
            ended_by=course.ended_by,
            checks=_check_records(verdict),
            diff=world.diff(),
            answer=course.answer,
            steps=len(course.actions),
            actions=course.actions,
            disruptions=_disruption_outcomes(plan, world, course.ended_by),
            usage=course.usage,
            cost_usd=None,
            errors=course.errors,
            started_at=started_at.isoformat(timespec="milliseconds"),
            elapsed_s=round(time.monotonic() - started_s, 3),
            step_budget=budget,
            intent=instance.intent,
            intent_language=plan.language,
            seed_sha256=world.seed_sha256,
            task_sha256=instance.task_sha256,
            flags=["no_stop"] if course.ended_by == "step_limit" else [],
            http_5xx=world.http_5xx,
        )


def _open_browser(world: World, renderer: ChromiumRenderer | None) -> Browser:
    http = HttpBrowser(wsgi=world.wsgi, base_url=world.origin)
    return http if renderer is None else ChromiumBrowser(http, renderer)


def _introduce(
    agent: Agent,
    plan: EpisodePlan,
    instance: TaskInstance,
    budget: int,
    settings: EpisodeSettings,
) -> None:
    if isinstance(agent, ReferenceAgent):
        agent.use_script(instance.reference)
    agent.start(
        EpisodeStart(
            episode=plan.id,
            site=plan.site,
            language=plan.language,
            intent=instance.intent,
            system=system_prompt(grammar=grammar_prompt(), step_budget=budget),
            step_budget=budget,
            seed=settings.episode_key(plan),
        )
    )


def _play(
    agent: Agent,
    browser: Browser,
    course: _Course,
    *,
    budget: int,
    settings: EpisodeSettings,
    sink: StepSink,
) -> None:
    response = browser.send(Request("GET", "/"))
    exchanges, error = list(response.exchanges), None
    page = _read(response)
    course.url = response.url
    for step in range(budget):
        observed_s = time.monotonic()
        observation = observe(
            page,
            browser,
            step=step,
            steps_left=budget - step,
            error=error,
            settings=settings.observation,
        )
        asked_s = time.monotonic()
        reply = agent.act(observation).sendable()
        answered_s = time.monotonic()
        _count_usage(course, reply)
        outcome = _act(reply, page, browser, course)
        sink(
            _step_record(
                observation,
                reply,
                outcome,
                exchanges + list(outcome.response.exchanges if outcome.response else ()),
                {
                    "observe": round(asked_s - observed_s, 4),
                    "agent": round(answered_s - asked_s, 4),
                    "act": round(time.monotonic() - answered_s, 4),
                },
            ),
            observation.rendering.clean_jpeg if observation.rendering else None,
        )
        exchanges, error = [], outcome.error
        if outcome.ended_by is not None:
            course.ended_by = outcome.ended_by
            return
        if settings.parse_limit and course.parse_errors_in_a_row >= settings.parse_limit:
            course.ended_by = "parse_limit"
            return
        if outcome.response is not None:
            page = _read(outcome.response)
            course.url = outcome.response.url


@dataclass(frozen=True)
class _StepOutcome:
    action: str | None = None
    response: Response | None = None
    error: str | None = None
    ended_by: EndedBy | None = None


def _act(reply: Reply, page: Page, browser: Browser, course: _Course) -> _StepOutcome:
    """Perform a reply; what the agent did wrong comes back as an error text."""
    try:
        action = parse_action(reply.text)
    except ActionParseError as error:
        course.parse_errors_in_a_row += 1
        course.actions.append(reply.text)
        return _StepOutcome(error=str(error))
    course.parse_errors_in_a_row = 0
    text = action_to_text(action)
    course.actions.append(text)
    if isinstance(action, Stop):
        course.answer = action.answer
        return _StepOutcome(action=text, ended_by="stop")
    try:
        response = execute(action, page, browser)
    except ActionError as error:
        return _StepOutcome(action=text, error=str(error))
    return _StepOutcome(
        action=text, response=response, ended_by="left_site" if response.left_site else None
    )


def _read(response: Response) -> Page:
    if response.status >= 500:
        raise HarnessError(f"the site answered {response.status} for {response.url}")
    return parse_page(response.html, url=response.url)


def _count_usage(course: _Course, reply: Reply) -> None:
    for name, value in reply.usage.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and abs(value) < _MAX_USAGE:
            course.usage[name] = course.usage.get(name, 0) + value


def _step_record(
    observation: Observation,
    reply: Reply,
    outcome: _StepOutcome,
    exchanges: Sequence[tuple[str, str, int]],
    timing_s: dict[str, float],
) -> StepRecord:
    rendering = observation.rendering
    images = []
    if rendering is not None:
        images.append(
            ImageRecord(
                role="clean",
                file=f"{observation.step:03d}.jpg",
                sha256=hashlib.sha256(rendering.clean_jpeg).hexdigest(),
                width=rendering.width,
                height=rendering.height,
            )
        )
    return StepRecord(
        step=observation.step,
        url=observation.page.url,
        text=observation.text,
        text_sha256=hashlib.sha256(observation.text.encode()).hexdigest(),
        reply=reply.text,
        note=reply.note,
        action=outcome.action,
        error=outcome.error,
        http=list(exchanges),
        marks=json.loads(rendering.marked.to_json()) if rendering else None,
        images=images,
        usage=dict(reply.usage),
        timing_s=timing_s,
    )


def _check_records(verdict: Verdict | None) -> list[CheckRecord]:
    if verdict is None:
        return []
    return [
        CheckRecord(
            name=check.name,
            expected=check.expected,
            actual=check.actual,
            normalized=check.normalized,
            passed=check.passed,
            reason=check.reason,
        )
        for check in verdict.checks
    ]


def _disruption_outcomes(
    plan: EpisodePlan, world: World, ended_by: EndedBy
) -> dict[DisruptionKind, DisruptionOutcome]:
    """Return how each interruption ended; the last word on it counts."""
    if not plan.disrupted:
        return {}
    open_end: DisruptionOutcome = (
        "open_at_stop" if ended_by in {"stop", "disruption_open"} else "open_at_limit"
    )
    outcomes: dict[DisruptionKind, DisruptionOutcome] = {
        "cookie": "not_reached",
        "ad": "not_reached",
    }
    by_event: dict[str, DisruptionOutcome] = {
        "shown": open_end,
        "reshown": open_end,
        "dismissed": "dismissed",
        "accepted": "accepted",
    }
    for event in world.disruption_events():
        outcomes[event["kind"]] = by_event[event["event"]]
    return outcomes


def crashed_record(
    plan: EpisodePlan, task: TaskDefinition, config: RunConfig, errors: Sequence[str]
) -> EpisodeRecord:
    """Return the record of an episode whose worker died or hung each time it was tried."""
    return EpisodeRecord(
        episode=plan.id,
        site=plan.site,
        language=plan.language,
        task=plan.task,
        family=task.family,
        kind=task.kind,
        modality=task.modality,
        visual=plan.visual,
        disrupted=plan.disrupted,
        factors=dict(plan.factors),
        repeat=plan.repeat,
        agent=config.agent,
        model=config.model,
        outcome="harness_error",
        ended_by="error",
        checks=[],
        diff={},
        answer=None,
        steps=0,
        actions=[],
        disruptions={},
        usage={},
        cost_usd=None,
        errors=list(errors),
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        elapsed_s=0.0,
        step_budget=task.step_budget,
        intent="",
        intent_language=plan.language,
        seed_sha256="",
        task_sha256="",
        flags=["crashed"],
        http_5xx=0,
    )
