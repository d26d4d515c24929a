"""`lowagent-vis build`: the databases of all sites and languages, into the user's cache."""

import time

import click

from lowagent_sites.common.seeds import seed_database
from lowagent_vis.cli.options import chosen_languages, chosen_sites, option


@click.command()
@option("--sites", help="Sites to build, separated by commas; all by default.")
@option("--langs", help="Languages to build, separated by commas; all by default.")
@option("--quiet", is_flag=True, help="Print nothing but errors.")
def build(sites: str | None, langs: str | None, quiet: bool) -> None:
    """Build the databases (they are built at first use anyway)."""
    for site in chosen_sites(sites):
        for language in chosen_languages(langs):
            started_s = time.monotonic()
            seed = seed_database(site, language)
            if not quiet:
                click.echo(
                    f"{site}.{language}: {seed.path} "
                    f"({len(seed.data) / 2**20:.1f} MiB, {time.monotonic() - started_s:.1f} s)"
                )
