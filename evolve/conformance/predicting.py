"""Whether a program could draw for itself what the judge draws: all that it lacks is the secret.

Invariant: a task is blamed where another seed changes what its program is asked, or its score, and another secret does not."""

from dataclasses import replace

from evolve.conformance.degenerate import asked_what
from evolve.conformance.findings import Finding
from evolve.conformance.judges import feedback, judged
from evolve.conformance.seed import trial_of
from evolve.evaluation import Job, LocalExecutor, Report
from evolve.types import Task, Trial

NAME = "prediction"
_FURTHER = 1_000_003
"""Between two random seeds that a task's generators take for different ones, also where they divide them, or take a remainder."""


def prediction(task: Task, executor: LocalExecutor) -> Finding:
    """Judges the task's seed, and a program that says what it is asked, in equal trials, with another secret, and with another random seed."""
    if task.promotion == "certificate":
        return Finding(NAME, "not tried", "the answer is one certified object: there is nothing to hide")
    programs = [task.seed] if task.deterministic else []
    programs += asked_what(task)

    def observed(trial: Trial) -> list[tuple[object, ...]]:
        jobs = [Job(f"{NAME}.{number}", "evaluate", trial, one.files) for number, one in enumerate(programs)]
        return [_depends(report) for report in judged(executor, jobs)]

    trial = trial_of(task)
    other_seed, other_secret = replace(trial, seed=trial.seed + _FURTHER), replace(trial, secret=f"not {trial.secret}")
    found = zip(*map(observed, (trial, trial, other_seed, other_secret)), strict=True)
    repeated = [(first != seed, first != secret) for first, again, seed, secret in found if first == again]
    if (True, False) in repeated:
        return Finding(
            NAME,
            "failed" if task.deterministic else "warned",
            "what is drawn follows from trial.seed, so that a program can draw it itself and have its answers ready",
            "seed generators by trial.entropy(...): docs/tasks.md, the rules of an evaluator",
        )
    if any(by_secret for _, by_secret in repeated):
        return Finding(NAME, "passed", "what is drawn depends on the secret, or a part of it does")
    return Finding(
        NAME, "not tried", "nothing that repeats depends on seed or secret: cases are fixed, or all is timed"
    )


def _depends(report: Report) -> tuple[object, ...]:
    """What may depend on what was drawn. Artifacts may name the random seed, and a program that is scored on other instances has another score."""
    evaluation = report.evaluation
    said = "" if evaluation.fitness is not None else feedback(report)
    return evaluation.outcome, evaluation.fitness, evaluation.objectives, said
