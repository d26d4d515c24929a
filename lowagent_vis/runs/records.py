"""What a run writes down: one record per episode and one per step (`formats.md` 5).

Reports, the inspector and resumed runs read these and nothing else.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = 1

Outcome = Literal["success", "failure", "harness_error", "provider_error"]
EndedBy = Literal["stop", "step_limit", "left_site", "disruption_open", "parse_limit", "error"]
DisruptionKind = Literal["cookie", "ad"]
DisruptionOutcome = Literal["dismissed", "accepted", "open_at_stop", "open_at_limit", "not_reached"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")

    def to_json(self) -> str:
        """Return one line of JSON, UTF-8 without escapes."""
        return self.model_dump_json(by_alias=True)


class CheckRecord(BaseModel):
    """The result of one check of a task.

    Attributes:
        name: The check, for example `answer` or `state:exists:cart_items`.
        expected: What the check wanted, as displayed or as rows.
        actual: What it found.
        normalized: What it found after normalisation, where that applies.
        passed: Whether the check holds.
        reason: One plain English sentence when it does not hold.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    expected: Any = None
    actual: Any = None
    normalized: Any = None
    passed: bool
    reason: str | None = None


class EpisodeRecord(_Record):
    """One finished episode; the fields of `design.md` 8 and `formats.md` 5."""

    episode: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    site: str
    language: str
    task: str
    family: str
    kind: Literal["info", "state", "unachievable"]
    modality: Literal["text", "visual"]
    visual: bool
    disrupted: bool
    factors: dict[str, str]
    repeat: int
    agent: str
    model: str | None
    outcome: Outcome
    ended_by: EndedBy
    checks: list[CheckRecord]
    diff: dict[str, Any]
    answer: str | None
    steps: int
    actions: list[str]
    disruptions: dict[DisruptionKind, DisruptionOutcome]
    usage: dict[str, Any]
    cost_usd: float | None
    errors: list[str]
    started_at: str
    elapsed_s: float
    step_budget: int
    intent: str
    intent_language: str
    seed_sha256: str
    task_sha256: str
    flags: list[str]
    http_5xx: int


class ImageRecord(BaseModel):
    """A picture of a step: `file` lies beside the step's JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["clean"]
    file: str
    sha256: str
    width: int
    height: int


class StepRecord(_Record):
    """One observation, the reply to it and what came of it.

    Attributes:
        http: `[method, path, status]` of each request that the action caused; the first step
            also holds the request that opened the site.
        marks: The marks of the picture in the format of `formats.md` 3, or None.
    """

    step: int
    url: str
    text: str
    text_sha256: str
    reply: str
    note: str | None = None
    action: str | None
    error: str | None
    http: list[tuple[str, str, int]]
    marks: dict[str, Any] | None
    images: list[ImageRecord]
    usage: dict[str, Any]
    timing_s: dict[str, float]


TIME_FIELDS = frozenset({"started_at", "elapsed_s", "timing_s", "created_at"})
"""The fields in which two equal runs may differ."""
