"""Makes a log with as many records as are wanted, of every sort that a page shows: a task with axes, objectives and anchors, two models,
failures with feedback, screened proposals, lessons, certificates.

Records pass the campaign's own fold and log, without workers and without a strategy; the same number and seed make the same campaign."""

import argparse
from pathlib import Path

import numpy as np

from evolve import plugins
from evolve.campaign import Campaign
from evolve.config import settings_from
from evolve.types import (
    Anchor,
    Asked,
    Axis,
    Call,
    Evaluation,
    EvaluatorSource,
    Fitness,
    Lesson,
    LessonWritten,
    MachineMeasured,
    Objective,
    Origin,
    Outcome,
    Part,
    Program,
    Propose,
    Record,
    Replied,
    Selection,
    Task,
)

_BATCH = 500
_SECONDS_EACH = 0.35
_SEED = "def f(x):\n    return x\n" + "\n".join(f"# {number:02d} {'evolution ' * 7}" for number in range(20)) + "\n"
_OPERATORS = ("tune_literals", "mutate_ast", "diff", "rewrite", "crossover")
_WITH_MODEL = {"diff", "rewrite", "crossover"}
_MODELS = ("small", "large")
_FAILURES = (
    (Outcome.CRASHED, "ZeroDivisionError: division by zero in line {}"),
    (Outcome.CRASHED, "IndexError: list index out of range in line {}"),
    (Outcome.TIMED_OUT, "no answer after 20 s, at step {}"),
    (Outcome.INVALID, "SyntaxError: invalid syntax (seed.py, line {})"),
    (Outcome.WRONG, "circles {} and 3 overlap"),
)


def large_task() -> Task:
    """Its programs are never evaluated."""
    return Task(
        name="large",
        folder="/nowhere/large",
        version="0123456789abcdef" * 4,
        brief="No candidate of this task is ever evaluated.",
        seed=Program({"seed.py": _SEED}),
        entry="seed",
        evaluator=EvaluatorSource("evaluator.py"),
        deterministic=True,
        fitness=Fitness("gain", "max", 6),
        axes=(Axis("size", 0, 10, 16), Axis("depth", 0, 8, 12), Axis("branches", 0, 6, 6)),
        anchors=(Anchor(1.5, "Early", 2019), Anchor(3.2, "Later", 2024, "arXiv:1"), Anchor(9.0, "Latest", 2026)),
        objectives=(Objective("gain", digits=5), Objective("seconds", "min", 4)),
    )


class Maker:
    """Adds records to a campaign."""

    def __init__(self, campaign: Campaign, seed: int = 0) -> None:
        self._campaign = campaign
        self._rng = np.random.default_rng(seed)
        self._at = 1_790_000_000.0
        self._active = 0.0

    def seeded(self) -> None:
        """The machine and the seed's record."""
        campaign = self._campaign
        with campaign.log.transaction():
            self._write(MachineMeasured("one core", 0.0, "reduced: a process of its own"))
            self._settle(Origin("seed", step=0), campaign.task.seed, self._passed(0.0))

    def add(self, records: int) -> None:
        """So many records more."""
        for begin in range(0, records, _BATCH):
            with self._campaign.log.transaction():
                for _ in range(min(_BATCH, records - begin)):
                    self._proposal()

    def _proposal(self) -> None:
        rng, number = self._rng, self._next
        operator = _OPERATORS[min(int(rng.exponential(1.3)), len(_OPERATORS) - 1)]
        model = _MODELS[int(rng.random() < 0.3)] if operator in _WITH_MODEL else ""
        island = int(rng.integers(4))
        parents = tuple(elite.record for elite in self._campaign.state.archive.sample_elites(island, 1, rng)) or (1,)
        self._write(Asked(number, Propose(Selection(operator, island, parents, model=model)), after=number - 1))
        if model:
            self._write(Replied(number, 0, self._call(model, number)))
        origin = Origin("proposal", number, island=island, operator=operator, model=model, parents=parents)
        self._settled_somehow(origin, number)
        if number % 997 == 0:
            self._write(LessonWritten(Lesson(f"What is changed near line {number % 20} pays off.", "reflect", number)))

    def _settled_somehow(self, origin: Origin, number: int) -> None:
        luck = float(self._rng.random())
        if luck < 0.08:
            text = self._campaign.log.put_text("duplicate of a program that was proposed before")
            self._settle(origin, None, Evaluation.failed(Outcome.SCREENED, text, stage="screen"))
        elif luck < 0.2:
            outcome, said = _FAILURES[number % len(_FAILURES)]
            text = self._campaign.log.put_text(said.format(number % 20))
            self._settle(
                origin, _program(number), Evaluation.failed(outcome, text, isolation="reduced: a process of its own")
            )
        else:
            parent = self._campaign.state.history.fitness(origin.parents[0]) or 0.0
            fitness = parent + float(self._rng.normal()) * 0.04 - 0.02
            self._settle(origin, _program(number), self._passed(fitness), thought=f"It moves constant {number % 20}.")

    def _passed(self, fitness: float) -> Evaluation:
        rng = self._rng
        place = {
            "size": float(rng.normal() * 2 + 5),
            "depth": float(rng.normal() * 1.5 + 4),
            "branches": float(rng.exponential(1.2)),
        }
        seconds = float(rng.gamma(4.0, 0.1)) + max(fitness, 0.0) * 0.05
        return Evaluation(
            Outcome.OK,
            fitness,
            descriptors=place,
            objectives={"gain": fitness, "seconds": -seconds},
            metrics={"gain": fitness, "seconds": seconds},
            seconds=seconds,
            cpu_seconds=seconds * 0.9,
            isolation="reduced: a process of its own",
        )

    def _call(self, model: str, number: int) -> Call:
        return Call(
            model,
            prompt=(Part("system", "role", self._campaign.log.put_text("You improve programs.")),),
            request=f"{number:064x}",
            reply=self._campaign.log.put_text(f"I change line {number}."),
            finish="stop",
            prompt_tokens=1_500,
            completion_tokens=300 + number % 200,
            seconds=2.0,
            cost=0.002 if model == "large" else 0.0004,
            exact=True,
        )

    def _settle(self, origin: Origin, program: Program | None, evaluation: Evaluation, thought: str = "") -> None:
        record = Record(self._next, origin, program.id if program else None, evaluation, thought)
        if program is not None:
            self._campaign.log.put_program(program, program.id)
        self._append(self._campaign.state.settle(record))

    def _write(self, event: object) -> None:
        self._campaign.state.absorb(event)
        self._append(event)

    def _append(self, event: object) -> None:
        self._at += _SECONDS_EACH / 3
        self._active += _SECONDS_EACH / 3
        self._campaign.events = self._campaign.log.append(event, at=self._at, active=self._active)
        self._campaign.state.seconds = self._active

    @property
    def _next(self) -> int:
        return len(self._campaign.state.columns.programs) + 1


def _program(number: int) -> Program:
    lines = _SEED.splitlines()
    lines[2 + number % 20] = f"# changed by {number}"
    return Program({"seed.py": "\n".join([*lines, f"STEP = {number}", ""])})


def make(home: Path, records: int, name: str = "large") -> Path:
    """Makes the campaign in a workspace; where its log lies."""
    settings = settings_from({"task": "large", "budget": [f"{2 * records}programs"], "workers": 2})
    with Campaign.create(settings, large_task(), plugins.load(), home, name) as campaign:
        maker = Maker(campaign)
        maker.seeded()
        maker.add(records - 1)
        return campaign.log.path


def main() -> None:
    """Makes one from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--name", default="large")
    given = parser.parse_args()
    print(make(given.home, given.records, given.name))


if __name__ == "__main__":
    main()
