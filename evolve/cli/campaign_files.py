"""`evolve campaign export-config` and `schema`: campaign files from campaigns, and for editors.

Invariant: no file is overwritten."""

from pathlib import Path

import click

from evolve.campaign import Campaign, file, workspace
from evolve.cli.output import debug_option
from evolve.plugins import load
from evolve.types import ConfigError


@click.command("export-config")
@click.argument("name")
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@debug_option
def export_config(name: str, path: Path | None) -> None:
    """Print a campaign file that runs the search of campaign NAME again, or write it to FILE.

    It holds the task and what differs from the defaults. A path to the task is told from where FILE lies.
    """
    with Campaign.open(name, load(), workspace()) as opened:
        text = file.written(opened, path.parent if path else None)
    if path is None:
        click.echo(text, nl=False)
    else:
        _write(path, text)
        click.echo(f"evolve run -c {path}")


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise ConfigError(f"there is a file {str(path)!r} already. Do: name another one, or remove it") from error
    except OSError as error:
        raise ConfigError(
            f"the campaign file cannot be written to {str(path)!r}: {error.strerror}. Do: name another place"
        ) from error


@click.command("schema")
@debug_option
def show_schema() -> None:
    """Print what a campaign file may say, as a JSON Schema for editors."""
    click.echo(file.json_schema(), nl=False)
