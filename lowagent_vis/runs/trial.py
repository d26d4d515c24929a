"""One visual episode with the reference agent in this process, to see that all parts work."""

from lowagent_sites.registry import site_names
from lowagent_vis.agents.reference import ReferenceAgent
from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.chromium import ChromiumRenderer
from lowagent_vis.episode import EpisodeSettings, play_episode
from lowagent_vis.runs.config import EpisodePlan
from lowagent_vis.runs.records import EpisodeRecord
from lowagent_vis.task import load_tasks


def play_trial(language: str) -> EpisodeRecord:
    """Play the first task of the first site in `language`, with pictures and interruptions.

    Raises:
        PrerequisiteError: This machine has no usable browser.
    """
    task = load_tasks(site_names()[:1])[0]
    plan = EpisodePlan(site=task.site, task=task.id, language=language, visual=True, disrupted=True)
    with (
        AssetServer.start() as assets,
        ChromiumRenderer.launch(asset_origin=assets.origin) as renderer,
    ):
        return play_episode(
            plan,
            task,
            agent=ReferenceAgent(),
            settings=EpisodeSettings(agent="reference"),
            renderer=renderer,
            sink=lambda step, clean_jpeg: None,
        )
