"""Claims of an export: `record.json`, a frozen value that is checked when it is read.

Numbers are in the task's own direction; no claim names a machine, a user or a folder of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evolve.statistics import LEVEL, PRIOR_DEGREES, student_quantile
from evolve.types import ConfigError, RecordId, Scalar, Task, Trust
from evolve.types.codec import decode, encode
from evolve_publish.files import Contents, json_bytes, parse_json, place_of_task, read_object

RECORD = "record.json"
STEPS = "lineage/steps.json"
SCHEMA = 1
MOST_DIGITS = 30
"""Digits with which a task may have its fitness shown."""

EvaluationPart = Literal["search", "again", "certificate", "case", "from scratch"]
"""Kinds of evaluations: the first one of the search, one more of the same, an exact one, one on a held-out case, or one without the artifacts that the parents left."""


@dataclass(frozen=True, slots=True)
class TaskClaim:
    """Task, and its place within the export: `path` is its folder or file, `folder` what all its files lie below. `plugin` and `release` name an evaluator plugin and the package
    with its version that it came in (empty: the files hold the evaluator, or nobody knows the version). `log_ratio`: the fitness is the logarithm of a ratio; `timed`: seconds of a machine decide it."""

    name: str
    version: str
    folder: str
    path: str
    parameters: Mapping[str, Scalar]
    fitness: str
    direction: Literal["max", "min"]
    digits: int
    deterministic: bool
    promotion: Literal["held_out", "certificate"]
    plugin: str = ""
    release: str = ""
    log_ratio: bool = False
    timed: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationClaim:
    """Evaluation of the program, or with `of_seed` of the task's seed on a held-out case. `seed` is the random seed, `record` its number in the campaign. `artifacts` and `carried` are stored files by
    the artifacts' names."""

    record: int
    part: EvaluationPart
    outcome: str
    fitness: float | None = None
    seed: int = 0
    case: str = ""
    of_seed: bool = False
    standard_error: float | None = None
    measurements: int = 1
    violation: float = 0.0
    objectives: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    descriptors: Mapping[str, float] = field(default_factory=dict)
    fingerprint: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)
    at: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    device: str = "cpu"
    hardware: str = ""
    environment: str = ""
    isolation: str = ""
    trust: Trust = "witnessed"


@dataclass(frozen=True, slots=True)
class ValueClaim:
    """Value of the program by all its evaluations: the certified value; the value of a deterministic task; of a noisy one the mean of what was measured since it won (of all, where nothing was), with its standard error and the limits
    between which the truth lies with a probability of 95 %."""

    fitness: float
    certified: bool = False
    standard_error: float | None = None
    count: int = 1
    low: float | None = None
    high: float | None = None
    confirmed: bool = True


@dataclass(frozen=True, slots=True)
class PromotionClaim:
    """Ruling that the program may be published: by its certificate, or by its held-out cases; `why` in words."""

    by: Literal["certificate", "held_out"]
    why: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class ModelClaim:
    """Model that the lineage rests on: `name` as the campaign calls it, `model` as its server does, with the revisions that the server has named."""

    name: str
    model: str = ""
    revisions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claims:
    """Everything that an export claims. `files` are stored files by the program's own paths; `versions` are those that the campaign began with; `seed_fitness` is the mean of the seed's evaluations; `quarantined` says why the
    program is ruled out, empty where it is not. `secret` is the campaign's, from which its evaluators have drawn, so that others can draw the same. `spent` holds what the whole campaign had spent by then."""

    name: str
    program: str
    files: Mapping[str, str]
    task: TaskClaim
    judgings: tuple[EvaluationClaim, ...]
    kind: str
    value: ValueClaim | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    operator: str = ""
    models: tuple[ModelClaim, ...] = ()
    seed_fitness: float | None = None
    promotion: PromotionClaim | None = None
    quarantined: str = ""
    found: str = ""
    found_after: float = 0.0
    campaign_seed: int = 0
    secret: str = ""
    steps: int = 0
    spent: Mapping[str, float] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def first(self) -> EvaluationClaim | None:
        """First evaluation of the search."""
        return next((one for one in self.judgings if one.part == "search"), None)

    @property
    def certificate(self) -> EvaluationClaim | None:
        """Latest exact evaluation that proves a value."""
        proofs = [one for one in self.judgings if one.part == "certificate" and one.fitness is not None]
        return proofs[-1] if proofs else None

    @property
    def passed(self) -> tuple[tuple[float, float | None], ...]:
        """Fitness of each evaluation on the task's own instances that passed, with its standard error."""
        counted = (one for one in self.judgings if one.part in ("search", "again") and not one.of_seed)
        return tuple(
            (one.fitness, one.standard_error) for one in counted if one.outcome == "ok" and one.fitness is not None
        )

    @property
    def is_claimed(self) -> bool:
        """Any score is the program's own word."""
        return any(one.trust == "claimed" for one in self.judgings if not one.of_seed)


@dataclass(frozen=True, slots=True)
class LineageClaim:
    """Ancestor of the program, or the program itself. `change` is its fitness minus that of its first parent, in the task's own direction; `diff` is the file with its changes, empty for the first one."""

    record: RecordId
    program: str
    kind: str
    outcome: str
    parents: tuple[RecordId, ...] = ()
    operator: str = ""
    model: str = ""
    fitness: float | None = None
    change: float | None = None
    thought: str = ""
    trust: str = ""
    isolation: str = ""
    diff: str = ""


def read_steps(contents: Contents) -> tuple[LineageClaim, ...]:
    """Returns the lineage, from the seed on; raises `ConfigError` where it cannot be read."""
    try:
        steps = parse_json(STEPS, contents.get(STEPS, b"[]"))
        return tuple(decode(LineageClaim, step) for step in (steps if isinstance(steps, list) else [steps]))
    except (ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{STEPS} cannot be read: {str(error)[:200]}. Try: export the program again") from error


def value_limits(mean: float, error: float, count: int) -> tuple[float, float]:
    """Returns the limits of the truth with a probability of 95 %, by Student's t, for a mean of `count` measurements with this standard error. A pool's error rests on `PRIOR_DEGREES` deviations beside its own."""
    half = student_quantile(LEVEL, PRIOR_DEGREES + count - 1) * error
    return mean - half, mean + half


def encode_claims(claims: Claims) -> bytes:
    """Returns the claims as they are stored."""
    return json_bytes(encode(claims) | {"schema": claims.schema})


def read_claims(contents: Contents) -> Claims:
    """Returns the claims of an export; raises `ConfigError` where they cannot be read."""
    value = read_object(contents, RECORD, SCHEMA)
    try:
        claims: Claims = decode(Claims, value)
        _check(claims)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{RECORD} cannot be read: {str(error)[:200]}. Try: export the program again") from error
    return claims


def _check(claims: Claims) -> None:
    """Raises `ValueError` for numbers that cannot be what they stand for."""
    value = claims.value
    # A stranger's record.json must not have a number printed with a million digits.
    if not 0 <= claims.task.digits <= MOST_DIGITS:
        raise ValueError(f"the fitness has {claims.task.digits} digits")
    if value is not None and (value.count < 1 or (value.standard_error is not None and value.standard_error < 0.0)):
        raise ValueError(
            f"the value rests on {value.count} evaluations, with a standard error of {value.standard_error}"
        )


def claim_task(task: Task, name: str, release: str) -> TaskClaim:
    """Returns the claim of a task; `release` is that of its evaluator's package."""
    folder, path = place_of_task(task)
    return TaskClaim(
        name=name,
        version=task.version,
        folder=folder,
        path=path,
        parameters=dict(task.parameters),
        fitness=task.fitness.name,
        direction=task.fitness.direction,
        digits=task.fitness.digits,
        deterministic=task.deterministic,
        promotion=task.promotion,
        plugin=task.evaluator.plugin or "",
        release=release,
        log_ratio=task.fitness.log_ratio,
        timed=is_timed(task),
    )


def is_timed(task: Task) -> bool:
    """Returns whether the seconds of a machine decide the fitness: a ratio of times, or a stage that has cores to itself because of them."""
    pinned = any(stage.needs.pinned or stage.needs.exclusive for stage in task.stages)
    return task.fitness.log_ratio or pinned
