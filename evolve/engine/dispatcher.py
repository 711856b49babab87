"""Dispatcher of one run: steps under way, from their start on threads and evaluation workers to the one inbox in which they end.

Proposal threads, model clients and the executor put into the inbox; all else here belongs to the main thread."""

import queue
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from evolve.campaign import Campaign, stream
from evolve.campaign.settings import reflection_operators
from evolve.engine.jobs import Jobs, Work
from evolve.engine.metering import Answered, Members, MeteredModels
from evolve.engine.proposals import Draft, Proposer, Screening
from evolve.engine.scheduler import BudgetWatch, Load
from evolve.evaluation import encode_job
from evolve.protocols import Context, Executor
from evolve.types import Asked, Import, Measure, Propose

PROPOSAL_SECONDS = 600.0
"""Time that an operator has for one proposal."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A step whose proposal has ended."""

    asked: Asked
    future: Future[Sequence[Draft]]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A job that the executor has ended."""

    work: Work
    future: Future[bytes]


Done = Proposed | Answered | Evaluated | None
"""Item of the inbox; None is an interrupt: a person or the system asks the run to end."""


class Dispatcher:
    """Steps under way. While it is paused, children and all work that nothing had begun wait for its end."""

    def __init__(
        self,
        campaign: Campaign,
        executor: Executor,
        members: Members,
        jobs: Jobs,
        screening: Screening,
        budget: BudgetWatch,
    ) -> None:
        self._campaign = campaign
        self._budget = budget
        self._executor = executor
        self._jobs = jobs
        self._inbox: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self.models = MeteredModels(campaign, members, self._inbox.put, self._cancelled)
        names = (*campaign.operator_names, *reflection_operators(campaign.settings))
        self._proposer = Proposer(campaign, {name: campaign.operator(name) for name in names}, screening)
        # Operators without a model hold the interpreter: a second thread would slow the first one down.
        self._computing = ThreadPoolExecutor(1, "evolve-proposer")
        self._calling = ThreadPoolExecutor(max(1, members.steps), "evolve-model")
        self._proposals: dict[int, Future[Sequence[Draft]]] = {}
        self._evaluations: dict[Future[bytes], Work] = {}
        self.is_paused = False
        self._waiting_steps: list[Asked] = []
        self._waiting_works: list[Work] = []

    @property
    def is_working(self) -> bool:
        """True while something is under way that will put into the inbox."""
        return bool(self._proposals or self._evaluations)

    def load(self) -> Load:
        """Returns the number of steps under way: for evaluation, and for each model."""
        steps = self._campaign.state.steps
        actions = [steps[step].asked.action for step in self._proposals]
        calling = Counter(one.selection.model for one in actions if isinstance(one, Propose) and one.selection.model)
        return Load(len(self._evaluations) + len(self._proposals) - calling.total(), dict(calling))

    def interrupt(self) -> None:
        """Puts an interrupt into the inbox. Any thread, and signal handlers."""
        self._inbox.put(None)

    def wait(self, seconds: float) -> list[Done]:
        """Waits at most so long until something has ended, and returns all that has."""
        try:
            done = [self._inbox.get(timeout=seconds)]
        except queue.Empty:
            return []
        while not self._inbox.empty():
            done.append(self._inbox.get_nowait())
        return done

    def start(self, asked: Iterable[Asked]) -> None:
        """Starts steps whose `Asked` is durable. A person's program is evaluated during a pause, too."""
        for item in asked:
            match item.action:
                case Measure():
                    self.submit(self._jobs.measurement(item, item.action))
                case Import():
                    self.submit(self._jobs.addition(item, item.action))
                case Propose():
                    self._propose(item, item.action)

    def _propose(self, asked: Asked, action: Propose) -> None:
        state = self._campaign.state
        context = Context(
            task=self._campaign.task,
            history=state.past(asked.after),
            rng=stream(self._campaign.settings.seed, asked.step, "propose"),
            deadline=time.monotonic() + PROPOSAL_SECONDS,
            cancelled=self._cancelled,
            lessons=tuple(state.lessons[: asked.lessons]),
            model=self.models.callers(asked),
            quarantined=state.steps[asked.step].quarantined,
            derived=state.derived,
        )
        pool = self._calling if action.selection.model else self._computing
        future = pool.submit(self._proposer.propose, action.selection, context)
        self._proposals[asked.step] = future
        future.add_done_callback(lambda done: self._inbox.put(Proposed(asked, done)))

    def submit(self, work: Work) -> None:
        """Hands a job to the executor. A child waits for the end of a pause, and one that the budget has no room for waits with its step for the
        next run, where its calls are not paid again."""
        if work.origin.kind == "proposal":
            if self.is_paused:
                self._waiting_works.append(work)
                return
            children = sum(other.origin.kind == "proposal" for other in self._evaluations.values())
            if not self._budget.pays_for_child(children):
                return
        future = self._executor.submit(work.job.id, encode_job(work.job))
        self._evaluations[future] = work
        future.add_done_callback(lambda done: self._inbox.put(Evaluated(work, done)))

    def take(self, done: Proposed | Evaluated) -> bool:
        """Forgets what has ended; returns False where it was withdrawn before."""
        if isinstance(done, Evaluated):
            return self._evaluations.pop(done.future, None) is not None
        known = self._proposals.get(done.asked.step) is done.future
        if known:
            del self._proposals[done.asked.step]
        return known

    def pause(self, *, on: bool) -> None:
        """Withdraws all that nothing has begun, or starts it again."""
        if on == self.is_paused:
            return
        self.is_paused = on
        if on:
            steps = self._campaign.state.steps
            self._waiting_steps = [steps[number].asked for number in self._withdraw_proposals()]
            self._waiting_works = self._withdraw_works()
            return
        self._campaign.clock.wake()
        # Works are kept, and not made anew from their steps: a child would be found to be a duplicate of itself.
        works, self._waiting_works = self._waiting_works, []
        for work in works:
            self.submit(work)
        self.start(self._waiting_steps)

    def _withdraw_proposals(self) -> list[int]:
        steps = [step for step, future in self._proposals.items() if future.cancel()]
        for step in steps:
            del self._proposals[step]
        return steps

    def _withdraw_works(self, *, children_only: bool = False) -> list[Work]:
        for work in list(self._evaluations.values()):
            if not children_only or work.origin.kind == "proposal":
                self._executor.cancel(work.job.id)
        cancelled = [future for future in self._evaluations if future.cancelled()]
        return [self._evaluations.pop(future) for future in cancelled]

    def give_up(self, *, children_only: bool) -> None:
        """Withdraws all that is for the next run: all proposals, and evaluations that no worker has begun; with `children_only`, measurements
        go on."""
        self._cancelled.set()
        self._withdraw_proposals()
        # Those that a thread has begun end sooner or later, and are not taken any more.
        self._proposals.clear()
        self._withdraw_works(children_only=children_only)

    def close(self) -> list[Done]:
        """Ends the threads; returns what has arrived until then."""
        self._cancelled.set()
        for pool in (self._computing, self._calling):
            pool.shutdown(wait=True, cancel_futures=True)
        return self.wait(0)
