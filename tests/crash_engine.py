"""The engine that the crash tests kill: `live` runs a campaign with real judges in a process of its own, which can kill itself at a
commit.

A *place* is a folder with all that belongs to one campaign: its workspace, its judges' temporary files (`scratch`), and three lists that
outlive every process: `submitted` (each job with its program, by the engine), `evaluated` (each evaluation that begins, by the judge), `seen`
(each settled event that was shown). A file `pause` there holds how many seconds an evaluation takes longer.

Invariant: what is listed was handed to the system before the next thing happens, so that SIGKILL loses nothing of it."""

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path

import evolve.task
from evolve import plugins
from evolve.campaign import Campaign
from evolve.cli import evolve as evolve_command
from evolve.config import settings_from
from evolve.engine import Ending, Watch, run
from evolve.evaluation import LocalExecutor, decode_job
from evolve.log import Log
from evolve.types import Program, Settled, Task, canonical
from evolve.types.codec import encode

SLOTS = 2
_TOML = """schema = 1
deterministic = {deterministic}
promotion = "{promotion}"
[[axes]]
name = "size"
low = 0
high = 10
bins = 5
[[stages]]
name = "evaluate"
seconds = 100
"""
_SEED = "def value():\n    return [5.0, 2.0]\n"
_EVALUATOR = """import os
import random
import time
from pathlib import Path

from evolve import Candidate, Evaluation, Trial, evaluator

PLACE = Path(os.environ["TMPDIR"]).parent.parent


def note(line):
    descriptor = os.open(PLACE / "evaluated", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def nearness(numbers):
    return -sum(abs(number - 7.0) for number in numbers)


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    note(f"{trial.split} {candidate.program.id}\\n")
    if (PLACE / "pause").exists():
        time.sleep(float((PLACE / "pause").read_text()))
    numbers = candidate.call("value")
    noise = random.Random(trial.seed).gauss(0.0, NOISE)
    size = min(10.0, abs(numbers[0]))
    return Evaluation.ok(nearness(numbers) + noise, descriptors={"size": size}, artifacts={"numbers": numbers})


@evaluate.certify
def certify(artifacts, trial):
    note("certify -\\n")
    return Evaluation.ok(nearness(artifacts["numbers"]), descriptors={"size": min(10.0, abs(artifacts["numbers"][0]))})
"""


def write_task(folder: Path, *, noisy: bool) -> Path:
    """Two numbers to find, near 7: with certificates, or with noise and therefore repeated measurements."""
    folder.mkdir(parents=True)
    toml = _TOML.format(deterministic=str(not noisy).lower(), promotion="held_out" if noisy else "certificate")
    (folder / "task.toml").write_text(toml)
    (folder / "README.md").write_text("Find the numbers.\n")
    (folder / "seed.py").write_text(_SEED)
    (folder / "evaluator.py").write_text(_EVALUATOR.replace("NOISE", "0.5" if noisy else "0.0"))
    return folder


def note(path: Path, line: str) -> None:
    """Appends a line that the death of this process cannot lose."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


class ListingExecutor(LocalExecutor):
    """Lists every job with its program."""

    def __init__(self, task: Task, place: Path) -> None:
        super().__init__(task, SLOTS)
        self._list = place / "submitted"

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        note(self._list, f"{job_id} {Program(decode_job(job).files).id}")
        return super().submit(job_id, job)


class Witness:
    """Lists every settled event that it is shown."""

    def __init__(self, place: Path) -> None:
        self._list = place / "seen"

    def settled(self, campaign: Campaign, event: Settled) -> None:
        note(self._list, canonical(encode(event)))

    def turned(self, campaign: Campaign) -> None:
        """Nothing is settled here."""


def begin(place: Path, task_folder: Path, budget: str, *, deterministic: bool) -> Ending:
    """A new campaign, in the order of `evolve run`: the judges, the log, the loop."""
    task = evolve.task.load(str(task_folder), {})
    values = {"task": str(task_folder), "budget": [budget], "workers": SLOTS, "deterministic": deterministic}
    with (
        closing(ListingExecutor(task, place)) as executor,
        Campaign.create(settings_from(values), task, plugins.load(), place) as campaign,
    ):
        return run(campaign, executor, Witness(place))


def go_on(place: Path, watch: Watch | None = None) -> Ending:
    """The campaign of this place, to its end."""
    with (
        Campaign.open(None, plugins.load(), place, readonly=False) as campaign,
        closing(ListingExecutor(campaign.task, place)) as executor,
    ):
        return run(campaign, executor, watch or Witness(place))


def die_at(when: str, commit: int) -> None:
    """From now on this process kills itself right before or after its `commit`-th transaction is committed."""
    transaction, commits = Log.transaction, 0

    @contextmanager
    def deadly(log: Log) -> Iterator[None]:
        nonlocal commits
        commits += 1
        with transaction(log):
            yield
            if (commits, when) == (commit, "before"):
                os.kill(os.getpid(), signal.SIGKILL)
        if commits == commit:
            os.kill(os.getpid(), signal.SIGKILL)

    Log.transaction = deadly  # type: ignore[method-assign]


def command(place: Path, words: Sequence[str], death: tuple[str, int] | None) -> None:
    """The whole life of a process that runs a command of the command line."""
    os.environ["TMPDIR"], os.environ["EVOLVE_HOME"] = str(place / "scratch"), str(place)
    if death is not None:
        die_at(*death)
    evolve_command.main(list(words), prog_name="evolve")


def live(place: Path, task_folder: Path, budget: str, *, deterministic: bool, death: tuple[str, int] | None) -> None:
    """The whole life of an engine process: a new campaign, or more of the one that is there."""
    os.environ["TMPDIR"] = str(place / "scratch")
    if death is not None:
        die_at(*death)
    if any(place.glob("archive/campaigns/*.db")):
        go_on(place)
    else:
        begin(place, task_folder, budget, deterministic=deterministic)
