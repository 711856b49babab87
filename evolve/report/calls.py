"""Calls of models: what was asked and answered, what it took, and which proposals wait for an answer.

Invariant: a call's texts are read only where they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.campaign import Campaign
from evolve.log.reading import LogReader
from evolve.types import Propose, RecordId, Replied, TextId


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call without its texts. `index` -1: it was given up. Where nobody counted the tokens, `exact` is false."""

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
    """How many proposals wait for the first answer of their model."""
    return sum(
        isinstance(step.asked.action, Propose)
        and bool(step.asked.action.selection.model)
        and not step.replies
        and not step.settled
        for step in campaign.state.steps.values()
    )
