"""The body of an answer as it comes: whole, or as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

Invariant: whatever is fed, `partial` is the text that has come, so that a call which breaks off knows what it may have to pay."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from evolve.models.answer import (
    MOST_CHOICES,
    TEXT_LIMIT,
    Answer,
    Draft,
    Nonsense,
    checked,
    completion,
    count,
    disguised,
    model_name,
    usage_of,
    word,
)
from evolve.types import Usage

LONGEST_EVENT = 8 << 20
"""Bytes; as many as an answer may have that comes as a whole."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Body(Protocol[T_co]):
    """What makes something of an answer's bytes."""

    @property
    def partial(self) -> str: ...
    @property
    def is_done(self) -> bool:
        """What is still to come says nothing more."""

    def feed(self, chunk: bytes) -> bool:
        """Whether more is wanted."""

    def answer(self) -> T_co:
        """What was said; raises `Nonsense`."""


class WholeBody(Generic[T]):
    """A body that is read when all of it is there, by a function that raises `Nonsense`."""

    def __init__(self, read: Callable[[bytes], T]) -> None:
        self._read = read
        self._chunks: list[bytes] = []

    @property
    def partial(self) -> str:
        """All that came, as text."""
        return b"".join(self._chunks).decode("utf-8", "replace")

    @property
    def is_done(self) -> bool:
        """Never: who sends the body knows where it ends."""
        return False

    def feed(self, chunk: bytes) -> bool:
        """Keeps it."""
        self._chunks.append(chunk)
        return True

    def answer(self) -> T:
        """What is in it."""
        return self._read(b"".join(self._chunks))


class EventBody:
    """A stream of events with a few characters of a choice in each."""

    def __init__(self) -> None:
        self._line = b""
        self._other = bytearray()
        self._drafts: dict[int, Draft] = {}
        self._usage: Usage | None = None
        self._revision = ""
        self._size = 0
        self._heard = False
        self._ended = False
        self._cut = False

    @property
    def partial(self) -> str:
        """The text and the thinking of all choices."""
        return "".join(piece for draft in self._drafts.values() for piece in (*draft.thinking, *draft.text))

    @property
    def is_done(self) -> bool:
        """The last event was there."""
        return self._ended

    def feed(self, chunk: bytes) -> bool:
        """Reads the lines that are complete; no more is wanted where the answer is too long."""
        *lines, self._line = (self._line + chunk).split(b"\n") if b"\n" in chunk else [self._line + chunk]
        if len(self._line) > LONGEST_EVENT:
            raise Nonsense(f"an event of the stream is longer than {LONGEST_EVENT} bytes", self.partial, self._usage)
        for line in lines:
            self._read(line.strip())
        return not self._cut

    def answer(self) -> Answer:
        """What the events say together."""
        if self._line.strip():
            self._read(self._line.strip())
        if not self._drafts:
            return self._instead()
        finished = self._ended or self._cut or all(draft.finish for draft in self._drafts.values())
        if not finished:
            raise Nonsense("the stream ended before the answer", self.partial, self._usage)
        choices = tuple(self._drafts[index].done() for index in sorted(self._drafts))
        return checked(Answer(choices, None if self._cut else self._usage, self._revision))

    def _instead(self) -> Answer:
        """A server that does not stream sends all at once."""
        other = bytes(self._other).strip()
        if other or not self._heard:
            return completion(other)
        raise Nonsense("there is no answer in the stream", "", self._usage)

    def _read(self, line: bytes) -> None:
        if self._ended or self._cut:
            return
        if line.startswith(b"data:"):
            self._event(line[5:].strip())
        elif not self._drafts and not line.startswith((b":", b"event:", b"id:", b"retry:")):
            self._other += line + b"\n"
            if len(self._other) > LONGEST_EVENT:
                raise Nonsense(f"it is longer than {LONGEST_EVENT} bytes", "", self._usage)

    def _event(self, data: bytes) -> None:
        self._heard = True
        if data == b"[DONE]":
            self._ended = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise Nonsense("an event of the stream is no JSON", self.partial, self._usage) from None
        if not isinstance(event, Mapping):
            raise Nonsense("an event of the stream is no object", self.partial, self._usage)
        if event.get("error"):
            raise Nonsense("the stream reports an error", self.partial, self._usage, disguised(event))
        self._usage = usage_of(event) or self._usage
        self._revision = model_name(event.get("model")) or self._revision
        choices = event.get("choices")
        self._size += sum(map(self._grow, choices if isinstance(choices, list) else ()))
        self._cut = self._size > TEXT_LIMIT * max(1, len(self._drafts))

    def _grow(self, choice: Any) -> int:
        if not isinstance(choice, Mapping):
            return 0
        index = count(choice.get("index"))
        if index not in self._drafts and len(self._drafts) >= MOST_CHOICES:
            return 0
        draft = self._drafts.setdefault(index, Draft())
        draft.finish = word(choice.get("finish_reason")) or draft.finish
        delta = choice.get("delta")
        return draft.add(delta) if isinstance(delta, Mapping) else 0
