"""The covariance-adapting search over a campaign's records."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator
from operator_fakes import Past, context_of

from evolve.operators.cma_es import DescentPlan
from evolve.operators.literals import template
from evolve.operators.tune_literals import NAME, Note, TuneLiterals, TuneSettings, plan_descent
from evolve.types import Child, EditError, Outcome, Program, Selection

SEEDS = ("x = [0.5, 0.25, 3.5, -0.5]\nn = 7\n", "y = 0.5 * 20\n")
SMALL = TuneSettings(population=6)


def score(program: Program) -> float:
    """Best at 2 for floats, at 12 for integers."""
    return -sum((value - (12 if isinstance(value, int) else 2)) ** 2 for value in template(program).values)


def operator() -> TuneLiterals:
    """A fresh one."""
    return TuneLiterals(SMALL)


def written(children: Sequence[Child]) -> list[tuple[Any, Any]]:
    """What becomes of children in the log: their texts and extras, as JSON."""
    return [(dict(child.program.files), json.loads(json.dumps(child.extras))) for child in children if child.program]


def settled(past: Past, child: Child, fitness: float | None, outcome: Outcome | None = None) -> None:
    """A child as a record, its extras as they come out of the log."""
    past.settle(child.program, fitness, json.loads(json.dumps(child.extras)), outcome)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(20, 120), st.data())
def test_an_operator_made_fresh_proposes_the_same(seed: int, flight: int, count: int, data: st.DataObject) -> None:
    """With failures, screened records, several skeletons and parents, steps in flight that settle in any order: an operator that
    lived through it all and one that is made now agree, at every length of history, also a shorter one."""
    rng, past, lived = Generator(PCG64(seed)), Past(), operator()
    for text in SEEDS:
        past.settle(Program({"a.py": text}), -50.0)
    waiting: list[Child] = []
    for step in range(count):
        parent = int(rng.integers(1, len(past) + 1))
        waiting.extend(lived.propose(Selection(NAME, parents=(parent,)), context_of(past, step)))
        while len(waiting) >= flight:
            child = waiting.pop(int(rng.integers(len(waiting))))
            assert child.program is not None
            kind = rng.random()
            if kind < 0.1:
                settled(past, child, None, Outcome.SCREENED)
            else:
                settled(past, child, None if kind < 0.3 else score(child.program))
    for length in (len(past), data.draw(st.integers(2, len(past))), len(past)):
        then = past.upto(length)
        selection = Selection(NAME, parents=(data.draw(st.integers(1, length)),), samples=2)
        expected = written(operator().propose(selection, context_of(then, 9)))
        assert written(lived.propose(selection, context_of(then, 9))) == expected


def campaign(past: Past, count: int, parent: Callable[[Any], int], function: Any = score) -> list[Note]:
    """A campaign of one operator, one step at a time; returns what was noted."""
    tuner, notes = operator(), list[Note]()
    for step in range(count):
        (child,) = tuner.propose(Selection(NAME, parents=(parent(past),)), context_of(past, step))
        assert child.program is not None
        notes.append(Note(*child.extras[NAME]))
        settled(past, child, function(child.program))
    return notes


def best(past: Past) -> int:
    """The record with the largest fitness."""
    return 1 + max(
        range(len(past)), key=lambda number: past.rows[number][2] if past.rows[number][2] is not None else -np.inf
    )


def test_finds_the_best_values_floats_and_integers() -> None:
    """From a far seed to the top, the integer exactly."""
    past = Past()
    past.settle(Program({"a.py": SEEDS[0]}), -50.0)
    campaign(past, 1500, best)
    *floats, integer = template(past.rows[best(past) - 1][0]).values
    assert floats == pytest.approx([2.0] * 4, abs=0.01)
    assert integer == 12


def test_a_finished_descent_is_followed_by_one_from_the_selections_parent() -> None:
    """Numbers go up by one, and each starts from the record that the strategy chose then."""
    past = Past()
    past.settle(Program({"a.py": SEEDS[0]}), -50.0)
    notes = campaign(past, 1500, best)
    assert sorted({note.number for note in notes}) == list(range(1, notes[-1].number + 1))
    assert notes[-1].number > 1
    assert all(note.start == 1 for note in notes if note.number == 1)
    assert all(note.start > 1 for note in notes if note.number == 2)


def test_while_a_descent_goes_on_the_parent_does_not_matter() -> None:
    """Every child is a point around the descent's own mean."""
    past = Past()
    past.settle(Program({"a.py": SEEDS[0]}), -50.0)
    campaign(past, 20, lambda _: 1)
    one, other = (
        written(operator().propose(Selection(NAME, parents=(parent,)), context_of(past, 5))) for parent in (1, 20)
    )
    assert one == other


def test_another_skeleton_has_its_own_descent() -> None:
    """Programs that differ in more than their numbers do not learn from each other."""
    past = Past()
    for text in SEEDS:
        past.settle(Program({"a.py": text}), -50.0)
    campaign(past, 20, lambda _: 1)
    (child,) = operator().propose(Selection(NAME, parents=(2,)), context_of(past, 5))
    assert Note(*child.extras[NAME])[:2] == (1, 2)


def test_a_descent_starts_at_who_meets_the_constraints() -> None:
    """Before the fittest, and before the parent."""
    past = Past()
    for fitness, violation in ((9.0, 0.2), (1.0, 0.0), (99.0, 0.1)):
        past.settle(Program({"a.py": SEEDS[0]}), fitness, violation=violation)
    selection = Selection(NAME, parents=(1,), inspirations=(2, 3))
    (child,) = operator().propose(selection, context_of(past, 5))
    assert Note(*child.extras[NAME])[:2] == (1, 2)


def test_a_start_that_settles_second_does_not_count() -> None:
    """Of two proposals in flight that both begin a descent, the first to settle decides where it started."""
    past = Past()
    for _ in range(2):
        past.settle(Program({"a.py": SEEDS[0]}), -50.0)
    tuner = operator()
    children = [tuner.propose(Selection(NAME, parents=(parent,)), context_of(past, parent))[0] for parent in (1, 2)]
    for child in reversed(children):
        settled(past, child, 1.0)
    (child,) = tuner.propose(Selection(NAME, parents=(1,)), context_of(past, 5))
    assert Note(*child.extras[NAME])[:2] == (1, 2)


def test_duplicates_end_a_descent_and_are_no_failures() -> None:
    """A space that is all known is left after four generations of screened children."""
    past = Past()
    past.settle(Program({"a.py": "n = 2"}), 1.0)
    tuner, notes = operator(), list[Note]()
    for step in range(25):
        (child,) = tuner.propose(Selection(NAME, parents=(1,)), context_of(past, step))
        notes.append(Note(*child.extras[NAME]))
        settled(past, child, None, Outcome.SCREENED)
    assert [note.number for note in notes] == [1] * 24 + [2]


def test_integers_that_hardly_move_any_more_are_stirred() -> None:
    """Steps far below 1 still change an integer now and then."""
    past = Past()
    past.settle(Program({"a.py": "x = 0.5\nn = 700\n"}), 1.0)
    tuner = TuneLiterals(TuneSettings(sigma=1e-4))
    children = tuner.propose(Selection(NAME, parents=(1,), samples=200), context_of(past, 1))
    found = {template(child.program).values[1] for child in children if child.program}
    assert found == {699, 700, 701}


def test_above_two_hundred_literals_it_still_learns() -> None:
    """A long list of numbers gets better in a few generations."""
    past = Past()
    past.settle(Program({"a.py": f"x = {[0.5 + 0.01 * number for number in range(250)]}"}), -1e9)
    campaign(past, 120, lambda _: 1)
    assert past.rows[best(past) - 1][2] > score(past.rows[0][0])


def test_without_a_literal_it_says_what_to_do() -> None:
    """An edit error, as with every literal operator."""
    past = Past()
    past.settle(Program({"a.py": "x = 0"}), 1.0)
    with pytest.raises(EditError, match=r"no numeric literal to tune in a\.py"):
        operator().propose(Selection(NAME, parents=(1,)), context_of(past, 1))


def test_a_plan_follows_the_settings() -> None:
    """What is set is used; else the population grows with the number of literals."""
    assert plan_descent(1, 52, TuneSettings(population=9, sigma=2.0)) == DescentPlan(2.0, 9)
    assert [plan_descent(1, dimension, TuneSettings()).population for dimension in (1, 2, 52)] == [8, 12, 30]


def test_restarts_vary_the_first_steps() -> None:
    """Twice and half as long in turn, then as set again."""
    assert [plan_descent(number, 52, TuneSettings()).sigma for number in (1, 2, 3, 4)] == [1.0, 2.0, 0.5, 1.0]
