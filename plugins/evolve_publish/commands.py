"""`evolve program export`, `verify` and `publish`, and `evolve campaign export`.

Nothing of an export runs before its hashes were checked, and a stranger's evaluator never without `--trust`; exit code 0 says that everything agrees."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from evolve.campaign import Campaign, workspace
from evolve.commands import (
    CELL,
    atomic_write,
    brief,
    choose_isolation,
    emit,
    facts,
    json_option,
    load_plugins,
    load_task,
    one_line,
    open_program,
    open_worker,
    sandbox_option,
    say,
    table,
)
from evolve.types import ConfigError, Task
from evolve_publish.answers import FORMATS, Row, collect_answers, format_left_out
from evolve_publish.archive import check_index, check_place, find_published, publish, renew_pages, write_index
from evolve_publish.claims import Claims, read_claims
from evolve_publish.export import Export, export_program
from evolve_publish.files import read, write
from evolve_publish.pages import format_value
from evolve_publish.reevaluation import AGREES, DIFFERS, ClaimCheck, worst_verdict
from evolve_publish.verify import Verification, Verifier, is_known_task, verify

UNTOLD = 3
"""Exit code where nothing differs, and something cannot be told here."""


def _load_export(reference: str, moved: str | None = None) -> tuple[Export, Task]:
    with open_program(reference) as (campaign, number):
        task = load_task(campaign, moved)
        return export_program(campaign, number, task), task


@click.command("export")
@click.argument("reference", metavar="[NAME/]ID")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    help="The folder.  [default: NAME-ID]",
)
@click.option("--task", "moved", metavar="TASK", help="Where the task is, if it has moved.")
@click.option("--force", is_flag=True, help="Replace an export that is there already.")
@json_option
def export(reference: str, target: Path | None, moved: str | None, force: bool, as_json: bool) -> None:
    """Write a program with its task, evidence, lineage and certificate, so that anybody can evaluate it again."""
    found, _ = _load_export(reference, moved)
    folder = target or Path(found.name)
    write(found.contents, folder, force=force)
    _show_export(found, folder, as_json=as_json)


def _show_export(export: Export, folder: Path, *, published: bool = False, new: bool = True, as_json: bool) -> None:
    """Prints where an export is; `new`: it was not there before."""
    claims, size = export.claims, sum(map(len, export.contents.values()))
    if as_json:
        emit(
            {
                "event": "exported",
                "name": claims.name,
                "task": claims.task.name,
                "program": claims.program,
                "folder": str(folder),
                "files": len(export.contents),
                "bytes": size,
                "promoted": claims.promotion is not None,
                "quarantined": claims.quarantined,
                "new": new,
            }
        )
        return
    there = "" if new else ", as it was there already"
    rows = [
        ("program", f"{claims.name}  {claims.program[:16]} of task {claims.task.name}"),
        (claims.task.fitness, _format_value(claims)),
        # Only a promoted program that is not quarantined can be published.
        ("promoted", "" if published else "yes" if claims.promotion else "no"),
        ("quarantined", claims.quarantined),
        (
            "published" if published else "folder",
            f"{folder} ({len(export.contents)} files, {size / 1024:,.0f} KiB{there})",
        ),
        ("next", f"evolve program verify {folder}{'' if is_known_task(claims.task) else ' --trust'}"),
    ]
    say(facts([(label, text) for label, text in rows if text]))


def _format_value(claims: Claims) -> str:
    # Every command writes an error in ASCII; pages have the sign itself.
    return format_value(claims).replace("±", "+-")


@click.command("export")
@click.argument("name", required=False)
@click.option(
    "--rl",
    "target",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the answers of models, each with its prompt and its reward, as JSON Lines.",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="groups", show_default=True, help="What a row is."
)
@click.option(
    "--failed",
    type=float,
    metavar="VALUE",
    help="Reward where the program failed or was not evaluated.  [default: no row]",
)
@json_option
def export_answers(name: str | None, target: Path, form: str, failed: float | None, as_json: bool) -> None:
    """Write the answers of a campaign's models with what their programs were evaluated to, to train models on."""
    if failed is not None and not math.isfinite(failed):
        raise ConfigError(f"a reward is a finite number, got --failed {failed}. Try: the least fitness that you expect")
    with Campaign.open(name, load_plugins(), workspace()) as campaign:
        answers = collect_answers(campaign, failed)
        rows = _write_rows(target, FORMATS[form](campaign, answers))
    if as_json:
        emit({"file": str(target), "format": form, "rows": rows, "left_out": answers.left_out})
        return
    left = format_left_out(answers.left_out)
    say(f"{rows:,} rows ({form})  {target}" + (f"\nrecords without a row: {left}" if left else ""))


def _write_rows(target: Path, rows: Iterable[Row]) -> int:
    """Writes rows as JSON Lines and returns how many there are; raises `ConfigError` where there is none, and leaves what is there."""
    count = 0
    try:
        # A half of a surrogate pair, which an answer may hold, is no UTF-8.
        with atomic_write(target, replace=True) as made, made.open("w", encoding="utf-8", errors="replace") as file:
            for row in rows:
                count += 1
                file.write(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n")
            if not count:
                raise ConfigError(
                    "no two answers to equal prompts have different rewards, so there is no preference. "
                    "Try: --format sft, or a campaign that asks for several answers (operators.settings.NAME.samples)"
                )
    except OSError as error:
        raise ConfigError(
            f"the rows cannot be written to {str(target)!r}: {error.strerror}. Try: name another file"
        ) from error
    return count


@click.command("verify")
@click.argument("reference", metavar="PATH|NAME/ID", required=False)
@click.option("--published", is_flag=True, help="Verify everything that is published.")
@click.option("--trust", is_flag=True, help="Let evaluators of strangers run, with your rights.")
@click.option("--quick", is_flag=True, help="Check files and certificates alone; run no program.")
@click.option(
    "--archive", type=click.Path(path_type=Path), help="Where published/ is.  [default: the workspace's archive]"
)
@sandbox_option
@json_option
def verify_program(
    reference: str | None,
    published: bool,
    trust: bool,
    quick: bool,
    archive: Path | None,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Check an export: every hash, and every claim by evaluating it again from nothing but the export."""
    verifier = Verifier(partial(open_worker, wish=choose_isolation(sandbox)), trusted=trust, quick=quick)
    if (reference is None) != published:
        raise ConfigError(
            "one export is verified, or what is published. Try: name a folder or NAME/ID, or say --published"
        )
    if reference is None:
        found = _verify_published(archive or workspace() / "archive", verifier, as_json=as_json)
    else:
        found = [_verify_one(reference, verifier, as_json=as_json)]
    verdict = worst_verdict([one.verdict for one in found])
    if verdict != AGREES:
        click.get_current_context().exit(1 if verdict == DIFFERS else UNTOLD)


def _verify_one(reference: str, verifier: Verifier, *, as_json: bool) -> Verification:
    """Verifies an export in a folder, or a program of a campaign, which is exported in memory."""
    is_folder = Path(reference).exists() or "/" not in reference
    contents = read(Path(reference)) if is_folder else _load_export(reference)[0].contents
    found = verify(contents, verifier)
    if as_json:
        emit(_to_plain(found))
    else:
        _show(found, read_claims(contents))
    return found


def _verify_published(archive: Path, verifier: Verifier, *, as_json: bool) -> list[Verification]:
    folders = find_published(archive)
    if not folders:
        raise ConfigError(f"nothing is published in {archive}. Try: evolve program publish NAME/ID")
    found = []
    for folder in folders:
        one = _verify_folder(archive, folder, verifier)
        found.append(one)
        if as_json:
            emit(_to_plain(one))
        else:
            say(f"{one.verdict:14}  {one_line(one.task)}  {folder.name}{_first_reason(one)}")
    if worst_verdict([one.verdict for one in found]) != DIFFERS:
        check_index(archive)
    return found


def _verify_folder(archive: Path, folder: Path, verifier: Verifier) -> Verification:
    """Verifies a published program. A folder that is none, or lies in another's place, differs; the others are verified all the same."""
    try:
        contents = read(folder)
        check_place(archive, folder, read_claims(contents))
    except ConfigError as error:
        return Verification("", folder.parent.name, folder.name, (ClaimCheck("export", DIFFERS, why=str(error)),))
    return verify(contents, verifier)


def _first_reason(found: Verification) -> str:
    reasons = [check for check in found.checks if check.verdict == found.verdict != AGREES]
    return f"  {one_line(reasons[0].what)}: {brief(one_line(reasons[0].why), CELL)}" if reasons else ""


def _to_plain(found: Verification) -> dict[str, object]:
    return {"event": "verified", "verdict": found.verdict, **asdict(found)}


def _show(found: Verification, claims: Claims) -> None:
    rows = [
        ("program", f"{one_line(found.name)}  {found.program[:16]} of task {one_line(found.task)}"),
        (one_line(claims.task.fitness), _format_value(claims)),
        ("isolation", found.isolation.partition(":")[0] or "no program was run"),
        ("verdict", found.verdict.upper() if found.verdict == DIFFERS else found.verdict),
    ]
    say(facts(rows))
    say("\n" + table(("claim", "verdict", "claimed", "found", "why"), [_row(check) for check in found.checks]))


def _row(check: ClaimCheck) -> tuple[str, ...]:
    return (check.what, check.verdict, _shorten(check.claimed), _shorten(check.found), brief(one_line(check.why), CELL))


def _shorten(text: str) -> str:
    """Returns a number as it is, and the beginning of a hash."""
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
def publish_program(
    reference: str | None, only_index: bool, archive: Path | None, moved: str | None, force: bool, as_json: bool
) -> None:
    """Add a promoted program to archive/published/, with its certificate, and to archive/INDEX.md."""
    place = archive or workspace() / "archive"
    if (reference is None) != only_index:
        raise ConfigError("a program is published, or the index is written. Try: name a program, or say --index")
    if reference is None:
        renew_pages(place)
        target, count = write_index(place), len(find_published(place))
        if as_json:
            emit({"event": "index", "path": str(target), "programs": count})
        else:
            say(f"index  {target}, {count} program{'' if count == 1 else 's'}")
        return
    found, task = _load_export(reference, moved)
    folder, new = publish(found, task, place, force=force)
    write_index(place)
    _show_export(found, folder, published=True, new=new, as_json=as_json)
