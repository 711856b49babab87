"""One turn of an agent: answers what it asks, for a call of the campaign's model or an evaluation, and chooses what it hands in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from evolve.edits import matches
from evolve.protocols import Caller, Context
from evolve.types import ModelError, ModelGone, Program, Unaffordable
from evolve_methods.agent_chat import (
    ChatAnswer,
    UnreadableRequest,
    format_evaluation,
    format_models,
    format_reply,
    read_prompt,
    refuse,
)
from evolve_methods.agent_settings import AgentSettings

_FAILURES, _REQUESTS = 3, 10_000
"""Calls in a row that fail, after which no other is made in a turn; and requests of any kind."""


@dataclass(slots=True)
class Turn:
    """One proposal of the agent, which ends at `until`, a time of `monotonic`: what it asked, and the programs that it had evaluated, with their fitness; -inf for those without one."""

    settings: AgentSettings
    context: Context
    caller: Caller
    parent: Program
    until: float
    requests: int = 0
    calls: int = 0
    failures: int = 0
    evaluations: int = 0
    found: dict[Program, float] = field(default_factory=dict)
    unpaid: Unaffordable | None = None

    def answer(self, path: str, body: str, files: Mapping[str, str]) -> ChatAnswer:
        """Answers one request. Raises `ModelGone` and `EditError` where the step is over."""
        self.requests += 1
        if self.requests > _REQUESTS or monotonic() > self.until:
            return refuse(429, "the time of this task is up. Try: hand in what you have")
        match path:
            case "/evaluate":
                return self._evaluate(files)
            case "/v1/chat/completions":
                return self._complete(body)
            case "/v1/models":
                return format_models(self.caller.name)
        return refuse(404, f"there is no {path[:100]!r} here. Try: /v1/chat/completions, or /evaluate")

    def read_program(self, files: Mapping[str, str]) -> Program:
        """Returns the program that a folder holds: the parent's files, and new ones that the task allows."""
        kept = {path: files.get(path, text) for path, text in self.parent.files.items()}
        patterns = self.context.task.new_files
        new = {path: text for path, text in files.items() if any(matches(path, pattern) for pattern in patterns)}
        return Program({**new, **kept})

    def list_missing(self, files: Mapping[str, str]) -> Sequence[str]:
        """Returns the program's files that a folder lacks, or has in a form that was left out."""
        return [path for path in self.parent.files if path not in files]

    def _evaluate(self, files: Mapping[str, str]) -> ChatAnswer:
        if missing := self.list_missing(files):
            return refuse(400, f"{missing[0]} is gone, too large, or no text. Try: write it again")
        if self.evaluations >= self.settings.evaluations:
            return refuse(429, f"the {self.evaluations} evaluations of this task are used. Try: hand in what you have")
        self.evaluations += 1
        program = self.read_program(files)
        found = self.context.evaluate(program)
        self.found[program] = -inf if found.fitness is None else found.fitness
        return format_evaluation(found, self.context)

    def _complete(self, body: str) -> ChatAnswer:
        if self.calls >= self.settings.calls:
            return refuse(429, f"the {self.calls} calls of this task are used. Try: hand in what you have")
        if self.failures >= _FAILURES:
            return refuse(429, f"the last {self.failures} calls failed. Try: hand in what you have")
        try:
            prompt, streams = read_prompt(body, self.caller)
        except UnreadableRequest as error:
            return refuse(400, str(error))
        self.calls += 1
        try:
            reply = self.caller.complete(prompt)[0]
        except ModelGone:
            raise
        except Unaffordable as error:
            self.unpaid = error
            return refuse(429, f"the budget is spent: {error}. Hand in what you have")
        except ModelError as error:
            self.failures += 1
            return refuse(502, str(error))
        self.failures = 0
        return format_reply(reply, self.caller.name, self.calls, streams=streams)

    def choose(self, last: Program, *, failed: bool) -> Program | None:
        """Returns the program to hand in: the last one, or a better one that was evaluated; of an agent that failed the best that it evaluated."""
        found = {each: fitness for each, fitness in self.found.items() if each != self.parent and fitness > -inf}
        if last != self.parent and not failed and last not in self.found:
            return last
        return max(found, key=lambda program: found[program], default=None)
