"""`lowagent-vis serve`: one site in one language as an ordinary server, for people and tools."""

import os
import secrets
from pathlib import Path

import click

from lowagent_sites.common.serve import default_port
from lowagent_sites.common.serve import serve as serve_site
from lowagent_vis.cli.options import one_language, one_site, option

_TOKEN_VARIABLE = "LOWAGENT_VIS_HARNESS_TOKEN"  # noqa: S105 - the variable's name


@click.command()
@option("--site", required=True, help="The site.")
@option("--lang", default=None, help="Its language; English by default.")
@option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=None,
    help="The port (default: by site and language).",
)
@option(
    "--log",
    "log_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="A file to which one line of JSON is appended per request.",
)
def serve(site: str, lang: str | None, port: int | None, log_file: Path | None) -> None:
    """Serve a site on 127.0.0.1 until Ctrl-C.

    The harness endpoints need the token in LOWAGENT_VIS_HARNESS_TOKEN; without one a token is
    made for this server and printed.
    """
    site_name = one_site(site)
    language = one_language(lang)
    given = os.environ.get(_TOKEN_VARIABLE)
    token = given or secrets.token_urlsafe(32)
    chosen_port = port if port is not None else default_port(site_name, language)

    def tell() -> None:
        if not given:
            click.echo(f"harness token of this server: {token}", err=True)
        click.echo(f"{site_name} in {language}: http://127.0.0.1:{chosen_port}/ (Ctrl-C ends it)")

    serve_site(site_name, language, port=chosen_port, token=token, log_file=log_file, on_ready=tell)
