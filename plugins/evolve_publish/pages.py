"""Files of an export that are made of its record: `README.md` for people, `proof.py` and `verify.py` to run.

Equal claims make equal bytes; every word of a program, a model or a task is escaped."""

from collections.abc import Iterator

from evolve.markdown import escape, format_code, format_table
from evolve.task import CERTIFICATE, PROOF_SCRIPT, proof_script, read_sentence
from evolve.types import Task
from evolve_publish.claims import Claims, EvaluationClaim

README = "README.md"
VERIFY_SCRIPT = "verify.py"
_PAGE = """# {task}: {name}

A program that `evolve` found for the task {task}, with everything that its score rests on. Nothing else is needed to evaluate it again.

{facts}

{evaluations}

`record.json` holds every claim, `program/` the program, `task/` the task as it was, and `lineage/` the steps from the seed with their changes.

## How to verify it

With the package `evolve` installed, `evolve program verify .` or `python verify.py` checks every hash in `MANIFEST.json`, evaluates the program again in a sandbox, and compares. The evaluator in `task/` runs with your rights:
where it is not one that your copy of `evolve` knows, read it first, and then add `--trust`.
"""
_PROOF = """
The certificate in `certificate/` proves that {statement}. `python3 -I -S proof.py` checks that with Python's standard library alone.
"""
_PARTS = {
    "search": "the search",
    "again": "evaluated again",
    "certificate": "certified",
    "from scratch": "without what its parents left",
}


def make_pages(claims: Claims, task: Task) -> dict[str, bytes]:
    """Returns the files of an export that are made of its record alone."""
    page = _PAGE.format(
        task=format_code(claims.task.name),
        name=format_code(claims.name),
        facts=format_table(("", ""), [row for row in _list_facts(claims) if row[1]]),
        evaluations=format_table(
            ("record", "what", "outcome", escape(claims.task.fitness), "trust", "isolation", "when"),
            [_list_evaluation(claims, one) for one in claims.judgings],
        ),
    )
    pages = {VERIFY_SCRIPT: _VERIFY_SCRIPT_TEXT.encode("utf-8")}
    certificate = claims.certificate
    # Without a verifier of the task, a certificate can be made again, but not be checked by the standard library alone.
    if certificate and certificate.fitness is not None and task.verifier and CERTIFICATE in certificate.artifacts:
        page += _PROOF.format(statement=escape(read_sentence(task.verifier)))
        script = proof_script(task, certificate.fitness, claims.name, certificate.artifacts[CERTIFICATE])
        pages[PROOF_SCRIPT] = script.encode("ascii", "backslashreplace")
    return pages | {README: page.encode("utf-8")}


def _list_facts(claims: Claims) -> Iterator[tuple[str, str]]:
    task, first = claims.task, claims.first
    parameters = ", ".join(f"{name} = {value}" for name, value in sorted(task.parameters.items()))
    yield "program", format_code(claims.program)
    yield "version of the task", format_code(task.version[:16]) + (f" ({escape(parameters)})" if parameters else "")
    yield escape(task.fitness), format_value(claims)
    yield "the seed's", "" if claims.seed_fitness is None else format_number(claims, claims.seed_fitness)
    yield "evidence", describe_evidence(claims)
    yield "promoted", escape(claims.promotion.why) if claims.promotion else "no"
    yield "**quarantined**", escape(claims.quarantined)
    yield "evaluator plugin", escape(task.release or task.plugin)
    yield "found", f"{escape(claims.found)} by {format_models(claims)}"
    if first is not None:
        yield "machine", escape("; ".join(filter(None, (first.hardware, first.environment, first.isolation))))


def describe_evidence(claims: Claims) -> str:
    """Returns the kind of evidence for the value."""
    value = claims.value
    if claims.is_claimed:
        return "**claimed** by the program's own script; nobody has computed it"
    if value is None:
        return ""
    if value.certified:
        return "certified in exact arithmetic"
    if claims.task.deterministic:
        return "deterministic"
    return "confirmed" if value.confirmed else "not confirmed: too good on average, since it chose the program"


def format_models(claims: Claims) -> str:
    """Returns the models that the lineage rests on, with the revisions that their servers named."""
    return (
        ", ".join(escape(" ".join((used.model or used.name, *used.revisions))) for used in claims.models) or "no model"
    )


def _list_evaluation(claims: Claims, one: EvaluationClaim) -> tuple[str, ...]:
    fitness = "" if one.fitness is None else format_number(claims, one.fitness)
    return (
        str(one.record),
        escape(_PARTS.get(one.part, f"held out: {one.case}") + (", the seed" if one.of_seed else "")),
        escape(one.outcome),
        fitness + (f" ± {one.standard_error:.2g}" if one.standard_error else ""),
        one.trust,
        escape(one.isolation.partition(":")[0]),
        escape(one.at),
    )


def format_value(claims: Claims) -> str:
    """Returns the value with its uncertainty, and the direction that is better."""
    better = "larger" if claims.task.direction == "max" else "smaller"
    return f"{format_estimate(claims)} ({better} is better)" if claims.value else "none: it never passed"


def format_estimate(claims: Claims) -> str:
    """Returns the value, if there is one; a noisy one with its standard error and limits, so that it looks like no exact one."""
    value = claims.value
    if value is None:
        return ""
    shown = format_number(claims, value.fitness)
    if value.certified or claims.task.deterministic:
        return shown
    if value.standard_error is None or value.low is None or value.high is None:
        return f"{shown}, of unknown precision"
    between = f"95 %: {format_number(claims, value.low)} to {format_number(claims, value.high)}"
    return f"{shown} ± {value.standard_error:.2g} ({between}, n = {value.count:,})"


def format_number(claims: Claims, value: float) -> str:
    """Returns a value with the task's digits."""
    return f"{value:.{claims.task.digits}g}"


# The script trusts nothing beside itself: no file of the folder is imported, whatever its name.
_VERIFY_SCRIPT_TEXT = '''"""Verifies the export that this file lies in: python verify.py [options of `evolve program verify`]"""

import sys

HERE = __file__.rpartition("/")[0] or "."
sys.path[:] = [place for place in sys.path if place not in ("", ".", HERE)]
sys.dont_write_bytecode = True

from pathlib import Path  # noqa: E402

sys.path[:] = [place for place in sys.path if Path(place).resolve() != Path(HERE).resolve()]

try:
    from evolve.cli import main
except ImportError:
    sys.exit(
        "verify.py: the package `evolve` is not installed for this Python, and nothing was verified. "
        "Try: install it, and run this again; MANIFEST.json has the SHA-256 of every file"
    )

if __name__ == "__main__":
    sys.argv = ["evolve", "program", "verify", str(Path(HERE).resolve()), *sys.argv[1:]]
    main()
'''
