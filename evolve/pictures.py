"""The task's own picture of a result, drawn by a worker process from the artifacts in the log.

No candidate code runs; a picture may hold a program's words, so that whoever shows one embeds it as an image."""

from contextlib import closing

from evolve.campaign import Campaign
from evolve.evaluation import Job, decode_report, encode_job
from evolve.evaluation.executor import LocalExecutor
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.output import brief, one_line
from evolve.types import ConfigError, Parameters, RecordId, Task, TaskError, TextId, Trial

__all__ = ["PLAIN", "Job", "drawable", "drawing_of", "picture"]
_WHY = 1000
"""Characters of the reason why a picture failed."""


def drawable(task: Task, means: Means) -> bool:
    """Returns whether a task draws pictures; a worker process is started to ask it."""
    with closing(LocalExecutor(task, 1, means=means)) as executor:
        return "draw" in executor.describe().functions


def drawing_of(campaign: Campaign, record: RecordId) -> Job:
    """Returns the job that draws a record, read from the log, and for a certificate the program which it proves; raises `ConfigError` for one that left
    nothing to draw."""
    found = campaign.log.settled(record).record
    if found.evaluation.certified and found.origin.about:
        found = campaign.log.settled(found.origin.about).record
    evaluation = found.evaluation
    name = f"{campaign.name}/{record}"
    if not evaluation.artifacts:
        raise ConfigError(f"{name} has no artifacts to draw ({evaluation.outcome}). Try: draw one whose outcome is ok")
    artifacts = {key: campaign.log.text(TextId(text)) for key, text in evaluation.artifacts.items()}
    return Job(name, "draw", Trial(parameters=Parameters(campaign.task.parameters)), artifacts=artifacts)


def picture(task: Task, job: Job, means: Means) -> str:
    """Returns the picture that a worker process draws, as SVG; no campaign is needed any more. Raises `TaskError`."""
    with closing(LocalExecutor(task, 1, means=means)) as executor:
        executor.describe()
        report = decode_report(executor.submit(job.id, encode_job(job)).result())
    if not report.drawing:
        feedback = brief(one_line(report.texts.get(TextId(report.evaluation.feedback), "")), _WHY)
        raise TaskError(
            f"the picture of {job.id} failed: {feedback or report.evaluation.outcome}. Try: mend @evaluate.draw"
        )
    return report.drawing
