"""Makes episode and step records for tests of runs and reports."""

from typing import Any

from lowagent_vis.runs.records import CheckRecord, EpisodeRecord, StepRecord


def make_record(**changes: Any) -> EpisodeRecord:
    """Return a successful English episode; `changes` replace its fields."""
    values: dict[str, Any] = {
        "episode": "ministore.en.MS-T001",
        "site": "ministore",
        "language": "en",
        "task": "MS-T001",
        "family": "price",
        "kind": "info",
        "modality": "text",
        "visual": False,
        "disrupted": False,
        "factors": {},
        "repeat": 1,
        "agent": "reference",
        "model": None,
        "outcome": "success",
        "ended_by": "stop",
        "checks": [CheckRecord(name="answer", passed=True)],
        "diff": {},
        "answer": "$24.90",
        "steps": 3,
        "actions": ['fill 1 q="x"', "click 3", "stop $24.90"],
        "disruptions": {},
        "usage": {},
        "cost_usd": None,
        "errors": [],
        "started_at": "2026-06-15T10:00:00+00:00",
        "elapsed_s": 0.5,
        "step_budget": 30,
        "intent": "What is the price?",
        "intent_language": "en",
        "seed_sha256": "0" * 64,
        "task_sha256": "1" * 64,
        "flags": [],
        "http_5xx": 0,
    }
    return EpisodeRecord(**{**values, **changes})


def make_step(**changes: Any) -> StepRecord:
    """Return a step without a picture; `changes` replace its fields."""
    values: dict[str, Any] = {
        "step": 0,
        "url": "/",
        "text": "URL: /",
        "text_sha256": "2" * 64,
        "reply": "click 1",
        "action": "click 1",
        "error": None,
        "http": [("GET", "/", 200)],
        "marks": None,
        "images": [],
        "usage": {},
        "timing_s": {"observe": 0.1},
    }
    return StepRecord(**{**values, **changes})
