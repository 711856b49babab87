"""Facts about what is measured next."""

from collections.abc import Sequence

import pytest

from evolve.archive.agenda import GIVE_UP, REFRESH, SMALL, TITLE, Agenda, Entry


def itself(entry: Entry) -> Sequence[int]:
    return (entry.program,)


def programs_in_order(agenda: Agenda) -> list[int]:
    found = []
    while (one := agenda.next(itself)) is not None:
        found.append(one[1])
        agenda.asked(one[1])
    return found


def test_the_title_comes_first_then_the_largest_value() -> None:
    agenda = Agenda()
    for value, program, what in ((1.0, 1, 0), (9.0, 2, 3), (5.0, 3, REFRESH), (0.2, 4, TITLE)):
        agenda.push((0.0, -value), program, what)
    assert programs_in_order(agenda) == [4, 2, 3, 1]


def test_who_meets_the_constraints_is_measured_before_who_does_not() -> None:
    agenda = Agenda()
    for missed, value, program in ((0.5, 9.0, 1), (0.0, 1.0, 2), (0.1, 5.0, 3)):
        agenda.push((missed, -value), program, 0)
    assert programs_in_order(agenda) == [2, 3, 1]


def test_looking_changes_nothing() -> None:
    agenda = Agenda()
    agenda.push((0.0, -1.0), 7, 0)
    assert agenda.next(itself) == agenda.next(itself)


def test_what_is_in_flight_is_not_due() -> None:
    agenda = Agenda()
    agenda.push((0.0, -1.0), 7, 0)
    agenda.asked(7)
    assert agenda.next(itself) is None


def test_several_may_be_in_flight_for_one_program() -> None:
    agenda = Agenda()
    agenda.asked(7)
    agenda.asked(7)
    agenda.ended(7, measured=True)
    assert agenda.in_flight == {7: 1}
    agenda.ended(7, measured=True)
    assert agenda.in_flight == {}


def test_what_settles_without_having_been_asked_for_is_no_error() -> None:
    agenda = Agenda()
    agenda.ended(7, measured=True)
    assert agenda.in_flight == {}


def test_an_entry_that_counts_no_more_is_passed_over() -> None:
    agenda = Agenda()
    agenda.push((0.0, -2.0), 7, 0)
    agenda.push((0.0, -1.0), 8, 0)
    found = agenda.next(lambda entry: () if entry.program == 7 else (entry.program,))
    assert found is not None
    assert found[1] == 8


def test_a_program_that_the_machinery_fails_again_and_again_is_given_up() -> None:
    agenda = Agenda()
    for _ in range(GIVE_UP):
        assert not agenda.given_up(7)
        agenda.ended(7, measured=False)
    agenda.push((0.0, -1.0), 7, 0)
    assert agenda.given_up(7)
    assert agenda.next(itself) is None
    agenda.ended(7, measured=True)
    assert not agenda.given_up(7)


def test_a_measurement_pays_a_refresh() -> None:
    agenda = Agenda()
    agenda.refreshes.add(7)
    agenda.ended(7, measured=False)
    assert agenda.refreshes == {7}
    agenda.ended(7, measured=True)
    assert agenda.refreshes == set()


@pytest.mark.parametrize("alive", [0, 1, SMALL])
def test_what_counts_no_more_does_not_pile_up(alive: int) -> None:
    agenda = Agenda()
    for program in range(10 * SMALL):
        agenda.push((0.0, -program), program, 0)
        agenda.next(lambda entry: (entry.program,) if entry.program < alive else ())
    assert len(agenda._heap) <= 2 * max(SMALL, alive) + 1
