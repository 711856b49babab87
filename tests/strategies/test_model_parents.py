"""Parents for operators with a model."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evolve.archive import Elite
from evolve.strategies.model_parents import ModelParents
from evolve.testing import Rehearsal
from evolve.types import (
    DRAFT,
    STAGNATION,
    Evaluation,
    Event,
    Origin,
    Outcome,
    Propose,
    Record,
    RecordId,
    Selection,
    Settled,
    Traits,
)


def campaign() -> Rehearsal:
    """A campaign whose only operator needs a model."""
    made = Rehearsal()
    made.operators = ("rewrite",)
    made.needs = {"rewrite": Traits(needs_model=True), "crossover": Traits(needs_model=True, parents=2)}
    made.open()
    return made


def parents_of(events: Sequence[Event], **settings: float) -> ModelParents:
    """Parents that were told of these events."""
    found = ModelParents(**({"drafts": 0, "best_share": 0.0, "stagnation": 0} | settings))  # type: ignore[arg-type]
    for event in events:
        found.tell(event)
    return found


def ask(made: Rehearsal, *parents: RecordId, why: str = "") -> None:
    """A step that settles."""
    made.start(Propose(Selection("crossover" if len(parents) > 1 else "rewrite", parents=parents, why=why)))
    made.finish()


def add(made: Rehearsal, fitness: float | None, *parents: RecordId) -> RecordId:
    """A child of a model, with this fitness; None: it crashed."""
    number = len(made.history) + 1
    program = made.history.program(made.history.program_id(1) or made.task.seed.id)
    child = type(program)({"seed.py": f"x = {number}.5"})
    made.history.programs[child.id] = child
    evaluation = (
        Evaluation.failed(Outcome.CRASHED, "")
        if fitness is None
        else Evaluation.ok(fitness, descriptors={"x": 2.0 * number - 4.0})
    )
    origin = Origin("proposal", number, operator="rewrite", model="rehearsed", parents=parents)
    record = Record(number, origin, child.id, evaluation)
    made.history.records.append(record)
    made.events.append(Settled(record, made.archive.settle(record)))
    return number


def drawn(parents: ModelParents, elites: Sequence[Elite], count: int = 4000) -> Counter[RecordId]:
    """How often each record is drawn."""
    rng = np.random.default_rng(1)
    return Counter(parents.draw_parent(elites, rng) for _ in range(count))


def test_the_first_proposals_are_drafts_from_the_seed() -> None:
    """As many as are wanted; each counts when it is asked, so that steps in flight count, too."""
    made = campaign()
    add(made, 5.0, 1)
    for _ in range(3):
        found = parents_of(made.events, drafts=3)
        assert found.reason == DRAFT
        assert found.draw_parent(found.list_elites(made), np.random.default_rng(0)) == 1
        made.start(Propose(Selection("rewrite", parents=(1,), why=DRAFT)))
    assert parents_of(made.events, drafts=3).reason == ""


def test_there_is_no_draft_before_the_seed_has_a_score() -> None:
    assert ModelParents(3, 0.25, 8).reason == ""


def test_a_program_that_was_asked_of_often_is_drawn_less() -> None:
    """In proportion to 1 / (rank (1 + times))."""
    made = campaign()
    better, other = add(made, 5.0, 1), add(made, 4.0, 1)
    found = parents_of(made.events)
    elites = found.list_elites(made)
    assert [elite.record for elite in elites] == [better, other]
    counts = drawn(found, elites)
    assert 1.7 < counts[better] / counts[other] < 2.3
    for _ in range(3):
        ask(made, better)
    found = parents_of(made.events)
    elites = [elite for elite in found.list_elites(made) if elite.record in (better, other)]
    counts = drawn(found, elites)
    assert 1.7 < counts[other] / counts[better] < 2.3


def test_the_best_keeps_its_share() -> None:
    made = campaign()
    best = add(made, 5.0, 1)
    add(made, 4.0, 1)
    for _ in range(50):
        made.start(Propose(Selection("rewrite", parents=(best,))))
    found = parents_of(made.events, best_share=0.5)
    assert 0.5 < drawn(found, found.list_elites(made))[best] / 4000 < 0.6


def test_every_second_step_is_a_larger_change_where_nothing_was_found_for_long() -> None:
    """However many settle at once; a new best ends that."""
    made = campaign()
    add(made, 5.0, 1)
    reasons = []
    for _ in range(7):
        reasons.append(parents_of(made.events, stagnation=4).reason)
        made.start(Propose(Selection("rewrite", parents=(2,), model="rehearsed", why=reasons[-1])))
        add(made, 1.0 - len(made.history), 1)
    assert reasons == ["", "", "", "", STAGNATION, "", STAGNATION]
    assert parents_of(made.events, stagnation=8).reason == ""
    add(made, 9.0, 1)
    assert parents_of(made.events, stagnation=4).reason == ""


def test_partners_are_of_another_line_and_no_pair_comes_twice() -> None:
    """Neither ancestors nor descendants."""
    made = campaign()
    first = add(made, 2.0, 1)
    child = add(made, 3.0, first)
    cousin, other = add(made, 1.0, 1), add(made, 0.5, 1)
    found = parents_of(made.events)
    elites, rng = found.list_elites(made), np.random.default_rng(0)
    partners = {record for _ in range(50) for record in found.draw_partners(made, first, elites, 1, rng)}
    assert partners == {cousin, other}
    assert child not in partners
    made.start(Propose(Selection("crossover", parents=(cousin, first))))
    found = parents_of(made.events)
    again = {record for _ in range(50) for record in found.draw_partners(made, first, elites, 1, rng)}
    assert again == {other}
    assert found.draw_partners(made, 1, elites, 1, rng) == []


def test_a_program_that_contains_another_by_either_parent_is_no_partner_of_it() -> None:
    made = campaign()
    first, second = add(made, 2.0, 1), add(made, 3.0, 1)
    joined = add(made, 4.0, first, second)
    child = add(made, 5.0, joined)
    found = parents_of(made.events)
    elites, rng = found.list_elites(made), np.random.default_rng(0)
    assert [elite.record for elite in elites] == [child, joined, second, first]
    assert found.draw_partners(made, child, elites, 3, rng) == []
    assert found.draw_partners(made, second, elites, 3, rng) == [first]


def test_inspirations_are_of_cells_of_their_own_where_there_are_such() -> None:
    made = campaign()
    for score in range(5):
        add(made, float(score), 1)
    found = parents_of(made.events)
    elites = found.list_elites(made)
    cells = {elite.record: elite.cell for elite in elites}
    for seed in range(20):
        shown = found.draw_inspirations((elites[0].record,), elites, 2, np.random.default_rng(seed))
        assert len({cells[record] for record in (elites[0].record, *shown)}) == 1 + len(shown) == 3
    assert found.draw_inspirations((1,), elites, 0, np.random.default_rng(0)) == []
