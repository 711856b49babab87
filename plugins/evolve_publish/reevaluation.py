"""Claims of an export, judged again: its certificate, its score, its held-out cases.

No result is taken from anywhere else, and a worker gets nothing but what is in the export. Where it cannot evaluate, for lack of a library or a device, the verdict is `cannot be told`; a program that fails where it passed differs."""

import json
import math
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
    worst_verdict,
)
from evolve_publish.claims import Claims, JudgingClaim, ValueClaim
from evolve_publish.files import Contents, decode_text

_LONGEST = 300
"""Characters of the reason of a failure."""
_ROUNDING = 1e-12
"""Relative error of the mean of equal numbers."""
NOISY = 5
"""Judgings of a noisy program."""


def _draw_seed() -> int:
    """Returns a random seed that no program can have prepared for."""
    return secrets.randbelow(1 << 31)


@dataclass(frozen=True, slots=True)
class Reevaluation:
    """Export to judge again: its claims, its files, the program and the task in them, and a worker for the task. `draw` returns the random seed of one more judging."""

    claims: Claims
    contents: Contents
    program: Program
    task: Task
    worker: Worker
    draw: Callable[[], int] = field(default=_draw_seed)

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

    def search_trial(self, first: JudgingClaim, seed: int, *, carried: bool = True) -> Trial:
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

    def certify(self, artifacts: dict[str, str]) -> float | None:
        """Returns the exact value that artifacts prove; None for none."""
        return self.show_fitness(self.worker.certify(artifacts, Parameters(self.task.parameters)))

    def show_fitness(self, report: Report) -> float | None:
        """Returns the fitness of a report in the task's own direction; None for a failure."""
        fitness = report.evaluation.fitness
        return None if fitness is None else self.task.fitness.shown(fitness)

    def text(self, path: str) -> str:
        """Returns a file of the export."""
        return decode_text(self.contents[path])

    def judging_of_case(self, case: Case, *, of_seed: bool = False) -> JudgingClaim | None:
        """Returns the claimed judging on a held-out case."""
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
    texts, stored = _artifact_texts(report), {name: again.text(path) for name, path in proof.artifacts.items()}
    names = sorted({*texts, *stored})
    checks = [_compare_proofs(name, stored.get(name, "null"), texts.get(name, "null")) for name in names]
    checks.insert(0, compare_exact("certificate", proof.fitness, found))
    if worst_verdict([check.verdict for check in checks]) == DIFFERS:
        checks = _check_by_verifier(again, proof.fitness, found, stored.get(CERTIFICATE, "")) or checks
    yield from checks


def _check_by_verifier(again: Reevaluation, claimed: float | None, found: float, proof: str) -> list[ClaimCheck]:
    """Checks the stored proof by the task's verifier, which is exact: on another processor the evaluator may make another proof by the last digits of floating point. Returns nothing where that does not decide."""
    if claimed is None or not is_close(claimed, found) or not (again.otherwise and again.task.verifier and proof):
        return []
    if check_proof(again.task, proof, claimed, again.claims.name).refusal:
        return []
    why = f"the stored proof holds exactly, by the task's verifier; made again it differs in the last digits of floating point, for {again.otherwise}"
    return [ClaimCheck("certificate", AGREES, repr(claimed), repr(found), why)]


def _compare_proofs(name: str, stored: str, found: str) -> ClaimCheck:
    agrees = _canonical(stored) == _canonical(found)
    shown = f"{len(stored):,} characters", f"{len(found):,} characters"
    why = "every number is the same" if agrees else "the stored proof is not the one that the evaluator makes"
    return ClaimCheck(f"proof {name!r}", AGREES if agrees else DIFFERS, *shown, why)


def _canonical(text: str) -> str:
    """Returns JSON in one way of writing it: true is not 1."""
    return json.dumps(json.loads(text), sort_keys=True)


def check_score(again: Reevaluation) -> Iterator[ClaimCheck]:
    """Judges the program again."""
    first, value = again.claims.first, again.claims.value
    if first is None:
        return
    if again.task.deterministic:
        yield from _check_deterministic(again, first)
        yield from _check_seed(again, first)
    elif value is None or value.certified:
        yield _run_once(again, first)
    elif again.has_other_clock:
        yield _check_untimed(
            "score", repr(value.fitness), again, again.evaluate(again.search_trial(first, again.draw()))
        )
    else:
        yield from _check_noisy(again, first, value)


def _check_deterministic(again: Reevaluation, first: JudgingClaim) -> Iterator[ClaimCheck]:
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
    proof = again.claims.certificate
    if proof is not None and report.evaluation.outcome is Outcome.OK:
        found = again.certify(_artifact_texts(report))
        yield compare_exact("certified again", proof.fitness, found, elsewhere=again.otherwise)


def _check_trust(first: JudgingClaim, report: Report) -> ClaimCheck:
    return check_equal("trust", first.trust, report.evaluation.trust, "the judge says something else of how it knows")


def _check_seed(again: Reevaluation, first: JudgingClaim) -> Iterator[ClaimCheck]:
    """Judges the task's seed again, whose score stands beside that of a program that passed."""
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


def _run_once(again: Reevaluation, first: JudgingClaim) -> ClaimCheck:
    """Judges a noisy program once more, whose certificate is what counts, or that never passed."""
    report = again.evaluate(again.search_trial(first, first.seed))
    outcome, found = report.evaluation.outcome.value, again.show_fitness(report)
    verdict = AGREES if outcome == first.outcome else CANNOT_BE_TOLD
    why = "what a noisy program finds again decides nothing about its certificate" if again.claims.certificate else ""
    return ClaimCheck(
        "run again",
        verdict,
        _format_outcome(first.outcome, first.fitness),
        _format_outcome(outcome, found),
        why,
        matters=not why,
    )


def _format_outcome(outcome: str, fitness: float | None) -> str:
    return outcome if fitness is None else f"{outcome} {fitness!r}"


def _check_noisy(again: Reevaluation, first: JudgingClaim, value: ValueClaim) -> Iterator[ClaimCheck]:
    found: list[float] = []
    for _ in range(NOISY):
        report = again.evaluate(again.search_trial(first, again.draw()))
        shown = again.show_fitness(report)
        if shown is None:
            yield _check_failed("score", repr(value.fitness), report)
            return
        found.append(shown)
    yield _check_trust(first, report)
    yield compare_noisy("score", value, found, again.task.fitness, elsewhere=again.elsewhere)


def check_cases(again: Reevaluation) -> Iterator[ClaimCheck]:
    """Judges a promoted program beside the seed on each held-out case; of another one only exact scores can be compared."""
    if again.program == again.task.seed:
        return
    for case in again.task.held_out:
        if again.task.promotion == "held_out" and again.claims.promotion is not None:
            yield from _check_case(again, case)
        elif again.task.deterministic:
            yield from _check_case_score(again, case)


def _check_case_score(again: Reevaluation, case: Case) -> Iterator[ClaimCheck]:
    claimed = again.judging_of_case(case)
    if claimed is None or again.has_other_clock:
        return
    report = again.evaluate_case(case, claimed.seed, again.program)
    yield compare_exact(
        f"held out: {case.name}", claimed.fitness, again.show_fitness(report), elsewhere=again.otherwise
    )


def _check_case(again: Reevaluation, case: Case) -> Iterator[ClaimCheck]:
    what = f"held out: {case.name}"
    claimed = again.judging_of_case(case)
    if claimed is None:
        yield ClaimCheck(what, DIFFERS, "promoted", "", "the export has no judging on this case")
        return
    gains: list[float] = []
    seeds = again.judging_of_case(case, of_seed=True)
    if seeds is None:
        yield ClaimCheck(what, DIFFERS, "promoted", "", "the export has no judging of the seed on this case")
        return
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
        drawn = again.draw() if number else seed
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
