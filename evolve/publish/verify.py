"""Whether an export is what it says: every file, every hash, and every claim that can be judged again.

Who made an export may be a stranger. Its program runs in the sandbox, as any other. Its evaluator does not: it is the judge, and runs with the rights of whoever verifies. So nothing of a task runs but
that of a task which ships with this package, told by its version, or where a person trusts it. Neither the current folder nor the workspace can say that a task is known, for they may have come with the export.

Invariant: files are read once, and what was read is what is hashed and judged; nothing is run before all that can be checked without was checked."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import evolve.task
from evolve.plugins import Plugins
from evolve.publish import rejudged
from evolve.publish.again import Again, Judges
from evolve.publish.claims import Claims, TaskClaim, claims_of
from evolve.publish.coherence import Parts, coherent
from evolve.publish.contents import Contents, check_files, parsed
from evolve.publish.findings import AGREES, CANNOT_BE_TOLD, DIFFERS, Check, Verification, worst
from evolve.publish.task_files import laid_down
from evolve.task.folders import bundled, place_of_bundled
from evolve.types import ConfigError, Program, Task, TaskError

OpenJudges = Callable[[Task], AbstractContextManager[Judges]]
"""Starts judges of a task; raises `TaskError` where this machine has none for it."""
NOT_TRUSTED = "the evaluator is none that ships with this package, and it would run as the judge, with your rights. Do: read what is in task/, then add --trust"


@dataclass(frozen=True, slots=True)
class How:
    """How to verify. `trusted`: a person has said that the export's evaluator may run, or it is that of their own campaign. `quick`: certificates alone are judged again, and no program runs."""

    judges: OpenJudges
    plugins: Plugins
    trusted: bool = False
    quick: bool = False


def verify(contents: Contents, how: How) -> Verification:
    """Checks an export. Raises `ConfigError` for what is none."""
    checks = list(_files(contents))
    claims = claims_of(contents)
    if _differ(checks):
        return _found(claims, checks)
    program = Program({path: _text(contents, stored) for path, stored in claims.files.items()})
    _check_named(claims, contents)
    try:
        with laid_down(contents, claims.task) as task:
            checks += coherent(Parts(claims, contents, program, task))
            checks += _plugin(claims.task, task, how.plugins)
            checks += _namesake(claims.task)
            if _differ(checks):
                return _found(claims, checks)
            if how.quick and claims.certificate is None:
                return _found(claims, checks)
            if not (how.trusted or known_task(claims.task)):
                return _found(claims, [*checks, Check("judged again", CANNOT_BE_TOLD, why=NOT_TRUSTED)])
            with how.judges(task) as judges:
                again = Again(claims, contents, program, task, judges)
                checks += _judged(again, quick=how.quick)
                return _found(claims, checks, "" if how.quick else judges.description.isolation)
    except TaskError as error:
        return _found(claims, [*checks, Check("judged again", CANNOT_BE_TOLD, why=str(error))])


def known_task(claim: TaskClaim) -> bool:
    """Whether the task ships with this package, in this version, so that its evaluator is no stranger's; parameters that are texts are then the task's own, for an evaluator may read
    much into a text."""
    if claim.name not in bundled():
        return False
    place = place_of_bundled(claim.name)
    plain = evolve.task.load(place).parameters
    texts = all(value == plain.get(key) for key, value in claim.parameters.items() if isinstance(value, str))
    return texts and evolve.task.load(place, claim.parameters).version == claim.version


def _found(claims: Claims, checks: list[Check], isolation: str = "") -> Verification:
    return Verification(claims.name, claims.task.name, claims.program, tuple(checks), isolation)


def _differ(checks: list[Check]) -> bool:
    return worst(tuple(check.verdict for check in checks if check.matters)) == DIFFERS


def _files(contents: Contents) -> Iterator[Check]:
    wrong = check_files(contents)
    yield from (Check("file", DIFFERS, one.path, "", f"{one.path} {one.why}") for one in wrong)
    if not wrong:
        yield Check(
            "files", AGREES, f"{len(contents):,}", f"{len(contents):,}", "every SHA-256 is that of the manifest"
        )


def _plugin(claim: TaskClaim, task: Task, plugins: Plugins) -> Iterator[Check]:
    """The package that the evaluator comes in; another version may judge alike, and what it finds tells."""
    if task.evaluator.plugin:
        here = plugins.evaluator_release(task.evaluator) or "a version that nobody knows"
        verdict = AGREES if here == claim.release else CANNOT_BE_TOLD
        yield Check("evaluator plugin", verdict, claim.release, here, matters=False)


def _namesake(claim: TaskClaim) -> Iterator[Check]:
    """A task that is called as one of this package, and is another one or another version."""
    if claim.name in bundled() and not known_task(claim):
        why = "a task that ships with this package has this name, and is not this version of it"
        yield Check("task of this name", CANNOT_BE_TOLD, why=why, matters=False)


def _judged(again: Again, *, quick: bool) -> Iterator[Check]:
    yield from rejudged.certificate(again)
    if not quick:
        yield from rejudged.score(again)
        yield from rejudged.cases(again)


def _check_named(claims: Claims, contents: Contents) -> None:
    """Raises `ConfigError` where a file that a judging names is missing, or is no JSON."""
    for one in claims.judgings:
        for path in (*one.artifacts.values(), *one.carried.values()):
            parsed(path, _text(contents, path).encode("utf-8", "surrogatepass"))


def _text(contents: Contents, path: str) -> str:
    if path not in contents:
        raise ConfigError(
            f"the export has no file {path[:200]!r}, which its record names. Do: export the program again"
        )
    try:
        return contents[path].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text in UTF-8: {error}. Do: export the program again") from error
