"""Whether a child is worth judging: the reasons why not, in their order.

Invariant: what is cheap and certain comes first, and what costs a call last; a call that fails never costs the child more than the call
could have saved. All of it runs on the proposal thread, and what is known about duplicates again when the step settles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve import changes
from evolve.campaign import Campaign
from evolve.engine.difference import objection
from evolve.engine.neighbours import Fingerprint, Neighbours
from evolve.nearest import packed
from evolve.protocols import Context
from evolve.types import ModelError, Program, ProgramId, Selection


@dataclass(frozen=True, slots=True)
class Family:
    """What a step's children come from."""

    selection: Selection
    context: Context
    parents: Sequence[Program]


class Screening:
    """The checks of one run of a campaign. `signatures` are those of all programs that are in the log or under way; their owner adds to
    them on the main thread."""

    def __init__(self, campaign: Campaign, signatures: Mapping[str, ProgramId]) -> None:
        self._task = campaign.task
        self._state = campaign.state
        self._plugins = campaign.plugins
        self._signatures = signatures
        self._asks_model = "novelty" in campaign.settings.models.purposes
        self.neighbours = Neighbours(campaign)

    def refusal(self, program: Program, family: Family) -> str:
        """What the task or a plugin has against a child."""
        return changes.refusal(self._task, program) or self._plugins.screen(self._task, program, family.parents) or ""

    def known(self, program: Program, signature: str, siblings: Mapping[str, ProgramId] | None = None) -> str:
        """Why a program is nothing new: it, or one that reads the same, was proposed before."""
        found = self._signatures.get(signature) or (siblings or {}).get(signature)
        if found is None:
            return ""
        return "duplicate of a program that was proposed before" + (
            "" if found == program.id else " (but for spacing and comments)"
        )

    def placed(self, program: Program, family: Family) -> tuple[Fingerprint, str]:
        """What a child is found by, and why it is too near to another program of its island; where it is not, others are too near to it
        from now on."""
        found, reason = Fingerprint(self.neighbours.sketch(program)), ""
        if self._wants_novelty(family.selection.operator):
            near = self._near_in_text(found.sketch, family)
            reason = self._upheld(near, program, family)
            if not reason and self.neighbours.vectors is not None:
                found = Fingerprint(found.sketch, self._vector(program, family))
                reason = "" if near else self._upheld(self._near_in_vector(found.vector, family), program, family)
        if not reason:
            self.neighbours.add(program, family.selection.island, found)
        return found, reason

    def _wants_novelty(self, operator: str) -> bool:
        """What tunes numbers changes nothing else, and what mends a program that failed may be near to all that failed before."""
        entry = self._plugins.operators[operator].entry
        return entry.needs_model and not entry.takes_failures

    def _near_in_text(self, sketch: bytes, family: Family) -> tuple[str, str] | None:
        """The neighbour of a child, and how near it is. Its parents are none: to be near to them is what an edit is for. What has the
        sketch of a parent differs from it in numbers, of which a sketch knows nothing."""
        index, island = self.neighbours.sketches, family.selection.island
        if index is None or index.nearest(sketch, island) is None:
            return None
        parents = [self.neighbours.sketch(parent) for parent in family.parents]
        near = None if sketch in parents else index.nearest(sketch, island, parents)
        if near is None:
            return None
        return near.key, f"at a distance of {near.distance:.3g}, and {index.wanted:g} is wanted"

    def _near_in_vector(self, vector: bytes, family: Family) -> tuple[str, str] | None:
        index = self.neighbours.vectors
        if index is None or not vector:
            return None
        parents = [parent.id for parent in family.parents]
        near = index.most_similar(vector, family.selection.island, parents)
        if near is None:
            return None
        return near.key, f"with a cosine of {near.cosine:.4g}, and less than {index.wanted:g} is wanted"

    def _upheld(self, near: tuple[str, str] | None, program: Program, family: Family) -> str:
        """The reason that a neighbour is, unless the novelty model finds the child different from it."""
        if near is None or near[0] in self._state.hurried:
            return ""
        key, how = near
        name, older = self.neighbours.told(key)
        reason = f"not novel: it is near to {name}, {how}"
        if not self._asks_model or older is None:
            return reason
        try:
            against = objection(family.context.model("novelty"), older, program)
        except ModelError as error:
            against = f"the novelty model failed: {error}"
        return f"{reason}; {against}" if against else ""

    def _vector(self, program: Program, family: Family) -> bytes:
        """Empty where the embedding model fails: then the child is judged."""
        text = "\n\n".join(f"{path}\n{content}" for path, content in program.files.items())
        try:
            return packed(family.context.model("embed").embed(text.encode("utf-8", "replace").decode()))
        except ModelError:
            return b""
