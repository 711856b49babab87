"""Whether the parts of an export fit together: what can be told from its files alone, before anything is judged.

Invariant: nothing runs here; what an honest export says of itself passes, and what is told twice must be told alike."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from evolve.edits.changes import refusal
from evolve.publish import readme, stand_alone
from evolve.publish.claims import RECORD, Claims, Judging, TaskClaim, Value
from evolve.publish.contents import MANIFEST, Contents, is_plain, parsed, stored_names
from evolve.publish.findings import AGREES, CANNOT_BE_TOLD, DIFFERS, Check, equal
from evolve.publish.lineage import STEPS, Step
from evolve.publish.task_files import is_timed, task_files
from evolve.publish.worth import limits
from evolve.statistics import PRIOR_DEGREES, Pool
from evolve.task import verify_script
from evolve.task.verifier import CERTIFICATE
from evolve.types import ConfigError, Program, Task
from evolve.types.codec import decode

_CLOSE = 1e-9
"""How far rounding may lead, as a part of a number."""


@dataclass(frozen=True, slots=True)
class Parts:
    """An export in its parts: what `contents` hold, read as what they claim to be."""

    claims: Claims
    contents: Contents
    program: Program
    task: Task


def coherent(parts: Parts) -> Iterator[Check]:
    """What follows from the files alone. Raises `ConfigError` where one cannot be read."""
    claims, task = parts.claims, parts.task
    yield equal("program", claims.program, parts.program.id, "the files in program/ are another program")
    yield equal("task", claims.task.version, task.version, "the files in task/, or its parameters, are another version")
    yield from _same_task(claims.task, task)
    refused = refusal(task, parts.program)
    yield Check("what may change", DIFFERS if refused else AGREES, why=refused)
    yield from _value(claims, task)
    yield from _promotion(claims, task)
    if claims.quarantined:
        yield Check("ruling", DIFFERS, "no quarantine", "quarantined", claims.quarantined)
    steps = steps_of(parts.contents)
    yield from _lineage(claims, steps)
    yield from _accounted(parts, steps)
    yield from _pages(parts, steps)


def steps_of(contents: Contents) -> tuple[Step, ...]:
    """The lineage; raises `ConfigError` where it cannot be read."""
    try:
        told = parsed(STEPS, contents.get(STEPS, b"[]"))
        return tuple(decode(Step, step) for step in (told if isinstance(told, list) else [told]))
    except (ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{STEPS} cannot be read: {str(error)[:200]}. Do: export the program again") from error


def _same_task(claim: TaskClaim, task: Task) -> Iterator[Check]:
    """What the record says of the task, where that is not what the task says."""
    fitness = task.fitness
    own = TaskClaim(
        name=task.name if is_plain(claim.name.partition("/")[0]) else claim.name,
        version=claim.version,
        folder=claim.folder,
        path=claim.path,
        parameters=claim.parameters,
        fitness=fitness.name,
        direction=fitness.direction,
        digits=fitness.digits,
        deterministic=task.deterministic,
        promotion=task.promotion,
        plugin=task.evaluator.plugin or "",
        release=claim.release,
        log_ratio=fitness.log_ratio,
        timed=is_timed(task),
    )
    if own != claim:
        why = "record.json says something else of the task than the task's own file"
        yield Check("task", DIFFERS, repr(claim), repr(own), why)


def _value(claims: Claims, task: Task) -> Iterator[Check]:
    """The value follows from the judgings that are told."""
    value, first, proof = claims.value, claims.first, claims.certificate
    if value is None:
        passed = [one for one in claims.judgings if _counts(one)]
        if passed:
            yield Check("value", DIFFERS, "none", repr(passed[0].fitness), "the judgings say that it passed")
    elif value.certified:
        found = repr(proof.fitness if proof else None)
        yield equal("value", repr(value.fitness), found, "it is not what the certificate says")
    elif task.deterministic:
        found = repr(first.fitness if first else None)
        yield equal("value", repr(value.fitness), found, "it is not what the judging says")
    else:
        yield _mean(claims, value)


def _mean(claims: Claims, value: Value) -> Check:
    """Of a noisy program the value is the mean of its last `count` judgings, and no surer than these make it."""
    passed = [one for one in claims.judgings if _counts(one)]
    pool = Pool()
    for one in passed[-value.count :]:
        pool = pool.add(one.fitness or 0.0, one.standard_error)
    told = f"{value.fitness!r} of {value.count}"
    found = f"{pool.mean!r} of {pool.count}"
    if pool.count != value.count or not math.isclose(pool.mean, value.fitness, rel_tol=_CLOSE, abs_tol=1e-12):
        return Check("value", DIFFERS, told, found, "it is not the mean of the judgings")
    if value.confirmed and value.count == len(passed):
        return Check(
            "value", DIFFERS, told, found, "the judging that chose it is among those that are said to confirm it"
        )
    if value.standard_error is not None and value.standard_error < _least_error(pool) * (1 - _CLOSE):
        return Check("value", DIFFERS, told, found, "its standard error is smaller than the judgings allow")
    if not _same_limits(value):
        return Check("value", DIFFERS, told, found, "the limits of 95 % do not follow from its standard error")
    return Check("value", AGREES, told, found)


def _counts(one: Judging) -> bool:
    return one.part in ("search", "again") and one.outcome == "ok" and one.fitness is not None and not one.of_seed


def _least_error(pool: Pool) -> float:
    """What the standard error is where the noise floor of the campaign, which the export does not tell, is as small as it can be."""
    variance = (pool.within * PRIOR_DEGREES + pool.squares) / (PRIOR_DEGREES + pool.count - 1)
    return math.sqrt(variance / pool.count)


def _same_limits(value: Value) -> bool:
    if value.standard_error is None:
        return value.low is None and value.high is None
    if value.low is None or value.high is None:
        return False
    low, high = limits(value.fitness, value.standard_error, value.count)
    near = 1e-6 * (high - low) + 1e-12 * abs(value.fitness)
    return abs(low - value.low) <= near and abs(high - value.high) <= near


def _promotion(claims: Claims, task: Task) -> Iterator[Check]:
    promotion = claims.promotion
    if promotion is None:
        return
    backed = promotion.by == task.promotion and (claims.certificate is not None or task.promotion == "held_out")
    why = "" if backed else f"the task promotes by {task.promotion.replace('_', '-')}, and there is no such evidence"
    verdict = AGREES if backed and not claims.is_claimed else DIFFERS
    yield Check("promotion", verdict, promotion.by, task.promotion, why)


def _lineage(claims: Claims, steps: tuple[Step, ...]) -> Iterator[Check]:
    last = steps[-1].program if steps else ""
    yield equal("lineage", claims.program, last, "the lineage ends with another program")
    if steps and claims.first is not None and steps[-1].fitness != claims.first.fitness:
        shown = repr(claims.first.fitness), repr(steps[-1].fitness)
        yield Check("lineage", DIFFERS, *shown, "the lineage ends with another score than the record has")


def _accounted(parts: Parts, steps: tuple[Step, ...]) -> Iterator[Check]:
    """Every file is one that the record names, and lies where such files lie: a person must see what was judged."""
    claims, contents = parts.claims, parts.contents
    if dict(claims.files) != stored_names("program", claims.files):
        yield Check("files", DIFFERS, why="the program's files do not lie in program/ by their names")
    named = {MANIFEST, RECORD, STEPS, readme.NAME, stand_alone.NAME, *claims.files.values()}
    named |= {step.diff for step in steps if step.diff}
    for one in claims.judgings:
        named |= {*one.artifacts.values(), *one.carried.values()}
    named |= task_files(parts.task).keys()
    made = {verify_script.SCRIPT} if _proof_script(claims, parts.task) else set()
    for path in sorted(contents.keys() - named - made):
        yield Check("files", DIFFERS, path, "", f"{path} is in no part of the export: nothing names it")
    for path in sorted(named - contents.keys()):
        yield Check("files", DIFFERS, path, "", f"{path} is named, and is not there")


def _pages(parts: Parts, steps: tuple[Step, ...]) -> Iterator[Check]:
    """What persons read and run, where it is not what this package makes of the record: another version may have made it, or somebody who lies."""
    for path, made in pages(parts.claims, parts.contents, parts.task, steps).items():
        if parts.contents.get(path) != made:
            why = f"{path} is not what this version of evolve makes of the record. Do: go by what is told here, and not by that file"
            yield Check(path, CANNOT_BE_TOLD, why=why)


def pages(claims: Claims, contents: Contents, task: Task, steps: tuple[Step, ...]) -> dict[str, bytes]:
    """The files of an export that are made of its record alone."""
    page = readme.page(claims, task, steps, proof_of(claims, contents))
    found = {readme.NAME: page.encode("utf-8"), stand_alone.NAME: stand_alone.TEXT.encode("utf-8")}
    proof = _proof_script(claims, task)
    return {**found, verify_script.SCRIPT: proof.encode("ascii", "backslashreplace")} if proof else found


def _proof_script(claims: Claims, task: Task) -> str:
    """Returns the check of the certificate that needs the standard library alone; empty where the task has no verifier."""
    proof = claims.certificate
    if proof is None or proof.fitness is None or not readme.has_proof(claims, task):
        return ""
    return verify_script.script(task, proof.fitness, claims.name, proof.artifacts[CERTIFICATE])


def proof_of(claims: Claims, contents: Contents) -> dict[str, str]:
    """What the certificate holds, by the artifacts' names."""
    stored = claims.certificate.artifacts if claims.certificate else {}
    return {name: contents[path].decode("utf-8", "surrogatepass") for name, path in stored.items()}
