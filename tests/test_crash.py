"""A campaign with real judges, killed at any instant: nothing that had settled is lost, nothing is done twice, and going on ends as if
nothing had happened."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import crash_engine
import pytest
from killing import kill_some, order

from evolve import plugins
from evolve.campaign import Campaign
from evolve.log import Log
from evolve.types import Asked, Opened, Outcome, Program, Settled, Stamped, StoreError, canonical
from evolve.types.codec import encode

pytestmark = pytest.mark.integration

BUDGET = 24
SECONDS_TO_BE_GONE = 10
PATIENCE = 60
ROOT = Path(__file__).parent.parent
Death = tuple[str, int]
"""`before` or `after`, and the number of a commit."""

# Engines are forked from a process that has imported all they need: it is single-threaded, and an import costs more than a campaign.
_ENGINES = multiprocessing.get_context("forkserver")
_ENGINES.set_forkserver_preload(["__main__", "evolve.engine", "evolve.operators", "evolve.strategies", "evolve.task"])


class Place:
    """The folder of one campaign, and what can be read there while no engine writes."""

    def __init__(self, folder: Path, task: Path) -> None:
        self.folder, self.task = folder, task
        self.scratch = folder / "scratch"
        self.scratch.mkdir(parents=True)

    def start(self, death: Death | None = None, *, deterministic: bool = False, budget: int = BUDGET) -> BaseProcess:
        """An engine in a process of its own, for a new campaign or for more of the one that is there."""
        words = {"deterministic": deterministic, "death": death}
        engine = _ENGINES.Process(
            target=crash_engine.live, args=(self.folder, self.task, f"{budget}programs"), kwargs=words
        )
        engine.start()
        return engine

    def killed(self, when: str, commit: int, *, deterministic: bool = False) -> "Remains":
        """What is left of a campaign that killed itself."""
        assert ended(self.start((when, commit), deterministic=deterministic)) == -signal.SIGKILL
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
        return Remains(events, self.lines("seen"), self.lines("submitted"), self.lines("evaluated"))

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
    evaluated: Sequence[str]

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
        """The programs that were evaluated as seed or as proposals."""
        return [line.split()[1] for line in self.evaluated if line.startswith("search ")]


def ended(engine: BaseProcess) -> int | None:
    """The exit code of an engine that ends by itself."""
    engine.join(PATIENCE)
    return engine.exitcode


def job_of(event: Settled) -> str:
    """The name of the job that a record settles."""
    return f"{event.record.origin.step}.{event.record.origin.index}"


def waited(condition: Callable[[], bool], seconds: float = SECONDS_TO_BE_GONE) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
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
    """What had settled is neither submitted nor evaluated once more, and an unfinished job is the same job as before."""
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
    assert ended(place.start(deterministic=True)) == 0
    with closing(place.opened()) as campaign:
        return campaign.digest()


@pytest.mark.parametrize(
    ("task", "when", "commit"),
    [
        ("certified", "after", 1),
        ("certified", "before", 2),
        ("certified", "after", 2),
        ("certified", "after", 12),
        ("noisy", "before", 5),
        ("noisy", "after", 14),
    ],
)
def test_a_campaign_that_is_killed_at_a_commit_goes_on(tmp_path, tasks, monkeypatch, task, when, commit):
    """Commit 1 is the run's, 2 the first to hold a record."""
    place = Place(tmp_path / "place", tasks[task])
    before = place.killed(when, commit)
    place.go_on(monkeypatch)
    assert_whole(place, before)


@pytest.mark.parametrize(("when", "commit"), [("before", 4), ("after", 21)])
def test_a_killed_deterministic_campaign_is_equal_to_an_undisturbed_one(place, undisturbed, monkeypatch, when, commit):
    """But for the second run's machine."""
    before = place.killed(when, commit, deterministic=True)
    place.go_on(monkeypatch)
    assert_whole(place, before)
    with closing(place.opened()) as campaign:
        assert campaign.digest() == undisturbed


def test_a_campaign_that_is_killed_before_its_first_commit_has_begun(place, monkeypatch):
    """Its log has a first event from the moment on in which it has its name."""
    before = place.killed("before", 1)
    assert [type(stamped.event) for stamped in before.events] == [Opened]
    place.go_on(monkeypatch)
    assert_whole(place, before)


def test_a_log_without_its_first_event_says_what_to_do(place):
    """There is nothing to lose, and nothing to go on with; whoever holds the error does not hold the log."""
    place.log_path.parent.mkdir(parents=True, exist_ok=True)
    Log.create(place.log_path).close()
    with pytest.raises(StoreError, match="it has no first event") as refusal:
        crash_engine.go_on(place.folder)
    Log.open(place.log_path).close()
    assert "Try: remove it, and run again" in str(refusal.value)


@pytest.mark.parametrize("instant", range(2))
def test_a_campaign_that_is_killed_at_a_random_instant_goes_on(place, monkeypatch, instant):
    """Once something has settled."""
    kill_at_random(place, random.Random(instant))
    before = place.remains()
    assert before.settled
    place.go_on(monkeypatch)
    assert_whole(place, before)


def kill_at_random(place: Place, rng: random.Random, budget: int = BUDGET, *, early: bool = False) -> None:
    """Kills an engine soon after its first record, or `early`, while it starts; one that was faster is over, which is as well."""
    seen, engine = len(place.lines("seen")), place.start(budget=budget)
    while not early and len(place.lines("seen")) == seen and engine.is_alive():
        time.sleep(0.005)
    time.sleep(rng.uniform(0.0, 1.0 if early else 0.3))
    engine.kill()
    assert ended(engine) in (0, -signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_campaign_that_is_killed_at_any_commit_goes_on(tmp_path, tasks, monkeypatch, when):
    """Each one of its commits, from that of its beginning to the last."""
    commit, budget = 2 if when == "before" else 1, 20
    while True:
        place = Place(tmp_path / str(commit), tasks["certified"])
        code = ended(place.start((when, commit), budget=budget))
        before = place.remains()
        if code == 0:
            break
        assert code == -signal.SIGKILL
        place.go_on(monkeypatch)
        assert_whole(place, before, budget)
        commit += 1
    assert commit > budget / 4


@pytest.mark.slow
def test_a_campaign_that_is_killed_twenty_times_goes_on(tmp_path, monkeypatch):
    """On a task with certificates, whose evaluations take their time."""
    place, rng, budget = Place(tmp_path / "place", ROOT / "tasks" / "circle_packing"), random.Random(0), 400
    kills = []
    for number in range(20):
        kill_at_random(place, rng, budget, early=number % 4 == 3)
        kills.append(place.remains())
    place.go_on(monkeypatch)
    for before in kills:
        assert_whole(place, before, budget)
    assert len(set(place.lines("submitted"))) < len(place.lines("submitted")), "nothing that was under way was lost"


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_whatever_of_its_processes_is_killed_a_campaign_loses_nothing(place, kills):
    """Engine, spawner, workers and templates, in any order: nothing is lost, nothing done twice, every score is right, and the budget exact."""
    rng, budget, remains = random.Random(kills), 10 * kills, []
    roles = order(kills, rng)
    pause(place, 1.0)
    words = ["--budget", f"{budget}programs", "--workers", "2"]
    while roles:
        with command(place, *words) as engine:
            assert waited(lambda: len(place.lines("evaluated")) > 3, PATIENCE), "the seed is evaluated, and more"
            kill_some(engine.pid, roles, rng, lambda: len(place.lines("evaluated")))
            engine.kill()
            assert engine.wait(PATIENCE) == -signal.SIGKILL, engine.communicate()[1]
        remains.append(place.remains())
        words = ["--continue", place.task.name]
    pause(place, 0.0)
    with command(place, *words) as engine:
        assert engine.wait(5 * PATIENCE) == 0
    for before in remains:
        assert_whole(place, before, budget)
    with closing(place.opened()) as campaign:
        settled = [event for event in place.remains().settled if event.record.program]
        outcomes = Counter(event.record.evaluation.outcome for event in settled)
        assert set(outcomes) <= {Outcome.OK, Outcome.INTERNAL}
        assert outcomes[Outcome.INTERNAL] <= kills / 3, "a job fails by several kills alone"
        for event in settled:
            if event.record.evaluation.outcome is Outcome.OK:
                assert event.record.evaluation.fitness == score(campaign.log.program(event.record.program))
    print(f"evaluated {dict(outcomes)} in {len(remains) + 1} runs")


def score(program: Program) -> float:
    """What the evaluator gives; the programs are the seed with other numbers."""
    names: dict[str, Any] = {}
    exec(program.files["seed.py"], names)
    return -sum(abs(number - 7.0) for number in names["value"]())


class Impatient(crash_engine.Witness):
    """Interrupts this process twice when the first record has settled."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        super().settled(campaign, event)
        if event.record.id == 1:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)


def test_the_second_interrupt_stops_at_once(place, monkeypatch):
    """However soon it follows the first one."""
    before = place.killed("after", 1)
    monkeypatch.setenv("TMPDIR", str(place.scratch))
    with pytest.raises(KeyboardInterrupt):
        crash_engine.go_on(place.folder, Impatient(place.folder))
    stopped = place.remains()
    assert stopped.events[: len(before.events)] == before.events
    place.go_on(monkeypatch)
    assert_whole(place, stopped)


def command(place: Place, *words: str) -> "subprocess.Popen[str]":
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evolve", "run", str(place.task), *words],
        env={**os.environ, "TMPDIR": str(place.scratch), "EVOLVE_HOME": str(place.folder), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def pause(place: Place, seconds: float) -> None:
    """Makes every later evaluation of this place so much longer."""
    draft = place.folder / "pause.new"
    draft.write_text(str(seconds))
    draft.replace(place.folder / "pause")


def test_the_systems_wish_to_end_lets_what_is_judged_finish(place):
    """Every evaluation that had begun is in the log, the exit code says that it was interrupted, and the rest is done later."""
    pause(place, 0.3)
    with command(place, "--budget", "16programs", "--workers", "2") as engine:
        assert waited(lambda: len(place.lines("evaluated")) >= 3, PATIENCE)
        engine.terminate()
        assert engine.wait(PATIENCE) == 130
    before = place.remains()
    assert set(before.searched) == {event.record.program for event in before.settled if event.record.program}
    assert len(before.settled) < 16
    pause(place, 0.0)
    with command(place, "--continue", place.task.name) as engine:
        assert engine.wait(PATIENCE) == 0
    assert_whole(place, before, budget=16)


def test_the_second_interrupt_does_not_wait_for_what_is_judged(place, monkeypatch):
    """And nothing that had settled is lost, and no process left."""
    pause(place, 0.2)
    with command(place, "--budget", f"{BUDGET}programs", "--workers", "2") as engine:
        assert waited(lambda: len(place.lines("evaluated")) >= 3, PATIENCE)
        pause(place, 2 * PATIENCE)
        for _ in range(2):
            time.sleep(1.0)
            engine.send_signal(signal.SIGINT)
        code = engine.wait(PATIENCE)
        assert engine.stderr is not None
        said = engine.stderr.read()
        assert code == 130, said
        assert "stopped at once; what a campaign had settled is in its log" in said
    before = place.remains()
    assert before.settled
    pause(place, 0.0)
    place.go_on(monkeypatch)
    assert_whole(place, before)
