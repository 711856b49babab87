"""The archive of a campaign: its axes and rules, and the numbers of an evaluation on these axes.

`size_log2` and `seed_distance` come from the program's text; any other axis takes the evaluator's descriptor, else the metric of its name. Other axes can
be had for stored evaluations, too: everything is a pure function of the evaluation, the program and the seed."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from evolve import novelty
from evolve.archive import Archive, ArchiveSettings
from evolve.config import Settings
from evolve.types import Axis, Evaluation, Outcome, Program, Task

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


def make_archive(task: Task, settings: Settings) -> Archive:
    """Returns an empty archive with the rules of the settings, for a version of the task. Its axes are those of the settings, else the task's,
    else the default ones: size, and distance to the seed."""
    section = settings.archive
    axes = tuple(Axis(**axis.model_dump()) for axis in section.axes) or task.axes or novelty.DEFAULT_AXES
    rules = ArchiveSettings(
        islands=section.islands,
        # Axes that nobody chose tell programs apart worse: several elites share a cell.
        capacity=section.capacity or (4 if axes is novelty.DEFAULT_AXES else 1),
        migrate_every=section.migrate_every,
        migrants=section.migrants,
        reset_every=section.reset_every,
        z=settings.confirm.z,
        sigmas=settings.confirm.sigmas,
        cells=section.cells,
        centroids=section.centroids,
    )
    return Archive(
        axes,
        rules,
        deterministic=task.deterministic,
        certifies=task.promotion == "certificate",
        bound=None if task.bound is None else task.fitness.inside(task.bound),
        objectives=task.objectives,
    )
