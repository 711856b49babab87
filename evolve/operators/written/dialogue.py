"""What the operators that let a model write have in common: one prompt, its replies as children, and one more round for a reply that
cannot be used.

Invariant: every reply comes to a child at least; one without a program says why, in the words that the model was told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evolve import edits
from evolve.edits import EditFailed, EditKind
from evolve.operators.parents import parent_program
from evolve.operators.written.room import room
from evolve.operators.written.settings import WritingSettings
from evolve.prompts import build, repair
from evolve.protocols import Context
from evolve.types import PROPOSE, Child, ModelError, Program, Prompt, Reply, Selection, estimated

REPAIR = "repair"
FINAL = frozenset({EditKind.REFUSED, EditKind.NO_OP, EditKind.CUT_OFF, EditKind.TOO_LARGE})
"""What another round would not mend: it is no slip, or the answer would be as long again."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply comes to. `fault` is what goes back to the model; empty where there is a program, or where another round would not help."""

    children: Sequence[Child]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One prompt about a program, and how its replies are read. `longest`: tokens of a reply that is still sent back."""

    parent: Program
    prompt: Prompt
    context: Context
    longest: int

    def children(self, reply: Reply, *, rounds: int) -> Sequence[Child]:
        """One for each candidate of a reply; where none of them can be used, what came of one more round."""
        first = self._read(reply)
        if not (first.fault and rounds) or estimated(reply.text) > self.longest:
            return first.children
        again = repair(self.prompt, reply.text, first.fault, self.context.templates)
        try:
            second = self.context.model(REPAIR).complete(again)[0]
        except ModelError as error:
            # Whatever ended it: the other replies of the step were paid for, and the next call meets the same end.
            return [Child(None, f"{first.fault}\n\nThe repair failed: {error}")]
        return self._read(second).children

    def _read(self, reply: Reply) -> Read:
        new_files = self.context.task.new_files
        try:
            found = edits.read(reply.text, self.parent, new_files=new_files, finish=reply.finish)
        except EditFailed as error:
            final = error.kind in FINAL or reply.finish == "refused"
            return Read([Child(None, str(error))], "" if final else str(error))
        children = [self._child(candidate) for candidate in found]
        usable = any(child.program for child in children)
        return Read(children, "" if usable else children[0].thought)

    def _child(self, candidate: edits.Candidate) -> Child:
        fault = edits.unparsable(candidate.program, self.parent)
        return Child(None, fault) if fault else Child(candidate.program, candidate.thought)


def written(
    kind: str,
    selection: Selection,
    context: Context,
    settings: WritingSettings,
    values: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Child]:
    """The children that a model writes for the prompt of a kind, at least one for each of its replies. Raises `EditError` where there is
    nothing to ask about, and `ModelError` where there was no reply."""
    parent, caller = parent_program(selection, context.history), context.model(PROPOSE)
    space = room(settings, caller, context.prompt_tokens)
    prompt = replace(
        build(kind, selection, context, tokens=space.prompt, values=values),
        temperature=settings.temperature,
        effort=settings.effort,
        max_tokens=space.answer,
    )
    replies = caller.complete(prompt, max(selection.samples, settings.samples))
    dialogue = Dialogue(parent, prompt, context, space.answer)
    return [child for reply in replies for child in dialogue.children(reply, rounds=settings.repair)]
