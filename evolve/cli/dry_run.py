"""What `evolve run --dry-run` says: the settings with where each comes from, the task, and what its judge says of itself.

Invariant: no candidate runs, no model is called, and nothing is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.campaign.fitting import budget_of, operators_of
from evolve.cli import foreseeing
from evolve.cli.foreseeing import Foreseen
from evolve.cli.output import facts, flat
from evolve.cli.request import Plan
from evolve.evaluation import Description
from evolve.task.grants import NOTHING_GRANTED, granted
from evolve.task.grants import told as granted_line


@dataclass(frozen=True, slots=True)
class DryRun:
    """The one object of `--dry-run --json`. `sources` names, by dotted key, where a setting comes from; what is not there is the default,
    or the campaign's own. `grants` are those of the task, by the keys of `[sandbox]`. `limit` is the wall time of all stages together, in seconds; `foreseen`: the first prompt and
    what proposals cost, where models propose."""

    settings: Mapping[str, Any]
    sources: Mapping[str, str]
    task: str
    task_version: str
    folder: str
    operators: tuple[str, ...]
    budget: str
    stages: tuple[str, ...]
    functions: tuple[str, ...]
    limit: float
    isolation: str
    grants: Mapping[str, Any]
    environment: str
    foreseen: Foreseen | None


def rehearsed(plan: Plan, judge: Description, found: Foreseen | None = None) -> DryRun:
    """What would run, as a value."""
    settings = plan.settings.model_dump(mode="json")
    return DryRun(
        settings=settings,
        sources={key: source for key, _ in flat(settings) if (source := plan.layers.source(key))},
        task=plan.task.name,
        task_version=plan.task.version,
        folder=plan.task.folder,
        operators=_operators(plan),
        budget=str(budget_of(plan.settings, plan.task)),
        stages=judge.stages,
        functions=judge.functions,
        limit=judge.limit,
        isolation=judge.isolation,
        grants=granted(plan.task.limits),
        environment=judge.environment,
        foreseen=found,
    )


def told(plan: Plan, judge: Description, found: Foreseen | None = None) -> str:
    """What would run, for a person."""
    task, settings, dry = plan.task, plan.settings, rehearsed(plan, judge)
    judged = "deterministic" if task.deterministic else f"noisy, its seed is measured {settings.confirm.seeds} times"
    rows = [
        ("task", f"{task.name} ({task.path})"),
        ("version", task.version[:16]),
        ("fitness", f"{task.fitness.name}, {task.fitness.direction}, {judged}"),
        ("stages", f"{', '.join(dry.stages)}; at most {dry.limit:g} s in all"),
        ("evaluator", f"loads; it also has {', '.join(dry.functions)}" if dry.functions else "loads"),
        ("isolation", dry.isolation),
        ("grants", granted_line(task.limits) or NOTHING_GRANTED),
        ("judged with", dry.environment),
        (
            "axes",
            ", ".join(f"{axis.name} [{axis.low:g}, {axis.high:g}] x {axis.bins}" for axis in task.axes) or "default",
        ),
        ("anchors", ", ".join(f"{anchor.value:g} {anchor.by}" for anchor in task.anchors) or "none"),
        ("operators", ", ".join(_operator(plan, name) for name in dry.operators)),
        ("budget", dry.budget),
        *(foreseeing.rows(found.estimate, dry.budget, settings.prompts.tokens) if found else []),
    ]
    what = f"more of campaign {plan.name}" if plan.changes else "what would run"
    page = f"{what}; nothing was made and nothing is judged\n\n{facts(rows)}\n\nsettings\n{_settings(dry)}"
    return f"{page}\n\n{foreseeing.shown(found)}" if found else page


def _operators(plan: Plan) -> tuple[str, ...]:
    """Those that would be used if the seed is judged quickly."""
    names = operators_of(plan.settings, plan.plugins)
    return names if plan.settings.operators.names else plan.plugins.usable(names, plan.task.seed, None)


def _operator(plan: Plan, name: str) -> str:
    """An operator, and until when it is used where nobody asked for it."""
    limit = plan.plugins.operators[name].entry.embedded_below_seconds
    if limit is None or plan.settings.operators.names or plan.settings.deterministic:
        return name
    return f"{name} (if the seed is judged within {limit:g} s)"


def _settings(dry: DryRun) -> str:
    """Every key with its value, and where it comes from unless it is the default."""
    lines = [(f"  {key} = {value}", dry.sources.get(key, "")) for key, value in flat(dry.settings)]
    return "\n".join(f"{line}    ({source})" if source else line for line, source in lines)
