"""Places and who holds them: cells, the best of all, and migration."""

import pytest
from archive_makers import Story, ask
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.confirmation import GIVE_UP
from evolve.archive.contests import RESTED, Island
from evolve.types import Insertion, Outcome

NOT_ADDED, PENDING, IMPROVED, NEW = Insertion


def test_insertions_of_a_deterministic_task() -> None:
    story = Story(capacity=2)
    assert story.propose("a", 1.0) is NEW
    assert story.propose("b", 0.5) is IMPROVED
    assert story.propose("c", 0.5) is NOT_ADDED
    assert story.propose("d", 0.7) is IMPROVED
    assert story.propose("e", None) is NOT_ADDED
    assert story.names() == ["a", "d"]


@pytest.fixture
def certified() -> Story:
    """A certified incumbent `a` in the first cell, which is the best too, and nothing due."""
    story = Story("certifies")
    story.propose("a", 1.0)
    story.certify("a", 1.0)
    return story


def test_a_challenger_waits_for_its_certificate_and_then_wins(certified: Story) -> None:
    assert certified.propose("b", 2.0) is PENDING
    assert certified.names() == ["a"]
    assert certified.next_due() == ("b", "challenger")
    assert certified.next_due() is None
    assert certified.certify("b", 1.5) is IMPROVED
    assert (certified.names(), certified.best, certified.waiting()) == (["b"], "b", [])


def test_a_challenger_whose_certified_value_is_too_small_loses(certified: Story) -> None:
    certified.propose("b", 2.0)
    assert certified.certify("b", 0.9) is NOT_ADDED
    assert (certified.names(), certified.waiting()) == (["a"], [])


@pytest.mark.parametrize("outcome", [Outcome.WRONG, Outcome.INVALID])
def test_a_challenger_that_cannot_be_certified_is_out_for_ever(certified: Story, outcome: Outcome) -> None:
    certified.propose("b", 2.0)
    assert certified.measure("b", None, outcome=outcome) is NOT_ADDED
    assert (certified.names(), certified.waiting()) == (["a"], [])
    assert certified.propose("b", 3.0) is NOT_ADDED


def test_an_incumbent_without_a_certificate_is_certified_first() -> None:
    story = Story("certifies")
    story.propose("best", 9.0, at=(3, 1))
    story.certify("best", 9.0)
    story.propose("a", 1.0)
    assert story.propose("b", 2.0) is PENDING
    assert [story.next_due(), story.next_due(), story.next_due()] == [("a", "incumbent"), ("b", "challenger"), None]
    assert story.certify("b", 2.0) is PENDING
    assert story.certify("a", 1.0) is NOT_ADDED
    assert story.names() == ["best", "b"]


def test_an_elite_that_cannot_be_certified_makes_room_for_the_best_member() -> None:
    story = Story("certifies")
    for name, fitness in (("a", 1.0), ("b", 0.5), ("c", 0.8)):
        story.propose(name, fitness)
    story.certify("a", None)
    assert story.names() == ["c"]


def test_one_challenger_waits_per_cell_the_largest(certified: Story) -> None:
    certified.propose("best", 99.0, at=(3, 1))
    certified.certify("best", 99.0)
    assert [certified.propose("b", 2.0), certified.propose("c", 1.5), certified.propose("d", 3.0)] == [
        PENDING,
        NOT_ADDED,
        PENDING,
    ]
    assert certified.waiting() == [("d", 0)]


def test_a_challenger_that_was_replaced_still_wins_when_it_is_certified(certified: Story) -> None:
    certified.propose("b", 2.0)
    assert certified.next_due() == ("b", "challenger")
    certified.propose("c", 3.0)
    assert certified.certify("b", 2.0) is IMPROVED
    assert (certified.names(), certified.waiting()) == (["b"], [("c", None), ("c", 0)])


def test_a_failed_challenger_is_followed_by_the_best_remaining_member(certified: Story) -> None:
    certified.propose("b", 2.0)
    certified.propose("c", 3.0)
    certified.certify("c", None)
    assert ("b", 0) in certified.waiting()


def test_the_machinery_failing_is_nobodys_fault_but_ends_one_day(certified: Story) -> None:
    certified.propose("b", 2.0)
    for _ in range(GIVE_UP - 1):
        assert certified.next_due() == ("b", "challenger")
        assert certified.measure("b", None, outcome=Outcome.INTERNAL) is PENDING
    assert certified.next_due() == ("b", "challenger")
    assert certified.measure("b", None, outcome=Outcome.INTERNAL) is NOT_ADDED
    assert (certified.next_due(), certified.waiting(), certified.names()) == (None, [], ["a"])


@pytest.fixture
def noisy() -> Story:
    """An incumbent `a`, measured twice at 1.0, the best, and nothing due; one sigma is 0.1."""
    story = Story("noisy")
    story.propose("a", 1.0)
    story.measure("a", 1.0)
    return story


def test_a_gain_above_the_noise_counts_at_once(noisy: Story) -> None:
    assert noisy.propose("b", 1.6) is IMPROVED
    assert noisy.best == "b"


def test_an_uncertain_gain_is_confirmed_and_then_the_means_decide(noisy: Story) -> None:
    assert noisy.propose("b", 1.15) is PENDING
    assert noisy.next_due() == ("b", "challenger")
    assert noisy.measure("b", 0.95) is IMPROVED
    elite = noisy.archive.best_elite(0)
    assert (noisy.names(), elite.fitness, elite.estimate.count) == (["b"], pytest.approx(1.05), 2)
    assert elite.reported is None


def test_after_a_failed_confirmation_the_incumbent_is_measured_once(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    assert noisy.next_due() == ("b", "challenger")
    assert noisy.measure("b", 0.5) is NOT_ADDED
    assert [noisy.next_due(), noisy.next_due()] == [("a", "refresh"), None]
    noisy.measure("a", 0.7)
    assert noisy.next_due() is None
    assert noisy.archive.best_elite(0).fitness == pytest.approx(0.9)


def test_a_refresh_that_the_machinery_failed_is_still_owed(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    noisy.measure("b", 0.5)
    assert noisy.next_due() == ("a", "refresh")
    noisy.measure("a", None, outcome=Outcome.INTERNAL)
    assert noisy.next_due() == ("a", "refresh")


def test_what_somebody_else_asked_for_is_not_due(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    ask(noisy, "b")
    ask(noisy, "never seen")
    assert noisy.next_due() is None


def test_a_waiting_challenger_meets_the_new_incumbent(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    noisy.propose("c", 2.0)
    assert (noisy.names(), noisy.waiting()) == (["c"], [])


def test_a_program_proposed_again_is_one_more_measurement(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    assert noisy.propose("b", 1.15) is IMPROVED
    assert noisy.archive.best.estimate.count == 2


def test_a_program_in_several_islands_has_one_estimate() -> None:
    story = Story("noisy", islands=3)
    story.seed("a", 1.0)
    story.measure("a", 2.0)
    assert [story.archive.best_elite(island).fitness for island in range(3)] == [1.5, 1.5, 1.5]


def test_on_another_machine_an_elite_is_measured_before_it_defends(noisy: Story) -> None:
    noisy.machine("there", 0.1)
    assert noisy.propose("b", 0.2) is PENDING
    assert [noisy.next_due(), noisy.next_due()] == [("a", "incumbent"), None]
    noisy.measure("a", 0.5)
    assert (noisy.names(), noisy.archive.best.fitness, noisy.waiting()) == (["a"], 0.5, [])
    assert noisy.next_due() is None


def test_on_another_machine_the_best_is_reported_anew(noisy: Story) -> None:
    assert noisy.archive.best.reported.count == 1
    noisy.machine("there", 0.1)
    assert noisy.archive.best.reported is None
    assert noisy.archive.due(best_only=True).why == "report"
    noisy.measure("a", 30.0)
    assert (noisy.archive.best.reported.mean, noisy.archive.best.reported.count) == (30.0, 1)
    noisy.machine("here", 0.1)
    assert (noisy.archive.best.reported.mean, noisy.archive.best.fitness) == (1.0, 1.0)


def test_what_waits_is_asked_for_again_on_another_machine(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    noisy.machine("there", 0.1)
    assert noisy.next_due() == ("a", "incumbent")
    noisy.measure("a", 1.0)
    assert noisy.next_due() == ("b", "challenger")


def test_what_waits_is_settled_by_a_smaller_noise_floor(noisy: Story) -> None:
    assert noisy.propose("b", 1.15) is PENDING
    noisy.machine("here", 0.01)
    assert (noisy.names(), noisy.best, noisy.waiting()) == (["b"], "b", [])


def test_owed_reports_and_refreshes_survive_another_machine(noisy: Story) -> None:
    noisy.propose("b", 1.15)
    noisy.measure("b", 0.5)
    noisy.machine("here", 0.2)
    assert noisy.next_due() == ("a", "refresh")


def test_back_on_a_machine_its_measurements_count_again(noisy: Story) -> None:
    noisy.machine("there")
    noisy.propose("b", 0.2, at=(1, 0))
    noisy.machine("here")
    assert noisy.propose("c", 0.9) is NOT_ADDED
    assert noisy.archive.retrieve(0, 0)[0].estimate.count == 2


def test_a_smaller_violation_takes_a_cell_from_a_larger_fitness() -> None:
    story = Story()
    assert story.propose("a", 9.0, violation=0.5).name == "NEW"
    assert story.propose("b", 1.0, violation=0.2).name == "IMPROVED"
    assert story.propose("c", 2.0, violation=0.2).name == "IMPROVED"
    assert story.propose("d", 9.0, violation=0.3).name == "NOT_ADDED"
    assert story.names() == ["c"]


def test_when_an_elite_is_found_to_miss_a_constraint_the_others_of_its_cell_challenge_it() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.propose("b", 5.0)
    story.measure("b", 5.0, violation=0.1)
    assert (story.names(), story.waiting()) == (["b"], [("a", 0)])
    assert story.next_due() == ("a", "challenger")
    story.measure("a", 1.0)
    assert (story.names(), story.waiting()) == (["a"], [])


def test_the_island_without_a_program_that_meets_the_constraints_is_the_worse_one() -> None:
    story = Story(islands=2, reset_every=1)
    story.propose("cheat", 9.0, island=0, violation=0.1)
    story.propose("honest", 1.0, island=1)
    assert [story.names(0), story.names(1)] == [["honest"], ["honest"]]


def test_the_largest_of_a_deterministic_task_is_the_best() -> None:
    story = Story()
    for name, fitness in (("a", 1.0), ("b", 3.0), ("c", 2.0), ("d", 3.0)):
        story.propose(name, fitness, at=(fitness, 0))
    assert story.best == "b"


def test_nothing_is_best_before_it_is_certified() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    assert (story.best, story.waiting()) == (None, [("a", None)])
    assert story.next_due() == ("a", "challenger")
    story.certify("a", 0.99)
    assert (story.best, story.waiting()) == ("a", [])
    assert story.archive.best.estimate.certified
    assert story.archive.best.fitness == 0.99


def test_a_larger_rival_takes_the_turn_of_a_smaller_one() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    story.certify("a", 1.0)
    story.propose("b", 2.0, at=(1, 0))
    story.propose("c", 3.0, at=(2, 0))
    story.propose("d", 2.5, at=(3, 0))
    assert story.waiting() == [("c", None)]


def test_when_a_rival_fails_the_best_of_the_others_is_tried() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    story.certify("a", 1.0)
    story.propose("b", 2.0, at=(1, 0))
    story.propose("c", 3.0, at=(2, 0))
    story.certify("c", None)
    assert (story.best, story.waiting()) == ("a", [("b", None)])
    story.certify("b", 0.5)
    assert (story.best, story.waiting()) == ("a", [])


def test_a_first_occupant_is_new_in_its_cell_and_waits_for_the_title_only() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    story.certify("a", 1.0)
    assert story.propose("b", 2.0, at=(1, 0)).name == "NEW"
    assert story.waiting() == [("b", None)]


def test_the_title_of_a_quarantined_program_falls_to_the_next_confirmed_one() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.measure("a", 1.0)
    story.propose("lucky", 1.2, at=(1, 0))
    story.propose("b", 5.0, at=(2, 0))
    assert story.best == "b"
    story.rule("quarantine", "b")
    assert (story.best, story.waiting()) == ("a", [("lucky", None)])


def test_without_a_confirmed_one_it_falls_to_the_best_elite() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.propose("b", 9.0, at=(1, 0))
    story.rule("quarantine", "b")
    assert story.best == "a"


def test_with_everybody_quarantined_there_is_no_best() -> None:
    story = Story()
    story.propose("a", 1.0)
    story.rule("quarantine", "a")
    assert (story.best, story.names()) == (None, [])


def test_a_noisy_best_is_measured_for_its_report_and_no_more() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    assert story.archive.best.reported is None
    assert story.next_due(best_only=True) == ("a", "report")
    assert story.next_due(best_only=True) is None
    story.measure("a", 0.6)
    assert story.archive.best.reported.mean == 0.6
    assert story.archive.best.fitness == 0.8
    assert story.next_due() is None


def test_a_noisy_best_that_may_soon_be_replaced_is_not_measured_for_its_report() -> None:
    """But when nothing else is to come, and when so many programs have come after it."""
    story = Story("noisy")
    for name in range(3):
        story.propose(f"better {name}", 10.0 + name, at=(name, 0))
        assert story.next_due() is None
    for name in range(RESTED - 1):
        story.propose(name, 0.0)
    assert story.next_due() is None
    story.propose("the last", 0.0)
    assert story.next_due() == ("better 2", "report")


def test_the_machinery_failing_ends_the_report_of_a_noisy_best() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    for _ in range(GIVE_UP):
        assert story.next_due(best_only=True) == ("a", "report")
        story.measure("a", None, outcome=Outcome.INTERNAL)
    assert story.next_due(best_only=True) is None


def test_a_best_that_measures_worse_is_challenged_by_the_best_elite() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.propose("b", 0.95, at=(1, 0))
    story.measure("b", 0.95)
    story.measure("a", 0.7)
    assert story.best == "b"


def test_a_confirmed_rival_that_fails_sends_a_measurement_to_the_best() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.measure("a", 1.0)
    story.propose("b", 1.1, at=(1, 0))
    assert story.next_due() == ("b", "challenger")
    story.measure("b", 0.7)
    assert story.best == "a"
    assert story.next_due() == ("a", "refresh")
    story.measure("a", 1.0)
    assert story.next_due() is None


def test_what_is_due_can_be_narrowed_to_the_best() -> None:
    story = Story("certifies")
    story.propose("best", 9.0)
    assert story.archive.due(best_only=True).program == "program-best"
    story.certify("best", 9.0)
    story.propose("a", 1.0, at=(1, 0))
    story.propose("b", 2.0, at=(1, 0))
    assert story.archive.due(best_only=True) is None
    assert story.archive.due().program == "program-a"


def test_the_fittest_is_not_the_best_when_it_misses_a_constraint() -> None:
    story = Story()
    story.propose("cheat", 9.0, violation=0.5)
    assert (story.best, story.names()) == (None, ["cheat"])
    story.propose("honest", 1.0)
    assert (story.best, story.names()) == ("honest", ["honest"])
    story.propose("closer", 8.0, at=(1, 0), violation=0.1)
    assert (story.best, story.names()) == ("honest", ["honest", "closer"])


def test_a_noisy_best_that_misses_a_constraint_once_falls_to_who_never_did() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.measure("a", 1.0)
    story.propose("b", 5.0, at=(1, 0))
    assert story.best == "b"
    story.measure("b", 5.0, violation=0.1)
    assert story.best == "a"
    assert story.names() == ["a", "b"]


def test_it_falls_to_one_that_holds_no_place_where_no_elite_meets_the_constraints() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.propose("b", 5.0)
    assert (story.best, story.names()) == ("b", ["b"])
    story.measure("b", 5.0, violation=0.1)
    assert (story.best, story.names()) == ("a", ["b"])
    story.measure("a", 1.0, violation=0.2)
    assert story.best is None


def test_a_certified_best_meets_the_constraints() -> None:
    story = Story("certifies")
    story.propose("cheat", 9.0, violation=0.5)
    assert (story.waiting(), story.next_due()) == ([], None)
    story.propose("a", 1.0, at=(1, 0))
    assert story.next_due() == ("a", "challenger")
    story.certify("a", 1.0)
    assert story.best == "a"


def test_a_rival_that_turns_out_to_miss_a_constraint_gives_way() -> None:
    story = Story("noisy")
    story.propose("a", 1.0)
    story.measure("a", 1.0)
    story.propose("b", 1.05, at=(1, 0))
    assert ("b", None) in story.waiting()
    story.measure("b", 1.05, violation=0.1)
    assert (story.best, story.waiting()) == ("a", [])


def test_an_island_sends_its_best_to_the_next_by_counts() -> None:
    story = Story(islands=3, migrate_every=2, migrants=1)
    story.propose("a", 1.0, island=2)
    story.propose("b", 2.0, at=(1, 0), island=1)
    assert story.names(0) == []
    story.propose("c", None, island=2)
    assert [story.names(island) for island in range(3)] == [["a"], ["b"], ["a"]]


def test_a_copy_is_the_same_record_in_another_role() -> None:
    story = Story(islands=2, migrate_every=1)
    story.propose("a", 1.0)
    assert [(elite.record, elite.island) for elite in story.archive.elites()] == [(1, 0), (1, 1)]


def test_migrants_claim_places_like_anybody_else() -> None:
    story = Story(islands=2, migrate_every=2, migrants=2)
    story.propose("strong", 5.0, island=1)
    story.propose("weak", 1.0)
    story.propose("other", 0.5, at=(1, 0))
    assert story.names(1) == ["strong", "other"]


def test_a_single_island_keeps_its_own() -> None:
    story = Story(islands=1, migrate_every=1)
    story.propose("a", 1.0)
    assert story.names() == ["a"]


def test_the_worse_half_starts_anew_from_the_best_of_the_others() -> None:
    story = Story(islands=4, reset_every=2)
    for island, fitness in enumerate((1.0, 4.0, 3.0, 2.0)):
        story.propose(f"elite{island}", fitness, island=island)
        if island < 3:
            story.propose(f"other{island}", 0.5, at=(1, 0), island=island)
    assert story.names(0) == ["elite0", "other0"]
    story.propose("last", None)
    assert [story.names(island) for island in range(4)] == [
        ["elite2"],
        ["elite1", "other1"],
        ["elite2", "other2"],
        ["elite1"],
    ]


def test_an_empty_archive_resets_to_nothing() -> None:
    story = Story(islands=2, reset_every=1)
    for _ in range(4):
        story.propose("x", None)
    assert story.archive.elites() == []


ranks = st.tuples(st.sampled_from([0.0, 0.5]), st.sampled_from([-2.0, -1.5, -1.0, 0.0]))
places = st.lists(st.tuples(st.integers(0, 3), ranks), max_size=25)


@given(places, st.data())
@settings(max_examples=100, deadline=None)
def test_cells_and_ranking_stay_sorted_with_the_earlier_first_among_equals(
    held: list[tuple[int, tuple[float, float]]], data: st.DataObject
) -> None:
    island = Island()
    for program in data.draw(st.permutations(range(len(held)))):
        island.put(program, *held[program])
    gone = data.draw(st.sets(st.sampled_from(range(len(held))))) if held else set()
    for program in gone:
        island.take(program, held[program][0])
    left = sorted((rank, program) for program, (_, rank) in enumerate(held) if program not in gone)
    assert island.ranking == left
    assert island.best() == (left[0][1] if left else None)
    for cell in range(4):
        assert island.cells.get(cell, []) == [entry for entry in left if held[entry[1]][0] == cell]
    assert [program for program in range(len(held)) if program in island] == sorted(program for _, program in left)


def test_the_weakest_of_a_cell_is_its_last() -> None:
    island = Island()
    for program, value in enumerate((1.0, 3.0, 2.0)):
        island.put(program, 0, (0.0, -value))
    assert island.weakest(0) == 0


def test_a_cleared_island_forgets_all_but_its_count() -> None:
    island = Island()
    island.join(3, 0)
    island.put(3, 0, (0.0, -1.0))
    island.waiting[0] = 4
    island.settled = 9
    island.clear(since=5)
    assert island.state() == {"cells": [], "waiting": [], "members": [], "settled": 9, "since": 5}
    assert island.best() is None
