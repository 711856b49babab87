"""How much of a program's gain is left where the search did not look, by what an export claims.

Invariant: a function of the claims and the task; the same rule as for a campaign's best program."""

from evolve.publish.claims import Claims, Judging
from evolve.report import Kept, kept
from evolve.report.best import Best, CaseLine
from evolve.types import Task


def kept_of(claims: Claims, task: Task) -> Kept | None:
    """What is left on the held-out cases; None for a program that never passed, and a task without such cases."""
    value, first = claims.value, claims.first
    if value is None or first is None or not task.held_out:
        return None
    own = {one.case: one for one in claims.judgings if one.case and not one.of_seed}
    seeds = {one.case: one for one in claims.judgings if one.case and one.of_seed}
    wanted = [case.name for case in task.held_out]
    cases = tuple(_case(own[name], seeds.get(name)) for name in wanted if name in own)
    best = Best(
        name=claims.name,
        record=first.record,
        program=claims.program,
        fitness=value.fitness,
        standard_error=value.standard_error,
        measurements=value.count,
        certified=value.certified,
        isolation=first.isolation,
        trust=first.trust,
        seed=claims.seed_fitness,
        gain=None if claims.seed_fitness is None else value.fitness - claims.seed_fitness,
        improved=True,
        anchors=(),
        cases=cases,
    )
    return kept(best, wanted, task.fitness)


def _case(own: Judging, seed: Judging | None) -> CaseLine:
    return CaseLine(own.case, str(own.record), own.outcome, own.fitness, seed.fitness if seed else None, agrees=True)


def told(found: Kept | None) -> str:
    """`72 % of the gain is left on held-out cases, less than half on 'other items'`; empty where nothing is known."""
    if found is None or found.share is None:
        return ""
    lost = ", ".join(repr(line.case.case) for line in found.lost)
    left = "nothing" if found.verdict == "gone" else f"{max(found.share, 0.0):.0%}"
    return f"{left} of the gain is left on held-out cases{f', less than half on {lost}' if lost else ''}"
