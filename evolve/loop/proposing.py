"""From a selection to drafts: children that are ready to be judged, or the reason why not.

Invariant: everything here is a deterministic function of the step's `Asked` and the log before it; it runs on the proposal thread."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evolve import novelty
from evolve.plugins import Plugins, guarded
from evolve.protocols import Context, Operator
from evolve.types import Child, EditError, PluginError, Program, ProgramId, RecordId, Selection, Task


@dataclass(frozen=True, slots=True)
class Draft:
    """One child of a step, as child `index` of `count`. `refusal` says why it must not be judged; `plugin_failed` that a plugin
    broke. `descriptors` are those of the default axes, where the task declares none."""

    index: int
    count: int
    child: Child
    signature: str = ""
    descriptors: dict[str, float] = field(default_factory=dict)
    refusal: str = ""
    plugin_failed: bool = False


class Proposer:
    """One thread's operators, and the parts of a task that every draft needs."""

    def __init__(self, task: Task, plugins: Plugins, operators: dict[str, Operator]) -> None:
        self._task = task
        self._plugins = plugins
        self._operators = operators
        self._seed_hash = novelty.minhash(task.seed)

    def drafts(self, selection: Selection, context: Context) -> Sequence[Draft]:
        """The drafts of a step; one refused draft when there is no child."""
        try:
            operator = self._operators[selection.operator]
            parents = [context.history.program(_program(context, parent)) for parent in selection.parents]
            children = list(guarded(selection.operator, operator.propose, selection, context))
            if not children:
                raise EditError(f"operator {selection.operator!r} proposed nothing")
            return [self._draft(index, len(children), child, parents) for index, child in enumerate(children)]
        except EditError as error:
            return [_refused(str(error))]
        except PluginError as error:
            return [_refused(str(error), plugin_failed=True)]

    def _draft(self, index: int, count: int, child: Child, parents: Sequence[Program]) -> Draft:
        if child.program is None:
            return Draft(index, count, child, refusal=child.thought or "there is no program in it")
        reason = self._plugins.screen(self._task, child.program, parents)
        descriptors = {} if self._task.axes else dict(novelty.describe(child.program, self._seed_hash))
        return Draft(index, count, child, novelty.signature(child.program), descriptors, reason or "")


def _program(context: Context, record: RecordId) -> ProgramId:
    program = context.history.program_id(record)
    assert program is not None, f"record {record} was selected and has no program"
    return program


def _refused(reason: str, *, plugin_failed: bool = False) -> Draft:
    return Draft(0, 1, Child(None), refusal=reason, plugin_failed=plugin_failed)
