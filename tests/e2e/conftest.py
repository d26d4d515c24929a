"""What whole-chain tests share: one renderer a worker, and how to play an episode."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from lowagent_sites.common.languages import selectable_languages
from lowagent_vis.agents.base import Agent
from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.chromium import ChromiumRenderer
from lowagent_vis.episode import EpisodeSettings, play_episode
from lowagent_vis.runs.config import EpisodePlan
from lowagent_vis.runs.records import EpisodeRecord, StepRecord
from lowagent_vis.task import TaskDefinition, load_tasks

TASKS = {task.id: task for task in load_tasks()}
LANGUAGES = tuple(language.code for language in selectable_languages())


@dataclass
class Played:
    """An episode's record and its steps."""

    record: EpisodeRecord
    steps: list[StepRecord] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [step.text for step in self.steps]


Play = Callable[..., Played]


@pytest.fixture(scope="session")
def renderer() -> Iterator[ChromiumRenderer]:
    with (
        AssetServer.start() as assets,
        ChromiumRenderer.launch(asset_origin=assets.origin) as started,
    ):
        yield started


@pytest.fixture
def play(request: pytest.FixtureRequest) -> Play:
    def play_one(
        task: TaskDefinition,
        language: str,
        agent: Agent,
        *,
        visual: bool = False,
        disrupted: bool = False,
        settings: EpisodeSettings | None = None,
    ) -> Played:
        steps: list[StepRecord] = []
        record = play_episode(
            EpisodePlan(
                site=task.site, task=task.id, language=language, visual=visual, disrupted=disrupted
            ),
            task,
            agent=agent,
            settings=settings or EpisodeSettings(agent="test"),
            renderer=request.getfixturevalue("renderer") if visual else None,
            sink=lambda step, clean_jpeg: steps.append(step),
        )
        return Played(record, steps)

    return play_one
