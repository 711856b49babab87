"""Campaigns of many records by chance, with all that may happen to one, held in the columns of a real campaign."""

import math
import threading
from dataclasses import dataclass
from random import Random

import numpy as np
from prompt_scenes import SEED, SWEEP, TWO_OPT, tour_task, with_block

from evolve.bounded_cache import BoundedCache
from evolve.campaign.history import Columns, Past
from evolve.protocols import Context
from evolve.types import Evaluation, Lesson, Origin, Outcome, Program, ProgramId, Record, Selection

_WITHOUT = (Outcome.CRASHED, Outcome.WRONG, Outcome.SCREENED, Outcome.INTERNAL, Outcome.BELOW_THRESHOLD)
_FEEDBACK = {"a" * 64: "IndexError: list index out of range", "b" * 64: "a duplicate ```", "c" * 64: "Thought 3."}


@dataclass(frozen=True)
class _Settled:
    record: Record


class Stored:
    """What a log would hold."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.programs: dict[ProgramId, Program] = {}

    def program(self, program: ProgramId) -> Program:
        """By its id."""
        return self.programs[program]

    def text(self, text: str) -> str:
        """Feedback."""
        return _FEEDBACK[text]

    def settled(self, record: int) -> _Settled:
        """By its number."""
        return _Settled(self.records[record - 1])


class Campaign:
    """Grows by chance; `context` is that of a step that was asked when some of its records had settled."""

    def __init__(self, seed: int, length: int, *, since: int = 0) -> None:
        self.random = Random(seed)
        self.task = tour_task(deterministic=bool(seed % 2))
        self.columns, self.stored, self.derived = Columns(), Stored(), BoundedCache(256)
        self._add(Origin("seed", 0), Program({"seed.py": SEED}), self._classify_score())
        while len(self.stored.records) < length:
            self._grow()
        self.columns.since = since
        programs = sorted(self.stored.programs)
        self.rulings = (frozenset[ProgramId](), frozenset(self.random.sample(programs, len(programs) // 8)))

    def context(self, length: int, derived: BoundedCache | None, *, ruling: int = 0) -> Context:
        """With what was derived before, or with nothing."""
        return Context(
            self.task,
            Past(self.columns, self.stored, length),  # type: ignore[arg-type]
            np.random.default_rng(0),
            math.inf,
            threading.Event(),
            lessons=tuple(Lesson(f"Lesson {number}.", "reflect") for number in range(length // 20)),
            quarantined=self.rulings[ruling],
            best=self.best(length, self.rulings[ruling]),
            derived=BoundedCache() if derived is None else derived,
        )

    def best(self, length: int, quarantined: frozenset[ProgramId]) -> int:
        """The best record that may be shown; 0 where there is none."""
        past = Past(self.columns, self.stored, length)  # type: ignore[arg-type]
        able = [
            record for record in range(self.columns.since + 1, length + 1) if past.program_id(record) not in quarantined
        ]
        scored = [(fitness, record) for record in able if (fitness := past.fitness(record)) is not None]
        return max(scored, default=(0.0, 0))[1]

    def selection(self, kind: str, length: int) -> Selection:
        """Of records with programs, the first ones most often."""
        able = [record.id for record in self.stored.records[:length] if record.program]
        drawn = [able[int(len(able) * self.random.random() ** 3)] for _ in range(4)]
        return Selection(kind, parents=tuple(dict.fromkeys(drawn[:2])), inspirations=tuple(dict.fromkeys(drawn[2:])))

    def _grow(self) -> None:
        number = len(self.stored.records) + 1
        chance = self.random.random()
        if chance < 0.05:
            self._add(Origin("proposal", number, operator="reflect", parents=(1,)), None, self._classify_failure())
        elif chance < 0.1:
            about = self.stored.records[self.random.randrange(len(self.stored.records))]
            program = self.stored.programs[about.program] if about.program else None
            parents = about.origin.parents
            self._add(Origin("measurement", number, about=about.id, parents=parents), program, self._classify_score())
        else:
            parents = self.selection("diff", number).parents
            program = None if chance < 0.2 else self._program()
            failed = program is None or chance < 0.45
            origin = Origin(
                "proposal", number, operator=self.random.choice(["diff", "fix"]), model="stub", parents=parents
            )
            self._add(origin, program, self._classify_failure() if failed else self._classify_score())

    def _add(self, origin: Origin, program: Program | None, evaluation: Evaluation) -> None:
        number = len(self.stored.records) + 1
        thought = self.random.choice(["", f"Thought {number % 7}.", "Turn “parts” around."])
        record = Record(number, origin, program.id if program else None, evaluation, thought)
        if program:
            self.stored.programs[program.id] = program
        self.stored.records.append(record)
        self.columns.append(record)

    def _program(self) -> Program:
        body = self.random.choice([TWO_OPT, SWEEP])
        return with_block(body.replace("order", f"order{self.random.randrange(3)}") + f"# {self.random.random()}\n")

    def _classify_score(self) -> Evaluation:
        score = round(self.random.uniform(4.0, 5.0), self.random.choice([1, 4, 8]))
        error = self.random.choice([None, 0.01])
        found = Evaluation.ok(-score, standard_error=error, metrics={"visits": 30.0}, objectives={"milliseconds": -3.0})
        object.__setattr__(found, "violation", self.random.choice([0.0, 0.0, 0.5]))
        return found

    def _classify_failure(self) -> Evaluation:
        return Evaluation.failed(self.random.choice(_WITHOUT), self.random.choice(["", *_FEEDBACK]))
