"""What a program is worth, of all its judgings in a campaign.

Invariant: a certified value is exact, and of a noisy program nothing is told without how sure it is."""

from evolve.archive.values import Elite, Estimate
from evolve.campaign import Campaign
from evolve.publish.claims import Value
from evolve.statistics import LEVEL, PRIOR_DEGREES, Pool
from evolve.statistics.beta import student_quantile
from evolve.types import Outcome, ProgramId, Record, Task


def worth(campaign: Campaign, program: ProgramId, records: tuple[Record, ...]) -> Value | None:
    """The value of a program by its records, the earliest first; None where it never passed."""
    task = campaign.task
    passed = [one for one in records if one.evaluation.outcome is Outcome.OK and not one.origin.case]
    proofs = [one.evaluation.fitness for one in passed if one.evaluation.certified]
    values = [one.evaluation.fitness for one in passed if not one.evaluation.certified]
    if proofs and proofs[-1] is not None:
        return Value(task.fitness.shown(proofs[-1]), certified=True)
    if not values or values[0] is None:
        return None
    if task.deterministic:
        return Value(task.fitness.shown(values[0]))
    elite = _elite(campaign, program)
    if elite is not None and elite.reported is not None:
        return noisy(task, elite.reported, confirmed=True)
    return noisy(task, elite.estimate if elite else _estimate(campaign, passed), confirmed=False)


def _elite(campaign: Campaign, program: ProgramId) -> Elite | None:
    archive = campaign.state.archive
    holders = [*([archive.best] if archive.best else []), *archive.elites()]
    return next((one for one in holders if one.program == program), None)


def _estimate(campaign: Campaign, passed: list[Record]) -> Estimate:
    pool = Pool()
    for record in passed:
        if record.evaluation.fitness is not None and not record.evaluation.certified:
            pool = pool.add(record.evaluation.fitness, record.evaluation.standard_error)
    return Estimate(pool.mean, pool.standard_error(campaign.state.noise_floor), pool.count)


def noisy(task: Task, estimate: Estimate, *, confirmed: bool) -> Value:
    """A mean with its limits, by Student's t; a pool's error rests on `PRIOR_DEGREES` deviations beside its own."""
    shown, error = task.fitness.shown(estimate.mean), estimate.standard_error
    if error is None:
        return Value(shown, count=estimate.count, confirmed=confirmed)
    return Value(shown, False, error, estimate.count, *limits(shown, error, estimate.count), confirmed)


def limits(mean: float, error: float, count: int) -> tuple[float, float]:
    """Between which the truth lies with a probability of 95 %, for a mean of `count` measurements with this standard error."""
    half = student_quantile(LEVEL, PRIOR_DEGREES + count - 1) * error
    return mean - half, mean + half
