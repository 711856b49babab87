"""The command line: which commands there are, and how every error is reported.

Invariant: a command's module is imported when the command is called, so `evolve --help` imports no heavy library; whatever a user
can cause ends as one line `evolve: error: ...` and exit code 1 (2 for a wrong option, 130 for an interrupt)."""

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from evolve.cli.options import debug_option

GROUP = "evolve.commands"

COMMANDS = {
    "run": ("evolve.cli.run:run", "Search for better programs: a new campaign on TASK, or more of an old one."),
    "campaign": ("evolve.cli.campaign:campaign", "List, show and replay campaigns."),
    "program": ("evolve.cli.program:program", "List, show and compare the programs of a campaign; evaluate your own."),
    "report": ("evolve.cli.report:report", "Write what a campaign found, and how, into one file."),
    "compare": ("evolve.cli.comparing:compare", "Compare strategies or settings at equal budget."),
    "view": ("evolve.cli.viewing:view", "Look at campaigns in a browser."),
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


class Commands(click.Group):
    """The commands of `COMMANDS`, and those that third parties name in the entry-point group `evolve.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The bundled commands in their order, then the third parties'."""
        return [*COMMANDS, *sorted(_third_party().keys() - COMMANDS.keys())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, whose module is imported now; a usage error for one that there is not."""
        if cmd_name in COMMANDS:
            command: click.Command = _imported(COMMANDS[cmd_name][0])
            return command
        points = _third_party()
        if cmd_name in points:
            load: Callable[[EntryPoint], click.Command] = _imported("evolve.cli.third_party:load_command")
            return load(points[cmd_name])
        if cmd_name.startswith("-") or ctx.resilient_parsing:
            return None
        did_you_mean = _imported("evolve.types.suggest:did_you_mean")
        raise click.UsageError(
            f"there is no command {cmd_name!r}.{did_you_mean(cmd_name, self.list_commands(ctx))}", ctx
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for `--help`, without importing any of them."""
        rows = [(name, summary) for name, (_, summary) in COMMANDS.items()]
        rows += [(name, f"({point.value})") for name, point in sorted(_third_party().items()) if name not in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command, and reports what it raises for the user. A process that holds keys, and is the command's own, is closed to
        others first; a Ctrl-C that comes when its command is over ends it as one within the command does."""
        reported: Callable[[Callable[[click.Context], Any], click.Context], Any] = _imported(
            "evolve.cli.errors:reported"
        )
        if ctx.obj is not _OWN_PROCESS:
            return reported(super().invoke, ctx)
        _imported("evolve.sandbox.kernel:close_to_others")()
        try:
            return reported(super().invoke, ctx)
        finally:
            signal.signal(signal.SIGINT, _end_at_once)


def _third_party() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _imported(reference: str) -> Any:
    """`module:name`."""
    module, _, name = reference.partition(":")
    return vars(import_module(module))[name]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="evolve", message="evolve %(version)s")
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
