"""What `task.toml` may say, as pydantic models: `docs/tasks.md` explains each key to a user.

Invariant: an unknown key, a wrong type or a value that cannot be meant is a `ValueError` with its path, what was got and the remedy."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator

from evolve.types import EvaluatorSource, Scalar, canonical
from evolve.types.suggest import did_you_mean

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _scalar(value: object) -> Scalar:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError("a parameter is a finite number, a text or true/false")


def _memory(value: object) -> int:
    """`"2GiB"` as bytes."""
    match = re.fullmatch(r"(\d+) ?(KiB|MiB|GiB)", value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('a size is written with its unit, such as "512MiB" or "2GiB"')
    return int(match[1]) * _UNITS[match[2]]


def _evaluator(value: object) -> EvaluatorSource:
    if isinstance(value, str):
        return EvaluatorSource(path=_inside(value))
    if isinstance(value, dict) and isinstance(value.get("plugin"), str):
        settings = {key: setting for key, setting in value.items() if key != "plugin"}
        if not _is_plain(settings):
            raise ValueError(
                "the settings of a plugin are plain data: finite numbers, texts, true/false, lists and tables"
            )
        return EvaluatorSource(plugin=value["plugin"], settings=settings)
    raise ValueError('an evaluator is a file, "evaluator.py", or a plugin\'s, { plugin = "name", ... }')


def _is_plain(value: object) -> bool:
    """Whether `value` is the same after a journey as JSON."""
    try:
        canonical(value)
    except (TypeError, ValueError):
        return False
    return True


def _inside(path: str) -> str:
    """A path in the task's folder, in its plain form."""
    plain = PurePosixPath(path)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or "\\" in path or "\0" in path:
        raise ValueError("a file is named by its path inside the task's folder, with /")
    return str(plain)


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError("a name is made of letters, digits and underscores, and begins with no digit")
    return name


FilePath = Annotated[str, AfterValidator(_inside)]
Name = Annotated[str, AfterValidator(_identifier)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Table(BaseModel):
    """A table of `task.toml`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ProgramTable(Table):
    """`[program]`: the seed's files, and the module that the evaluator calls functions of."""

    files: list[FilePath] = Field(default=["seed.py"], min_length=1)
    entry: str = "seed"

    @model_validator(mode="after")
    def _entry_is_a_file(self) -> "ProgramTable":
        if len(set(self.files)) < len(self.files):
            raise ValueError("a file is named twice. Do: name each once")
        if f"{self.entry}.py" not in self.files:
            modules = [file.removesuffix(".py") for file in self.files if file.endswith(".py")]
            raise ValueError(
                f"no file of the program is called {self.entry + '.py'!r}.{did_you_mean(self.entry, modules)}"
            )
        return self


class FitnessTable(Table):
    """`[fitness]`."""

    name: str = Field(default="fitness", min_length=1)
    direction: Literal["max", "min"] = "max"
    digits: int = Field(default=6, ge=0, le=30)


class AxisTable(Table):
    """`[[axes]]`."""

    name: Name
    low: Finite
    high: Finite
    bins: int = Field(ge=1, le=10_000)

    @model_validator(mode="after")
    def _low_is_below_high(self) -> "AxisTable":
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got low = {self.low} and high = {self.high}")
        return self


class AnchorTable(Table):
    """`[[anchors]]`."""

    value: Finite
    by: str = Field(min_length=1)
    year: int | None = None
    source: str = ""


class BoundTable(Table):
    """`[bound]`."""

    value: Finite


class NeedsTable(Table):
    """`needs` of a stage."""

    cores: int = Field(default=1, ge=1)


class StageTable(Table):
    """`[[stages]]`."""

    name: Name = "evaluate"
    seconds: Finite = Field(default=20.0, gt=0)
    threshold: Finite | None = None
    needs: NeedsTable = NeedsTable()


class SandboxTable(Table):
    """`[sandbox]`."""

    memory: Annotated[int, PlainValidator(_memory)] = 2 << 30
    preload: list[str] = []


class TaskFile(Table):
    """The whole of `task.toml`."""

    schema_: Literal[1] = Field(alias="schema")
    brief: FilePath = "README.md"
    program: ProgramTable = ProgramTable()
    evaluator: Annotated[EvaluatorSource, PlainValidator(_evaluator)] = EvaluatorSource(path="evaluator.py")
    deterministic: bool = False
    promotion: Literal["held_out", "certificate"] = "held_out"
    fitness: FitnessTable = FitnessTable()
    parameters: dict[Name, Annotated[Scalar, PlainValidator(_scalar)]] = {}
    axes: list[AxisTable] = []
    anchors: list[AnchorTable] = []
    bound: BoundTable | None = None
    stages: list[StageTable] = Field(default=[StageTable()], min_length=1)
    sandbox: SandboxTable = SandboxTable()

    @model_validator(mode="after")
    def _names_are_unique(self) -> "TaskFile":
        for kind, names in (
            ("axes", [axis.name for axis in self.axes]),
            ("stages", [stage.name for stage in self.stages]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"two of the {kind} are called {twice[0]!r}. Do: rename one")
        return self

    @model_validator(mode="after")
    def _anchors_respect_the_bound(self) -> "TaskFile":
        sign = 1 if self.fitness.direction == "max" else -1
        for anchor in self.anchors:
            if self.bound is not None and sign * anchor.value > sign * self.bound.value:
                raise ValueError(
                    f"the anchor {anchor.value} by {anchor.by!r} is beyond the bound {self.bound.value}, which nothing can be. "
                    f"Do: check both, and fitness.direction = {self.fitness.direction!r}"
                )
        return self


def parse(data: Mapping[str, Any]) -> TaskFile:
    """`data` as a task file; raises `ValueError` with the path and the reason of the first thing that is wrong."""
    try:
        return TaskFile.model_validate(dict(data))
    except ValidationError as error:
        raise ValueError(_explained(error)) from error


def _explained(error: ValidationError) -> str:
    """An unknown key explains most other complaints (a misspelt key is missing too), so it comes first."""
    problems = error.errors(include_url=False)
    first = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    keys = tuple(key for key in first["loc"] if key != "[key]")
    where = _dotted(keys)
    if first["type"] == "extra_forbidden":
        return f"unknown key {where!r}.{did_you_mean(str(keys[-1]), _known(keys[:-1]))} Do: correct it; docs/tasks.md explains every key"
    if first["type"] == "missing":
        return (
            f"the key {where!r} is missing. Do: add it, for example {keys[-1]} = {1 if keys == ('schema',) else '...'}"
        )
    if first["type"] == "model_type":
        return f"{where}: this is a table, got {first['input']!r}. Its keys: {', '.join(_known(keys))}"
    reason = first["msg"].removeprefix("Value error, ")
    if isinstance(first["input"], Mapping | BaseModel):
        return f"{where}: {reason}" if where else reason
    return f"{where}: {reason}, got {first['input']!r}{_suggested(first)}"


def _dotted(keys: Iterable[int | str]) -> str:
    """`("axes", 0, "low")` as `axes[0].low`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _suggested(problem: Mapping[str, Any]) -> str:
    if problem["type"] != "literal_error" or not isinstance(problem["input"], str):
        return "."
    return "." + did_you_mean(problem["input"], re.findall(r"'(\w+)'", problem["ctx"]["expected"]))


def _known(keys: Iterable[int | str]) -> list[str]:
    """The keys that the table at `keys` may have."""
    model: type[BaseModel] = TaskFile
    for key in keys:
        if isinstance(key, str):
            model = tables(model)[key]
    return [field.alias or name for name, field in model.model_fields.items()]


def tables(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The tables, and the arrays of tables, that a table holds, by key."""
    found = {}
    for name, field in model.model_fields.items():
        for kind in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found[field.alias or name] = kind
    return found
