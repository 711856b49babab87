"""Operators whose children a language model writes: `diff`, `rewrite`, `crossover`, `fix` and `sample`; and `reflect`, whose model writes lessons.

Each proposal is one prompt, its replies as children, and one more round for a reply that cannot be used. Every reply is one child; a
child without a program says why, in the words that the model was told. Operators keep no state: many threads call them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

from evolve.edits import read_child
from evolve.operators.parents import parent_program
from evolve.prompts import build, repair
from evolve.protocols import Caller, Context
from evolve.types import (
    FAILURES,
    PROPOSE,
    Child,
    EditError,
    ModelError,
    Program,
    Prompt,
    Reply,
    Selection,
    estimate_tokens,
)

REPAIR, REFLECT = "repair", "reflect"
"""Purposes of calls, besides `PROPOSE`: `models.purposes` may name another model for each."""
_LONGEST_LESSON = 500
_BULLET = re.compile(r"\s{0,3}(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")


class AskingSettings(BaseModel):
    """Settings of requests to a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """Sampling temperature; None: the model's own."""
    effort: str = Field(default="", max_length=40, pattern="^[a-z0-9_-]*$")
    """Reasoning effort: "low", "medium", "high", or what the model knows; empty: its own."""
    max_tokens: int = Field(default=0, ge=0)
    """Most tokens of an answer, thinking included; 0: as many as the model's settings allow."""
    tokens: int = Field(default=0, ge=0)
    """Most tokens of a prompt; 0: `prompts.tokens`."""

    def limits(self, caller: Caller, usual: int) -> "TokenLimits":
        """Returns the limits of one request; `usual` is the campaign's for prompts. An answer keeps at most half of the model's
        context, so that something is left for the prompt, whatever is set."""
        answer = min(self.max_tokens or caller.max_tokens, caller.max_tokens, caller.context_tokens // 2)
        return TokenLimits(min(self.tokens or usual, caller.context_tokens - answer), answer)

    def apply(self, prompt: Prompt, limits: "TokenLimits") -> Prompt:
        """Returns the prompt with these settings."""
        return replace(prompt, temperature=self.temperature, effort=self.effort, max_tokens=limits.answer)


class WritingSettings(AskingSettings):
    """Settings of operators whose children a model writes."""

    samples: int = Field(default=1, ge=1, le=64)
    """Answers to each prompt, at least; each is a child."""
    repair: int = Field(default=1, ge=0, le=1)
    """Rounds in which a reply that cannot be used goes back with the reason."""


class ReflectSettings(AskingSettings):
    """Settings of `reflect`."""

    most: int = Field(default=5, ge=1, le=50)
    """Lessons of one reply, at most."""


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Tokens of a prompt, and of its answer."""

    prompt: int
    answer: int


@dataclass(frozen=True, slots=True)
class ProgramWriter:
    """Asks a model for programs. `kind` is the template of the request: `diff`, `rewrite`, `crossover`, `fix` or `sample`."""

    kind: str
    settings: WritingSettings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns a child for each answer. Raises `EditError` where the selection lacks what the kind asks for, `ModelError` where
        there is no answer."""
        parent = parent_program(selection, context.history)
        if self.kind == "fix" and context.history.outcome(selection.parents[0]) not in FAILURES:
            raise EditError(
                f"{selection.operator} mends a program that failed, and the selection has none. Try: select a failure as the parent"
            )
        caller, settings = context.model(PROPOSE), self.settings
        limits = settings.limits(caller, context.prompt_tokens)
        prompt = settings.apply(build(self.kind, selection, context, tokens=limits.prompt), limits)
        replies = caller.complete(prompt, max(selection.samples, settings.samples))
        return [self._read(reply, parent, prompt, context, limits.answer) for reply in replies]

    def _read(self, reply: Reply, parent: Program, prompt: Prompt, context: Context, longest: int) -> Child:
        """Returns the child of a reply, or of one more round where it cannot be used. `longest`: tokens of a reply that is still sent back."""
        child, repairable = read_child(reply, parent, context.task.new_files)
        # A reply of full length would leave no room in the context for the next one.
        if not (repairable and self.settings.repair) or estimate_tokens(reply.text) > longest:
            return child
        again = repair(prompt, reply.text, child.thought, context.templates)
        try:
            second = context.model(REPAIR).complete(again)[0]
        except ModelError as error:
            # Whatever ended it: the other replies of the step were paid for, and the next call meets the same end.
            return replace(child, thought=f"{child.thought}\n\nThe repair failed: {error}")
        return read_child(second, parent, context.task.new_files)[0]


@dataclass(frozen=True, slots=True)
class Reflect:
    """Asks for lessons from the last proposals, by one call."""

    settings: ReflectSettings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns one child without a program, with the lessons. Raises `ModelError` where there is no answer."""
        settings, caller = self.settings, context.model(REFLECT)
        limits = settings.limits(caller, context.prompt_tokens)
        prompt = build(REFLECT, selection, context, tokens=limits.prompt, values={"most": str(settings.most)})
        reply = caller.complete(settings.apply(prompt, limits))[0]
        found = read_lessons(reply.text, [lesson.text for lesson in context.lessons])[: settings.most]
        thought = f"it wrote {len(found)} lesson{'s' * (len(found) != 1)}" if found else "its reply has no new lesson"
        return [Child(None, thought, tuple(found), call=reply.call)]


def read_lessons(reply: str, known: Sequence[str]) -> list[str]:
    """Returns the items of the reply's list, each once and on one line, without those that are known."""
    found, seen = list[str](), {_words(text) for text in known}
    for item in _list_items(reply):
        text = " ".join(item.split())
        text = text if len(text) <= _LONGEST_LESSON else f"{text[: _LONGEST_LESSON - 4]} ..."
        if text and _words(text) not in seen:
            seen.add(_words(text))
            found.append(text)
    return found


def _list_items(reply: str) -> Iterator[str]:
    """Yields the text behind each bullet or number, with the lines that continue it."""
    item: list[str] = []
    for line in [*reply.splitlines(), ""]:
        bullet = _BULLET.match(line)
        if item and (bullet or not line.strip()):
            yield " ".join(item)
            item = []
        if bullet:
            item = [line[bullet.end() :]]
        elif item:
            item.append(line)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
