"""Drafts: an operator's children that are ready to be evaluated, or the reason why not.

Everything here is a deterministic function of the step's `Asked`, its replies, the log before it and what was proposed meanwhile. It runs on proposal threads."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolve import hardware, novelty
from evolve.config import PromptsSection
from evolve.engine.screening import Family, Fingerprint, Screening
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


def add_prompts(context: Context, selection: Selection, settings: PromptsSection, plugins: Plugins) -> Context:
    """The context of a selection with all that its prompts are made of. Proposal thread: it calls plugins."""
    found = plugins.prompt_sections(context.task, selection)
    return replace(
        context,
        templates={**context.task.prompts, **settings.templates},
        sections=tuple(section for section in found if settings.hardware or section.name != hardware.NAME),
        prompt_tokens=settings.tokens,
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """One child of a step, as child `index` of `count`. `refusal` says why it must not be judged; `plugin_failed` that a plugin
    broke; `found` is what its program is found by. `descriptors` are those of the default axes, where the task declares none."""

    index: int
    count: int
    child: Child
    signature: str = ""
    descriptors: dict[str, float] = field(default_factory=dict)
    refusal: str = ""
    plugin_failed: bool = False
    found: Fingerprint = field(default_factory=Fingerprint)


Prompting = Callable[[Context, Selection], Context]
"""What an operator's context holds besides, where it needs a model."""


def unchanged(context: Context, selection: Selection) -> Context:
    """Nothing."""
    return context


class Proposer:
    """The operators of a campaign, and what screens their children. Operators that need a model propose on many threads; of all threads one
    computes at a time."""

    def __init__(
        self, task: Task, operators: Mapping[str, Operator], screening: Screening, prompting: Prompting = unchanged
    ) -> None:
        self._task = task
        self._operators = operators
        self._screening = screening
        self._prompting = prompting
        self._seed_hash = novelty.minhash(task.seed)

    def drafts(self, selection: Selection, context: Context) -> Sequence[Draft]:
        """The drafts of a step; one refused draft when there is no child. Raises `ModelGone` and `Unaffordable`, of which no draft is to
        blame: the step is one for later."""
        try:
            parents = [context.history.program(_program(context, parent)) for parent in selection.parents]
            context = self._prompting(context, selection)
            children = guarded(selection.operator, self._children, selection, context)
            if not children:
                raise EditError(f"operator {selection.operator!r} proposed nothing")
            return self._drafts(children, Family(selection, context, parents))
        except (ModelGone, Unaffordable):
            raise
        except ModelError as error:
            return [refuse(f"model failed: {error}")]
        except EditError as error:
            return [refuse(str(error))]
        except PluginError as error:
            return [refuse(str(error), plugin_failed=True)]

    def _children(self, selection: Selection, context: Context) -> Sequence[Child]:
        """All that an operator hands over, as the log can hold it; raises `PluginError` for what it cannot."""
        proposed = tuple(self._operators[selection.operator].propose(selection, context))
        try:
            return [_check_child(child) for child in proposed]
        except ValueError as error:
            raise PluginError(
                f"operator {selection.operator!r} proposed {error}. Do: mend its `propose`, or do without it"
            ) from error

    def _drafts(self, children: Sequence[Child], family: Family) -> Sequence[Draft]:
        """Each child is compared with those before it, too."""
        siblings: dict[str, ProgramId] = {}
        drafts = []
        for index, child in enumerate(children):
            draft = self._draft(Draft(index, len(children), child), family, siblings)
            if child.program is not None and not draft.refusal:
                siblings[draft.signature] = child.program.id
            drafts.append(draft)
        return drafts

    def _draft(self, draft: Draft, family: Family, siblings: Mapping[str, ProgramId]) -> Draft:
        program, screening = draft.child.program, self._screening
        if program is None:
            return replace(draft, refusal=draft.child.thought or "there is no program in it")
        signature = novelty.signature(program)
        reason = screening.refusal(program, family) or screening.find_duplicate(program, signature, siblings)
        if reason:
            return replace(draft, signature=signature, refusal=reason)
        found, reason = screening.fingerprint(program, family)
        descriptors = {} if self._task.axes else dict(novelty.describe(program, self._seed_hash))
        return replace(draft, signature=signature, descriptors=descriptors, found=found, refusal=reason)


def _program(context: Context, record: RecordId) -> ProgramId:
    program = context.history.program_id(record)
    assert program is not None, f"record {record} was selected and has no program"
    return program


def refuse(reason: str, *, plugin_failed: bool = False) -> Draft:
    """What a step comes to that has no child."""
    return Draft(0, 1, Child(None), refusal=reason, plugin_failed=plugin_failed)


def _check_child(child: object) -> Child:
    """A child whose parts are what they should be, with extras as a replay would read them; raises `ValueError` for another."""
    if not isinstance(child, Child):
        raise ValueError(f"a {type(child).__name__}, wanted a Child")
    if not isinstance(child.program, Program | None):
        raise ValueError(f"a child whose program is a {type(child.program).__name__}, wanted a Program or None")
    if child.program and not all(isinstance(text, str) for item in child.program.files.items() for text in item):
        raise ValueError("a program whose files are not all texts")
    if not isinstance(child.thought, str):
        raise ValueError(f"a child whose thought is a {type(child.thought).__name__}, wanted a text")
    if not isinstance(child.lessons, tuple) or not all(isinstance(lesson, str) for lesson in child.lessons):
        raise ValueError("a child whose lessons are no tuple of texts")
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
