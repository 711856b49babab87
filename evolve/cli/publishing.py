"""`evolve program verify` and `publish`: whether an export is what it says, and the collection of those that are promoted.

Invariant: nothing of an export runs before its hashes were checked, and a stranger's evaluator never without `--trust`; exit code 0 says that all that matters agrees."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import click

import evolve.task
from evolve import publish
from evolve.campaign import workspace
from evolve.cli.exporting import exported
from evolve.cli.isolation import sandbox_option
from evolve.cli.output import CELL, brief, debug_option, emit, facts, json_option, one_line, say, table
from evolve.cli.program_reference import open_program
from evolve.cli.request import find_task
from evolve.engine import open_executor
from evolve.engine.isolation import WantedLevel, confine, wanted_level
from evolve.plugins import load
from evolve.publish import CANNOT_BE_TOLD, DIFFERS, Check, Verification
from evolve.publish.telling import value_told
from evolve.types import ConfigError, Task

UNTOLD = 3
"""Exit code where nothing differs, and something that matters cannot be told here."""
_ALL = "*"


@click.command("verify")
@click.argument("reference", metavar="PATH|NAME/ID", required=False)
@click.option(
    "--published",
    "task",
    is_flag=False,
    flag_value=_ALL,
    metavar="[TASK]",
    help="Verify what is published, all of it or the programs of one task.",
)
@click.option("--trust", is_flag=True, help="Let evaluators of strangers run, as judges with your rights.")
@click.option("--quick", is_flag=True, help="Check files and certificates alone; run no program.")
@click.option(
    "--archive", type=click.Path(path_type=Path), help="Where published/ is.  [default: the workspace's archive]"
)
@sandbox_option
@json_option
@debug_option
def verify_program(
    reference: str | None,
    task: str | None,
    trust: bool,
    quick: bool,
    archive: Path | None,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Check an export: every hash, and every claim by judging it again from nothing but the export."""
    wish = wanted_level(sandbox)
    how = publish.How(_judges(wish), load(), trusted=trust, quick=quick)
    if (reference is None) == (task is None):
        raise ConfigError(
            "one export is verified, or what is published. Do: name a folder, a zip file or NAME/ID, or say --published"
        )
    if task is not None:
        found = _published(archive or workspace() / "archive", "" if task == _ALL else task, how, as_json=as_json)
    else:
        found = [_one(reference or "", how, as_json=as_json)]
    verdict = publish.worst([one.verdict for one in found])
    if verdict == DIFFERS:
        click.get_current_context().exit(1)
    if verdict == CANNOT_BE_TOLD:
        click.get_current_context().exit(UNTOLD)


def _judges(wish: WantedLevel) -> publish.OpenJudges:
    """Judges in the usual isolation, one program at a time."""

    @contextmanager
    def judges(task: Task) -> Iterator[publish.Judges]:
        means = confine(task, wish).means
        with open_executor(task, 1, means, workspace()) as executor:
            yield publish.Judges(executor, executor.describe())

    return judges


def _one(reference: str, how: publish.How, *, as_json: bool) -> Verification:
    """An export at a path, or a program of a campaign. Only one that lies in one's own workspace is one's own: a log may come from a stranger as well."""
    if Path(reference).exists() or "/" not in reference or reference.endswith(".zip"):
        contents = publish.read(Path(reference))
    else:
        with open_program(reference) as (campaign, number):
            own = campaign.log.path.resolve().parent == (workspace() / "archive" / "campaigns").resolve()
            contents = dict(exported(campaign, number).contents)
        how = replace(how, trusted=how.trusted or own)
    found = publish.verify(contents, how)
    _tell(found, publish.claims_of(contents), as_json=as_json)
    return found


def _published(archive: Path, task: str, how: publish.How, *, as_json: bool) -> list[Verification]:
    folders = publish.published(archive, task)
    if not folders:
        of_task = f" of task {task!r}" if task else ""
        raise ConfigError(f"nothing{of_task} is published in {archive}. Do: evolve program publish NAME/ID")
    found = []
    for folder in folders:
        one = _there(archive, folder, how)
        found.append(one)
        if as_json:
            emit(_plain(one))
        else:
            say(f"{one.verdict:14}  {one_line(one.task)}  {folder.name}{_first_reason(one)}")
    if publish.worst([one.verdict for one in found]) != DIFFERS:
        publish.check_index(archive)
    return found


def _there(archive: Path, folder: Path, how: publish.How) -> Verification:
    """A published program; what is none, or lies in another one's place, differs, and the others are verified all the same."""
    try:
        contents = publish.read(folder)
        publish.check_place(archive, folder, publish.claims_of(contents))
    except ConfigError as error:
        return Verification("", folder.parent.name, folder.name, (Check("export", DIFFERS, why=str(error)),))
    return publish.verify(contents, how)


def _first_reason(found: Verification) -> str:
    reasons = [check for check in found.checks if check.matters and check.verdict == found.verdict != publish.AGREES]
    return f"  {one_line(reasons[0].what)}: {brief(one_line(reasons[0].why), CELL)}" if reasons else ""


def _plain(found: Verification) -> dict[str, object]:
    return {"event": "verified", "verdict": found.verdict, **asdict(found)}


def _tell(found: Verification, claims: publish.Claims, *, as_json: bool) -> None:
    if as_json:
        emit(_plain(found))
        return
    rows = [
        ("program", f"{one_line(found.name)}  {found.program[:16]} of task {one_line(found.task)}"),
        (one_line(claims.task.fitness), value_told(claims)),
        ("isolation", found.isolation.partition(":")[0] or "no program was run"),
        ("verdict", found.verdict.upper() if found.verdict == DIFFERS else found.verdict),
    ]
    say(facts(rows))
    say("\n" + table(("claim", "verdict", "claimed", "found", "why"), [_row(check) for check in found.checks]))


def _row(check: Check) -> tuple[str, ...]:
    what = check.what if check.matters else f"({check.what})"
    return (what, check.verdict, _cut(check.claimed), _cut(check.found), brief(one_line(check.why), CELL))


def _cut(text: str) -> str:
    """A number as it is, a hash by its beginning."""
    return one_line(f"{text[:16]}..." if len(text) == 64 else text[:100])


@click.command("publish")
@click.argument("reference", metavar="[NAME/]ID", required=False)
@click.option(
    "--index",
    "only_index",
    is_flag=True,
    help="Write INDEX.md and the pages of each program anew, and publish nothing.",
)
@click.option(
    "--archive", type=click.Path(path_type=Path), help="Where published/ is.  [default: the workspace's archive]"
)
@click.option("--task", "moved", metavar="TASK", help="Where the task is, if it has moved.")
@click.option("--force", is_flag=True, help="Replace another export of the same program.")
@json_option
@debug_option
def publish_program(
    reference: str | None, only_index: bool, archive: Path | None, moved: str | None, force: bool, as_json: bool
) -> None:
    """Add a promoted program to archive/published/, with its certificate, and to archive/INDEX.md."""
    place = archive or workspace() / "archive"
    if (reference is None) != only_index:
        raise ConfigError("a program is published, or the index is written. Do: name a program, or say --index")
    if reference is not None:
        with open_program(reference) as (campaign, number):
            task = evolve.task.load(find_task(campaign, moved), campaign.task.parameters)
            found = publish.export(campaign, number, task)
        told = publish.publish(found, task, place, force=force)
        _tell_published(told, found.claims, as_json=as_json)
    if only_index:
        publish.renew(place)
    target = publish.write_index(place)
    if only_index:
        _tell_index(target, len(publish.published(place)), as_json=as_json)


def _tell_published(told: publish.Published, claims: publish.Claims, *, as_json: bool) -> None:
    if as_json:
        emit({"event": "published", **asdict(told)})
        return
    there = "" if told.new else ", as it was there already"
    rows = [
        ("program", f"{told.name}  {told.program[:16]} of task {told.task}"),
        (claims.task.fitness, value_told(claims)),
        ("published", f"{told.folder} ({told.files} files, {told.bytes / 1024:,.0f} KiB{there})"),
        ("next", f"evolve program verify {told.folder}"),
    ]
    say(facts(rows))


def _tell_index(target: Path, count: int, *, as_json: bool) -> None:
    if as_json:
        emit({"event": "index", "path": str(target), "programs": count})
    else:
        say(f"index  {target}, {count} program{'' if count == 1 else 's'}")
