"""What commands print: records as JSON for programs, aligned tables for people; and the options that say which.

Invariant: with `--json`, stdout holds one JSON object per line and nothing else. Imports no heavy library."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from evolve.cli.options import debug_option, json_option
from evolve.sandbox import output as sandbox_output
from evolve.sandbox.output import brief, harmless, one_line

__all__ = [
    "brief",
    "debug_option",
    "emit",
    "emit_all",
    "emit_text",
    "facts",
    "flat",
    "harmless",
    "json_option",
    "one_line",
    "quoted",
    "table",
]

CELL = 1000
"""Characters of a table's cell."""
FACT = 10_000
"""Characters of a fact."""
QUOTE = 1 << 16
"""Characters of somebody else's words that are printed, such as an evaluator's feedback; the log has as much as the task keeps."""


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


def quoted(text: str, most: int = QUOTE) -> str:
    """A program's words of any number of lines, in brief: each line behind a mark that no line of ours has."""
    return sandbox_output.quoted(brief(text, most))
