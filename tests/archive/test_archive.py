"""Facts about the archive as a whole: its questions, its rulings, and what is true of every fold."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from archive_makers import AXES, Challenger, Story, make_program
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive import Archive, ArchiveSettings, Elite, Estimate, Stats
from evolve.types import Evaluation, Insertion, Objective, Origin, Outcome, canonical

KINDS = ("deterministic", "certifies", "noisy")
bounded = settings(max_examples=60, deadline=None)


def filled() -> Story:
    """Two islands; the first has three elites in two cells, the second one elite."""
    story = Story(islands=2, capacity=2)
    for name, fitness, at, island in (
        ("a", 1.0, (0, 0), 0),
        ("b", 3.0, (0, 0), 0),
        ("c", 2.0, (3, 1), 0),
        ("d", 4.0, (0, 0), 1),
    ):
        story.propose(name, fitness, at, island)
    return story


def test_an_elite_says_who_where_and_how_sure() -> None:
    elite = filled().archive.best_elite(0)
    estimate = Estimate(3.0, 0.0, 1)
    assert elite == Elite(2, make_program("b"), 3.0, {"size": 0.0, "walls": 0.0}, 0, 0, estimate, estimate)


def test_a_cell_is_retrieved_with_its_best_first() -> None:
    archive = filled().archive
    assert [elite.record for elite in archive.retrieve(0, 0)] == [2, 1]
    assert [elite.record for elite in archive.retrieve(0, archive.grid.cell((9.0, 1.0)))] == [3]
    assert archive.retrieve(0, 1) == ()


def test_elites_of_one_island_or_of_all() -> None:
    archive = filled().archive
    assert [elite.record for elite in archive.elites(1)] == [4]
    assert [elite.record for elite in archive.elites()] == [2, 3, 1, 4]


def test_an_empty_archive_answers_too() -> None:
    archive = Archive(AXES, ArchiveSettings(), deterministic=True, certifies=False)
    assert (archive.best, archive.best_elite(0), archive.due()) == (None, None, None)
    assert archive.sample_elites(0, 3, np.random.default_rng(0)) == []
    assert archive.stats() == Stats(0, 0, 0.0, 0.0, None)


@pytest.mark.parametrize(
    ("island", "expected"),
    [(0, Stats(3, 2, 0.25, 5.0, 3.0)), (1, Stats(1, 1, 0.125, 4.0, 4.0)), (None, Stats(4, 2, 0.25, 6.0, 4.0))],
)
def test_figures_of_an_island_and_of_all_laid_on_one_another(island: int | None, expected: Stats) -> None:
    assert filled().archive.stats(island) == expected


def test_only_who_meets_the_constraints_counts_for_the_figures() -> None:
    story = Story()
    story.propose("a", 9.0, (0, 0), violation=0.5)
    assert story.archive.stats() == Stats(1, 1, 0.125, 0.0, None)
    story.propose("b", -2.0, (3, 1))
    assert story.archive.stats() == Stats(2, 2, 0.25, -2.0, -2.0)
    assert [(elite.record, elite.violation) for elite in story.archive.elites()] == [(2, 0.0), (1, 0.5)]


def test_the_logarithm_of_a_sampled_rank_is_uniform() -> None:
    story = Story(axes=AXES, capacity=10)
    for name in range(9):
        story.propose(name, float(-name))
    drawn = [elite.record for elite in story.archive.sample_elites(0, 20_000, np.random.default_rng(1))]
    shares = [drawn.count(record) / len(drawn) for record in range(1, 10)]
    assert shares == pytest.approx([math.log(1 + 1 / rank) / math.log(10) for rank in range(1, 10)], abs=0.012)


def test_every_rank_is_as_likely_where_elites_are_drawn_evenly() -> None:
    story = Story(axes=AXES, capacity=10)
    for name in range(9):
        story.propose(name, float(-name))
    rng = np.random.default_rng(1)
    drawn = [elite.record for elite in story.archive.sample_elites(0, 20_000, rng, evenly=True)]
    assert [drawn.count(record) / len(drawn) for record in range(1, 10)] == pytest.approx([1 / 9] * 9, abs=0.012)


def test_equal_generators_draw_equal_elites() -> None:
    archive = filled().archive
    first, second = (archive.sample_elites(0, 5, np.random.default_rng(7)) for _ in range(2))
    assert first == second
    assert len(first) == 5


def test_a_seed_enters_every_island_and_an_import_its_own() -> None:
    story = Story(islands=3)
    assert story.seed("a", 1.0) is Insertion.NEW
    origin = Origin("import", 1, island=1)
    story.settle(origin, "b", Evaluation.ok(2.0, descriptors={"size": 0, "walls": 0}))
    assert [story.names(island) for island in range(3)] == [["a"], ["b"], ["a"]]


def test_a_placement_names_island_and_cell() -> None:
    story = Story(islands=2)
    origin = Origin("proposal", 1, island=1)
    found = Evaluation.ok(2.0, descriptors={"size": 1.5, "walls": 1.0})
    placement = story.settle(origin, "a", found)
    assert (placement.insertion, placement.island, placement.cell) == (Insertion.NEW, 1, 3)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_a_failure_is_never_added(outcome: Outcome) -> None:
    story = Story()
    placement = story.settle(Origin("proposal", 1), "a", Evaluation.failed(outcome, "no"))
    assert (placement.insertion, placement.cell, story.names()) == (Insertion.NOT_ADDED, -1, [])


def test_a_reply_without_a_program_is_not_added() -> None:
    story = Story()
    assert (
        story.settle(Origin("proposal", 1), None, Evaluation.failed(Outcome.SCREENED, "no edit")).insertion
        is Insertion.NOT_ADDED
    )


def test_beyond_the_bound_nothing_is_added() -> None:
    story = Story(bound=2.0)
    assert [story.propose("a", 2.0), story.propose("b", 2.0000001)] == [Insertion.NEW, Insertion.NOT_ADDED]
    assert story.best == "a"


def test_a_program_that_is_certified_beyond_the_bound_is_out() -> None:
    story = Story("certifies", bound=2.0)
    story.propose("a", 1.0)
    assert story.certify("a", 2.1) is Insertion.NOT_ADDED
    assert story.names() == []


def test_a_program_that_failed_at_first_enters_with_its_first_success() -> None:
    story = Story()
    story.propose("a", None)
    origin = Origin("measurement", 2, about=1)
    assert story.settle(origin, "a", Evaluation.ok(1.0, descriptors={"size": 0, "walls": 0})).insertion is Insertion.NEW
    assert story.archive.best.record == 2


def test_a_certificate_alone_brings_no_unknown_program_in() -> None:
    story = Story("certifies")
    story.propose("a", None)
    assert story.certify("a", 1.0) is Insertion.NOT_ADDED
    assert story.names() == []


def test_a_measurement_finds_its_program_by_the_record_it_is_about() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.settle(Origin("measurement", 2, about=1), None, Evaluation(Outcome.OK, fitness=2.0))
    assert story.archive.best.fitness == 1.5


def test_a_quarantined_program_leaves_its_place_to_the_best_member() -> None:
    story = Story()
    for name, fitness in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
        story.propose(name, fitness)
    story.rule("quarantine", "b")
    assert (story.names(), story.best) == (["c"], "c")
    story.rule("release", "b")
    assert (story.names(), story.best) == (["b"], "b")


def test_a_program_can_be_quarantined_before_it_is_seen() -> None:
    story = Story()
    story.rule("quarantine", "a")
    assert story.propose("a", 1.0) is Insertion.NOT_ADDED
    story.rule("release", "a")
    story.rule("release", "never seen")
    assert story.names() == ["a"]


def test_a_quarantined_challenger_waits_no_more() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    story.propose("b", 2.0)
    story.rule("quarantine", "b")
    assert story.waiting() == [("a", None)]


def test_a_promotion_is_remembered_and_moves_nobody() -> None:
    story = Story()
    story.propose("a", 1.0)
    story.rule("promote", "a")
    assert (story.archive.promoted, story.names()) == ({make_program("a")}, ["a"])


def test_what_is_due_says_what_to_judge_and_why() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    measure = story.archive.due()
    assert (measure.about, measure.program, measure.stage, measure.why) == (
        1,
        make_program("a"),
        "certify",
        "challenger",
    )
    assert story.pending() == [Challenger(make_program("a"), None, 0)]
    noisy = Story("noisy")
    noisy.propose("a", 1.0)
    assert noisy.archive.due(best_only=True).stage == ""


# --- what is true of every fold

fitnesses = st.integers(0, 12).map(lambda value: value / 4)
points = st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0]))
proposals = st.lists(st.tuples(fitnesses, points, st.integers(0, 1)), min_size=1, max_size=30)
names = st.integers(0, 14)
Event = Callable[[Story], Any]

beside = st.fixed_dictionaries(
    {
        "violation": st.sampled_from([0.0, 0.0, 0.0, 0.5, 1.0]),
        "objectives": st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda values: [float(v) for v in values]),
    }
)

events = st.one_of(
    st.builds(
        lambda name, fitness, at, island, more: lambda story: story.propose(name, fitness, at, island, **more),
        names,
        fitnesses,
        points,
        st.integers(0, 1),
        beside,
    ),
    st.builds(
        lambda name, fitness, more: lambda story: story.seed(f"seed{name}", fitness, **more), names, fitnesses, beside
    ),
    st.builds(
        lambda name, fitness, more: lambda story: story.measure(name, fitness, **more),
        names,
        st.none() | fitnesses,
        beside,
    ),
    st.builds(lambda name, fitness: lambda story: story.certify(name, fitness), names, fitnesses),
    st.builds(lambda name: lambda story: story.measure(name, None, outcome=Outcome.INTERNAL), names),
    st.builds(
        lambda what, name: lambda story: story.rule(what, name),
        st.sampled_from(["quarantine", "release", "promote"]),
        names,
    ),
    st.builds(
        lambda hardware, noise: lambda story: story.machine(hardware, noise),
        st.sampled_from(["here", "there"]),
        st.sampled_from([0.0, 0.3]),
    ),
)


BOUND = 2.5


def under_way(story: Story) -> set[str]:
    """The programs that are being measured."""
    state = story.archive.state()
    return {state["evidence"]["programs"][number] for number, _ in state["contests"]["agenda"]["in_flight"]}


def island_holds_one(story: Story, challenger: Challenger, programs: set[str]) -> bool:
    """Whether the incumbent of a challenger is one of these."""
    if challenger.island is None:
        return story.archive.best is not None and story.archive.best.program in programs
    return story.archive.retrieve(challenger.island, challenger.cell)[-1].program in programs


def known(story: Story) -> list[int]:
    """The first record of every program that was accepted."""
    settled = ((record, record.evaluation) for record in reversed(story.records))
    accepted = [(record, found) for record, found in settled if found.fitness is not None and found.fitness <= BOUND]
    return sorted({record.program: record.id for record, found in accepted if found.descriptors}.values())


def campaign(kind: str, **more: Any) -> Story:
    aims = (Objective("first"), Objective("second", reference=0.0))
    return Story(kind, islands=2, capacity=2, migrate_every=3, reset_every=5, bound=BOUND, objectives=aims, **more)


def check(story: Story) -> None:
    """What holds after every event."""
    archive = story.archive
    out = set(archive.state()["quarantined"])
    waiting = [(one.island, one.cell) for one in story.pending() if one.island is not None]
    assert len(waiting) == len(set(waiting))
    assert len([one for one in story.pending() if one.island is None]) <= 1
    for island in range(2):
        elites = archive.elites(island)
        ranks = [(elite.violation, -elite.fitness) for elite in elites]
        assert ranks == sorted(ranks)
        assert len({elite.program for elite in elites}) == len(elites)
        assert out.isdisjoint(elite.program for elite in elites)
        for cell in range(archive.grid.cells):
            held = archive.retrieve(island, cell)
            assert len(held) <= 2
            assert all(elite.cell == cell for elite in held)
            challenger = next((one for one in story.pending() if (one.island, one.cell) == (island, cell)), None)
            assert challenger is None or len(held) == 2
            assert challenger is None or challenger.program not in {elite.program for elite in held}
    assert out.isdisjoint(one.program for one in story.pending())
    assert archive.best is None or archive.best.program not in out
    assert archive.best is None or archive.best.violation == 0.0
    assert [elite.record for elite in archive.front()] == brute_front(archive)


def brute_front(archive: Archive) -> list[int]:
    """The records of the programs that may be on the front and that no other such one covers, one by one."""
    known = archive.state()["evidence"]
    if not known["objectives"]:
        return []
    points = list(zip(known["objectives"][::2], known["objectives"][1::2], strict=True))
    missed = dict(known["violations"])
    able = [number for number, status in enumerate(known["status"]) if not status and number not in missed]

    def covers(one: int, other: int) -> bool:
        better = all(mine >= yours for mine, yours in zip(points[one], points[other], strict=True))
        return better and (points[one] != points[other] or one < other)

    found = [number for number in able if not any(covers(other, number) for other in able)]
    return [known["records"][number] for number in sorted(found, key=lambda number: (-points[number][0], number))]


@given(st.sampled_from(KINDS), st.lists(events, max_size=40))
@bounded
def test_two_folds_of_the_same_events_are_equal_whatever_was_asked(kind: str, told: Sequence[Event]) -> None:
    curious, silent = campaign(kind), campaign(kind)
    for event in told:
        event(curious)
        event(silent)
        curious.archive.due()
        check(curious)
    assert canonical(curious.archive.state()) == canonical(silent.archive.state())
    assert curious.archive.due() == silent.archive.due()
    assert (curious.archive.best, curious.archive.elites()) == (silent.archive.best, silent.archive.elites())
    assert curious.archive.pareto.hypervolume() == silent.archive.pareto.hypervolume()


@given(st.sampled_from(KINDS), st.lists(events, max_size=30))
@bounded
def test_nothing_is_due_twice_before_it_settles(kind: str, told: Sequence[Event]) -> None:
    story = campaign(kind)
    for event in told:
        event(story)
    asked = []
    while (due := story.next_due()) is not None:
        asked.append(due[0])
    assert len(asked) == len(set(asked))
    assert all(
        one.program in under_way(story) or island_holds_one(story, one, under_way(story)) for one in story.pending()
    )
    assert len(asked) <= 2 * (2 * story.archive.grid.cells + 1) + len(story.archive.elites()) + 1


@given(st.sampled_from(["certifies", "noisy"]), proposals)
@bounded
def test_when_all_that_is_due_was_measured_nothing_waits(
    kind: str, told: Sequence[tuple[float, tuple[float, float], int]]
) -> None:
    story = Story(kind, islands=2, migrate_every=3)
    for name, (fitness, at, island) in enumerate(told):
        story.propose(name, fitness, at, island)
    true = {str(name): fitness for name, (fitness, _, _) in enumerate(told)}
    steps = 0
    while (due := story.next_due()) is not None:
        story.measure(due[0], true[due[0]], certified=kind == "certifies")
        steps += 1
        assert steps <= 10 * len(told)
    assert story.waiting() == []
    assert story.archive.best.fitness == max(true.values())


@given(proposals)
@bounded
def test_in_a_deterministic_task_nothing_gets_worse(told: Sequence[tuple[float, tuple[float, float], int]]) -> None:
    story = Story(islands=2, capacity=2, migrate_every=3)
    before: dict[tuple[int, int], list[float]] = {}
    for name, (fitness, at, island) in enumerate(told):
        story.propose(name, fitness, at, island)
        cells = {
            (island, cell): [elite.fitness for elite in story.archive.retrieve(island, cell)]
            for island in range(2)
            for cell in range(8)
        }
        for place, held in before.items():
            assert all(new >= old for new, old in zip(cells[place], held, strict=False))
            assert len(cells[place]) >= len(held)
        before = cells
        assert story.archive.best.fitness == max(fitness for fitness, _, _ in told[: name + 1])


missed = st.sampled_from([0.0, 0.0, 0.25, 0.5])


@given(st.lists(st.tuples(fitnesses, points, st.integers(0, 1), missed), min_size=1, max_size=30), st.integers(1, 3))
@bounded
def test_the_elites_are_the_best_of_each_cell_in_whatever_order_they_came(
    told: Sequence[tuple[float, tuple[float, float], int, float]], capacity: int
) -> None:
    story = Story(islands=2, capacity=capacity)
    expected: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
    for name, (fitness, at, island, violation) in enumerate(told):
        story.propose(name, fitness, at, island, violation=violation)
        cell = story.archive.grid.cell(at)
        expected.setdefault((island, cell), []).append((violation, -fitness, name + 1))
        allowed = [fitness for fitness, _, _, violation in told[: name + 1] if violation == 0.0]
        assert (None if story.best is None else story.archive.best.fitness) == max(allowed, default=None)
    for (island, cell), all_of_them in expected.items():
        held = [(one.violation, -one.fitness, one.record) for one in story.archive.retrieve(island, cell)]
        assert held == sorted(all_of_them)[:capacity]


@given(proposals, st.data())
@bounded
def test_quarantine_and_release_leave_no_trace_where_no_two_are_equal(
    told: Sequence[tuple[float, tuple[float, float], int]], data: st.DataObject
) -> None:
    story = Story(islands=2, capacity=2, migrate_every=3)
    for name, (fitness, at, island) in enumerate(told):
        story.propose(name, fitness + name * 1e-6, at, island)
    before = canonical(story.archive.state())
    some = data.draw(st.permutations(range(len(told))))[:4]
    for name in some:
        story.rule("quarantine", name)
        check(story)
    for name in reversed(some):
        story.rule("release", name)
    assert canonical(story.archive.state()) == before


def climb(seed: int, sigma: float, budget: int, **more: Any) -> tuple[float, float, float]:
    """A noisy hill climb on one cell: the true gain of the best, its estimate, and what is reported of it."""
    rng = np.random.default_rng(seed)
    story = Story("noisy", axes=(), noise=sigma, **more)
    true = {"seed": 0.0}
    story.seed("seed", sigma * rng.normal())
    for step in range(budget):
        due = story.next_due()
        if due is not None:
            story.measure(due[0], true[due[0]] + sigma * rng.normal())
            continue
        parent = story.names()[0]
        true[str(step)] = min(0.3, true[parent] + rng.normal(-0.03, 0.03) * (2 if rng.random() < 0.2 else 1))
        story.propose(step, true[str(step)] + sigma * rng.normal())
    while (due := story.next_due(best_only=True)) is not None:
        story.measure(due[0], true[due[0]] + sigma * rng.normal())
    best = story.archive.best
    reported = best.fitness if best.reported is None else best.reported.mean
    return true[story.best], best.fitness, reported


def test_in_noise_little_more_is_reported_than_is_true() -> None:
    """Sigma .05, ceiling .3, 400 measurements: one stored number per program reports .132 too much and gains .10 in truth."""
    runs = np.array([climb(seed, 0.05, 400) for seed in range(25)])
    true, estimated, reported = runs.mean(axis=0)
    assert true > 0.12
    assert estimated - true < 0.065
    assert reported - true < 0.04


def test_a_program_without_a_number_for_an_axis_holds_no_place() -> None:
    """Nor is it an error: a fork may have other axes than an evaluation has descriptors. Measured with all of them, it enters."""
    story = Story()
    origin = Origin("proposal", 1)
    assert story.settle(origin, "a", Evaluation.ok(9.0, descriptors={"size": 1.0})).insertion is Insertion.NOT_ADDED
    assert (story.archive.best, story.names()) == (None, [])
    assert story.measure("a", 8.0) is Insertion.NEW
    assert (story.best, story.names()) == ("a", ["a"])


def test_an_elite_that_was_asked_for_before_is_shown_with_what_was_measured_since():
    story = Story("noisy")
    story.propose("a", 1.0)
    story.propose("b", 0.5, at=(1, 0))
    assert [one.estimate.mean for one in story.archive.elites()] == [1.0, 0.5]
    story.propose("b", 0.7, at=(1, 0))
    assert [one.estimate.mean for one in story.archive.elites()] == [1.0, pytest.approx(0.6)]
    story.measure("a", 2.0)
    assert [one.estimate.mean for one in story.archive.elites()] == [1.5, pytest.approx(0.6)]


def test_an_elite_that_was_asked_for_before_is_shown_with_the_noise_of_the_present_machine():
    story = Story("noisy", noise=0.1)
    story.propose("a", 1.0)
    here = story.archive.best_elite(0)
    story.machine("here", 0.4)
    again = story.archive.best_elite(0)
    assert (here.estimate.standard_error, again.estimate.standard_error) == (0.1, 0.4)
