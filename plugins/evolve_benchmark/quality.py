"""The modes `quality` and `quality at time`: answers are paired by instance with a reference's values, in the evaluator's own numbers.

Every instance counts, once and in the same way for every program; what is missing, late or wrong never leaves the mean. A score is above 0 and larger is better, whichever values are; where values and
references are fractions, so are scores.

A program has seen an instance before its call only where it was late with it, in another process. A question is late when it was late twice, so that a moment in which the machine did something else costs
a program nothing."""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from evolve import Evaluation, SessionFailed
from evolve_benchmark.problem import (
    AGAIN,
    FIRST,
    INSTANCES,
    ORDER,
    ROWS,
    Arguments,
    EvaluationContext,
    Instance,
    Number,
    RefusedAnswer,
)

Mean = Literal["arithmetic", "geometric", "harmonic"]
TIMED_OUT = "timeout"
"""Status of a call that did not end in time."""
_LATE = "late: counts as the trivial answer"


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """Answer to one instance with its value and score. `given` is the module's instance; `late`: the answer is the trivial one, since none came in time."""

    kind: str
    label: str
    given: Any
    answer: Any
    value: Number
    reference: Number
    score: Number
    late: bool = False


def measure_quality(context: EvaluationContext) -> Evaluation:
    """Asks every instance and scores the answers; raises `RefusedAnswer`, and `SessionFailed` of the program."""
    return _summarise(context, _score_all(context))


def _score_all(context: EvaluationContext) -> list[ScoredAnswer]:
    """Asks every instance, in an order of the evaluator's; raises `RefusedAnswer`, and `SessionFailed` of the program."""
    instances = context.problem.instances(context.stream(INSTANCES), context.trial.parameters)
    order = context.stream(ORDER).permutation(len(instances)).tolist()
    late = math.floor(context.settings.late * len(instances))
    answers = _ask(context, [instances[index] for index in order], late)
    scored = {index: _score(context, instances[index], answer) for index, answer in zip(order, answers, strict=True)}
    if context.task.deterministic:
        _ask_again(context, instances, scored)
    return [scored[index] for index in range(len(instances))]


def _ask(context: EvaluationContext, instances: Sequence[Instance], late: int) -> list[Any]:
    """Returns the answers to instances in this order, of which so many may be late."""
    chosen, problem = context.settings, context.problem
    questions = [problem.arguments(instance) for instance in instances]
    if chosen.seconds is None:
        return ask(context.candidate.session, chosen.function, questions)
    first = problem.arguments(problem.warm_up(context.stream(FIRST), context.trial.parameters))
    limits = CallLimits(chosen.seconds, chosen.start, late, first)
    return ask_in_time(context.candidate.session, chosen.function, questions, limits)


def _score(context: EvaluationContext, instance: Instance, answer: Any) -> ScoredAnswer:
    """Returns an answer with its score, computed now; the trivial one's where none came in time, or a worse one."""
    problem, chosen = context.problem, context.settings
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
    return ScoredAnswer(instance.kind, problem.label(instance), instance.given, counted, value, reference, found, late)


def _ask_again(context: EvaluationContext, instances: Sequence[Instance], scored: Mapping[int, ScoredAnswer]) -> None:
    """Asks some questions again, in another process; raises `RefusedAnswer` where an answer has another value. Being late once more or less is no
    contradiction."""
    chosen = context.stream(AGAIN).permutation(len(instances))[: context.settings.recall].tolist()
    answers = _ask(context, [instances[index] for index in chosen], len(chosen)) if chosen else []
    for index, answer in zip(chosen, answers, strict=True):
        again = _score(context, instances[index], answer)
        if not (again.late or scored[index].late) and again.value != scored[index].value:
            why = f"{context.settings.function}() gave two answers of different value to one question. Equal questions must get equal answers"
            raise RefusedAnswer(Evaluation.wrong(why))


def _summarise(context: EvaluationContext, answers: Sequence[ScoredAnswer]) -> Evaluation:
    """Returns the score with all that stands beside it."""
    how, problem = context.settings.mean, context.problem
    kinds = [[one.score for one in answers if one.kind == kind] for kind in dict.fromkeys(one.kind for one in answers)]
    fitness = float(suite_mean(how, kinds))
    late = {} if context.settings.seconds is None else {"late": sum(one.late for one in answers)}
    values = ("answer's", "reference's") if context.settings.better == "larger" else ("reference's", "answer's")
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


# --- questions and answers, in processes of their own


OpenSession: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Opens a process that answers."""


@dataclass(frozen=True, slots=True)
class LateAnswer:
    """Stands in the place of an answer that did not come in time; `failure` is what the session said."""

    failure: SessionFailed


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Seconds of a call, and of the first call of a process, which gets the arguments `first`; so many calls may be `late`."""

    seconds: float
    start: float
    late: int
    first: Arguments


def ask(open_session: OpenSession, function: str, questions: Sequence[Arguments]) -> list[Any]:
    """Returns the answers in the order of the questions, all of one process; raises `SessionFailed`."""
    with open_session() as session:
        return [session.call(function, *arguments) for arguments in questions]


def ask_in_time(
    open_session: OpenSession, function: str, questions: Sequence[Arguments], limits: CallLimits
) -> list[Any]:
    """Returns the answers in the order of the questions, `LateAnswer` for some; raises `SessionFailed` where too many are late, or a call fails otherwise.

    A late call ends its process. Each process is called once with arguments that do not count, for its first call imports the program."""
    found: list[Any] = [None] * len(questions)
    waiting, tried, late = deque(range(len(questions))), set[int](), 0
    while waiting:
        with open_session() as session:
            session.call(function, *limits.first, seconds=limits.start)
            failure = _ask_until_late(session, function, questions, waiting, found, limits.seconds)
        if failure is None:
            break
        index = waiting[0]
        if index in tried:
            found[waiting.popleft()] = LateAnswer(failure)
            late += 1
        tried.add(index)
        if late > limits.late:
            raise failure
    return found


def _ask_until_late(
    session: Any,
    function: str,
    questions: Sequence[Arguments],
    waiting: deque[int],
    found: list[Any],
    seconds: float,
) -> SessionFailed | None:
    """Asks what is waiting; returns the failure of the call that was late, whose question waits still."""
    while waiting:
        try:
            found[waiting[0]] = session.call(function, *questions[waiting[0]], seconds=seconds)
        except SessionFailed as failure:
            if failure.status != TIMED_OUT:
                raise
            return failure
        waiting.popleft()
    return None


# --- scores


def score(value: Number, reference: Number, better: Literal["larger", "smaller"]) -> Number:
    """Returns how many times as good as the reference a value is: 1 for an equal one."""
    above, below = (value, reference) if better == "larger" else (reference, value)
    if isinstance(above, Fraction) and isinstance(below, Fraction):
        return above / below
    return float(above) / float(below)


def mean(how: Mean, scores: Sequence[Number]) -> Number:
    """Returns the mean of at least one score; the arithmetic and the harmonic mean of fractions are exact."""
    if how == "geometric":
        return math.exp(math.fsum(math.log(one) for one in scores) / len(scores))
    if how == "harmonic":
        return 1 / mean("arithmetic", [1 / one for one in scores])
    if all(isinstance(one, Fraction) for one in scores):
        return Fraction(sum(scores)) / len(scores)
    return math.fsum(scores) / len(scores)


def suite_mean(how: Mean, kinds: Sequence[Sequence[Number]]) -> Number:
    """Returns the mean over kinds of the mean within each: every kind weighs the same, however many instances it has."""
    return mean(how, [mean(how, scores) for scores in kinds])


def standard_error(how: Mean, kinds: Sequence[Sequence[float]]) -> float | None:
    """Returns the standard error of `suite_mean` over instances that were drawn at random, by leaving out one after the other; None where a kind has one alone.

    Kinds are fixed, and so each is a stratum. Source: Efron and Stein, The jackknife estimate of variance (1981), https://doi.org/10.1214/aos/1176345462."""
    if any(len(scores) < 2 for scores in kinds):
        return None
    variance = 0.0
    for number, scores in enumerate(kinds):
        without = [
            float(suite_mean(how, [*kinds[:number], [*scores[:left], *scores[left + 1 :]], *kinds[number + 1 :]]))
            for left in range(len(scores))
        ]
        centre = math.fsum(without) / len(without)
        variance += (len(without) - 1) / len(without) * math.fsum((one - centre) ** 2 for one in without)
    return math.sqrt(variance)


def list_rows(answers: Sequence[ScoredAnswer]) -> list[dict[str, str | float | bool]]:
    """Returns a row for every instance in the module's order, as an artifact."""
    return [
        {
            "kind": one.kind,
            "label": one.label,
            "value": float(one.value),
            "reference": float(one.reference),
            "score": float(one.score),
            "late": one.late,
        }
        for one in answers
    ]


def format_worst(answers: Sequence[ScoredAnswer]) -> str:
    """Returns the worst instances as Markdown, the worst first; of equal ones in the module's order."""
    order = sorted(range(len(answers)), key=lambda index: float(answers[index].score))
    lines = ["| instance | score | value | reference | |", "|---|---|---|---|---|"]
    for index in order[:ROWS]:
        one = answers[index]
        name = " ".join(part for part in (f"{index + 1}", one.kind, one.label) if part)
        numbers = " | ".join(f"{float(number):.6g}" for number in (one.score, one.value, one.reference))
        lines.append(f"| {name} | {numbers} | {_LATE if one.late else ''} |")
    if (left := len(answers) - ROWS) > 0:
        best = float(answers[order[ROWS]].score)
        lines.append(f"\nAnd {left} more, each with a score of {best:.6g} or better.")
    return "\n".join(lines)
