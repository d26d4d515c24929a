"""The report of a run as one HTML file that needs nothing else."""

import base64
import io
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from PIL import Image

from lowagent_vis.reports.figures import language_figure
from lowagent_vis.reports.statistics import has_statistics
from lowagent_vis.reports.tables import (
    disruption_counts,
    failure_reason,
    group_rows,
    language_rows,
    plain_sentences,
    rate_of,
)
from lowagent_vis.runs.records import EpisodeRecord
from lowagent_vis.runs.store import RunStore
from set_of_marks import MarkedPage, draw_on_jpeg

_MAX_PICTURES = 40
_PICTURE_WIDTH_PX = 720
_PICTURE_QUALITY = 70


@dataclass(frozen=True)
class Failure:
    """One episode without success, as the report shows it."""

    record: EpisodeRecord
    reason: str
    command: str
    picture: str | None
    last_url: str


def render_report(store: RunStore) -> str:
    """Return the report of a run as HTML.

    Raises:
        UserError: The run's folder is damaged.
    """
    records = sorted(store.episodes(), key=lambda record: record.episode)
    manifest = store.manifest()
    rows = language_rows(records)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        title=store.folder.name,
        manifest=manifest,
        manifest_json=json.dumps(manifest, ensure_ascii=False, indent=1),
        sentences=plain_sentences(records),
        languages=rows,
        codes=[row.code for row in rows],
        figure=language_figure(rows),
        has_statistics=has_statistics(),
        total=rate_of(records),
        kinds=group_rows(records, lambda record: record.kind),
        tasks=group_rows(records, lambda record: record.task),
        disruptions=disruption_counts(records),
        endings=group_rows(records, lambda record: record.ended_by),
        failures=_failures(store, records, manifest),
        max_pictures=_MAX_PICTURES,
    )


def _failures(
    store: RunStore, records: Sequence[EpisodeRecord], manifest: dict[str, Any]
) -> list[Failure]:
    failures: list[Failure] = []
    for record in records:
        if record.outcome == "success":
            continue
        steps = list(store.steps(record.episode))
        picture = None
        if steps and len(failures) < _MAX_PICTURES:
            picture = _picture(store, record.episode, steps[-1].step, steps[-1].marks)
        failures.append(
            Failure(
                record=record,
                reason=failure_reason(record),
                command=_replay_command(record, manifest),
                picture=picture,
                last_url=steps[-1].url if steps else "",
            )
        )
    return failures


def _picture(store: RunStore, episode: str, step: int, marks: dict[str, Any] | None) -> str | None:
    """Return the marked picture of a step, reduced, as a data address."""
    clean = store.clean_jpeg(episode, step)
    if clean is None or marks is None:
        return None
    marked = draw_on_jpeg(clean, MarkedPage.from_json(json.dumps(marks)))
    with Image.open(io.BytesIO(marked)) as image:
        height = round(image.height * _PICTURE_WIDTH_PX / image.width)
        small = image.convert("RGB").resize((_PICTURE_WIDTH_PX, height), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=_PICTURE_QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def _replay_command(record: EpisodeRecord, manifest: dict[str, Any]) -> str:
    config = manifest.get("config", {})
    command = ["lowagent-vis", "run", "--agent", record.agent]
    if config.get("command"):
        command += ["--command", str(config["command"])]
    command += ["--tasks", record.task, "--langs", record.language]
    command += ["--visual"] * record.visual + ["--disruptions"] * record.disrupted
    if config.get("seed", "0") != "0":
        command += ["--seed", str(config["seed"])]
    return shlex.join(command)
