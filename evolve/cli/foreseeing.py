"""What `evolve run --dry-run` foresees where models propose: the first prompt, word for word, and what proposals will cost.

Invariant: no model is called, and nothing is made."""

import math
import threading
from dataclasses import dataclass

from evolve import prompts
from evolve.campaign import Campaign, stream
from evolve.campaign.estimate import Estimate, ModelEstimate, estimate
from evolve.campaign.fitting import budget_of, operators_of
from evolve.cli.output import quoted
from evolve.cli.request import Plan
from evolve.engine.drafts import add_prompts
from evolve.models.prices import Cost
from evolve.protocols import Context, History
from evolve.stop import spelled
from evolve.testing import RehearsedHistory
from evolve.types import Evaluation, Origin, Outcome, Progress, Prompt, Record, RecordId, Selection, Task

_OF_ONE_PARENT = ("diff", "rewrite")
"""Kinds of prompts that the seed alone is enough for."""
_ALL = 1 << 40
"""Characters: the whole prompt is shown."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A first prompt, of an operator that the seed alone is enough for, and what a proposal by each model costs."""

    operator: str
    prompt: Prompt
    estimate: Estimate


def foreseen(plan: Plan, campaign: Campaign | None) -> Foreseen | None:
    """For a new campaign, or for more of one; None where no model proposes. Raises `EditError` where the program does not fit into a
    prompt."""
    section = plan.settings.models
    members = [member for member in section.members if member.name in section.proposing]
    if not members:
        return None
    names = operators_of(plan.settings, plan.plugins)
    operator = next((name for name in names if name in _OF_ONE_PARENT), _OF_ONE_PARENT[0])
    first = _first_prompt(plan, operator, *_known(plan.task, campaign))
    progress = Progress() if campaign is None else campaign.progress
    budget = campaign.budget if campaign and not plan.changes else budget_of(plan.settings, plan.task)
    return Foreseen(operator, first, estimate(first, members, budget, progress))


def _known(task: Task, campaign: Campaign | None) -> tuple[History, RecordId]:
    """What a prompt can tell, and the record that is the parent: the best, else the seed, which may not be judged yet."""
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


def rows(found: Estimate, budget: str, longest: int) -> list[tuple[str, str]]:
    """Labels and texts of an estimate; `longest`: how many tokens a later prompt may have."""
    first = f"about {spelled('tokens', found.prompt_tokens)}; later ones tell more, up to {longest:,} (prompts.tokens)"
    costs = [f"{line.model}: about {cost(line.usual)}; at most {cost(line.most)}" for line in found.models]
    supposed = f"with such a prompt, one call, and an answer of {found.answer_tokens:,} tokens; a model that thinks first writes more"
    paid = [f"{line.model}: {_paid(line)}" for line in found.models]
    return [
        ("first prompt", first),
        ("a proposal", "\n".join([*costs, supposed])),
        (
            "pays for",
            "\n".join([f"what is left of {budget} pays for such proposals, where one model makes them all", *paid]),
        ),
    ]


def cost(found: Cost) -> str:
    """`4,210 tokens, 0.003 usd`."""
    parts = [spelled("tokens", found.tokens)]
    parts += [spelled("money", found.money)] if found.money else []
    parts += [spelled("gpu_seconds", found.gpu_seconds)] if found.gpu_seconds else []
    return ", ".join(parts)


def _paid(line: ModelEstimate) -> str:
    if line.proposals is None or line.least is None:
        return "as many as there is time for"
    return f"about {line.proposals:,}, and {line.least:,} at least" if line.proposals else "none"


def shown(found: Foreseen) -> str:
    """The prompt for a person: each message under its role, word for word."""
    turns = (f"{message.role}\n{quoted(message.text, _ALL)}" for message in found.prompt.messages)
    return "\n\n".join((f"a first prompt, of operator {found.operator}", *turns))
