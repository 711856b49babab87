"""`evolve program show --draw`: the task's own picture of a result, drawn by a judge process from the artifacts in the log.

Invariant: no candidate code runs; a picture that cannot be made is an error, and no file is left then."""

from contextlib import closing
from pathlib import Path

from evolve.campaign import Campaign
from evolve.cli.output import CELL, brief, one_line
from evolve.judge import Job, decode_report, encode_job
from evolve.judge.executor import LocalExecutor
from evolve.report import record_name, settled
from evolve.sandbox.means import Means
from evolve.types import ConfigError, Parameters, RecordId, Task, TaskError, TextId, Trial


def check_draws(task: Task, means: Means) -> None:
    """Raises `ConfigError` for a task without pictures."""
    with closing(LocalExecutor(task, 1, means=means)) as executor:
        if "draw" not in executor.describe().functions:
            raise ConfigError(f"task {task.name!r} draws no pictures. Do: add an @evaluate.draw to its evaluator")


def draw(campaign: Campaign, record: RecordId, target: Path, means: Means) -> None:
    """Writes the picture of a record to `target`, of a task that draws; for a certificate that of the program which it proves; raises `ConfigError` or
    `TaskError`."""
    found = settled(campaign, record).record
    if found.evaluation.certified and found.origin.about:
        found = settled(campaign, found.origin.about).record
    evaluation = found.evaluation
    name = record_name(campaign, record)
    if not evaluation.artifacts:
        raise ConfigError(f"{name} has no artifacts to draw ({evaluation.outcome}). Do: draw one whose outcome is ok")
    artifacts = {key: campaign.log.text(TextId(text)) for key, text in evaluation.artifacts.items()}
    trial = Trial(parameters=Parameters(campaign.task.parameters))
    picture = _drawn(campaign, Job("draw", "draw", trial, artifacts=artifacts), name, means)
    try:
        target.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"the picture cannot be written to {target}: {error.strerror}. Do: name another file"
        ) from error


def _drawn(campaign: Campaign, job: Job, name: str, means: Means) -> str:
    task = campaign.task
    with closing(LocalExecutor(task, 1, means=means)) as executor:
        executor.describe()
        report = decode_report(executor.submit(job.id, encode_job(job)).result())
    if not report.drawing:
        feedback = brief(one_line(report.texts.get(TextId(report.evaluation.feedback), "")), CELL)
        raise TaskError(
            f"the picture of {name} failed: {feedback or report.evaluation.outcome}. Do: mend @evaluate.draw"
        )
    return report.drawing
