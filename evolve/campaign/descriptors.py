"""Where the archive's axes find their numbers: `size_log2` and `seed_distance` in the program's text; any other in what the evaluator said,
else in the metric of that name.

Invariant: a pure function of the evaluation, the program and the seed, so that other axes can be had for stored evaluations, too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evolve import novelty
from evolve.types import Axis, Evaluation, Outcome, Program

_FROM_TEXT = frozenset(axis.name for axis in novelty.DEFAULT_AXES)


class Descriptors:
    """Completes evaluations for some axes; `seed` is the program that distances are measured from."""

    def __init__(self, axes: Sequence[Axis], seed: Program) -> None:
        self._names = tuple(axis.name for axis in axes)
        self._from_text = not _FROM_TEXT.isdisjoint(self._names)
        self._seed = seed

    def completed(
        self,
        evaluation: Evaluation,
        program: Callable[[], Program],
        from_text: Mapping[str, float] | None = None,
    ) -> Evaluation:
        """The evaluation with a descriptor for each axis that can be had; `from_text` are those of the text, where they are known, else
        `program` is read where they are needed."""
        if evaluation.outcome is not Outcome.OK:
            return evaluation
        found = dict(evaluation.descriptors)
        if self._from_text:
            found |= from_text or novelty.describe(program(), novelty.minhash(self._seed))
        found = {name: evaluation.metrics[name] for name in self._names if name in evaluation.metrics} | found
        return evaluation if found == evaluation.descriptors else replace(evaluation, descriptors=found)

    def missing(self, evaluation: Evaluation) -> str:
        """The first axis that an evaluation has no number for; empty where it has all."""
        return next((name for name in self._names if name not in evaluation.descriptors), "")
