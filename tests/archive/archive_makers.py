"""Short ways to make records and archives for the tests of the archive; no task, no log, no judge."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evolve.archive import Archive, ArchiveSettings
from evolve.types import (
    Axis,
    Evaluation,
    Insertion,
    MachineMeasured,
    Measure,
    Objective,
    Origin,
    Outcome,
    Placement,
    ProgramId,
    Record,
    Ruled,
)

AXES = (Axis("size", 0.0, 4.0, 4), Axis("walls", 0.0, 2.0, 2))


def make_program(name: object) -> ProgramId:
    """A program's id that a person can read."""
    return ProgramId(f"program-{name}")


class Challenger(NamedTuple):
    """A program that waits for a measurement, for a place in its cell or for the title (`island` is None)."""

    program: ProgramId
    island: int | None
    cell: int


class Story:
    """An archive with its events told one after the other; counts record ids."""

    def __init__(
        self,
        kind: str = "deterministic",
        *,
        axes: Sequence[Axis] = AXES,
        bound: float | None = None,
        noise: float | None = 0.1,
        objectives: Sequence[Objective] = (),
        **settings: Any,
    ) -> None:
        values = {"islands": 1, "migrate_every": 0, **settings}
        self.archive = Archive(
            axes,
            ArchiveSettings(**values),
            deterministic=kind != "noisy",
            certifies=kind == "certifies",
            bound=bound,
            objectives=objectives,
        )
        self._names = [objective.name for objective in objectives]
        self.records: list[Record] = []
        if noise is not None:
            self.machine("here", noise)

    def machine(self, hardware: str, noise: float = 0.1) -> None:
        self.archive.move_to_machine(MachineMeasured(hardware, noise, "reduced"))

    def settle(self, origin: Origin, name: object, evaluation: Evaluation) -> Placement:
        record = Record(len(self.records) + 1, origin, None if name is None else make_program(name), evaluation)
        self.records.append(record)
        return self.archive.settle(record)

    def propose(
        self, name: object, fitness: float | None, at: tuple[float, float] = (0, 0), island: int = 0, **fields: Any
    ) -> Insertion:
        """A proposal, or one that failed where there is no fitness. `violation` and `objectives` (numbers) are 0 if nothing is said."""
        return self._arrive(Origin("proposal", len(self.records), island=island), name, fitness, at, **fields)

    def seed(self, name: object, fitness: float, at: tuple[float, float] = (0, 0), **fields: Any) -> Insertion:
        return self._arrive(Origin("seed", len(self.records)), name, fitness, at, **fields)

    def _arrive(
        self, origin: Origin, name: object, fitness: float | None, at: tuple[float, float], **fields: Any
    ) -> Insertion:
        if fitness is None:
            return self.settle(origin, name, Evaluation.failed(Outcome.WRONG, "no")).insertion
        return self.settle(origin, name, self._ok(fitness, {"size": at[0], "walls": at[1]}, **fields)).insertion

    def _ok(
        self,
        fitness: float,
        descriptors: Mapping[str, float],
        violation: float = 0.0,
        objectives: Sequence[float] | None = None,
        certified: bool = False,
    ) -> Evaluation:
        given = [0.0] * len(self._names) if objectives is None else objectives
        return Evaluation(
            Outcome.OK,
            fitness=fitness,
            descriptors=descriptors,
            violation=violation,
            objectives=dict(zip(self._names, given, strict=True)),
            certified=certified,
        )

    def propose_at(self, name: object, fitness: float, descriptors: Mapping[str, float]) -> Insertion:
        """A proposal in an archive with other axes."""
        return self.settle(
            Origin("proposal", len(self.records)), name, Evaluation.ok(fitness, descriptors=descriptors)
        ).insertion

    def measure(
        self,
        name: object,
        fitness: float | None,
        *,
        outcome: Outcome = Outcome.WRONG,
        certified: bool = False,
        **fields: Any,
    ) -> Insertion:
        """A measurement of a program settles, with a fitness or else with this outcome."""
        about = next((record.id for record in self.records if record.program == make_program(name)), 0)
        at = {} if certified else {"size": 0.0, "walls": 0.0}
        evaluation = Evaluation(outcome)
        if fitness is not None:
            evaluation = self._ok(fitness, at, certified=certified, **fields)
        return self.settle(Origin("measurement", len(self.records), about=about), name, evaluation).insertion

    def certify(self, name: object, fitness: float | None) -> Insertion:
        return self.measure(name, fitness, certified=fitness is not None)

    def rule(self, what: Any, name: object) -> None:
        self.archive.rule(Ruled(what, make_program(name), by="a test"))

    def next_due(self, *, best_only: bool = False) -> tuple[str, str] | None:
        """Name of the program that is due, and why; marks it as asked."""
        measure = self.archive.due(best_only=best_only)
        if measure is None:
            return None
        self.archive.mark_asked(measure)
        return measure.program.removeprefix("program-"), measure.why

    def names(self, island: int = 0) -> list[str]:
        """The island's elites, the best first."""
        return [elite.program.removeprefix("program-") for elite in self.archive.elites(island)]

    @property
    def best(self) -> str | None:
        best = self.archive.best
        return None if best is None else best.program.removeprefix("program-")

    def waiting(self) -> list[tuple[str, int | None]]:
        return [(one.program.removeprefix("program-"), one.island) for one in self.pending()]

    def pending(self) -> list[Challenger]:
        """The best's challenger first, then by island and cell."""
        state = self.archive.state()
        programs, cells = state["evidence"]["programs"], state["evidence"]["cells"]
        rival, islands = state["contests"]["rival"], state["contests"]["islands"]
        waiting = [] if rival is None else [Challenger(programs[rival], None, cells[rival])]
        return waiting + [
            Challenger(programs[program], number, cell)
            for number, island in enumerate(islands)
            for cell, program in island["waiting"]
        ]


def ask(story: Story, name: object) -> None:
    """Somebody else than the archive asks for a measurement."""
    story.archive.mark_asked(Measure(1, make_program(name)))
