"""`evolve campaign table`: all records of a campaign as a file for other programs.

Invariant: what the file is follows from its name alone."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from evolve import report
from evolve.campaign import Campaign, workspace
from evolve.cli.output import debug_option, emit, json_option
from evolve.cli.say import say
from evolve.plugins import load
from evolve.types import ConfigError

WRITERS: Mapping[str, Callable[[report.Columnar, Path], None]] = {
    ".csv": report.write_csv,
    ".parquet": report.write_parquet,
}


@click.command("table")
@click.argument("name")
@click.argument("target", metavar="FILE.csv|FILE.parquet", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@debug_option
def table_campaign(name: str, target: Path, as_json: bool) -> None:
    """Write all records of campaign NAME, one a row, as CSV or Parquet."""
    write = WRITERS.get(target.suffix)
    if write is None:
        raise ConfigError(
            f"a table is written to a file that ends in {' or '.join(WRITERS)}, got {target.name!r}. Do: name one"
        )
    with Campaign.open(name, load(), workspace()) as campaign:
        table = report.columnar(campaign)
        write(table, target)
    if as_json:
        emit({"rows": len(table), "columns": list(table.columns), "file": str(target)})
    else:
        say(f"{len(table):,} rows, {len(table.columns)} columns  {target}")
