"""A campaign with real judges, killed at any instant: nothing that had settled is lost, nothing is done twice, and going on ends as if
nothing had happened."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import crash_engine
import pytest

import evolve.task
from evolve import plugins
from evolve.campaign import Campaign
from evolve.store import Log
from evolve.types import Asked, Settled, Stamped, StoreError, canonical
from evolve.types.codec import encode

BUDGET = 40
SECONDS_TO_BE_GONE = 10
PATIENCE = 60
ENGINE = Path(crash_engine.__file__)
ROOT = ENGINE.parent.parent


class Place:
    """The folder of one campaign, and what can be read there while no engine writes."""

    def __init__(self, folder: Path, task: Path) -> None:
        self.folder, self.task = folder, task
        self.scratch = folder / "scratch"
        self.scratch.mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        """Of every process of this place: its temporary folder tells whose it is."""
        paths = os.pathsep.join([str(ROOT), str(ENGINE.parent)])
        own = {"TMPDIR": str(self.scratch), "EVOLVE_HOME": str(self.folder), "PYTHONPATH": paths}
        return {**os.environ, **own}

    def start(self, *words: object, budget: int | str = BUDGET) -> "subprocess.Popen[bytes]":
        """A new campaign in a process of its own; it may kill itself."""
        command = [sys.executable, str(ENGINE), str(self.folder), str(self.task), f"{budget}programs"]
        return subprocess.Popen([*command, *map(str, words)], env=self.environment, stdout=subprocess.DEVNULL)

    def killed(self, *words: object) -> "Remains":
        """What is left of a campaign that killed itself."""
        with self.start(*words) as engine:
            assert engine.wait(PATIENCE) == -signal.SIGKILL
        return self.remains()

    def go_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Runs the campaign to its end in this process."""
        monkeypatch.setenv("TMPDIR", str(self.scratch))
        crash_engine.go_on(self.folder)

    def remains(self) -> "Remains":
        """Once every process is gone: the log and the lists."""
        self.assert_gone()
        with closing(Log.open(self.log_path, readonly=True)) as log:
            events = tuple(log.events())
        return Remains(events, self.lines("seen"), self.lines("submitted"), self.lines("judged"))

    @property
    def log_path(self) -> Path:
        """The campaign's log."""
        return self.folder / "archive" / "campaigns" / f"{self.task.name}.db"

    def lines(self, name: str) -> tuple[str, ...]:
        """One of the lists."""
        path = self.folder / name
        return tuple(path.read_text().splitlines()) if path.exists() else ()

    def opened(self) -> Campaign:
        """The campaign, replayed, to be read."""
        return Campaign.open(str(self.log_path), plugins.load(), self.folder)

    def assert_gone(self) -> None:
        """No process of this place is left, and none of their files."""
        assert waited(lambda: not processes(self.scratch)), [command_line(pid) for pid in processes(self.scratch)]
        assert list(self.scratch.iterdir()) == []


@dataclass(frozen=True)
class Remains:
    """The log's events and the lists of a place, at one time."""

    events: Sequence[Stamped]
    seen: Sequence[str]
    submitted: Sequence[str]
    judged: Sequence[str]

    @property
    def settled(self) -> list[Settled]:
        """The settled events in their order."""
        return [stamped.event for stamped in self.events if isinstance(stamped.event, Settled)]

    @property
    def jobs(self) -> list[tuple[str, str]]:
        """Job and program of everything that was submitted."""
        return [(job, program) for job, program in (line.split() for line in self.submitted)]

    @property
    def searched(self) -> list[str]:
        """The programs that were judged as seed or as proposals."""
        return [line.split()[1] for line in self.judged if line.startswith("search ")]


def job_of(event: Settled) -> str:
    """The name of the job that a record settles."""
    return f"{event.record.origin.step}.{event.record.origin.index}"


def waited(condition) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + SECONDS_TO_BE_GONE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def processes(scratch: Path) -> list[int]:
    """The processes that live on this temporary folder: judges, templates, candidates and whatever they have hidden. Not this one."""
    mark = f"TMPDIR={scratch}".encode()
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if pid != os.getpid() and mark in content(pid, "environ")]


def content(pid: int, name: str) -> bytes:
    """What the system says of a process; nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def command_line(pid: int) -> str:
    """For the message."""
    return f"{pid}: {content(pid, 'cmdline').replace(bytes(1), b' ').decode(errors='replace')[:200]}"


def assert_whole(place: Place, before: Remains, budget: int = BUDGET) -> None:
    """Nothing lost, nothing twice, nothing settled done again, and the log replays to the same."""
    after = place.remains()
    assert list(after.events[: len(before.events)]) == list(before.events)
    assert set(after.seen) <= {canonical(encode(event)) for event in after.settled}
    settled = [job_of(event) for event in after.settled]
    assert len(set(settled)) == len(settled)
    assert [event.record.id for event in after.settled] == list(range(1, len(settled) + 1))
    assert_nothing_done_again(before, after)
    with closing(place.opened()) as campaign:
        assert campaign.state.difference is None
        assert (campaign.state.progress.programs, len(campaign.state.steps)) == (budget, 0)


def assert_nothing_done_again(before: Remains, after: Remains) -> None:
    """What had settled is neither submitted nor judged once more, and an unfinished job is the same job as before."""
    new_jobs = after.jobs[len(before.jobs) :]
    assert {job for job, _ in new_jobs} & {job_of(event) for event in before.settled} == set()
    programs = {event.record.program for event in before.settled}
    assert set(after.searched[len(before.searched) :]) & programs == set()
    asked = [stamped.event.step for stamped in after.events if isinstance(stamped.event, Asked)]
    assert asked == list(range(1, len(asked) + 1))
    submitted: dict[str, str] = {}
    for job, program in after.jobs:
        assert submitted.setdefault(job, program) == program


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A task with certificates and one with noise."""
    folder = tmp_path_factory.mktemp("tasks")
    return {name: crash_engine.write_task(folder / name, noisy=name == "noisy") for name in ("certified", "noisy")}


@pytest.fixture
def place(tmp_path: Path, tasks: dict[str, Path]) -> Place:
    """For a campaign on the task with certificates."""
    return Place(tmp_path / "place", tasks["certified"])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, tasks: dict[str, Path]) -> str:
    """The digest of a deterministic campaign that nobody killed."""
    place = Place(tmp_path_factory.mktemp("undisturbed") / "place", tasks["certified"])
    with place.start("deterministic") as engine:
        assert engine.wait(PATIENCE) == 0
    with closing(place.opened()) as campaign:
        return campaign.digest()


@pytest.mark.parametrize(
    ("task", "when", "commit"),
    [
        ("certified", "after", 1),
        ("certified", "before", 3),
        ("certified", "after", 3),
        ("certified", "after", 30),
        ("noisy", "before", 5),
        ("noisy", "after", 25),
    ],
)
def test_a_campaign_that_is_killed_at_a_commit_goes_on(tmp_path, tasks, monkeypatch, task, when, commit):
    """Commit 1 is the campaign's own, 2 the run's, 3 the first to hold a record."""
    place = Place(tmp_path / "place", tasks[task])
    before = place.killed(when, commit)
    place.go_on(monkeypatch)
    assert_whole(place, before)


@pytest.mark.parametrize(("when", "commit"), [("before", 4), ("after", 31)])
def test_a_killed_deterministic_campaign_is_equal_to_an_undisturbed_one(place, undisturbed, monkeypatch, when, commit):
    """But for the second run's machine."""
    before = place.killed("deterministic", when, commit)
    place.go_on(monkeypatch)
    assert_whole(place, before)
    with closing(place.opened()) as campaign:
        assert campaign.digest() == undisturbed


def test_a_campaign_that_is_killed_before_its_first_commit_says_so(place):
    """There is nothing to lose, and nothing to go on with."""
    assert place.killed("before", 1).events == ()
    with pytest.raises(StoreError, match="it has no first event. Do: remove it"):
        crash_engine.go_on(place.folder)


@pytest.mark.parametrize("instant", range(2))
def test_a_campaign_that_is_killed_at_a_random_instant_goes_on(place, monkeypatch, instant):
    """Once something has settled."""
    kill_at_random(place, random.Random(instant))
    before = place.remains()
    assert before.settled
    place.go_on(monkeypatch)
    assert_whole(place, before)


def kill_at_random(place: Place, rng: random.Random, seconds: float = 0.5, budget: int = BUDGET) -> None:
    """Kills the engine within so many seconds after its first record; one that was faster is over, which is as well."""
    with place.start(budget=budget) as engine:
        while not place.lines("seen") and engine.poll() is None:
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, seconds))
        engine.kill()
