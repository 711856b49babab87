"""`evolve program evaluate`: a person's program evaluated outside any campaign, next to the seed that it should beat.

Numbers are in the task's own direction, and a gain is a mean over trials that both the program and the seed were evaluated with."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import click

import evolve.task
from evolve import report, wording
from evolve.campaign import logs, secret_for, workspace
from evolve.cli.machine import devices_option, grant_devices, sandbox_option
from evolve.cli.output import emit, facts, json_option, one_line, quote, say, table
from evolve.config import parse_parameters
from evolve.devices.inventory import usable_cores
from evolve.edits.changes import matches, refusal
from evolve.engine import open_executor
from evolve.engine.isolation import confine, wanted_level
from evolve.hookspecs import ExecutorRequest
from evolve.measuring import Measured, MeasurementRequest, Submits, measure, trials
from evolve.plugins import load
from evolve.statistics import Pool, pool_values
from evolve.task.one_file import program_of
from evolve.types import ConfigError, Fitness, Outcome, Program, Task, TextId, Trust
from evolve.types.errors import did_you_mean

NOISY_SEEDS = 5
"""Seeds of a noisy task without `--seeds`; a deterministic one needs one."""
LARGEST = 16 << 20
"""Bytes of all files together."""
_SURE = 2.0
"""Standard errors that a gain has at least, to be beyond the noise."""


@dataclass(frozen=True, slots=True)
class EvaluationLine:
    """One evaluation. `of` is `program` or `seed`; `trial` is the evaluator's random seed; `violation` is how far the task's constraints are missed; `tag` is the failure of integrity that the evaluator has seen; `cases` are scores on the cases
    that the fitness is made of, in the task's own direction."""

    of: str
    trial: int
    case: str
    outcome: str
    fitness: float | None
    seconds: float
    feedback: str
    isolation: str
    trust: Trust = "witnessed"
    violation: float = 0.0
    objectives: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    cases: Mapping[str, float] = field(default_factory=dict)
    tag: str = ""
    event: str = "evaluated"


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """Summary of all evaluations. `count` is the number of the program's trials, and `failures` that of its failed evaluations, held-out cases
    included; means are over what is OK, errors are standard errors (None for fewer than two values); `gain` is the mean difference to
    the seed; `violation` is the program's worst, and `trust` the least of all."""

    task: str
    program: str
    count: int
    failures: int
    mean: float | None
    error: float | None
    seed_mean: float | None
    seed_error: float | None
    gain: float | None
    gain_error: float | None
    is_seed: bool
    violation: float = 0.0
    trust: Trust = "witnessed"
    event: str = "summary"


@click.command("evaluate")
@click.argument("files", nargs=-1, metavar="FILE...", required=True)
@click.option("--task", "reference", required=True, metavar="TASK", help="The task: a name, a folder, or one file.")
@click.option("--seeds", type=click.IntRange(min=1), help="How often.  [default: 5; 1 where the task is deterministic]")
@click.option("--set", "assignments", multiple=True, metavar="task.KEY=VALUE", help="A parameter of the task.")
@click.option("--held-out", is_flag=True, help="Evaluate on every held-out case, too.")
@sandbox_option
@devices_option
@json_option
def evaluate_program(
    files: tuple[str, ...],
    reference: str,
    seeds: int | None,
    assignments: tuple[str, ...],
    held_out: bool,
    sandbox: str | None,
    devices: tuple[str, ...],
    as_json: bool,
) -> None:
    """Evaluate a program of your own outside any campaign, next to the task's seed.

    FILE is the program's file, its files, its folder, or - for the standard input.
    """
    # Before anything counts cores, for they decide how many workers there are.
    grant, task = grant_devices(devices), evolve.task.load(reference, parse_parameters(assignments))
    chosen = read_program(task, files)
    if refused := refusal(task, chosen):
        say(f"evolve: note: no campaign would take this program: {one_line(refused)}", err=True)
    if held_out and not task.held_out:
        raise ConfigError(f"task {task.name!r} has no held-out cases. Try: leave --held-out out")
    count = seeds or (1 if task.deterministic else NOISY_SEEDS)
    means, slots = confine(task, wanted_level(sandbox)).means, usable_cores()
    with open_executor(load(), ExecutorRequest(task, slots, means, logs(workspace()), grant)) as executor:
        # A worker that does not start is an error here, before the first job is sent.
        executor.describe()
        cases = (None, *(task.held_out if held_out else ()))
        secret = secret_for(workspace(), task.name)
        wanted = (one for case in cases for one in trials(task, chosen, range(1 if case else count), case, secret))
        rows = _evaluate(task, executor, wanted, slots, as_json=as_json)
    summary = summarize(task, chosen.id, rows)
    if as_json:
        emit(summary)
    else:
        say(format_results(task, rows, summary))
    if summary.failures:
        click.get_current_context().exit(1)


def read_files(paths: Sequence[str], task: Task) -> Mapping[str, str]:
    """Returns the files of a program by the names that they have in the task; raises `ConfigError`."""
    names = tuple(task.seed.files)
    first = Path(paths[0])
    if len(paths) == 1 and first.is_dir():
        found = {path.relative_to(first): path for path in sorted(first.rglob("*")) if path.is_file()}
        texts = {
            path.as_posix(): _read(str(place))
            for path, place in found.items()
            if not any(part.startswith(".") or part == "__pycache__" for part in path.parts)
        }
        files = {name: text for name, text in texts.items() if task.context.get(name) != text}
    elif len(paths) == 1 and len(names) == 1:
        files = {names[0]: _read(paths[0])}
    else:
        files = {_name_in_task(names, path): _read(path) for path in paths}
    if sum(map(len, files.values())) > LARGEST:
        raise ConfigError(
            f"a program is at most {LARGEST >> 20} MiB of text, got more. Try: name the program's files alone"
        )
    # Of a task in one file a person may give the whole file, changed.
    return {name: program_of(text) for name, text in files.items()} if task.one_file else files


def _name_in_task(names: Sequence[str], path: str) -> str:
    """Returns the program's file that the path ends with, else the path's own name."""
    absolute = Path(path).absolute().as_posix()
    return next((name for name in names if absolute.endswith(f"/{name}")), Path(path).name)


def _read(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text in UTF-8: {error}. Try: name the program's files alone") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}. Try: check the path") from error


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
            "Try: call it as the task does, or name a folder"
        )
    if not ours & set(taken):
        raise ConfigError(
            f"{paths[0]!r} has none of the program's files. Try: name a folder with {', '.join(task.seed.files)}, or one of these files"
        )
    return Program({**task.seed.files, **taken})


def _evaluate(
    task: Task, executor: Submits, wanted: Iterable[MeasurementRequest], slots: int, *, as_json: bool
) -> list[EvaluationLine]:
    """Returns the evaluations of the program and of the seed, trials before held-out cases."""
    rows = list[EvaluationLine]()
    for measured in measure(executor, wanted, slots):
        rows.append(describe_evaluation(task, measured))
        if as_json:
            emit(rows[-1])
    return sorted(rows, key=lambda row: (bool(row.case), row.trial, row.of))


def describe_evaluation(task: Task, row: Measured) -> EvaluationLine:
    """Returns an evaluation as `--json` tells it."""
    evaluation = row.report.evaluation
    return EvaluationLine(
        of="seed" if row.wanted.is_seed else "program",
        trial=row.wanted.trial.seed,
        case=row.wanted.case,
        outcome=evaluation.outcome,
        fitness=None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness),
        seconds=evaluation.seconds,
        feedback=row.report.texts.get(TextId(evaluation.feedback), "").strip(),
        isolation=evaluation.isolation,
        trust=evaluation.trust,
        violation=evaluation.violation,
        objectives={one.name: one.value for one in report.objectives(task, evaluation.objectives)},
        metrics=evaluation.metrics,
        cases={name: task.fitness.shown(score) for name, score in evaluation.cases.items()},
        tag=evaluation.tag,
    )


def summarize(task: Task, program: str, rows: Sequence[EvaluationLine]) -> EvaluationSummary:
    """Returns the summary of all evaluations."""
    own, seeds = (
        {row.trial: row.fitness for row in rows if row.of == of and not row.case and row.fitness is not None}
        for of in ("program", "seed")
    )
    mean, seed_mean = pool_values(list(own.values())), pool_values(list(seeds.values()))
    # In pairs, for what a trial's instances do to both sides is no gain.
    gain = pool_values([own[trial] - seeds[trial] for trial in own if trial in seeds])
    programs = [row for row in rows if row.of == "program"]
    return EvaluationSummary(
        task=task.name,
        program=program,
        count=sum(not row.case for row in programs),
        failures=sum(row.outcome != Outcome.OK for row in programs),
        mean=_mean(mean),
        error=mean.standard_error(None),
        seed_mean=_mean(seed_mean),
        seed_error=seed_mean.standard_error(None),
        gain=_mean(gain),
        gain_error=gain.standard_error(None),
        is_seed=program == task.seed.id,
        violation=max((row.violation for row in programs), default=0.0),
        trust=max((row.trust for row in rows), key=get_args(Trust).index, default="witnessed"),
    )


def _mean(pool: Pool) -> float | None:
    return pool.mean if pool.count else None


def format_results(task: Task, rows: Sequence[EvaluationLine], summary: EvaluationSummary) -> str:
    """Returns a table of trials and held-out cases, and what follows from them."""
    parts = [_table(task.fitness, rows)]
    failure = next((row for row in rows if row.of == "program" and row.outcome != Outcome.OK), None)
    if failure is not None:
        where = f"case {failure.case}" if failure.case else f"trial {failure.trial}"
        parts.append(f"why it failed ({where})\n{quote(failure.feedback) if failure.feedback else '(no feedback)'}")
    tags = sorted({row.tag for row in rows if row.tag})
    if tags:
        parts.append(f"integrity: {', '.join(map(one_line, tags))}; in a campaign such a program is quarantined")
    isolation = rows[0].isolation or "unknown"
    parts.append(facts([*_facts(task.fitness, summary), ("trust", summary.trust), ("isolation", isolation)]))
    return "\n\n".join(parts)


def _table(fitness: Fitness, rows: Sequence[EvaluationLine]) -> str:
    """Returns a row for each trial and each case: the program, and the seed beside it."""
    programs, seeds = ({(row.case, row.trial): row for row in rows if row.of == of} for of in ("program", "seed"))
    cells = []
    for key, row in programs.items():
        seed = seeds.get(key)
        both = seed is not None and None not in (row.fitness, seed.fitness)
        gain = wording.difference((row.fitness or 0.0) - (seed.fitness or 0.0), fitness) if seed and both else "-"
        cells.append((key[0] or str(key[1]), *_cells(row, fitness), *_cells(seed, fitness), gain))
    return table(("trial", "outcome", fitness.name, "took", "the seed", "", "took", "difference"), cells)


def _cells(row: EvaluationLine | None, fitness: Fitness) -> tuple[str, str, str]:
    if row is None:
        return "-", "-", "-"
    outcome = f"{row.outcome}, misses constraints" if row.violation else row.outcome
    return outcome, wording.number(row.fitness, fitness), wording.seconds(row.seconds)


def _facts(fitness: Fitness, summary: EvaluationSummary) -> list[tuple[str, str]]:
    failures = f", {summary.failures} failed" if summary.failures else ""
    of_seed = "the seed, " if summary.is_seed else ""
    trials = wording.counted(summary.count, "trial")
    rows = [
        ("program", f"{of_seed}{summary.program[:16]}, evaluated with {trials}{failures}"),
        (fitness.name, _format_mean(summary.mean, summary.error, fitness)),
    ]
    if not summary.is_seed:
        rows.append(("the seed's", _format_mean(summary.seed_mean, summary.seed_error, fitness)))
        rows.append(("gain", _format_gain(fitness, summary)))
    if summary.violation:
        missed = f"missed, violation {summary.violation:.4g} at worst: such a program is never the best of a campaign"
        rows.append(("constraints", missed))
    return rows


def _format_mean(mean: float | None, error: float | None, fitness: Fitness) -> str:
    return wording.number(mean, fitness) + (f" +- {error:.2g}" if error else "")


def _format_gain(fitness: Fitness, summary: EvaluationSummary) -> str:
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
