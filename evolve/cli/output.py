"""Output of commands: JSON for programs, text and tables for people.

With `--json`, stdout holds one JSON object per line and nothing else. Every text for people passes through `say`, so that
nothing that a program or its evaluator wrote can move the cursor, hide words, or pass for words of ours."""

import dataclasses
import io
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import click

from evolve.cli.options import debug_option as debug_option
from evolve.cli.options import json_option as json_option
from evolve.sandbox import output as sandbox_output
from evolve.sandbox.output import BLANK, MARK
from evolve.sandbox.output import brief as brief
from evolve.sandbox.output import harmless as harmless
from evolve.sandbox.output import one_line as one_line
from evolve.types import estimate_tokens

CELL = 1000
"""Characters of a table's cell."""
FACT = 10_000
"""Characters of a fact."""
QUOTE = 1 << 16
"""Characters of a quotation, such as an evaluator's feedback; the log has as much as the task keeps."""
_UNLIMITED = 1 << 20
"""Columns of a pipe or a file."""
_QUOTED_LINE = re.compile(rf"^(\w* *){MARK}(.+)$", re.MULTILINE)


def emit(value: Any) -> None:
    """Prints a dataclass or a mapping, and dataclasses in it, as one line of JSON."""
    emit_text(json.dumps(value, default=dataclasses.asdict, ensure_ascii=False, allow_nan=False))


def emit_all(values: Iterable[Any]) -> None:
    """Prints one line of JSON for each value."""
    for value in values:
        emit(value)


def emit_text(text: str) -> None:
    """Prints a JSON text; characters that a terminal would obey, or that nobody would see, become escapes of the same value."""
    click.echo(text if text.isprintable() else "".join(map(_escape, text)))


def _escape(character: str) -> str:
    return character if character.isprintable() or character in " \n" else json.dumps(character)[1:-1]


def say(text: str, *, nl: bool = True, err: bool = False, file: IO[Any] | None = None) -> None:
    """Prints a text for people, to stderr with `err`, without characters that a terminal would obey or that nobody sees."""
    out = file or (sys.stderr if err else sys.stdout)
    shown = harmless(text)
    if out is not None and out.isatty():
        # The terminal would break long quoted lines itself, and show their rest without the mark.
        shown = _QUOTED_LINE.sub(lambda found: _fold(found[1], found[2].expandtabs(), _columns()), shown)
    click.echo(shown, nl=nl, err=err, file=file)


def _fold(label: str, words: str, columns: int) -> str:
    from rich.cells import chop_cells

    parts = chop_cells(words, max(2, columns - len(label + MARK) - 1))
    return label + MARK + f"\n{' ' * len(label)}{MARK}".join(parts)


def print_exactly(text: str) -> None:
    """Prints code or a diff, and tells on stderr how many of its characters cannot be shown."""
    plain = text.replace("\r\n", "\n")
    shown = harmless(plain)
    if shown:
        click.echo(shown, nl=not shown.endswith("\n"))
    hidden = len(plain) - len(harmless(BLANK.sub("", plain)))
    if hidden > 0:
        say(
            f"({hidden} characters that cannot be shown are left out, or are spaces here; --json has all of it)",
            err=True,
        )


def print_file(path: str, text: str) -> None:
    """Prints a program's file below a heading with its number of lines, so that no line of the file passes for such a heading."""
    shown = harmless(text)
    count = shown.count("\n") + (not shown.endswith("\n")) if shown else 0
    say(f"\n--- {brief(one_line(path), CELL)} ({count} line{'' if count == 1 else 's'})")
    print_exactly(text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, wrap: str = "") -> str:
    """Returns rows under headings. In a pipe or a file the table has all columns, as wide as they are. On a terminal it is no wider than
    that: the column `wrap` breaks its lines, others end in an ellipsis but for the first."""
    # rich takes longer to import than most commands need, and few of them print a table.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[brief(one_line(cell), CELL) for cell in row] for row in rows]
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for place, name in enumerate(headings):
        least = None if place else max(map(len, (name, *(row[0] for row in cells))))
        grid.add_column(
            Text(name), no_wrap=name != wrap, overflow="fold" if name == wrap else "ellipsis", min_width=least
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    width = _columns() if sys.stdout is not None and sys.stdout.isatty() else _UNLIMITED
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, legacy_windows=False).print(grid, crop=False)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _columns() -> int:
    return shutil.get_terminal_size().columns


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns labels and texts, aligned; a label may be empty, and a text have several lines."""
    rows = [(label, brief(text, FACT)) for label, text in pairs]
    width = max(len(label) for label, _ in rows)
    indent = "\n" + " " * (width + 2)
    return "\n".join(f"{label.ljust(width)}  {text.replace(chr(10), indent)}".rstrip() for label, text in rows)


def flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Returns nested tables as dotted keys with their values in JSON, which reads as TOML does."""
    rows: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            rows += flat(value, f"{prefix}{key}.")
        else:
            rows.append((f"{prefix}{key}", json.dumps(value, ensure_ascii=False)))
    return rows


def quote(text: str, most: int = QUOTE) -> str:
    """Returns a program's words, each line behind a mark that no line of ours has, cut after `most` characters."""
    return sandbox_output.quoted(brief(text, most))


def quote_section(name: str, text: str, most: int = QUOTE) -> str:
    """Returns a part of a prompt, or an answer, under its name and the tokens that it takes about."""
    return f"--- {one_line(name)} (about {estimate_tokens(text):,} tokens)\n{quote(text, most)}"
