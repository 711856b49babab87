"""Reading of the bodies that servers send: chat completions, whole or as server-sent events, and embeddings.

The SDK's own types trust servers that many do not deserve: https://platform.openai.com/docs/api-reference/chat tells what should come.
A body that is read here has a choice with something in it, or is a `BadAnswer`; texts are bounded, and usage is a server's word or None."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evolve.models.faults import shorten
from evolve.types import Finish, Usage

TEXT_LIMIT = 1 << 20
"""Characters of an answer, and of its thinking; a longer text is cut, and its finish is "length"."""
MOST_CHOICES = 128
"""Choices that are read of one answer; nobody asks for more."""
STREAM_END = b"data: [DONE]"
_EVENT_STREAM = re.compile(rb"\s*(?:data:|event:|id:|retry:|:)")
_STATUS = re.compile("[45][0-9][0-9]")
_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refused",
    "refusal": "refused",
}
_BLOCK = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_CLOSING_TAG = re.compile(r"</(?:think|thinking|reasoning)>")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


class BadAnswer(Exception):
    """A body with status 200 that is no completion. `text` is the part that may have to be paid, `usage` the server's own count, and
    `error` the status (0: unknown) and the body of an error that came with status 200."""

    def __init__(self, message: str, text: str = "", usage: Usage | None = None, error: tuple[int, str] | None = None):
        super().__init__(message)
        self.text = text
        self.usage = usage
        self.error = error


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of several."""

    text: str
    thinking: str = ""
    finish: Finish = ""

    @property
    def is_empty(self) -> bool:
        """Nothing is in it, and neither a refusal nor a limit explains that."""
        return not self.text.strip() and self.finish not in ("length", "refused")


@dataclass(frozen=True, slots=True)
class Completion:
    """The answers to one request; `revision` is the name that the server gives its model."""

    choices: tuple[Choice, ...]
    usage: Usage | None = None
    revision: str = ""


@dataclass(slots=True)
class _ChoiceParts:
    """The pieces of one choice in the order in which they came."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    finish: str = ""

    def add(self, message: Mapping[str, Any]) -> None:
        text, thinking = _read_content(message.get("content"))
        self.text.append(text)
        self.thinking.append(thinking or _text(message.get("reasoning_content")) or _text(message.get("reasoning")))
        self.refusal.append(_text(message.get("refusal")))

    def join(self) -> Choice:
        text, thinking, refusal = "".join(self.text), "".join(self.thinking), "".join(self.refusal)
        if not thinking:
            thinking, text = split_thinking(text)
        finish: Finish = "refused" if refusal else _FINISH.get(self.finish, "")
        if max(len(text), len(thinking)) > TEXT_LIMIT:
            finish = "length"
        return Choice((text or refusal)[:TEXT_LIMIT], thinking[:TEXT_LIMIT], finish)


class _EventStream:
    """A stream of events with a few characters of a choice in each (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

    def __init__(self) -> None:
        self.parts: dict[int, _ChoiceParts] = {}
        self.usage: Usage | None = None
        self.revision = ""
        self.is_over = False

    @property
    def text(self) -> str:
        return "".join(piece for parts in self.parts.values() for piece in (*parts.thinking, *parts.text))

    def read(self, content: bytes) -> None:
        """Reads all events; raises `BadAnswer` at the first that is none."""
        for line in content.splitlines():
            field, _, data = line.strip().partition(b":")
            data = data.strip() if field == b"data" else b""
            if data == b"[DONE]":
                self.is_over = True
                return
            if data:
                self._add(data)

    def _add(self, data: bytes) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise BadAnswer("an event of the stream is no JSON", self.text, self.usage) from None
        if not isinstance(event, Mapping):
            raise BadAnswer("an event of the stream is no object", self.text, self.usage)
        if event.get("error"):
            raise BadAnswer("the stream reports an error", self.text, self.usage, _find_error(event))
        self.usage = read_usage(event) or self.usage
        self.revision = shorten(_text(event.get("model"))) or self.revision
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        index = _count(choice.get("index"))
        if index not in self.parts and len(self.parts) >= MOST_CHOICES:
            return
        parts = self.parts.setdefault(index, _ChoiceParts())
        parts.finish = _text(choice.get("finish_reason")) or parts.finish
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            parts.add(delta)


def read_completion(content: bytes) -> Completion:
    """Reads the body of a completion, whole or as events; raises `BadAnswer`."""
    completion = _read_events(content) if _EVENT_STREAM.match(content) else _read_whole(content)
    if all(choice.is_empty for choice in completion.choices):
        thinking = "".join(choice.thinking for choice in completion.choices)
        raise BadAnswer("the answer is empty", thinking, completion.usage)
    return completion


def read_partial(content: bytes) -> str:
    """Returns the text in a body that broke off, for the estimate of its cost."""
    if not _EVENT_STREAM.match(content):
        return content.decode("utf-8", "replace")
    stream = _EventStream()
    try:
        stream.read(content)
    except BadAnswer:
        pass  # the last event is cut
    return stream.text


def _read_events(content: bytes) -> Completion:
    stream = _EventStream()
    stream.read(content)
    if not stream.parts:
        raise BadAnswer("there is no answer in the stream", "", stream.usage)
    if not stream.is_over and not all(parts.finish for parts in stream.parts.values()):
        raise BadAnswer("the stream ended before the answer", stream.text, stream.usage)
    choices = tuple(stream.parts[index].join() for index in sorted(stream.parts))
    return Completion(choices, stream.usage, stream.revision)


def _read_whole(content: bytes) -> Completion:
    text = content.decode("utf-8", "replace")
    body = _read_object(text)
    usage = read_usage(body)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        paid = "" if body.get("error") else text
        raise BadAnswer("there is no choice in it", paid, usage, _find_error(body))
    read = []
    for choice in choices[:MOST_CHOICES]:
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(message, Mapping):
            raise BadAnswer("a choice has no message", text, usage)
        parts = _ChoiceParts(finish=_text(choice.get("finish_reason")))
        parts.add(message)
        read.append(parts.join())
    return Completion(tuple(read), usage, shorten(_text(body.get("model"))))


def read_embedding(content: bytes) -> tuple[tuple[float, ...], Usage | None]:
    """Reads a vector and its usage (https://platform.openai.com/docs/api-reference/embeddings); raises `BadAnswer` unless it has finite
    numbers that are not all 0."""
    body = _read_object(content.decode("utf-8", "replace"))
    data = body.get("data")
    first = data[0] if isinstance(data, list) and data else None
    numbers = first.get("embedding") if isinstance(first, Mapping) else None
    if not isinstance(numbers, list) or not all(map(_is_number, numbers)) or not any(numbers):
        raise BadAnswer("there is no embedding in it", "", read_usage(body), _find_error(body))
    return tuple(map(float, numbers)), read_usage(body)


def read_usage(body: Mapping[str, Any]) -> Usage | None:
    """Returns the tokens that the server counted; None where it did not, or not sensibly."""
    usage = body.get("usage")
    prompt = _count(usage.get("prompt_tokens")) if isinstance(usage, Mapping) else 0
    if not prompt or not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else usage.get("prompt_cache_hit_tokens")
    return Usage(prompt, _count(usage.get("completion_tokens")), min(_count(cached), prompt), exact=True)


def read_error(content: bytes) -> tuple[str, str, str]:
    """Reads code, parameter and message of an error's body; the message is the body's beginning where it is worded in another way."""
    text = content[:20_000].decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return "", "", " ".join(text.split())
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return "", "", str(error)
    message = error.get("message") or error.get("detail") or error
    words = message if isinstance(message, str) else json.dumps(message)
    return _text(error.get("code")) or _text(error.get("type")), _text(error.get("param")), words


def split_thinking(text: str) -> tuple[str, str]:
    """Splits an answer into its thinking and the rest. Only blocks at the beginning are thinking: one that never ends is all of it, and a
    closing tag without an opening one ends thinking that began with the prompt's template. So a program that speaks of tags is left whole."""
    thoughts: list[str] = []
    place = 0
    if not _BLOCK.match(text):
        closing = _CLOSING_TAG.search(text)
        if closing is None or _is_quoted(text[: closing.start()]):
            return "", text
        thoughts, place = [text[: closing.start()]], closing.end()
    while block := _BLOCK.match(text, place):
        thoughts.append(block[2])
        place = block.end()
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip()), text[place:].strip()


def _is_quoted(before: str) -> bool:
    """Returns whether a closing tag after this text belongs to a program in a fence, or to an opening tag within a line."""
    return len(_FENCE.findall(before)) % 2 == 1 or "<think" in before or "<reasoning>" in before


def _read_object(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        kind = "a web page" if text.lstrip()[:1] == "<" else "no JSON, or a part of it" if text.strip() else "empty"
        raise BadAnswer(f"its body is {kind}", text) from None
    if not isinstance(body, Mapping):
        raise BadAnswer("its body is no JSON object", text)
    return body


def _find_error(body: Mapping[str, Any]) -> tuple[int, str] | None:
    """Returns status and body of an error that came with status 200, as routers send it; its status is 0 where it has none."""
    error = body.get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else 0
    status = int(code) if isinstance(code, int | str) and _STATUS.fullmatch(str(code)) else 0
    return status, json.dumps(body)


def _read_content(content: Any) -> tuple[str, str]:
    """Returns text and thinking; some servers send the content in parts."""
    text = thinking = ""
    for part in content if isinstance(content, list) else []:
        if isinstance(part, Mapping) and part.get("type") == "text":
            text += _text(part.get("text"))
        elif isinstance(part, Mapping) and part.get("type") == "thinking":
            inner = part.get("thinking")
            thinking += inner if isinstance(inner, str) else _read_content(inner)[0]
    return text or _text(content), thinking


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
