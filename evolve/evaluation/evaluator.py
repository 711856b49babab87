"""The decorator that makes a task's evaluator out of ordinary functions.

    @evaluator
    def evaluate(candidate: Candidate, trial: Trial) -> Evaluation: ...

    @evaluate.stage("full", threshold=0.5)     # runs where `evaluate` found a fitness of 0.5 or better (or "top 30%")
    @evaluate.certify                          # the exact value of an evaluation's artifacts, as an Evaluation
    @evaluate.fingerprint                      # a text: which basin
    @evaluate.draw                             # an SVG picture

Invariant: the stages are a chain in the order in which they run; what a task file says of a stage overrides the code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from evolve.evaluation.candidate import Candidate
from evolve.evaluation.checks import Fault, number
from evolve.types import Evaluation, Stage, Task, TaskError, Trial, top_share
from evolve.types.errors import did_you_mean

Evaluate: TypeAlias = Callable[[Candidate, Trial], Evaluation]
Artifacts: TypeAlias = Mapping[str, Any]
FIRST_STAGE = "evaluate"


def evaluator(function: Evaluate) -> "CodedEvaluator":
    """Makes `function` the first stage, named "evaluate", of a task's evaluator."""
    return CodedEvaluator(function)


class CodedEvaluator:
    """An evaluator written as functions; implements `protocols.Evaluator`. It grows while its module is imported, then stays."""

    def __init__(self, function: Evaluate) -> None:
        self._chain = [(Stage(FIRST_STAGE), function)]
        self._functions: dict[str, Callable[[Artifacts, Trial], Any]] = {}

    def __call__(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """The first stage as the function that it is."""
        return self._chain[0][1](candidate, trial)

    def stage(
        self, name: str, *, threshold: float | str | None = None, limit: float | None = None
    ) -> Callable[[Evaluate], Evaluate]:
        """Adds the stage that runs after the last one so far, where that one found a fitness
        of `threshold`, as the user writes it, or better; or one among the best `"top 30%"` of those that it found before. `limit` is in
        seconds of wall time."""
        if name in [stage.name for stage, _ in self._chain]:
            raise TaskError(f"there are two stages called {name!r}. Try: rename one")
        least, top = _threshold(name, threshold)

        def add(function: Evaluate) -> Evaluate:
            earlier, earlier_function = self._chain[-1]
            # The threshold is a property of the stage before: it decides there who goes on.
            self._chain[-1] = (replace(earlier, threshold=least, top=top), earlier_function)
            self._chain.append((Stage(name) if limit is None else Stage(name, limit), function))
            return function

        return add

    def certify(self, function: Callable[[Artifacts, Trial], Evaluation]) -> Callable[[Artifacts, Trial], Evaluation]:
        """Adds the function that computes the exact value of an evaluation's artifacts, with a certificate as an artifact."""
        self._add("certify", function)
        return function

    def fingerprint(self, function: Callable[[Artifacts, Trial], str]) -> Callable[[Artifacts, Trial], str]:
        """Adds the function that names the basin of an evaluation's artifacts: equal for polished copies."""
        self._add("fingerprint", function)
        return function

    def draw(self, function: Callable[[Artifacts, Trial], str]) -> Callable[[Artifacts, Trial], str]:
        """Adds the function that draws an evaluation's artifacts as SVG."""
        self._add("draw", function)
        return function

    def _add(self, name: str, function: Callable[[Artifacts, Trial], Any]) -> None:
        if name in self._functions:
            raise TaskError(f"the evaluator has two functions marked {name!r}. Try: keep one")
        self._functions[name] = function

    def stages(self, task: Task) -> Sequence[tuple[Stage, Evaluate]]:
        """Returns the cascade in its order; raises `TaskError` where the task file names a stage that is not in the code."""
        names = [stage.name for stage, _ in self._chain]
        declared = {stage.name: stage for stage in task.stages}
        for name in declared:
            if name not in names:
                raise TaskError(
                    f"task.toml names stage {name!r}, which the evaluator does not have.{did_you_mean(name, names)} "
                    f"Try: rename it, or mark its function with @evaluate.stage({name!r})"
                )
        return [(_overridden(stage, declared.get(stage.name)), function) for stage, function in self._chain]

    def functions(self, task: Task) -> Mapping[str, Callable[[Artifacts, Trial], Any]]:
        """Returns the functions marked `certify`, `fingerprint` or `draw`, by that name."""
        return dict(self._functions)


def _threshold(name: str, threshold: float | str | None) -> tuple[float | None, float | None]:
    """A fitness and a share, of which at most one is given; raises `TaskError` for what is neither."""
    try:
        if isinstance(threshold, str):
            return None, top_share(threshold)
        return None if threshold is None else number("threshold", threshold), None
    except (ValueError, Fault):
        raise TaskError(
            f"the threshold of stage {name!r} is no finite number and no share, got {threshold!r}. "
            'Try: write the fitness to be reached, or for example "top 30%"'
        ) from None


def _overridden(coded: Stage, declared: Stage | None) -> Stage:
    """A stage as the task file has it; a threshold that it leaves out stays the code's."""
    if declared is None:
        return coded
    if declared.threshold is None and declared.top is None:
        return replace(declared, threshold=coded.threshold, top=coded.top)
    return declared
