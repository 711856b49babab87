"""A campaign that is written by hand, record by record, for tests of what reads one: no processes, no loop."""

from collections.abc import Sequence
from pathlib import Path

from evolve import plugins
from evolve.campaign import Campaign
from evolve.campaign.folds import REFLECTION
from evolve.config import settings_from
from evolve.types import (
    Anchor,
    Asked,
    Axis,
    Call,
    Constraint,
    Evaluation,
    EvaluatorSource,
    Fitness,
    Insertion,
    Lesson,
    LessonWritten,
    MachineMeasured,
    Objective,
    Origin,
    Outcome,
    Program,
    Propose,
    Record,
    Replied,
    Selection,
    Settled,
    Task,
    TextId,
)


def number_task(**fields: object) -> Task:
    """One number to find; the anchors are 3 and 8."""
    values = {
        "name": "number",
        "folder": "/nowhere/number",
        "version": "0123456789abcdef" * 4,
        "brief": "Find the number.",
        "seed": number_program(5),
        "entry": "seed",
        "evaluator": EvaluatorSource("evaluator.py"),
        "deterministic": True,
        "fitness": Fitness("nearness", "max", 6),
        "axes": (Axis("size", 0, 10, 5),),
        "anchors": (Anchor(8.0, "Later", 2025, "arXiv:1"), Anchor(3.0, "Early")),
    }
    return Task(**{**values, **fields})


def number_program(number: float) -> Program:
    """A program that returns a number."""
    return Program({"seed.py": f"def value():\n    return {number}\n"})


def aiming_task(**fields: object) -> Task:
    """The same with two objectives and a constraint."""
    aims = (Objective("length", digits=4), Objective("seconds", "min", 3))
    return number_task(objectives=aims, constraints=(Constraint("memory", at_most=200.0),), **fields)


def aimed(length: float, seconds: float, memory: float = 100.0) -> dict[str, object]:
    """Fields of an evaluation on that task, as the judge reports them."""
    missed = Constraint("memory", at_most=200.0).violation(memory)
    return {"objectives": {"length": length, "seconds": -seconds}, "metrics": {"memory": memory}, "violation": missed}


def aiming_campaign(home: Path) -> Campaign:
    """The seed 5, three programs on the front (the best is number/2), a dominated one, and number/6, which misses the constraint."""
    written = Written(home, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0))
    for fitness, length, seconds, memory in ((7.0, 2.0, 8.0, 100), (6.5, 3.0, 9.0, 200), (6.0, 1.5, 5.0, 0)):
        written.proposal(fitness, **aimed(length, seconds, memory))
    written.proposal(5.5, **aimed(1.4, 9.5))
    written.proposal(9.0, **aimed(9.0, 1.0, 300.0))
    return written.campaign


class Written:
    """An open campaign and the means to add to it. Fitness is as the user writes it, and so is the number in the program."""

    def __init__(self, home: Path, on: Task | None = None, name: str | None = None, **settings: object) -> None:
        values = {"task": "number", "budget": ["30programs"], "workers": 2, **settings}
        self.task = on or number_task()
        self.campaign = Campaign.create(settings_from(values), self.task, plugins.load(), home, name)
        with self.campaign.log.transaction():
            self.campaign.write(MachineMeasured("one core", 0.0, "reduced"))

    def seed(self, fitness: float = 5.0, **fields: object) -> Settled:
        """The first record."""
        return self._settle(Origin("seed", 0), number_program(5), self._ok(fitness, **fields))

    def failed_seed(self, outcome: Outcome, feedback: str) -> Settled:
        """The first record, of a seed that its evaluator does not pass."""
        with self.campaign.log.transaction():
            text = self.campaign.log.put_text(feedback)
        return self._settle(Origin("seed", 0), number_program(5), Evaluation.failed(outcome, text, isolation="reduced"))

    def proposal(
        self,
        fitness: float,
        parents: Sequence[int] = (1,),
        number: float | None = None,
        *,
        operator: str = "tune_literals",
        model: str = "",
        step: int = 0,
        **fields: object,
    ) -> Settled:
        """A evaluated child, of the step of its record's number where no other is said."""
        origin = Origin("proposal", step or self.next, operator=operator, model=model, parents=tuple(parents))
        program = number_program(fitness if number is None else number)
        return self._settle(origin, program, self._ok(fitness, **fields))

    def called(self, *calls: Call, operator: str = "diff") -> None:
        """The step of the next record is asked, and makes these calls."""
        asked = Asked(self.next, Propose(Selection(operator, parents=(1,))), self.next - 1)
        with self.campaign.log.transaction():
            for event in (asked, *(Replied(self.next, index, call) for index, call in enumerate(calls))):
                self.campaign.write(event)

    def failure(self, outcome: Outcome, feedback: str, parents: Sequence[int] = (1,), *, thought: str = "") -> Settled:
        """A child that failed; a screened one has no program."""
        origin = Origin("proposal", self.next, operator="tune_literals", parents=tuple(parents))
        program = None if outcome is Outcome.SCREENED else number_program(self.next + 1000)
        with self.campaign.log.transaction():
            text = self.campaign.log.put_text(feedback)
        return self._settle(origin, program, Evaluation.failed(outcome, text, isolation="reduced"), thought)

    def reflection(self, model: str, *lessons: str) -> Settled:
        """A step that wrote lessons, and no program."""
        origin = Origin("proposal", self.next, operator=REFLECTION, model=model, parents=(1,))
        with self.campaign.log.transaction():
            text = self.campaign.log.put_text(f"it wrote {len(lessons)} lessons")
        event = self._settle(origin, None, Evaluation.failed(Outcome.SCREENED, text, stage="screen"))
        with self.campaign.log.transaction():
            for lesson in lessons:
                self.campaign.write(LessonWritten(Lesson(lesson, REFLECTION, event.record.id)))
        return event

    def certificate(self, about: int, fitness: float) -> Settled:
        """The proof of a record's value."""
        record = self.campaign.log.settled(about).record
        program = self.campaign.log.program(record.program)
        origin = Origin("measurement", self.next, about=about, why="certify")
        return self._settle(origin, program, self._ok(fitness, certified=True))

    def again(self, about: int, fitness: float) -> Settled:
        """A repeated measurement of a record's program."""
        program = self.campaign.log.program(self.campaign.log.settled(about).record.program)
        return self._settle(Origin("measurement", self.next, about=about, why="report"), program, self._ok(fitness))

    def run_at(self, isolation: str) -> None:
        """A run begins on a machine with this isolation."""
        with self.campaign.log.transaction():
            self.campaign.write(MachineMeasured("one core", 0.0, isolation))

    @property
    def next(self) -> int:
        """The number of the next record."""
        return len(self.campaign.state.columns.programs) + 1

    def _ok(self, fitness: float, **fields: object) -> Evaluation:
        with self.campaign.log.transaction():
            artifact = self.campaign.log.put_text(f"[{fitness}]")
        values = {
            "fitness": self.task.fitness.inside(fitness),
            "descriptors": {"size": abs(fitness)},
            "metrics": {"distance": 0.5},
            "artifacts": {"numbers": TextId(artifact)},
            "seconds": 0.01,
            "cpu_seconds": 0.005,
            "isolation": "reduced",
        }
        return Evaluation(Outcome.OK, **{**values, **fields})

    def _settle(self, origin: Origin, program: Program | None, evaluation: Evaluation, thought: str = "") -> Settled:
        record = Record(self.next, origin, program.id if program else None, evaluation, thought)
        with self.campaign.log.transaction():
            if program is not None:
                self.campaign.log.put_program(program, program.id)
            event = self.campaign.state.settle(record)
            self.campaign.append(event)
        return event


def short_campaign(home: Path, name: str | None = None) -> Campaign:
    """Six records: the seed 5, a better 6, a worse 4, a crash, a screened one, and 6.5 from the better one. Record 6 is the best."""
    written = Written(home, name=name)
    written.seed(5.0)
    assert written.proposal(6.0).placement.insertion > Insertion.NOT_ADDED
    written.proposal(4.0)
    written.failure(Outcome.CRASHED, "it divided by zero")
    written.failure(Outcome.SCREENED, "duplicate of a program that was proposed before")
    written.proposal(6.5, parents=(2,))
    return written.campaign
