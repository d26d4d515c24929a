"""`lowagent-vis shot`: one page as an agent sees it, from the shell."""

from pathlib import Path

import click

from lowagent_vis.cli.options import one_language, one_site, option
from lowagent_vis.errors import ActionError, HarnessError, UserError
from lowagent_vis.executor import resolve_path
from lowagent_vis.shots import shot_name, take_shot, write_shot


@click.command()
@click.argument("site")
@click.argument("path", default="/")
@option("--lang", default=None, help="The language; English by default.")
@option("--login", default=None, help="Sign in as this user first.")
@option("--width", type=click.IntRange(320, 2560), default=1280, show_default=True)
@option("--out", type=click.Path(path_type=Path), help="The folder (default: shot/<page>).")
def shot(
    site: str, path: str, lang: str | None, login: str | None, width: int, out: Path | None
) -> None:
    """Draw one page: clean.jpg, marked.jpg, marks.json, text.txt, side_by_side.html."""
    site_name = one_site(site)
    language = one_language(lang)
    try:
        taken = take_shot(site_name, language, path, login=login, width_px=width)
    except (ActionError, HarnessError) as error:
        raise UserError(str(error)) from error
    folder = out or Path("shot") / shot_name(site_name, language, taken.page.url)
    write_shot(taken, folder)
    if taken.status != 200:
        click.echo(f"note: the site answered {taken.status}", err=True)
    if taken.page.url != resolve_path(path):
        click.echo(f"note: {path} led on to {taken.page.url}", err=True)
    click.echo(folder)
