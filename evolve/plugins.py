"""Loading plugins and calling them: the bundled ones by name, third parties by the entry-point group `evolve`.

Invariant: every call into a plugin passes `guarded`, so that whatever it raises becomes a `PluginError` that names it."""

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import Distribution, EntryPoint, entry_points
from operator import itemgetter
from typing import Any, Generic, TypeVar

import pluggy
from pydantic import ValidationError

import evolve
from evolve import hookspecs
from evolve.hookspecs import (
    EvaluatorEntry,
    ExecutorEntry,
    ExecutorRequest,
    ModelEntry,
    OperatorEntry,
    PresetEntry,
    Settings,
    StrategyEntry,
    TrackerEntry,
)
from evolve.protocols import Evaluator, Executor, Model, Operator, Strategy, Tracker
from evolve.types import ConfigError, EvaluatorSource, EvolveError, PluginError, Program, Section, Selection, Task
from evolve.types.errors import did_you_mean

BUNDLED = (
    "evolve.evaluators",
    "evolve.operators",
    "evolve.strategies",
    "evolve.models",
    "evolve.hardware",
    "evolve_benchmark",
    "evolve_kernel",
    "evolve_methods",
    "evolve_recipe",
    "evolve_trackers",
    "evolve_vllm",
)
GROUP = "evolve"

T = TypeVar("T")
Entry = TypeVar(
    "Entry", EvaluatorEntry, ExecutorEntry, ModelEntry, OperatorEntry, PresetEntry, StrategyEntry, TrackerEntry
)
PRESET_KEYS = ("strategy", "operators", "models", "lessons", "prompts", "archive", "confirm", "novelty", "race")
"""Settings that a preset may have: those that decide what is tried, and not on what, with what and for how long."""


def guarded(plugin: str, call: Callable[..., T], *arguments: Any) -> T:
    """`call(*arguments)`; what it raises, but for our own errors, becomes a `PluginError` that names the plugin."""
    try:
        return call(*arguments)
    except EvolveError:
        raise
    except Exception as error:
        raise PluginError(
            f"plugin {plugin!r} raised {type(error).__name__}: {' '.join(str(error).split())}. Try: mend the plugin, or do without it"
        ) from error


@dataclass(frozen=True, slots=True)
class Registered(Generic[Entry]):
    """An entry and the plugin that it comes from."""

    plugin: str
    entry: Entry


@dataclass(frozen=True)
class Plugins:
    """Entries of the loaded plugins, by name. One per campaign: there is no global."""

    manager: pluggy.PluginManager
    evaluators: Mapping[str, Registered[EvaluatorEntry]]
    operators: Mapping[str, Registered[OperatorEntry]]
    strategies: Mapping[str, Registered[StrategyEntry]]
    models: Mapping[str, Registered[ModelEntry]]
    trackers: Mapping[str, Registered[TrackerEntry]] = field(default_factory=dict)
    executors: Mapping[str, Registered[ExecutorEntry]] = field(default_factory=dict)
    presets: Mapping[str, Registered[PresetEntry]] = field(default_factory=dict)

    def preset(self, name: str) -> Settings:
        """Returns the settings of a preset; raises `ConfigError`, and `PluginError` for one that sets what is not a preset's."""
        found = _find("preset", name, self.presets)
        settings = found.entry.settings
        foreign = [key for key in settings if key not in PRESET_KEYS]
        foreign += ["models.members"] if "members" in settings.get("models", {}) else []
        if foreign:
            raise PluginError(
                f"plugin {found.plugin!r}: preset {name!r} sets {foreign[0]!r}, and a preset has only {', '.join(PRESET_KEYS)}, without models.members. "
                "Try: mend the plugin, or use its settings one by one"
            )
        return settings

    def evaluator(self, source: EvaluatorSource) -> Evaluator:
        """Returns the evaluator that a task names; raises `ConfigError`, `PluginError`."""
        found = _find("evaluator", source.plugin or "", self.evaluators)
        return guarded(found.plugin, found.entry.factory, _check_settings(found, source.settings))

    def evaluator_release(self, source: EvaluatorSource) -> str | None:
        """Returns the package and version that a task's evaluator comes from: empty for a file of the task's own, and None where the code may
        change without a new version, as it does in an editable installation."""
        if source.plugin is None:
            return ""
        return _release(_find("evaluator", source.plugin, self.evaluators).plugin)

    def operator(self, name: str, settings: Mapping[str, Any]) -> Operator:
        """Returns an operator with its settings; raises `ConfigError`, `PluginError`."""
        found = _find("operator", name, self.operators)
        return guarded(found.plugin, found.entry.factory, _check_settings(found, settings))

    def strategy(self, name: str, settings: Mapping[str, Any], operators: Sequence[str]) -> Strategy:
        """Returns a strategy with its settings, for a campaign with these operators; raises `ConfigError`, `PluginError`."""
        found = _find("strategy", name, self.strategies)
        return guarded(found.plugin, found.entry.factory, _check_settings(found, settings), tuple(operators))

    def model(self, kind: str, settings: Mapping[str, Any]) -> Model:
        """Returns a model of a kind with its settings; raises `ConfigError`, `PluginError`, `ModelError`."""
        found = _find("kind of model", kind, self.models)
        return guarded(found.plugin, found.entry.factory, self.model_settings(kind, settings))

    def model_settings(self, kind: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the settings of a kind of model with their defaults; raises `ConfigError` for those that it cannot have."""
        return _check_settings(_find("kind of model", kind, self.models), settings)

    def model_kind(self, kind: str) -> ModelEntry:
        """Returns the entry of a kind of model; raises `ConfigError`."""
        return _find("kind of model", kind, self.models).entry

    def executor(self, name: str, settings: Mapping[str, Any], request: ExecutorRequest) -> Executor:
        """Returns an executor for a request; raises `ConfigError`, `PluginError`, and what the executor raises."""
        found = _find("executor", name, self.executors)
        return guarded(found.plugin, found.entry.factory, _check_settings(found, settings), request)

    def tracker(self, name: str, settings: Mapping[str, Any]) -> Tracker:
        """Returns a tracker with its settings; raises `ConfigError`, `PluginError`."""
        found = _find("tracker", name, self.trackers)
        return guarded(found.plugin, found.entry.factory, _check_settings(found, settings))

    def tracker_settings(self, name: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the settings of a tracker with their defaults; raises `ConfigError` for those that it cannot have."""
        return _check_settings(_find("tracker", name, self.trackers), settings)

    def strategy_accepts(self, name: str, key: str) -> bool:
        """Returns whether the strategy has a setting of this name."""
        model = _find("strategy", name, self.strategies).entry.settings
        return model is not None and key in model.model_fields

    def operators_of(self, strategy: str, wanted: Sequence[str], *, models: bool = False) -> tuple[str, ...]:
        """Returns the operators that a campaign with this strategy has: those that are wanted, else the strategy's own, else the default. `models`: it
        has models that propose. Raises `ConfigError`."""
        free = _find("strategy", strategy, self.strategies).entry.history_free_operators
        default = _default_operators((one.entry for one in self.operators.values()), free, models)
        named = tuple(wanted) or self.companions(strategy)
        if not wanted and not models:
            # Of the strategy's own, those that need no model are left; where there are none, the error is about the first.
            named = tuple(name for name in named if not self.operators[name].entry.needs_model) or named
        for name in named:
            entry = _find("operator", name, self.operators).entry
            if free and not entry.history_free:
                raise ConfigError(
                    f"strategy {strategy!r} is a baseline and uses history-free operators only, got {name!r}. "
                    f"Try: use one of {', '.join(default)}, or another strategy"
                )
            if entry.needs_model and not models:
                what, remedy = f"operator {name!r} needs a model", f"leave {name!r} out"
                if not wanted:
                    what = f"strategy {strategy!r} brings operators that need a model ({', '.join(named)})"
                    remedy = "name operators that need none in operators.names, such as tune_literals"
                raise ConfigError(
                    f"{what}, and this campaign has none. Try: name one, such as --model gpt-5-mini, or {remedy}"
                )
            if entry.scheduled:
                raise ConfigError(
                    f"operator {name!r} is asked by the engine, and no strategy may. Try: leave it out of operators.names, and set lessons.every"
                )
        return named or default

    def companions(self, strategy: str) -> tuple[str, ...]:
        """Returns the operators that a strategy brings for a campaign that names none; empty: any. Raises `ConfigError` for one that is not installed."""
        entry = _find("strategy", strategy, self.strategies).entry
        for name in entry.operators:
            if name not in self.operators:
                raise ConfigError(
                    f"strategy {strategy!r} works with the operator {name!r}, and no operator is called so. "
                    "Try: install the package that has it, or name others in operators.names"
                )
        return entry.operators

    def usable(self, names: Sequence[str], seed: Program, seconds: float | None) -> tuple[str, ...]:
        """Returns those of a campaign's default operators that are meant for such a task: for a seed that is evaluated in so many seconds (None: not
        known, or not to decide), and for files like its. All, where none is."""
        found = [name for name in names if _is_meant_for(self.operators[name].entry, seed, seconds)]
        return tuple(found or names)

    def prompt_sections(self, task: Task, selection: Selection) -> tuple[Section, ...]:
        """Returns the plugins' sections of a prompt, in the order of their names."""
        found: list[Section] = []
        # By name, so that a prompt does not depend on the order in which plugins were loaded.
        for plugin, sections in sorted(
            _call_hook(self.manager.hook.prompt_sections, task=task, selection=selection), key=itemgetter(0)
        ):
            if not isinstance(sections, Sequence) or not all(isinstance(section, Section) for section in sections):
                raise PluginError(
                    f"plugin {plugin!r}: prompt_sections returned {sections!r:.80}, wanted Sections. Try: mend the plugin, or do without it"
                )
            found.extend(sections)
        return tuple(found)

    @property
    def everywhere(self) -> tuple[str, ...]:
        """Names of the plugins that have a part in every campaign: those that screen programs or add to prompts."""
        hooks = (self.manager.hook.screen_program, self.manager.hook.prompt_sections)
        return tuple(implementation.plugin_name for hook in hooks for implementation in hook.get_hookimpls())

    def screen(self, task: Task, program: Program, parents: Sequence[Program]) -> str | None:
        """Returns the first reason that a plugin has not to evaluate the program."""
        reasons = _call_hook(self.manager.hook.screen_program, task=task, program=program, parents=parents)
        return next((f"{plugin}: {reason}" for plugin, reason in reasons if reason), None)


def _call_hook(hook: Any, **given: Any) -> Iterator[tuple[str, Any]]:
    """Yields each plugin that implements a hook, and what it returns; a plugin may leave out arguments that it does not need."""
    for implementation in hook.get_hookimpls():
        arguments = [given[name] for name in implementation.argnames]
        yield implementation.plugin_name, guarded(implementation.plugin_name, implementation.function, *arguments)


def _default_operators(entries: Iterable[OperatorEntry], free: bool, models: bool) -> tuple[str, ...]:
    able = [entry for entry in entries if (models or not entry.needs_model) and not entry.scheduled]
    return tuple(entry.name for entry in able if (entry.history_free if free else entry.embedded))


def _is_meant_for(entry: OperatorEntry, seed: Program, seconds: float | None) -> bool:
    if entry.embedded_suffixes and not any(path.endswith(entry.embedded_suffixes) for path in seed.files):
        return False
    return seconds is None or entry.embedded_below_seconds is None or seconds < entry.embedded_below_seconds


def _find(kind: str, name: str, known: Mapping[str, Registered[Entry]]) -> Registered[Entry]:
    if name not in known:
        raise ConfigError(
            f"no {kind} is called {name!r}.{did_you_mean(name, known)} Try: `evolve plugin list` shows what there is; "
            "what is missing may be in a package that is not installed"
        )
    return known[name]


def _check_settings(found: Registered[Any], settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the settings with their defaults, as the entry's model has them."""
    model, name = found.entry.settings, found.entry.name
    if model is None:
        if settings:
            raise ConfigError(f"{name!r} has no settings, got {', '.join(settings)}. Try: leave them out")
        return {}
    # pydantic ignores keys that a model does not have, unless the model says otherwise; here they are errors.
    unknown = next((key for key in settings if key not in model.model_fields), None)
    if unknown is not None and model.model_config.get("extra") != "allow":
        near = did_you_mean(unknown, model.model_fields)
        raise ConfigError(f"{name!r} has no setting {unknown!r}.{near} Try: correct it, or leave it out")
    try:
        return dict(model.model_validate(dict(settings)).model_dump())
    except ValidationError as error:
        reasons = "; ".join(_format_reason(item["loc"], item["msg"], item["input"]) for item in error.errors())
        remedy = "" if "Try: " in reasons else ". Try: correct them"
        raise ConfigError(f"the settings of {name!r} are not usable: {reasons}{remedy}") from error


def _format_reason(place: Sequence[int | str], message: str, got: object) -> str:
    """Returns `key: what is wrong, got value`; what is wrong with several keys together names them itself."""
    reason = message.removeprefix("Value error, ")
    key = ".".join(map(str, place))
    return f"{key}: {reason}, got {got!r}" if key else reason


def _release(plugin: str) -> str | None:
    if plugin in BUNDLED:
        return f"evolve {evolve.__version__}"
    package = _find_package(plugin)
    if package is None or _is_editable(package):
        return None
    return f"{package.name} {package.version}"


def package_versions(plugins: Iterable[str]) -> dict[str, str]:
    """Returns the versions of the packages that these plugins come from, by the packages' names; without those of the bundled ones."""
    found = (_find_package(plugin) for plugin in plugins if plugin not in BUNDLED)
    return {package.name: package.version for package in found if package is not None}


def _find_package(plugin: str) -> Distribution | None:
    return next((point.dist for point in installed() if point.name == plugin), None)


def _is_editable(package: Distribution) -> bool:
    """Returns whether pip only points to where the package is worked on (PEP 610)."""
    origin = json.loads(package.read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable", False))


def installed() -> tuple[EntryPoint, ...]:
    """Returns the plugins that other packages bring, not loaded yet."""
    return tuple(entry_points(group=GROUP))


def load(points: Iterable[EntryPoint] | None = None) -> Plugins:
    """A fresh plugin manager with the bundled plugins and those of `points` (without it, all that are installed); raises `PluginError`
    for one that does not import or takes another's name."""
    manager = pluggy.PluginManager("evolve")
    manager.add_hookspecs(hookspecs)
    for name in BUNDLED:
        manager.register(importlib.import_module(name), name)
    for point in installed() if points is None else points:
        _register(manager, point.name, point.load)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(
            f"a plugin implements a hook that does not exist: {error}. Try: rename it; `evolve plugin new NAME` writes hooks that exist"
        ) from error
    return Plugins(
        manager,
        _entries(manager.hook.register_evaluators, EvaluatorEntry),
        _entries(manager.hook.register_operators, OperatorEntry),
        _entries(manager.hook.register_strategies, StrategyEntry),
        _entries(manager.hook.register_models, ModelEntry),
        _entries(manager.hook.register_trackers, TrackerEntry),
        _entries(manager.hook.register_executors, ExecutorEntry),
        _entries(manager.hook.register_presets, PresetEntry),
    )


def _register(manager: pluggy.PluginManager, name: str, load_module: Callable[[], Any]) -> None:
    guarded(name, manager.register, guarded(name, load_module), name)


def _entries(hook: Any, kind: type[Entry]) -> dict[str, Registered[Entry]]:
    found: dict[str, Registered[Entry]] = {}
    for plugin, entries in _call_hook(hook):
        for entry in entries:
            if not isinstance(entry, kind):
                raise PluginError(
                    f"plugin {plugin!r}: {hook.name} returned a {type(entry).__name__}, wanted {kind.__name__}. "
                    "Try: mend the plugin, or do without it"
                )
            if entry.name in found:
                raise PluginError(
                    f"{entry.name!r} is registered by two plugins, {found[entry.name].plugin!r} and {plugin!r}. Try: rename one"
                )
            found[entry.name] = Registered(plugin, entry)
    return found
