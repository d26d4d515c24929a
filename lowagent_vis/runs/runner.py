"""Plays the episodes of a run in worker processes and stores what they send.

The parent alone writes. A worker that is silent for too long or dies is killed and replaced; its
episode is played once more and then recorded as `harness_error`.
"""

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from lowagent_vis.episode import crashed_record
from lowagent_vis.runs.config import EpisodePlan, RunConfig
from lowagent_vis.runs.records import EpisodeRecord
from lowagent_vis.runs.store import RunStore
from lowagent_vis.runs.worker import (
    CrashMessage,
    EpisodeMessage,
    Message,
    StepMessage,
    worker_main,
)
from lowagent_vis.task import TaskDefinition

_MAX_ATTEMPTS = 2
_SILENCE_MARGIN_S = 60.0
_POLL_S = 1.0


@dataclass(frozen=True)
class Progress:
    """How far a run is, told after each finished episode."""

    total: int
    done: int
    record: EpisodeRecord


def run_episodes(
    plans: Sequence[EpisodePlan],
    *,
    config: RunConfig,
    tasks: Mapping[str, TaskDefinition],
    store: RunStore,
    on_progress: Callable[[Progress], None],
) -> None:
    """Play all `plans` that the store does not hold yet; the caller holds `store.writing()`.

    Returns when each has a record. Whatever ends this call early (an interrupt, a full disk), the
    workers are gone when it returns and all finished episodes are stored.

    Raises:
        UserError: The run's folder cannot be written.
    """
    finished = {record.episode for record in store.episodes()}
    queue = deque(plan for plan in plans if plan.id not in finished)
    crew = _Crew(config, tasks, store)
    done = len(plans) - len(queue)
    attempts: dict[str, list[str]] = {}
    try:
        while queue or crew.busy:
            crew.assign(queue)
            for plan, result in crew.collect():
                if isinstance(result, EpisodeRecord) and result.outcome != "harness_error":
                    record = result
                else:
                    errors = attempts.setdefault(plan.id, [])
                    errors += result.errors if isinstance(result, EpisodeRecord) else [result]
                    if len(errors) < _MAX_ATTEMPTS:
                        queue.appendleft(plan)
                        continue
                    record = (
                        result
                        if isinstance(result, EpisodeRecord)
                        else crashed_record(plan, tasks[plan.task], config, errors)
                    )
                earlier = attempts.get(plan.id, [])
                if earlier and record.errors != earlier:
                    record = record.model_copy(update={"errors": [*earlier, *record.errors]})
                store.append_episode(record)
                done += 1
                on_progress(Progress(total=len(plans), done=done, record=record))
    finally:
        crew.stop()


@dataclass
class _Worker:
    process: SpawnProcess
    channel: Connection
    plan: EpisodePlan | None = None
    heard_s: float = field(default_factory=time.monotonic)


class _Crew:
    """The worker processes of a run."""

    def __init__(
        self, config: RunConfig, tasks: Mapping[str, TaskDefinition], store: RunStore
    ) -> None:
        self._config = config
        self._tasks = tasks
        self._store = store
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._silence_s = config.agent_timeout_s + _SILENCE_MARGIN_S

    @property
    def busy(self) -> bool:
        """Whether any worker plays an episode."""
        return any(worker.plan for worker in self._workers)

    def assign(self, queue: deque[EpisodePlan]) -> None:
        """Give each idle worker the next plan; start workers while there is need."""
        idle = [worker for worker in self._workers if worker.plan is None]
        while queue and (idle or len(self._workers) < self._config.concurrency):
            worker = idle.pop(0) if idle else self._start()
            plan = queue.popleft()
            self._store.begin_episode(plan.id)
            worker.plan, worker.heard_s = plan, time.monotonic()
            worker.channel.send(plan)

    def collect(self) -> list[tuple[EpisodePlan, EpisodeRecord | str]]:
        """Wait shortly for messages; return the episodes that ended, with a record or an error."""
        ended: list[tuple[EpisodePlan, EpisodeRecord | str]] = []
        by_channel = {worker.channel: worker for worker in self._workers}
        for ready in wait(list(by_channel), timeout=_POLL_S):
            worker = by_channel[ready]  # type: ignore[index] # only connections were waited for
            result = self._read(worker)
            if result is not None and worker.plan is not None:
                ended.append((worker.plan, result))
                worker.plan = None
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.plan and now - worker.heard_s > self._silence_s:
                ended.append((worker.plan, f"no sign of life for {self._silence_s:.0f} s; killed"))
                self._remove(worker)
        return ended

    def stop(self) -> None:
        """End all workers: idle ones by asking, busy ones by force."""
        for worker in list(self._workers):
            if worker.plan is None and worker.process.is_alive():
                worker.channel.send(None)
                worker.process.join(timeout=10)
            self._remove(worker)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        log = self._store.folder / "worker.log"
        process = self._context.Process(
            target=worker_main, args=(theirs, self._config, self._tasks, log), daemon=True
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _read(self, worker: _Worker) -> EpisodeRecord | str | None:
        try:
            message: Message = worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join(timeout=10)
            self._workers.remove(worker)
            return f"the worker died (exit status {worker.process.exitcode})"
        worker.heard_s = time.monotonic()
        if isinstance(message, StepMessage):
            self._store.write_step(message.episode, message.step, message.clean_jpeg)
            return None
        if isinstance(message, EpisodeMessage):
            return message.record
        if isinstance(message, CrashMessage):
            self._remove(worker)
            return message.trace
        return None

    def _remove(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.channel.close()
        if worker in self._workers:
            self._workers.remove(worker)
