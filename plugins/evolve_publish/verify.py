"""Verification of an export: every file, every hash, whether the claims fit together, and every claim that can be evaluated again.

An export may come from a stranger. Its program runs in the sandbox, as any other. Its evaluator does not: it runs with the rights of the person who verifies. So no evaluator runs but
that of a task which ships with this package, known by its version, or one that a person trusts. Neither the current folder nor the workspace can make a task known, for they may have come with the export.
Nothing runs before all that can be checked without running was checked."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import evolve.task
from evolve.commands import Worker
from evolve.edits import refusal
from evolve.statistics import PRIOR_DEGREES, Pool
from evolve.task import list_bundled, place_of_bundled
from evolve.types import ConfigError, Program, Task, TaskError
from evolve_publish.claims import (
    RECORD,
    STEPS,
    Claims,
    LineageClaim,
    TaskClaim,
    ValueClaim,
    claim_task,
    read_claims,
    read_steps,
    value_limits,
)
from evolve_publish.files import (
    MANIFEST,
    Contents,
    check_files,
    decode_text,
    encode_text,
    is_plain,
    load_exported_task,
    name_stored_files,
    parse_json,
    task_files,
)
from evolve_publish.pages import README, VERIFY_SCRIPT, make_pages
from evolve_publish.reevaluation import (
    AGREES,
    CANNOT_BE_TOLD,
    DIFFERS,
    ClaimCheck,
    Reevaluation,
    Verdict,
    check_equal,
    evaluate_again,
    worst_verdict,
)

OpenWorker = Callable[[Task], AbstractContextManager[Worker]]
"""Starts a worker for a task; raises `TaskError` where this machine has none for it."""
NOT_TRUSTED = "the evaluator, whatever its task is called, is none that ships with this package, and it would run with your rights. Try: read what is in task/, then add --trust"


@dataclass(frozen=True, slots=True)
class Verification:
    """Checks of an export. `isolation` is the level at which the program was evaluated again, empty where it was not."""

    name: str
    task: str
    program: str
    checks: tuple[ClaimCheck, ...]
    isolation: str = ""

    @property
    def verdict(self) -> Verdict:
        """Worst verdict of the checks."""
        return worst_verdict([check.verdict for check in self.checks])


@dataclass(frozen=True, slots=True)
class Verifier:
    """Settings of a verification. `trusted`: a person has said that the export's evaluator may run, or it is that of their own campaign. `quick`: certificates alone are made again, and no program runs."""

    open_worker: OpenWorker
    trusted: bool = False
    quick: bool = False


def verify(contents: Contents, verifier: Verifier) -> Verification:
    """Checks an export. Raises `ConfigError` for what is none."""
    checks = list(_check_manifest(contents))
    claims = read_claims(contents)
    # Files that differ from the manifest are not looked into any further.
    if any(check.verdict == DIFFERS for check in checks):
        return _conclude(claims, checks)
    program = Program({path: _text(contents, stored) for path, stored in claims.files.items()})
    _check_named_files(claims, contents)
    try:
        with load_exported_task(contents, claims.task.path, claims.task.parameters) as task:
            checks += check_coherence(claims, contents, program, task)
            if any(check.verdict == DIFFERS for check in checks) or (verifier.quick and claims.certificate is None):
                return _conclude(claims, checks)
            if not (verifier.trusted or is_known_task(claims.task)):
                return _conclude(claims, [*checks, ClaimCheck("evaluated again", CANNOT_BE_TOLD, why=NOT_TRUSTED)])
            with verifier.open_worker(task) as worker:
                again = Reevaluation(claims, contents, program, task, worker)
                checks += evaluate_again(again, quick=verifier.quick)
                return _conclude(claims, checks, "" if verifier.quick else worker.description.isolation)
    except TaskError as error:
        return _conclude(claims, [*checks, ClaimCheck("evaluated again", CANNOT_BE_TOLD, why=str(error))])


def is_known_task(claim: TaskClaim) -> bool:
    """Returns whether the task ships with this package, in this version, so that its evaluator is no stranger's. Parameters that are texts must be the task's own: an evaluator may read
    much into a text."""
    if claim.name not in list_bundled():
        return False
    place = place_of_bundled(claim.name)
    plain = evolve.task.load(place).parameters
    texts = all(value == plain.get(key) for key, value in claim.parameters.items() if isinstance(value, str))
    return texts and evolve.task.load(place, claim.parameters).version == claim.version


def _conclude(claims: Claims, checks: list[ClaimCheck], isolation: str = "") -> Verification:
    return Verification(claims.name, claims.task.name, claims.program, tuple(checks), isolation)


def _check_manifest(contents: Contents) -> Iterator[ClaimCheck]:
    wrong = check_files(contents)
    yield from (ClaimCheck("file", DIFFERS, path, "", f"{path} {why}") for path, why in wrong.items())
    if not wrong:
        yield ClaimCheck(
            "files", AGREES, f"{len(contents):,}", f"{len(contents):,}", "every SHA-256 is that of the manifest"
        )


def _check_named_files(claims: Claims, contents: Contents) -> None:
    """Raises `ConfigError` where a file that an evaluation names is missing, or is no JSON."""
    for one in claims.judgings:
        for path in (*one.artifacts.values(), *one.carried.values()):
            parse_json(path, encode_text(_text(contents, path)))


def _text(contents: Contents, path: str) -> str:
    if path not in contents:
        raise ConfigError(
            f"the export has no file {path[:200]!r}, which its record names. Try: export the program again"
        )
    try:
        return decode_text(contents[path])
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text in UTF-8: {error}. Try: export the program again") from error


# --- whether the parts of an export fit together; nothing runs here, and the claims of an honest export pass

_CLOSE = 1e-9
"""Relative error by rounding."""


def check_coherence(claims: Claims, contents: Contents, program: Program, task: Task) -> Iterator[ClaimCheck]:
    """Yields the checks that follow from the files alone; raises `ConfigError` where one cannot be read."""
    yield check_equal("program", claims.program, program.id, "the files in program/ are another program")
    yield check_equal(
        "task", claims.task.version, task.version, "the files in task/, or its parameters, are another version"
    )
    yield from _check_task(claims.task, task)
    refused = refusal(task, program)
    yield ClaimCheck("what may change", DIFFERS if refused else AGREES, why=refused)
    yield from _check_value(claims, task)
    yield from _check_promotion(claims, task)
    if claims.quarantined:
        yield ClaimCheck("ruling", DIFFERS, "no quarantine", "quarantined", claims.quarantined)
    steps = read_steps(contents)
    yield from _check_lineage(claims, steps)
    pages = make_pages(claims, task)
    named = _list_named_files(claims, steps) | task_files(task).keys()
    yield from _check_all_named(claims, contents, named, pages.keys())
    yield from _check_pages(contents, pages)


def _check_task(claim: TaskClaim, task: Task) -> Iterator[ClaimCheck]:
    """Compares the record's words on the task with the task's own; version, place and parameters are checked elsewhere."""
    own = replace(
        claim_task(task, task.name if is_plain(claim.name.partition("/")[0]) else claim.name, claim.release),
        version=claim.version,
        folder=claim.folder,
        path=claim.path,
        parameters=claim.parameters,
    )
    if own != claim:
        why = "record.json says something else of the task than the task's own file"
        yield ClaimCheck("task", DIFFERS, repr(claim), repr(own), why)


def _check_value(claims: Claims, task: Task) -> Iterator[ClaimCheck]:
    """Checks that the value follows from the evaluations."""
    value, first, proof = claims.value, claims.first, claims.certificate
    if value is None:
        if claims.passed:
            yield ClaimCheck("value", DIFFERS, "none", repr(claims.passed[0][0]), "the evaluations say that it passed")
    elif value.certified:
        found = repr(proof.fitness if proof else None)
        yield check_equal("value", repr(value.fitness), found, "it is not what the certificate says")
    elif task.deterministic:
        found = repr(first.fitness if first else None)
        yield check_equal("value", repr(value.fitness), found, "it is not what the evaluation says")
    else:
        yield _check_mean(claims, value)


def _check_mean(claims: Claims, value: ValueClaim) -> ClaimCheck:
    """Checks that a noisy value is the mean of the last `count` evaluations, and no more certain than they make it."""
    passed, pool = claims.passed, Pool()
    for fitness, error in passed[-value.count :]:
        pool = pool.add(fitness, error)
    told = f"{value.fitness!r} of {value.count}"
    found = f"{pool.mean!r} of {pool.count}"
    if pool.count != value.count or not math.isclose(pool.mean, value.fitness, rel_tol=_CLOSE, abs_tol=1e-12):
        return ClaimCheck("value", DIFFERS, told, found, "it is not the mean of the evaluations")
    if value.confirmed and value.count == len(passed):
        return ClaimCheck(
            "value", DIFFERS, told, found, "the evaluation that chose it is among those that are said to confirm it"
        )
    if value.standard_error is not None and value.standard_error < _least_error(pool) * (1 - _CLOSE):
        return ClaimCheck("value", DIFFERS, told, found, "its standard error is smaller than the evaluations allow")
    if not _has_right_limits(value):
        return ClaimCheck("value", DIFFERS, told, found, "the limits of 95 % do not follow from its standard error")
    return ClaimCheck("value", AGREES, told, found)


def _least_error(pool: Pool) -> float:
    """Returns the standard error for the smallest noise floor that the campaign, which an export does not name, can have had."""
    variance = (pool.within * PRIOR_DEGREES + pool.squares) / (PRIOR_DEGREES + pool.count - 1)
    return math.sqrt(variance / pool.count)


def _has_right_limits(value: ValueClaim) -> bool:
    if value.standard_error is None:
        return value.low is None and value.high is None
    if value.low is None or value.high is None:
        return False
    low, high = value_limits(value.fitness, value.standard_error, value.count)
    near = 1e-6 * (high - low) + 1e-12 * abs(value.fitness)
    return abs(low - value.low) <= near and abs(high - value.high) <= near


def _check_promotion(claims: Claims, task: Task) -> Iterator[ClaimCheck]:
    promotion = claims.promotion
    if promotion is None:
        return
    backed = promotion.by == task.promotion and (claims.certificate is not None or task.promotion == "held_out")
    why = "" if backed else f"the task promotes by {task.promotion.replace('_', '-')}, and there is no such evidence"
    verdict = AGREES if backed and not claims.is_claimed else DIFFERS
    yield ClaimCheck("promotion", verdict, promotion.by, task.promotion, why)


def _check_lineage(claims: Claims, steps: tuple[LineageClaim, ...]) -> Iterator[ClaimCheck]:
    last = steps[-1].program if steps else ""
    yield check_equal("lineage", claims.program, last, "the lineage ends with another program")
    if steps and claims.first is not None and steps[-1].fitness != claims.first.fitness:
        shown = repr(claims.first.fitness), repr(steps[-1].fitness)
        yield ClaimCheck("lineage", DIFFERS, *shown, "the lineage ends with another score than the record has")


def _list_named_files(claims: Claims, steps: tuple[LineageClaim, ...]) -> set[str]:
    """Returns the files that the record and the lineage name."""
    named = {MANIFEST, RECORD, STEPS, *claims.files.values(), *(step.diff for step in steps if step.diff)}
    return named.union(*({*one.artifacts.values(), *one.carried.values()} for one in claims.judgings))


def _check_all_named(
    claims: Claims, contents: Contents, named: Collection[str], pages: Collection[str]
) -> Iterator[ClaimCheck]:
    """Checks that something names every file, and that it lies where such files lie: a person must see the files that were evaluated."""
    if dict(claims.files) != name_stored_files("program", claims.files):
        yield ClaimCheck("files", DIFFERS, why="the program's files do not lie in program/ by their names")
    for path in sorted(contents.keys() - {*named, *pages}):
        yield ClaimCheck("files", DIFFERS, path, "", f"{path} is in no part of the export: nothing names it")
    # An export that an earlier version has written has no `proof.py`.
    for path in sorted({*named, README, VERIFY_SCRIPT} - contents.keys()):
        yield ClaimCheck("files", DIFFERS, path, "", f"{path} is named, and is not there")


def _check_pages(contents: Contents, pages: Mapping[str, bytes]) -> Iterator[ClaimCheck]:
    """Compares the files that persons read and run with those that this package makes of the record: another version may have made them, or somebody who lies."""
    for path, made in pages.items():
        if contents.get(path) != made:
            why = f"{path} is not what this version of evolve makes of the record. Try: go by what is told here, and not by that file"
            yield ClaimCheck(path, CANNOT_BE_TOLD, why=why)
