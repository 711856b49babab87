"""Reading of the bodies that servers send: chat completions and embeddings.

The SDK's own types trust servers that many do not deserve: https://platform.openai.com/docs/api-reference/chat tells what should come.
A body that is read here has a choice with something in it, or is a `BadAnswer`; texts are bounded, and usage is a server's word or None."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.models.faults import shorten
from evolve.types import Finish, Usage

TEXT_LIMIT = 1 << 20
"""Characters of an answer, and of its thinking; a longer text is cut, and its finish is "length"."""
MOST_CHOICES = 128
"""Choices that are read of one answer; nobody asks for more."""
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
        """No text is in it, and neither a refusal nor a limit explains that."""
        return not self.text.strip() and self.finish not in ("length", "refused")


@dataclass(frozen=True, slots=True)
class Completion:
    """The answers to one request; `revision` is the name that the server gives its model."""

    choices: tuple[Choice, ...]
    usage: Usage | None = None
    revision: str = ""


def read_completion(content: bytes) -> Completion:
    """Reads the body of a completion; raises `BadAnswer`."""
    text = content.decode("utf-8", "replace")
    body = _read_object(text)
    usage, given = read_usage(body), body.get("choices")
    # Routers answer with status 200 and an error in the body where the server behind them failed.
    if not isinstance(given, list) or not given:
        raise BadAnswer("there is no choice in it", "" if body.get("error") else text, usage, _find_error(body))
    choices = tuple(_read_choice(choice, text, usage) for choice in given[:MOST_CHOICES])
    if all(choice.is_empty for choice in choices):
        raise BadAnswer("the answer is empty", "".join(choice.thinking for choice in choices), usage)
    return Completion(choices, usage, shorten(_text(body.get("model"))))


def _read_choice(choice: Any, body: str, usage: Usage | None) -> Choice:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise BadAnswer("a choice has no message", body, usage)
    text, thinking = _read_content(message.get("content"))
    thinking = thinking or _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    refusal = _text(message.get("refusal"))
    if not thinking:
        thinking, text = split_thinking(text)
    finish: Finish = "refused" if refusal else _FINISH.get(_text(choice.get("finish_reason")), "")
    if max(len(text), len(thinking)) > TEXT_LIMIT:
        finish = "length"
    return Choice((text or refusal)[:TEXT_LIMIT], thinking[:TEXT_LIMIT], finish)


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
    # No prompt has 0 tokens: such a count is a placeholder, and would make the call look free.
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
    # Chat templates of reasoning models open the block themselves, so that the answer has its end alone.
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
        raise BadAnswer(f"its body is {_describe_body(text.lstrip())}", text) from None
    if not isinstance(body, Mapping):
        raise BadAnswer("its body is no JSON object", text)
    return body


def _describe_body(text: str) -> str:
    if text.startswith("data:"):
        return "a stream of events, which nobody asked for"
    return "a web page" if text.startswith("<") else "no JSON, or a part of it" if text else "empty"


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
