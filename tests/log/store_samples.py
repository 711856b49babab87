"""Events and programs to store, and what it takes to store and read all of a log."""

from dataclasses import dataclass, replace
from pathlib import Path

from evolve.log import Log
from evolve.types import (
    Asked,
    Call,
    Evaluation,
    Event,
    Insertion,
    Origin,
    Outcome,
    Part,
    Placement,
    Program,
    Propose,
    Record,
    Replied,
    Selection,
    Settled,
    Stamped,
    text_id,
)

STEPS = 8
"""How many steps the log of a process that died holds."""
NOWHERE = Placement(Insertion.NOT_ADDED)


def program(number: int) -> Program:
    """One of endlessly many programs."""
    return Program({"seed.py": f"def answer_{number}():\n    return {number} * scale\n"})


def asked(number: int) -> Asked:
    """Step `number`."""
    return Asked(number, Propose(Selection("tune_literals", parents=(1,))), number - 1)


def settled(
    number: int,
    *,
    fitness: float | None = None,
    placement: Placement = NOWHERE,
    parents: tuple[int, ...] = (),
    of: Program | None = None,
) -> Settled:
    """Record `number`, whose program is its own unless `of` is given."""
    evaluation = (
        Evaluation(Outcome.CRASHED) if fitness is None else replace(Evaluation.ok(fitness), isolation="strict: x")
    )
    origin = Origin("proposal", number, operator="tune_literals", parents=parents)
    return Settled(Record(number, origin, (of or program(number)).id, evaluation), placement)


def replied(step: int, model: str, *, cost: float = 0.5, error: str = "") -> Replied:
    """A call of `step`."""
    return Replied(
        step,
        0,
        Call(
            model,
            prompt=(Part("user", "task", "a"),),
            prompt_tokens=100,
            completion_tokens=10,
            gpu_seconds=0.25,
            cost=cost,
            exact=not error,
            error=error,
        ),
    )


def append(log: Log, *events: Event) -> None:
    """Appends `events` in one transaction, at times that their numbers give."""
    with log.transaction():
        for event in events:
            number = log.append(event, at=1.5, active=0.5)
            assert number > 0


def store_step(log: Log, number: int) -> tuple[Event, Event]:
    """Asks and settles step `number` in one transaction, with a program and a text."""
    events = asked(number), settled(number, fitness=float(number))
    with log.transaction():
        log.append(events[0], at=1.0 * number, active=0.0)
        log.put_program(program(number), signature=f"signature {number}")
        log.put_text(feedback(number))
        log.append(events[1], at=1.0 * number, active=0.0)
    return events


def feedback(number: int) -> str:
    """A text that belongs to step `number`."""
    return f"feedback of {number} " * 5


@dataclass(frozen=True)
class Content:
    """All that a reader can get of a log."""

    events: list[Stamped]
    programs: list[Program]
    texts: list[str]


def content(path: Path, steps: int, *, readonly: bool = False) -> Content:
    """Reads the log of `steps` steps made by `store_step`."""
    with Log.open(path, readonly=readonly) as log:
        return Content(
            list(log.events()),
            [log.program(program(number).id) for number in range(1, steps + 1)],
            [log.text(text_id(feedback(number))) for number in range(1, steps + 1)],
        )
