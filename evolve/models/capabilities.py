"""What an endpoint can do, found out by asking it: a handful of tiny calls.

Invariant: yes and no were seen; what was not seen is None. What a server claims is not believed where it can be tried."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolve.models.answer import Answer, model_name, parsed
from evolve.types import ModelError

_LENGTH_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
_SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}
_FORMAT = {"type": "json_schema", "json_schema": {"name": "number", "strict": True, "schema": _SCHEMA}}
_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Question:
    """A tiny call: its words, the fields that are tried, and how long the answer may be."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = _TOKENS


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A row of `evolve model ping`; None: unknown. `problem`: why it cannot be used, else empty. `models` are those that it lists, and `listed` whether this one is
    among them; `streamed_usage`: it counts tokens while it streams, too; `n`: several answers to one prompt; `seed`: the same seed gives the same answer;
    `json_schema`: answers follow one; `thinking`: it thinks aloud; `context_tokens`: what it says of its context length."""

    problem: str = ""
    models: tuple[str, ...] = ()
    listed: bool | None = None
    revision: str = ""
    usage: bool | None = None
    streaming: bool | None = None
    streamed_usage: bool | None = None
    n: bool | None = None
    seed: bool | None = None
    json_schema: bool | None = None
    thinking: bool | None = None
    context_tokens: int | None = None

    @property
    def reachable(self) -> bool:
        """A call was answered."""
        return not self.problem


def listing(content: bytes) -> tuple[Mapping[str, Any], ...]:
    """The models in the body of `/models`; raises `Nonsense`."""
    data = parsed(content.decode("utf-8", "replace")).get("data")
    return tuple(entry for entry in data if isinstance(entry, Mapping)) if isinstance(data, list) else ()


def probe(model: str, entries: Sequence[Mapping[str, Any]], ask: Callable[[Question], Answer | None]) -> Capabilities:
    """What a model can do. `entries` are what the endpoint lists; `ask` returns None where a field is refused, and raises `ModelError`."""
    names = tuple(model_name(entry.get("id")) for entry in entries)
    listed = model in names if names else None
    try:
        plain = ask(Question("Say OK."))
    except ModelError as error:
        return Capabilities(str(error), names, listed)
    assert plain is not None, "a question without fields has none to refuse"
    many = _tried(ask, Question("Say OK.", {"n": 2}))
    stream = _tried(ask, Question("Say OK.", {"stream": True, "stream_options": {"include_usage": True}}))
    if stream is _REFUSED:
        stream = _tried(ask, Question("Say OK.", {"stream": True}))
    shaped = _tried(ask, Question("Name a number.", {"response_format": _FORMAT}, 4 * _TOKENS))
    answers = [answer for answer in (plain, many, stream, shaped) if isinstance(answer, Answer)]
    return Capabilities(
        models=names,
        listed=listed,
        revision=plain.revision,
        usage=plain.usage is not None,
        streaming=_seen(stream, lambda answer: answer.streamed),
        streamed_usage=_seen(stream, lambda answer: answer.streamed and answer.usage is not None),
        n=_seen(many, lambda answer: len(answer.choices) == 2),
        seed=_repeats(ask),
        json_schema=_seen(shaped, _fits),
        thinking=any(choice.thinking for answer in answers for choice in answer.choices),
        context_tokens=_context(model, entries),
    )


class _Sentinel:
    """What `_tried` says where there is no answer."""


_REFUSED, _FAILED = _Sentinel(), _Sentinel()


def _tried(ask: Callable[[Question], Answer | None], question: Question) -> Answer | _Sentinel:
    try:
        answer = ask(question)
    except ModelError:
        return _FAILED
    return _REFUSED if answer is None else answer


def _seen(answer: Answer | _Sentinel, is_so: Callable[[Answer], bool | None]) -> bool | None:
    if isinstance(answer, Answer):
        return is_so(answer)
    return False if answer is _REFUSED else None


def _repeats(ask: Callable[[Question], Answer | None]) -> bool | None:
    """The same seed twice; a deterministic server passes too, and may."""
    question = Question("Write twenty random digits.", {"seed": 7, "temperature": 1.0})
    first = _tried(ask, question)
    if first is _REFUSED:  # it may be the temperature that it does not take
        question = Question(question.text, {"seed": 7})
        first = _tried(ask, question)
    if not isinstance(first, Answer):
        return False if first is _REFUSED else None
    said = first.choices[0].text
    return _seen(_tried(ask, question), lambda answer: answer.choices[0].text == said) if said.strip() else None


def _fits(answer: Answer) -> bool | None:
    """Whether the answer is what the schema says; unknown where it was cut off."""
    choice = answer.choices[0]
    if choice.finish == "length":
        return None
    try:
        value = json.loads(choice.text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and list(value) == ["number"] and type(value["number"]) is int


def _context(model: str, entries: Sequence[Mapping[str, Any]]) -> int | None:
    """The context length, by the names that vLLM, OpenRouter, Groq and Mistral give it."""
    for entry in entries:
        lengths = [entry[name] for name in _LENGTH_NAMES if type(entry.get(name)) is int]
        if entry.get("id") == model and lengths:
            return int(lengths[0])
    return None
