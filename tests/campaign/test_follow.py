"""A campaign that is open for reading takes what its writer has appended since."""

from pathlib import Path

import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.types import Call, Outcome, Paused
from tests.written import Written, short_campaign


def reading(home: Path) -> Campaign:
    """The campaign as somebody else opens it."""
    return Campaign.open("number", plugins.load(), home)


def columns(campaign: Campaign) -> dict[str, str]:
    """As texts, for a fitness that is none equals no other."""
    found = vars(campaign.state.columns)
    return {name: str(dict(column) if isinstance(column, dict) else column) for name, column in found.items()}


def same(followed: Campaign, fresh: Campaign) -> None:
    """Nothing that two open campaigns know tells them apart."""
    assert followed.events == fresh.events
    assert followed.settings == fresh.settings
    assert followed.operator_names == fresh.operator_names
    assert followed.budget == fresh.budget
    assert followed.state.progress == fresh.state.progress
    assert followed.state.archive.state() == fresh.state.archive.state()
    assert columns(followed) == columns(fresh)
    assert list(followed.state.calls.totals()) == list(fresh.state.calls.totals())
    assert followed.ensemble.shares() == fresh.ensemble.shares()
    assert followed.digest() == fresh.digest()


def test_nothing_new_is_no_event(tmp_path: Path) -> None:
    """And changes nothing."""
    short_campaign(tmp_path).close()
    with reading(tmp_path) as followed:
        assert followed.follow() == 0
        assert len(followed.state.history) == 6


def test_what_was_appended_since_is_folded(tmp_path: Path) -> None:
    """It is then the same as a campaign that was opened now."""
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign, reading(tmp_path) as followed:
        written.called(Call("alpha", prompt_tokens=10, completion_tokens=2, cost=0.5))
        written.proposal(7.0, operator="diff", model="alpha")
        written.failure(Outcome.CRASHED, "no")
        written.again(2, 7.5)
        assert followed.follow() == 5
        assert followed.follow() == 0
        with reading(tmp_path) as fresh:
            same(followed, fresh)
        best = followed.state.archive.best
        assert best is not None
        assert best.record == 2


def test_a_changed_budget_is_followed(tmp_path: Path) -> None:
    """Without a new beginning."""
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign, reading(tmp_path) as followed:
        state = followed.state
        written.campaign.change({"budget": ["90programs"], "workers": 3})
        written.proposal(8.0)
        assert followed.follow() == 2
        assert (str(followed.budget), followed.settings.workers, followed.state is state) == ("90programs", 3, True)
        with reading(tmp_path) as fresh:
            same(followed, fresh)


def test_other_changes_are_folded_as_if_they_had_always_been(tmp_path: Path) -> None:
    """As a campaign does that is opened after them."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    member = {"name": "alpha", "kind": "mailbox", "settings": {"folder": str(tmp_path / "mail")}}
    with written.campaign, reading(tmp_path) as followed:
        written.campaign.change({"models": {"members": [member]}})
        written.proposal(8.0)
        assert followed.follow() == 2
        assert len(followed.state.history) == 3
        with reading(tmp_path) as fresh:
            same(followed, fresh)


@pytest.mark.parametrize(
    "changes",
    [
        {"confirm": {"share": 0.5}, "lessons": {"every": 0}, "outage": {"wait_seconds": 5.0}},
        {"models": {"floor": 0.1}},
    ],
)
def test_other_settings_and_a_pause_are_followed(tmp_path: Path, changes: dict[str, object]) -> None:
    written = Written(tmp_path)
    written.seed()
    with written.campaign, reading(tmp_path) as followed:
        written.campaign.change(changes)
        with written.campaign.log.transaction():
            written.campaign.write(Paused(True, "00000001"))
        written.proposal(6.0)
        followed.follow()
        assert followed.state.paused
        with reading(tmp_path) as fresh:
            same(followed, fresh)
