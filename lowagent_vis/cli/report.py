"""`lowagent-vis report`: what a run says, on the terminal and as one HTML file."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from lowagent_vis.cli.options import option
from lowagent_vis.errors import UserError
from lowagent_vis.reports.html import render_episode, render_report
from lowagent_vis.reports.statistics import has_statistics
from lowagent_vis.reports.tables import language_rows, plain_sentences, report_data
from lowagent_vis.runs.records import EpisodeRecord
from lowagent_vis.runs.store import RunStore

_REPORT_FILE = "report.html"
_EPISODES_FOLDER = "episodes"


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--json", "as_json", is_flag=True, help="Print the numbers as JSON; write no file.")
@option("--episode", help="Write a page with every step of this episode instead.")
def report(runs: tuple[Path, ...], as_json: bool, episode: str | None) -> None:
    """Print what each run says and write its report.html.

    With --episode: what the agent saw, did and was told, step by step, in episodes/<id>.html.
    """
    for folder in runs:
        store = RunStore.open(folder)
        if episode is not None:
            path = folder / _EPISODES_FOLDER / f"{episode}.html"
            _write(path, render_episode(store, episode))
            click.echo(f"episode: {path}")
            continue
        records = list(store.episodes())
        if not records:
            raise UserError(f"{folder} has no finished episode yet; continue it with --resume")
        if as_json:
            click.echo(json.dumps(report_data(records), ensure_ascii=False, indent=1))
            continue
        path = folder / _REPORT_FILE
        _write(path, render_report(store))
        for sentence in plain_sentences(records):
            click.echo(sentence)
        if not has_statistics():
            click.echo("Intervals and figures need the extra: pip install 'lowagent-vis[stats]'")
        _print_table(records)
        click.echo(f"report: {path}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"cannot write {path} ({error.strerror}); free space or copy the run"
        ) from error


def _print_table(records: list[EpisodeRecord]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("language", "solved", "of", "errors", "mean steps"):
        table.add_column(heading, justify="left" if heading == "language" else "right")
    for row in language_rows(records):
        steps = "" if row.mean_steps is None else f"{row.mean_steps:.1f}"
        table.add_row(
            row.name, str(row.rate.successes), str(row.rate.count), str(row.rate.errors), steps
        )
    Console().print(table)
