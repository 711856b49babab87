"""What a campaign keeps of its settings and its time, however often it is opened."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from evolve import plugins
from evolve.campaign import Campaign, stream
from evolve.campaign.campaign import Clock
from evolve.campaign.digest import without_circumstances
from evolve.stop import Until
from evolve.types import Call, ConfigError, Opened, Replied, SettingsChanged, TaskChanged, Wait
from tests.written import Written, aiming_campaign, number_task, short_campaign

DAY = 86400.0


def opened(home: Path, name: str = "number") -> Campaign:
    """The campaign as a later run finds it."""
    return Campaign.open(name, plugins.load(), home)


def moment(campaign: Campaign) -> Until:
    """The moment at which its budget ends."""
    budget = campaign.budget
    assert isinstance(budget, Until)
    return budget


def test_a_time_of_the_day_is_one_moment_for_the_whole_life_of_a_campaign(tmp_path: Path) -> None:
    """It is stored with its date, and shown as it was written; its share does not begin anew at a later run."""
    with Written(tmp_path, budget=["until=07:30", "9programs"]).campaign as campaign:
        (stored, programs), first = campaign.settings.budget, campaign.budget
    assert programs == "9programs"
    at = datetime.fromisoformat(stored.removeprefix("until="))
    assert (at.astimezone().strftime("%H:%M"), at.utcoffset() is not None) == ("07:30", True)
    with opened(tmp_path) as again:
        assert (again.budget, str(again.budget)) == (again.budget, "until=07:30 | 9programs")
        assert [leaf.at for leaf in again.budget.leaves() if isinstance(leaf, Until)] == [at.timestamp()]
    assert str(first) == "until=07:30 | 9programs"


def test_a_moment_that_has_passed_is_spent_and_no_error(tmp_path: Path) -> None:
    """A campaign can be opened after its end; its share is counted from when the budget was decided."""
    with Written(tmp_path, budget=["until=07:30"]).campaign as campaign:
        since = moment(campaign).since
    with opened(tmp_path) as again:
        budget = moment(again)
        assert budget.since == next(again.log.events()).at
        assert since <= budget.at <= since + DAY
        assert budget.spent(again.state.progress, None, budget.at)


def test_a_changed_budget_is_dated_when_it_is_changed(tmp_path: Path) -> None:
    """And the change is what counts from then on."""
    with Written(tmp_path).campaign as campaign:
        campaign.change({"budget": ["until=23:59"]})
        decided = moment(campaign)
    with opened(tmp_path) as again:
        assert moment(again) == decided
        (change,) = again.log.events(only=SettingsChanged)
        assert change.at == decided.since
        assert change.event.changes["budget"][0].startswith("until=20")


def test_the_seconds_that_a_strategy_sees_are_those_of_the_last_event(tmp_path: Path) -> None:
    """Live as replayed."""
    with short_campaign(tmp_path) as campaign:
        live = campaign.view(0.0).progress
        *_, last = campaign.log.events()
    assert live.seconds == last.active > 0.0
    with opened(tmp_path) as again:
        assert again.view(0.0).progress == live


def test_a_strategy_of_a_deterministic_campaign_sees_no_seconds(tmp_path: Path) -> None:
    """Two runs could not decide alike."""
    with Written(tmp_path, deterministic=True).campaign as campaign:
        assert (campaign.view(0.0).progress.seconds, campaign.state.progress.seconds > 0) == (0.0, True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"folder": "/here/number"}, {"folder": "/elsewhere/number"}),
        ({"python": "/here/python"}, {"python": "/elsewhere/python"}),
    ],
)
def test_a_digest_does_not_depend_on_where_the_task_lies(
    tmp_path: Path, first: Mapping[str, str], second: Mapping[str, str]
) -> None:
    """Nor on how it was called."""
    one = digest_of(Written(tmp_path, number_task(**first), name="one", task="number", workers=1))
    two = digest_of(Written(tmp_path, number_task(**second), name="two", task="./number", workers=2))
    assert one == two


def test_a_new_campaign_has_the_task_as_every_later_run_has_it(tmp_path: Path) -> None:
    """Its parameters in the same order, too: a prompt that shows them is the same after a restart, and so is what was answered to it."""
    task = number_task(parameters={"seeds": 5, "limit": 1.0, "n": 26})
    with Written(tmp_path, task).campaign as campaign:
        first = list(campaign.task.parameters.items())
    with Campaign.open("number", plugins.load(()), tmp_path) as again:
        assert list(again.task.parameters.items()) == first


@pytest.mark.parametrize("name", ["seconds", "device", "environment", "isolation", "name", "budget"])
def test_a_digest_holds_every_number_that_the_task_gave(tmp_path: Path, name: str) -> None:
    """Also one that is called like a circumstance."""
    digests = set()
    for value in (1.0, 2.0):
        written = Written(tmp_path, name=f"of-{value:g}")
        written.seed()
        written.proposal(6.0, metrics={name: value})
        digests.add(digest_of(written))
    assert len(digests) == 2


def test_a_digest_holds_no_time_and_no_machine(tmp_path: Path) -> None:
    """Of the records."""
    digests = set()
    for seconds, machine in ((0.1, "one"), (0.2, "two")):
        written = Written(tmp_path, name=machine)
        written.seed()
        written.proposal(6.0, seconds=seconds, cpu_seconds=seconds, environment=machine, isolation=machine)
        digests.add(digest_of(written))
    assert len(digests) == 1


def digest_of(written: Written) -> str:
    """The digest of a campaign, which is closed."""
    with written.campaign as campaign:
        return campaign.digest()


def test_what_two_runs_differ_in_is_no_part_of_an_event() -> None:
    """Names, places, times: of the first event, of a task that changed, of a request and of a call."""
    opened = Opened(
        "one",
        "./number",
        "v1",
        "text",
        {"task": "./number", "seed": 3},
        {"evolve": "1"},
        forked_from="two",
        secret="1f2e",
    )
    assert without_circumstances(opened) == Opened("", "", "v1", "", {"seed": 3})
    assert without_circumstances(TaskChanged("v2", "text")) == TaskChanged("v2", "")
    assert without_circumstances(Replied(1, 0, Call("model", seconds=3.0))) == Replied(1, 0, Call("model"))
    assert without_circumstances(SettingsChanged({"budget": ["5s"]})) is None


def test_another_version_of_the_task_has_another_digest(tmp_path: Path) -> None:
    """Its files are what counts."""
    one = digest_of(Written(tmp_path, name="one"))
    two = digest_of(Written(tmp_path, number_task(version="f" * 64), name="two"))
    assert one != two


def test_two_budgets_that_count_the_same_are_refused(tmp_path: Path) -> None:
    """Before a log is made."""
    with pytest.raises(ConfigError, match="two budgets count seconds, got '5s' and '1m'"):
        Written(tmp_path, budget=["5s", "60programs", "1m"])
    assert not (tmp_path / "archive").exists()


def test_the_first_event_is_stamped_with_the_moment_that_its_budget_was_dated_at(tmp_path: Path) -> None:
    """So that a moment is never past when it was decided."""
    with Written(tmp_path, budget=["until=12:00"]).campaign as campaign:
        first = next(campaign.log.events())
        assert isinstance(first.event, Opened)
        assert replace(moment(campaign), since=first.at).at > first.at


def test_what_is_judged_again_first_are_the_elites_and_the_front(tmp_path: Path) -> None:
    """Who meets the constraints first; records 3 and 4 are on the front and hold no place."""
    with aiming_campaign(tmp_path) as campaign:
        assert {elite.record for elite in campaign.state.archive.elites()} == {1, 2, 5, 6}
        assert campaign.state.elites() == [2, 3, 4, 5, 1, 6]


def test_other_models_are_drawn_from_at_once_and_know_what_the_log_tells_of_them(tmp_path: Path) -> None:
    """As they are when the campaign is opened again."""
    old, new = ({"members": [{"name": name, "settings": {}} for name in names]} for names in ("ab", "abc"))
    written = Written(tmp_path, models=old)
    with written.campaign as campaign:
        written.seed()
        for record in range(1, 9):
            fitness, model = (5.0, "a") if record % 2 else (5.0 + record, "b")
            written.proposal(fitness, parents=(record,), number=record, operator="diff", model=model)
        campaign.change({"models": new})
        changed = campaign.ensemble.shares()
    assert changed.keys() == {"a", "b", "c"}
    assert len(set(changed.values())) == 3
    with opened(tmp_path) as again:
        assert again.ensemble.shares() == changed


def test_a_campaign_that_is_cut_off_while_it_is_made_leaves_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C at any moment before the first event is kept: the name is free."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr("evolve.log.log._event_row", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Written(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["secret"]
    with Written(tmp_path).campaign as campaign:
        assert campaign.name == "number"


def test_the_seconds_of_a_campaign_that_is_read_are_those_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it stays open: nothing runs."""
    short_campaign(tmp_path, "short").close()
    with opened(tmp_path, "short") as campaign:
        last = list(campaign.log.events())[-1].active
        monkeypatch.setattr("evolve.campaign.campaign.time.monotonic", lambda: 1e9)
        assert (campaign.seconds, campaign.progress.seconds) == (last, last)


@pytest.mark.parametrize("missing", ["strategies", "operators"])
def test_reading_a_campaign_needs_none_of_its_packages(tmp_path: Path, missing: str) -> None:
    """To go on needs them."""
    with Written(tmp_path, number_task(), operators={"names": ["perturb_literals"]}).campaign as campaign:
        digest, name = campaign.digest(), campaign.name
    loaded = plugins.load()
    left = {key: entry for key, entry in getattr(loaded, missing).items() if key not in ("islands", "perturb_literals")}
    lacking = replace(loaded, **{missing: left})
    with Campaign.open(name, lacking, tmp_path) as campaign:
        assert campaign.digest() == digest
        assert campaign.strategy.ask(campaign.view(0.0), stream(0, 0, "ask")) == Wait()
    with pytest.raises(ConfigError, match=r"^no (strategy|operator) is called '(islands|perturb_literals)'"):
        Campaign.open(name, lacking, tmp_path, readonly=False)


def test_a_clock_that_rests_stands_still_and_goes_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """To rest twice, or to wake what is awake, changes nothing."""
    now = 100.0
    monkeypatch.setattr("evolve.campaign.campaign.time.monotonic", lambda: now)
    clock = Clock(7.0)
    told = []
    for later, act in ((3.0, clock.wake), (1.0, clock.rest), (5.0, clock.rest), (5.0, clock.wake), (2.0, clock.wake)):
        now += later
        act()
        told.append(clock.seconds)
    assert told == [10.0, 11.0, 11.0, 11.0, 13.0]
