"""The covariance-adapting search."""

import dataclasses

import numpy as np
import pytest
from numpy.random import PCG64, Generator

from evolve.operators.cma_es import FULL, Descent, DescentPlan, LearningRates, Shape, Vector


def sphere(point: Vector) -> float:
    """Best at 3 in every coordinate."""
    return -float(((point - 3) ** 2).sum())


def ellipsoid(point: Vector) -> float:
    """A ridge: axes whose lengths differ by a thousand, turned by pairs."""
    turned = np.concatenate([point[::2] + point[1::2], point[::2] - point[1::2]]) - 1
    return -float((np.logspace(0, 6, len(turned)) * turned**2).sum())


def searched(descent: Descent, function: object, count: int, seed: int = 1) -> float:
    """The best of `count` results."""
    rng, best = Generator(PCG64(seed)), -np.inf
    assert callable(function)
    for _ in range(count):
        point = descent.ask(rng)
        fitness = function(point)
        descent.tell(point, fitness)
        best = max(best, fitness)
    return float(best)


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_finds_the_top_of_a_sphere(dimension: int) -> None:
    """To eight digits in a few thousand results."""
    assert searched(Descent(dimension, DescentPlan(1.0, 12, smallest=1e-9, gain=0.0)), sphere, 3000) == pytest.approx(
        0.0, abs=1e-8
    )


def test_learns_a_ridge() -> None:
    """The covariance follows axes whose lengths differ by a thousand."""
    assert searched(Descent(8, DescentPlan(1.0, 12, smallest=1e-9, gain=0.0)), ellipsoid, 8000) == pytest.approx(
        0.0, abs=1e-6
    )


def test_above_full_dimensions_the_covariance_is_diagonal() -> None:
    """It still goes up, and holds one number per dimension."""
    descent = Descent(FULL + 1, DescentPlan(1.0, 20))
    start = sphere(descent.mean)
    assert searched(descent, sphere, 2000) > start / 4
    assert descent.deviations().shape == (FULL + 1,)


def test_points_may_be_told_late_and_in_any_order() -> None:
    """Thirty in flight, told in random order: it arrives all the same."""
    descent, rng, flight = (
        Descent(5, DescentPlan(1.0, 10, smallest=1e-9, gain=0.0)),
        Generator(PCG64(3)),
        list[Vector](),
    )
    for _ in range(4000):
        flight.append(descent.ask(rng))
        if len(flight) == 30:
            point = flight.pop(int(rng.integers(30)))
            descent.tell(point, sphere(point))
    assert sphere(descent.mean) == pytest.approx(0.0, abs=1e-6)


def test_a_far_point_moves_the_mean_only_so_far() -> None:
    """Points of no distribution that ever was cannot throw the search away."""
    descent = Descent(4, DescentPlan(1.0, 6))
    for number in range(6):
        descent.tell(np.full(4, 1e12 + number), float(number))
    assert np.linalg.norm(descent.mean) < 5
    assert np.isfinite(descent.ask(Generator(PCG64(1)))).all()


def test_failures_rank_worst() -> None:
    """A mean moves to the half that works, and away from no result."""
    descent, rng = Descent(3, DescentPlan(1.0, 20)), Generator(PCG64(5))
    for _ in range(20):
        point = descent.ask(rng)
        descent.tell(point, 1.0 if point[0] > 0.5 else None)
    assert descent.mean[0] > 0.5


def test_where_everything_fails_the_steps_become_smaller_until_it_is_over() -> None:
    """No result at all ends a descent too."""
    descent, rng = Descent(3, DescentPlan(1.0, 5)), Generator(PCG64(5))
    for _ in range(500):
        descent.tell(descent.ask(rng), None)
    assert descent.finished in ("converged", "stagnated")
    assert (descent.mean == 0).all()


@pytest.mark.parametrize(
    ("function", "plan", "reason"),
    [
        (sphere, DescentPlan(1.0, 8, smallest=1e-3, gain=0.0, patience=100.0), "converged"),
        (lambda point: 0.0, DescentPlan(1.0, 8, smallest=1e-300), "stagnated"),
        (lambda point: float(point.sum()), DescentPlan(1.0, 8), "outgrown"),
    ],
)
def test_a_descent_ends(function: object, plan: DescentPlan, reason: str) -> None:
    """It says why, and what is told afterwards changes nothing."""
    descent = Descent(3, plan)
    searched(descent, function, 20_000)
    generation = descent.generation
    searched(descent, function, 100)
    assert (descent.finished, descent.generation) == (reason, generation)


def test_a_descent_whose_points_are_all_known_is_over() -> None:
    """Four generations of skipped points in a row end it; a generation that moves starts the count again."""
    descent, rng = Descent(2, DescentPlan(1.0, 4)), Generator(PCG64(1))
    for _ in range(15):
        descent.skip()
    for _ in range(4):
        descent.tell(descent.ask(rng), float(rng.random()))
    for _ in range(15):
        descent.skip()
    assert descent.finished == ""
    descent.skip()
    assert descent.finished == "exhausted"


def test_the_same_results_give_the_same_descent() -> None:
    """The state is a function of what was told; asking changes nothing."""
    one, other, rng = Descent(6, DescentPlan(1.0, 8)), Descent(6, DescentPlan(1.0, 8)), Generator(PCG64(2))
    for _ in range(200):
        point = one.ask(rng)
        one.tell(point, sphere(point))
        other.tell(point, sphere(point))
    assert one.ask(Generator(PCG64(7))).tolist() == other.ask(Generator(PCG64(7))).tolist()


@pytest.mark.parametrize(("dimension", "population"), [(1, 4), (2, 2), (52, 30), (400, 20), (3, 500)])
def test_rates_keep_the_covariance_positive(dimension: int, population: int) -> None:
    """Parents' weights sum to 1, and what a generation takes away is less than what there is."""
    rates = LearningRates.of(dimension, population)
    assert rates.weights[rates.weights > 0].sum() == pytest.approx(1.0)
    kept = (
        1
        - rates.one
        - rates.rank * rates.weights.sum()
        + rates.rank * dimension * rates.weights[rates.weights < 0].sum()
    )
    assert kept >= -1e-12


@pytest.mark.parametrize("dimension", [3, FULL + 1])
def test_a_shape_that_lost_its_digits_is_degenerate_and_keeps_its_last_root(dimension: int) -> None:
    """Taking away more variance than there is raises nothing, and steps stay what they were."""
    shape, rates, one = Shape(dimension), LearningRates.of(dimension, 6), np.ones(dimension)
    steps = np.zeros((6, dimension))
    steps[5, 0] = 1e3
    shape.learn(np.zeros(dimension), steps, -np.ones(6), dataclasses.replace(rates, rank=0.5))
    assert shape.degenerate
    assert shape.stretch(one).tolist() == one.tolist()


def test_a_degenerate_descent_is_over() -> None:
    """A dimension that points never leave loses its variance, which ends the descent."""
    descent, rng = Descent(2, DescentPlan(1.0, 8, smallest=0.0, gain=0.0, patience=1e6)), Generator(PCG64(1))
    for _ in range(20_000):
        point = descent.ask(rng) * (1.0, 0.0)
        descent.tell(point, float(rng.random()))
    assert descent.finished == "degenerate"


def test_stretched_and_rounded_undo_each_other() -> None:
    """After learning too, and the deviations are those of the covariance."""
    descent = Descent(4, DescentPlan(1.0, 8))
    searched(descent, ellipsoid, 400)
    shape, steps = descent._shape, Generator(PCG64(1)).standard_normal((5, 4))
    assert shape.whiten(np.array([shape.stretch(step) for step in steps])) == pytest.approx(steps)
    many = np.array([shape.stretch(step) for step in Generator(PCG64(2)).standard_normal((20_000, 4))])
    assert many.std(axis=0) == pytest.approx(shape.deviations(), rel=0.05)


def test_what_misses_a_constraint_ranks_between_what_meets_it_and_failures() -> None:
    """The mean moves to where the violation is smaller, although the fitness is larger on the other side."""
    descent, rng = Descent(2, DescentPlan(1.0, 20)), Generator(PCG64(5))
    for _ in range(20):
        point = descent.ask(rng)
        descent.tell(point, float(point[0]), max(0.0, 1.0 + float(point[0])))
    assert descent.mean[0] < -0.1
    mixed = Descent(2, DescentPlan(1.0, 4))
    for number, (fitness, violation) in enumerate([(None, 0.0), (9.0, 0.5), (1.0, 0.0), (9.0, 0.1)]):
        mixed.tell(np.array([float(number), 0.0]), fitness, violation)
    assert 1.0 < mixed.mean[0] < 3.0


def test_a_search_with_a_constraint_ends_at_its_border() -> None:
    """The best of a sphere around (3, 3) with a first coordinate of at most 1."""
    descent, rng = Descent(2, DescentPlan(1.0, 12, smallest=1e-9, gain=0.0)), Generator(PCG64(2))
    best = -np.inf
    for _ in range(3000):
        point = descent.ask(rng)
        violation = max(0.0, float(point[0]) - 1.0)
        descent.tell(point, sphere(point), violation)
        best = max(best, sphere(point)) if violation == 0.0 else best
    assert best == pytest.approx(-4.0, abs=1e-3)
