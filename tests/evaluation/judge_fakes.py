"""Fakes of a candidate's session, of a clock, and a small task: what the judge's tests share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolve.evaluation.provenance import task_version
from evolve.sandbox.session import JobKind
from evolve.sandbox.status import Completed, SessionFailed, SessionUsage, Status
from evolve.types import EvaluatorSource, Program, Task


@dataclass
class FakeSession:
    """Answers calls with what `answers` holds for the function; an exception there is raised."""

    answers: Mapping[str, Any]
    usage: SessionUsage
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    placed: dict[str, bytes] = field(default_factory=dict)
    closed: bool = False

    def __enter__(self) -> "FakeSession":
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def run(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        self.calls.append((argv[0], tuple(argv[1:]), {"input": input}))
        return Completed(0, str(self.answers[argv[0]]), "")

    def build(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        return self.run(argv, input=input, seconds=seconds)

    def keep(self, names: Sequence[str]) -> dict[str, bytes]:
        return {name: self.answers[name] for name in names}

    def place(self, files: Mapping[str, bytes]) -> None:
        self.placed.update(files)

    def call(self, function: str, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        self.calls.append((function, arguments, keywords))
        answer = self.answers[function]
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class FakeBox:
    """Opens fake sessions, and remembers for how long."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    log: str = ""
    isolation: str = "none: a fake"
    opened: list[float] = field(default_factory=list)
    jobs: list[JobKind] = field(default_factory=list)
    sessions: list[FakeSession] = field(default_factory=list)
    pinned: list[tuple[int, ...]] = field(default_factory=list)
    closed: bool = False

    def open(self, program: Program, entry: str, seconds: float, job: JobKind = "run") -> FakeSession:
        usage = SessionUsage(seconds=0.2, cpu_seconds=0.25, peak_bytes=1000, strays=0, log=self.log)
        self.opened.append(seconds)
        self.jobs.append(job)
        self.sessions.append(FakeSession(self.answers, usage))
        return self.sessions[-1]

    def pin(self, cores: Sequence[int]) -> None:
        self.pinned.append(tuple(cores))

    def session(self, program: Program, seconds: float, job: JobKind = "run") -> FakeSession:
        return self.open(program, "seed", seconds, job)

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeClock:
    """A clock that goes on by `step` seconds each time it is read."""

    step: float = 0.0
    now: float = 100.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def failure(status: Status = Status.ERROR, message: str = "ValueError: no") -> SessionFailed:
    return SessionFailed(status, message)


def small_task(folder: Path | str = "/nowhere", **fields: Any) -> Task:
    values: dict[str, Any] = {
        "name": "small",
        "folder": str(folder),
        "version": task_version(Path(folder), fields.get("parameters", {})),
        "brief": "Be large.",
        "seed": Program({"seed.py": "def answer():\n    return 1.0\n"}),
        "entry": "seed",
        "evaluator": EvaluatorSource("evaluator.py"),
    }
    return Task(**{**values, **fields})


def written_task(folder: Path, evaluator: str, **fields: Any) -> Task:
    """A task whose folder holds this evaluator."""
    (folder / "evaluator.py").write_text(evaluator)
    return small_task(folder, **fields)


ANSWERING = """
from evolve import Candidate, Evaluation, Trial, evaluator

@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("answer"))
"""
