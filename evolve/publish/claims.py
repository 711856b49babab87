"""What an export says of its program: `record.json`, a frozen value that is checked when it is read.

Invariant: numbers are in the task's own direction; nothing here names a machine, a user or a folder of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evolve.publish.contents import Contents, json_bytes, parsed
from evolve.types import ConfigError, Scalar, Trust
from evolve.types.codec import decode, encode

RECORD = "record.json"
SCHEMA = 1
MOST_DIGITS = 30
"""Digits with which a task may have its fitness shown."""
_BITS = 1_000

Part = Literal["search", "again", "certificate", "case", "from scratch"]
"""What a judging was: the one that the search began with, one more of the same, an exact one, one on a held-out case, or one without what the parents left."""


@dataclass(frozen=True, slots=True)
class TaskClaim:
    """The task, and what names it within the export: `path` is its folder or file, `folder` what all its files lie below. `plugin` and `release` name an evaluator plugin and the package
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
class Judging:
    """One judging of the program, or with `of_seed` of the task's seed on a held-out case. `seed` is what the judge was told, `record` its number in the campaign. `artifacts` and `carried` are stored files by
    the artifacts' names."""

    record: int
    part: Part
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
class Value:
    """What the program is worth, of all its judgings: the certified value; the value of a deterministic task; of a noisy one the mean of what was measured since it won (of all, where nothing was), with its standard error and the limits
    between which the truth lies with a probability of 95 %."""

    fitness: float
    certified: bool = False
    standard_error: float | None = None
    count: int = 1
    low: float | None = None
    high: float | None = None
    confirmed: bool = True


@dataclass(frozen=True, slots=True)
class Promotion:
    """The ruling that the program may be published: by its certificate, or by its held-out cases; `why` in words."""

    by: Literal["certificate", "held_out"]
    why: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """A model that the lineage rests on: `name` as the campaign calls it, `model` as its server does, with the revisions that the server has named."""

    name: str
    model: str = ""
    revisions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """What the whole campaign had spent when the program was exported; `seconds` are those that it ran."""

    programs: int = 0
    seconds: float = 0.0
    judge_seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Everything that is claimed. `files` are stored files by the program's own paths; `versions` are those that the campaign began with; `seed_fitness` is the mean of the seed's judgings; `quarantined` says why the program is
    ruled out, empty where it is not. `secret` is the campaign's, by which its judges have drawn, so that others can draw the same."""

    name: str
    program: str
    files: Mapping[str, str]
    task: TaskClaim
    judgings: tuple[Judging, ...]
    value: Value | None
    kind: str
    versions: Mapping[str, str] = field(default_factory=dict)
    operator: str = ""
    models: tuple[Used, ...] = ()
    seed_fitness: float | None = None
    promotion: Promotion | None = None
    quarantined: str = ""
    found: str = ""
    found_after: float = 0.0
    campaign_seed: int = 0
    secret: str = ""
    steps: int = 0
    spent: Spent = field(default_factory=Spent)
    schema: int = SCHEMA

    @property
    def first(self) -> Judging | None:
        """The judging that the search began with."""
        return next((one for one in self.judgings if one.part == "search"), None)

    @property
    def certificate(self) -> Judging | None:
        """The latest exact judging that proves a value."""
        proofs = [one for one in self.judgings if one.part == "certificate" and one.fitness is not None]
        return proofs[-1] if proofs else None

    @property
    def is_claimed(self) -> bool:
        """Whether any score is the program's own word."""
        return any(one.trust == "claimed" for one in self.judgings if not one.of_seed)


def claims_bytes(claims: Claims) -> bytes:
    """The claims as they are stored."""
    return json_bytes(encode(claims) | {"schema": claims.schema})


def claims_of(contents: Contents) -> Claims:
    """The claims of an export; raises `ConfigError` where they cannot be read."""
    if RECORD not in contents:
        raise ConfigError(f"there is no {RECORD}: this is no export. Do: name what `evolve program export` has written")
    value = parsed(RECORD, contents[RECORD])
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        raise ConfigError(
            f"{RECORD} has schema {str(schema)[:40]!r}, and this version of evolve reads {SCHEMA}. Do: verify it with the version that wrote it"
        )
    try:
        _check_numbers(value)
        claims: Claims = decode(Claims, value)
        _check(claims)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{RECORD} cannot be read: {str(error)[:200]}. Do: export the program again") from error
    return claims


def _check_numbers(value: object) -> None:
    """Raises `ValueError` for a number that no float can hold."""
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise ValueError(f"a number has {value.bit_length():,} bits")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_numbers(item)


def _check(claims: Claims) -> None:
    """Raises `ValueError` for numbers that cannot be what they stand for."""
    value = claims.value
    if not 0 <= claims.task.digits <= MOST_DIGITS:
        raise ValueError(f"the fitness has {claims.task.digits} digits")
    if value is not None and (value.count < 1 or (value.standard_error is not None and value.standard_error < 0.0)):
        raise ValueError(f"the value rests on {value.count} judgings, with a standard error of {value.standard_error}")
