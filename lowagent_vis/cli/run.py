"""`lowagent-vis run`: plays episodes and stores them, with progress."""

import math
import shlex
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from lowagent_sites.registry import site_names
from lowagent_vis.agents.command import check_command
from lowagent_vis.agents.registry import AGENTS, agent_class
from lowagent_vis.browsers.chromium import find_chromium
from lowagent_vis.cli.main import EXIT_FAILED, EXIT_INTERRUPTED
from lowagent_vis.cli.options import chosen_languages, chosen_names, chosen_sites, option
from lowagent_vis.cli.progress import ProgressDisplay
from lowagent_vis.errors import UserError
from lowagent_vis.runs.config import EpisodePlan, RunConfig, plan_episodes
from lowagent_vis.runs.manifest import build_manifest
from lowagent_vis.runs.runner import run_episodes
from lowagent_vis.runs.store import RunStore
from lowagent_vis.task import TaskDefinition, load_subset, load_tasks


@click.command()
@option("--agent", default=None, help=f"Who acts: {', '.join(AGENTS)}.")
@option("--command", default=None, help="With --agent command: the program that acts.")
@option(
    "--agent-timeout",
    default=120.0,
    show_default=True,
    type=click.FloatRange(min=0.1, max=86_400),
    help="Seconds a program may think.",
)
@option("--sites", help=f"Sites, separated by commas: {', '.join(site_names())}; all by default.")
@option("--langs", help="Languages, separated by commas; all by default.")
@option("--tasks", "task_names", help="Task ids, separated by commas; all by default.")
@option("--subset", help="A file of tasks/subsets, by name: one task id a line.")
@option("--limit", type=click.IntRange(min=1), help="Play only the first N tasks of each site.")
@option("--visual", is_flag=True, help="Show marked screenshots beside the text.")
@option("--disruptions", is_flag=True, help="Interrupt with a cookie notice and an ad.")
@option("--ad-every-click", is_flag=True, help="Show the ad after every page load.")
@option("--no-page-text", is_flag=True, help="Observations without the page's text.")
@option("--hide-link-targets", is_flag=True, help="Observations without the targets of links.")
@option("--clean-screenshot", is_flag=True, help="Screenshots without marks.")
@option("--screenshot-only", is_flag=True, help="Observations without text.")
@option("--numerals", type=click.Choice(["local", "western"]), default="local", show_default=True)
@option("--parse-limit", type=click.IntRange(min=1), help="End after N parse errors in a row.")
@option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True)
@option("--seed", default="0", show_default=True, help="Seeds one-time links and random agents.")
@option("--concurrency", type=click.IntRange(1, 256), default=1, show_default=True)
@option("--out", type=click.Path(path_type=Path), help="The run's folder (default: runs/<time>).")
@option("--resume", is_flag=True, help="Continue the run in --out.")
@option(
    "--retry-errors",
    is_flag=True,
    help="With --resume: play once more what ended without a verdict.",
)
def run(
    *,
    agent: str | None,
    command: str | None,
    agent_timeout: float,
    sites: str | None,
    langs: str | None,
    task_names: str | None,
    subset: str | None,
    limit: int | None,
    visual: bool,
    disruptions: bool,
    ad_every_click: bool,
    no_page_text: bool,
    hide_link_targets: bool,
    clean_screenshot: bool,
    screenshot_only: bool,
    numerals: str,
    parse_limit: int | None,
    repeats: int,
    seed: str,
    concurrency: int,
    out: Path | None,
    resume: bool,
    retry_errors: bool,
) -> int:
    """Play tasks with an agent and store every episode.

    Without --agent the reference agent plays. Ctrl-C stops the run; it prints the command that
    continues it.
    """
    name = "reference" if agent is None else agent
    agent_class(name)
    if (name == "command") != (command is not None):
        raise UserError('--agent command goes with --command "program arguments"')
    if command is not None:
        check_command(command)
    _check_company(
        visual=visual,
        disruptions=disruptions,
        ad_every_click=ad_every_click,
        needs_picture=clean_screenshot or screenshot_only,
        out=out,
        resume=resume,
        retry_errors=retry_errors,
    )
    if math.isnan(agent_timeout):
        raise UserError("--agent-timeout is not a number of seconds")
    if visual:
        find_chromium()
    tasks = load_tasks(chosen_sites(sites))
    config = RunConfig(
        agent=name,
        command=command,
        agent_timeout_s=agent_timeout,
        sites=chosen_sites(sites),
        languages=chosen_languages(langs),
        tasks=_chosen_tasks(tasks, task_names, subset, limit, visual),
        subset=subset,
        limit=limit,
        visual=visual,
        disruptions=disruptions,
        ad_every_click=ad_every_click,
        page_text=not no_page_text,
        link_targets=not hide_link_targets,
        clean_screenshot=clean_screenshot,
        screenshot_only=screenshot_only,
        numerals="western" if numerals == "western" else "local",
        parse_limit=parse_limit,
        repeats=repeats,
        seed=seed,
        concurrency=concurrency,
    )
    folder = out or Path("runs") / datetime.now().strftime(f"%Y%m%d-%H%M%S-{name}")
    plans = plan_episodes(config, tasks)
    manifest = build_manifest(config, argv=sys.argv[1:])
    store = (RunStore.resume if resume else RunStore.create)(folder, manifest)
    if agent is None:
        click.echo("agent: reference (no --agent given)")
    with store.writing():
        if retry_errors:
            store.forget_errors()
        return _play(config, tasks, plans, store)


def _check_company(
    *,
    visual: bool,
    disruptions: bool,
    ad_every_click: bool,
    needs_picture: bool,
    out: Path | None,
    resume: bool,
    retry_errors: bool,
) -> None:
    """Check that flags stand beside those that they need."""
    for is_alone, message in (
        (needs_picture and not visual, "--clean-screenshot and --screenshot-only go with --visual"),
        (ad_every_click and not disruptions, "--ad-every-click goes with --disruptions"),
        (resume and out is None, "--resume goes with --out: name the run's folder"),
        (retry_errors and not resume, "--retry-errors goes with --resume"),
    ):
        if is_alone:
            raise UserError(message)


def _play(
    config: RunConfig,
    tasks: tuple[TaskDefinition, ...],
    plans: Sequence[EpisodePlan],
    store: RunStore,
) -> int:
    folder = store.folder
    display = ProgressDisplay(total=len(plans), earlier=tuple(store.episodes()))
    try:
        with display:
            run_episodes(
                plans,
                config=config,
                tasks={task.id: task for task in tasks},
                store=store,
                on_progress=lambda progress: display.advance(progress.record),
            )
    except KeyboardInterrupt:
        click.echo(f"\nstopped; continue with: {resume_command(folder)}", err=True)
        return EXIT_INTERRUPTED
    except UserError:
        click.echo(f"continue with: {resume_command(folder)}", err=True)
        raise
    click.echo(display.summary())
    click.echo(f"see it: lowagent-vis report {shlex.quote(str(folder))}")
    return EXIT_FAILED if display.has_errors else 0


def resume_command(folder: Path) -> str:
    """Return the command that continues a run: the same flags, its folder and `--resume`."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--retry-errors"]
    if "--resume" not in arguments:
        arguments.append("--resume")
    if not any(argument == "--out" or argument.startswith("--out=") for argument in arguments):
        arguments += ["--out", str(folder)]
    return shlex.join(["lowagent-vis", *arguments])


def _chosen_tasks(
    tasks: tuple[TaskDefinition, ...],
    names: str | None,
    subset: str | None,
    limit: int | None,
    visual: bool,
) -> tuple[str, ...]:
    known = [task.id for task in tasks]
    if names is not None:
        chosen = chosen_names("task", names, known)
    else:
        chosen = tuple(t.id for t in tasks if visual or t.modality == "text")
    if subset is not None:
        within = set(chosen_names("task", " ".join(load_subset(subset)), known))
        chosen = tuple(name for name in chosen if name in within)
    if limit is not None:
        sites = {task.id: task.site for task in tasks}
        counted: dict[str, int] = {}
        kept = []
        for name in chosen:
            counted[sites[name]] = counted.get(sites[name], 0) + 1
            if counted[sites[name]] <= limit:
                kept.append(name)
        chosen = tuple(kept)
    if not chosen:
        raise UserError("no task is left; widen --tasks, --subset or --sites")
    return chosen
