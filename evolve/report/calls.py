"""Calls of models: what was asked and answered, what it took, and which proposals wait for an answer.

Invariant: a call's texts are read only where they are asked for."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.campaign import Campaign
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
    """A call as the log has it, without its texts."""
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
    """A call with its texts, read from its log."""
    call = replied.call
    prompt = tuple(Said(part.role, part.name, log.text(TextId(part.text))) for part in call.prompt)
    thinking, reply = (log.text(TextId(name)) if name else "" for name in (call.thinking, call.reply))
    return WholeCall(call_line(replied), dict(call.parameters), prompt, thinking, reply)


def calls_of(campaign: Campaign, record: RecordId) -> tuple[WholeCall, ...]:
    """The calls of the step that made a record, in their order; none where no model was asked."""
    return tuple(whole_call(campaign.log, replied) for replied in campaign.log.replies(record))


def waiting(campaign: Campaign) -> int:
    """Returns how many calls are in flight: the proposals that wait for the first answer of their model, of which it takes `concurrency` at
    once, for more are made ready."""
    proposals = Counter(
        step.asked.action.selection.model
        for step in campaign.state.steps.values()
        if isinstance(step.asked.action, Propose) and not step.replies and not step.settled
    )
    return sum(min(proposals[member.name], member.concurrency) for member in campaign.settings.models.members)
