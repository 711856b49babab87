"""Tasks as values, which engine, evaluation and prompts share. `evolve.task` loads them from files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from evolve.types.program import Program, Scalar

__all__ = [
    "Anchor",
    "Axis",
    "Case",
    "Check",
    "Constraint",
    "Direction",
    "EvaluatorSource",
    "Fitness",
    "Grants",
    "Limits",
    "Needs",
    "Objective",
    "Stage",
    "Task",
    "Twin",
    "top_share",
]

Direction = Literal["max", "min"]


@dataclass(frozen=True, slots=True)
class Needs:
    """Resources that a stage holds while it runs: processor cores, GPUs, or the machine to itself as far as evolve runs programs for this user there. A stage that needs more than one core, the
    machine, or is `pinned`, is kept to the cores that it has leased; its worker too, where it is `pinned`, which a stage must be whose candidates are timed."""

    cores: int = 1
    gpus: int = 0
    exclusive: bool = False
    pinned: bool = False

    @property
    def leased(self) -> bool:
        """Returns whether a stage with these needs leases anything."""
        return self.cores > 1 or self.gpus > 0 or self.exclusive or self.pinned


def top_share(text: str) -> float:
    """Returns `"top 30%"` as 0.3; raises `ValueError` for another text, and for a share that is not above 0 and below 1."""
    match = re.fullmatch(r"top (\d+(?:\.\d+)?) ?%", text)
    if match is None or not 0 < float(match[1]) < 100:
        raise ValueError('a share is written like "top 30%"')
    return float(match[1]) / 100


@dataclass(frozen=True, slots=True)
class Stage:
    """One level of a cascade. `limit` is in seconds of wall time for the whole stage. The next stage runs for a program that
    reaches `threshold`, a fitness as the user writes it, and that is among the best `top`, a share above 0 and below 1, of what this
    stage found before."""

    name: str
    limit: float = 20.0
    threshold: float | None = None
    top: float | None = None
    needs: Needs = field(default_factory=Needs)


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of the MAP-Elites grid: `bins` cells of equal width over `[low, high]`, values outside clamp."""

    name: str
    low: float
    high: float
    bins: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """A value from the literature to compare with, with where it comes from."""

    value: float
    by: str
    year: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Fitness:
    """Name and form of the fitness. Inside the engine it is always maximised; `shown` is what the user reads. `log_ratio`: it is the logarithm of a ratio to the seed, whose own
    true value is 0."""

    name: str = "fitness"
    direction: Direction = "max"
    digits: int = 6
    log_ratio: bool = False

    def inside(self, value: float) -> float:
        """Returns the user's number as the engine's: larger is better."""
        return value if self.direction == "max" else -value

    def shown(self, value: float) -> float:
        """Returns the engine's number as the user's."""
        return self.inside(value)


@dataclass(frozen=True, slots=True)
class Objective:
    """One of several numbers that matter beside the fitness: the Pareto front is over these. Inside the engine each is maximised.
    `reference` is where the hypervolume begins, as the user writes it; None: the seed's value."""

    name: str
    direction: Direction = "max"
    digits: int = 6
    reference: float | None = None

    def inside(self, value: float) -> float:
        """Returns the user's number as the engine's: larger is better."""
        return value if self.direction == "max" else -value

    def shown(self, value: float) -> float:
        """Returns the engine's number as the user's."""
        return self.inside(value)


@dataclass(frozen=True, slots=True)
class Constraint:
    """Bound of a metric: at least or at most a number (or both), of which one is given."""

    metric: str
    at_least: float | None = None
    at_most: float | None = None

    def violation(self, value: float) -> float:
        """Returns how far a value is beyond the bound, in units of the bound (of 1, for a bound of 0); 0 where it is met."""
        low = 0.0 if self.at_least is None else max(0.0, self.at_least - value) / (abs(self.at_least) or 1.0)
        high = 0.0 if self.at_most is None else max(0.0, value - self.at_most) / (abs(self.at_most) or 1.0)
        return low + high


@dataclass(frozen=True, slots=True)
class Case:
    """The task with other parameters: one that the fitness is made of, with its `weight`, or a held-out one, which the search never sees. Its name is
    unique."""

    name: str
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Grants:
    """Permissions of a task's candidates beyond the usual, each by its name. `gpu`: how many devices they may use at most; `execute`: start
    programs; `memfd`: make files in memory; `shm`: bytes of shared memory in /dev/shm; `read`: folders of the host that they may read;
    `threads`: threads that numerical libraries start; `network`: "off", or "loopback" (a loopback of their own, which no process outside
    shares); `template`: forked from a warm process (False: a fresh interpreter for each session, inside the same box).
    `private` takes away: where candidates have a file tree of their own, it holds copies in memory of what Python needs, and nothing else."""

    gpu: int = 0
    execute: bool = True
    memfd: bool = False
    shm: int = 64 << 20
    read: tuple[str, ...] = ()
    threads: int = 1
    network: Literal["off", "loopback"] = "off"
    template: bool = True
    private: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one candidate session, and of what is kept of it. `memory`, `file_size` and `scratch` (its working folder) in bytes,
    `inodes` files in that folder, `tasks` processes and threads, `result` and `log` bytes per message and of output kept; `preload` names
    the modules that the warm template imports before it forks. `artifacts` and `feedback` are bytes of one evaluation: of its artifacts
    together, as JSON, and of its feedback."""

    memory: int = 2 << 30
    file_size: int = 32 << 20
    result: int = 8 << 20
    log: int = 64 << 10
    descriptors: int = 128
    tasks: int = 32
    scratch: int = 64 << 20
    inodes: int = 4096
    grants: Grants = Grants()
    preload: tuple[str, ...] = ()
    artifacts: int = 16 << 20
    feedback: int = 256 << 10


@dataclass(frozen=True, slots=True)
class Check:
    """Settings of `evolve task check` beside the seed. `determined`: each input has one right answer, so that every other one is refused; an answer
    may be as exact as `precision`, and no less. `honest` and `dishonest` are patterns of files and folders in the task's folder, programs that must
    pass as the seed does, and programs that must gain nothing. No candidate and no prompt sees them."""

    answers: Literal["open", "determined"] = "open"
    precision: Literal["float64", "float32", "float16"] = "float64"
    honest: tuple[str, ...] = ()
    dishonest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Twin:
    """A program that a task, or its evaluator, brings for its check: `files` replace those of the seed. An honest one must pass as the seed does, another
    one must gain nothing."""

    name: str
    files: Mapping[str, str]
    honest: bool = True


@dataclass(frozen=True, slots=True)
class EvaluatorSource:
    """Place of a task's evaluator: a file of the task's folder, or a plugin's evaluator with its settings."""

    path: str | None = None
    plugin: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """The problem. `version` is a hash over everything that decides a score; `folder` is where its files lie; `entry` is
    the module (a file name without `.py`) that a candidate's functions are called in, empty where none are.

    `context` holds files that a program finds beside its own and may not change; `new_files` are patterns of the files that it may
    add. `one_file` is the name of the file in `folder` that is the whole task, empty where the folder is; `task_file` that of the
    task file in `folder`, empty where it is the folder's `task.toml` or the one file. `carry` names the artifacts of a parent that the evaluation of its children is given. The fitness is the weighted mean over `cases`, each of which the last stage evaluates by itself; without any it is what that stage finds. `held_out` are the cases that decide about
    promotion and that the search never sees. `python` is the interpreter of worker and candidate; empty: the engine's own.
    `prompts` replace templates of the engine's prompts, by name; they are the Markdown files of `prompts_folder`, a folder within `folder`, and decide no score.
    A model's program that is nearer than `novelty_distance` to another of its island is not evaluated. `check` says what a check of the task tries beside its seed.
    `verifier` is the text of the script that checks the task's certificates with the standard library alone; empty where it brings none."""

    name: str
    folder: str
    version: str
    brief: str
    seed: Program
    entry: str
    evaluator: EvaluatorSource
    deterministic: bool = False
    promotion: Literal["held_out", "certificate"] = "held_out"
    fitness: Fitness = field(default_factory=Fitness)
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    stages: tuple[Stage, ...] = (Stage("evaluate"),)
    axes: tuple[Axis, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    bound: float | None = None
    limits: Limits = field(default_factory=Limits)
    context: Mapping[str, str] = field(default_factory=dict)
    new_files: tuple[str, ...] = ()
    objectives: tuple[Objective, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    cases: tuple[Case, ...] = ()
    held_out: tuple[Case, ...] = ()
    carry: tuple[str, ...] = ()
    python: str = ""
    one_file: str = ""
    task_file: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    prompts_folder: str = ""
    novelty_distance: float = 0.0
    check: Check = Check()
    verifier: str = ""

    @property
    def path(self) -> str:
        """Returns the path that names the task on a command line: its folder, its one file, or its task file where the folder has several."""
        return str(PurePath(self.folder) / (self.one_file or self.task_file))
