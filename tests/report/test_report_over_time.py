"""Yields as a campaign went on."""

from pathlib import Path

from evolve import report
from evolve.report import Yield
from evolve.types import Call, Outcome
from tests.written import Written


def test_slices_hold_all_records_with_what_each_brought(tmp_path: Path) -> None:
    """Programs, calls and yields are those of the slice alone."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.called(Call("alpha", prompt_tokens=10, completion_tokens=1, cost=0.5))
    written.proposal(4.0, operator="diff", model="alpha")
    written.failure(Outcome.SCREENED, "duplicate")
    written.reflection("alpha", "a lesson")
    with written.campaign as campaign:
        first, second, third = report.slices(campaign, 3, least=1)
        assert [(one.first, one.last, one.programs) for one in (first, second, third)] == [
            (1, 2, 1),
            (3, 4, 1),
            (5, 5, 0),
        ]
        assert [(one.calls, one.tokens, one.money) for one in (first, second, third)] == [
            (0, 0, 0.0),
            (1, 11, 0.5),
            (0, 0, 0.0),
        ]
        assert first.operators == (Yield("tune_literals", 1, 1, 1),)
        assert second.operators == (Yield("diff", 1, 1, 0), Yield("tune_literals", 1, 0, 0))
        assert second.models == (Yield("alpha", 1, 1, 0),)
        assert (third.operators, third.models) == ((), ())
        assert third.seconds == campaign.log.active_of([5])[5]
        assert len(report.slices(campaign, least=1)) == 5


def test_a_slice_has_some_tens_of_records(tmp_path: Path) -> None:
    """Of fewer records, whatever is a share jumps; the last slice is no smaller than the others."""
    written = Written(tmp_path)
    written.seed(5.0)
    for number in range(1, 100):
        written.proposal(5.0 + number % 7, parents=(number,), number=number)
    with written.campaign as campaign:
        assert [(one.first, one.last) for one in report.slices(campaign)] == [(1, 34), (35, 67), (68, 100)]
        assert len(report.slices(campaign, least=1)) == 50


def test_slices_together_say_what_the_tally_says(tmp_path: Path) -> None:
    """Each proposal is counted once."""
    written = Written(tmp_path)
    written.seed(5.0)
    for number in range(1, 23):
        written.proposal(5.0 + number % 7, parents=(number,), number=number, operator=("one", "two")[number % 2])
    with written.campaign as campaign:
        found = [line for one in report.slices(campaign, 4, least=1) for line in one.operators]
        for total in report.Tally.of(campaign.state.history).yields():
            mine = [line for line in found if line.name == total.name]
            assert sum(line.proposals for line in mine) == total.proposals
            assert sum(line.improved for line in mine) == total.improved > 0


def test_a_campaign_without_records_has_no_slices(tmp_path: Path) -> None:
    """None at all."""
    with Written(tmp_path).campaign as campaign:
        assert report.slices(campaign) == ()
