"""Prompts to models, and replies.

A prompt is a value: equal prompts have equal `request` digests, on every machine and in every version of Python."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from evolve.types.program import canonical, digest

__all__ = [
    "PROPOSE",
    "PURPOSES",
    "Finish",
    "Message",
    "Prompt",
    "Reply",
    "Role",
    "Section",
    "Usage",
    "estimate_tokens",
]

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refused", ""]
PROPOSE = "propose"
PURPOSES = frozenset({PROPOSE, "repair", "reflect", "novelty", "embed"})
"""Purposes of calls, but for the check at the start."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a message that stays the same in many prompts: stored once. `name` says what it is, such as "task" or "parent"."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a dialogue: its sections in their order, with an empty line between two. `text` is what the model reads, and `size` the
    bytes of that in UTF-8."""

    role: Role
    sections: tuple[Section, ...]
    text: str = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = "\n\n".join(section.text for section in self.sections)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "size", len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")))


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages, and how to sample the answer. `temperature` None and `effort` empty (else "low", "medium", "high", or what the model
    knows): the model's own. `max_tokens` bounds the answer with its thinking; 0: as many as the model's settings allow."""

    messages: tuple[Message, ...]
    temperature: float | None = None
    effort: str = ""
    max_tokens: int = 0

    @property
    def request(self) -> str:
        """32 hexadecimal digits that name the messages, however they are cut into sections."""
        return _request(self)

    @property
    def size(self) -> int:
        """Bytes of all messages in UTF-8: no tokenizer makes more tokens of them than that, but for a few per message."""
        return sum(message.size for message in self.messages)

    @property
    def estimated_tokens(self) -> int:
        """Tokens of all messages where nobody counted them."""
        return sum(estimate_tokens(message.text) for message in self.messages)

    def continue_with(self, reply: str, more: Iterable[Section]) -> "Prompt":
        """Returns the dialogue with the reply of the model and the next message to it."""
        said = Message("assistant", (Section("reply", reply),))
        return replace(self, messages=(*self.messages, said, Message("user", tuple(more))))


@lru_cache(maxsize=64)
def _request(prompt: Prompt) -> str:
    # Kept for the few calls that are made ready at once, since it is asked for more than once.
    texts = [message.text for message in prompt.messages]
    lengths = [[message.role, len(text)] for message, text in zip(prompt.messages, texts, strict=True)]
    head = canonical([lengths, prompt.temperature, prompt.effort, prompt.max_tokens])
    return digest("\n".join([head, *texts]))[:32]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call, its failed attempts too where a server may have charged for them. `cached_tokens` are among the `prompt_tokens`.
    `exact`: all of it was said by the server; else a token is taken for four characters."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    exact: bool = False

    def plus(self, other: "Usage") -> "Usage":
        """Returns the sum; exact where both are."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.exact and other.exact,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `thinking` is what the model thought aloud, kept apart from `text`; `finish` is why it ended: "length" where it was cut
    off; `revision` the exact model that answered, where it says so; `seconds` from asking to the last byte, with `attempts` in all;
    `retries` counts the requests among them that failed, by their causes. `call` is the index of the call in its step, for `Child.call`: the engine
    sets it, and a model leaves it alone."""

    text: str
    thinking: str = ""
    finish: Finish = ""
    usage: Usage = field(default_factory=Usage)
    revision: str = ""
    seconds: float = 0.0
    attempts: int = 1
    retries: Mapping[str, int] = field(default_factory=dict)
    call: int = -1


def estimate_tokens(text: str) -> int:
    """Returns the tokens of a text where nobody counted them: a quarter of its characters, at least 1 unless it is empty."""
    return (len(text) + 3) // 4
