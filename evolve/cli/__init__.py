"""The command line: which commands there are, and how every error is reported.

Invariant: a command's module is imported when the command is called, so `evolve --help` imports no heavy library; whatever a user
can cause ends as one line `evolve: error: ...` and exit code 1 (2 for a wrong option, 130 for an interrupt)."""

import os
import signal
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click

from evolve.cli.options import debug_option
from evolve.cli.plugin_commands import PluginGroup, find_commands, import_name, read_summary

COMMANDS = {
    "run": ("evolve.cli.run:run", "Search for better programs: a new campaign on TASK, or more of an old one."),
    "campaign": ("evolve.cli.campaign:campaign", "List, show and replay campaigns."),
    "program": ("evolve.cli.program:program", "List, show and compare the programs of a campaign; evaluate your own."),
    "task": ("evolve.cli.task:task", "List, write and check tasks."),
    "model": ("evolve.cli.model:model", "List kinds of models, see whether a model answers, and what was asked."),
    "sandbox": ("evolve.cli.sandbox:sandbox", "How well candidates are isolated on this machine, and why not better."),
    "devices": ("evolve.cli.devices:devices", "The cores and GPUs of this machine, and who has them now."),
    "plugin": ("evolve.cli.plugin:plugin", "List the plugins with what each provides."),
}
"""By name: where the command is, and its line in `evolve --help`."""
_INTERRUPTED = 130
_OWN_PROCESS = object()
"""The context of a command that was started as a program; a test, or another program that calls it, remains as it is."""


class Commands(PluginGroup):
    """The commands of `COMMANDS`, and those of plugins."""

    prefix = ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the commands of `COMMANDS` in their order, then those of plugins."""
        return [*COMMANDS, *sorted(find_commands().keys() - COMMANDS.keys())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a command, whose module is imported now; raises a usage error for one that there is not."""
        if cmd_name in COMMANDS:
            command: click.Command = import_name(COMMANDS[cmd_name][0])
            return command
        found = super().get_command(ctx, cmd_name)
        if found is not None or cmd_name.startswith("-") or ctx.resilient_parsing:
            return found
        did_you_mean = import_name("evolve.types.errors:did_you_mean")
        raise click.UsageError(
            f"there is no command {cmd_name!r}.{did_you_mean(cmd_name, self.list_commands(ctx))}", ctx
        )

    def summarise(self, ctx: click.Context, name: str, points: dict[str, EntryPoint]) -> str:
        """Returns a command's line in `--help`, without importing any."""
        return COMMANDS[name][1] if name in COMMANDS else read_summary(points[name])

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command, and reports what it raises for the user. A process that holds keys, and is the command's own, is closed to
        others first; a Ctrl-C that comes when its command is over ends it as one within the command does."""
        report_errors: Callable[[Callable[[click.Context], Any], click.Context], Any] = import_name(
            "evolve.cli.errors:report_errors"
        )
        if ctx.obj is not _OWN_PROCESS:
            return report_errors(super().invoke, ctx)
        import_name("evolve.sandbox.kernel:close_to_others")()
        try:
            return report_errors(super().invoke, ctx)
        finally:
            signal.signal(signal.SIGINT, _end_at_once)


def _use_workspace(context: click.Context, _: click.Parameter, folder: str | None) -> None:
    """Names the workspace for this process and for those that the command starts."""
    if folder is not None and not context.resilient_parsing:
        os.environ["EVOLVE_HOME"] = str(Path(folder).expanduser().absolute())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="evolve", message="evolve %(version)s")
@click.option(
    "--workspace",
    metavar="DIR",
    expose_value=False,
    callback=_use_workspace,
    help="Keep and find campaigns in DIR/archive.  [default: $EVOLVE_HOME, or the current folder]",
)
@debug_option
def evolve() -> None:
    """Evolutionary search for better programs.

    Begin with: evolve run online_bin_packing --budget 60s
    """


def main() -> None:
    """The script `evolve`; ends the process."""
    try:
        sys.exit(evolve(prog_name="evolve", obj=_OWN_PROCESS))
    finally:
        signal.signal(signal.SIGINT, _end_at_once)


def _end_at_once(*_: object) -> None:
    """One more Ctrl-C, while the process waits for its last threads: it ends as the first one says."""
    os._exit(_INTERRUPTED)
