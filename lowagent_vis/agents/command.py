"""Any program as an agent: JSON lines over its standard input and output.

One process plays all episodes of a worker. The protocol is pinned in `formats.md` 4 and in
`docs/external-agents.md`; it carries a protocol number.
"""

import contextlib
import json
import queue
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from lowagent_vis.agents.base import AgentFailure, EpisodeStart, Reply
from lowagent_vis.observation import Observation
from lowagent_vis.processes import die_with_parent

PROTOCOL = 1
_END_GRACE_S = 2.0


class CommandAgent:
    """Talks to a program of the user's.

    Args:
        command: The program and its arguments, as typed in a shell (no shell runs it).
        timeout_s: Silence for longer than this ends the episode as `provider_error`.
        log: Where the program's standard error goes.
    """

    def __init__(
        self, command: str, *, timeout_s: float = 120.0, log: IO[bytes] | None = None
    ) -> None:
        self._arguments = shlex.split(command)
        self._timeout_s = timeout_s
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._folder = tempfile.TemporaryDirectory(prefix="lowagent-vis-")

    def start(self, episode: EpisodeStart) -> None:
        """Start the program if it does not run and tell it the episode."""
        if self._process is None:
            self._launch()
        images = [
            self._write_image(f"reference-{i}.jpg", data)
            for i, data in enumerate(episode.reference_images)
        ]
        self._send(
            {
                "type": "episode",
                "protocol": PROTOCOL,
                "episode": episode.episode,
                "site": episode.site,
                "language": episode.language,
                "intent": episode.intent,
                "system": episode.system,
                "step_budget": episode.step_budget,
                "reference_images": images,
            }
        )

    def act(self, observation: Observation) -> Reply:
        """Send the observation and wait for one line.

        A line that is not a JSON object with an `action` is handed on as it is: the parser of
        actions will refuse it and the step is spent.
        """
        images, marks = self._images(observation)
        self._send(
            {
                "type": "observation",
                "step": observation.step,
                "steps_left": observation.steps_left,
                "text": observation.text,
                "error": observation.error,
                "images": images,
                "marks": marks,
            }
        )
        line = self._receive()
        for path in (images or {}).values():
            Path(path).unlink(missing_ok=True)
        return _reply(line)

    def end(self, ended_by: str) -> None:
        """Tell the program that the episode is over."""
        if self._process is not None:
            self._send({"type": "end", "ended_by": ended_by})

    def close(self) -> None:
        """Close the program's input, wait shortly, then end it."""
        self._stop()
        self._folder.cleanup()

    def _launch(self) -> None:
        self._lines = queue.Queue()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise AgentFailure(f"cannot start {self._arguments[0]!r}: {error.strerror}") from error
        threading.Thread(
            target=_read_lines, args=(self._process.stdout, self._lines), daemon=True
        ).start()

    def _send(self, message: Mapping[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise AgentFailure("the agent's program does not run")
        try:
            process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
            process.stdin.flush()
        except OSError as error:
            self._stop()
            raise AgentFailure("the agent's program has exited") from error

    def _receive(self) -> bytes:
        try:
            line = self._lines.get(timeout=self._timeout_s)
        except queue.Empty:
            self._stop()
            raise AgentFailure(f"no reply within {self._timeout_s:g} s") from None
        if line is None:
            self._stop()
            raise AgentFailure("the agent's program has exited")
        return line

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            # A pipe to a program that is gone cannot be flushed.
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(timeout=_END_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def _images(self, observation: Observation) -> tuple[dict[str, str] | None, Any]:
        rendering = observation.rendering
        if rendering is None:
            return None, None
        stem = f"{observation.step:03d}"
        images = {
            "marked": self._write_image(f"{stem}.marked.jpg", rendering.marked_jpeg()),
            "clean": self._write_image(f"{stem}.jpg", rendering.clean_jpeg),
        }
        return images, json.loads(rendering.marked.to_json())

    def _write_image(self, name: str, data: bytes) -> str:
        path = Path(self._folder.name) / name
        path.write_bytes(data)
        return str(path)


def _read_lines(stream: IO[bytes] | None, lines: "queue.Queue[bytes | None]") -> None:
    if stream is not None:
        try:
            for line in stream:
                lines.put(line)
        except ValueError:
            pass  # closed while it was read: the program was ended
    lines.put(None)


def _reply(line: bytes) -> Reply:
    text = line.decode("utf-8", errors="replace").rstrip("\r\n")
    try:
        message = json.loads(text)
    except json.JSONDecodeError:
        return Reply(text)
    if not isinstance(message, dict) or not isinstance(message.get("action"), str):
        return Reply(text)
    note, usage = message.get("note"), message.get("usage")
    return Reply(
        text=message["action"],
        note=note if isinstance(note, str) else None,
        usage=usage if isinstance(usage, dict) else {},
    )
