"""How seldom an operator is asked that is refused again and again."""

import pytest

from evolve.campaign.folds import NOTHING_NEW, TIRED, Refusals
from evolve.types import Evaluation, Origin, Outcome, Record


def settle(refusals: Refusals, step: int, outcome: Outcome = Outcome.SCREENED, *, called: bool = False) -> None:
    """A step of `tune` is asked, and settles."""
    refusals.ask("tune", step)
    record = Record(step, Origin("proposal", step, operator="tune"), None, Evaluation.failed(outcome, f"why {step}"))
    refusals.settle(record, called=called)


def refused(times: int) -> Refusals:
    """After so many refusals, by the steps from 1 on."""
    refusals = Refusals()
    for step in range(1, times + 1):
        settle(refusals, step)
    return refusals


@pytest.mark.parametrize(("times", "wait"), [(1, 1), (TIRED - 1, 1), (TIRED, 2), (2 * TIRED, 4), (5 * TIRED, 32)])
def test_each_so_many_refusals_halve_how_often_an_operator_is_asked(times: int, wait: int) -> None:
    """It is asked by the step that comes so many after the last one that asked it."""
    refusals = refused(times)
    assert [refusals.rests("tune", times + later) for later in (wait - 1, wait)] == [wait > 1, False]
    assert not refusals.rests("other", times + 1)


@pytest.mark.parametrize("how", [{"outcome": Outcome.WRONG}, {"outcome": Outcome.CRASHED}, {"called": True}])
def test_what_is_judged_or_was_a_model_s_answer_ends_the_row(how: dict) -> None:
    refusals = refused(3 * TIRED)
    settle(refusals, 100, **how)
    assert (refusals.count("tune"), refusals.list_tired(), refusals.rests("tune", 101)) == (0, {}, False)


def test_when_the_archive_has_changed_it_is_asked_once_more() -> None:
    refusals = refused(3 * TIRED)
    refusals.renew()
    assert not refusals.rests("tune", 3 * TIRED + 1)
    settle(refusals, 3 * TIRED + 1)
    assert refusals.rests("tune", 3 * TIRED + 2)
    assert refusals.list_tired() == {"tune": f"why {3 * TIRED + 1}"}


def test_an_operator_without_work_is_hardly_asked_however_often_the_archive_changes() -> None:
    """As in a campaign that improves all the time, on a seed without numbers."""
    refusals = Refusals()
    for step in range(1, 1_500):
        refusals.renew()
        if not refusals.rests("tune", step):
            settle(refusals, step)
            refusals.settle(
                Record(step, Origin("proposal", step, operator="other"), None, Evaluation.ok(1.0)), called=False
            )
    assert refusals.count("tune") < 80


def test_when_the_archive_has_changed_at_the_end_it_is_asked_once_more() -> None:
    """As by a measurement, which settles after the last proposal was refused."""
    refusals = refused(NOTHING_NEW)
    refusals.renew()
    assert not refusals.rests("tune", NOTHING_NEW + 1)
    settle(refusals, NOTHING_NEW + 1)
    assert refusals.rests("tune", 1 << 80)


def test_it_rests_for_good_when_nothing_new_was_proposed_for_long() -> None:
    assert refused(NOTHING_NEW - 1).unheard == NOTHING_NEW - 1
    refusals = refused(NOTHING_NEW)
    assert refusals.rests("tune", 1 << 80)
    settle(refusals, NOTHING_NEW + 1, Outcome.WRONG)
    assert refusals.unheard == 0
