"""`evolve program judge`: a person's program judged outside any campaign, next to the seed that it should beat.

Invariant: what was judged before is not judged again, unless that is asked for; exit code 0 says that the program never failed."""

import itertools
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import evolve.task
from evolve.campaign import secret_for, workspace
from evolve.cli.errors import INTERRUPTED
from evolve.cli.granting import devices_option, granted
from evolve.cli.importing import read_files
from evolve.cli.isolation import sandbox_option
from evolve.cli.judged import Judged, Summary, line, page, summary
from evolve.cli.output import debug_option, emit, json_option, one_line
from evolve.cli.parameters import parameters
from evolve.cli.say import say
from evolve.edits.changes import matches, refusal
from evolve.engine import open_executor
from evolve.engine.isolation import confine, wanted_level
from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.evaluation.machine import usable_cores
from evolve.log import EvaluationCache
from evolve.measuring import Measuring, trials
from evolve.plugins import load
from evolve.types import Case, ConfigError, Outcome, Parameters, Program, Task, TextId, Trial
from evolve.types.suggest import did_you_mean

NOISY = 5
"""Seeds without `--seeds`, for a noisy task; a deterministic one needs one."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What the command line asks for; `seeds` is None where only the time ends it."""

    task: Task
    program: Program
    seeds: int | None
    deadline: float
    case: Case | None
    held_out: bool


@dataclass
class _Results:
    """What is known so far; certified values by `program` and `seed`."""

    rows: list[Judged] = field(default_factory=list)
    cases: list[Judged] = field(default_factory=list)
    certificates: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False


@dataclass
class _Progress:
    """Tells of each judging when it is done: as a line of JSON, or as a counter where a person watches."""

    seeds: int | None
    as_json: bool
    count: int = 0

    def tell(self, row: Judged) -> None:
        """A row is known."""
        self.count += row.of == "program" and not row.case
        if self.as_json:
            emit(row)
        elif sys.stderr.isatty():
            click.echo(f"\r{self.count} of {self.seeds or 'as many as fit'} \r", nl=False, err=True)


@click.command("judge")
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
def judge_program(
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
    grant = granted(devices)
    request = _request(files, reference, **words)
    release = load().evaluator_release(request.task.evaluator)
    means, slots = confine(request.task, wanted_level(sandbox)).means, usable_cores()
    with (
        open_executor(request.task, slots, means, workspace(), devices=grant) as executor,
        _cache(fresh or release is None) as cache,
    ):
        measuring = Measuring(request.task, executor, executor.describe(), slots, cache, release or "")
        results = _judged(request, measuring, executor, _Progress(request.seeds, as_json))
    found = summary(request.task, request.program.id, results.rows, results.cases, results.certificates)
    _tell(request, results, found, as_json=as_json)
    if results.interrupted:
        click.get_current_context().exit(INTERRUPTED)
    if found.failures or not found.count:
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
) -> _Request:
    task = evolve.task.load(reference, parameters(assignments))
    program = own_program(task, files)
    refused = refusal(task, program)
    if refused:
        say(f"evolve: note: no campaign would take this program: {one_line(refused)}", err=True)
    if seeds is None and (seconds is None or task.deterministic):
        seeds = 1 if task.deterministic else NOISY
    if held_out and not task.held_out:
        raise ConfigError(f"task {task.name!r} has no held-out cases. Do: leave --held-out out")
    deadline = time.monotonic() + seconds if seconds is not None else float("inf")
    return _Request(task, program, seeds, deadline, _case(task, case_name), held_out)


def own_program(task: Task, given: Sequence[str]) -> Program:
    """A person's files, or folder, as a program of the task; what is not given is the seed's. Raises `ConfigError`."""
    files = read_files(given, task)
    wanted = {name: text for name, text in files.items() if name in task.seed.files or _is_new(task, name)}
    strange = [name for name in files if name not in wanted]
    if strange and not (len(given) == 1 and Path(given[0]).is_dir()):
        raise ConfigError(
            f"it is not clear which of the program's files {strange[0]!r} is.{did_you_mean(strange[0], task.seed.files)} "
            "Do: call it as the task does, or name a folder"
        )
    if not set(wanted) & set(task.seed.files):
        raise ConfigError(
            f"{given[0]!r} has none of the program's files. Do: name a folder with {', '.join(task.seed.files)}, or one of these files"
        )
    return Program({**task.seed.files, **wanted})


def _is_new(task: Task, name: str) -> bool:
    return any(matches(name, pattern) for pattern in task.new_files)


def _case(task: Task, name: str | None) -> Case | None:
    if name is None:
        return None
    known = {case.name: case for case in task.held_out}
    if name not in known:
        raise ConfigError(f"task {task.name!r} has no held-out case {name!r}.{did_you_mean(name, known)}")
    return known[name]


@contextmanager
def _cache(fresh: bool) -> Iterator[EvaluationCache | None]:
    """The workspace's cache, unless everything is to be judged again."""
    if fresh:
        yield None
        return
    with closing(EvaluationCache(workspace() / "archive" / "cache.db")) as cache:
        yield cache


def _judged(request: _Request, measuring: Measuring, executor: LocalExecutor, progress: _Progress) -> _Results:
    """Everything that is asked for, or what there is of it when a person interrupts."""
    results, task = _Results(), request.task
    secret = secret_for(workspace(), task.name)
    seeds = itertools.count() if request.seeds is None else range(request.seeds)
    first: dict[bool, Report] = {}
    try:
        for row in measuring.measure(trials(task, request.program, seeds, request.case, secret), request.deadline):
            results.rows.append(line(task, row))
            progress.tell(results.rows[-1])
            if row.report.evaluation.outcome is Outcome.OK:
                first.setdefault(row.wanted.is_seed, row.report)
        for case in task.held_out if request.held_out else ():
            for row in measuring.measure(trials(task, request.program, (0,), case, secret)):
                results.cases.append(line(task, row))
                progress.tell(results.cases[-1])
        if "certify" in measuring.description.functions:
            results.certificates = {
                "seed" if is_seed else "program": value
                for is_seed, report in first.items()
                if (value := _certified(task, request.case, report, executor)) is not None
            }
    except KeyboardInterrupt:
        results.interrupted = True
    results.rows.sort(key=lambda row: (row.trial, row.of))
    return results


def _certified(task: Task, case: Case | None, report: Report, executor: LocalExecutor) -> float | None:
    """The certified value of a result, in the user's direction; None where it is not proven."""
    artifacts = {name: report.texts[TextId(text)] for name, text in report.evaluation.artifacts.items()}
    trial = Trial(stage="certify", parameters=Parameters(case.parameters if case else task.parameters))
    job = Job("certify", "certify", trial, artifacts=artifacts)
    fitness = decode_report(executor.submit(job.id, encode_job(job)).result()).evaluation.fitness
    return None if fitness is None else task.fitness.shown(fitness)


def _tell(request: _Request, results: _Results, found: Summary, *, as_json: bool) -> None:
    if as_json:
        emit(found)
    else:
        say(page(request.task, results.rows, results.cases, found))
    if results.interrupted:
        wanted = "" if request.seeds is None else f" of {request.seeds}"
        say(f"evolve: interrupted after {found.count}{wanted} trials; the same command does the rest", err=True)
