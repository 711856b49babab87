"""The kind `openai`: any server that speaks OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat).

Invariant: a call is asked until it is answered, refused, or out of time; whatever was sent for it is in its usage and its attempts."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evolve.models.answer import Answer, Choice, completion
from evolve.models.attempts import HELD_AT_FIRST, Answered, Attempts
from evolve.models.clock import Clock
from evolve.models.dialect import Dialect
from evolve.models.embedding import embedding
from evolve.models.faults import Fault, Treatment
from evolve.models.limiter import Limiter
from evolve.models.settings import OpenAISettings, endpoint
from evolve.models.stream import Body, EventBody, WholeBody
from evolve.models.transport import STREAM_LIMIT, WHOLE_LIMIT, Watch
from evolve.models.wire import Request, Wire
from evolve.types import Message, Prompt, Reply, Section, Usage, estimated

_CHECK = Prompt((Message("user", (Section("check", "Say OK."),)),), max_tokens=16)


class ChatModel:
    """A model behind an endpoint. Thread-safe: a call works on the thread that makes it, and no other is started."""

    def __init__(self, settings: OpenAISettings, environment: Mapping[str, str], clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or Clock()
        self._endpoint = endpoint(settings, environment)
        self._dialect = Dialect(settings, self._endpoint.host)
        self._wire = Wire(self._endpoint, self._clock)
        self._attempts = Attempts(f"{settings.model!r} at {self._endpoint.host}", Limiter(self._clock), self._clock)

    @property
    def gives_way(self) -> bool:
        """See `turns.gives_way`."""
        return True

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """One tiny call: whether the key, the model and the address are right. Raises `ModelError`."""
        ask = lambda: self._ask(_CHECK, (0,), deadline, cancelled)  # noqa: E731
        done = self._attempts.until_answered(ask, deadline, cancelled, held=HELD_AT_FIRST)
        return _replies(done, _CHECK, 1, 0.0)[0].usage

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """See `Model.complete`. An endpoint that gives one answer at a time gives one."""
        began = self._clock.now()
        done = self._attempts.until_answered(
            lambda: self._ask(prompt, samples, deadline, cancelled), deadline, cancelled
        )
        return _replies(done, prompt, len(samples), self._clock.now() - began)

    def embed(self, text: str, *, deadline: float, cancelled: threading.Event) -> tuple[Sequence[float], Usage]:
        """See `Embedder.embed`."""
        body = {"model": self._settings.model, "input": text, **self._settings.extra}
        tokens = estimated(text)
        request = Request("/embeddings", lambda: WholeBody(embedding), body, prompt_tokens=tokens)
        ask = lambda: self._wire.ask(request, Watch(deadline, cancelled))  # noqa: E731
        done = self._attempts.until_answered(ask, deadline, cancelled)
        return done.value.vector, done.wasted.plus(done.value.usage or Usage(tokens))

    def close(self) -> None:
        """Closes its connections."""
        self._wire.close()

    def _ask(self, prompt: Prompt, samples: Sequence[int], deadline: float, cancelled: threading.Event) -> Answer:
        """One request; what the endpoint does not take is remembered before the `Fault` goes on."""
        try:
            return self._send(prompt, self._dialect.body(prompt, samples), deadline, cancelled)
        except Fault as fault:
            raise self._learned(fault) from None

    def _send(self, prompt: Prompt, body: Mapping[str, Any], deadline: float, cancelled: threading.Event) -> Answer:
        read, limit = (_events, STREAM_LIMIT) if body.get("stream") else (_whole, WHOLE_LIMIT)
        longest = prompt.max_tokens * body.get("n", 1)
        request = Request(
            "/chat/completions", read, body, self._dialect.optional(body), prompt.estimated_tokens, longest
        )
        try:
            return self._wire.ask(request, Watch(deadline, cancelled, limit))
        except Fault as fault:
            if fault.treatment is not Treatment.CUT:
                raise
            return Answer((Choice("", finish="length"),))

    def _learned(self, fault: Fault) -> Fault:
        if fault.field:
            self._dialect.refuse(fault.field)
        return fault


def _whole() -> Body[Answer]:
    return WholeBody(completion)


def _events() -> Body[Answer]:
    return EventBody()


def _replies(done: Answered[Answer], prompt: Prompt, wanted: int, seconds: float) -> list[Reply]:
    """A reply for each answer that has something in it, no more than wanted; the first carries what the others do not."""
    answer = done.value
    said = [choice for choice in answer.choices if not choice.is_empty][:wanted]
    sizes = [len(choice.text) + len(choice.thinking) for choice in said]
    total = answer.usage or _estimate(prompt, answer, wanted)
    shares = [total.completion_tokens * size // max(1, sum(sizes)) for size in sizes[1:]]
    first = done.wasted.plus(replace(total, completion_tokens=total.completion_tokens - sum(shares)))
    usages = [first, *(Usage(0, share, exact=total.exact) for share in shares)]
    return [
        Reply(choice.text, choice.thinking, choice.finish, usage, answer.revision, seconds, done.attempts)
        for choice, usage in zip(said, usages, strict=True)
    ]


def _estimate(prompt: Prompt, answer: Answer, wanted: int) -> Usage:
    """What an answer may have cost, never more than it may at most; one that was cut at its greatest length has that."""
    most = prompt.max_tokens
    sizes = [
        most if most and choice.finish == "length" else estimated(choice.text) + estimated(choice.thinking)
        for choice in answer.choices
    ]
    return Usage(prompt.estimated_tokens, min(sum(sizes), most * wanted or sum(sizes)))
