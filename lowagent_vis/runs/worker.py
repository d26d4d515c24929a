"""A worker: a process that plays one episode after another and sends what happened.

It writes nothing. The parent may kill it at any time; it dies with its parent.
"""

import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from lowagent_vis.agents.base import Agent
from lowagent_vis.agents.command import CommandAgent
from lowagent_vis.agents.registry import agent_class
from lowagent_vis.browsers.assets import AssetServer
from lowagent_vis.browsers.chromium import ChromiumRenderer
from lowagent_vis.episode import EpisodeSettings, StepSink, play_episode
from lowagent_vis.processes import die_with_parent
from lowagent_vis.runs.config import EpisodePlan, RunConfig
from lowagent_vis.runs.records import EpisodeRecord, StepRecord
from lowagent_vis.task import TaskDefinition


@dataclass(frozen=True)
class StepMessage:
    """A step of the episode in play, with its clean picture."""

    episode: str
    step: StepRecord
    clean_jpeg: bytes | None


@dataclass(frozen=True)
class EpisodeMessage:
    """The episode in play has ended."""

    record: EpisodeRecord


@dataclass(frozen=True)
class CrashMessage:
    """The worker could not go on; the traceback is for the record."""

    episode: str
    trace: str


Message = StepMessage | EpisodeMessage | CrashMessage


def worker_main(
    channel: Connection, config: RunConfig, tasks: Mapping[str, TaskDefinition], log_path: Path
) -> None:
    """Play the plans that arrive on `channel` until it sends None or closes."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    with log_path.open("ab") as log:
        toolbox = _Toolbox(config, log)
        try:
            _serve(channel, config, tasks, toolbox)
        finally:
            toolbox.close()


def _serve(
    channel: Connection, config: RunConfig, tasks: Mapping[str, TaskDefinition], tools: "_Toolbox"
) -> None:
    while True:
        try:
            plan: EpisodePlan | None = channel.recv()
        except EOFError:
            return
        if plan is None:
            return
        try:
            record = play_episode(
                plan,
                tasks[plan.task],
                agent=tools.agent,
                settings=EpisodeSettings.from_config(config),
                renderer=tools.renderer() if plan.visual else None,
                sink=_sink(channel, plan.id),
            )
        except Exception:
            channel.send(CrashMessage(plan.id, traceback.format_exc()))
            sys.exit(1)
        channel.send(EpisodeMessage(record))


def _sink(channel: Connection, episode: str) -> StepSink:
    def send(step: StepRecord, clean_jpeg: bytes | None) -> None:
        channel.send(StepMessage(episode, step, clean_jpeg))

    return send


class _Toolbox:
    """What a worker keeps over its episodes: the agent, one browser, one server of assets."""

    def __init__(self, config: RunConfig, log: IO[bytes]) -> None:
        self.agent = make_agent(config, log=log)
        self._assets: AssetServer | None = None
        self._renderer: ChromiumRenderer | None = None

    def renderer(self) -> ChromiumRenderer:
        if self._renderer is None:
            self._assets = AssetServer.start()
            self._renderer = ChromiumRenderer.launch(asset_origin=self._assets.origin)
        return self._renderer

    def close(self) -> None:
        self.agent.close()
        if self._renderer is not None:
            self._renderer.close()
        if self._assets is not None:
            self._assets.close()


def make_agent(config: RunConfig, *, log: IO[bytes] | None = None) -> Agent:
    """Make the agent that a run's configuration names."""
    chosen: type[Any] = agent_class(config.agent)
    if chosen is CommandAgent:
        return CommandAgent(config.command or "", timeout_s=config.agent_timeout_s, log=log)
    agent: Agent = chosen()
    return agent
