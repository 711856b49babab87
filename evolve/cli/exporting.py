"""`evolve program export`: one program with everything that its score rests on, as a folder or a zip file.

Invariant: the log is opened for reading only, and what is written is written whole or not at all."""

from dataclasses import dataclass
from pathlib import Path

import click

import evolve.task
from evolve import publish, report
from evolve.campaign import Campaign
from evolve.cli.output import debug_option, emit, facts, json_option, say
from evolve.cli.program_reference import open_program
from evolve.cli.request import find_task
from evolve.publish.telling import value_told
from evolve.types import RecordId


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where."""

    name: str
    program: str
    path: str
    files: int
    bytes: int
    promoted: bool
    quarantined: str
    event: str = "exported"


@click.command("export")
@click.argument("reference", metavar="[NAME/]ID")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    help="The folder, or a file that ends in .zip.  [default: NAME-ID]",
)
@click.option("--task", "moved", metavar="TASK", help="Where the task is, if it has moved.")
@click.option("--force", is_flag=True, help="Replace an export that is there already.")
@json_option
@debug_option
def export_program(
    reference: str,
    target: Path | None,
    moved: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a program with its task, evidence, lineage and certificate, so that anybody can judge it again."""
    with open_program(reference) as (campaign, number):
        found = exported(campaign, number, moved)
    place = target or Path(found.top)
    publish.write(found.contents, place, top=found.top, force=force)
    told = Exported(
        name=found.claims.name,
        program=found.claims.program,
        path=str(place),
        files=len(found.contents),
        bytes=sum(map(len, found.contents.values())),
        promoted=found.claims.promotion is not None,
        quarantined=found.claims.quarantined,
    )
    if as_json:
        emit(told)
    else:
        say(facts(_told(told, found)))


def exported(campaign: Campaign, number: RecordId, moved: str | None = None) -> publish.Export:
    """A program of a campaign as an export, with the task as it lies on the disk."""
    report.settled(campaign, number)
    return publish.export(campaign, number, evolve.task.load(find_task(campaign, moved), campaign.task.parameters))


def _told(told: Exported, found: publish.Export) -> list[tuple[str, str]]:
    rows = [
        ("program", f"{told.name}  {told.program[:16]}"),
        (found.claims.task.fitness, value_told(found.claims)),
        ("promoted", "yes" if told.promoted else "no"),
        ("quarantined", told.quarantined),
        ("export", f"{told.path} ({told.files} files, {told.bytes / 1024:,.0f} KiB)"),
        ("next", f"evolve program verify {told.path}"),
    ]
    return [(label, text) for label, text in rows if text]
