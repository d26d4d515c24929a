"""Any program as an agent: JSON lines over its standard input and output.

One process plays all episodes of a worker. The protocol is pinned in `formats.md` 4 and in
`docs/external-agents.md`; it carries a protocol number.
"""

import contextlib
import json
import os
import select
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from lowagent_vis.agents.base import AgentFailure, EpisodeStart, Reply
from lowagent_vis.errors import UserError
from lowagent_vis.observation import Observation
from lowagent_vis.processes import die_with_parent

PROTOCOL = 1
MAX_LINE_BYTES = 2**20
_END_GRACE_S = 2.0
_MAX_UNASKED_READS = 1000
_PLAIN = (str, int, float, bool, type(None))


def check_command(command: str) -> list[str]:
    """Split a command as a shell would and check that its program is there.

    Raises:
        UserError: It cannot be read, or there is no such program.
    """
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UserError(f"--command cannot be read ({error}): {command}") from error
    if not arguments or shutil.which(arguments[0]) is None:
        name = arguments[0] if arguments else ""
        raise UserError(f'--command: there is no program "{name}"; name one that runs')
    return arguments


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
        self._arguments = check_command(command)
        self._timeout_s = timeout_s
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._folder = tempfile.TemporaryDirectory(prefix="lowagent-vis-")

    def start(self, episode: EpisodeStart) -> None:
        """Start the program if it does not run and tell it the episode.

        Lines that it wrote unasked in an earlier episode are dropped.
        """
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._process is None:
            self._launch()
        self._forget_unasked()
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
        actions will refuse it and the step is spent. Lines that came before the observation was
        sent answer nothing and are dropped, and so is a reply that names another step.
        """
        self._forget_unasked()
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
        while _step_of(line) not in {None, observation.step}:
            line = self._receive()
        for path in (images or {}).values():
            Path(path).unlink(missing_ok=True)
        return _reply(line)

    def end(self, ended_by: str) -> None:
        """Tell the program that the episode is over; one that has exited needs no telling."""
        if self._process is not None:
            with contextlib.suppress(AgentFailure):
                self._send({"type": "end", "ended_by": ended_by})

    def close(self) -> None:
        """Close the program's input, wait shortly, then end it."""
        self._stop()
        self._folder.cleanup()

    def _launch(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise AgentFailure(f"cannot start {self._arguments[0]!r}: {error.strerror}") from error
        self._unread = b""
        self._has_dropped_part = False
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)

    def _send(self, message: Mapping[str, Any]) -> None:
        stream = self._process.stdin if self._process is not None else None
        if stream is None:
            raise AgentFailure("the agent's program does not run")
        rest = memoryview(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        deadline_s = time.monotonic() + self._timeout_s
        while rest:
            _, ready, _ = select.select([], [stream], [], max(0.0, deadline_s - time.monotonic()))
            if not ready:
                self._stop()
                raise AgentFailure(f"the program read nothing for {self._timeout_s:g} s")
            try:
                rest = rest[os.write(stream.fileno(), rest) :]
            except OSError as error:
                self._stop()
                raise AgentFailure("the agent's program has exited") from error

    def _receive(self) -> bytes:
        """Return the next line, without its end."""
        deadline_s = time.monotonic() + self._timeout_s
        while b"\n" not in self._unread:
            if len(self._unread) > MAX_LINE_BYTES:
                self._stop()
                raise AgentFailure(f"a reply of more than {MAX_LINE_BYTES} bytes")
            part = self._read(max(0.0, deadline_s - time.monotonic()))
            if not part:
                self._stop()
                raise AgentFailure(
                    "the agent's program has exited"
                    if part is not None
                    else f"no reply within {self._timeout_s:g} s"
                )
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        if self._has_dropped_part and not line.strip():
            # The end of a line whose beginning came unasked; an unbuffered program sends it apart.
            self._has_dropped_part = False
            return self._receive()
        self._has_dropped_part = False
        return line

    def _read(self, timeout_s: float) -> bytes | None:
        """Return what the program wrote, nothing if it has exited, None if it is silent."""
        stream = self._process.stdout if self._process is not None else None
        if stream is None:
            return b""
        ready, _, _ = select.select([stream], [], [], timeout_s)
        return os.read(stream.fileno(), 2**16) if ready else None

    def _forget_unasked(self) -> None:
        last, self._unread = self._unread, b""
        for _ in range(_MAX_UNASKED_READS):
            part = self._read(0.0)
            if not part:
                break
            last = part
        if last:
            self._has_dropped_part = not last.endswith(b"\n")

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
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


def _step_of(line: bytes) -> int | None:
    """Return the step that a reply says it answers, if it says so."""
    message = _json(line.decode("utf-8", errors="replace"))
    step = message.get("step") if isinstance(message, dict) else None
    return step if isinstance(step, int) else None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _reply(line: bytes) -> Reply:
    text = line.decode("utf-8", errors="replace").rstrip("\r")
    message = _json(text)
    if not isinstance(message, dict) or not isinstance(message.get("action"), str):
        return Reply(text)
    note, usage = message.get("note"), message.get("usage")
    return Reply(
        text=message["action"],
        note=note if isinstance(note, str) else None,
        usage=_plain_usage(usage) if isinstance(usage, dict) else {},
    )


def _plain_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that a record can hold: plain values, or one level of them by name."""
    found: dict[str, Any] = {}
    for name, value in usage.items():
        if isinstance(value, dict):
            found[name] = {key: v for key, v in value.items() if isinstance(v, _PLAIN)}
        elif isinstance(value, _PLAIN):
            found[name] = value
    return found
