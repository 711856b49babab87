"""A request as an endpoint takes it: what it has refused once is not sent again.

Invariant: fields are only ever taken away, so that every call ends; what the user wrote under `extra` is never taken away unasked."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from evolve.models.faults import SYSTEM
from evolve.models.settings import OpenAISettings, is_within
from evolve.types import Prompt

_LENGTHS = ("max_completion_tokens", "max_tokens")


class Dialect:
    """What an endpoint takes. Any thread."""

    def __init__(self, settings: OpenAISettings, host: str) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._refused: frozenset[str] = frozenset() if settings.streaming else frozenset({"stream"})
        # OpenAI's own models refuse the older name; most other servers know no other.
        is_theirs = is_within(host, "openai.com") or is_within(host, "azure.com")
        self._lengths = _LENGTHS if is_theirs else _LENGTHS[::-1]

    @property
    def refused(self) -> frozenset[str]:
        """What is not sent any more."""
        with self._lock:
            return self._refused

    def refuse(self, field: str) -> None:
        """From now on the field is left out."""
        with self._lock:
            self._refused |= {field}

    def body(self, prompt: Prompt, samples: Sequence[int]) -> dict[str, Any]:
        """The request for so many answers."""
        refused = self.refused
        body: dict[str, Any] = {"model": self._settings.model, "messages": _messages(prompt, SYSTEM in refused)}
        optional = self._optional(prompt, samples)
        if "stream" in refused:
            refused |= {"stream_options"}
        body.update((name, value) for name, value in optional.items() if name not in refused)
        length = next((name for name in self._lengths if name not in refused), None)
        if prompt.max_tokens and length:
            body[length] = prompt.max_tokens
        return {**body, **self._settings.extra}

    def optional(self, body: Mapping[str, Any]) -> tuple[str, ...]:
        """What could be left out of a request."""
        fields = [name for name in body if name not in ("model", "messages") and name not in self._settings.extra]
        return (*fields, SYSTEM) if body["messages"][0]["role"] == "system" else tuple(fields)

    def _optional(self, prompt: Prompt, samples: Sequence[int]) -> dict[str, Any]:
        settings = self._settings
        temperature = settings.temperature if prompt.temperature is None else prompt.temperature
        wanted = {
            "n": len(samples) if len(samples) > 1 else None,
            "temperature": temperature,
            "reasoning_effort": prompt.effort or settings.effort or None,
            "seed": None if settings.seed is False else sample_seed(settings.seed, prompt.request, samples[0]),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return {name: value for name, value in wanted.items() if value is not None}


def sample_seed(seed: bool | int, request: str, sample: int) -> int:
    """31 bits that belong to one sample of one prompt, the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{int(seed)}:{request}:{sample}".encode()).digest()[:4]) >> 1


def _messages(prompt: Prompt, fold: bool) -> list[dict[str, str]]:
    """The turns; where the endpoint knows no system's role, its text begins the user's."""
    turns = [(message.role, message.text) for message in prompt.messages]
    if fold and len(turns) > 1 and turns[0][0] == "system" and turns[1][0] == "user":
        turns = [("user", f"{turns[0][1]}\n\n{turns[1][1]}"), *turns[2:]]
    return [{"role": role, "content": text} for role, text in turns]
