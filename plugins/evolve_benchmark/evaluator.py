"""Judges a function by its answers to instances: paired by instance with a reference's values, in the judge's own numbers.

Invariant: every instance counts, once and in the same way for every program; what is missing, late or wrong never leaves the mean."""

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evolve import Candidate, Evaluation, Trial, evaluator
from evolve.types import Stage, Task, TaskError
from evolve_benchmark.asking import Late, Limits, answers, timed_answers
from evolve_benchmark.judging import AGAIN, FIRST, INSTANCES, ORDER, Judging, Refused
from evolve_benchmark.picture import svg
from evolve_benchmark.problem import VALUED, Instance, Problem, load
from evolve_benchmark.scoring import Measured, score, standard_error, suite_mean
from evolve_benchmark.settings import QUALITY, SPEED, TIMED, BenchmarkSettings
from evolve_benchmark.speed import Speed
from evolve_benchmark.telling import rows, table

NEEDED = {QUALITY: VALUED, TIMED: (*VALUED, "trivial"), SPEED: ()}
"""What a module must have for each mode, beside what every module has."""


class Benchmark:
    """An evaluator of one stage."""

    def __init__(self, settings: BenchmarkSettings) -> None:
        self._settings = settings

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]:
        """`evaluate`, with the limits of the task file; raises `TaskError` where the module is not what it should be."""
        chosen = self._settings
        if task.deterministic and (chosen.growth or chosen.mode == SPEED):
            key, remedy = ("growth", "leave growth out") if chosen.growth else ("mode", 'write mode = "quality"')
            raise TaskError(
                f"evaluator.{key}: what is measured differs a little each time, and the task says `deterministic = true`. Do: {remedy}, or take that out"
            )
        needed = [*NEEDED[chosen.mode], *(["grown"] if chosen.growth else [])]
        problem = load(Path(task.folder), chosen.module, needed)
        stages = evaluator(partial(self._evaluate, problem, task)).stages(task)
        timed = bool(chosen.growth) or chosen.mode == SPEED
        return [(_pinned(stage) if timed else stage, judge) for stage, judge in stages]

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """A picture of the scores, or of how many times as fast each kind is."""
        name = "timings" if self._settings.mode == SPEED else "instances"
        return {"draw": lambda artifacts, trial: svg(artifacts[name], name)}

    def _evaluate(self, problem: Problem, task: Task, candidate: Candidate, trial: Trial) -> Evaluation:
        """Asks, values, and tells."""
        about = Judging(problem, self._settings, task, candidate, trial)
        try:
            if self._settings.mode == SPEED:
                # Times differ anyhow, and a program that could draw the instances itself would have its answers ready.
                return Speed(replace(about, chance=1 + secrets.randbits(128))).evaluation()
            instances = problem.instances(about.stream(INSTANCES), trial.parameters)
            return self._evaluation(about, self._measured(about, instances))
        except Refused as refused:
            return refused.evaluation

    def _measured(self, about: Judging, instances: Sequence[Instance]) -> list[Measured]:
        """Every instance, asked in an order of the judge's; raises `Refused`, and `SessionFailed` of the program."""
        order = about.stream(ORDER).permutation(len(instances)).tolist()
        late = math.floor(self._settings.late * len(instances))
        asked = self._asked(about, [instances[index] for index in order], late)
        measured = {
            index: self._valued(about, instances[index], answer) for index, answer in zip(order, asked, strict=True)
        }
        if about.task.deterministic:
            self._recall(about, instances, measured)
        return [measured[index] for index in range(len(instances))]

    def _asked(self, about: Judging, instances: Sequence[Instance], late: int) -> list[Any]:
        """The answers to instances in this order, of which so many may be late."""
        chosen, problem = self._settings, about.problem
        questions = [problem.arguments(instance) for instance in instances]
        if chosen.seconds is None:
            return answers(about.candidate.session, chosen.function, questions)
        first = problem.arguments(problem.warm_up(about.stream(FIRST), about.trial.parameters))
        limits = Limits(chosen.seconds, chosen.start, late, first)
        return timed_answers(about.candidate.session, chosen.function, questions, limits)

    def _valued(self, about: Judging, instance: Instance, answer: Any) -> Measured:
        """An answer's value, computed now; the trivial one's where none came in time, or a worse one."""
        problem, chosen = about.problem, self._settings
        late = isinstance(answer, Late)
        if not late and (fault := about.fault(instance, answer)):
            raise Refused(Evaluation.invalid(fault))
        reference = problem.reference(instance)
        counted = problem.trivial(instance) if late else answer
        value = problem.value(instance, counted)
        found = score(value, reference, chosen.better)
        if chosen.seconds is not None and not late:
            # A program that answers badly must not do better by not answering.
            found = max(found, score(problem.value(instance, problem.trivial(instance)), reference, chosen.better))
        if chosen.at_most is not None and found > chosen.at_most:
            raise Refused(
                Evaluation.wrong(
                    f"an instance scored {float(found)!r}, and nothing can score more than {chosen.at_most!r}",
                    tag="impossible score",
                )
            )
        return Measured(instance.kind, problem.label(instance), instance.given, counted, value, reference, found, late)

    def _recall(self, about: Judging, instances: Sequence[Instance], measured: Mapping[int, Measured]) -> None:
        """Asks some questions again, in another process; raises `Refused` where an answer has another value. Being late once more or less is no
        contradiction."""
        chosen = about.stream(AGAIN).permutation(len(instances))[: self._settings.recall].tolist()
        asked = self._asked(about, [instances[index] for index in chosen], len(chosen)) if chosen else []
        for index, answer in zip(chosen, asked, strict=True):
            again = self._valued(about, instances[index], answer)
            if not (again.late or measured[index].late) and again.value != measured[index].value:
                said = f"{self._settings.function}() gave two answers of different value to one question. Equal questions must get equal answers"
                raise Refused(Evaluation.wrong(said))

    def _evaluation(self, about: Judging, measured: Sequence[Measured]) -> Evaluation:
        """The score with all that stands beside it."""
        how, problem = self._settings.mean, about.problem
        kinds = [
            [one.score for one in measured if one.kind == kind] for kind in dict.fromkeys(one.kind for one in measured)
        ]
        fitness = float(suite_mean(how, kinds))
        floats = [[float(one) for one in scores] for scores in kinds]
        return Evaluation.ok(
            fitness,
            objectives=_objectives(problem, measured),
            descriptors=about.descriptors(min(float(one.score) for one in measured)),
            metrics={**self._lateness(measured), **problem.numbers("metrics", measured)},
            artifacts={"instances": rows(measured)},
            feedback=f"{self._told(measured, fitness)}\n\n{table(measured, self._settings.rows)}",
            standard_error=None if about.task.deterministic else standard_error(how, floats),
        )

    def _lateness(self, measured: Sequence[Measured]) -> dict[str, float]:
        """How many answers were late, where any can be."""
        return {} if self._settings.seconds is None else {"late": sum(one.late for one in measured)}

    def _told(self, measured: Sequence[Measured], fitness: float) -> str:
        ratio = (
            "the answer's value over the reference's"
            if self._settings.better == "larger"
            else "the reference's value over the answer's"
        )
        return f"The {self._settings.mean} mean over {len(measured)} instances is {fitness:.6g}. Of one instance the score is {ratio}; the worst are:"


def _pinned(stage: Stage) -> Stage:
    """A stage whose programs are timed has cores of its own."""
    return replace(stage, needs=replace(stage.needs, pinned=True))


def _objectives(problem: Problem, measured: Sequence[Measured]) -> dict[str, float]:
    """Each objective as its mean over all instances; a late one counts by its trivial answer."""
    told = [problem.numbers("objectives", one.given, one.answer) for one in measured]
    return {name: math.fsum(float(each[name]) for each in told) / len(told) for name in told[0]}
