"""Calls of models: what was asked and answered, and what it cost by operator, model and purpose.

A call's texts are read only where they are asked for; every cost is a sum over the calls that the fold has counted, failed ones among them."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evolve.campaign import Campaign
from evolve.campaign.folds import CallTotals
from evolve.log.reading import LogReader
from evolve.types import Propose, RecordId, Replied, TextId


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call without its texts. `index` -1: it was given up. Where nobody counted the tokens, `exact` is false; `retries` counts the requests
    that failed, by their causes."""

    step: int
    index: int
    purpose: str
    model: str
    revision: str
    request: str
    sample: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    exact: bool
    cost: float
    seconds: float
    attempts: int
    finish: str
    error: str
    retries: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Said:
    """A section of a prompt."""

    role: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class WholeCall:
    """A call with its texts."""

    call: CallLine
    parameters: Mapping[str, Any]
    prompt: tuple[Said, ...]
    thinking: str
    reply: str


def call_line(replied: Replied) -> CallLine:
    """Returns a call as the log has it, without its texts."""
    call = replied.call
    return CallLine(
        replied.step,
        replied.index,
        call.purpose,
        call.model,
        call.revision,
        call.request,
        call.sample,
        call.prompt_tokens,
        call.completion_tokens,
        call.cached_tokens,
        call.exact,
        call.cost,
        call.seconds,
        call.attempts,
        call.finish,
        call.error,
        call.retries,
    )


def whole_call(log: LogReader, replied: Replied) -> WholeCall:
    """Returns a call with its texts, read from its log."""
    call = replied.call
    prompt = tuple(Said(part.role, part.name, log.text(TextId(part.text))) for part in call.prompt)
    thinking, reply = (log.text(TextId(name)) if name else "" for name in (call.thinking, call.reply))
    return WholeCall(call_line(replied), dict(call.parameters), prompt, thinking, reply)


def calls_of(campaign: Campaign, record: RecordId) -> tuple[WholeCall, ...]:
    """Returns the calls of the step that made a record, in their order; none where no model was asked."""
    return tuple(whole_call(campaign.log, replied) for replied in campaign.log.replies(record))


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Number of calls that models work on, and of those that wait for their turn."""

    in_flight: int
    queued: int


def pending_calls(campaign: Campaign) -> PendingCalls:
    """Returns how many proposals have no answer yet: each model takes `concurrency` at once, and more are made ready."""
    proposals = Counter(
        step.asked.action.selection.model
        for step in campaign.state.steps.values()
        if isinstance(step.asked.action, Propose) and not step.replies and not step.settled
    )
    counts = [(proposals[member.name], member.concurrency) for member in campaign.settings.models.members]
    return PendingCalls(sum(map(min, counts)), sum(max(0, wanted - most) for wanted, most in counts))


@dataclass(frozen=True, slots=True)
class CostLine:
    """Sums over calls. `cached_tokens` are among the `prompt_tokens`; `exact` is the share of the calls whose tokens the server has
    counted; those that were given up when a run ended have not `failed`; `seconds` are those of all calls one after another; `money` is in US dollars."""

    name: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    money: float
    gpu_seconds: float
    seconds: float
    exact: float

    @property
    def tokens(self) -> int:
        """Prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of calls. An operator's are all calls of its steps; those before any step have the name ""."""

    total: CostLine
    operators: tuple[CostLine, ...]
    models: tuple[CostLine, ...]
    purposes: tuple[CostLine, ...]


def _line_of(name: str, taken: CallTotals) -> CostLine:
    """Sums under a name."""
    share = taken.exact / taken.calls if taken.calls else 0.0
    return CostLine(name, **(asdict(taken) | {"exact": share}))


def costs(campaign: Campaign) -> Costs | None:
    """Returns what a campaign has paid for calls; None where no model was called."""
    if not campaign.state.progress.calls:
        return None
    total = CallTotals()
    operators, models, purposes = (defaultdict[str, CallTotals](CallTotals) for _ in range(3))
    for operator, model, purpose, taken in campaign.state.calls.totals():
        for sums in (total, operators[operator], models[model], purposes[purpose]):
            sums.add(taken)
    return Costs(_line_of("all", total), _lines(operators), _lines(models), _lines(purposes))


def _lines(sums: Mapping[str, CallTotals]) -> tuple[CostLine, ...]:
    """Returns the sums, the most expensive first."""
    lines = [_line_of(name, taken) for name, taken in sums.items()]
    return tuple(sorted(lines, key=lambda line: (-line.money, -line.tokens, line.name)))
