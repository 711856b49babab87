"""Commands that steer a campaign, and an engine that is asked, killed at a commit: what was asked is done once, and nothing is lost."""

import shutil
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

import crash_engine
import pytest
from test_crash import _ENGINES, Death, Place, ended

from evolve.campaign.inbox import Add, Configure, Hint, Inbox, Request, Ruling
from evolve.log import Log
from evolve.types import Asked, Import, LessonWritten, Paused, Ruled, SettingsChanged, Settled, TaskChanged

pytestmark = pytest.mark.integration

BUDGET = 16
MINE = "def value():\n    return [6.5, 6.5]\n"


def new_place(folder: Path) -> Place:
    """A campaign that has ended, on a task of its own."""
    place = Place(folder / "place", crash_engine.write_task(folder / "task", noisy=False))
    assert ended(place.start(budget=BUDGET)) == 0
    return place


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """One that nobody changes."""
    return new_place(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def place(tmp_path: Path, finished: Place) -> Place:
    """A copy of it, on the same task."""
    copy = Place(tmp_path / "place", finished.task)
    shutil.copytree(finished.folder / "archive", copy.folder / "archive")
    return copy


def run(place: Place, *words: object, death: Death | None = None) -> int | None:
    """A command in a process of its own; its exit code."""
    arguments = (place.folder, [str(word) for word in words], death)
    process = _ENGINES.Process(target=crash_engine.command, args=arguments)
    process.start()
    return ended(process)


def killed(place: Place, death: Death, *words: object) -> None:
    """The command kills itself there, and leaves no process behind."""
    assert run(place, *words, death=death) == -signal.SIGKILL
    place.assert_gone()


def events(place: Place, kind):
    with Log.open(place.log_path, readonly=True) as log:
        return [stamped.event for stamped in log.events(only=kind)]


def assert_replays(place: Place) -> None:
    """The log means what it says, and nothing is left to do."""
    with closing(place.opened()) as campaign:
        assert (campaign.state.difference, campaign.state.steps) == (None, {})
    assert list(place.log_path.parent.glob("*.inbox/*.json")) == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_ruling_whose_command_is_killed_is_made_once(place, when):
    """By the next command, which finds it in the inbox."""
    killed(place, (when, 1), "program", "quarantine", "task/2")
    assert len(events(place, Ruled)) == (when == "after")
    assert run(place, "campaign", "hint", "task", "later") == 0
    assert [ruling.what for ruling in events(place, Ruled)] == ["quarantine"]
    assert_replays(place)


@pytest.mark.parametrize("death", [("before", 1), ("after", 1), ("before", 3), ("after", 3)])
def test_a_program_whose_command_is_killed_is_judged_once(place, tmp_path, monkeypatch, death):
    """By the next run. Commit 1 asks for it, 2 tells the machine, 3 holds the record."""
    (tmp_path / "mine.py").write_text(MINE)
    killed(place, death, "program", "add", tmp_path / "mine.py")
    place.go_on(monkeypatch)
    imports = [event.record for event in events(place, Settled) if event.record.origin.kind == "import"]
    assert len(imports) == 1
    assert len([asked for asked in events(place, Asked) if isinstance(asked.action, Import)]) == 1
    assert_replays(place)


@pytest.mark.parametrize(("when", "commit"), [("before", 2), ("after", 2)])
def test_requests_that_a_killed_engine_has_taken_are_done_once(place, monkeypatch, when, commit):
    """Commit 1 tells the machine, 2 is the first turn, which takes what lies in the inbox."""
    wishes = (Ruling("quarantine", 2), Hint("once"), Add({"seed.py": MINE}))
    for number, wish in enumerate(wishes, 1):
        Inbox(place.log_path).put(Request(f"{number:08x}", wish), float(number))
    engine = place.start((when, commit))
    assert ended(engine) == -signal.SIGKILL
    assert len(events(place, LessonWritten)) == (when == "after")
    place.go_on(monkeypatch)
    assert (len(events(place, Ruled)), len(events(place, LessonWritten))) == (1, 1)
    assert [event.record.origin.kind for event in events(place, Settled)].count("import") == 1
    assert [Inbox(place.log_path).take_answer(f"{number:08x}").accepted for number in (1, 2, 3)] == [True] * 3
    assert_replays(place)


@pytest.mark.parametrize("when", ["before", "after"])
def test_other_settings_that_a_killed_engine_has_taken_hold_once(place, monkeypatch, when):
    """By the run that was killed or by the next; the log replays to the same."""
    Inbox(place.log_path).put(Request("00000001", Configure(("budget=['20programs']", "workers=3"))), 1.0)
    assert ended(place.start((when, 2))) == -signal.SIGKILL
    assert len(events(place, SettingsChanged)) == (when == "after")
    place.go_on(monkeypatch)
    (change,) = events(place, SettingsChanged)
    assert (sorted(change.changes), change.request) == (["budget", "workers"], "00000001")
    assert Inbox(place.log_path).take_answer("00000001").accepted
    with closing(place.opened()) as campaign:
        assert (campaign.settings.workers, campaign.state.progress.programs) == (3, 20)
    assert_replays(place)


def test_other_settings_whose_command_is_killed_are_taken_once(place):
    """By the next command."""
    killed(place, ("before", 1), "campaign", "config", "task", "--set", "workers=3")
    assert run(place, "campaign", "hint", "task", "later") == 0
    assert [event.changes for event in events(place, SettingsChanged)] == [{"workers": 3}]
    assert_replays(place)


def test_a_run_that_is_killed_while_it_is_paused_goes_on(place, monkeypatch):
    """A pause is of one run; the log says when it ended."""
    assert run(place, "campaign", "config", "task", "--set", "budget=['24programs']") == 0
    engine = place.start()
    try:
        while run(place, "campaign", "pause", "task") != 0 or not events(place, Paused):
            pass
    finally:
        engine.kill()
    assert ended(engine) == -signal.SIGKILL
    place.go_on(monkeypatch)
    assert [event.paused for event in events(place, Paused)] == [True, False]
    with closing(place.opened()) as campaign:
        assert campaign.state.progress.programs == 24
    assert_replays(place)


@pytest.mark.parametrize(
    "death",
    [
        ("before", 1),
        pytest.param(("after", 1), marks=pytest.mark.slow),
        ("after", 3),
        pytest.param(("before", 5), marks=pytest.mark.slow),
    ],
)
def test_a_rejudging_that_is_killed_goes_on_with_what_is_missing(tmp_path, death):
    """Commit 1 changes the task and asks for all elites, 2 tells the machine, 3 is the first turn."""
    place = new_place(tmp_path)
    evaluator = place.task / "evaluator.py"
    evaluator.write_text(evaluator.read_text().replace("7.0", "6.0"))
    before = len(events(place, Settled))
    killed(place, death, "campaign", "rejudge")
    assert run(place, "campaign", "rejudge") == 0
    assert len(events(place, TaskChanged)) == 1
    records = [event.record for event in events(place, Settled)][before:]
    evaluated = Counter(record.program for record in records if not record.evaluation.certified)
    assert set(evaluated.values()) == {1}
    assert [record.origin.kind for record in records].count("seed") == 1
    with closing(place.opened()) as campaign:
        programs = campaign.state.columns.programs
        assert {programs[record - 1] for record in campaign.state.former} <= evaluated.keys()
    assert_replays(place)
