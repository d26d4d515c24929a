"""What a run is asked to do: its configuration and the episodes that follow from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lowagent_vis.errors import UserError
from lowagent_vis.task import TaskDefinition


class RunConfig(BaseModel):
    """The resolved configuration of a run; a resumed run must have an equal one.

    Attributes:
        factors: Study factors that differ from their default; they enter episode ids.
        concurrency: Workers; never changes a result, so it may differ when a run is resumed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str = "reference"
    command: str | None = None
    agent_timeout_s: float = 120.0
    model: str | None = None
    sites: tuple[str, ...]
    languages: tuple[str, ...]
    tasks: tuple[str, ...]
    subset: str | None = None
    limit: int | None = None
    visual: bool = False
    disruptions: bool = False
    ad_every_click: bool = False
    page_text: bool = True
    link_targets: bool = True
    clean_screenshot: bool = False
    screenshot_only: bool = False
    numerals: Literal["local", "western"] = "local"
    parse_limit: int | None = None
    repeats: int = Field(default=1, ge=1)
    seed: str = "0"
    concurrency: int = Field(default=1, ge=1)

    @property
    def factors(self) -> dict[str, str]:
        """Return the study factors that are not at their default, by name."""
        found = {
            "ad": "every-click" if self.ad_every_click else "",
            "page-text": "" if self.page_text else "off",
            "link-targets": "" if self.link_targets else "off",
            "screenshot": "only" if self.screenshot_only else "clean" * self.clean_screenshot,
            "numerals": "" if self.numerals == "local" else self.numerals,
        }
        return {name: value for name, value in found.items() if value}

    def identity(self) -> dict[str, object]:
        """Return what must be equal for a run to be resumed."""
        return self.model_dump(mode="json", exclude={"concurrency"})


@dataclass(frozen=True, order=True)
class EpisodePlan:
    """One episode to play.

    Attributes:
        repeat: Counted from 1.
        factors: Sorted pairs of factor and value.
    """

    site: str
    task: str
    language: str
    repeat: int = 1
    visual: bool = False
    disrupted: bool = False
    factors: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Return the episode's id: `<site>.<lang>.<task>[.visual][.disrupted][.<factor>…][.rN]`."""
        parts = [self.site, self.language, self.task]
        parts += ["visual"] * self.visual + ["disrupted"] * self.disrupted
        parts += [f"{name}-{value}" for name, value in self.factors]
        parts += [f"r{self.repeat}"] if self.repeat > 1 else []
        return ".".join(parts)

    @property
    def seed_name(self) -> str:
        """Return what an episode's random tokens derive from: equal in text and vision."""
        return f"{self.site}.{self.language}.{self.task}.r{self.repeat}"


def plan_episodes(config: RunConfig, tasks: Sequence[TaskDefinition]) -> tuple[EpisodePlan, ...]:
    """Return the episodes of a run: task by task, each in every language, so that a part is fair.

    Raises:
        UserError: A visual task is named in a run without screenshots.
    """
    by_id = {task.id: task for task in tasks}
    chosen = [by_id[name] for name in config.tasks]
    blind = [task.id for task in chosen if task.modality == "visual" and not config.visual]
    if blind:
        raise UserError(f"{', '.join(blind)} needs screenshots; add --visual")
    factors = tuple(sorted(config.factors.items()))
    return tuple(
        EpisodePlan(
            site=task.site,
            task=task.id,
            language=language,
            repeat=repeat,
            visual=config.visual,
            disrupted=config.disruptions,
            factors=factors,
        )
        for repeat, task, language in product(
            range(1, config.repeats + 1), chosen, config.languages
        )
    )
