"""The body of a completion, read by us: the SDK's own types believe servers that many do not deserve.

Invariant: what is read here either has a choice in it or is `Nonsense`; texts are bounded, and usage is a server's word or None."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evolve.models.faults import brief
from evolve.models.thinking import parted
from evolve.types import Finish, Usage

TEXT_LIMIT = 1 << 20
"""Characters of an answer, and of its thinking; what is longer is cut, and its finish is "length"."""
MOST_CHOICES = 128
"""Of an answer; nobody asks for more."""
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


class Nonsense(Exception):
    """A body with status 200 that is no completion. `text` is what may have been paid for; `usage` what the server said of it; `error`
    the status and the message of an error in disguise."""

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
        """There is nothing in it, for no reason."""
        return not self.text.strip() and self.finish not in ("length", "refused")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a completion says."""

    choices: tuple[Choice, ...]
    usage: Usage | None = None
    revision: str = ""


@dataclass(slots=True)
class Draft:
    """A choice that is being put together."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    finish: str = ""

    def add(self, message: Mapping[str, Any]) -> int:
        """How many characters came with it."""
        text, thinking = _content(message.get("content"))
        said = message.get("reasoning_content") or message.get("reasoning")
        thinking += said if isinstance(said, str) else ""
        refusal = message.get("refusal")
        self.text.append(text)
        self.thinking.append(thinking)
        self.refusal.append(refusal if isinstance(refusal, str) else "")
        return len(text) + len(thinking)

    def done(self) -> Choice:
        """The choice, its thinking parted from its text."""
        text, aloud, refusal = "".join(self.text), "".join(self.thinking), "".join(self.refusal)
        inside, text = ("", text) if aloud else parted(text)
        finish: Finish = "refused" if refusal else _FINISH.get(self.finish, "")
        if len(text) > TEXT_LIMIT or len(aloud or inside) > TEXT_LIMIT:
            finish = "length"
        return Choice((text or refusal)[:TEXT_LIMIT], (aloud or inside)[:TEXT_LIMIT], finish)


def completion(content: bytes) -> Answer:
    """The answer in a body that was read as a whole; raises `Nonsense`."""
    text = content.decode("utf-8", "replace")
    body = parsed(text)
    usage = usage_of(body)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Nonsense("there is no choice in it", _said(body), usage, disguised(body))
    drafts = []
    for choice in choices[:MOST_CHOICES]:
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(message, Mapping):
            raise Nonsense("a choice has no message", text, usage)
        draft = Draft(finish=word(choice.get("finish_reason")))
        draft.add(message)
        drafts.append(draft)
    return checked(Answer(tuple(draft.done() for draft in drafts), usage, model_name(body.get("model"))))


def usage_of(body: Mapping[str, Any]) -> Usage | None:
    """What the server counted; None where it did not, or not sensibly."""
    said = body.get("usage")
    if not isinstance(said, Mapping):
        return None
    prompt, completed = count(said.get("prompt_tokens")), count(said.get("completion_tokens"))
    details = said.get("prompt_tokens_details")
    cached = (
        count(details.get("cached_tokens"))
        if isinstance(details, Mapping)
        else count(said.get("prompt_cache_hit_tokens"))
    )
    if not prompt:
        return None
    return Usage(prompt, completed, min(cached, prompt), exact=True)


def message_of(content: bytes) -> tuple[str, str, str]:
    """Code, parameter and message of an error's body; the message is the body's beginning where it is no error as OpenAI words it."""
    text = content[:20_000].decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return "", "", " ".join(text.split())
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return "", "", str(error)
    said = error.get("message") or error.get("detail") or error
    return (
        word(error.get("code")) or word(error.get("type")),
        word(error.get("param")),
        said if isinstance(said, str) else json.dumps(said),
    )


def checked(answer: Answer) -> Answer:
    """The answer; raises `Nonsense` where nothing is in it."""
    if all(choice.is_empty for choice in answer.choices):
        said = "".join(choice.thinking for choice in answer.choices)
        raise Nonsense("the answer is empty", said, answer.usage)
    return answer


def parsed(text: str) -> Mapping[str, Any]:
    """The object that a body is; raises `Nonsense`."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        kind = "a web page" if text.lstrip()[:1] == "<" else "no JSON, or a part of it" if text.strip() else "empty"
        raise Nonsense(f"its body is {kind}", text) from None
    if not isinstance(body, Mapping):
        raise Nonsense("its body is no JSON object", text)
    return body


def disguised(body: Mapping[str, Any]) -> tuple[int, str] | None:
    """The status of an error that came with status 200, as routers send it; 0 where it has none."""
    error = body.get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else 0
    status = int(code) if isinstance(code, int | str) and _STATUS.fullmatch(str(code)) else 0
    return status, json.dumps(body)


def _said(body: Mapping[str, Any]) -> str:
    return "" if body.get("error") else json.dumps(body)


def _content(content: Any) -> tuple[str, str]:
    """Text and thinking; some servers send content in parts."""
    if isinstance(content, str):
        return content, ""
    text = thinking = ""
    for part in content if isinstance(content, list) else []:
        if isinstance(part, Mapping) and part.get("type") == "text":
            text += word(part.get("text"))
        elif isinstance(part, Mapping) and part.get("type") == "thinking":
            inner = part.get("thinking")
            thinking += inner if isinstance(inner, str) else _content(inner)[0]
    return text, thinking


def word(value: Any) -> str:
    """A text that a server may have said; empty where it is none."""
    return value if isinstance(value, str) else ""


def model_name(value: Any) -> str:
    """What a server calls a model: on one line that no terminal obeys, and bounded; empty where it says nothing."""
    return brief(word(value))


def count(value: Any) -> int:
    """A count that a server may have said; 0 where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else 0
