"""From a selection to drafts: children that are ready to be judged, or the reason why not.

Invariant: everything here is a deterministic function of the step's `Asked` and the log before it; it runs on the proposal thread."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolve import changes, novelty
from evolve.plugins import Plugins, guarded
from evolve.protocols import Context, Operator
from evolve.types import (
    Child,
    EditError,
    ModelError,
    ModelGone,
    PluginError,
    Program,
    ProgramId,
    RecordId,
    Selection,
    Task,
    Unaffordable,
    canonical,
)


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
            parents = [context.history.program(_program(context, parent)) for parent in selection.parents]
            children = guarded(selection.operator, self._children, selection, context)
            if not children:
                raise EditError(f"operator {selection.operator!r} proposed nothing")
            return [self._draft(index, len(children), child, parents) for index, child in enumerate(children)]
        except EditError as error:
            return [refused(str(error))]
        except (ModelGone, Unaffordable):
            raise
        except ModelError as error:
            return [refused(str(error))]
        except PluginError as error:
            return [refused(str(error), plugin_failed=True)]

    def _children(self, selection: Selection, context: Context) -> Sequence[Child]:
        """All that an operator hands over, as the log can hold it; raises `PluginError` for what it cannot."""
        proposed = tuple(self._operators[selection.operator].propose(selection, context))
        try:
            return [_checked(child) for child in proposed]
        except ValueError as error:
            raise PluginError(
                f"operator {selection.operator!r} proposed {error}. Do: mend its `propose`, or do without it"
            ) from error

    def _draft(self, index: int, count: int, child: Child, parents: Sequence[Program]) -> Draft:
        if child.program is None:
            return Draft(index, count, child, refusal=child.thought or "there is no program in it")
        reason = changes.refusal(self._task, child.program) or self._plugins.screen(self._task, child.program, parents)
        descriptors = {} if self._task.axes else dict(novelty.describe(child.program, self._seed_hash))
        return Draft(index, count, child, novelty.signature(child.program), descriptors, reason or "")


def _program(context: Context, record: RecordId) -> ProgramId:
    program = context.history.program_id(record)
    assert program is not None, f"record {record} was selected and has no program"
    return program


def refused(reason: str, *, plugin_failed: bool = False) -> Draft:
    """What a step comes to that has no child."""
    return Draft(0, 1, Child(None), refusal=reason, plugin_failed=plugin_failed)


def _checked(child: object) -> Child:
    """A child whose parts are what they should be, with extras as a replay would read them; raises `ValueError` for another."""
    if not isinstance(child, Child):
        raise ValueError(f"a {type(child).__name__}, wanted a Child")
    if not isinstance(child.program, Program | None):
        raise ValueError(f"a child whose program is a {type(child.program).__name__}, wanted a Program or None")
    if child.program and not all(isinstance(text, str) for item in child.program.files.items() for text in item):
        raise ValueError("a program whose files are not all texts")
    if not isinstance(child.thought, str):
        raise ValueError(f"a child whose thought is a {type(child.thought).__name__}, wanted a text")
    return replace(child, extras=_plain(child.extras)) if child.extras else child


def _plain(extras: object) -> Mapping[str, Any]:
    """Extras as plain JSON data: tuples become lists, and keys texts."""
    try:
        plain = json.loads(canonical(extras))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"extras that are no plain data: {error}") from error
    if not isinstance(plain, dict):
        raise ValueError(f"extras that are no plain data by plugin: got a {type(extras).__name__}")
    return plain
