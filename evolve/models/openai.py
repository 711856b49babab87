"""The kind `openai`: any server that speaks OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat).

A call is retried until it is answered, refused, or out of time; the cost of all its requests is in its usage. A field that an endpoint has
refused is not sent again; the user's own fields, under `extra`, are never left out."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evolve.models.completion import Choice, Completion, read_completion, read_embedding
from evolve.models.connection import Connection, EndpointRequest
from evolve.models.endpoint import OpenAISettings, is_within, open_endpoint
from evolve.models.faults import SYSTEM, RequestFault, Treatment
from evolve.models.retries import CHECK_TRIES, CallResult, ModelClock, RequestRetries
from evolve.types import Message, Prompt, Reply, Section, Usage, estimate_tokens

_CHECK = Prompt((Message("user", (Section("check", "Say OK."),)),), max_tokens=16)
_LENGTHS = ("max_completion_tokens", "max_tokens")


class OpenAIModel:
    """Model behind an endpoint; implements `Model` and `Embedder`. Any thread may call."""

    def __init__(
        self, settings: OpenAISettings, environment: Mapping[str, str], clock: ModelClock | None = None
    ) -> None:
        endpoint = open_endpoint(settings, environment)
        self._settings = settings
        self._clock = clock or ModelClock()
        self._fields = RequestFields(settings, endpoint.host)
        self._connection = Connection(endpoint)
        self._retries = RequestRetries(f"{settings.model!r} at {endpoint.host}", self._clock)

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Makes one small call, which shows whether key, model and address are right. Raises `ModelError`."""
        ask = partial(self._ask, _CHECK, (0,), deadline, cancelled)
        done = self._retries.call(ask, deadline, cancelled, CHECK_TRIES)
        return _to_replies(done, _CHECK, 1, 0.0)[0].usage

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """See `Model.complete`. An endpoint that gives one answer at a time gives one."""
        began = self._clock.now()
        done = self._retries.call(partial(self._ask, prompt, samples, deadline, cancelled), deadline, cancelled)
        return _to_replies(done, prompt, len(samples), self._clock.now() - began)

    def embed(self, text: str, *, deadline: float, cancelled: threading.Event) -> tuple[Sequence[float], Usage]:
        """See `Embedder.embed`."""
        body = {"model": self._settings.model, "input": text, **self._settings.extra}
        tokens = estimate_tokens(text)
        request = EndpointRequest("/embeddings", body, read_embedding, prompt_tokens=tokens)
        done = self._retries.call(partial(self._connection.ask, request, deadline, cancelled), deadline, cancelled)
        vector, usage = done.value
        return vector, done.failed.usage.plus(usage or Usage(tokens))

    def close(self) -> None:
        """Closes its connections."""
        self._connection.close()

    def _ask(self, prompt: Prompt, samples: Sequence[int], deadline: float, cancelled: threading.Event) -> Completion:
        """Sends one request; remembers a field that the endpoint refuses before the `RequestFault` goes on."""
        body = self._fields.body(prompt, samples)
        longest = prompt.max_tokens * body.get("n", 1)
        optional = self._fields.optional(body)
        request = EndpointRequest(
            "/chat/completions", body, read_completion, optional, prompt.estimated_tokens, longest
        )
        try:
            return self._connection.ask(request, deadline, cancelled)
        except RequestFault as fault:
            # The tokens were spent on thinking: another try would spend as many.
            if fault.treatment is Treatment.CUT_OFF:
                return Completion((Choice("", finish="length"),))
            if fault.field:
                self._fields.refuse(fault.field)
            raise


class RequestFields:
    """Fields of a request, without those that the endpoint has refused. They only become fewer, so that retries end. Any thread."""

    def __init__(self, settings: OpenAISettings, host: str) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._refused: frozenset[str] = frozenset()
        # OpenAI's own models refuse the older name; most other servers know no other.
        is_theirs = is_within(host, "openai.com") or is_within(host, "azure.com")
        self._lengths = _LENGTHS if is_theirs else _LENGTHS[::-1]

    def refuse(self, field: str) -> None:
        """Leaves the field out from now on."""
        with self._lock:
            self._refused |= {field}

    def body(self, prompt: Prompt, samples: Sequence[int]) -> dict[str, Any]:
        """Returns the request for so many answers."""
        refused = self._refused  # read once: another call may find one more meanwhile
        body: dict[str, Any] = {"model": self._settings.model, "messages": _to_messages(prompt, SYSTEM in refused)}
        optional = self._optional(prompt, samples)
        body.update((name, value) for name, value in optional.items() if name not in refused)
        length = next((name for name in self._lengths if name not in refused), None)
        if prompt.max_tokens and length:
            body[length] = prompt.max_tokens
        return {**body, **self._settings.extra}

    def optional(self, body: Mapping[str, Any]) -> tuple[str, ...]:
        """Returns the fields that could be left out of a request."""
        fields = [name for name in body if name not in ("model", "messages") and name not in self._settings.extra]
        return (*fields, SYSTEM) if body["messages"][0]["role"] == "system" else tuple(fields)

    def _optional(self, prompt: Prompt, samples: Sequence[int]) -> dict[str, Any]:
        settings = self._settings
        temperature = settings.temperature if prompt.temperature is None else prompt.temperature
        wanted = {
            "n": len(samples) if len(samples) > 1 else None,
            "temperature": temperature,
            "reasoning_effort": prompt.effort or settings.effort or None,
        }
        return {name: value for name, value in wanted.items() if value is not None}


def _to_messages(prompt: Prompt, fold: bool) -> list[dict[str, str]]:
    """Returns the turns; where the endpoint knows no system role, its text begins the user's."""
    turns = [(message.role, message.text) for message in prompt.messages]
    if fold and len(turns) > 1 and turns[0][0] == "system" and turns[1][0] == "user":
        turns = [("user", f"{turns[0][1]}\n\n{turns[1][1]}"), *turns[2:]]
    return [{"role": role, "content": text} for role, text in turns]


def _to_replies(done: CallResult[Completion], prompt: Prompt, wanted: int, seconds: float) -> list[Reply]:
    """Returns a reply for each answer that has something in it, no more than wanted; the first carries the usage that the others do not."""
    # A server counts the tokens of all answers together: each has a share by its length, so that the sum stays what was counted.
    answer = done.value
    said = [choice for choice in answer.choices if not choice.is_empty][:wanted]
    sizes = [len(choice.text) + len(choice.thinking) for choice in said]
    total = answer.usage or _estimate(prompt, answer, wanted)
    shares = [total.completion_tokens * size // max(1, sum(sizes)) for size in sizes[1:]]
    first = done.failed.usage.plus(replace(total, completion_tokens=total.completion_tokens - sum(shares)))
    usages = [first, *(Usage(0, share, exact=total.exact) for share in shares)]
    attempts, causes = done.failed.count + 1, done.failed.causes
    return [
        Reply(choice.text, choice.thinking, choice.finish, usage, answer.revision, seconds, attempts, causes)
        for choice, usage in zip(said, usages, strict=True)
    ]


def _estimate(prompt: Prompt, answer: Completion, wanted: int) -> Usage:
    """Returns the possible usage of an answer, never more than its bound; an answer that was cut at its greatest length has that."""
    most = prompt.max_tokens
    sizes = [
        most if most and choice.finish == "length" else estimate_tokens(choice.text) + estimate_tokens(choice.thinking)
        for choice in answer.choices
    ]
    return Usage(prompt.estimated_tokens, min(sum(sizes), most * wanted or sum(sizes)))
