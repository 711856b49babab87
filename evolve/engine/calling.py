"""A model as one step's operator has it: what the log has answered comes first, and only then is the model asked.

Invariant: the calls of a step are numbered in the order in which they are made, so that an operator that runs again gets the same answers in the
same order, for whatever purpose it asks."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

from evolve.engine.members import Member, named
from evolve.models.cost import Cost
from evolve.models.turns import step_back
from evolve.types import (
    Call,
    Message,
    ModelError,
    Part,
    Prompt,
    Replied,
    Reply,
    Section,
    TextId,
    Usage,
    text_id,
)

ABANDONED = -1
"""The index of a call that answers nothing when its step runs again."""
_LONG = 0.1
"""Seconds from which on a call was long, so that it matters how soon the next is sent. Where a model answers at once the engine is what all
wait for, and who goes on without a change of threads saves it a fifteenth of its time."""
_SCREENING = frozenset({"novelty", "embed"})
"""What models are called for by the engine, and not by an operator."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A model has answered, or failed to: the event, and the texts that it names."""

    event: Replied
    texts: Mapping[TextId, str]


class Counter:
    """The calls of one step, in their order: `known` are those that the log has."""

    def __init__(self, step: int, known: Mapping[int, Call]) -> None:
        self.step = step
        self._known = dict(sorted(known.items()))
        self._next = max(known, default=-1) + 1

    def answered(self, purpose: str, request: str) -> Call | None:
        """The next call for a purpose, if the log has it. What is asked to screen a child depends on what else was proposed until then: there, only
        what was asked in the same words is an answer."""
        for index, call in self._known.items():
            if call.purpose == purpose and (purpose not in _SCREENING or call.request == request):
                return self._known.pop(index)
        return None

    def take(self) -> int:
        """The index of the next call."""
        self._next += 1
        return self._next - 1


@dataclass(frozen=True, slots=True)
class Order:
    """One request to a model: who is asked, what for, by which step, and the numbers of the samples that are wanted."""

    member: Member
    purpose: str
    counter: Counter
    prompt: Prompt
    samples: Sequence[int] = (0,)

    def answered(self, sample: int, reply: Reply, cost: Cost) -> Answered:
        """The event of one answer."""
        said, thought = (text_id(text) if text else TextId("") for text in (reply.text, reply.thinking))
        more = {
            "sample": sample,
            "revision": reply.revision,
            "reply": said,
            "thinking": thought,
            "finish": reply.finish,
            "seconds": reply.seconds,
            "attempts": reply.attempts,
        }
        texts = {name: text for name, text in ((said, reply.text), (thought, reply.thinking)) if name}
        return self._told(self.counter.take(), reply.usage, cost, more, texts)

    def failed(self, error: ModelError, cost: Cost, *, given_up: bool) -> Answered:
        """The event of a call that failed; one that was given up answers nothing later."""
        more = {
            "sample": self.samples[0],
            "attempts": error.attempts,
            "seconds": error.seconds,
            "error": str(error),
        }
        return self._told(ABANDONED if given_up else self.counter.take(), error.usage, cost, more, {})

    def _told(
        self, index: int, usage: Usage, cost: Cost, more: Mapping[str, Any], texts: Mapping[TextId, str]
    ) -> Answered:
        """`more`: what else the call has come to, by the names of its fields."""
        prompt = self.prompt
        parts, sections = _parts(prompt)
        call = Call(
            model=self.member.name,
            purpose=self.purpose,
            parameters=_parameters(prompt),
            prompt=parts,
            request=prompt.request,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            gpu_seconds=cost.gpu_seconds,
            cost=cost.money,
            exact=usage.exact,
            **more,
        )
        return Answered(Replied(self.counter.step, index, call), {**sections, **texts})


def _parts(prompt: Prompt) -> tuple[tuple[Part, ...], dict[TextId, str]]:
    """The sections as the log holds them, and their texts by their ids."""
    parts, sections = list[Part](), dict[TextId, str]()
    for message in prompt.messages:
        for section in message.sections:
            name = _named(section)
            parts.append(Part(message.role, section.name, name))
            sections[name] = section.text
    return tuple(parts), sections


@lru_cache(maxsize=64)
def _named(section: Section) -> TextId:
    """The id of a section's text. Kept, for the task and the rules stand in every prompt."""
    return text_id(section.text)


def _parameters(prompt: Prompt) -> dict[str, Any]:
    told = {"temperature": prompt.temperature, "effort": prompt.effort, "max_tokens": prompt.max_tokens}
    return {name: value for name, value in told.items() if value not in (None, "", 0)}


class Counting(Protocol):
    """What pays for orders and carries them out; see `Desk`."""

    def completed(self, order: Order) -> Sequence[Reply]:
        """At least one answer, at most one for each sample that is wanted; paid, and told to the log. Raises `ModelError`."""

    def embedded(self, order: Order, text: str) -> str:
        """The vector of a text, as JSON; paid, and told to the log. Raises `ModelError`."""

    def numbers(self, request: str, samples: int) -> Sequence[int]:
        """The numbers of the next samples of a prompt."""

    def text(self, name: str) -> str:
        """A text of the log."""


class StepCaller:
    """A model for one step and one purpose; implements `protocols.Caller`."""

    def __init__(self, desk: Counting, member: Member, purpose: str, counter: Counter) -> None:
        self._desk = desk
        self._member = member
        self._purpose = purpose
        self._counter = counter

    @property
    def name(self) -> str:
        """What the campaign calls it."""
        return self._member.name

    @property
    def context_tokens(self) -> int:
        """How long prompt and answer may be together."""
        return self._member.section.context_tokens

    @property
    def max_tokens(self) -> int:
        """How long an answer may be."""
        return self._member.section.max_tokens

    def complete(self, prompt: Prompt, samples: int = 1) -> Sequence[Reply]:
        """So many answers to one prompt; fewer where a call failed. Raises `ModelError` where there was none at all."""
        prompt = replace(prompt, max_tokens=min(prompt.max_tokens or self.max_tokens, self.max_tokens))
        answers, failure = self._known(prompt, samples)
        wanted = samples - len(answers) if failure is None else 0
        numbers = self._desk.numbers(prompt.request, wanted) if wanted else ()
        while numbers and failure is None:
            try:
                answered = self._desk.completed(self._order(prompt, numbers))
                answers, numbers = [*answers, *answered], numbers[len(answered) :]
            except ModelError as error:
                failure = error
        if failure is not None and not answers:
            raise failure
        if any(answer.seconds >= _LONG for answer in answers):
            step_back()
        return answers

    def embed(self, text: str) -> Sequence[float]:
        """The text's vector, of length 1. Raises `ModelError`."""
        prompt = Prompt((Message("user", (Section("text", text),)),))
        found, failure = self._known(prompt, 1)
        if failure is not None:
            raise failure
        if found:
            return vector_of(found[0].text)
        return vector_of(self._desk.embedded(self._order(prompt, (0,)), text))

    def _order(self, prompt: Prompt, samples: Sequence[int]) -> Order:
        return Order(self._member, self._purpose, self._counter, prompt, samples)

    def _known(self, prompt: Prompt, samples: int) -> tuple[list[Reply], ModelError | None]:
        """What the log has answered, until a call that failed."""
        answers: list[Reply] = []
        while len(answers) < samples:
            call = self._counter.answered(self._purpose, prompt.request)
            if call is None:
                break
            if call.error:
                return answers, ModelError(named(call.model, call.error))
            answers.append(self._reply(call))
        return answers, None

    def _reply(self, call: Call) -> Reply:
        usage = Usage(call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.exact)
        text, thinking = (self._desk.text(name) if name else "" for name in (call.reply, call.thinking))
        return Reply(text, thinking, call.finish, usage, call.revision, call.seconds, call.attempts)


def as_json(vector: Sequence[float]) -> str:
    """A vector as a text of the log: scaled to length 1, with as many digits as single precision has. Raises `ModelError` for none."""
    length = math.sqrt(sum(value * value for value in vector))
    if not (0 < length < math.inf):
        raise ModelError("an embedding is a vector of finite numbers that are not all 0. Do: use another model for it")
    return json.dumps([float(f"{value / length:.8g}") for value in vector])


def vector_of(text: str) -> Sequence[float]:
    """The vector that `as_json` wrote."""
    found: list[float] = json.loads(text)
    return found
