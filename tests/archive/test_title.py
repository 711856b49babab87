"""Facts about who is the best of all."""

from archive_makers import Story

from evolve.archive.agenda import GIVE_UP
from evolve.archive.contests import RESTED
from evolve.types import Outcome


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
