"""Models without a wire: a script of answers, and an operator that writes what a model says."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from loop_fakes import Workbench

from evolve.config import ModelSection
from evolve.engine.members import Member, Members
from evolve.hookspecs import OperatorEntry
from evolve.models.prices import Cost
from evolve.plugins import Registered
from evolve.protocols import Context
from evolve.types import (
    Child,
    Message,
    ModelError,
    Program,
    Prompt,
    Reply,
    Section,
    Selection,
    Usage,
)

USAGE = Usage(100, 20, 0, exact=True)


class FakeModel:
    """Answers with what `answer(number)` gives for the number of the call, from 0; an exception is raised. Remembers what it was asked.
    `hold`: calls wait for this event, or until they are given up; the first `free` do not."""

    def __init__(
        self,
        answer: Callable[[int], str | Exception] = lambda number: f"x = {number}.5",
        hold: threading.Event | None = None,
        free: int = 0,
    ) -> None:
        self.answer, self.hold, self.free = answer, hold, free
        self.prompts: list[Prompt] = []
        self.samples: list[Sequence[int]] = []
        self.in_flight = self.most = 0
        self._lock = threading.Lock()

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        with self._lock:
            number = len(self.prompts)
            self.prompts.append(prompt)
            self.samples.append(samples)
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
        try:
            return [self._answered(number, cancelled)]
        finally:
            with self._lock:
                self.in_flight -= 1

    def _answered(self, number: int, cancelled: threading.Event) -> Reply:
        while self.hold is not None and number >= self.free and not self.hold.wait(0.01):
            if cancelled.is_set():
                raise ModelError("given up")
        answer = self.answer(number)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, thinking="hm", usage=USAGE, revision="fake-1", seconds=0.25)

    def close(self) -> None:
        """There is nothing to end."""


class Writes:
    """Asks for a number, so many times at least, and puts it into the program; a reply that is none is asked for once more."""

    def __init__(self, samples: int = 1) -> None:
        self.samples = samples

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        parent = context.history.program(context.history.program_id(selection.parents[0]) or "")
        text = parent.files["seed.py"]
        asked = Section("parent", f"{selection.parents} {context.rng.integers(1 << 30)}\n{text}")
        prompt = Prompt((Message("user", (Section("task", context.task.brief), asked)),))
        replies = context.model("propose").complete(prompt, max(selection.samples, self.samples))
        return [self._child(text, prompt, reply, context) for reply in replies]

    def _child(self, text: str, prompt: Prompt, reply: Reply, context: Context) -> Child:
        with suppress(ValueError):
            return Child(_with_number(text, reply.text), reply.text, call=reply.call)
        (again,) = context.model("repair").complete(
            prompt.continue_with(reply.text, [Section("complaint", "no number")])
        )
        try:
            return Child(_with_number(text, again.text), again.text, call=again.call)
        except ValueError:
            return Child(None, f"no number in {again.text!r}", call=again.call, refusal="no_number")


def _with_number(text: str, reply: str) -> Program:
    head, _, _ = text.partition("return ")
    return Program({"seed.py": f"{head}return {float(reply.removeprefix('x = '))!r}\n"})


class Reflects:
    """Writes one lesson."""

    def __init__(self, settings: object = None) -> None:
        """It has no settings."""

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        (reply,) = context.model("reflect").complete(Prompt((Message("user", (Section("task", "Learn."),)),)))
        return [Child(None, "it wrote a lesson", (f"{reply.text} after {len(context.lessons)} lessons",))]


def with_operators(bench: Workbench, samples: int = 1) -> None:
    """The bench's campaigns may name the operator `writes`, which asks for so many answers, and `reflect` is the fake one."""
    entries = (
        OperatorEntry("writes", lambda settings: Writes(samples), needs_model=True),
        OperatorEntry("reflect", Reflects, needs_model=True, makes="notes", scheduled=True),
    )
    operators = dict(bench.plugins.operators) | {entry.name: Registered("fakes", entry) for entry in entries}
    bench.plugins = replace(bench.plugins, operators=operators)


def members(campaign, *models: FakeModel) -> Members:
    """The campaign's models, each played by one of these; waited for by nobody."""
    sections: Sequence[ModelSection] = campaign.settings.models.members
    made = [
        Member(section, model, threading.BoundedSemaphore(section.concurrency))
        for section, model in zip(sections, models, strict=True)
    ]
    return Members(made, campaign.settings.models)


def spent(campaign) -> Cost:
    """What the campaign's progress says of calls."""
    progress = campaign.state.progress
    return Cost(progress.calls, progress.tokens, progress.money, progress.gpu_seconds)
