"""`lowagent-vis tasks`: list, show and build the tasks."""

import json

import click

from lowagent_vis.cli.options import chosen_sites, one_language, option
from lowagent_vis.task_build import build_tasks, describe_task, list_tasks


@click.group()
def tasks() -> None:
    """List, show and build the tasks."""


@tasks.command("list")
@option("--sites", help="Sites, separated by commas; all by default.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(sites: str | None, as_json: bool) -> None:
    """List the tasks: id, kind, modality, family, step budget."""
    rows = list_tasks(chosen_sites(sites))
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        click.echo(
            f"{row['id']:<8} {row['kind']:<12} {row['modality']:<7} "
            f"{row['step_budget']:>3} steps  {row['family']}"
        )


@tasks.command("show")
@click.argument("task")
@option("--lang", default=None, help="Language of the site and the intent; English by default.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_command(task: str, lang: str | None, as_json: bool) -> None:
    """Show one task: its intent, answer, checks and reference actions."""
    language = None if lang is None else one_language(lang)
    shown = describe_task(task, language)
    if as_json:
        click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    for name, value in shown.items():
        if value is None or value in ([], {}):
            continue
        if isinstance(value, list):
            click.echo(f"{name}:")
            for entry in value:
                click.echo(f"  {entry if isinstance(entry, str) else _compact(entry)}")
        else:
            click.echo(f"{name}: {value if isinstance(value, str) else _compact(value)}")


@tasks.command("build")
@option("--sites", help="Sites, separated by commas; all by default.")
@option("--check", is_flag=True, help="Compare with tasks/CHECKSUMS instead of writing it.")
def build_command(sites: str | None, check: bool) -> int:
    """Build every task's instance and answer in every language, and tasks/CHECKSUMS."""
    result = build_tasks(chosen_sites(sites), check=check)
    for line in result.shortfalls:
        click.echo(line)
    click.echo(f"{result.count} instances in {result.folder}")
    return 1 if result.shortfalls else 0


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
