"""Requests to a model in a method's own words, among the engine's sections of a prompt, and their replies as programs or as a note."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evolve.edits import read_child
from evolve.hookspecs import OperatorEntry
from evolve.prompts import build, repair
from evolve.protocols import Caller, Context
from evolve.types import PROPOSE, Child, ModelError, Program, Prompt, Reply, Selection, estimate_tokens

REPAIR, NOTE = "repair", "reflect"
"""Purposes of calls, besides `PROPOSE`: `models.purposes` may name another model for each."""
PARENT = "## Program {{number}}\n\n{{status}} {{changeable}}\n\n{{program}}"
"""Template of the section `parent` where the program is not the one to change."""
SEARCH = ("state", "lessons", "lineage", "ideas", "others", "parent", "feedback")
"""Sections that tell all of the search and the parent."""


class AskingSettings(BaseModel):
    """Settings of operators that ask a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """Sampling temperature; None: the model's own."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request in the place of the engine's of a kind, and sections in the place of its own: templates, as docs/operators.md has them."""

    kind: str
    layout: str
    sections: Mapping[str, str] = field(default_factory=dict)


def make_request(kind: str, shown: Sequence[str], *what: str, **sections: str) -> Request:
    """Returns a request that shows sections, by their names, and then says what to do, in paragraphs."""
    places = [f"{{{{{name}}}}}" for name in shown]
    return Request(kind, "\n\n".join([*places, "## What to do", *what]), sections)


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the campaign's model. It keeps no state: many threads call it."""

    settings: AskingSettings

    def write_programs(
        self,
        request: Request,
        selection: Selection,
        context: Context,
        words: Mapping[str, str] = MappingProxyType({}),
    ) -> Sequence[Child]:
        """Returns a child of the first parent for each answer. Raises `EditError` where the selection lacks what the kind asks for, and
        `ModelError` where there is no answer."""
        caller = context.model(PROPOSE)
        prompt = self.build(request, selection, context, caller, words)
        parent = context.history.program_id(selection.parents[0])
        assert parent is not None, "a prompt is about a program"
        replies = caller.complete(prompt, selection.samples)
        return [self._read(reply, context.history.program(parent), prompt, context) for reply in replies]

    def write_note(
        self,
        request: Request,
        selection: Selection,
        context: Context,
        words: Mapping[str, str] = MappingProxyType({}),
        purpose: str = NOTE,
    ) -> str:
        """Returns the words of one answer, without the thoughts that some servers leave in it; empty for one that was refused. Raises
        `ModelError` where there is no answer."""
        caller = context.model(purpose)
        reply = caller.complete(self.build(request, selection, context, caller, words))[0]
        return "" if reply.finish == "refused" else reply.text.rpartition("</think>")[2].strip()

    def build(
        self, request: Request, selection: Selection, context: Context, caller: Caller, words: Mapping[str, str]
    ) -> Prompt:
        """Returns the prompt; `words` fill the request's own places. An answer keeps at most half of the model's context."""
        answer = min(caller.max_tokens, caller.context_tokens // 2)
        tokens = min(context.prompt_tokens, caller.context_tokens - answer)
        context = replace(context, templates={**context.templates, **request.sections, request.kind: request.layout})
        prompt = build(request.kind, selection, context, tokens=tokens, values=words)
        return replace(prompt, temperature=self.settings.temperature, max_tokens=answer)

    def _read(self, reply: Reply, parent: Program, prompt: Prompt, context: Context) -> Child:
        """Returns the child of a reply, or of one more round where it cannot be used."""
        child, repairable = read_child(reply, parent, context.task.new_files)
        # A reply of full length would leave no room in the context for the next one.
        if not repairable or estimate_tokens(reply.text) > prompt.max_tokens:
            return child
        again = repair(prompt, reply.text, child.thought, context.templates)
        try:
            second = context.model(REPAIR).complete(again)[0]
        except ModelError as error:
            # The other replies of the step were paid for, and the next call meets the same end.
            return replace(child, thought=f"{child.thought}\n\nThe repair failed: {error}")
        return read_child(second, parent, context.task.new_files)[0]


Writer = Callable[[Asker, Selection, Context], Sequence[Child]]
"""Makes the children of a step, or a child without a program that is a note."""


def tell_rivals(context: Context) -> str:
    """Returns what a request says where others on its parent are under way: equal prompts would bring equal answers."""
    if not context.rivals:
        return ""
    return f"Other requests about this program that are being answered right now: {context.rivals}. Leave what comes to mind first to them."


@dataclass(frozen=True, slots=True)
class AskingOperator:
    """Operator whose children `write` makes, with the asker of its settings."""

    asker: Asker
    write: Writer

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns one child or more; raises what the asker raises."""
        return self.write(self.asker, selection, context)


def make_entry(name: str, write: Writer, **traits: Any) -> OperatorEntry:
    """Returns the entry of an operator that asks a model."""
    return OperatorEntry(
        name,
        lambda settings: AskingOperator(Asker(AskingSettings(**settings)), write),
        AskingSettings,
        needs_model=True,
        **traits,
    )
