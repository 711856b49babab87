"""A campaign without processes: a fake executor that scores programs in the engine's own thread, and a bench to run it on."""

import shutil
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from evolve import plugins
from evolve.campaign import Campaign
from evolve.config import settings_from
from evolve.engine import Ending, run
from evolve.evaluation import Job, Report, decode_job, encode_report
from evolve.types import Description, Evaluation, Needs, SandboxError, Settled, Task, text_id

DESCRIPTION = Description(stages=("evaluate",), hardware="fake", isolation="fake")


def number_of(files: dict[str, str]) -> float:
    """The literal that the seed returns."""
    return float(files["seed.py"].split("return")[1].split("#")[0])


def near_seven(job: Job) -> Report:
    """The nearer to 7 the better; a certificate is the same value again."""
    value = number_of(dict(job.files)) if job.files else float(job.artifacts["value"])
    evaluation = Evaluation.ok(-abs(value - 7.0), descriptors={"size": min(10.0, abs(value))})
    texts = {text_id(repr(value)): repr(value)}
    return Report(
        Evaluation(
            **{**fields(evaluation), "artifacts": {"value": text_id(repr(value))}, "certified": job.kind == "certify"}
        ),
        texts,
    )


def fields(evaluation: Evaluation) -> dict:
    """The fields of an evaluation by name."""
    return {name: getattr(evaluation, name) for name in Evaluation.__slots__}


class FakeExecutor:
    """Answers in the submitting thread; with `hold`, it answers the newest first, as soon as more than `hold` jobs wait or none
    has come for a moment. Remembers what it was asked."""

    def __init__(
        self, judge: Callable[[Job], Report] = near_seven, hold: int = 0, description: Description = DESCRIPTION
    ) -> None:
        self.judge, self.hold, self.description = judge, hold, description
        self.jobs: list[Job] = []
        self._held: list[tuple[Job, Future[bytes]]] = []
        self._lock = threading.RLock()

    def describe(self) -> Description:
        return self.description

    def capacity(self, needs: Needs) -> int:
        return 0 if needs.gpus else 2

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        decoded = decode_job(job)
        assert job_id == decoded.id
        future: Future[bytes] = Future()
        with self._lock:
            self.jobs.append(decoded)
            self._held.append((decoded, future))
        if len(self._held) > self.hold:
            self._answer()
        else:
            threading.Timer(0.02, self._answer).start()
        return future

    def _answer(self) -> None:
        with self._lock:
            while self._held:
                held, waiting = self._held.pop()
                try:
                    waiting.set_result(encode_report(self.judge(held)))
                except SandboxError as error:
                    waiting.set_exception(error)

    def cancel(self, job_id: str) -> None:
        with self._lock:
            found = [item for item in self._held if item[0].id == job_id]
            for item in found:
                self._held.remove(item)
        for _, future in found:
            future.cancel()
            future.set_running_or_notify_cancel()

    def resize(self, slots: int) -> None:
        self.slots = slots

    def close(self) -> None:
        """There is nothing to end."""


class Seen:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.events: list[Settled] = []
        self.turns = 0

    def settled(self, campaign: Campaign, event: Settled) -> None:
        self.events.append(event)

    def turned(self, campaign: Campaign) -> None:
        self.turns += 1


class Workbench:
    """Creates, continues and runs campaigns in one folder."""

    def __init__(self, home: Path, task: Task) -> None:
        self.home, self.task = home, task
        self.plugins = plugins.load()

    def create(
        self, *assignments: str, name: str | None = None, task: Task | None = None, **values: object
    ) -> Campaign:
        """A new campaign; 30 programs and operators that change the number unchanged, if nothing else is said."""
        learns = values.get("strategy", {"name": "islands"}) == {"name": "islands"}
        usual = {
            "budget": ["30programs"],
            "workers": 2,
            "operators": {"names": ["tune_literals" if learns else "perturb_literals"]},
        }
        settings = settings_from({"task": "one_number", **usual, **values}, assignments)
        return Campaign.create(settings, task or self.task, self.plugins, self.home, name)

    def open(self, name: str | None = None, *, readonly: bool = False) -> Campaign:
        """An existing one."""
        return Campaign.open(name, self.plugins, self.home, readonly=readonly)

    def run(self, campaign: Campaign, executor: FakeExecutor | None = None, watch: Seen | None = None) -> Ending:
        """Runs it to its end."""
        return run(campaign, executor or FakeExecutor(), watch or Seen())


def cut(source: Path, count: int) -> Path:
    """The log as it was after so many events."""
    target = source.with_name(f"cut-{count}.db")
    shutil.copy(source, target)
    with sqlite3.connect(target) as connection:
        connection.execute("DELETE FROM events WHERE number > ?", (count,))
        gone = "SELECT number FROM signatures WHERE program NOT IN (SELECT program FROM events WHERE program <> '')"
        for table in ("files", "sketches", "vectors"):
            connection.execute(f"DELETE FROM {table} WHERE program IN ({gone})")
        connection.execute(f"DELETE FROM signatures WHERE number IN ({gone})")
    return target
