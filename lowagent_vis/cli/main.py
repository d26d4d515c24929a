"""The `lowagent-vis` command: finds the sub-command, prints errors as one line each."""

import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

import click

from lowagent_sites.common.errors import PrerequisiteError, UnknownNameError, unknown_name
from lowagent_vis.errors import UserError

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

COMMANDS: Mapping[str, str] = {
    "build": "lowagent_vis.cli.build:build",
    "doctor": "lowagent_vis.cli.doctor:doctor",
    "report": "lowagent_vis.cli.report:report",
    "run": "lowagent_vis.cli.run:run",
    "serve": "lowagent_vis.cli.serve:serve",
    "shot": "lowagent_vis.cli.shot:shot",
    "tasks": "lowagent_vis.cli.tasks:tasks",
}


class _LazyGroup(click.Group):
    """Imports a sub-command's module when it is called, so that `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all sub-commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import and return a sub-command.

        Raises:
            UnknownNameError: There is no such sub-command.
        """
        if cmd_name not in COMMANDS:
            raise unknown_name("command", cmd_name, COMMANDS)
        module_name, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module_name), attribute)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lowagent-vis")
def cli() -> None:
    """Measure how well vision-language models act as web agents in low-resource languages.

    Start with `lowagent-vis doctor`, then `lowagent-vis run --visual --disruptions`.
    Every flag can also be set as an environment variable LOWAGENT_VIS_<FLAG>.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a shortfall, 2 bad input, 130 interrupted."""
    # A cluster's scheduler ends a job with SIGTERM; that is an interrupt as well.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run_cli(arguments))


def run_cli(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status instead of exiting."""
    try:
        result = cli.main(args=arguments, standalone_mode=False, prog_name="lowagent-vis")
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        return EXIT_INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return EXIT_BAD_INPUT
    except click.ClickException as error:
        return _fail(_first_line(error.format_message()))
    except (UserError, PrerequisiteError, UnknownNameError) as error:
        return _fail(str(error))
    return result if isinstance(result, int) else EXIT_OK


def _fail(message: str) -> int:
    click.echo(f"error: {message}", err=True)
    return EXIT_BAD_INPUT


def _first_line(message: str) -> str:
    line = " ".join(message.split())
    return line[0].lower() + line[1:] if line[:1].isupper() else line
