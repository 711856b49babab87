"""Forks: the same records under other settings, with nothing evaluated."""

from dataclasses import replace

import numpy as np
import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.campaign.fork import fork, settings_of_fork
from evolve.types import (
    Asked,
    ConfigError,
    Import,
    Insertion,
    Lesson,
    LessonWritten,
    Level,
    MachineMeasured,
    Measure,
    Opened,
    Origin,
    Propose,
    Ruled,
    SandboxError,
    Selection,
    SettingsChanged,
    Settled,
)
from tests.written import Written, number_task, short_campaign

DISTANCE = 'archive.axes=[{name="distance", low=0, high=1, bins=4}]'


@pytest.fixture
def old(tmp_path):
    """Six records, the best is 6.5."""
    with short_campaign(tmp_path) as campaign:
        yield campaign


def forked(old, *assignments, name=None, **values):
    """The fork, replayed from its log."""
    path = fork(old, settings_of_fork(old, values, assignments), old.log.path.parents[2], name)
    return Campaign.open(str(path), plugins.load(), old.log.path.parents[2])


def events(campaign, kind):
    return [stamped.event for stamped in campaign.log.events(only=kind)]


def test_a_fork_has_the_same_records_and_says_where_from(old):
    """Under another name; the old log is as it was, and the new one replays to what it says."""
    before = list(old.log.events())
    with forked(old) as new:
        assert (new.name, new.forked_from, new.state.difference) == ("number-2", "number", None)
        assert new.secret == old.secret != ""
        assert new.state.archive.state() == old.state.archive.state()
        assert new.state.progress == old.state.progress
        assert [new.log.settled(number) for number in range(1, 7)] == [old.log.settled(n) for n in range(1, 7)]
        assert [stamped.at for stamped in new.log.events()] == [stamped.at for stamped in before]
    assert list(old.log.events()) == before


def test_other_axes_cost_no_evaluation(old):
    """Every program has the same distance, so that the best of all is the one elite of each island that has any."""
    with forked(old, DISTANCE) as new:
        assert [axis.name for axis in new.state.archive.grid.axes] == ["distance"]
        assert (old.state.archive.stats().cells, new.state.archive.stats().cells) == (2, 1)
        assert new.state.archive.best.record == old.state.archive.best.record
        assert new.state.archive.best.descriptors == {"distance": 0.5}
        assert new.state.difference is None
        assert new.log.settled(3).placement.insertion is Insertion.NOT_ADDED


def test_the_axes_of_a_text_are_computed_from_it(old):
    """Where no evaluation has a number."""
    with forked(old, 'archive.axes=[{name="size_log2", low=0, high=8, bins=8}]') as new:
        assert new.state.archive.best.descriptors == {"size_log2": pytest.approx(3.17, abs=0.5)}


def test_an_axis_that_no_record_has_is_refused(old):
    """Nothing is made."""
    with pytest.raises(ConfigError, match=r"has a number for each of the axes colour\. Try: "):
        forked(old, 'archive.axes=[{name="colour", low=0, high=1, bins=4}]')
    assert [path.name for path in old.log.path.parent.glob("*.db")] == ["number.db"]


def test_records_without_a_number_for_an_axis_hold_no_place(tmp_path):
    """They stay in the history."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0, metrics={"depth": 0.3})
    with written.campaign as old, forked(old, 'archive.axes=[{name="depth", low=0, high=1, bins=4}]') as new:
        assert {elite.record for elite in new.state.archive.elites()} == {2}
        assert (len(new.state.history), new.state.difference) == (2, None)


def test_fewer_islands_take_the_programs_of_all(tmp_path):
    """Modulo their number."""
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign as old:
        with old.log.transaction():
            old.write(Asked(1, Propose(Selection("tune_literals", island=3, parents=(1,))), after=1))
            old.write(Asked(2, Import(old.task.seed.id, island=2), after=1))
            for step, kind in ((1, "proposal"), (2, "import")):
                seed = old.log.settled(1).record
                record = replace(seed, id=1 + step, origin=Origin(kind, step, island=4 - step))
                old.append(old.state.settle(record))
        with forked(old, "archive.islands=2") as new:
            islands = [event.record.origin.island for event in events(new, Settled)]
            assert islands == [0, 1, 0]
            actions = [asked.action for asked in events(new, Asked)]
            assert (actions[0].selection.island, actions[1].island) == (1, 0)
            assert new.state.difference is None


def test_steps_that_had_not_settled_are_left_out(old):
    """And their numbers are not used again where one of their children had settled."""
    with old.log.transaction():
        old.write(Asked(40, Measure(2, old.state.columns.programs[1], why="challenger"), after=6))
    assert list(old.state.steps) == [40]
    with forked(old) as new:
        assert (events(new, Asked), new.state.steps) == ([], {})
        assert new.state.last_step == 6


def test_rulings_and_lessons_stay(old):
    """They were made for the same task."""
    program = old.state.columns.programs[5]
    with old.log.transaction():
        old.write(Ruled("quarantine", program, "person", "a cheat", "00000001"))
        old.write(LessonWritten(Lesson("look near 7", "person")))
    with forked(old, DISTANCE) as new:
        assert new.state.archive.best.record == 2
        assert set(new.state.quarantined) == {program}
        assert [lesson.text for lesson in new.state.lessons] == ["look near 7"]


def test_another_strategy_is_told_everything_and_begins_with_its_own_settings(old):
    """Its operators, too."""
    with forked(old, "strategy.name=random") as new:
        assert (new.settings.strategy.settings, new.operator_names) == ({}, ("mutate_ast", "perturb_literals"))
        action = new.strategy.ask(new.view(0.0), np.random.default_rng(0))
        assert action.selection.parents[0] in (1, 2, 3, 6)


def test_a_budget_is_that_of_the_forks_own_log(old):
    """What was spent before counts; a later change of the old one's is in the fork's first event."""
    old.change({"budget": ["40programs"]})
    with forked(old) as new:
        assert (events(new, SettingsChanged), new.settings.budget) == ([], ("40programs",))
        assert new.progress.programs == 4
    with forked(old, budget=["50programs"], seed=7) as new:
        (opened,) = events(new, Opened)
        assert (opened.settings["budget"], opened.settings["seed"]) == (["50programs"], 7)


@pytest.mark.parametrize("assignment", ["task=other", "task.n=3", "parameters.n=3"])
def test_what_decides_scores_is_fixed(old, assignment):
    """Other parameters need other evaluations."""
    with pytest.raises(ConfigError, match="a fork evaluates nothing, so it keeps the task"):
        forked(old, assignment)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("archive.axes=[{name='a', low=1, high=1, bins=3}]", "low must be below high, got 1 and 1"),
        ("archive.axes=[{name='a', low=0, high=1}]", "archive.axes.0.bins"),
        (
            "archive.axes=[{name='a', low=0, high=1, bins=2}, {name='a', low=0, high=1, bins=2}]",
            "each axis has a name of its own",
        ),
        ("archive.island=3", "Did you mean 'islands'"),
        ("strategy.name=none", "no strategy is called 'none'"),
        ("operators.names=['perturb_literals', 'x']", "no operator is called 'x'"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_made(old, assignment, message):
    """As at the beginning of a campaign."""
    with pytest.raises(ConfigError, match=message):
        forked(old, assignment)
    assert [path.name for path in old.log.path.parent.glob("*.db")] == ["number.db"]


def test_a_fork_of_a_fork_is_one(old):
    """It names the campaign that it was made of."""
    with forked(old) as new, forked(new, DISTANCE) as newer:
        assert (newer.name, newer.forked_from) == ("number-2-2", "number-2")
        assert newer.state.difference is None


def test_default_axes_are_kept_where_the_task_has_none(tmp_path):
    """The task's own are empty, and so are the settings'."""
    written = Written(tmp_path, number_task(axes=()))
    written.seed(5.0)
    with written.campaign as old:
        assert old.state.archive.elites() == []
        with forked(old) as new:
            assert [axis.name for axis in new.state.archive.grid.axes] == ["size_log2", "seed_distance"]
            assert len(new.state.archive.elites()) == 4


def test_a_fork_may_go_on_at_less_isolation_than_its_campaign(tmp_path):
    """Its own runs bind it; what the old campaign has reached decides which scores are weaker."""
    written = Written(tmp_path)
    written.run_at("strict: namespaces, seccomp")
    written.seed(5.0)
    old = written.campaign
    with pytest.raises(SandboxError, match="evolve campaign fork number"):
        old.state.reached.check("number", Level.STANDARD)
    path = fork(old, settings_of_fork(old, {}, ()), tmp_path)
    with Campaign.open(str(path), plugins.load(), tmp_path, readonly=False) as new:
        new.state.reached.check(new.name, Level.STANDARD)
        with new.log.transaction():
            new.write(MachineMeasured("one core", 0.0, "standard: landlock 7, seccomp"))
    with Campaign.open(str(path), plugins.load(), tmp_path) as again:
        assert (again.state.reached.best, again.state.reached.least) == (Level.STRICT, Level.STANDARD)
    old.close()


def test_a_folder_of_templates_is_read_when_the_fork_is_made(old, tmp_path):
    """As it is for a new campaign."""
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "lessons.md").write_text("## Mind this\n\n{{items}}\n")
    with forked(old, f"prompts.folder={folder}") as new:
        assert new.settings.prompts.folder == ""
        assert new.settings.prompts.templates["lessons"].startswith("## Mind this")
