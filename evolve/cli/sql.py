"""`evolve sql`: a question to a campaign's log in SQL.

Invariant: nothing is written; with --json and --csv rows are printed while they are read, so that their number does not matter."""

import csv
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

import click

from evolve.campaign import existing_path, workspace
from evolve.cli.output import debug_option, emit, json_option, table
from evolve.cli.say import say
from evolve.report.columnar import harmless
from evolve.store.query import Answer, Value, asked

SHOWN = 1_000
SECONDS = 60.0


@click.command("sql")
@click.argument("name")
@click.argument("statement")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a line of headings.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help=f"How many rows; 0 means all. A table shows {SHOWN:,}, --json and --csv print all.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.0, min_open=True),
    default=SECONDS,
    show_default=True,
    help="How long it may take.",
)
@json_option
@debug_option
def sql(name: str, statement: str, as_csv: bool, limit: int | None, seconds: float, as_json: bool) -> None:
    """Ask the log of campaign NAME with one SELECT. `evolve sql NAME "select * from records limit 3"`; the tables and views are those of
    docs/schema.md, and unpacked(body) is the text of a row of `texts`.
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    with asked(existing_path(workspace(), name), statement, seconds) as answer:
        if as_json:
            for row in _limited(answer, limit):
                emit(dict(zip(answer.headings, map(_plain, row), strict=True)))
        elif as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(map(harmless, answer.headings))
            writer.writerows([_cell(value) for value in row] for row in _limited(answer, limit))
        else:
            _show(answer, SHOWN if limit is None else limit)


def _limited(answer: Answer, limit: int | None) -> Iterator[Sequence[Value]]:
    return islice(answer.rows, limit or None)


def _show(answer: Answer, limit: int) -> None:
    rows = [[_text(value) for value in row] for row in islice(answer.rows, limit or None)]
    say(table(answer.headings, rows))
    if limit and next(answer.rows, None) is not None:
        say(f"(the first {limit:,} rows; --limit 0 shows all)", err=True)


def _plain(value: Value) -> int | float | str | None:
    """As JSON has it: bytes as hexadecimal digits, and no infinity."""
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Value) -> str:
    return str(harmless(value)) if isinstance(value, str) else _text(value)


def _text(value: Value) -> str:
    return "" if value is None else value.hex() if isinstance(value, bytes) else str(value)
