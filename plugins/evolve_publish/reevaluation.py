"""Evaluation of an export's claims again: its certificate, its score, its held-out cases.

No result is taken from anywhere else, and a worker gets nothing but what is in the export. Where it cannot evaluate, for lack of a library or a device, the verdict is `cannot be told`; a program that fails where it passed differs."""

import json
import math
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evolve.commands import Report, Worker
from evolve.task import CERTIFICATE, check_proof
from evolve.types import Carried, Case, Outcome, Parameters, Program, Split, Task, TextId, Trial
from evolve_publish.checks import (
    AGREES,
    CANNOT_BE_TOLD,
    DIFFERS,
    ClaimCheck,
    check_equal,
    compare_exact,
    compare_noisy,
    compare_with_seed,
    is_close,
)
from evolve_publish.claims import Claims, EvaluationClaim, ValueClaim
from evolve_publish.files import Contents, decode_text

_LONGEST = 300
"""Characters of the reason of a failure."""
_ROUNDING = 1e-12
"""Relative error of the mean of equal numbers."""
NOISY = 5
"""Evaluations of a noisy program."""


def _draw_seed() -> int:
    """Returns a random seed that no program can have prepared for."""
    return secrets.randbelow(1 << 31)


@dataclass(frozen=True, slots=True)
class Reevaluation:
    """Export to evaluate again: its claims, its files, the program and the task in them, and a worker for the task."""

    claims: Claims
    contents: Contents
    program: Program
    task: Task
    worker: Worker

    @property
    def elsewhere(self) -> str:
        """Difference between this machine and that of the search; empty where none is known."""
        first, here = self.claims.first, self.worker.description
        if first is None or first.hardware == here.hardware:
            return ""
        return f"this is another machine ({here.hardware}; it was found on {first.hardware or 'an unknown one'})"

    @property
    def otherwise(self) -> str:
        """Difference between the machines, else between the libraries; empty where none is known."""
        first, now = self.claims.first, self.worker.description.environment
        then = first.environment.partition(";")[0] if first else ""
        return self.elsewhere or ("" if now == then else f"the environment is another ({now}; it was {then})")

    @property
    def has_other_clock(self) -> bool:
        """Seconds decide the fitness, and those of this machine are others."""
        return self.claims.task.timed and bool(self.elsewhere)

    def search_trial(self, first: EvaluationClaim, seed: int, *, carried: bool = True) -> Trial:
        """Returns the trial of the search with another random seed, and with the artifacts that the parent had left where they are `carried`."""
        kept = first.carried.items() if carried else ()
        left = Carried({name: json.loads(self.text(path)) for name, path in kept})
        split: Split = "search" if self.task.deterministic else "confirm"
        parameters = Parameters(self.task.parameters)
        return Trial(seed, split=split, parameters=parameters, carried=left, secret=self.claims.secret)

    def evaluate_case(self, case: Case, seed: int, program: Program) -> Report:
        """Evaluates a program on a held-out case."""
        trial = Trial(seed, split="held_out", parameters=Parameters(case.parameters), secret=self.claims.secret)
        return self.worker.evaluate(program, trial, ungated=True)

    def evaluate(self, trial: Trial) -> Report:
        """Evaluates the export's program."""
        return self.worker.evaluate(self.program, trial)

    def show_fitness(self, report: Report) -> float | None:
        """Returns the fitness of a report in the task's own direction; None for a failure."""
        fitness = report.evaluation.fitness
        return None if fitness is None else self.task.fitness.shown(fitness)

    def text(self, path: str) -> str:
        """Returns a file of the export."""
        return decode_text(self.contents[path])

    def evaluation_of_case(self, case: Case, *, of_seed: bool = False) -> EvaluationClaim | None:
        """Returns the claimed evaluation on a held-out case."""
        found = (one for one in self.claims.judgings if one.case == case.name and one.of_seed == of_seed)
        return next(found, None)


def _artifact_texts(report: Report) -> dict[str, str]:
    """Returns the artifacts of a report as JSON, by their names."""
    return {name: report.texts[TextId(text)] for name, text in report.evaluation.artifacts.items()}


def _first_line(report: Report) -> str:
    """Returns the first line of the reason of a failure."""
    text = report.texts.get(TextId(report.evaluation.feedback), "")
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]


def check_certificate(again: Reevaluation) -> Iterator[ClaimCheck]:
    """Certifies the artifacts of the search again and compares the proof to the last digit; a proof that another processor makes otherwise is checked by the task's verifier."""
    proof, first = again.claims.certificate, again.claims.first
    if proof is None:
        return
    if first is None or not first.artifacts:
        yield ClaimCheck(
            "certificate", DIFFERS, repr(proof.fitness), "", "the export has nothing that could be certified"
        )
        return
    report = again.worker.certify(
        {name: again.text(path) for name, path in first.artifacts.items()}, Parameters(again.task.parameters)
    )
    found = again.show_fitness(report)
    if found is None:
        yield _check_failed("certificate", repr(proof.fitness), report)
        return
    made, stored = _artifact_texts(report), {name: again.text(path) for name, path in proof.artifacts.items()}
    shown = repr(proof.fitness), repr(found)
    if proof.fitness == found and _canonical(made) == _canonical(stored):
        yield ClaimCheck("certificate", AGREES, *shown, "every number of the proof is the same")
    elif _is_proven(again, proof.fitness, found, stored.get(CERTIFICATE, "")):
        why = f"the stored proof holds exactly, by the task's verifier; made again it differs in the last digits of floating point, for {again.otherwise}"
        yield ClaimCheck("certificate", AGREES, *shown, why)
    else:
        yield ClaimCheck("certificate", DIFFERS, *shown, "the stored proof is not the one that the evaluator makes")


def _is_proven(again: Reevaluation, claimed: float | None, found: float, proof: str) -> bool:
    """Returns whether the task's verifier, which is exact, accepts the stored proof. It decides on another machine alone, where the evaluator may make another proof by the last digits of floating point."""
    if claimed is None or not is_close(claimed, found) or not (again.otherwise and again.task.verifier and proof):
        return False
    return not check_proof(again.task, proof, claimed, again.claims.name).refusal


def _canonical(proof: Mapping[str, str]) -> str:
    """Returns JSON in one way of writing it: true is not 1."""
    return json.dumps({name: json.loads(text) for name, text in proof.items()}, sort_keys=True)


def check_score(again: Reevaluation) -> Iterator[ClaimCheck]:
    """Evaluates the program again."""
    first, value = again.claims.first, again.claims.value
    if first is None:
        return
    if again.task.deterministic:
        yield from _check_deterministic(again, first)
        yield from _check_seed(again, first)
    elif value is None:
        yield ClaimCheck("score", CANNOT_BE_TOLD, why="a noisy program that never passed has no score to compare")
    elif value.certified:  # what a noisy program finds again decides nothing about its certificate
        return
    elif again.has_other_clock:
        yield _check_untimed(
            "score", repr(value.fitness), again, again.evaluate(again.search_trial(first, _draw_seed()))
        )
    else:
        yield from _check_noisy(again, first, value)


def _check_deterministic(again: Reevaluation, first: EvaluationClaim) -> Iterator[ClaimCheck]:
    report = again.evaluate(again.search_trial(first, first.seed))
    if report.evaluation.outcome is Outcome.INTERNAL:
        yield _check_failed("score", repr(first.fitness), report)
        return
    yield check_equal("outcome", first.outcome, report.evaluation.outcome.value, _first_line(report))
    if first.fitness is not None or report.evaluation.fitness is not None:
        yield compare_exact("score", first.fitness, again.show_fitness(report), elsewhere=again.otherwise)
    if report.evaluation.outcome is Outcome.OK:
        yield _check_trust(first, report)
    if first.violation or report.evaluation.violation:
        yield compare_exact("constraints", first.violation, report.evaluation.violation, elsewhere=again.otherwise)


def _check_trust(first: EvaluationClaim, report: Report) -> ClaimCheck:
    return check_equal(
        "trust", first.trust, report.evaluation.trust, "the evaluator says something else of how it knows"
    )


def _check_seed(again: Reevaluation, first: EvaluationClaim) -> Iterator[ClaimCheck]:
    """Evaluates the task's seed again, whose score stands beside that of a program that passed."""
    claimed = again.claims.seed_fitness
    if again.program == again.task.seed or claimed is None or first.fitness is None or again.has_other_clock:
        return
    report = again.worker.evaluate(again.task.seed, again.search_trial(first, first.seed, carried=False))
    if report.evaluation.outcome is Outcome.INTERNAL:
        yield _check_failed("the seed's score", repr(claimed), report)
        return
    found = again.show_fitness(report)
    mean = found is not None and math.isclose(claimed, found, rel_tol=_ROUNDING)
    yield compare_exact("the seed's score", found if mean else claimed, found, elsewhere=again.otherwise)


def _check_noisy(again: Reevaluation, first: EvaluationClaim, value: ValueClaim) -> Iterator[ClaimCheck]:
    found: list[float] = []
    for _ in range(NOISY):
        report = again.evaluate(again.search_trial(first, _draw_seed()))
        shown = again.show_fitness(report)
        if shown is None:
            yield _check_failed("score", repr(value.fitness), report)
            return
        found.append(shown)
    yield _check_trust(first, report)
    yield compare_noisy("score", value, found, again.task.fitness, elsewhere=again.elsewhere)


def check_cases(again: Reevaluation) -> Iterator[ClaimCheck]:
    """Evaluates a promoted program beside the seed on each held-out case; of another one only exact scores can be compared."""
    if again.program == again.task.seed:
        return
    for case in again.task.held_out:
        if again.task.promotion == "held_out" and again.claims.promotion is not None:
            yield from _check_case(again, case)
        elif again.task.deterministic:
            yield from _check_case_score(again, case)


def _check_case_score(again: Reevaluation, case: Case) -> Iterator[ClaimCheck]:
    claimed = again.evaluation_of_case(case)
    if claimed is None or again.has_other_clock:
        return
    report = again.evaluate_case(case, claimed.seed, again.program)
    yield compare_exact(
        f"held out: {case.name}", claimed.fitness, again.show_fitness(report), elsewhere=again.otherwise
    )


def _check_case(again: Reevaluation, case: Case) -> Iterator[ClaimCheck]:
    what = f"held out: {case.name}"
    claimed = again.evaluation_of_case(case)
    if claimed is None:
        yield ClaimCheck(what, DIFFERS, "promoted", "", "the export has no evaluation on this case")
        return
    gains: list[float] = []
    seeds = again.evaluation_of_case(case, of_seed=True)
    if seeds is None:
        yield ClaimCheck(what, DIFFERS, "promoted", "", "the export has no evaluation of the seed on this case")
        return
    # One evaluation that is no worse than the seed suffices; a worse one may be chance, and is repeated.
    for report, seed_report in _pairs(again, case, claimed.seed):
        shown, beside = again.show_fitness(report), seed_report.evaluation.fitness
        if report.evaluation.fitness is None or shown is None:
            yield _check_failed(what, repr(claimed.fitness), report)
            return
        if again.has_other_clock:
            yield _check_untimed(what, repr(claimed.fitness), again, report)
            return
        if again.task.deterministic:
            yield compare_exact(what, claimed.fitness, shown, elsewhere=again.otherwise)
            yield compare_exact(
                f"{what}, the seed", seeds.fitness, again.show_fitness(seed_report), elsewhere=again.otherwise
            )
        gains.append(0.0 if beside is None else report.evaluation.fitness - beside)
        if gains[0] >= 0.0:
            break
    elsewhere = "" if again.task.deterministic else again.elsewhere
    yield compare_with_seed(f"{what}, beside the seed", gains, again.task.fitness, elsewhere=elsewhere)


def _pairs(again: Reevaluation, case: Case, seed: int) -> Iterator[tuple[Report, Report]]:
    """Yields reports of the program and of the task's seed, with the random seed of the campaign; of a noisy task then with others."""
    for number in range(1 if again.task.deterministic else NOISY):
        drawn = _draw_seed() if number else seed
        yield again.evaluate_case(case, drawn, again.program), again.evaluate_case(case, drawn, again.task.seed)


def _check_untimed(what: str, claimed: str, again: Reevaluation, report: Report) -> ClaimCheck:
    if report.evaluation.outcome is not Outcome.OK:
        return _check_failed(what, claimed, report)
    why = f"its answers pass; timings compare on one hardware class, and {again.elsewhere}"
    return ClaimCheck(what, CANNOT_BE_TOLD, claimed, repr(again.show_fitness(report)), why)


def _check_failed(what: str, claimed: str, report: Report) -> ClaimCheck:
    outcome = report.evaluation.outcome
    verdict = CANNOT_BE_TOLD if outcome is Outcome.INTERNAL else DIFFERS
    return ClaimCheck(what, verdict, claimed, outcome.value, _first_line(report))
