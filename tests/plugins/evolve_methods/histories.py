"""Histories that are written by hand, for the tests of methods: programs by their scores and parents."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from evolve.protocols import Strategy
from evolve.testing import Rehearsal
from evolve.types import (
    Asked,
    Evaluation,
    Event,
    Measure,
    Origin,
    OriginKind,
    Outcome,
    Placement,
    ProgramId,
    Propose,
    Record,
    Ruled,
    Selection,
    Settled,
    Traits,
    Wait,
)
from evolve.types import Insertion as Inserted

MODEL_TRAITS = {"diff": Traits(needs_model=True), "rewrite": Traits(needs_model=True)}


def program_of(record: int) -> ProgramId:
    """The program of a record."""
    return ProgramId(f"program {record}")


def settled(record: int, score: float | None, parent: int = 0, **origin: object) -> Settled:
    """A program with this score, or one that crashed; without a parent it is a seed."""
    kind: OriginKind = "proposal" if parent else "seed"
    made = replace(Origin(kind, record, parents=(parent,) if parent else ()), **origin)  # type: ignore[arg-type]
    evaluation = Evaluation.failed(Outcome.CRASHED, "") if score is None else Evaluation.ok(score)
    return Settled(Record(record, made, program_of(record), evaluation), Placement(Inserted.NOT_ADDED))


def measured(record: int, about: int, score: float | None, **origin: object) -> Settled:
    """A program that was evaluated again."""
    return settled(record, score, kind="measurement", about=about, **origin)


def screened(record: int, parent: int) -> Settled:
    """A proposal that was not evaluated."""
    event = settled(record, None, parent)
    return Settled(replace(event.record, evaluation=Evaluation.failed(Outcome.SCREENED, "")), event.placement)


def asked(step: int, parent: int, model: str = "") -> Asked:
    """A step that asks for a child."""
    return Asked(step, Propose(Selection("diff", parents=(parent,), model=model)), 0)


def ruled(what: str, record: int) -> Ruled:
    """A ruling about the program of a record."""
    return Ruled(what, program_of(record), "test")  # type: ignore[arg-type]


def tell(strategy: Strategy, *events: Event) -> None:
    """Tells a strategy of events, in their order."""
    for event in events:
        strategy.tell(event)


def rehearse(make: Callable[[], Strategy], steps: int, kills: Sequence[int] = ()) -> Rehearsal:
    """Returns a campaign of a noisy task with a quarantine and a newer version of the task. Before the steps `kills` the engine dies, and another one
    begins with what is in the log."""
    campaign = Rehearsal()
    campaign.task = replace(campaign.task, deterministic=False)
    campaign.operators = tuple(MODEL_TRAITS)
    campaign.needs.update(MODEL_TRAITS)
    campaign.open()
    strategy, told = make(), 0
    for step in range(steps):
        if step == steps // 2:
            campaign.quarantine_best()
        if step == steps * 3 // 4:
            campaign.rejudge()
        if step in kills:
            strategy, told = make(), 0
        tell(strategy, *campaign.events[told:])
        told = len(campaign.events)
        action = strategy.ask(campaign, campaign.rng(step))
        if isinstance(action, Propose | Measure):
            campaign.start(action)
        if isinstance(action, Wait) or len(campaign.pending) >= 3:
            campaign.finish()
    return campaign
