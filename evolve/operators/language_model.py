"""Operators whose children a language model writes: `diff`, `rewrite`, `crossover` and `fix`; and `reflect`, whose model writes lessons.

Each proposal is one prompt, its replies as children, and one more round for a reply that cannot be used. Every reply yields at least one
child; a child without a program says why, in the words that the model was told. Operators keep no state: many threads call them."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve import edits
from evolve.edits import EditFailed, EditKind
from evolve.edits.blocks import changeable
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
FINAL = frozenset({EditKind.REFUSED, EditKind.NO_OP, EditKind.CUT_OFF, EditKind.TOO_LARGE})
"""Kinds of failure that another round does not repair: they are no slips, or the answer would be as long again."""
FEW = 10
"""With fewer lines that may change no size is wished for: something must be written first."""
_LONGEST_LESSON = 500
_BULLET = re.compile(r"\s{0,3}(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")


class AskingSettings(BaseModel):
    """Settings of requests to a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """How freely the model draws its words; None: its own."""
    effort: str = Field(default="", max_length=40, pattern="^[a-z0-9_-]*$")
    """How much it thinks first: "low", "medium", "high", or what it knows; empty: its own."""
    max_tokens: int = Field(default=0, ge=0)
    """How long an answer may be, its thinking included; 0: as long as the model's settings allow."""
    tokens: int = Field(default=0, ge=0)
    """How long a prompt may be; 0: `prompts.tokens`."""

    def limits(self, caller: Caller, usual: int) -> "TokenLimits":
        """Returns the limits of one request; `usual` is the campaign's for prompts. An answer keeps at most half of the model's
        context, so that something is left for the prompt, whatever is set."""
        answer = min(self.max_tokens or caller.max_tokens, caller.max_tokens, caller.context_tokens // 2)
        return TokenLimits(min(self.tokens or usual, caller.context_tokens - answer), answer)

    def apply(self, prompt: Prompt, limits: "TokenLimits") -> Prompt:
        """Returns the prompt with these settings."""
        return replace(prompt, temperature=self.temperature, effort=self.effort, max_tokens=limits.answer)


class WritingSettings(AskingSettings):
    """Settings of `rewrite`, `crossover` and `fix`."""

    samples: int = Field(default=1, ge=1, le=64)
    """Answers to each prompt, at least; each is a child."""
    repair: int = Field(default=1, ge=0, le=1)
    """Rounds in which a reply that cannot be used goes back with the reason."""


class DiffSettings(WritingSettings):
    """Settings of `diff`."""

    size_exponent: float = Field(default=1.5, ge=0.0, le=10.0)
    """Of the power law that the wanted size of a change is drawn from; 0: every size is as likely."""


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
class Rewrite:
    """Asks for whole files and another approach."""

    settings: WritingSettings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns at least one child for each answer. Raises `EditError` where there is no parent, `ModelError` where there is no answer."""
        return ask_for_programs("rewrite", selection, context, self.settings)


@dataclass(frozen=True, slots=True)
class Diff:
    """Asks for edits of the first parent, of a size that is drawn before the model is asked, so that equal steps ask alike."""

    settings: DiffSettings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns at least one child for each answer. Raises `EditError` where there is no parent, `ModelError` where there is no answer."""
        lines = count_changeable_lines(parent_program(selection, context.history))
        wanted = draw_lines(lines, self.settings.size_exponent, context.rng)
        words = {"size": describe_size(wanted, lines)} if lines >= FEW else {}
        return ask_for_programs("diff", selection, context, self.settings, words)


@dataclass(frozen=True, slots=True)
class Crossover:
    """Asks for one program of two; the child is a change of the first."""

    settings: WritingSettings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns at least one child for each answer. Raises `EditError` where there are no two programs, `ModelError` where there is
        no answer."""
        programs = {context.history.program_id(record) for record in selection.parents} - {None}
        if len(programs) < 2:
            raise EditError(
                f"{selection.operator} makes one program of two, and the selection has {len(programs) or 'none'}. "
                "Do: select parents with programs that differ"
            )
        return ask_for_programs("crossover", selection, context, self.settings)


@dataclass(frozen=True, slots=True)
class Fix:
    """Asks for the least change with which a failed program runs and keeps its idea."""

    settings: WritingSettings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns at least one child for each answer. Raises `EditError` where no parent failed, `ModelError` where there is no answer."""
        if not any(context.history.outcome(record) in FAILURES for record in selection.parents[:1]):
            raise EditError(
                f"{selection.operator} mends a program that failed, and the selection has none. Do: select a failure as the parent"
            )
        return ask_for_programs("fix", selection, context, self.settings)


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
        return [Child(None, thought, tuple(found))]


def ask_for_programs(
    kind: str,
    selection: Selection,
    context: Context,
    settings: WritingSettings,
    values: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Child]:
    """Returns the children that a model writes for the prompt of a kind, at least one for each of its replies. Raises `EditError` where
    there is nothing to ask about, and `ModelError` where there was no reply."""
    parent, caller = parent_program(selection, context.history), context.model(PROPOSE)
    limits = settings.limits(caller, context.prompt_tokens)
    prompt = settings.apply(build(kind, selection, context, tokens=limits.prompt, values=values), limits)
    replies = caller.complete(prompt, max(selection.samples, settings.samples))
    reader = _ReplyReader(parent, prompt, context, limits.answer)
    return [child for reply in replies for child in reader.children(reply, rounds=settings.repair)]


@dataclass(frozen=True, slots=True)
class _ReplyReader:
    """Reads the replies to one prompt about a program. `longest`: tokens of a reply that is still sent back."""

    parent: Program
    prompt: Prompt
    context: Context
    longest: int

    def children(self, reply: Reply, *, rounds: int) -> Sequence[Child]:
        """Returns a child for each candidate of a reply; where none of them can be used, those of one more round."""
        children, fault = self._read(reply)
        if not (fault and rounds) or estimate_tokens(reply.text) > self.longest:
            return children
        again = repair(self.prompt, reply.text, fault, self.context.templates)
        try:
            second = self.context.model(REPAIR).complete(again)[0]
        except ModelError as error:
            # Whatever ended it: the other replies of the step were paid for, and the next call meets the same end.
            return [Child(None, f"{fault}\n\nThe repair failed: {error}")]
        return self._read(second)[0]

    def _read(self, reply: Reply) -> tuple[Sequence[Child], str]:
        """Returns children, and the fault to send back to the model: empty where there is a program, or where a round would not help."""
        new_files = self.context.task.new_files
        try:
            found = edits.read(reply.text, self.parent, new_files=new_files, finish=reply.finish)
        except EditFailed as error:
            final = error.kind in FINAL or reply.finish == "refused"
            return [Child(None, str(error))], "" if final else str(error)
        children = [self._child(candidate) for candidate in found]
        usable = any(child.program for child in children)
        return children, "" if usable else children[0].thought

    def _child(self, candidate: edits.EditedProgram) -> Child:
        fault = edits.find_syntax_error(candidate.program, self.parent)
        return Child(None, fault) if fault else Child(candidate.program, candidate.thought)


def draw_lines(lines: int, exponent: float, rng: Generator) -> int:
    """Draws how many of so many lines a change is to touch: k of 1 to half of them with a probability in proportion to k ** -exponent.

    A power law as in heavy-tailed mutation (Doerr, Le, Makhmara and Nguyen 2017, https://doi.org/10.1145/3071178.3071301), told to a
    language model in words as in LLaMEA (https://arxiv.org/abs/2412.03250)."""
    most = max(1, lines // 2)
    sums = _cumulate_shares(most, exponent)
    return min(bisect_right(sums, rng.random() * sums[-1]), most - 1) + 1


@lru_cache(maxsize=16)
def _cumulate_shares(most: int, exponent: float) -> Sequence[float]:
    return array("d", np.cumsum(np.arange(1, most + 1, dtype=np.float64) ** -exponent))


@lru_cache(maxsize=64)
def count_changeable_lines(program: Program) -> int:
    """Counts the lines with text that may change."""
    spans = changeable(program.files)
    texts = (program.files[path][span.start : span.end] for path, found in spans.items() for span in found)
    return sum(1 for text in texts for line in text.splitlines() if line.strip())


def describe_size(wanted: int, lines: int) -> str:
    """Returns the wish as a prompt says it."""
    touched = "one line" if wanted == 1 else f"about {wanted} lines"
    return f"Choose a change that touches {touched}, of {lines} that may change."


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
