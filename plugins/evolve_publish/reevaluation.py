"""Evaluation of an export's claims again: its certificate, its score, its held-out cases; and how a claimed value and a new one are compared.

No result is taken from anywhere else, and a worker gets nothing but what is in the export. Where it cannot evaluate, for lack of a library or a device, the verdict is `cannot be told`; a program that fails where it passed differs.

A deterministic value must be the same; where Python, a library or the processor is another, floating point may differ in its last digits, and a relative difference of
`TOLERANCE` counts as none. Noisy values agree where their difference is within what chance explains 99 times of 100, by Student's t on the error of the difference of
two means (Welch 1947, https://doi.org/10.2307/2332510), or where the new one is better: a claim that is too small deceives nobody. On another hardware class a noisy value that is worse tells
nothing, and a timing tells nothing at all. A claim that could not be compared neither agrees nor differs, and its check says why. Numbers are in the task's own direction."""

import json
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.commands import Report, Worker
from evolve.statistics import PRIOR_DEGREES, error_of_difference, pool_values, student_quantile
from evolve.task import CERTIFICATE, check_proof
from evolve.types import Carried, Case, Fitness, Outcome, Parameters, Program, Split, Task, TextId, Trial
from evolve_publish.claims import Claims, EvaluationClaim, ValueClaim
from evolve_publish.files import Contents, decode_text

Verdict = Literal["agrees", "differs", "cannot be told"]
AGREES: Verdict = "agrees"
DIFFERS: Verdict = "differs"
CANNOT_BE_TOLD: Verdict = "cannot be told"


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """Verdict on one claim."""

    what: str
    verdict: Verdict
    claimed: str = ""
    found: str = ""
    why: str = ""


def worst_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Returns the worst verdict; none at all is no agreement."""
    if DIFFERS in verdicts:
        return DIFFERS
    return CANNOT_BE_TOLD if CANNOT_BE_TOLD in verdicts or not verdicts else AGREES


def check_equal(what: str, claimed: str, found: str, why: str = "") -> ClaimCheck:
    """Checks a text that must be found as it was claimed."""
    return ClaimCheck(what, AGREES if claimed == found else DIFFERS, claimed, found, "" if claimed == found else why)


TOLERANCE = 1e-9
LEVEL = 0.99
NOISY = 5
"""Evaluations of a noisy program."""
_VAGUE = 3.0
"""Largest standard error of a claim that is believed, in times of the error that was found."""
_LONGEST = 300
"""Characters of the reason of a failure."""
_ROUNDING = 1e-12
"""Relative error of the mean of equal numbers."""


def compare_exact(what: str, claimed: float | None, found: float | None, *, elsewhere: str = "") -> ClaimCheck:
    """Compares deterministic values. `elsewhere` says what differs in the environment, empty where nothing does."""
    shown = repr(claimed), repr(found)
    if claimed == found:
        return ClaimCheck(what, AGREES, *shown)
    if claimed is None or found is None:
        return ClaimCheck(what, DIFFERS, *shown, "the program passes in one of them alone")
    # Libraries and processors add up floating point in other orders.
    if elsewhere and is_close(claimed, found):
        why = f"but for the last digits of floating point (a relative difference of {TOLERANCE:g} at most), for {elsewhere}"
        return ClaimCheck(what, AGREES, *shown, why)
    return ClaimCheck(what, DIFFERS, *shown, "; ".join(filter(None, ("the value is another one", elsewhere))))


def is_close(claimed: float, found: float) -> bool:
    """Returns whether values differ by no more than floating point does between processors and libraries."""
    return math.isclose(claimed, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-3)


def compare_noisy(
    what: str, claimed: ValueClaim, found: Sequence[float], fitness: Fitness, *, elsewhere: str = ""
) -> ClaimCheck:
    """Compares noisy values, evaluated again at least twice. `elsewhere` says that this is another hardware class."""
    pool = pool_values(found)
    error = pool.standard_error(None) or 0.0
    own = _own_error(claimed, error * math.sqrt(pool.count / claimed.count))
    within = student_quantile(LEVEL, PRIOR_DEGREES + pool.count - 1) * error_of_difference(own, error)
    gain = fitness.inside(pool.mean) - fitness.inside(claimed.fitness)
    digits = fitness.digits
    shown = (
        f"{claimed.fitness:.{digits}g} +- {own:.2g}",
        f"{pool.mean:.{digits}g} +- {error:.2g} of {pool.count} evaluations",
    )
    if abs(gain) <= within:
        return ClaimCheck(what, AGREES, *shown, f"the difference is within chance ({LEVEL:.0%}: {within:.2g})")
    if gain > 0:
        return ClaimCheck(what, AGREES, *shown, "it is better than claimed")
    return _refuse_worse(
        what, shown, f"it is worse by more than chance explains ({LEVEL:.0%}: {within:.2g})", elsewhere
    )


def _own_error(claimed: ValueClaim, implied: float) -> float:
    """Returns the claim's standard error, and no more than `_VAGUE` times the error that was found, so that a vague claim gains nothing."""
    if claimed.standard_error is None:
        return implied
    return min(claimed.standard_error, _VAGUE * implied) if implied else claimed.standard_error


def compare_with_seed(what: str, gains: Sequence[float], fitness: Fitness, *, elsewhere: str = "") -> ClaimCheck:
    """Compares a program with the seed on a case, by its gain (larger is better, whatever the task's direction) with each random seed. One worse evaluation may be chance; several show it."""
    pool = pool_values(gains)
    shown = (
        "no worse than the seed",
        f"{fitness.shown(pool.mean) + 0.0:+.4g} to the seed"
        + (f" of {pool.count} evaluations" if pool.count > 1 else ""),
    )
    error = pool.standard_error(None) or 0.0
    if pool.mean >= 0.0:
        return ClaimCheck(what, AGREES, *shown)
    if pool.count > 1 and -pool.mean <= student_quantile(LEVEL, PRIOR_DEGREES + pool.count - 1) * error:
        return ClaimCheck(what, AGREES, *shown, "the difference is within chance")
    return _refuse_worse(what, shown, "it is worse than the seed there", elsewhere)


def _refuse_worse(what: str, shown: tuple[str, str], why: str, elsewhere: str) -> ClaimCheck:
    if elsewhere:
        why = f"noisy scores compare within one hardware class, and {elsewhere}"
    return ClaimCheck(what, CANNOT_BE_TOLD if elsewhere else DIFFERS, *shown, why)


# --- claims, evaluated again


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

    def evaluate(self, first: EvaluationClaim, seed: int, *, of_seed: bool = False) -> Report:
        """Evaluates the program as the search did, with the artifacts that its parent had left; `of_seed`: the task's seed, which has no parent."""
        kept = {} if of_seed else first.carried
        carried = Carried({name: json.loads(self.text(path)) for name, path in kept.items()})
        split: Split = "search" if self.task.deterministic else "confirm"
        parameters = Parameters(self.task.parameters)
        trial = Trial(seed, split=split, parameters=parameters, carried=carried, secret=self.claims.secret)
        return self.worker.evaluate(self.task.seed if of_seed else self.program, trial)

    def evaluate_case(self, case: Case, seed: int, *, of_seed: bool = False) -> Report:
        """Evaluates the program, or the task's seed, on a held-out case."""
        trial = Trial(seed, split="held_out", parameters=Parameters(case.parameters), secret=self.claims.secret)
        return self.worker.evaluate(self.task.seed if of_seed else self.program, trial, ungated=True)

    def show_fitness(self, report: Report) -> float | None:
        """Returns the fitness of a report in the task's own direction; None for a failure."""
        fitness = report.evaluation.fitness
        return None if fitness is None else self.task.fitness.shown(fitness)

    def text(self, path: str) -> str:
        """Returns a file of the export."""
        return decode_text(self.contents[path])

    def find_case(self, case: Case, *, of_seed: bool = False) -> EvaluationClaim | None:
        """Returns the claimed evaluation on a held-out case."""
        return next((one for one in self.claims.judgings if (one.case, one.of_seed) == (case.name, of_seed)), None)


def _draw_seed() -> int:
    """Returns a random seed that no program can have prepared for."""
    return secrets.randbelow(1 << 31)


def evaluate_again(again: Reevaluation, *, quick: bool = False) -> Iterator[ClaimCheck]:
    """Checks the certificate, the score and the held-out cases; `quick`: the certificate alone, for which no program runs."""
    yield from check_certificate(again)
    if not quick:
        yield from _check_score(again)
        yield from _check_cases(again)


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
    made = {name: report.texts[TextId(text)] for name, text in report.evaluation.artifacts.items()}
    stored = {name: again.text(path) for name, path in proof.artifacts.items()}
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


def _check_score(again: Reevaluation) -> Iterator[ClaimCheck]:
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
        yield _check_untimed("score", repr(value.fitness), again, again.evaluate(first, _draw_seed()))
    else:
        yield from _check_noisy(again, first, value)


def _check_deterministic(again: Reevaluation, first: EvaluationClaim) -> Iterator[ClaimCheck]:
    report = again.evaluate(first, first.seed)
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
    report = again.evaluate(first, first.seed, of_seed=True)
    if report.evaluation.outcome is Outcome.INTERNAL:
        yield _check_failed("the seed's score", repr(claimed), report)
        return
    found = again.show_fitness(report)
    mean = found is not None and math.isclose(claimed, found, rel_tol=_ROUNDING)
    yield compare_exact("the seed's score", found if mean else claimed, found, elsewhere=again.otherwise)


def _check_noisy(again: Reevaluation, first: EvaluationClaim, value: ValueClaim) -> Iterator[ClaimCheck]:
    found: list[float] = []
    for _ in range(NOISY):
        report = again.evaluate(first, _draw_seed())
        shown = again.show_fitness(report)
        if shown is None:
            yield _check_failed("score", repr(value.fitness), report)
            return
        found.append(shown)
    yield _check_trust(first, report)
    yield compare_noisy("score", value, found, again.task.fitness, elsewhere=again.elsewhere)


def _check_cases(again: Reevaluation) -> Iterator[ClaimCheck]:
    """Evaluates a promoted program beside the seed on each held-out case; of another one only exact scores can be compared."""
    if again.program == again.task.seed:
        return
    for case in again.task.held_out:
        what, claimed = f"held out: {case.name}", again.find_case(case)
        if again.task.promotion == "held_out" and again.claims.promotion is not None:
            if claimed is None or again.find_case(case, of_seed=True) is None:
                missing = "evaluation of the seed" if claimed else "evaluation"
                yield ClaimCheck(what, DIFFERS, "promoted", "", f"the export has no {missing} on this case")
            else:
                yield from _check_promoted_case(again, case, claimed)
        elif again.task.deterministic and claimed is not None and not again.has_other_clock:
            found = again.show_fitness(again.evaluate_case(case, claimed.seed))
            yield compare_exact(what, claimed.fitness, found, elsewhere=again.otherwise)


def _check_promoted_case(again: Reevaluation, case: Case, claimed: EvaluationClaim) -> Iterator[ClaimCheck]:
    what, gains = f"held out: {case.name}", list[float]()
    for number in range(1 if again.task.deterministic else NOISY):
        # The campaign's own random seed comes first; others show what was chance.
        drawn = _draw_seed() if number else claimed.seed
        report, beside = again.evaluate_case(case, drawn), again.evaluate_case(case, drawn, of_seed=True)
        if report.evaluation.fitness is None:
            yield _check_failed(what, repr(claimed.fitness), report)
            return
        if again.has_other_clock:
            yield _check_untimed(what, repr(claimed.fitness), again, report)
            return
        if again.task.deterministic:
            seed = again.find_case(case, of_seed=True)
            for name, one, made in ((what, claimed, report), (f"{what}, the seed", seed, beside)):
                stored = one.fitness if one else None
                yield compare_exact(name, stored, again.show_fitness(made), elsewhere=again.otherwise)
        fitness = beside.evaluation.fitness
        gains.append(0.0 if fitness is None else report.evaluation.fitness - fitness)
        # One evaluation that is no worse than the seed suffices; a worse one may be chance, and is repeated.
        if gains[0] >= 0.0:
            break
    elsewhere = "" if again.task.deterministic else again.elsewhere
    yield compare_with_seed(f"{what}, beside the seed", gains, again.task.fitness, elsewhere=elsewhere)


def _check_untimed(what: str, claimed: str, again: Reevaluation, report: Report) -> ClaimCheck:
    if report.evaluation.outcome is not Outcome.OK:
        return _check_failed(what, claimed, report)
    why = f"its answers pass; timings compare on one hardware class, and {again.elsewhere}"
    return ClaimCheck(what, CANNOT_BE_TOLD, claimed, repr(again.show_fitness(report)), why)


def _check_failed(what: str, claimed: str, report: Report) -> ClaimCheck:
    outcome = report.evaluation.outcome
    verdict = CANNOT_BE_TOLD if outcome is Outcome.INTERNAL else DIFFERS
    return ClaimCheck(what, verdict, claimed, outcome.value, _first_line(report))


def _first_line(report: Report) -> str:
    """Returns the first line of the reason of a failure."""
    text = report.texts.get(TextId(report.evaluation.feedback), "")
    return next(iter(text.strip().splitlines()), "")[:_LONGEST]
