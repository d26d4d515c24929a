"""A run and its episodes as HTML files that need nothing else."""

import base64
import io
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from PIL import Image

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.common.languages import baseline_language, load_languages
from lowagent_vis.reports.figures import language_figure
from lowagent_vis.reports.reasons import failure_reason
from lowagent_vis.reports.statistics import has_statistics
from lowagent_vis.reports.tables import (
    disruption_counts,
    group_rows,
    language_rows,
    plain_sentences,
    rate_of,
)
from lowagent_vis.reports.texts import isolated_lines, language_styles
from lowagent_vis.runs.records import EpisodeRecord, StepRecord
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
    steps: Sequence[StepRecord]
    see_command: str
    play_command: str
    picture: str | None
    last_url: str


@dataclass(frozen=True)
class ShownStep:
    """A step with its marked picture as a data address, or the step that has the same one."""

    record: StepRecord
    text: Markup
    picture: str | None
    same_as: int | None


def render_report(store: RunStore) -> str:
    """Return the report of a run as HTML.

    Raises:
        UserError: The run's folder is damaged.
    """
    records = sorted(store.episodes(), key=lambda record: record.episode)
    manifest = store.manifest()
    rows = language_rows(records)
    failures = _failures(store, records, manifest)
    examples = _examples(records)
    shown = [failure.record for failure in failures] + list(examples.values())
    example, picture = _example_picture(store, records) if not failures else (None, None)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=store.folder.resolve().name,
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
            examples=examples,
            disruptions=disruption_counts(records),
            endings=group_rows(records, lambda record: record.ended_by),
            failures=failures,
            picture=picture,
            picture_episode=example,
            fonts=_styles(shown),
            max_pictures=_MAX_PICTURES,
        )
    )


def render_episode(store: RunStore, episode: str) -> str:
    """Return the steps of one episode as HTML: what was seen, what was done, what came of it.

    Raises:
        UserError: The run's folder is damaged.
        UnknownNameError: The run holds no such episode.
    """
    records = {record.episode: record for record in store.episodes()}
    if episode not in records:
        raise unknown_name("episode", episode, sorted(records))
    record = records[episode]
    return (
        _environment()
        .get_template("episode.html.j2")
        .render(
            record=record,
            run=store.folder.resolve().name,
            reason=failure_reason(record),
            changes=json.dumps(record.diff, ensure_ascii=False) if record.diff else "none",
            steps=_shown_steps(store, episode),
            fonts=_styles([record]),
        )
    )


def _shown_steps(store: RunStore, episode: str) -> list[ShownStep]:
    first: dict[str, int] = {}
    shown = []
    for step in store.steps(episode):
        key = json.dumps([[image.sha256 for image in step.images], step.marks])
        same_as = first.setdefault(key, step.step) if step.images else step.step
        is_new = same_as == step.step
        picture = _picture(store, episode, step, width_px=None) if is_new else None
        text = Markup(isolated_lines(step.text))  # noqa: S704 - it escapes the text
        shown.append(ShownStep(step, text, picture, None if is_new else same_as))
    return shown


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _styles(records: Iterable[EpisodeRecord]) -> Markup:
    """Return the fonts of the records' texts; a run of other languages than ours has none."""
    codes = {code for record in records for code in (record.language, record.intent_language)}
    return Markup(language_styles(codes & load_languages().keys()))  # noqa: S704 - our own


def _examples(records: Sequence[EpisodeRecord]) -> dict[str, EpisodeRecord]:
    """Return a record a task that shows its intent, in the baseline language if there is one."""
    baseline = baseline_language().code
    ordered = sorted(records, key=lambda record: record.intent_language == baseline)
    return {record.task: record for record in ordered}


def _example_picture(
    store: RunStore, records: Sequence[EpisodeRecord]
) -> tuple[str | None, str | None]:
    """Return the first episode that has pictures and its last page, marked."""
    for record in records:
        steps = list(store.steps(record.episode)) if record.visual else []
        picture = _picture(store, record.episode, steps[-1]) if steps else None
        if picture is not None:
            return record.episode, picture
    return None, None


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
            picture = _picture(store, record.episode, steps[-1])
        failures.append(
            Failure(
                record=record,
                reason=failure_reason(record),
                steps=steps,
                see_command=shlex.join(
                    ["lowagent-vis", "report", str(store.folder), "--episode", record.episode]
                ),
                play_command=_play_command(record, manifest),
                picture=picture,
                last_url=steps[-1].url if steps else "",
            )
        )
    return failures


def _picture(
    store: RunStore, episode: str, step: StepRecord, *, width_px: int | None = _PICTURE_WIDTH_PX
) -> str | None:
    """Return the marked picture of a step, reduced to a width, as a data address."""
    clean = store.clean_jpeg(episode, step.step)
    if clean is None or step.marks is None:
        return None
    marks = MarkedPage.from_json(json.dumps(step.marks))
    if width_px is None:
        return _data_address(draw_on_jpeg(clean, marks, quality=_PICTURE_QUALITY))
    marked = draw_on_jpeg(clean, marks)
    with Image.open(io.BytesIO(marked)) as image:
        height = round(image.height * width_px / image.width)
        small = image.convert("RGB").resize((width_px, height), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=_PICTURE_QUALITY, optimize=True)
    return _data_address(buffer.getvalue())


def _data_address(jpeg: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()


def _play_command(record: EpisodeRecord, manifest: dict[str, Any]) -> str:
    config = manifest.get("config", {})
    command = ["lowagent-vis", "run", "--agent", record.agent]
    if config.get("command"):
        command += ["--command", str(config["command"])]
    command += ["--tasks", record.task, "--langs", record.language]
    command += ["--visual"] * record.visual + ["--disruptions"] * record.disrupted
    if config.get("seed", "0") != "0":
        command += ["--seed", str(config["seed"])]
    return shlex.join(command)
