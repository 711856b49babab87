"""`evolve program star`, `unstar`, `tag`, `untag` and `comment`: what a person marks, for the commands and pages that show it.

Invariant: nothing here changes a campaign or its log."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from evolve.cli.output import CELL, brief, debug_option, emit, facts, json_option, one_line, quoted
from evolve.cli.references import located
from evolve.cli.say import say
from evolve.store import Log
from evolve.store.comments import Comments, Marks, author
from evolve.types import ConfigError, RecordId
from evolve.types.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Marked:
    """A program with its marks, as they are now."""

    program: str
    marks: Marks


def _marking(command: Callable[..., None]) -> Callable[..., None]:
    """The argument and the options of all of them."""
    for option in (debug_option, json_option):
        command = option(command)
    return click.argument("reference", metavar="[NAME/]ID")(command)


@click.command("star")
@_marking
def star_program(reference: str, as_json: bool) -> None:
    """Star a program, to find it again: evolve program list --starred."""
    _marked(reference, lambda marks, record: marks.star(record, True), as_json=as_json)


@click.command("unstar")
@_marking
def unstar_program(reference: str, as_json: bool) -> None:
    """Take a program's star."""
    _marked(reference, lambda marks, record: marks.star(record, False), as_json=as_json)


@click.command("tag")
@_marking
@click.argument("tag")
def tag_program(reference: str, tag: str, as_json: bool) -> None:
    """Give a program a tag of your own, to find it again: evolve program list --tag TAG."""
    _marked(reference, lambda marks, record: marks.tag(record, tag, True), as_json=as_json)


@click.command("untag")
@_marking
@click.argument("tag")
def untag_program(reference: str, tag: str, as_json: bool) -> None:
    """Take a tag from a program."""

    def change(marks: Comments, record: RecordId) -> None:
        tags = marks.of(record).tags
        if tag.strip() not in tags:
            has = f"its tags are {', '.join(map(repr, tags))}" if tags else "it has none"
            remedy = f"{did_you_mean(tag, tags)} Do: name one of them" if tags else " Do: nothing"
            raise ConfigError(f"{reference} has no tag {brief(tag, CELL)!r}: {has}.{remedy}")
        marks.tag(record, tag, False)

    _marked(reference, change, as_json=as_json)


@click.command("comment")
@_marking
@click.argument("text", required=False)
@click.option(
    "--remove", type=click.IntRange(min=1), metavar="NUMBER", help="Remove the comment of this number instead."
)
def comment_program(reference: str, text: str | None, remove: int | None, as_json: bool) -> None:
    """Write a comment on a program; `evolve program show` shows it."""
    if (text is None) == (remove is None):
        raise ConfigError("a comment is written or removed. Do: give a TEXT, or --remove NUMBER")

    def change(marks: Comments, record: RecordId) -> None:
        if remove is None:
            marks.comment(record, text or "", author(), time.time())
            return
        comments = marks.of(record).comments
        if remove > len(comments):
            raise ConfigError(
                f"there is no comment {remove}: the program has {len(comments)}. Do: evolve program show {reference}"
            )
        marks.remove(record, comments[remove - 1].at)

    _marked(reference, change, as_json=as_json)


def _marked(reference: str, change: Callable[[Comments, RecordId], None], *, as_json: bool) -> None:
    log, record = located(reference)
    with Log.open(log, readonly=True) as opened:
        opened.settled(record)
    comments = Comments(log)
    change(comments, record)
    marks = comments.of(record)
    if as_json:
        emit(Marked(f"{log.stem}/{record}", marks))
    else:
        say(facts([("program", f"{log.stem}/{record}"), *(told(marks) or [("marks", "none")])]))


def told(marks: Marks) -> list[tuple[str, str]]:
    """Labels and texts for a person; nothing where there is no mark. Whoever wrote them may have meant harm."""
    rows = [("starred", "yes")] if marks.starred else []
    if marks.tags:
        rows.append(("tags", ", ".join(map(one_line, marks.tags))))
    lines = [
        f"{number}. {_when(one.at)} {brief(one_line(one.by), CELL)}: {quoted(one.text)}"
        for number, one in enumerate(marks.comments, 1)
    ]
    return [*rows, ("comments", "\n".join(lines))] if lines else rows


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def picked(log: Path, *, starred: bool, tag: str) -> list[RecordId]:
    """The records that have a star, or a tag, or both where both are wanted."""
    marked = Comments(log).marked()
    return [
        record for record, marks in marked.items() if (marks.starred or not starred) and (not tag or tag in marks.tags)
    ]
