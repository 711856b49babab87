"""Proposals of one run: the threads that make them, and the drafts that operators' children become.

A step's proposal is a function of its `Asked`, its replies, the log before it and what was proposed meanwhile. Only the main thread starts
and takes proposals."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from evolve import hardware, novelty
from evolve.campaign import Campaign, stream
from evolve.campaign.fitting import reflection_operators
from evolve.config import PromptsSection
from evolve.engine.metering import Members, MeteredModels
from evolve.engine.screening import Draft, Family, Screening, refuse
from evolve.plugins import Plugins, guarded
from evolve.protocols import Context, Operator
from evolve.types import (
    Asked,
    Child,
    EditError,
    ModelError,
    ModelGone,
    PluginError,
    Program,
    ProgramId,
    Propose,
    RecordId,
    Selection,
    Task,
    Unaffordable,
    canonical,
)

PATIENCE_SECONDS = 600.0
"""Time that an operator has for one proposal."""


def add_prompts(context: Context, selection: Selection, settings: PromptsSection, plugins: Plugins) -> Context:
    """Returns the context with templates and the plugins' sections of the prompt. Proposal thread: it calls plugins."""
    sections = plugins.prompt_sections(context.task, selection)
    return replace(
        context,
        templates={**context.task.prompts, **settings.templates},
        sections=tuple(section for section in sections if settings.hardware or section.name != hardware.NAME),
        prompt_tokens=settings.tokens,
    )


class Proposer:
    """Operators of a campaign, and the screening of their children. Proposal threads."""

    def __init__(
        self,
        task: Task,
        operators: Mapping[str, Operator],
        screening: Screening,
        add_prompts: Callable[[Context, Selection], Context] = lambda context, selection: context,
    ) -> None:
        self._task = task
        self._operators = operators
        self._screening = screening
        self._add_prompts = add_prompts
        self._seed_hash = novelty.minhash(task.seed)

    def propose(self, selection: Selection, context: Context) -> Sequence[Draft]:
        """Returns the drafts of a step; one refused draft when there is no child. Raises `ModelGone` and `Unaffordable`, of which no draft
        is to blame: the step is one for the next run."""
        try:
            parents = [context.history.program(_program_id(context, parent)) for parent in selection.parents]
            context = self._add_prompts(context, selection)
            children = guarded(selection.operator, self._children, selection, context)
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
        proposed = tuple(self._operators[selection.operator].propose(selection, context))
        if not proposed:
            raise EditError(f"operator {selection.operator!r} proposed nothing")
        try:
            return [_check_child(child) for child in proposed]
        except ValueError as error:
            raise PluginError(
                f"operator {selection.operator!r} proposed {error}. Try: mend its `propose`, or do without it"
            ) from error

    def _drafts(self, children: Sequence[Child], family: Family) -> Sequence[Draft]:
        # Each child is compared with those before it, too.
        siblings: dict[str, ProgramId] = {}
        drafts = []
        for index, child in enumerate(children):
            draft = self._screen(Draft(index, len(children), child), family, siblings)
            if child.program is not None and not draft.refusal:
                siblings[draft.signature] = child.program.id
            drafts.append(draft)
        return drafts

    def _screen(self, draft: Draft, family: Family, siblings: Mapping[str, ProgramId]) -> Draft:
        program, screening = draft.child.program, self._screening
        if program is None:
            return replace(draft, refusal=draft.child.thought or "there is no program in it")
        signature = novelty.signature(program)
        reason = screening.refusal(program, family) or screening.find_duplicate(program, signature, siblings)
        if reason:
            return replace(draft, signature=signature, refusal=reason)
        fingerprint, reason = screening.fingerprint(program, family)
        descriptors = {} if self._task.axes else dict(novelty.describe(program, self._seed_hash))
        return replace(draft, signature=signature, descriptors=descriptors, fingerprint=fingerprint, refusal=reason)


def _program_id(context: Context, record: RecordId) -> ProgramId:
    program = context.history.program_id(record)
    assert program is not None, f"record {record} was selected and has no program"
    return program


def _check_child(child: object) -> Child:
    """Returns the child with extras as a replay would read them. Raises `ValueError` for what the log cannot hold."""
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
    return replace(child, extras=_to_plain(child.extras)) if child.extras else child


def _to_plain(extras: object) -> Mapping[str, Any]:
    """Returns extras as plain JSON data: tuples become lists, and keys texts."""
    try:
        plain = json.loads(canonical(extras))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"extras that are no plain data: {error}") from error
    if not isinstance(plain, dict):
        raise ValueError(f"extras that are no plain data by plugin: got a {type(extras).__name__}")
    return plain


@dataclass(frozen=True, slots=True)
class Proposed:
    """A step whose proposal has ended."""

    asked: Asked
    future: Future[Sequence[Draft]]


class Proposals:
    """Proposals that are being made. `tell` takes what has ended, on any thread; `cancelled` ends calls of models."""

    def __init__(
        self,
        campaign: Campaign,
        models: MeteredModels,
        members: Members,
        screening: Screening,
        tell: Callable[[Proposed], None],
    ) -> None:
        self._campaign = campaign
        self._models = models
        self._tell = tell
        self._computing = ThreadPoolExecutor(1, "evolve-proposer")
        self._calling = ThreadPoolExecutor(max(1, members.steps), "evolve-model")
        names = (*campaign.operator_names, *reflection_operators(campaign.settings))
        operators = {name: campaign.operator(name) for name in names}
        self._proposer = Proposer(campaign.task, operators, screening, self._complete_context)
        self._futures: dict[int, Future[Sequence[Draft]]] = {}

    def __len__(self) -> int:
        return len(self._futures)

    def models(self) -> Counter[str]:
        """Returns the number of steps that wait for each model."""
        steps = [self._campaign.state.steps[step].asked.action for step in self._futures]
        return Counter(step.selection.model for step in steps if isinstance(step, Propose) and step.selection.model)

    def start(self, asked: Asked, action: Propose) -> None:
        """Starts a step whose `Asked` is durable."""
        state = self._campaign.state
        context = Context(
            task=self._campaign.task,
            history=state.past(asked.after),
            rng=stream(self._campaign.settings.seed, asked.step, "propose"),
            deadline=time.monotonic() + PATIENCE_SECONDS,
            cancelled=self._models.cancelled,
            lessons=tuple(state.lessons[: asked.lessons]),
            model=self._models.callers(asked),
            quarantined=state.steps[asked.step].quarantined,
            best=state.steps[asked.step].best,
            rivals=state.steps[asked.step].rivals,
            derived=state.derived,
        )
        pool = self._calling if action.selection.model else self._computing
        future = pool.submit(self._proposer.propose, action.selection, context)
        self._futures[asked.step] = future
        future.add_done_callback(lambda ready: self._tell(Proposed(asked, ready)))

    def take(self, done: Proposed) -> bool:
        """Forgets a proposal that has ended; returns False where it was withdrawn before."""
        known = self._futures.get(done.asked.step) is done.future
        if known:
            del self._futures[done.asked.step]
        return known

    def put_back(self, done: Proposed) -> None:
        """Tells again of a proposal that was taken."""
        self._futures[done.asked.step] = done.future
        self._tell(done)

    def withdraw(self) -> list[int]:
        """Cancels the proposals that no thread has begun; forgets and returns their steps."""
        steps = [step for step, future in self._futures.items() if future.cancel()]
        for step in steps:
            del self._futures[step]
        return steps

    def give_up(self) -> None:
        """Forgets all proposals; their steps are for the next run."""
        self.withdraw()
        self._futures.clear()

    def close(self) -> None:
        """Waits until the threads have ended."""
        for pool in (self._computing, self._calling):
            pool.shutdown(wait=True, cancel_futures=True)

    def _complete_context(self, context: Context, selection: Selection) -> Context:
        if not selection.model:
            return context
        return add_prompts(context, selection, self._campaign.settings.prompts, self._campaign.plugins)
