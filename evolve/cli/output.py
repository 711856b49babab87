"""What commands print: records as JSON for programs, aligned tables for people; and the options that all commands share.

Invariant: with `--json`, stdout holds one JSON object per line and nothing else. Imports no heavy library."""

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click

from evolve.sandbox.output import readable

DEBUG = "evolve.debug"
"""The key in `click.Context.meta` that says that tracebacks are wanted."""

CELL = 1000
"""Characters of a table's cell."""
FACT = 10_000
"""Characters of a fact."""

Command = TypeVar("Command", bound=Callable[..., Any])


def _set_debug(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted or os.environ.get("EVOLVE_DEBUG", "") not in ("", "0"):
        context.meta[DEBUG] = True


def debug_option(command: Command) -> Command:
    """`--debug`: an error comes with its traceback; so it does where `EVOLVE_DEBUG` is set."""
    return click.option(
        "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
    )(command)


def json_option(command: Command) -> Command:
    """`--json`, given to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object per line on stdout, nothing else.")(
        command
    )


def emit(value: Any) -> None:
    """Prints a dataclass or a mapping as one line of JSON."""
    plain = dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
    emit_text(json.dumps(plain, ensure_ascii=False, allow_nan=False))


def emit_text(text: str) -> None:
    """Prints JSON that is a text already: the same values, with escapes for what a terminal would obey or nobody would see."""
    click.echo(text if text.isprintable() else "".join(map(_escaped, text)))


def _escaped(character: str) -> str:
    return character if character.isprintable() or character in " \n" else json.dumps(character)[1:-1]


def emit_all(values: Iterable[Any]) -> None:
    """Prints one line of JSON for each."""
    for value in values:
        emit(value)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows under headings, each column as wide as its widest cell. A cell is one line."""
    lines = [list(headings), *([brief(one_line(cell), CELL) for cell in row] for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels and texts, aligned; a label may be empty, and a text have several lines."""
    given = [(label, brief(text, FACT)) for label, text in pairs]
    width = max(len(label) for label, _ in given)
    indent = "\n" + " " * (width + 2)
    return "\n".join(f"{label.ljust(width)}  {text.replace(chr(10), indent)}".rstrip() for label, text in given)


def flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested tables as dotted keys with their values in JSON, which reads as TOML does."""
    rows: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            rows += flat(value, f"{prefix}{key}.")
        else:
            rows.append((f"{prefix}{key}", json.dumps(value, ensure_ascii=False)))
    return rows


def harmless(text: str) -> str:
    """A text without what a terminal would obey and what nobody sees. Each line by itself: what one begins hides nothing of the next."""
    return "\n".join(map(readable, text.split("\n")))


def one_line(text: str) -> str:
    """A harmless text without line breaks, such as the path of a program's file."""
    return " ".join(harmless(text).split())


def brief(text: str, most: int) -> str:
    """The beginning of a text, made harmless before it is cut, and how much more there is."""
    text = harmless(text)
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most:,} more characters)"
