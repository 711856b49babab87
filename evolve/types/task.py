"""What a task is: the value that the engine, the judge and the prompts share. Loading it from files is `evolve.task`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evolve.types.program import Program

Scalar = bool | int | float | str
Direction = Literal["max", "min"]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a stage holds while it runs: processor cores, GPUs, and whether it must have the machine to itself."""

    cores: int = 1
    gpus: int = 0
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """One level of a cascade. `limit` is in seconds of wall time for the whole stage; `threshold` is the fitness, as the
    user writes it, that a program must reach for the next stage to run."""

    name: str
    limit: float = 20.0
    threshold: float | None = None
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
    """How the fitness is called and shown. Inside the engine it is always maximised; `shown` is what the user reads."""

    name: str = "fitness"
    direction: Direction = "max"
    digits: int = 6

    def inside(self, value: float) -> float:
        """The user's number as the engine's: larger is better."""
        return value if self.direction == "max" else -value

    def shown(self, value: float) -> float:
        """The engine's number as the user's."""
        return self.inside(value)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one candidate session may use. `memory` and `file_size` in bytes, `result` and `log` bytes per message and of
    output kept; `preload` names the modules that the warm template imports before it forks."""

    memory: int = 2 << 30
    file_size: int = 32 << 20
    result: int = 8 << 20
    log: int = 64 << 10
    descriptors: int = 128
    preload: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluatorSource:
    """Where a task's judging code comes from: a file of the task's folder, or a plugin's evaluator with its settings."""

    path: str | None = None
    plugin: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """The problem. `version` is a hash over everything that decides a score; `folder` is where its files lie; `entry` is
    the module (a file name without `.py`) that a candidate's functions are called in."""

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
