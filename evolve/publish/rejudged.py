"""What an export claims, judged again: its certificate, its score, its held-out cases.

Invariant: whatever the judges could not judge, for lack of a library or a device, cannot be told; a program that fails where it passed differs."""

import json
import math
from collections.abc import Iterator

from evolve.evaluation import Report
from evolve.publish.again import Again, feedback, texts_of
from evolve.publish.claims import Judging, Value
from evolve.publish.comparing import alike, close, no_worse, same
from evolve.publish.findings import AGREES, CANNOT_BE_TOLD, DIFFERS, Check, equal, worst
from evolve.task import verify_script
from evolve.task.verifier import CERTIFICATE
from evolve.types import Case, Outcome

_ROUNDING = 1e-12
"""How far the mean of equal numbers may be from each of them, as a part of it."""
NOISY = 5
"""Judgings of a noisy program."""


def certificate(again: Again) -> Iterator[Check]:
    """The stored proof, made again of what the program had found, and compared to the last digit; where another processor makes another one, checked by the task's verifier."""
    proof, first = again.claims.certificate, again.claims.first
    if proof is None:
        return
    if first is None or not first.artifacts:
        yield Check("certificate", DIFFERS, repr(proof.fitness), "", "the export has nothing that could be certified")
        return
    report = again.certified({name: again.text(path) for name, path in first.artifacts.items()})
    found = again.shown(report)
    if found is None:
        yield _failed("certificate", repr(proof.fitness), report)
        return
    texts, stored = texts_of(report), {name: again.text(path) for name, path in proof.artifacts.items()}
    names = sorted({*texts, *stored})
    checks = [_proof(name, stored.get(name, "null"), texts.get(name, "null")) for name in names]
    checks.insert(0, same("certificate", proof.fitness, found))
    if worst([check.verdict for check in checks]) == DIFFERS:
        checks = _by_verifier(again, proof.fitness, found, stored.get(CERTIFICATE, "")) or checks
    yield from checks


def _by_verifier(again: Again, claimed: float | None, found: float, proof: str) -> list[Check]:
    """On another processor the evaluator may come to another proof by the last digits of what it computes before it is exact. The stored one then agrees where the task's
    verifier, which computes nothing that is not exact, finds that it proves what is claimed. Empty where that does not decide."""
    if claimed is None or not close(claimed, found) or not (again.otherwise and again.task.verifier and proof):
        return []
    if verify_script.holds(again.task, proof, claimed, again.claims.name).refusal:
        return []
    why = f"the stored proof holds exactly, by the task's verifier; made again it differs in the last digits of floating point, for {again.otherwise}"
    return [Check("certificate", AGREES, repr(claimed), repr(found), why)]


def _proof(name: str, stored: str, found: str) -> Check:
    agrees = _canonical(stored) == _canonical(found)
    shown = f"{len(stored):,} characters", f"{len(found):,} characters"
    why = "every number is the same" if agrees else "the stored proof is not the one that the evaluator makes"
    return Check(f"proof {name!r}", AGREES if agrees else DIFFERS, *shown, why)


def _canonical(text: str) -> str:
    """What JSON says, in one way of writing it: true is not 1."""
    return json.dumps(json.loads(text), sort_keys=True)


def score(again: Again) -> Iterator[Check]:
    """The program, judged again."""
    first, value = again.claims.first, again.claims.value
    if first is None:
        return
    if again.task.deterministic:
        yield from _deterministic(again, first)
        yield from _seed(again, first)
    elif value is None or value.certified:
        yield _once(again, first)
    elif again.untimable:
        yield _untimed("score", repr(value.fitness), again, again.judged(again.search_trial(first, again.draw())))
    else:
        yield from _noisy(again, first, value)


def _deterministic(again: Again, first: Judging) -> Iterator[Check]:
    report = again.judged(again.search_trial(first, first.seed))
    if report.evaluation.outcome is Outcome.INTERNAL:
        yield _failed("score", repr(first.fitness), report)
        return
    yield equal("outcome", first.outcome, report.evaluation.outcome.value, feedback(report))
    if first.fitness is not None or report.evaluation.fitness is not None:
        yield same("score", first.fitness, again.shown(report), elsewhere=again.otherwise)
    if report.evaluation.outcome is Outcome.OK:
        yield _trust(first, report)
    if first.violation or report.evaluation.violation:
        yield same("constraints", first.violation, report.evaluation.violation, elsewhere=again.otherwise)
    proof = again.claims.certificate
    if proof is not None and report.evaluation.outcome is Outcome.OK:
        found = again.shown(again.certified(texts_of(report)))
        yield same("certified again", proof.fitness, found, elsewhere=again.otherwise)


def _trust(first: Judging, report: Report) -> Check:
    return equal("trust", first.trust, report.evaluation.trust, "the judge says something else of how it knows")


def _seed(again: Again, first: Judging) -> Iterator[Check]:
    """The task's seed, whose score is told beside that of a program that passed."""
    claimed = again.claims.seed_fitness
    if again.program == again.task.seed or claimed is None or first.fitness is None or again.untimable:
        return
    report = again.judged(again.search_trial(first, first.seed, carried=False), program=again.task.seed)
    if report.evaluation.outcome is Outcome.INTERNAL:
        yield _failed("the seed's score", repr(claimed), report)
        return
    found = again.shown(report)
    mean = found is not None and math.isclose(claimed, found, rel_tol=_ROUNDING)
    yield same("the seed's score", found if mean else claimed, found, elsewhere=again.otherwise)


def _once(again: Again, first: Judging) -> Check:
    """Of a noisy program whose certificate is what counts, or that never passed."""
    report = again.judged(again.search_trial(first, first.seed))
    outcome, found = report.evaluation.outcome.value, again.shown(report)
    verdict = AGREES if outcome == first.outcome else CANNOT_BE_TOLD
    why = "what a noisy program finds again decides nothing about its certificate" if again.claims.certificate else ""
    return Check("run again", verdict, _told(first.outcome, first.fitness), _told(outcome, found), why, matters=not why)


def _told(outcome: str, fitness: float | None) -> str:
    return outcome if fitness is None else f"{outcome} {fitness!r}"


def _noisy(again: Again, first: Judging, value: Value) -> Iterator[Check]:
    found: list[float] = []
    for _ in range(NOISY):
        report = again.judged(again.search_trial(first, again.draw()))
        shown = again.shown(report)
        if shown is None:
            yield _failed("score", repr(value.fitness), report)
            return
        found.append(shown)
    yield _trust(first, report)
    yield alike("score", value, found, again.task.fitness, elsewhere=again.elsewhere)


def cases(again: Again) -> Iterator[Check]:
    """The held-out cases, on which a promoted program is judged beside the seed. Of one that is not, the scores there that are exact."""
    if again.program == again.task.seed:
        return
    for case in again.task.held_out:
        if again.task.promotion == "held_out" and again.claims.promotion is not None:
            yield from _case(again, case)
        elif again.task.deterministic:
            yield from _score_there(again, case)


def _score_there(again: Again, case: Case) -> Iterator[Check]:
    claimed = next((one for one in again.claims.judgings if one.case == case.name and not one.of_seed), None)
    if claimed is None or again.untimable:
        return
    report = again.judged(again.case_trial(case, claimed.seed), on_case=True)
    yield same(f"held out: {case.name}", claimed.fitness, again.shown(report), elsewhere=again.otherwise)


def _case(again: Again, case: Case) -> Iterator[Check]:
    what = f"held out: {case.name}"
    claimed = next((one for one in again.claims.judgings if one.case == case.name and not one.of_seed), None)
    if claimed is None:
        yield Check(what, DIFFERS, "promoted", "", "the export has no judging on this case")
        return
    gains: list[float] = []
    seeds = next((one for one in again.claims.judgings if one.case == case.name and one.of_seed), None)
    if seeds is None:
        yield Check(what, DIFFERS, "promoted", "", "the export has no judging of the seed on this case")
        return
    for report, seed_report in _pairs(again, case, claimed.seed):
        shown, beside = again.shown(report), seed_report.evaluation.fitness
        if report.evaluation.fitness is None or shown is None:
            yield _failed(what, repr(claimed.fitness), report)
            return
        if again.untimable:
            yield _untimed(what, repr(claimed.fitness), again, report)
            return
        if again.task.deterministic:
            yield same(what, claimed.fitness, shown, elsewhere=again.otherwise)
            yield same(f"{what}, the seed", seeds.fitness, again.shown(seed_report), elsewhere=again.otherwise)
        gains.append(0.0 if beside is None else report.evaluation.fitness - beside)
        if gains[0] >= 0.0:
            break
    elsewhere = "" if again.task.deterministic else again.elsewhere
    yield no_worse(f"{what}, beside the seed", gains, again.task.fitness, elsewhere=elsewhere)


def _pairs(again: Again, case: Case, seed: int) -> Iterator[tuple[Report, Report]]:
    """The program and the task's seed, with the random seed of the campaign; of a noisy task then with others."""
    for number in range(1 if again.task.deterministic else NOISY):
        trial = again.case_trial(case, again.draw() if number else seed)
        yield again.judged(trial, on_case=True), again.judged(trial, on_case=True, program=again.task.seed)


def _untimed(what: str, claimed: str, again: Again, report: Report) -> Check:
    if report.evaluation.outcome is not Outcome.OK:
        return _failed(what, claimed, report)
    why = f"its answers pass; timings compare on one hardware class, and {again.elsewhere}"
    return Check(what, CANNOT_BE_TOLD, claimed, repr(again.shown(report)), why)


def _failed(what: str, claimed: str, report: Report) -> Check:
    outcome = report.evaluation.outcome
    verdict = CANNOT_BE_TOLD if outcome is Outcome.INTERNAL else DIFFERS
    return Check(what, verdict, claimed, outcome.value, feedback(report))
