"""Programs that a task, or its evaluator, brings for the check: honest ones must pass as the seed does, and no other one may gain anything.

They are read from the task's folder by the engine alone, and are never a candidate of a campaign, nor in a prompt."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evolve.conformance.findings import (
    FAULT_REMEDY,
    SURE,
    Finding,
    evaluate,
    expect_ok,
    format_ending,
    format_score,
    make_trial,
)
from evolve.evaluation import Job, LocalExecutor, Report
from evolve.plugins import Plugins, guarded
from evolve.protocols import Twinned
from evolve.types import Outcome, Task, TaskError, Twin


def read_twins(task: Task, plugins: Plugins) -> list[Twin]:
    """Returns all twins, honest ones first; raises `TaskError` for a pattern that nothing matches, and for a file that stands for none of the program's."""
    twins = [twin for pattern in task.check.honest for twin in _match(task, pattern, "honest")]
    twins += [twin for pattern in task.check.dishonest for twin in _match(task, pattern, "dishonest")]
    if task.evaluator.plugin is not None:
        evaluator = plugins.evaluator(task.evaluator)
        if isinstance(evaluator, Twinned):
            twins += guarded(task.evaluator.plugin, evaluator.twins, task)
    return sorted(twins, key=lambda twin: not twin.honest)


def check_twins(
    task: Task, executor: LocalExecutor, twins: Sequence[Twin], fitness: float, noise: float
) -> list[Finding]:
    """Returns a finding for each twin; the seed has this fitness, with a standard deviation of `noise`."""
    jobs = [
        Job(f"twin.{number}", "evaluate", make_trial(task), files={**task.seed.files, **twin.files}, ungated=True)
        for number, twin in enumerate(twins)
    ]
    # Load is noise, so that scores of a noisy task are measured one at a time.
    batches = [jobs] if task.deterministic else [[job] for job in jobs]
    reports = [report for batch in batches for report in evaluate(executor, batch)]
    # The seed and the program are measured once each: their difference has the noise of both.
    most = fitness + SURE * math.sqrt(2) * noise
    return [
        _check_honest(task, twin.name, report) if twin.honest else _check_dishonest(task, twin.name, report, most)
        for twin, report in zip(twins, reports, strict=True)
    ]


def _check_honest(task: Task, name: str, report: Report) -> Finding:
    if report.evaluation.tag:
        remedy = "mend the check that tags it: programs that are tagged are quarantined"
        return Finding(f"honest: {name}", "failed", f"its evaluator tags it: {report.evaluation.tag}", remedy)
    remedy = "mend the evaluator, which refuses an honest program, or the program"
    return expect_ok(f"honest: {name}", task, report, remedy)


def _check_dishonest(task: Task, name: str, report: Report, most: float) -> Finding:
    evaluation, tried = report.evaluation, f"dishonest: {name}"
    if evaluation.outcome is Outcome.INTERNAL:
        return Finding(tried, "failed", format_ending(report), FAULT_REMEDY)
    if evaluation.tag:
        return Finding(tried, "passed", f"{evaluation.outcome}, and quarantined: {evaluation.tag}")
    if evaluation.fitness is None:
        return Finding(tried, "passed", evaluation.outcome)
    if evaluation.fitness <= most:
        return Finding(tried, "passed", f"ok with {format_score(task, report)}, no better than the seed")
    remedy = "mend the evaluator, which this program profits from"
    return Finding(tried, "failed", f"ok with {format_score(task, report)}, better than the seed", remedy)


def _match(task: Task, pattern: str, key: str) -> Iterator[Twin]:
    folder = Path(task.folder)
    places = [place for place in sorted(folder.glob(pattern)) if not _is_hidden(place)]
    if not places:
        raise TaskError(
            f"{task.path}: check.{key}: nothing matches {pattern!r}. Try: write such a program, or correct the pattern"
        )
    for place in places:
        files = _read_folder(place) if place.is_dir() else {_counterpart(task, place): _read_text(place)}
        yield Twin(place.relative_to(folder).with_suffix("").as_posix(), files, key == "honest")


def _read_folder(place: Path) -> Mapping[str, str]:
    """Returns every text below a folder by its path there."""
    paths = {path.relative_to(place): path for path in sorted(place.rglob("*")) if path.is_file()}
    return {
        inner.as_posix(): _read_text(path)
        for inner, path in paths.items()
        if not any(_is_hidden(Path(part)) for part in inner.parts)
    }


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "__pycache__"))


def _counterpart(task: Task, place: Path) -> str:
    """Returns the file of the program that one file stands for: the one with its name, else the only one of its kind."""
    names = list(task.seed.files)
    same = [name for name in names if Path(name).name == place.name]
    same = same or [name for name in names if Path(name).suffix == place.suffix]
    if len(same) == 1:
        return same[0]
    raise TaskError(
        f"{place}: which file of the program it stands for cannot be told; the program has {', '.join(names)}. "
        "Try: put it into a folder of its own, by the name that it has in the program, and name that folder"
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(
            f"{path}: this is no text that can be read: {error}. Try: mend it, or leave it out of check"
        ) from error
