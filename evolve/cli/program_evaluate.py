"""`evolve program evaluate`: a person's program judged outside any campaign, next to the seed that it should beat.

Results are kept, so that the same command judges only what is missing. Numbers are in the task's own direction, and a gain is a mean
over trials that both the program and the seed were judged with."""

import itertools
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import click

import evolve.task
from evolve import report, wording
from evolve.campaign import secret_for, workspace
from evolve.cli.devices import devices_option, grant_devices
from evolve.cli.errors import INTERRUPTED
from evolve.cli.isolation import sandbox_option
from evolve.cli.output import debug_option, emit, facts, json_option, one_line, quoted, say, table
from evolve.cli.program_add import read_files
from evolve.cli.request import parse_parameters
from evolve.edits.changes import matches, refusal
from evolve.engine import open_executor
from evolve.engine.isolation import confine, wanted_level
from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.evaluation.machine import usable_cores
from evolve.log import EvaluationCache
from evolve.measuring import Measured, Measuring, trials
from evolve.plugins import load
from evolve.statistics import Pool, pool_values
from evolve.types import Case, ConfigError, Fitness, Outcome, Parameters, Program, Task, TextId, Trial, Trust
from evolve.types.errors import did_you_mean

NOISY_SEEDS = 5
"""Seeds of a noisy task without `--seeds`; a deterministic one needs one."""
_SURE = 2.0
"""Standard errors that a gain has at least, to be beyond the noise."""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """Words of the command line as values; `seeds` is None where the time alone ends it."""

    task: Task
    program: Program
    seeds: int | None
    deadline: float
    case: Case | None
    held_out: bool


@dataclass(frozen=True, slots=True)
class EvaluationLine:
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
class EvaluationSummary:
    """Summary of all judgings. `count` is the number of the program's trials, and `failures` that of its failed judgings, held-out cases
    included; means are over what is OK, errors are standard errors (None for fewer than two values); `gain` is the mean difference to
    the seed; `violation` is the program's worst, and `trust` the least of all."""

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


@dataclass
class EvaluationResults:
    """Results so far; certified values by `program` and `seed`."""

    rows: list[EvaluationLine] = field(default_factory=list)
    cases: list[EvaluationLine] = field(default_factory=list)
    certificates: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def lines(self) -> list[EvaluationLine]:
        """Trials, then held-out cases."""
        return [*self.rows, *self.cases]

    @property
    def failures(self) -> list[EvaluationLine]:
        """Judgings of the program that failed."""
        return [row for row in self.lines if row.of == "program" and row.outcome != Outcome.OK]


@click.command("evaluate")
@click.argument("files", nargs=-1, metavar="FILE...", required=True)
@click.option("--task", "reference", required=True, metavar="TASK", help="The task: a name, a folder, or one file.")
@click.option("--seeds", type=click.IntRange(min=1), help="How often.  [default: 5; 1 where the task is deterministic]")
@click.option("--seconds", type=click.FloatRange(min=0.0), help="As many seeds as fit into this wall time.")
@click.option("--set", "assignments", multiple=True, metavar="task.KEY=VALUE", help="A parameter of the task.")
@click.option("--case", "case_name", metavar="NAME", help="Judge on this held-out case instead.")
@click.option("--held-out", is_flag=True, help="Judge on every held-out case, too.")
@click.option("--fresh", is_flag=True, help="Judge again what was judged before.")
@sandbox_option
@devices_option
@json_option
@debug_option
def evaluate_program(
    files: tuple[str, ...],
    reference: str,
    fresh: bool,
    sandbox: str | None,
    devices: tuple[str, ...],
    as_json: bool,
    **words: Any,
) -> None:
    """Judge a program of your own outside any campaign, next to the task's seed.

    FILE is the program's file, its files, its folder, or - for the standard input. Results are kept: the same command again judges only
    what is missing.
    """
    grant = grant_devices(devices)
    request = _request(files, reference, **words)
    release = load().evaluator_release(request.task.evaluator)
    means, slots = confine(request.task, wanted_level(sandbox)).means, usable_cores()
    with (
        open_executor(request.task, slots, means, workspace(), devices=grant) as executor,
        _open_cache(fresh or release is None) as cache,
    ):
        measuring = Measuring(request.task, executor, executor.describe(), slots, cache, release or "")
        results = _evaluate(request, measuring, executor, as_json=as_json)
    summary = summarize(request.task, request.program.id, results)
    if as_json:
        emit(summary)
    else:
        say(format_results(request.task, results, summary))
    if results.interrupted:
        wanted = "" if request.seeds is None else f" of {request.seeds}"
        say(f"evolve: interrupted after {summary.count}{wanted} trials; the same command does the rest", err=True)
        click.get_current_context().exit(INTERRUPTED)
    if summary.failures or not summary.count:
        click.get_current_context().exit(1)


def _request(
    files: Sequence[str],
    reference: str,
    *,
    seeds: int | None,
    seconds: float | None,
    assignments: Iterable[str],
    case_name: str | None,
    held_out: bool,
) -> EvaluationRequest:
    task = evolve.task.load(reference, parse_parameters(assignments))
    program = read_program(task, files)
    refused = refusal(task, program)
    if refused:
        say(f"evolve: note: no campaign would take this program: {one_line(refused)}", err=True)
    if seeds is None and (seconds is None or task.deterministic):
        seeds = 1 if task.deterministic else NOISY_SEEDS
    if held_out and not task.held_out:
        raise ConfigError(f"task {task.name!r} has no held-out cases. Do: leave --held-out out")
    cases: dict[str | None, Case | None] = {None: None, **{case.name: case for case in task.held_out}}
    if case_name not in cases:
        known = [case.name for case in task.held_out]
        raise ConfigError(
            f"task {task.name!r} has no held-out case {case_name!r}.{did_you_mean(case_name or '', known)}"
        )
    deadline = time.monotonic() + seconds if seconds is not None else float("inf")
    return EvaluationRequest(task, program, seeds, deadline, cases[case_name], held_out)


def read_program(task: Task, paths: Sequence[str]) -> Program:
    """Returns a person's files, or folder, as a program of the task; the seed's files stand for those that are not given. Raises
    `ConfigError`."""
    files = read_files(paths, task)
    ours = set(task.seed.files)
    taken = {
        name: text
        for name, text in files.items()
        if name in ours or any(matches(name, pattern) for pattern in task.new_files)
    }
    strange = [name for name in files if name not in taken]
    if strange and not (len(paths) == 1 and Path(paths[0]).is_dir()):
        raise ConfigError(
            f"it is not clear which of the program's files {strange[0]!r} is.{did_you_mean(strange[0], task.seed.files)} "
            "Do: call it as the task does, or name a folder"
        )
    if not ours & set(taken):
        raise ConfigError(
            f"{paths[0]!r} has none of the program's files. Do: name a folder with {', '.join(task.seed.files)}, or one of these files"
        )
    return Program({**task.seed.files, **taken})


@contextmanager
def _open_cache(fresh: bool) -> Iterator[EvaluationCache | None]:
    if fresh:
        yield None
        return
    with closing(EvaluationCache(workspace() / "archive" / "cache.db")) as cache:
        yield cache


def _evaluate(
    request: EvaluationRequest, measuring: Measuring, executor: LocalExecutor, *, as_json: bool
) -> EvaluationResults:
    """Returns everything that is asked for, or the part that is known when a person interrupts."""
    results, task = EvaluationResults(), request.task
    secret = secret_for(workspace(), task.name)
    seeds = itertools.count() if request.seeds is None else range(request.seeds)
    first: dict[str, Report] = {}
    try:
        for row in measuring.measure(trials(task, request.program, seeds, request.case, secret), request.deadline):
            line = describe_evaluation(task, row)
            results.rows.append(line)
            if row.report.evaluation.outcome is Outcome.OK:
                first.setdefault(line.of, row.report)
            _print_progress(results, request.seeds, as_json=as_json)
        for case in task.held_out if request.held_out else ():
            for row in measuring.measure(trials(task, request.program, (0,), case, secret)):
                results.cases.append(describe_evaluation(task, row))
                _print_progress(results, request.seeds, as_json=as_json)
        if "certify" in measuring.description.functions:
            values = {of: _certify(task, request.case, report, executor) for of, report in first.items()}
            results.certificates = {of: value for of, value in values.items() if value is not None}
    except KeyboardInterrupt:
        results.interrupted = True
    results.rows.sort(key=lambda row: (row.trial, row.of))
    return results


def _print_progress(results: EvaluationResults, seeds: int | None, *, as_json: bool) -> None:
    if as_json:
        emit(results.lines[-1])
    elif sys.stderr.isatty():
        count = sum(row.of == "program" for row in results.rows)
        click.echo(f"\r{count} of {seeds or 'as many as fit'} \r", nl=False, err=True)


def _certify(task: Task, case: Case | None, judged: Report, executor: LocalExecutor) -> float | None:
    """Returns the certified value of a result, in the user's direction; None where it is not proven."""
    artifacts = {name: judged.texts[TextId(text)] for name, text in judged.evaluation.artifacts.items()}
    trial = Trial(stage="certify", parameters=Parameters(case.parameters if case else task.parameters))
    job = Job("certify", "certify", trial, artifacts=artifacts)
    fitness = decode_report(executor.submit(job.id, encode_job(job)).result()).evaluation.fitness
    return None if fitness is None else task.fitness.shown(fitness)


def describe_evaluation(task: Task, row: Measured) -> EvaluationLine:
    """Returns a judging as `--json` tells it."""
    evaluation = row.report.evaluation
    return EvaluationLine(
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


def summarize(task: Task, program: str, results: EvaluationResults) -> EvaluationSummary:
    """Returns the summary of all judgings."""
    own, seeds = (
        {row.trial: row.fitness for row in results.rows if row.of == of and row.fitness is not None}
        for of in ("program", "seed")
    )
    mean, seed_mean = pool_values(list(own.values())), pool_values(list(seeds.values()))
    gain = pool_values([own[trial] - seeds[trial] for trial in own if trial in seeds])
    return EvaluationSummary(
        task=task.name,
        program=program,
        count=sum(row.of == "program" for row in results.rows),
        failures=len(results.failures),
        kept=sum(row.kept for row in results.rows if row.of == "program"),
        mean=_mean(mean),
        error=mean.standard_error(None),
        seed_mean=_mean(seed_mean),
        seed_error=seed_mean.standard_error(None),
        gain=_mean(gain),
        gain_error=gain.standard_error(None),
        certified=results.certificates.get("program"),
        seed_certified=results.certificates.get("seed"),
        is_seed=program == task.seed.id,
        violation=max((row.violation for row in results.lines if row.of == "program"), default=0.0),
        trust=max((row.trust for row in results.lines), key=get_args(Trust).index, default="witnessed"),
    )


def _mean(pool: Pool) -> float | None:
    return pool.mean if pool.count else None


def format_results(task: Task, results: EvaluationResults, summary: EvaluationSummary) -> str:
    """Returns a table of trials, one of held-out cases, and what follows from them."""
    rows, cases, failures = results.rows, results.cases, results.failures
    parts = [_table("trial", task.fitness, rows)] if rows else ["nothing was judged: the time was too short"]
    parts += [_table("held-out case", task.fitness, cases)] if cases else []
    if failures:
        where = f"case {failures[0].case}" if failures[0].case else f"trial {failures[0].trial}"
        words = failures[0].feedback
        parts.append(f"why it failed ({where})\n{quoted(words) if words else '(no feedback)'}")
    tags = sorted({row.tag for row in results.lines if row.tag})
    if tags:
        parts.append(f"integrity: {', '.join(map(one_line, tags))}; in a campaign such a program is quarantined")
    isolation = (rows[0].isolation if rows else "") or "unknown"
    parts.append(facts([*_facts(task.fitness, summary), ("trust", summary.trust), ("isolation", isolation)]))
    return "\n\n".join(parts)


def _table(heading: str, fitness: Fitness, rows: Sequence[EvaluationLine]) -> str:
    """Returns a row for each trial, or each case: the program, and the seed beside it."""
    keys = list(dict.fromkeys((row.trial, row.case) for row in rows))
    programs, seeds = ({(row.trial, row.case): row for row in rows if row.of == of} for of in ("program", "seed"))
    cells = [(case or str(trial), *_cells(programs.get((trial, case)), fitness)) for trial, case in keys]
    if not seeds:
        return table((heading, "outcome", fitness.name, "took"), cells)
    beside = [
        (*_cells(seeds.get(key), fitness), _difference(programs.get(key), seeds.get(key), fitness)) for key in keys
    ]
    headings = (heading, "outcome", fitness.name, "took", "the seed", "", "took", "difference")
    return table(headings, [(*left, *right) for left, right in zip(cells, beside, strict=True)])


def _cells(row: EvaluationLine | None, fitness: Fitness) -> tuple[str, str, str]:
    if row is None:
        return "-", "-", "-"
    outcome = f"{row.outcome}, misses constraints" if row.violation else row.outcome
    return outcome, wording.number(row.fitness, fitness), "kept" if row.kept else wording.seconds(row.seconds)


def _difference(program: EvaluationLine | None, seed: EvaluationLine | None, fitness: Fitness) -> str:
    if program is None or seed is None or program.fitness is None or seed.fitness is None:
        return "-"
    return wording.difference(program.fitness - seed.fitness, fitness)


def _facts(fitness: Fitness, summary: EvaluationSummary) -> list[tuple[str, str]]:
    failures = f", {summary.failures} failed" if summary.failures else ""
    kept = f", {summary.kept} of them before (--fresh judges again)" if summary.kept else ""
    of_seed = "the seed, " if summary.is_seed else ""
    trials = wording.counted(summary.count, "trial")
    rows = [
        ("program", f"{of_seed}{summary.program[:16]}, judged with {trials}{kept}{failures}"),
        (fitness.name, _estimate(summary.mean, summary.error, fitness)),
    ]
    if not summary.is_seed:
        rows.append(("the seed's", _estimate(summary.seed_mean, summary.seed_error, fitness)))
        rows.append(("gain", _gain(fitness, summary)))
    if summary.violation:
        missed = f"missed, violation {summary.violation:.4g} at worst: such a program is never the best of a campaign"
        rows.append(("constraints", missed))
    if summary.certified is not None or summary.seed_certified is not None:
        beside = "" if summary.is_seed else f", the seed's {wording.number(summary.seed_certified, fitness)}"
        rows.append(("certified", wording.number(summary.certified, fitness) + beside))
    return rows


def _estimate(mean: float | None, error: float | None, fitness: Fitness) -> str:
    return wording.number(mean, fitness) + (f" +- {error:.2g}" if error else "")


def _gain(fitness: Fitness, summary: EvaluationSummary) -> str:
    if summary.gain is None:
        return "unknown: there is nothing to compare"
    shown = wording.difference(summary.gain, fitness)
    if summary.gain_error:
        shown += f" +- {summary.gain_error:.2g}"
        if abs(summary.gain) < _SURE * summary.gain_error:
            return f"{shown}, which is within the noise"
    if not summary.gain:
        return f"{shown}: as good as the seed"
    return f"{shown}: {'better' if fitness.inside(summary.gain) > 0 else 'WORSE'} than the seed"
