"""Steps of a campaign one by one, without a loop, whose operators propose what a test says, with models that answer what it says."""

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from loop_fakes import DESCRIPTION

from evolve import plugins
from evolve.campaign import Campaign, stream
from evolve.config import NoveltySection, settings_from
from evolve.engine.dispatcher import Jobs
from evolve.engine.outage import Outage
from evolve.engine.proposals import Draft, Proposer, Work
from evolve.engine.recorder import Recorder
from evolve.evaluation import Report, encode_report
from evolve.hookspecs import OperatorEntry
from evolve.plugins import Plugins, Registered
from evolve.protocols import Caller, Context
from evolve.types import (
    Asked,
    Axis,
    Child,
    Evaluation,
    EvaluatorSource,
    Program,
    Prompt,
    Propose,
    Reply,
    Selection,
    Task,
)

LINES = 60


def text(changes: Mapping[int, str] | None = None, lines: int = LINES) -> str:
    """A program of nine words a line, with other words in some lines."""
    words = dict(changes or {})
    return "".join(f"x{n} = f{n}(a{n}, {words.get(n, 'b')})\n" for n in range(lines))


def long_task(distance: float = 0.0) -> Task:
    """A task whose seed is such a program."""
    return Task(
        "long",
        "",
        "1",
        "Say something new.",
        Program({"seed.py": text()}),
        "seed",
        EvaluatorSource("evaluator.py"),
        deterministic=True,
        axes=(Axis("size", 0, 10, 5),),
        novelty_distance=distance,
    )


class Oracle:
    """A model whose answers, or errors, are told before; it remembers what it was asked. `vectors` are by a word of the text."""

    name, context_tokens, max_tokens = "oracle", 8000, 100

    def __init__(self, *answers: str | Exception, vectors: Mapping[str, Sequence[float] | Exception] | None = None):
        self.answers, self.asked, self.embedded = list(answers), list[Prompt](), list[str]()
        self._vectors = vectors or {}

    def complete(self, prompt: Prompt, samples: int = 1) -> Sequence[Reply]:
        self.asked.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [Reply(answer)]

    def embed(self, text: str) -> Sequence[float]:
        self.embedded.append(text)
        found = next((vector for word, vector in self._vectors.items() if word in text), (1.0, 0.0))
        if isinstance(found, Exception):
            raise found
        return found


class Told:
    """An operator that hands over the children that it was told, or raises."""

    def __init__(self) -> None:
        self.children: Sequence[Child] | Exception = []

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        if isinstance(self.children, Exception):
            raise self.children
        return self.children


def loaded() -> Plugins:
    """With operators `write` and `mend`, which need a model, the latter for what failed, and one `alter`, which needs none."""
    found = plugins.load()
    entries = [
        OperatorEntry("write", lambda _: Told(), needs_model=True),
        OperatorEntry("mend", lambda _: Told(), needs_model=True, takes_failures=True),
        OperatorEntry("alter", lambda _: Told()),
    ]
    more = {entry.name: Registered("test", entry) for entry in entries}
    return dataclasses.replace(found, operators={**found.operators, **more})


class Scene:
    """A campaign with its seed settled. `again` goes on with its log in a new run; the fixture `play` makes and closes it."""

    def __init__(self, home: Path, task: Task, purposes: Mapping[str, str] | None = None, **novelty: float) -> None:
        self.home, self.purposes, self.novelty = home, dict(purposes or {}), novelty
        settings = settings_from({"task": task.name, "operators": {"names": ["alter"]}, "workers": 2})
        self._begin(Campaign.create(settings, task, loaded(), home, "long"))
        self.settle_work([self.jobs.seed()])

    def close(self) -> None:
        """Its log and what it remembers of other campaigns."""
        self.campaign.close()

    def again(self) -> "Scene":
        """The next run of the campaign."""
        self.close()
        self._begin(Campaign.open("long", loaded(), self.home, readonly=False))
        return self

    def _begin(self, campaign: Campaign) -> None:
        self.campaign = campaign
        campaign.operator_names = ("write", "alter")
        models = campaign.settings.models.model_copy(update={"purposes": self.purposes})
        update = {"models": models, "novelty": NoveltySection(**self.novelty)}
        campaign.settings = campaign.settings.model_copy(update=update)
        self.jobs = Jobs(campaign, DESCRIPTION)
        self.recorder = Recorder(campaign, Outage(campaign.task.seed.id, 0.0))
        self.operator = Told()
        operators = dict.fromkeys(("write", "mend", "alter"), self.operator)
        self.proposer = Proposer(campaign, operators, self.recorder.screening)

    def draft(
        self,
        *texts: str,
        by: str = "write",
        island: int = 0,
        parents: Sequence[int] = (1,),
        model: Caller | None = None,
        error: Exception | None = None,
    ) -> tuple[Asked, Sequence[Draft]]:
        """A step, asked and proposed."""
        state = self.campaign.state
        selection = Selection(by, island, tuple(parents))
        asked = Asked(state.last_step + 1, Propose(selection), after=len(state.history))
        with self.campaign.log.transaction():
            self.campaign.write(asked)
        self.operator.children = error or [Child(Program({"seed.py": one})) for one in texts]
        return asked, self.proposer.propose(selection, self.context(asked, lambda _: model or Oracle()))

    def context(self, asked: Asked, model: Callable[[str], Caller]) -> Context:
        """What an operator gets."""
        state, step = self.campaign.state, asked.step
        return Context(
            self.campaign.task, state.past(asked.after), stream(0, step, ""), 1e9, threading.Event(), model=model
        )

    def settle(self, asked: Asked, drafts: Sequence[Draft]) -> list[int]:
        """Judges what is to be evaluated; the records."""
        before = len(self.campaign.state.history)
        with self.campaign.log.transaction():
            found = list(self.recorder.record_drafts(asked, drafts))
        self.settle_work([self.jobs.proposal(asked, one) for one in found if isinstance(one, Draft)])
        return list(range(before + 1, len(self.campaign.state.history) + 1))

    def settle_work(self, works: Sequence[Work]) -> None:
        """Judges all of it."""
        report = Report(Evaluation.ok(1.0, descriptors={"size": 1.0}))
        with self.campaign.log.transaction():
            for work in works:
                list(self.recorder.record_report(work, encode_report(report)))
        self.recorder.release_durable()

    def step(self, *texts: str, **more: object) -> list[str]:
        """A whole step: the reason of each child, empty for one that was evaluated."""
        records = self.settle(*self.draft(*texts, **more))
        return [self.reason(record) for record in records]

    def reason(self, record: int) -> str:
        """Why a record was not evaluated."""
        found = self.campaign.log.settled(record).record
        return self.campaign.log.text(found.evaluation.feedback) if found.program is None else ""
