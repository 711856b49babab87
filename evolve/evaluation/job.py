"""Messages between the engine and an evaluation worker: what a worker is charged with, jobs, reports and a worker's description, as canonical JSON in UTF-8.

Invariant: a report's evaluation holds no text: feedback and artifacts are ids, and every id is a key of `texts`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from evolve.devices.leases import EVERYTHING, Grant
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Description as Description
from evolve.types import Evaluation, Outcome, Task, TextId, Trial, canonical, text_id
from evolve.types.codec import decode, encode

Kind = Literal["evaluate", "certify", "fingerprint", "draw"]

T = TypeVar("T")
WAITS, GOES_ON = b"waits", b"goes on"
"""Frames of a worker between two reports: it waits for what others have leased, and now it has it. No report begins so, for that is JSON."""


@dataclass(frozen=True, slots=True)
class Charge:
    """First message to a worker: the task that it evaluates, by which means its candidates are confined, all of them, and what is `hidden` from
    them beside the task: folders and files, by their absolute paths. `devices` is what may be leased for them."""

    task: Task
    means: Means = PLAIN
    hidden: tuple[str, ...] = ()
    devices: Grant = EVERYTHING


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to evaluate. The kind `evaluate` needs `files` and runs the whole cascade, or `stage` alone; the other kinds need
    `artifacts`, the stored JSON text of each artifact by its name. Parameters of the trial override the task's; its stage and
    limit are set by the worker. `wanted` is the fitness (maximised) that a stage's relative threshold comes to now, by its name; `ungated`:
    no threshold counts, for what is measured is known to be worth it. `limit` is a shorter wall limit of each stage
    in seconds; 0: the stage's own. `rival` holds what the program's parent found on each of the task's cases (maximised), and `gate` names those on which
    the program must be better, on the mean, before it is evaluated on the others."""

    id: str
    kind: Kind
    trial: Trial = field(default_factory=Trial)
    files: Mapping[str, str] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    stage: str = ""
    wanted: Mapping[str, float] = field(default_factory=dict)
    ungated: bool = False
    limit: float = 0.0
    rival: Mapping[str, float] = field(default_factory=dict)
    gate: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Result of a job. `texts` holds the evaluation's feedback, and each artifact as canonical JSON (arrays and tuples as
    lists, a text as a JSON string). A job that evaluates nothing (`fingerprint`, `draw`) and succeeds is SCREENED, with its
    answer in `evaluation.fingerprint` or `drawing`. Without `retry`, one that failed by no fault of its program would fail alike again."""

    evaluation: Evaluation
    texts: Mapping[TextId, str] = field(default_factory=dict)
    drawing: str = ""
    retry: bool = True


def encode_message(message: Charge | Job | Report | Description) -> bytes:
    """Returns a message as it is sent."""
    # Programs of models may hold halves of surrogate pairs, which plain UTF-8 refuses.
    return canonical(encode(message)).encode("utf-8", "surrogatepass")


def decode_message(kind: type[T], data: bytes) -> T:
    """Returns the message that was sent; raises `ValueError`."""
    return decode(kind, json.loads(data.decode("utf-8", "surrogatepass")))


def encode_job(job: Job) -> bytes:
    """Returns a job as it is sent."""
    return encode_message(job)


def decode_job(data: bytes) -> Job:
    """Returns the job that was sent; raises `ValueError`."""
    return decode_message(Job, data)


def encode_report(report: Report) -> bytes:
    """Returns a report as it is sent."""
    return encode_message(report)


def internal_report(why: str, *, retry: bool = True) -> bytes:
    """Returns the report, as it is sent, of a job that the machinery could not evaluate."""
    evaluation = Evaluation.failed(Outcome.INTERNAL, text_id(why))
    return encode_report(Report(evaluation, {text_id(why): why}, retry=retry))


def decode_report(data: bytes) -> Report:
    """Returns the report that was sent; raises `ValueError`."""
    return decode_message(Report, data)
