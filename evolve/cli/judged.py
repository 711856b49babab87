"""What `evolve program judge` says: a row for each judging, means with their errors, and the gain over the seed.

Invariant: pure; numbers are in the task's own direction, and a gain is a mean over trials that both were judged with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from evolve import report, wording
from evolve.cli.output import facts, one_line, quoted, table
from evolve.measuring import Measured
from evolve.statistics import Pool, pooled
from evolve.types import Fitness, Outcome, Task, TextId, Trust

_SURE = 2.0
"""A gain of fewer standard errors is said to be within the noise."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One judging. `of` is `program` or `seed`; `trial` is the judge's random seed; `kept`: it was judged before; `violation` is how far
    the task's constraints are missed; `tag` is the failure of integrity that the evaluator has seen."""

    of: str
    trial: int
    case: str
    outcome: str
    fitness: float | None
    seconds: float
    kept: bool
    feedback: str
    isolation: str
    trust: Trust = "witnessed"
    violation: float = 0.0
    objectives: Mapping[str, float] = field(default_factory=dict)
    tag: str = ""
    event: str = "judged"


@dataclass(frozen=True, slots=True)
class Summary:
    """All of them together. `count` is how many trials the program was judged with, and `failures` how many of its judgings failed;
    means are over what is OK, errors are standard errors (None for fewer than two values); `gain` is the mean difference to the
    seed; `violation` is the program's worst, and `trust` the least of all, held-out cases included."""

    task: str
    program: str
    count: int
    failures: int
    kept: int
    mean: float | None
    error: float | None
    seed_mean: float | None
    seed_error: float | None
    gain: float | None
    gain_error: float | None
    certified: float | None
    seed_certified: float | None
    is_seed: bool
    violation: float = 0.0
    trust: Trust = "witnessed"
    event: str = "summary"


def line(task: Task, row: Measured) -> Judged:
    """A judging as it is told."""
    evaluation = row.report.evaluation
    return Judged(
        of="seed" if row.wanted.is_seed else "program",
        trial=row.wanted.trial.seed,
        case=row.wanted.case,
        outcome=evaluation.outcome,
        fitness=None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness),
        seconds=evaluation.seconds,
        kept=row.kept,
        feedback=row.report.texts.get(TextId(evaluation.feedback), "").strip(),
        isolation=evaluation.isolation,
        trust=evaluation.trust,
        violation=evaluation.violation,
        objectives={one.name: one.value for one in report.objectives(task, evaluation.objectives)},
        tag=evaluation.tag,
    )


def summary(
    task: Task, program: str, rows: Sequence[Judged], cases: Sequence[Judged], certificates: Mapping[str, float]
) -> Summary:
    """The summary of `rows`; of the judgings on held-out `cases`, the failures count. `certificates` are values by `of`."""
    own = [row for row in rows if row.of == "program"]
    values, seeds = _values(own), _values(row for row in rows if row.of == "seed")
    mean, seed_mean = pooled(list(values.values())), pooled(list(seeds.values()))
    gain = pooled([values[trial] - seeds[trial] for trial in values if trial in seeds])
    failed = [row for row in (*own, *cases) if row.of == "program" and row.outcome != Outcome.OK]
    return Summary(
        task=task.name,
        program=program,
        count=len(own),
        failures=len(failed),
        kept=sum(row.kept for row in own),
        mean=_mean(mean),
        error=mean.standard_error(None),
        seed_mean=_mean(seed_mean),
        seed_error=seed_mean.standard_error(None),
        gain=_mean(gain),
        gain_error=gain.standard_error(None),
        certified=certificates.get("program"),
        seed_certified=certificates.get("seed"),
        is_seed=program == task.seed.id,
        violation=max((row.violation for row in (*own, *cases) if row.of == "program"), default=0.0),
        trust=max((row.trust for row in (*rows, *cases)), key=get_args(Trust).index, default="witnessed"),
    )


def _values(rows: Iterable[Judged]) -> dict[int, float]:
    return {row.trial: row.fitness for row in rows if row.fitness is not None}


def _mean(pool: Pool) -> float | None:
    return pool.mean if pool.count else None


def page(task: Task, rows: Sequence[Judged], cases: Sequence[Judged], found: Summary) -> str:
    """All of it for a person: a table of trials, one of held-out cases, and what comes of them."""
    parts = [_table("trial", task.fitness, rows)] if rows else ["nothing was judged: the time was too short"]
    parts += [_table("held-out case", task.fitness, cases)] if cases else []
    failed = [row for row in (*rows, *cases) if row.of == "program" and row.outcome != Outcome.OK]
    if failed:
        where = f"trial {failed[0].trial}" if not failed[0].case else f"case {failed[0].case}"
        words = failed[0].feedback
        parts.append(f"why it failed ({where})\n{quoted(words) if words else '(no feedback)'}")
    tags = sorted({row.tag for row in (*rows, *cases) if row.tag})
    if tags:
        parts.append(f"integrity: {', '.join(map(one_line, tags))}; in a campaign such a program is quarantined")
    isolation = (rows[0].isolation if rows else "") or "unknown"
    return "\n\n".join(
        [*parts, facts([*_facts(task.fitness, found), ("trust", found.trust), ("isolation", isolation)])]
    )


def _table(heading: str, fitness: Fitness, rows: Sequence[Judged]) -> str:
    """A row for each trial, or each case: the program, and the seed beside it."""
    keys = list(dict.fromkeys((row.trial, row.case) for row in rows))
    programs, seeds = ({(row.trial, row.case): row for row in rows if row.of == of} for of in ("program", "seed"))
    names = [key[1] if heading == "held-out case" else str(key[0]) for key in keys]
    own = [(name, *_cells(programs.get(key), fitness)) for name, key in zip(names, keys, strict=True)]
    if not seeds:
        return table((heading, "outcome", fitness.name, "took"), own)
    beside = [
        (*_cells(seeds.get(key), fitness), _difference(programs.get(key), seeds.get(key), fitness)) for key in keys
    ]
    headings = (heading, "outcome", fitness.name, "took", "the seed", "", "took", "difference")
    return table(headings, [(*left, *right) for left, right in zip(own, beside, strict=True)])


def _cells(row: Judged | None, fitness: Fitness) -> tuple[str, str, str]:
    if row is None:
        return "-", "-", "-"
    outcome = f"{row.outcome}, misses constraints" if row.violation else row.outcome
    return outcome, wording.number(row.fitness, fitness), "kept" if row.kept else wording.seconds(row.seconds)


def _difference(program: Judged | None, seed: Judged | None, fitness: Fitness) -> str:
    if program is None or seed is None or program.fitness is None or seed.fitness is None:
        return "-"
    return wording.difference(program.fitness - seed.fitness, fitness)


def _facts(fitness: Fitness, found: Summary) -> list[tuple[str, str]]:
    failures = f", {found.failures} failed" if found.failures else ""
    kept = f", {found.kept} of them before (--fresh judges again)" if found.kept else ""
    trials = f"{found.count} trial{'' if found.count == 1 else 's'}"
    of_seed = "the seed, " if found.is_seed else ""
    rows = [
        ("program", f"{of_seed}{found.program[:16]}, judged with {trials}{kept}{failures}"),
        (fitness.name, _estimate(found.mean, found.error, fitness)),
    ]
    if not found.is_seed:
        rows += [
            ("the seed's", _estimate(found.seed_mean, found.seed_error, fitness)),
            ("gain", _gain(fitness, found)),
        ]
    if found.violation:
        missed = f"missed, violation {found.violation:.4g} at worst: such a program is never the best of a campaign"
        rows.append(("constraints", missed))
    if found.certified is not None or found.seed_certified is not None:
        beside = "" if found.is_seed else f", the seed's {wording.number(found.seed_certified, fitness)}"
        rows.append(("certified", wording.number(found.certified, fitness) + beside))
    return rows


def _estimate(mean: float | None, error: float | None, fitness: Fitness) -> str:
    return wording.number(mean, fitness) + (f" +- {error:.2g}" if error else "")


def _gain(fitness: Fitness, found: Summary) -> str:
    if found.gain is None:
        return "unknown: there is nothing to compare"
    shown = wording.difference(found.gain, fitness)
    if found.gain_error:
        shown += f" +- {found.gain_error:.2g}"
        if abs(found.gain) < _SURE * found.gain_error:
            return f"{shown}, which is within the noise"
    if not found.gain:
        return f"{shown}: as good as the seed"
    return f"{shown}: {'better' if fitness.inside(found.gain) > 0 else 'WORSE'} than the seed"
