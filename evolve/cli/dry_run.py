"""`evolve run --dry-run`: the settings with the source of each, the task, its stages, and where models propose the first prompt, word for
word, and what proposals will cost. No candidate runs, no model is called, and nothing is made."""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve import prompts
from evolve.campaign import Campaign, stream
from evolve.campaign.fitting import budget_of, operators_of
from evolve.campaign.spending import CostEstimate, ModelEstimate, estimate_costs
from evolve.cli.output import facts, flat, quoted
from evolve.cli.request import Plan
from evolve.engine.proposals import add_prompts
from evolve.evaluation import Description
from evolve.models.prices import Cost
from evolve.protocols import Context, History
from evolve.stop import spelled
from evolve.task.grants import format_grants, list_grants
from evolve.testing import RehearsedHistory
from evolve.types import Evaluation, Origin, Outcome, Progress, Prompt, Record, RecordId, Selection, Task

_OF_ONE_PARENT = ("diff", "rewrite")
"""Operators that the seed alone is enough for."""
_WHOLE_PROMPT = 1 << 40
"""Characters."""


@dataclass(frozen=True, slots=True)
class CostPreview:
    """A first prompt, of an operator that the seed alone is enough for, and the cost of a proposal by each model."""

    operator: str
    prompt: Prompt
    estimate: CostEstimate


@dataclass(frozen=True, slots=True)
class DryRun:
    """The one object of `--dry-run --json`. `sources` names, by dotted key, the source of a setting that is neither the default nor the
    campaign's own. `grants` are those of the task, by the keys of `[sandbox]`. `limit` is the wall time of all stages together, in
    seconds."""

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
    foreseen: CostPreview | None


def describe_plan(plan: Plan, judge: Description, preview: CostPreview | None = None) -> DryRun:
    """Returns what would run, as a value."""
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
        grants=list_grants(plan.task.limits),
        environment=judge.environment,
        foreseen=preview,
    )


def _operators(plan: Plan) -> tuple[str, ...]:
    """Returns the operators that would be used if the seed is judged quickly."""
    names = operators_of(plan.settings, plan.plugins)
    return names if plan.settings.operators.names else plan.plugins.usable(names, plan.task.seed, None)


def format_plan(plan: Plan, judge: Description, preview: CostPreview | None = None) -> str:
    """Returns what would run, for a person."""
    task, settings, dry = plan.task, plan.settings, describe_plan(plan, judge, preview)
    noise = "deterministic" if task.deterministic else f"noisy, its seed is measured {settings.confirm.seeds} times"
    axes = [f"{axis.name} [{axis.low:g}, {axis.high:g}] x {axis.bins}" for axis in task.axes]
    rows = [
        ("task", f"{task.name} ({task.path})"),
        ("version", task.version[:16]),
        ("fitness", f"{task.fitness.name}, {task.fitness.direction}, {noise}"),
        ("stages", f"{', '.join(dry.stages)}; at most {dry.limit:g} s in all"),
        ("evaluator", f"loads; it also has {', '.join(dry.functions)}" if dry.functions else "loads"),
        ("isolation", dry.isolation),
        ("grants", format_grants(task.limits)),
        ("judged with", dry.environment),
        ("axes", ", ".join(axes) or "default"),
        ("anchors", ", ".join(f"{anchor.value:g} {anchor.by}" for anchor in task.anchors) or "none"),
        ("operators", ", ".join(_format_operator(plan, name) for name in dry.operators)),
        ("budget", dry.budget),
        *(cost_facts(preview.estimate, dry.budget, settings.prompts.tokens) if preview else []),
    ]
    lines = [
        f"  {key} = {value}" + (f"    ({dry.sources[key]})" if key in dry.sources else "")
        for key, value in flat(dry.settings)
    ]
    what = f"more of campaign {plan.name}" if plan.changes else "what would run"
    head = f"{what}; nothing was made and nothing is judged"
    parts = [head, facts(rows), "\n".join(["settings", *lines])]
    return "\n\n".join([*parts, format_prompt(preview)] if preview else parts)


def _format_operator(plan: Plan, name: str) -> str:
    """Returns an operator, with the condition under which it is used where nobody asked for it."""
    limit = plan.plugins.operators[name].entry.embedded_below_seconds
    if limit is None or plan.settings.operators.names or plan.settings.deterministic:
        return name
    return f"{name} (if the seed is judged within {limit:g} s)"


def preview_cost(plan: Plan, campaign: Campaign | None) -> CostPreview | None:
    """Returns the first prompt and the cost of proposals, of a new campaign or of more of one; None where no model proposes. Raises
    `EditError` where the program does not fit into a prompt."""
    section = plan.settings.models
    members = [member for member in section.members if member.name in section.proposing]
    if not members:
        return None
    names = operators_of(plan.settings, plan.plugins)
    operator = next((name for name in names if name in _OF_ONE_PARENT), _OF_ONE_PARENT[0])
    first = _first_prompt(plan, operator, *_first_parent(plan.task, campaign))
    progress = Progress() if campaign is None else campaign.progress
    budget = campaign.budget if campaign and not plan.changes else budget_of(plan.settings, plan.task)
    return CostPreview(operator, first, estimate_costs(first, members, budget, progress))


def _first_parent(task: Task, campaign: Campaign | None) -> tuple[History, RecordId]:
    """Returns a history and the record that is the parent: the best, else the seed, which may not be judged yet."""
    if campaign is not None and campaign.state.seed_record:
        best = campaign.state.archive.best
        return campaign.state.history, best.record if best else campaign.state.seed_record
    history = RehearsedHistory()
    history.programs[task.seed.id] = task.seed
    history.records.append(Record(1, Origin("seed", 0), task.seed.id, Evaluation(Outcome.SCREENED)))
    return history, 1


def _first_prompt(plan: Plan, operator: str, history: History, parent: RecordId) -> Prompt:
    selection = Selection(operator, parents=(parent,))
    context = Context(
        task=plan.task,
        history=history,
        rng=stream(plan.settings.seed, 1, "propose"),
        deadline=math.inf,
        cancelled=threading.Event(),
    )
    context = add_prompts(context, selection, plan.settings.prompts, plan.plugins)
    return prompts.build(operator, selection, context, tokens=plan.settings.prompts.tokens)


def cost_facts(found: CostEstimate, budget: str, longest: int) -> list[tuple[str, str]]:
    """Returns labels and texts of an estimate; a later prompt may have `longest` tokens."""
    first = f"about {spelled('tokens', found.prompt_tokens)}; later ones tell more, up to {longest:,} (prompts.tokens)"
    each = [f"{line.model}: about {format_cost(line.usual)}; at most {format_cost(line.most)}" for line in found.models]
    supposed = f"with such a prompt, one call, and an answer of {found.answer_tokens:,} tokens; a model that thinks first writes more"
    pays = f"what is left of {budget} pays for such proposals, where one model makes them all"
    return [
        ("first prompt", first),
        ("a proposal", "\n".join([*each, supposed])),
        ("pays for", "\n".join([pays, *(f"{line.model}: {_format_paid(line)}" for line in found.models)])),
    ]


def format_cost(found: Cost) -> str:
    """Returns a cost such as `4,210 tokens, 0.003 usd`."""
    parts = [spelled("tokens", found.tokens)]
    parts += [spelled("money", found.money)] if found.money else []
    parts += [spelled("gpu_seconds", found.gpu_seconds)] if found.gpu_seconds else []
    return ", ".join(parts)


def _format_paid(line: ModelEstimate) -> str:
    if line.proposals is None or line.least is None:
        return "as many as there is time for"
    return f"about {line.proposals:,}, and {line.least:,} at least" if line.proposals else "none"


def format_prompt(preview: CostPreview) -> str:
    """Returns the prompt for a person: each message under its role, word for word."""
    turns = (f"{message.role}\n{quoted(message.text, _WHOLE_PROMPT)}" for message in preview.prompt.messages)
    return "\n\n".join((f"a first prompt, of operator {preview.operator}", *turns))
