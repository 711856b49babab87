"""Keys of `task.toml` as pydantic models: `docs/tasks.md` explains each to a user.

An unknown key, a wrong type or a value that cannot be meant is a `ValueError` with its path, what was got and the remedy."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from evolve.types import EvaluatorSource, Scalar, canonical, top_share
from evolve.types.errors import did_you_mean

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def format_size(size: int) -> str:
    """Returns bytes with the largest unit that divides them."""
    for unit in ("GiB", "MiB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return f"{size / 1024:g}KiB"


def _parse_size(value: object) -> int:
    match = re.fullmatch(r"(\d+) ?(KiB|MiB|GiB)", value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('a size is written with its unit, such as "512MiB" or "2GiB"')
    return int(match[1]) * _UNITS[match[2]]


def _check_scalar(value: object) -> Scalar:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError("a parameter is a finite number, a text or true/false")


def _check_threshold(value: object) -> float | str | None:
    if isinstance(value, str):
        top_share(value)
        return value
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)):
        return value
    raise ValueError('a threshold is a finite number, or a share such as "top 30%"')


def _read_evaluator(value: object) -> EvaluatorSource:
    if isinstance(value, str):
        return EvaluatorSource(path=_check_path(value))
    keys = {"kind", "plugin"} & set(value) if isinstance(value, dict) else set()
    if not isinstance(value, dict) or len(keys) != 1 or not isinstance(value[key := keys.pop()], str):
        raise ValueError(
            'an evaluator is a file, "evaluator.py", one that comes with the engine, { kind = "command", ... }, or a plugin\'s, { plugin = "name", ... }'
        )
    settings = {name: setting for name, setting in value.items() if name != key}
    # The task's definition in the log holds them: plain data, in one form for equal settings.
    try:
        canonical(settings)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "the settings of a plugin are plain data: finite numbers, texts, true/false, lists and tables"
        ) from error
    return EvaluatorSource(plugin=value[key], settings=settings)


def _check_path(path: str) -> str:
    """Returns a path in the task's folder in its plain form."""
    plain = PurePosixPath(path)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or "\\" in path or "\0" in path:
        raise ValueError("a file is named by its path inside the task's folder, with /")
    # Names are told on one line of a terminal, which must not obey them.
    if not path.isprintable():
        raise ValueError("a file's name has no line break and no other control character")
    return str(plain)


def _check_folder(path: str) -> str:
    if not path or not path.isprintable():
        raise ValueError("a folder is named by its path, which has no control character")
    return path


def _check_identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError("a name is made of letters, digits and underscores, and begins with no digit")
    return name


# The JSON Schema of such a type says less than its check: it is for editors, and accepts all that the engine accepts.
FilePath = Annotated[str, AfterValidator(_check_path)]
Folder = Annotated[str, AfterValidator(_check_folder)]
Name = Annotated[str, AfterValidator(_check_identifier)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Size = Annotated[int, PlainValidator(_parse_size), WithJsonSchema({"type": "string"})]
Threshold = Annotated[
    float | str | None, PlainValidator(_check_threshold), WithJsonSchema({"type": ["number", "string"]})
]
Evaluator = Annotated[EvaluatorSource, PlainValidator(_read_evaluator), WithJsonSchema({"type": ["string", "object"]})]
Parameter = Annotated[Scalar, PlainValidator(_check_scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})]
Parameters = dict[Name, Parameter]
Cases = dict[Name, list[Parameter]] | list[Parameters]


# --- tables


class Table(BaseModel):
    """A table of `task.toml`: an unknown key is an error, and no value is turned into another type. The docstring of a field is its row on the
    page of the documentation."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


def _module(file: str) -> str:
    """Returns the name by which Python imports a file of a program."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class ProgramTable(Table):
    """`[program]`: the seed's files, what lies beside them, and the module that the evaluator calls functions of."""

    files: list[FilePath] = Field(default=["seed.py"], min_length=1)
    """The files of a program; what they hold may change."""
    entry: str = "seed"
    """The module that functions are called in: a file of the program or of the context, without `.py`; `""` where
    none are."""
    context: list[FilePath] = []
    """Files that a program finds beside its own and that never change: headers, a library, data."""
    new_files: list[FilePath] = []
    """Patterns of files that a program may add, such as `"lib/*.py"`; none without it."""

    @model_validator(mode="after")
    def _names_are_files(self) -> "ProgramTable":
        named = [*self.files, *self.context]
        if len(set(named)) < len(named):
            raise ValueError("a file is named twice. Try: name each once")
        modules = [_module(file) for file in named if file.endswith(".py")]
        if self.entry and self.entry not in modules:
            meant = _module(self.entry)
            if meant in modules:
                raise ValueError(
                    f"entry is a module, as `import` names it, and no file: got {self.entry!r}. Try: write entry = {meant!r}"
                )
            hint = did_you_mean(self.entry, modules) or ' Try: write entry = "" where no Python function is called.'
            raise ValueError(f"no file of the program is called {self.entry + '.py'!r}.{hint}")
        return self


class FitnessTable(Table):
    """`[fitness]`: the number that is searched for."""

    name: str = Field(default="fitness", min_length=1)
    """Name that reports show."""
    direction: Literal["max", "min"] = "max"
    """`"max"` or `"min"`."""
    digits: int = Field(default=6, ge=0, le=30)
    """Digits that are shown."""
    log_ratio: bool = False
    """Whether it is the logarithm of a ratio to the seed, such as ln(speed-up): reports then tell the ratio with
    its interval, and how far from 1 the seed's own measurements lie."""


class AxisTable(Table):
    """`[[axes]]`: what makes good programs different; the best of every cell is kept."""

    name: Name
    """The descriptor that the evaluator returns: letters, digits and underscores."""
    low: Finite
    """Where the first cell begins; what is lower falls into it."""
    high: Finite
    """Where the last cell ends; what is higher falls into it."""
    bins: int = Field(ge=1, le=10_000)
    """Number of cells of equal width."""

    @model_validator(mode="after")
    def _low_is_below_high(self) -> "AxisTable":
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got low = {self.low} and high = {self.high}")
        return self


class AnchorTable(Table):
    """`[[anchors]]`: values to compare with."""

    value: Finite
    """The fitness."""
    by: str = Field(min_length=1)
    """Author or method that has reached it."""
    year: int | None = None
    """Year of publication."""
    source: str = ""
    """Place of publication."""


class BoundTable(Table):
    """`[bound]`: what is proven to be impossible to beat."""

    value: Finite
    """A fitness beyond it is a fault of the evaluator, so the program is quarantined."""


class ObjectiveTable(Table):
    """`[[objectives]]`: several numbers that matter beside the fitness; the Pareto front is over these."""

    name: Name
    """What it is called in `Evaluation.ok(..., objectives={...})`."""
    direction: Literal["max", "min"] = "max"
    """`"max"` or `"min"`."""
    digits: int = Field(default=6, ge=0, le=30)
    """Digits that are shown."""
    reference: Finite | None = None
    """Where the hypervolume begins; without it, at the seed's value."""


class ConstraintTable(Table):
    """`[[constraints]]`: what a metric must be. A program that misses one is never the best, and gives way to every one that does not."""

    metric: str = Field(min_length=1)
    """The metric that the evaluator returns."""
    at_least: Finite | None = None
    """The smallest value that meets it."""
    at_most: Finite | None = None
    """The largest value that meets it."""

    @model_validator(mode="after")
    def _bounds(self) -> "ConstraintTable":
        if self.at_least is None and self.at_most is None:
            raise ValueError("a constraint has a bound. Try: give at_least or at_most")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"nothing is at least {self.at_least} and at most {self.at_most}")
        return self


class NeedsTable(Table):
    """`needs` of a stage: what it holds while it runs."""

    cores: int = Field(default=1, ge=1)
    """Processor cores: a stage that needs more than the machine has is refused when a campaign begins. One that
    needs several is kept to cores of its own."""
    gpus: int | None = Field(default=None, ge=0, le=64)
    """GPUs that no other stage has meanwhile; without it, as many as `sandbox.gpu` grants."""
    exclusive: bool = False
    """Whether nothing else is evaluated on this machine meanwhile, as far as evolve does that for this user: for
    times by the wall clock."""
    pinned: bool = False
    """Whether its programs and their evaluator are kept to cores of its own, one where it needs no more: for what
    is timed."""


class StageTable(Table):
    """`[[stages]]`: limits of the evaluator's stages; a table here replaces what the code says of that stage."""

    name: Name = "evaluate"
    """Which stage; the first is called `evaluate`."""
    seconds: Finite = Field(default=20.0, gt=0)
    """Wall time for the whole stage."""
    threshold: Threshold = None
    """What the next stage wants: a fitness, in your own direction, or `"top 30%"` of what this stage found
    before."""
    needs: NeedsTable = NeedsTable()
    """What the stage holds while it runs."""


class NoveltyTable(Table):
    """`[novelty]`: how near to others a model's programs may be."""

    distance: Finite = Field(default=0.0, ge=0, le=0.5)
    """A model's program is not evaluated when the share of its text that it has not in common with another one of
    its island is smaller; 0: it is always evaluated."""


class CarryTable(Table):
    """`[carry]`: what a parent leaves to its children."""

    artifacts: list[str] = Field(min_length=1)
    """Artifacts of the parent that the evaluator gets as `trial.carried(name)`."""


class CheckTable(Table):
    """`[check]`: what `evolve task check` may ask of the task beside its seed."""

    answers: Literal["open", "determined"] = "open"
    """`"determined"`: each input has one right answer. The check then makes up wrong ones, and each must be
    refused."""
    precision: Literal["float64", "float32", "float16"] = "float64"
    """Of determined answers: how exact they must be. Those that are rounded to the next lower precision must be
    refused."""
    honest: list[FilePath] = []
    """Patterns of files and folders in the task's folder: programs that must pass as the seed does, such as
    `"twins/*.py"`."""
    dishonest: list[FilePath] = []
    """The same, of programs that must gain nothing: they fail, or are no better than the seed."""


class EnvironmentTable(Table):
    """`[environment]`: where evaluator and candidate run when that is not the engine's own environment."""

    python: str = Field(min_length=1)
    """An interpreter, 3.11 or newer: a path (from the task's folder, or absolute, `~` and `$NAME` are replaced) or
    a command."""


class SandboxTable(Table):
    """`[sandbox]`: what the program's process may use, and how much of it is kept. The fields are those of `Limits` and `Grants`."""

    memory: Size = Field(default="2GiB", validate_default=True)
    """Memory, with its unit: `KiB`, `MiB` or `GiB`."""
    artifacts: Size = Field(default="16MiB", validate_default=True)
    """How much of one program the evaluator may keep in `artifacts`, all together, as JSON: `KiB`, `MiB` or
    `GiB`."""
    preload: list[str] = []
    """Modules that are imported once, before the process of a program is forked: list `numpy` if programs import
    it, since an import costs more than a fork."""
    scratch: Size = Field(default="64MiB", validate_default=True)
    """How much a program's working folder may hold; it counts as memory."""
    file_size: Size = Field(default="32MiB", validate_default=True)
    """The largest file that may be written, and the most that a command may print."""
    tasks: int = Field(default=32, ge=2, le=4096)
    """Processes and threads that a program may have at a time."""
    gpu: int = Field(default=0, ge=0, le=64)
    """How many GPUs a program may use at most; with one, its driver is within reach. Not verified on a device
    yet."""
    execute: bool = Field(default=True, alias="exec")
    """Whether a program may start other programs, such as a compiler or a shell."""
    memfd: bool = False
    """Whether a program may make files that lie in memory alone."""
    shm: Size = Field(default="64MiB", validate_default=True)
    """Shared memory in `/dev/shm`, for `multiprocessing` and some libraries; it counts as memory."""
    read: list[Folder] = []
    """Folders that a program may read, by the same path as outside: from the task's folder, or absolute (`~` and
    `$NAME` are replaced). What lies outside of the task's folder is no part of its version."""
    threads: int = Field(default=1, ge=1, le=1024)
    """Threads that numerical libraries start in a program's process."""
    network: Literal["off", "loopback"] = "off"
    """`"off"`, or `"loopback"`: a loopback of the program's own, which no process outside shares. None reaches the
    internet."""
    template: bool = True
    """Whether a program's process is forked from a warm one; `false` starts a fresh interpreter each time, which
    imports `preload` itself, for libraries that must not be forked."""
    private: bool = False
    """For tasks whose programs must leave no word for later ones, such as what they were shown of held-out cases:
    at level `strict` a program sees copies, in the memory of its worker, of the standard library and of what
    `preload` imports, and no other module, program or library."""

    @model_validator(mode="after")
    def _check_together(self) -> "SandboxTable":
        if self.threads >= self.tasks:
            raise ValueError(
                f"threads = {self.threads} needs more than tasks = {self.tasks}, which counts processes and threads together. "
                f"Try: set tasks = {2 * self.threads}"
            )
        if self.private and self.gpu:
            raise ValueError(
                "private hides what programs leave in the machine's memory, and a GPU's driver keeps what no copy hides. Try: take out one"
            )
        for key in {"scratch", "shm"} & self.model_fields_set:
            if getattr(self, key) > self.memory:
                raise ValueError(
                    f"{key} counts as memory, and is more than memory = {format_size(self.memory)}. Try: lower it, or raise memory"
                )
        return self


class TaskFile(Table):
    """The whole of `task.toml`."""

    schema_: Literal[1] = Field(alias="schema")
    """The version of this table."""
    brief: FilePath = "README.md"
    """The file that says what is wanted, in words, for whoever writes programs."""
    prompts: FilePath | None = None
    """A folder with templates in place of the engine's, for what a model reads: see prompts. What they say decides
    no score."""
    program: ProgramTable = ProgramTable()
    """The seed."""
    evaluator: Evaluator = Field(default="evaluator.py", validate_default=True)
    """The file with the code that evaluates a program; or `{ kind = "command", ... }`, for a script that says what
    it is worth: see scripts; or a plugin's: `{ plugin = "name", ... }` with its settings."""
    verifier: FilePath | None = None
    """A file that checks certificates with the standard library alone, for whoever has nothing else: see tasks."""
    deterministic: bool = False
    """Whether equal programs always get equal scores; they are then evaluated once."""
    promotion: Literal["held_out", "certificate"] = "held_out"
    """Condition for a final result. `"certificate"`: a value from `@evaluate.certify`, which whatever would be an
    elite or the best must have. `"held_out"`: the cases of `held_out`, on none of which it may be worse than the
    seed."""
    fitness: FitnessTable = FitnessTable()
    """The number that is searched for."""
    parameters: Parameters = {}
    """Numbers and texts that the evaluator reads from `trial.parameters`; `--set task.points=80` changes one."""
    cases: Cases = []
    """Cases that the fitness is the mean of, written like `held_out`; a table may have a `weight`. The evaluator's last
    stage is called once for each, with its name as `trial.case`."""
    held_out: Cases = []
    """Cases that the search never sees, as parameters: `n = [29, 32]` (each combination is a case), or an array of
    tables with a `name` each. Each new best is evaluated on them once."""
    axes: list[AxisTable] = []
    """What makes good programs different: the best of every cell is kept. Without axes: the program's size, and its
    distance from the seed."""
    objectives: list[ObjectiveTable] = []
    """Several numbers that matter beside the fitness; the Pareto front is over these."""
    constraints: list[ConstraintTable] = []
    """What metrics must be; a program that misses one is never the best."""
    anchors: list[AnchorTable] = []
    """Values to compare with."""
    bound: BoundTable | None = None
    """What is proven to be impossible to beat."""
    stages: list[StageTable] = Field(default_factory=lambda: [StageTable()], min_length=1)
    """Limits of the evaluator's stages; a table here replaces what the code says of that stage."""
    novelty: NoveltyTable = NoveltyTable()
    """How near to others a model's programs may be."""
    carry: CarryTable | None = None
    """What a parent leaves to its children."""
    check: CheckTable = CheckTable()
    """What `evolve task check` may ask of the task beside its seed."""
    environment: EnvironmentTable | None = None
    """Where evaluator and candidate run when that is not the engine's own environment."""
    sandbox: SandboxTable = SandboxTable()
    """What the program's process may use, and how much of it is kept."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> "TaskFile":
        for kind, names in (
            ("axes", [axis.name for axis in self.axes]),
            ("objectives", [objective.name for objective in self.objectives]),
            ("constraints", [constraint.metric for constraint in self.constraints]),
            ("stages", [stage.name for stage in self.stages]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"two of the {kind} are called {twice[0]!r}. Try: rename one")
        return self

    @model_validator(mode="before")
    @classmethod
    def _refuse_parameters_in_a_case(cls, data: Any) -> Any:
        """Says what pydantic says of all forms that a case might have."""
        for key in ("cases", "held_out"):
            declared = data.get(key) if isinstance(data, dict) else None
            for case in declared if isinstance(declared, list) else []:
                tables = (
                    [name for name, value in case.items() if isinstance(value, dict)] if isinstance(case, dict) else []
                )
                if tables:
                    raise ValueError(
                        f"a table of {key} holds the parameters themselves, got a table {tables[0]!r} in it. Try: write them beside `name`, such as n = 32"
                    )
        return data

    @model_validator(mode="after")
    def _cases_are_parameters(self) -> "TaskFile":
        self._check_cases("cases", self.cases, {"name", "weight"})
        self._check_cases("held_out", self.held_out, {"name"})
        if self.cases and (self.carry or self.promotion == "certificate"):
            what = "what a parent leaves to its children" if self.carry else "certificates"
            raise ValueError(f"each case has artifacts of its own, and there are no {what} then. Try: take `cases` out")
        return self

    def _check_cases(self, key: str, declared: Cases, own: set[str]) -> None:
        tables = [declared] if isinstance(declared, dict) else declared
        if isinstance(declared, list):
            names = [str(case.get("name", "")) for case in declared]
            if not all(names) or len(set(names)) < len(names):
                raise ValueError(f"each table of {key} has a `name` of its own. Try: give it one")
        for name in {name for table in tables for name in table} - own:
            if name not in self.parameters:
                raise ValueError(
                    f"{key} sets {name!r}, which is no parameter.{did_you_mean(name, self.parameters)} Try: declare it in [parameters]"
                )
        for case in declared if isinstance(declared, list) and "weight" in own else []:
            weight = case.get("weight", 1)
            if isinstance(weight, bool | str) or not 1e-6 <= weight <= 1e6:
                raise ValueError(
                    f"the weight of a case is a number from 1e-6 to 1e6, got {weight!r}. Try: correct it, or leave it out"
                )

    @model_validator(mode="after")
    def _anchors_respect_the_bound(self) -> "TaskFile":
        sign = 1 if self.fitness.direction == "max" else -1
        for anchor in self.anchors:
            if self.bound is not None and sign * anchor.value > sign * self.bound.value:
                raise ValueError(
                    f"the anchor {anchor.value} by {anchor.by!r} is beyond the bound {self.bound.value}, which nothing can be. "
                    f"Try: check both, and fitness.direction = {self.fitness.direction!r}"
                )
        return self


def parse(data: Mapping[str, Any]) -> TaskFile:
    """Returns `data` as a task file; raises `ValueError` with the path and the reason of the first thing that is wrong."""
    try:
        return TaskFile.model_validate(dict(data))
    except ValidationError as error:
        raise ValueError(_explain(error)) from error


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False)
    # A misspelt key is missing, too: the unknown key explains most of the other complaints.
    first = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    # pydantic marks the name of an entry that it refuses by a part of its own.
    keys = tuple(key for key in first["loc"] if key != "[key]")
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")
    if first["type"] == "extra_forbidden":
        near = did_you_mean(str(keys[-1]), _keys_of(keys[:-1]))
        return f"unknown key {where!r}.{near} Try: correct it; `evolve task schema --markdown` explains every key"
    if first["type"] == "missing":
        example = 1 if keys == ("schema",) else "..."
        return f"the key {where!r} is missing. Try: add it, for example {keys[-1]} = {example}"
    if first["type"] == "model_type":
        return f"{where}: this is a table, got {first['input']!r}. Its keys: {', '.join(_keys_of(keys))}"
    reason = first["msg"].removeprefix("Value error, ")
    if isinstance(first["input"], Mapping | BaseModel):
        return f"{where}: {reason}" if where else reason
    near = ""
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        near = did_you_mean(first["input"], re.findall(r"'(\w+)'", first["ctx"]["expected"]))
    return f"{where}: {reason}, got {first['input']!r}.{near}"


def _keys_of(path: Iterable[int | str]) -> list[str]:
    """Returns the keys that the table at `path` may have."""
    model: type[BaseModel] = TaskFile
    for key in path:
        if isinstance(key, str):
            annotation = next(
                field for name, field in model.model_fields.items() if key in (name, field.alias)
            ).annotation
            # A table, a list of tables, or one that may be left out.
            kinds = (annotation, *getattr(annotation, "__args__", ()))
            model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    return [field.alias or name for name, field in model.model_fields.items()]
