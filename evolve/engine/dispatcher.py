"""Dispatcher of one run: starts steps, collects what has ended in one inbox, and withdraws work for a pause or an end.

Proposal threads, model clients and the executor put into the inbox; all else here belongs to the main thread."""

import queue
import threading
from collections.abc import Iterable

from evolve.campaign import Campaign
from evolve.engine.jobs import Evaluated, Evaluations, Jobs, Work
from evolve.engine.metering import Answered, Members, MeteredModels
from evolve.engine.proposals import Proposals, Proposed
from evolve.engine.scheduler import Load
from evolve.engine.screening import Screening
from evolve.protocols import Executor
from evolve.types import Asked, Import, Measure, Propose

Done = Proposed | Answered | Evaluated | None
"""Item of the inbox; None is an interrupt: a person or the system asks the run to end."""


class Dispatcher:
    """Steps under way. While it is paused, proposals that end wait, and so does all work that nothing had begun."""

    def __init__(
        self, campaign: Campaign, executor: Executor, members: Members, jobs: Jobs, screening: Screening
    ) -> None:
        self._campaign = campaign
        self._jobs = jobs
        self._inbox: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self.models = MeteredModels(campaign, members, self._inbox.put, self._cancelled)
        self._proposals = Proposals(campaign, self.models, members, screening, self._inbox.put)
        self.evaluations = Evaluations(executor, self._inbox.put)
        self.is_paused = False
        self._paused_steps: list[Asked] = []
        self._paused_proposals: list[Proposed] = []
        self._paused_works: list[Work] = []

    @property
    def is_working(self) -> bool:
        """True while something is under way that will put into the inbox."""
        return bool(self._proposals or self.evaluations)

    def load(self) -> Load:
        """Returns the number of steps under way: for evaluation, and for each model."""
        models = self._proposals.models()
        return Load(len(self.evaluations) + len(self._proposals) - models.total(), dict(models))

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
        """Starts steps whose `Asked` is durable."""
        for item in asked:
            match item.action:
                case Measure():
                    self.evaluations.submit(self._jobs.measurement(item, item.action))
                case Import():
                    self.evaluations.submit(self._jobs.addition(item, item.action))
                case Propose():
                    self._proposals.start(item, item.action)

    def take(self, done: Proposed) -> bool:
        """Takes a proposal that has ended; returns False where it was withdrawn before, or waits for the end of a pause."""
        known = self._proposals.take(done)
        if known and self.is_paused:
            self._paused_proposals.append(done)
        return known and not self.is_paused

    def pause(self, *, on: bool) -> None:
        """Withdraws all that nothing has begun, or starts it again."""
        if on == self.is_paused:
            return
        self.is_paused = on
        if on:
            steps = self._campaign.state.steps
            self._paused_steps = [steps[number].asked for number in self._proposals.withdraw()]
            self._paused_works = self.evaluations.withdraw()
            return
        self._campaign.clock.wake()
        # Works and proposals are kept, and not made anew from their steps: a child would be found to be a duplicate of itself.
        for work in self._paused_works:
            self.evaluations.submit(work)
        for done in self._paused_proposals:
            self._proposals.put_back(done)
        self._paused_proposals = []
        self.start(self._paused_steps)

    def give_up(self, *, children_only: bool) -> None:
        """Withdraws all that is for the next run: all proposals, and evaluations that no worker has begun; with `children_only`, measurements
        go on."""
        self._cancelled.set()
        self._proposals.give_up()
        self.evaluations.withdraw(children_only=children_only)

    def close(self) -> list[Done]:
        """Ends the threads; returns what has arrived until then."""
        self._cancelled.set()
        self._proposals.close()
        return self.wait(0)
