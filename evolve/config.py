"""Settings of a campaign, from files and the command line, stored with the campaign's first event.

An unknown key is an error with its path; every key has a reader."""

import copy
import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    field_validator,
    model_validator,
)

from evolve.devices.inventory import usable_cores
from evolve.stop import Resource
from evolve.types import PROPOSE, ConfigError, Level, Scalar
from evolve.types.errors import did_you_mean
from evolve.types.secrets import place_of_key

_REMEDY = "Try: `evolve run TASK --dry-run` shows every setting with its value"


class SettingsSection(BaseModel):
    """A table of settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_table(key: str, kind: type) -> BeforeValidator:
    """Lets a value of one kind stand for the table in which it is the value of `key`."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, kind) else value)


class AxisSection(SettingsSection):
    """One of `archive.axes`."""

    name: str = Field(min_length=1)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    bins: int = Field(ge=1, le=10_000)

    @model_validator(mode="after")
    def _rises(self) -> "AxisSection":
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got {self.low:g} and {self.high:g}")
        return self


class IslandsSection(SettingsSection):
    """`archive.*`: the shape and the rules of the archive. Counts are settled proposals of an island; 0 means never."""

    islands: int = Field(default=4, ge=1, le=1000, description="how many islands")
    capacity: int = Field(
        default=0,
        ge=0,
        le=100,
        description="elites per cell; 0: one, or four where neither the task nor `archive.axes` has axes",
    )
    axes: tuple[AxisSection, ...] = Field(
        default=(),
        description="axes in place of the task's: `--set 'archive.axes=[{name=\"walls\", low=0, high=26, bins=26}]'`. An axis takes the "
        "descriptor of its name, else the metric; `size_log2` and `seed_distance` are computed from the text. A program without a number is "
        "`invalid`",
    )
    migrate_every: int = Field(
        default=200,
        ge=0,
        description="each time that so many of an island's proposals have settled, its best elites claim places on the next island too; "
        "0: never",
    )
    migrants: int = Field(default=1, ge=1, description="how many of its elites do so")
    reset_every: int = Field(
        default=0,
        ge=0,
        description="each time that so many proposals per island have settled, the worse half of the islands is cleared and begins again, "
        "each with the best program of a better island; 0: never",
    )
    cells: Literal["grid", "cvt"] = Field(
        default="grid",
        description='what the cells of an island are: `"grid"`, the bins of the axes; or `"cvt"`, '
        "regions around centroids, where axes have no bins",
    )
    centroids: int = Field(default=1000, ge=2, le=5000, description='how many regions `"cvt"` has')

    @model_validator(mode="after")
    def _check_names(self) -> "IslandsSection":
        names = [axis.name for axis in self.axes]
        if len(set(names)) < len(names):
            raise ValueError(f"each axis has a name of its own, got {', '.join(names)}")
        return self


class ConfirmSection(SettingsSection):
    """`confirm.*`: when a gain is measured again before it counts."""

    share: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="the share of evaluation time that measurements may take: repeated ones, and certificates; workers that would wait for models measure beyond it",
    )
    z: float = Field(
        default=2.0,
        ge=0,
        description="a gain counts at once when it reaches both the noise floor and so many standard errors of the difference",
    )
    sigmas: float = Field(default=5.0, gt=0, description="or when it is more than so many noise floors")
    seeds: int = Field(
        default=5,
        ge=2,
        le=100,
        description="how often the seed of a noisy task is evaluated, to learn the noise floor",
    )


class StrategySection(SettingsSection):
    """`strategy.*`: which one, and its own settings."""

    name: str = Field(
        default="islands", description="what decides what is tried next; also `--strategy`. See strategies"
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="the strategy's own settings: below")


class ExecutorSection(SettingsSection):
    """`executor.*`: what runs the evaluations."""

    name: str = Field(
        default="local", description='what runs the evaluations: `"local"`, or one that a plugin registers'
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="the executor's own settings")


class OperatorsSection(SettingsSection):
    """`operators.*`: names (none: the strategy's default), and settings by operator."""

    names: tuple[str, ...] = Field(
        default=(), description="which operators propose; none: the strategy's default. See operators"
    )
    settings: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="the operators' own settings, by operator: below"
    )


class ModelSection(SettingsSection):
    """One of `models.members`."""

    name: str = Field(min_length=1, max_length=80)
    kind: str = "openai"
    settings: dict[str, Any] = {}
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    concurrency: int = Field(default=8, ge=1, le=1024)
    max_tokens: int = Field(default=16_384, ge=16)
    context_tokens: int = Field(default=128_000, ge=1024)
    timeout_seconds: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    prompt_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cached_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    completion_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    gpus: int = Field(default=0, ge=0)
    gpu_hour_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    @field_validator("settings")
    @classmethod
    def _hold_no_key(cls, settings: dict[str, Any]) -> dict[str, Any]:
        if place := place_of_key(settings):
            raise ConfigError(
                f"the setting {place!r} of a model holds a key, or looks like one, and settings are shown and logged. "
                "Try: leave it out, and name an environment variable with `key_env`"
            )
        return settings


class ModelsSection(SettingsSection):
    """`models.*`: which models propose, and which of them is asked next."""

    members: tuple[ModelSection, ...] = Field(
        default=(), description="the models, each a table of its own: see models. Also `--model`"
    )
    choice: Literal["bandit", "weights"] = Field(
        default="bandit",
        description='which member is asked: `"bandit"`, the one whose children gain most for what they cost, or `"weights"`, by their fixed weights',
    )
    floor: float = Field(
        default=0.05, ge=0, le=1, description="the least share of the proposals that every member keeps"
    )
    resource: Resource = Field(
        default="programs", description="what the bandit counts as cost: the resource of the campaign's tightest budget"
    )
    purposes: dict[str, str] = Field(
        default_factory=dict,
        description='members for other purposes than proposals: `"repair"`, `"reflect"`, `"novelty"`, `"embed"`, and those that an operator names. One that is named here proposes only where it is named `"propose"` too',
    )

    @property
    def proposing(self) -> tuple[str, ...]:
        """Members that make proposals: all that serve no other purpose alone."""
        elsewhere = {name for purpose, name in self.purposes.items() if purpose != PROPOSE}
        wanted = self.purposes.get(PROPOSE)
        return tuple(member.name for member in self.members if member.name not in elsewhere or member.name == wanted)

    @model_validator(mode="after")
    def _check_names(self) -> "ModelsSection":
        names = [member.name for member in self.members]
        if len(set(names)) < len(names):
            raise ValueError(f"each model has a name of its own, got {', '.join(names)}")
        unknown = [name for name in self.purposes.values() if name not in names]
        if unknown:
            raise ValueError(f"purposes name a model that is no member: {', '.join(unknown)}")
        if names and not self.proposing:
            raise ValueError("every member serves another purpose; name one for 'propose', too")
        return self


class LessonsSection(SettingsSection):
    """`lessons.*`: what a model is asked to learn from what was tried."""

    every: int = Field(
        default=0,
        ge=0,
        description="each time that so many records beside its own have settled, a model is asked for lessons, which later prompts show; 0: never. See lessons",
    )


class PromptsSection(SettingsSection):
    """`prompts.*`: what models read."""

    folder: str = Field(
        default="",
        description="a folder with templates in place of the engine's and the task's: see prompts. It is read when the campaign is made, and "
        "what it held is kept as `prompts.templates`",
    )
    templates: dict[str, str] = Field(
        default_factory=dict, description="templates by name, as texts; one that stands here comes before the folder's"
    )
    tokens: int = Field(
        default=24_000,
        ge=2_000,
        le=4_000_000,
        description="how long a prompt may be, a token being four characters; what is least valuable is left out",
    )
    hardware: bool = Field(
        default=True, description="prompts tell of the machine: processor, cores, memory, versions of Python and numpy"
    )


class NoveltySection(SettingsSection):
    """`novelty.*`: how near to others a model's programs may be."""

    distance: float | None = Field(
        default=None,
        ge=0,
        le=0.5,
        description="a model's program is not evaluated when its distance to another one of its island is smaller: see screening. 0: never; "
        "null: as the task says in `[novelty]`",
    )
    cosine: float = Field(
        default=0.99,
        gt=0,
        le=1,
        description="nor when the cosine of both embeddings is as large, where `models.purposes` names a model to `embed`",
    )


class OutageSection(SettingsSection):
    """`outage.*`: what a campaign does when its machine or its models are down."""

    wait_seconds: FiniteFloat = Field(
        default=600.0, ge=0, description="how long it waits while evaluations of the seed fail, too, before it gives up"
    )
    model_wait_seconds: FiniteFloat = Field(
        default=1800.0, ge=0, description="how long it waits for a model that is down before it does without it"
    )
    then: Literal["stop", "offline"] = Field(
        default="stop",
        description='what it does when no model is left: `"stop"` ends the run with an error, `"offline"` goes on with the operators that need none',
    )


class TrackersSection(SettingsSection):
    """`trackers.*`: who is told of the campaign while it runs."""

    names: tuple[str, ...] = Field(
        default=(), description="which trackers are told of each record; also `--tracker`. See trackers"
    )
    settings: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="the trackers' own settings, by tracker: below"
    )

    @model_validator(mode="after")
    def _have_settings(self) -> "TrackersSection":
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"each tracker is named once, got {', '.join(self.names)}")
        for name in self.settings.keys() - set(self.names):
            raise ValueError(
                f"there are settings for tracker {name!r}, which this campaign does not use.{did_you_mean(name, self.names)}"
            )
        return self


class Settings(SettingsSection):
    """Settings of a campaign: everything that decides how it runs."""

    task: str = Field(description="the task: the argument of `evolve run`, not set with `--set`")
    parameters: dict[str, bool | int | float | str] = Field(
        default_factory=dict,
        description="parameters of the task: `--set task.points=80` changes one. What the task does not declare is an error",
    )
    seed: int = Field(default=0, ge=0, description="the seed of all random decisions; also `--seed`")
    workers: int = Field(
        default_factory=usable_cores,
        ge=1,
        le=1024,
        description="how many candidates are evaluated side by side; also `--workers`",
    )
    budget: Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)] = (
        Field(
            default=(),
            description='what the campaign may spend in total, as texts like `"60s"`: see the command line; also `--budget`. Without one, '
            "Ctrl-C ends the run",
        )
    )
    preset: str = Field(
        default="",
        description="the preset that the settings began with; also `--preset`. What a file, an option or `--set` gives comes before it. See presets",
    )
    sandbox: Level = Field(
        default=Level.STANDARD,
        description="how candidates must be isolated at least: `strict`, `standard`, `reduced`, or exactly `none`; the best that the machine "
        "has is used. Also `--sandbox`, and `EVOLVE_SANDBOX`, which comes before a campaign file. See the sandbox",
    )
    deterministic: bool = Field(default=False, description="one step at a time; also `--deterministic`")
    carry: bool = Field(
        default=True,
        description="children are given what their parents left, where the task says what that is (`[carry]`)",
    )
    race: bool = Field(
        default=True,
        description="the evaluation of a program ends where it is surely worse than its parent on those of the task's cases that it came to",
    )
    executor: Annotated[ExecutorSection, _as_table("name", str)] = ExecutorSection()
    strategy: Annotated[StrategySection, _as_table("name", str)] = StrategySection()
    operators: Annotated[OperatorsSection, _as_table("names", list)] = OperatorsSection()
    models: ModelsSection = ModelsSection()
    lessons: LessonsSection = LessonsSection()
    prompts: PromptsSection = PromptsSection()
    archive: IslandsSection = IslandsSection()
    confirm: ConfirmSection = ConfirmSection()
    novelty: NoveltySection = NoveltySection()
    outage: OutageSection = OutageSection()
    trackers: Annotated[TrackersSection, _as_table("names", list)] = TrackersSection()


def settings_from(values: Mapping[str, Any], assignments: Iterable[str] = ()) -> Settings:
    """Returns settings from nested values and `a.b=c` assignments (the later wins); `task.x=1` sets a parameter of the task.
    Raises `ConfigError` with the path of the key."""
    tree = copy.deepcopy(dict(values))
    for assignment in assignments:
        path, value = parse_assignment(assignment)
        if path == ["task"]:
            raise ConfigError(
                f"the task is an argument, and --set task.KEY=VALUE sets one of its parameters, got --set {assignment}. "
                "Try: evolve run TASK"
            )
        if path == ["preset"]:
            raise ConfigError(
                f"a preset is where settings begin, and no change of them, got --set {assignment}. Try: --preset NAME in a new campaign"
            )
        path = ["parameters", *path[1:]] if path[0] == "task" else path
        _put_value(tree, path, value, assignment)
    return validate_settings(tree)


def parse_assignment(text: str) -> tuple[list[str], Any]:
    """Returns the path and the value of `a.b=c`, which is read as TOML where it is TOML and as a text otherwise. Raises `ConfigError`."""
    key, sign, value = text.partition("=")
    path = [part.strip() for part in key.split(".")]
    if not sign or not all(path):
        raise ConfigError(f"a setting is written key=value, got {text!r}. Try: for example --set archive.islands=2")
    try:
        read = tomllib.loads(f"value = {value}")
    except (tomllib.TOMLDecodeError, RecursionError):  # the latter: too many brackets within each other
        return path, value.strip()
    return path, read["value"] if len(read) == 1 else value.strip()


def _put_value(tree: dict[str, Any], path: list[str], value: Any, text: str) -> None:
    """Puts a value into nested values; `text` is what a person wrote. Raises `ConfigError`."""
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{part!r} in {text!r} is a value, not a table. Try: set {part}=...")
        tree = inner
    tree[path[-1]] = value


def parse_parameters(assignments: Iterable[str]) -> dict[str, Scalar]:
    """Returns the task's parameters of `--set task.KEY=VALUE` where there is no campaign, the later ones winning; raises
    `ConfigError`."""
    found: dict[str, Scalar] = {}
    for assignment in assignments:
        path, value = parse_assignment(assignment)
        if path[0] != "task" or len(path) != 2 or not isinstance(value, bool | int | float | str):
            raise ConfigError(
                f"without a campaign only parameters of the task can be set, each to a number, a text or true/false, got {assignment!r}. "
                "Try: --set task.KEY=VALUE"
            )
        found[path[1]] = value
    return found


def validate_settings(tree: Mapping[str, Any]) -> Settings:
    """Returns the settings that `tree` spells; raises `ConfigError` with the path of the first key that is wrong."""
    try:
        return Settings.model_validate(dict(tree))
    except ValidationError as error:
        raise ConfigError(_explain(error)) from error


_RENAMED = {"judges": "workers"}
"""Keys of earlier versions with their names of today."""


def restore_settings(values: Mapping[str, Any]) -> Settings:
    """Settings that a log holds; it may be older than the removal of a key."""
    # Keys that earlier versions wrote; nothing depends on them any more.
    kept = {_RENAMED.get(key, key): value for key, value in values.items() if key != "cache"}
    return validate_settings(kept)


_WANTED = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    **dict.fromkeys(("literal_error", "enum"), "{expected}"),
    "string_type": "a text",
    "greater_than_equal": "at least {ge:g}",
    "greater_than": "more than {gt:g}",
    "less_than_equal": "at most {le:g}",
}
"""By pydantic's name of an error: the values that the setting takes."""


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    where = ".".join(path)
    if first["type"] == "extra_forbidden":
        return f"unknown setting {where!r}.{did_you_mean(path[-1], _keys_at(path[:-1]))} {_REMEDY}"
    if first["type"] == "tuple_type":
        example = json.dumps([first["input"]], default=str)
        return (
            f"setting {where!r} is a list, such as '{example}', got {first['input']!r}. Try: --set {where}='{example}'"
        )
    got = "" if isinstance(first["input"], Mapping) else f", got {first['input']!r}"
    if wanted := _WANTED.get(first["type"]):
        return f"setting {where!r} is {wanted.format(**first.get('ctx', {}))}{got}. {_REMEDY}"
    return f"setting {where!r}: {first['msg'].removeprefix('Value error, ')}{got}. {_REMEDY}"


def _keys_at(path: list[str]) -> list[str]:
    """Returns the keys of the table at `path`; a number in it is one of a list of tables."""
    model: Any = Settings
    for part in path:
        model = get_args(model)[0] if part.isdigit() else model.model_fields[part].annotation
    return list(model.model_fields)
