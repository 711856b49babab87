"""`evolve run --dry-run`: the settings, the task and its stages, and where models propose the first prompt, word for word, with what
proposals will cost. No candidate runs, no model is called, and nothing is made."""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve import prompts
from evolve.campaign import Campaign, stream
from evolve.campaign.settings import are_operators_named, budget_of, operators_of
from evolve.campaign.spending import CostEstimate, ModelEstimate, estimate_costs
from evolve.cli.output import facts, flat, quote_section
from evolve.engine import RunRequest
from evolve.engine.proposals import add_prompts
from evolve.models.prices import Cost
from evolve.protocols import Context, History
from evolve.stop import spelled
from evolve.task.grants import format_grants, list_grants
from evolve.testing import RehearsedHistory
from evolve.types import Evaluation, Origin, Outcome, Progress, Prompt, Record, RecordId, Selection, Task
from evolve.wording import format_money

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


def describe_run(request: RunRequest) -> dict[str, Any]:
    """Returns the one object of `--dry-run --json`; the evaluator is loaded for it. `grants` are those of the task, by the keys of `[sandbox]`; `limit` is the
    wall time of all stages together, in seconds; `foreseen` is None where no model proposes. Raises `EvolveError`."""
    foreseen, means, task = preview_cost(request), request.confine().means, request.task
    with request.start_executor(means, 1) as executor:
        evaluator = executor.describe()
    return {
        "settings": request.settings.model_dump(mode="json"),
        "task": task.name,
        "task_version": task.version,
        "folder": task.folder,
        "operators": _operators(request),
        "budget": str(budget_of(request.settings, task)),
        "stages": evaluator.stages,
        "functions": evaluator.functions,
        "limit": evaluator.limit,
        "isolation": evaluator.isolation,
        "grants": list_grants(task.limits),
        "environment": evaluator.environment,
        "foreseen": foreseen,
    }


def _operators(request: RunRequest) -> tuple[str, ...]:
    """Returns the operators that would be used if the seed is evaluated quickly."""
    names = operators_of(request.settings, request.plugins)
    named = are_operators_named(request.settings, request.plugins)
    return names if named else request.plugins.usable(names, request.task.seed, None)


def format_run(request: RunRequest, dry: Mapping[str, Any]) -> str:
    """Returns what would run, for a person."""
    task, settings = request.task, request.settings
    noise = "deterministic" if task.deterministic else f"noisy, its seed is measured {settings.confirm.seeds} times"
    axes = [f"{axis.name} [{axis.low:g}, {axis.high:g}] x {axis.bins}" for axis in task.axes]
    rows = [
        ("task", f"{task.name} ({task.path})"),
        ("version", task.version[:16]),
        ("fitness", f"{task.fitness.name}, {task.fitness.direction}, {noise}"),
        ("stages", f"{', '.join(dry['stages'])}; at most {dry['limit']:g} s in all"),
        ("evaluator", f"loads; it also has {', '.join(dry['functions'])}" if dry["functions"] else "loads"),
        ("isolation", dry["isolation"]),
        ("grants", format_grants(task.limits)),
        ("environment", dry["environment"]),
        ("axes", ", ".join(axes) or "default"),
        ("anchors", ", ".join(f"{anchor.value:g} {anchor.by}" for anchor in task.anchors) or "none"),
        ("operators", ", ".join(dry["operators"])),
        ("budget", dry["budget"]),
        *(format_costs(dry["foreseen"].estimate, dry["budget"]) if dry["foreseen"] else []),
    ]
    what = f"more of campaign {request.name}" if request.campaign else "what would run"
    settings_lines = [f"  {key} = {value}{_format_source(request, key)}" for key, value in flat(dry["settings"])]
    parts = [
        f"{what}; nothing was made and nothing is evaluated",
        facts(rows),
        "\n".join(["settings", *settings_lines]),
    ]
    return "\n\n".join([*parts, format_prompt(dry["foreseen"])] if dry["foreseen"] else parts)


def _format_source(request: RunRequest, key: str) -> str:
    """Returns what gave a setting, with two spaces before it; empty where it is the default."""
    names = [
        source
        for source, keys in request.sources.items()
        if any(key == given or key.startswith(f"{given}.") for given in keys)
    ]
    return f"  # {names[-1]}" if names else ""


def preview_cost(request: RunRequest) -> CostPreview | None:
    """Returns the first prompt and the cost of proposals, of a new campaign or of more of one; None where no model proposes. Raises
    `EditError` where the program does not fit into a prompt."""
    section, campaign = request.settings.models, request.campaign
    members = [member for member in section.members if member.name in section.proposing]
    if not members:
        return None
    names = operators_of(request.settings, request.plugins)
    operator = next((name for name in names if name in _OF_ONE_PARENT), _OF_ONE_PARENT[0])
    first = _first_prompt(request, operator, *_first_parent(request.task, campaign))
    progress = Progress() if campaign is None else campaign.progress
    budget = campaign.budget if campaign and not request.changes else budget_of(request.settings, request.task)
    return CostPreview(operator, first, estimate_costs(first, members, budget, progress))


def _first_parent(task: Task, campaign: Campaign | None) -> tuple[History, RecordId]:
    """Returns a history and the record that is the parent: the best, else the seed, which may not be evaluated yet."""
    if campaign is not None and campaign.state.seed_record:
        best = campaign.state.archive.best
        return campaign.state.history, best.record if best else campaign.state.seed_record
    # A screened seed: the prompt must not tell of a score that nobody has measured.
    history = RehearsedHistory()
    history.programs[task.seed.id] = task.seed
    history.records.append(Record(1, Origin("seed", 0), task.seed.id, Evaluation(Outcome.SCREENED)))
    return history, 1


def _first_prompt(request: RunRequest, operator: str, history: History, parent: RecordId) -> Prompt:
    selection, settings = Selection(operator, parents=(parent,)), request.settings.prompts
    rng = stream(request.settings.seed, 1, "propose")
    context = Context(request.task, history, rng, math.inf, threading.Event())
    context = add_prompts(context, selection, settings, request.plugins)
    return prompts.build(operator, selection, context, tokens=settings.tokens)


def format_costs(found: CostEstimate, budget: str) -> list[tuple[str, str]]:
    """Returns labels and texts of an estimate."""
    each = [f"{line.model}: about {format_cost(line.usual)}; at most {format_cost(line.most)}" for line in found.models]
    supposed = f"with such a prompt of about {found.prompt_tokens:,} tokens, one call, and an answer of {found.answer_tokens:,} tokens; a model that thinks first writes more"
    return [
        ("a proposal", "\n".join([*each, supposed])),
        (f"{budget} pays for", "\n".join(f"{line.model}: {_format_paid(line)}" for line in found.models)),
    ]


def format_cost(found: Cost) -> str:
    """Returns a cost such as `4,210 tokens, 0.003 usd`."""
    return ", ".join([spelled("tokens", found.tokens), *format_money(found.money, found.gpu_seconds)])


def _format_paid(line: ModelEstimate) -> str:
    if line.proposals is None or line.least is None:
        return "as many as there is time for"
    return f"about {line.proposals:,}, and {line.least:,} at least" if line.proposals else "none"


def format_prompt(preview: CostPreview) -> str:
    """Returns the prompt for a person, section by section and word for word."""
    parts = (
        quote_section(f"{message.role}: {section.name}", section.text, _WHOLE_PROMPT)
        for message in preview.prompt.messages
        for section in message.sections
    )
    return "\n\n".join((f"a first prompt, of operator {preview.operator}", *parts))
