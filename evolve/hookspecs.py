"""The hooks. Name, types and docstring are the contract.

A plugin is a module (entry-point group `evolve`) with functions marked `@hookimpl`. Factories take the plugin's settings, a plain
mapping that was checked against `settings`, a pydantic model class (None: there are no settings)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pluggy

from evolve.protocols import Evaluator, Executor, Model, Operator, Strategy, Tracker
from evolve.types import Program, Section, Selection, Task, Traits

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evolve.devices.leases import Grant
    from evolve.sandbox.means import Means

hookspec = pluggy.HookspecMarker("evolve")
hookimpl = pluggy.HookimplMarker("evolve")

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EvaluatorEntry:
    """An evaluator that a task may name as `evaluator = { plugin = "name", ... }`. The factory runs in the worker process."""

    name: str
    factory: Callable[[Settings], Evaluator]
    settings: "type[BaseModel] | None" = None


@dataclass(frozen=True, slots=True)
class OperatorEntry:
    """An operator. `embedded`: strategies use it without being told to; where `embedded_below_seconds` is given only if evaluating the seed
    took less, where `embedded_suffixes` are given only if a file of the seed ends so. `history_free`: it learns nothing from the campaign, so that a baseline may use it.
    `needs_model`: a model writes its children, so that they are never evaluated at the isolation level `reduced` unasked; a campaign without a model does not use it.
    `parents`: how many records it wants as parents at least; `takes_failures`: its parent is a program that failed. `makes`: a step of one that makes notes
    is about its parents, and brings lessons and extras; its records are neither children nor screened proposals. `scheduled`: the engine asks it, and no strategy does. `purposes` are names of its own for calls of a model
    (`context.model("plan")`), beside the engine's, for each of which `models.purposes` may name another model. `seconds`: time for one proposal. `matches_requests`: when a step runs again, an answer of the log is taken for an equal request alone; else for the next call of its purpose."""

    name: str
    factory: Callable[[Settings], Operator]
    settings: "type[BaseModel] | None" = None
    embedded: bool = False
    history_free: bool = False
    embedded_below_seconds: float | None = None
    embedded_suffixes: tuple[str, ...] = ()
    needs_model: bool = False
    parents: int = 1
    takes_failures: bool = False
    makes: Literal["programs", "notes"] = "programs"
    scheduled: bool = False
    purposes: tuple[str, ...] = ()
    seconds: float = 600.0
    matches_requests: bool = False

    @property
    def traits(self) -> Traits:
        """Properties that a strategy must know."""
        return Traits(self.needs_model, self.parents, self.takes_failures, self.makes == "notes")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A kind of model: `--model NAME:ARGUMENT`. `argument` is the setting that the command line's words fill; `concurrency` how many calls are in flight
    at once where nobody says so; `priced`: somebody charges for its calls, so that a budget in money wants prices. `embeds`: what the factory makes is an `Embedder` too."""

    name: str
    factory: Callable[[Settings], Model]
    settings: "type[BaseModel] | None" = None
    argument: str = ""
    concurrency: int = 8
    priced: bool = False
    embeds: bool = False


@dataclass(frozen=True, slots=True)
class TrackerEntry:
    """A tracker: `--tracker NAME`. The factory is called before a campaign is made, and raises `ConfigError` where the tracker lacks something."""

    name: str
    factory: Callable[[Settings], Tracker]
    settings: "type[BaseModel] | None" = None


@dataclass(frozen=True, slots=True)
class StrategyEntry:
    """A strategy; the factory gets its settings and the names of the campaign's operators. `operators`: those of a campaign that names none; empty:
    the embedded ones, and with `history_free_operators` those that are history-free."""

    name: str
    factory: Callable[[Settings, Sequence[str]], Strategy]
    settings: "type[BaseModel] | None" = None
    history_free_operators: bool = False
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PresetEntry:
    """Settings under one name: `--preset NAME`. `settings` are nested as in a campaign file, without what belongs to a run (task, budget, models' members); `about`
    says in a line what they are for, and `source` names the paper, with its address."""

    name: str
    settings: Settings
    about: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class ExecutorRequest:
    """Work for an executor: `slots` evaluation workers for one task. `means` confine candidates on this machine, which never see the paths
    `hidden`; `devices` are those that stages may lease."""

    task: Task
    slots: int
    means: "Means"
    hidden: Sequence[str]
    devices: "Grant"


@dataclass(frozen=True, slots=True)
class ExecutorEntry:
    """An executor, for the setting `executor.name`. The factory gets the settings and the request, before any thread of the engine starts."""

    name: str
    factory: Callable[[Settings, ExecutorRequest], Executor]
    settings: "type[BaseModel] | None" = None


@hookspec
def register_presets() -> Sequence[PresetEntry]:
    """Presets that this plugin provides: settings of a search under one name."""
    return ()


@hookspec
def register_executors() -> Sequence[ExecutorEntry]:
    """Executors that this plugin provides: where the jobs of a campaign are evaluated."""
    return ()


@hookspec
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """Evaluators that this plugin provides."""
    return ()


@hookspec
def register_operators() -> Sequence[OperatorEntry]:
    """Operators that this plugin provides."""
    return ()


@hookspec
def register_strategies() -> Sequence[StrategyEntry]:
    """Strategies that this plugin provides."""
    return ()


@hookspec
def register_models() -> Sequence[ModelEntry]:
    """Kinds of models that this plugin provides."""
    return ()


@hookspec
def register_trackers() -> Sequence[TrackerEntry]:
    """Trackers that this plugin provides: what is told when a run begins, of each record (`record_settled`), and when it ends."""
    return ()


@hookspec
def prompt_sections(task: Task, selection: Selection) -> Sequence[Section]:
    """Returns named sections of Markdown for the prompt. Proposal thread; the same for the same arguments."""
    return ()


@hookspec
def screen_program(task: Task, program: Program, parents: Sequence[Program]) -> str | None:
    """Returns a reason not to evaluate a program, or None. Proposal thread; pure."""
    return None
