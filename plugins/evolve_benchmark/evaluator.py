"""Evaluation of a function by its answers to instances: paired by instance with a reference's values, in the evaluator's own numbers.

Every instance counts, once and in the same way for every program; what is missing, late or wrong never leaves the mean."""

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evolve import Candidate, Evaluation, Trial, evaluator
from evolve.types import Stage, Task, TaskError
from evolve_benchmark.picture import draw_scores
from evolve_benchmark.problem import (
    AGAIN,
    FIRST,
    INSTANCES,
    ORDER,
    VALUED,
    BenchmarkProblem,
    EvaluationContext,
    Instance,
    RefusedAnswer,
    load,
)
from evolve_benchmark.questions import CallLimits, LateAnswer, ask, ask_in_time
from evolve_benchmark.scoring import ScoredAnswer, format_worst, list_rows, score, standard_error, suite_mean
from evolve_benchmark.settings import QUALITY, SPEED, TIMED, BenchmarkSettings
from evolve_benchmark.speed import measure_speed

NEEDED = {QUALITY: VALUED, TIMED: (*VALUED, "trivial"), SPEED: ()}
"""Functions that a module must have for each mode, beside those that every module has."""


class Benchmark:
    """Evaluator of one stage."""

    def __init__(self, settings: BenchmarkSettings) -> None:
        self._settings = settings

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]:
        """Returns `evaluate`, with the limits of the task file; raises `TaskError` where the module is not what it should be."""
        is_timed = self._settings.mode == SPEED
        if task.deterministic and is_timed:
            raise TaskError(
                "evaluator.mode: what is measured differs a little each time, and the task says `deterministic = true`. "
                'Try: write mode = "quality", or take that out'
            )
        problem = load(Path(task.folder), self._settings.module, NEEDED[self._settings.mode])
        stages = evaluator(partial(self._evaluate, problem, task)).stages(task)
        # Programs that are timed have cores of their own, whether the task's file says so or not.
        return [(replace(one, needs=replace(one.needs, pinned=True)) if is_timed else one, run) for one, run in stages]

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Returns `draw`: a picture of the scores, or of how many times as fast each kind is."""
        name = "timings" if self._settings.mode == SPEED else "instances"
        return {"draw": lambda artifacts, trial: draw_scores(artifacts[name], name)}

    def _evaluate(self, problem: BenchmarkProblem, task: Task, candidate: Candidate, trial: Trial) -> Evaluation:
        context = EvaluationContext(problem, self._settings, task, candidate, trial)
        try:
            if self._settings.mode == SPEED:
                # Times differ anyhow, and a program that could draw the instances itself would have its answers ready.
                return measure_speed(replace(context, chance=1 + secrets.randbits(128)))
            return self._summarise(context, self._score_all(context))
        except RefusedAnswer as refused:
            return refused.evaluation

    def _score_all(self, context: EvaluationContext) -> list[ScoredAnswer]:
        """Asks every instance, in an order of the evaluator's; raises `RefusedAnswer`, and `SessionFailed` of the program."""
        instances = context.problem.instances(context.stream(INSTANCES), context.trial.parameters)
        order = context.stream(ORDER).permutation(len(instances)).tolist()
        late = math.floor(self._settings.late * len(instances))
        answers = self._ask(context, [instances[index] for index in order], late)
        scored = {
            index: self._score(context, instances[index], answer) for index, answer in zip(order, answers, strict=True)
        }
        if context.task.deterministic:
            self._ask_again(context, instances, scored)
        return [scored[index] for index in range(len(instances))]

    def _ask(self, context: EvaluationContext, instances: Sequence[Instance], late: int) -> list[Any]:
        """Returns the answers to instances in this order, of which so many may be late."""
        chosen, problem = self._settings, context.problem
        questions = [problem.arguments(instance) for instance in instances]
        if chosen.seconds is None:
            return ask(context.candidate.session, chosen.function, questions)
        first = problem.arguments(problem.warm_up(context.stream(FIRST), context.trial.parameters))
        limits = CallLimits(chosen.seconds, chosen.start, late, first)
        return ask_in_time(context.candidate.session, chosen.function, questions, limits)

    def _score(self, context: EvaluationContext, instance: Instance, answer: Any) -> ScoredAnswer:
        """Returns an answer with its score, computed now; the trivial one's where none came in time, or a worse one."""
        problem, chosen = context.problem, self._settings
        late = isinstance(answer, LateAnswer)
        if not late and (fault := context.fault(instance, answer)):
            raise RefusedAnswer(Evaluation.invalid(fault))
        reference = problem.reference(instance)
        counted = problem.trivial(instance) if late else answer
        value = problem.value(instance, counted)
        found = score(value, reference, chosen.better)
        if chosen.seconds is not None and not late:
            # A program that answers badly must not do better by not answering.
            found = max(found, score(problem.value(instance, problem.trivial(instance)), reference, chosen.better))
        if chosen.at_most is not None and found > chosen.at_most:
            why = f"an instance scored {float(found)!r}, and nothing can score more than {chosen.at_most!r}"
            raise RefusedAnswer(Evaluation.wrong(why, tag="impossible score"))
        return ScoredAnswer(
            instance.kind, problem.label(instance), instance.given, counted, value, reference, found, late
        )

    def _ask_again(
        self, context: EvaluationContext, instances: Sequence[Instance], scored: Mapping[int, ScoredAnswer]
    ) -> None:
        """Asks some questions again, in another process; raises `RefusedAnswer` where an answer has another value. Being late once more or less is no
        contradiction."""
        chosen = context.stream(AGAIN).permutation(len(instances))[: self._settings.recall].tolist()
        answers = self._ask(context, [instances[index] for index in chosen], len(chosen)) if chosen else []
        for index, answer in zip(chosen, answers, strict=True):
            again = self._score(context, instances[index], answer)
            if not (again.late or scored[index].late) and again.value != scored[index].value:
                why = f"{self._settings.function}() gave two answers of different value to one question. Equal questions must get equal answers"
                raise RefusedAnswer(Evaluation.wrong(why))

    def _summarise(self, context: EvaluationContext, answers: Sequence[ScoredAnswer]) -> Evaluation:
        """Returns the score with all that stands beside it."""
        how, problem = self._settings.mean, context.problem
        kinds = [
            [one.score for one in answers if one.kind == kind] for kind in dict.fromkeys(one.kind for one in answers)
        ]
        fitness = float(suite_mean(how, kinds))
        late = {} if self._settings.seconds is None else {"late": sum(one.late for one in answers)}
        values = ("answer's", "reference's") if self._settings.better == "larger" else ("reference's", "answer's")
        head = (
            f"The {how} mean over {len(answers)} instances is {fitness:.6g}. "
            f"Of one instance the score is the {values[0]} value over the {values[1]}; the worst are:"
        )
        floats = [[float(one) for one in scores] for scores in kinds]
        return Evaluation.ok(
            fitness,
            objectives=problem.mean_objectives([(one.given, one.answer) for one in answers]),
            descriptors=context.descriptors(min(float(one.score) for one in answers)),
            metrics={**late, **problem.numbers("metrics", answers)},
            artifacts={"instances": list_rows(answers)},
            feedback=f"{head}\n\n{format_worst(answers)}",
            standard_error=None if context.task.deterministic else standard_error(how, floats),
        )
