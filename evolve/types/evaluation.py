"""Trials and evaluations: input and result of running a program. A failure is a kind of outcome, never the number 0."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Real
from typing import Any, Literal

from evolve.types.program import Scalar

__all__ = [
    "Description",
    "FAILURES",
    "NOBODYS_FAULT",
    "Carried",
    "Evaluation",
    "Level",
    "Outcome",
    "Parameters",
    "Split",
    "Trial",
    "Trust",
    "UnusableFitness",
    "seed_remedy",
]

Split = Literal["search", "confirm", "held_out"]
Trust = Literal["witnessed", "rescored", "claimed"]
"""Origin of a score, the best first: the evaluator, from what it saw the program do; the evaluator, from what the program had saved; the program itself."""


class UnusableFitness(ValueError):
    """A fitness that is no finite number: what a program did, and no mistake of its evaluator's code."""

    def __init__(self, fitness: float) -> None:
        super().__init__(f"a fitness is a finite number, got {fitness!r}")
        self.fitness = fitness


class Outcome(StrEnum):
    """Ending of an evaluation. `docs/tasks.md` maps every status of a session to one of these."""

    OK = "ok"
    INVALID = "invalid"
    BUILD_FAILED = "build_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    WRONG = "wrong"
    BELOW_THRESHOLD = "below_threshold"
    SCREENED = "screened"
    INTERNAL = "internal"


FAILURES = frozenset(
    {Outcome.INVALID, Outcome.BUILD_FAILED, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.WRONG}
)
"""Outcomes of a program that was evaluated and is not what was asked for."""


NOBODYS_FAULT = frozenset({Outcome.INTERNAL, Outcome.SCREENED})
"""Outcomes that say nothing about the program."""


def seed_remedy(outcome: Outcome) -> str:
    """Returns what to do about a seed that its own evaluator does not pass."""
    return (
        "mend the evaluator, or the task's module" if outcome is Outcome.INTERNAL else "mend the seed or the evaluator"
    )


class Parameters(dict[str, Scalar]):
    """A task's parameters, read as attributes: `trial.parameters.n`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no parameter {name!r} in this task; it has {', '.join(self) or 'none'}") from None


class Carried(dict[str, Any]):
    """Artifacts of the parent's evaluation, by their names: `trial.carried("circles")`, None where there is nothing."""

    def __call__(self, name: str) -> Any:
        return self.get(name)


@dataclass(frozen=True, slots=True)
class Trial:
    """Input of one evaluation. Equal trials are repeatable; `limit` is in seconds of wall time for the stage; `case` names the one of the task's cases
    that `parameters` are those of; `seed` is the evaluator's own and reaches a candidate only where the evaluator passes it on; `carried` holds the artifacts of the parent that the
    task's `carry` names, as plain data. `secret` is the campaign's, and reaches no candidate: what is drawn by `entropy` cannot be
    worked out from the task's files and the seed."""

    seed: int = 0
    split: Split = "search"
    stage: str = "evaluate"
    limit: float = 20.0
    case: str = ""
    parameters: Parameters = field(default_factory=Parameters)
    device: str = "cpu"
    carried: Carried = field(default_factory=Carried)
    secret: str = field(default="", repr=False)

    def entropy(self, *key: int) -> tuple[int, ...]:
        """Returns the seed of a generator of the evaluator's: `numpy.random.default_rng(trial.entropy(1))`. Each `key` has a stream of its own, which nobody can work out without the
        secret; without one it is public."""
        if not self.secret:
            return self.seed, *key
        # A number of numpy is equal to one of Python's, and has another text.
        digest = hashlib.sha256(f"{self.secret}/{int(self.seed)}/{tuple(map(int, key))}".encode()).digest()
        return (int.from_bytes(digest, "big"),)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of an evaluation. `fitness` is set exactly when the outcome is OK, and finite.

    An evaluator returns texts and plain data in `feedback` and `artifacts`, and its fitness in the task's own direction; once
    reported by the engine, both hold ids of stored texts and the fitness is maximised. `seconds` is wall time, `cpu_seconds`
    the candidate's; `standard_error` is that of the mean of `measurements` measurements.

    `cases` hold the score on each case that the fitness is made of, by its name; maximised like the fitness once reported. Prompts show them
    beside the best of all programs on each case.

    `objectives` hold a number for each of the task's, maximised like the fitness once reported; `violation` is how far the task's
    constraints are missed in all, 0 where they are met; `passed` has the fitness that each stage but the last found, by its name;
    `carried` the ids of the parent's artifacts that it was given, by their names. An evaluator sets `trust` where its score is worth less than
    one that the evaluator has witnessed: nothing can make it more.

    `tag` names in a few words a failure of integrity that the evaluator has seen, such as "late write": the program is then quarantined, and the outcome stays
    as evidence. It is for persons: no prompt tells it.

    `limit` is set where the program timed out under a limit in seconds that was shorter than its stage's: what it would have found in time is not known.
    """

    outcome: Outcome
    fitness: float | None = None
    objectives: Mapping[str, float] = field(default_factory=dict)
    violation: float = 0.0
    standard_error: float | None = None
    measurements: int = 1
    descriptors: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    cases: Mapping[str, float] = field(default_factory=dict)
    feedback: str = ""
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    stage: str = ""
    passed: Mapping[str, float] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    certified: bool = False
    fingerprint: str = ""
    device: str = "cpu"
    environment: str = ""
    isolation: str = ""
    trust: Trust = "witnessed"
    cached_from: str = ""
    tag: str = ""
    limit: float = 0.0

    def __post_init__(self) -> None:
        if (self.fitness is not None) != (self.outcome is Outcome.OK):
            raise ValueError(
                f"a fitness is set exactly when the outcome is OK, got {self.outcome} with {self.fitness!r}"
            )
        if self.fitness is not None and not math.isfinite(self.fitness):
            raise UnusableFitness(self.fitness)

    @classmethod
    def ok(  # noqa: PLR0913 each is a field of what an evaluator may say
        cls,
        fitness: float,
        *,
        objectives: Mapping[str, float] | None = None,
        descriptors: Mapping[str, float] | None = None,
        metrics: Mapping[str, float] | None = None,
        cases: Mapping[str, float] | None = None,
        artifacts: Mapping[str, Any] | None = None,
        feedback: str = "",
        standard_error: float | None = None,
        tag: str = "",
        trust: Trust = "witnessed",
    ) -> "Evaluation":
        """Returns the evaluation of a program that did what was asked; `fitness`, `cases` and `objectives` in the task's own directions. Raises `UnusableFitness` where that is not
        finite, and `TypeError` for a truth value or a text."""
        if isinstance(fitness, bool) or not isinstance(fitness, Real):
            raise TypeError(f"a fitness is a number, got {fitness!r}")
        return cls(
            Outcome.OK,
            fitness=float(fitness),
            objectives=dict(objectives or {}),
            standard_error=standard_error,
            descriptors=dict(descriptors or {}),
            metrics=dict(metrics or {}),
            cases=dict(cases or {}),
            artifacts=dict(artifacts or {}),
            feedback=feedback,
            tag=tag,
            trust=trust,
        )

    @classmethod
    def failed(cls, outcome: Outcome, feedback: str, **fields: Any) -> "Evaluation":
        """Returns the evaluation of a program that did not, with feedback for persons and models."""
        return cls(outcome, feedback=feedback, **fields)

    @classmethod
    def wrong(cls, feedback: str, *, tag: str = "") -> "Evaluation":
        """Returns the evaluation of an answer that is not correct."""
        return cls(Outcome.WRONG, feedback=feedback, tag=tag)

    @classmethod
    def invalid(cls, feedback: str, *, tag: str = "") -> "Evaluation":
        """Returns the evaluation of an answer that is not of the form that the task asks for."""
        return cls(Outcome.INVALID, feedback=feedback, tag=tag)


class Level(StrEnum):
    """Isolation of candidates from everything else, from `none` (nothing is promised) to `strict` (hostile programs, measured by a corpus of attacks).
    A level promises all that the ones below it promise: `docs/sandbox.md`."""

    NONE = "none"
    REDUCED = "reduced"
    STANDARD = "standard"
    STRICT = "strict"

    def reaches(self, wanted: "Level") -> bool:
        """Returns whether this level is `wanted` or better."""
        order = list(Level)
        return order.index(self) >= order.index(wanted)

    @classmethod
    def of(cls, isolation: str) -> "Level | None":
        """Returns the level that a recorded line begins with (`standard: landlock 7, seccomp, memory watched`); None where it begins with none."""
        word = isolation.partition(":")[0]
        return cls(word) if word in set(cls) else None


@dataclass(frozen=True, slots=True)
class Description:
    """Description that a worker gives before its first job: the evaluator's stages and functions, the hardware class, the
    isolation that candidates get, the versions of what scores depend on, and the wall limit of the whole cascade in seconds.
    `tops` are the shares of stages with a relative threshold, by their names. `error` tells in one line why the evaluator does not load, `trace` where that is."""

    stages: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    hardware: str = ""
    isolation: str = ""
    environment: str = ""
    limit: float = 0.0
    error: str = ""
    trace: str = ""
    tops: Mapping[str, float] = field(default_factory=dict)
