"""`evolve program quarantine` and `release`: a person's rulings about programs.

Invariant: nothing is ruled here; the answer says what was, and who is the best now."""

from collections.abc import Callable
from pathlib import Path

import click

from evolve.campaign.inbox import Quarantine, Release
from evolve.cli.asking import ask, best_line, steered
from evolve.cli.output import debug_option, emit, facts, json_option
from evolve.cli.references import located
from evolve.cli.say import say


def _ruling(command: Callable[..., None]) -> Callable[..., None]:
    """The argument and the options of both commands."""
    options = (
        click.argument("reference", metavar="[NAME/]ID"),
        click.option("--descendants", is_flag=True, help="Also every program that came of it."),
        click.option("--why", default="", help="The reason, kept with the ruling."),
        json_option,
        debug_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("quarantine")
@_ruling
def quarantine_program(reference: str, descendants: bool, why: str, as_json: bool) -> None:
    """Rule a program out: it stays as evidence, and is never parent, inspiration or best."""
    log, record = located(reference)
    _rule(log, Quarantine(record, descendants, why), as_json=as_json)


@click.command("release")
@_ruling
def release_program(reference: str, descendants: bool, why: str, as_json: bool) -> None:
    """End the quarantine of a program: it claims its places again."""
    log, record = located(reference)
    _rule(log, Release(record, descendants, why), as_json=as_json)


def _rule(log: Path, wish: Quarantine | Release, *, as_json: bool) -> None:
    found = steered(log, ask(log, wish))
    if as_json:
        emit(found)
    else:
        say(facts([("ruling", found.told), ("best", best_line(log, found))]))
