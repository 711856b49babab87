"""Judges cheats and their twins by the tasks' own evaluators, in real judge processes, at the strongest isolation of this machine.

Invariant: at most one judge process lives at a time, and it serves all cheats of a task in turn, so that what one leaves behind would meet the next."""

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cheat import Cheat

import evolve.task
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.sandbox.machine.probe import probe
from evolve.types import Evaluation, Outcome, Parameters, Scalar, Task, TextId, Trial

FOLDER = Path(__file__).parent
SECONDS = 300.0
"""For one judging, the start of the judge included; stages have limits of their own."""
SECRET = "of the adversary's campaign"
HAIR = 1e-12
"""By which share a fitness may be above what it must be at most: rounding."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a cheat. `profit` says how it was not caught, and `unfair` how its twin did not pass; both are empty where all is well. `said` is the
    first line of the feedback, `isolation` the level."""

    cheat: Cheat
    outcome: Outcome
    fitness: float | None
    tag: str
    said: str
    isolation: str
    profit: str
    unfair: str

    @property
    def is_caught(self) -> bool:
        """It gained nothing, and its twin lost nothing."""
        return not self.profit and not self.unfair


def cheats() -> list[Cheat]:
    """Of all modules `*_cheats.py` in this folder, which is on the import path, those of one task together."""
    found = [
        cheat for path in sorted(FOLDER.glob("*_cheats.py")) for cheat in importlib.import_module(path.stem).CHEATS
    ]
    return sorted(found, key=lambda cheat: cheat.task)


class Adversary:
    """Judges one cheat after the other. The judge of a task stays until a cheat of another one comes. Raises `TaskError` where an evaluator does not load."""

    def __init__(self) -> None:
        self._task: Task | None = None
        self._executor: LocalExecutor | None = None
        self._twins: dict[str, Evaluation] = {}

    def close(self) -> None:
        """Ends the judge."""
        if self._executor is not None:
            self._executor.close()
        self._task = self._executor = None

    def verdict(self, cheat: Cheat) -> Verdict:
        """Judges a cheat, and its twin where that was not evaluated before with the same parameters."""
        twin = self._twin(cheat)
        evaluation, said = self._judged(cheat.task, cheat.files, cheat.parameters)
        return Verdict(
            cheat,
            evaluation.outcome,
            evaluation.fitness,
            evaluation.tag,
            said,
            evaluation.isolation.partition(":")[0],
            profit(cheat, evaluation, twin),
            unfair(twin),
        )

    def _twin(self, cheat: Cheat) -> Evaluation:
        key = json.dumps([cheat.task, dict(cheat.twin), dict(cheat.parameters)], sort_keys=True)
        if key not in self._twins:
            self._twins[key], _ = self._judged(cheat.task, cheat.twin, cheat.parameters)
        return self._twins[key]

    def _judged(self, name: str, files: Mapping[str, str], parameters: Mapping[str, Scalar]) -> tuple[Evaluation, str]:
        task, executor = self._enter(name)
        trial = Trial(parameters=Parameters({**task.parameters, **parameters}), secret=SECRET)
        # Without thresholds: below one, nothing would be known of what a cheat gains.
        job = Job("1.0", "evaluate", trial, {**task.seed.files, **files}, ungated=True)
        report = decode_report(executor.submit(job.id, encode_job(job)).result(SECONDS))
        feedback = report.texts.get(TextId(report.evaluation.feedback), "")
        return report.evaluation, next(iter(feedback.strip().splitlines()), "")

    def _enter(self, name: str) -> tuple[Task, LocalExecutor]:
        if self._task is None or self._executor is None or self._task.name != name:
            self.close()
            task = evolve.task.load(name)
            self._executor = LocalExecutor(task, 1, means=probe(task.python).means)
            self._executor.describe()
            self._task = task
        return self._task, self._executor


def profit(cheat: Cheat, evaluation: Evaluation, twin: Evaluation) -> str:
    """How a cheat was not caught; empty where it was. Without `at_most` its fitness is at most its twin's; a quarantined one has none that counts."""
    if evaluation.outcome not in cheat.outcomes:
        return f"it ended as {evaluation.outcome}, wanted {ending(cheat)}"
    if cheat.quarantined:
        return "" if evaluation.tag else "its evaluator did not tag it"
    most = twin.fitness if cheat.at_most is None else cheat.at_most
    if evaluation.fitness is None or most is None or evaluation.fitness <= most + HAIR * abs(most):
        return ""
    return f"its fitness is {evaluation.fitness:.12g}, wanted at most {most:.12g}"


def unfair(twin: Evaluation) -> str:
    """How an honest program was refused; empty where it was not."""
    if twin.outcome is not Outcome.OK:
        return f"its twin ended as {twin.outcome}"
    return f"its twin was tagged: {twin.tag}" if twin.tag else ""


def ending(cheat: Cheat) -> str:
    """How a cheat must end, in words."""
    words = [str(outcome) for outcome in Outcome if outcome in cheat.outcomes]
    told = " or ".join(word if word != "ok" else "ok without a gain" for word in words)
    return f"{told}, quarantined" if cheat.quarantined else told


def markdown(found: Sequence[Cheat]) -> str:
    """The table of `tests/adversarial/CHEATS.md`: a row for each cheat."""
    rows = (f"| `{cheat.task}` | {cheat.trick} | {cheat.rule} | {ending(cheat)} |" for cheat in found)
    return "\n".join(["| task | trick | defence | must end as |", "|---|---|---|---|", *rows]) + "\n"
