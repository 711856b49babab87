"""The numbers of an evaluation on the axes of a campaign's archive.

`size_log2` and `seed_distance` come from the program's text; any other axis takes the evaluator's descriptor, else the metric of its name. Other axes can
be had for stored evaluations, too: everything is a pure function of the evaluation, the program and the seed."""

from collections.abc import Callable, Sequence
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

    def complete(self, evaluation: Evaluation, program: Callable[[], Program]) -> Evaluation:
        """Returns the evaluation with a descriptor for each axis that can be had; `program` is read where its text is needed."""
        # A failure has no place on the axes.
        if evaluation.outcome is not Outcome.OK:
            return evaluation
        found = dict(evaluation.descriptors)
        if self._from_text:
            found |= novelty.describe(program(), novelty.minhash(self._seed))
        found = {name: evaluation.metrics[name] for name in self._names if name in evaluation.metrics} | found
        return evaluation if found == evaluation.descriptors else replace(evaluation, descriptors=found)

    def missing(self, evaluation: Evaluation) -> str:
        """Returns the first axis that an evaluation has no number for; empty where it has all."""
        return next((name for name in self._names if name not in evaluation.descriptors), "")
