"""The loop: takes what has ended, settles it, asks for what is next, until the budget is spent.

Only the main thread writes to the log, in one transaction per turn, and what a turn asked for is started after it is durable. So a killed
engine loses nothing that was announced, and starts nothing twice under another name."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from evolve.campaign import Campaign
from evolve.devices.leases import format_needs
from evolve.engine.dispatcher import Dispatcher, Done, Evaluated, Proposed
from evolve.engine.members import NOBODY, Members
from evolve.engine.metering import Answered
from evolve.engine.outage import Outage
from evolve.engine.previews import PreviewEnded
from evolve.engine.proposals import Draft, Work, refuse
from evolve.engine.recorder import Recorder
from evolve.engine.scheduler import BudgetWatch, Scheduler
from evolve.engine.steering import INTERVAL, Requests
from evolve.engine.trackers import Watch
from evolve.protocols import Executor, SessionOpener, no_session
from evolve.types import (
    Asked,
    Description,
    EvolveError,
    ModelGone,
    Paused,
    Progress,
    Propose,
    RefusalCode,
    SandboxError,
    Settled,
    TaskError,
    Unaffordable,
)

_log = logging.getLogger(__name__)
Reason = Literal["budget", "interrupted", "stopped", "exhausted", "finished"]
HASTY: frozenset[Reason | None] = frozenset({"interrupted", "stopped"})
"""Reasons to end at once: not even the best is measured any more."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a run: its reason, `finished` where the run had certain steps to do and no others. `left` counts the steps that wait for the next run; `refusal` is
    why the last proposal was not evaluated, where that ended the run. `unpaid` names the call that the budget did not pay for, where that ended the run, and `wanted` is the progress
    with it. `answered` and `failed` count the run's calls of models, and `failure` is why the last of the failed ones did. `unusable` counts
    the reasons for which no proposal of a model was evaluated, the most frequent first; empty where one was. `evaluated` counts the run's evaluations, and `faults` those
    that failed by no fault of a program; `suspended`: at the end such failures kept all but the seed from evaluation."""

    reason: Reason
    left: int
    refusal: str = ""
    unpaid: str = ""
    wanted: Progress | None = None
    answered: int = 0
    failed: int = 0
    failure: str = ""
    unusable: Mapping[str, int] = field(default_factory=dict)
    evaluated: int = 0
    faults: int = 0
    suspended: bool = False


def run(
    campaign: Campaign,
    executor: Executor,
    watch: Watch,
    members: Members = NOBODY,
    only: Sequence[Asked] | None = None,
    open_session: SessionOpener = no_session,
) -> Ending:
    """Runs until the budget is spent, nothing new is proposed, or the first interrupt; raises on what makes going on useless. `members` are
    the campaign's models, and `open_session` is what operators open sessions with. With `only`, runs these steps, which are in the log, and what the archive then needs to know of its best."""
    search = Run(campaign, executor, members, open_session)
    with search.closing(), catch_signals(search.dispatcher.interrupt):
        search.begin(only)
        while True:
            done = search.wait()
            # One transaction per turn: a crash leaves whole turns, and each step is in the log before it has an effect.
            with campaign.log.transaction():
                settled = [event for item in done for event in search.settle(item)]
                asked = [*search.take_requests(), *search.ask()]
            search.dispatcher.start(asked)
            search.publish()
            for event in settled:
                watch.settled(campaign, event)
            watch.turned(campaign)
            # Only now: what settled in the turn of the error is in the log, and was shown.
            if search.recorder.failure is not None:
                raise search.recorder.failure
            if not search.is_busy:
                return search.ending()


class Run:
    """Decisions of one run of a campaign: how what has ended settles, and when the run ends. Main thread."""

    def __init__(
        self, campaign: Campaign, executor: Executor, members: Members, open_session: SessionOpener = no_session
    ) -> None:
        self.campaign = campaign
        self._settings = campaign.settings
        self._executor = executor
        self._description = executor.describe()
        self._budget = BudgetWatch(campaign)
        self._outage = Outage(campaign.task.seed.id, campaign.settings.outage.wait_seconds)
        self._scheduler = Scheduler(campaign, self._budget, self._outage, members)
        self.recorder = Recorder(campaign, self._outage)
        screening, pays_for_child = self.recorder.screening, self._budget.pays_for_child
        self.dispatcher = Dispatcher(campaign, executor, members, screening, pays_for_child, open_session)
        self._requests = Requests(campaign, self.recorder.signatures, os.getpid(), running=True)
        self._reason: Reason | None = None

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Ends the threads at the end, and records the calls that arrived after the last turn: they are paid, and belong to steps of the next run."""
        try:
            yield
        finally:
            with self.campaign.log.transaction():
                for done in self.dispatcher.close():
                    self._record_paid(done)

    def _record_paid(self, done: Done) -> None:
        """Writes what an operator has paid for while it proposes."""
        if isinstance(done, Answered):
            self.recorder.record_call(done)
        elif isinstance(done, PreviewEnded):
            self.recorder.record_preview(done)

    def begin(self, only: Sequence[Asked] | None) -> None:
        """Logs the machine, evaluates the seed where this version of the task has not, and starts the steps that an earlier run left
        unfinished, or `only` these. Raises `SandboxError`, and `TaskError` where an earlier run found that the seed fails."""
        _check_capacity(self._executor, self.campaign)
        state, name = self.campaign.state, self.campaign.name
        with self.campaign.log.transaction():
            self._log_circumstances(self._description)
        if not state.seed_record:
            self.dispatcher.submit(self.dispatcher.jobs.seed())
        elif not state.seed_values:
            raise TaskError(
                f"the seed of campaign {name!r} failed its own evaluator: {state.history.outcome(state.seed_record)}. "
                f"Try: `evolve program show {name}/{state.seed_record}` says why; mend the task, and `evolve campaign rejudge {name}`"
            )
        if only is None:
            only = [step.asked for step in state.open_steps()]
        else:
            self._reason = "finished"
        self.dispatcher.start(only)

    def _log_circumstances(self, description: Description) -> None:
        self.recorder.record_machine(description)
        if self.campaign.state.paused and self._reason is None:
            self.campaign.write(Paused(False))
        for event in self.dispatcher.models.checks:
            self.campaign.write(event)

    @property
    def is_busy(self) -> bool:
        """True while something is under way, or the end of a pause or of an outage is waited for."""
        waits = self.dispatcher.is_paused or self._outage.is_suspected
        return self.dispatcher.is_working or (self._reason is None and waits)

    def wait(self) -> list[Done]:
        """Waits until something has ended and returns all that has; nothing when it is time to decide anew."""
        if not self.is_busy:
            return []
        left = None if self._reason else self._budget.seconds_left()
        return self.dispatcher.wait(INTERVAL if left is None else min(left, INTERVAL))

    def settle(self, done: Done) -> Iterator[Settled]:
        """Yields the records of what has ended; hands to the evaluation what is still to be evaluated. Inside a transaction."""
        outcomes: Iterable[Settled | Work] = ()
        match done:
            case None:
                self._drain("interrupted")
                if self.dispatcher.is_working:
                    _log.warning(
                        "the run ends when what is being evaluated has ended; a second interrupt ends it at once"
                    )
            case Answered() | PreviewEnded():
                self._record_paid(done)
            case Proposed(asked, future) if self.dispatcher.take(done):
                outcomes = self._settle_proposal(asked, future)
            case Evaluated(work, future) if self.dispatcher.take(done):
                outcomes = self._settle_evaluation(work, future)
        for outcome in outcomes:
            if isinstance(outcome, Settled):
                yield outcome
            else:
                self.dispatcher.submit(outcome)

    def _settle_proposal(self, asked: Asked, future: Future[Sequence[Draft]]) -> Iterator[Settled | Work]:
        """Yields the records of refused children, and the work that the others are. Nothing where the step is one for the next run: nobody can pay for its calls, or no model is left to answer them and the
        settings say to stop. Lessons may cost more than proposals, and end nothing."""
        match _error_of(future):
            case None:
                drafts = future.result()
            case Unaffordable() as error if not self._makes_notes(asked):
                self._budget.unaffordable = str(error)
                return
            case (Unaffordable() | ModelGone()) as error if self._scheduler.goes_on or isinstance(error, Unaffordable):
                is_unaffordable = isinstance(error, Unaffordable)
                code = RefusalCode.UNAFFORDABLE if is_unaffordable else RefusalCode.MODEL_FAILED
                drafts = [refuse(code, str(error))]
            case error:
                self.recorder.failure = error
                return
        for outcome in () if self._reason else self.recorder.record_drafts(asked, drafts):
            yield outcome if isinstance(outcome, Settled) else self.dispatcher.jobs.proposal(asked, outcome)

    def _makes_notes(self, asked: Asked) -> bool:
        return isinstance(asked.action, Propose) and self.campaign.traits(asked.action.selection.operator).makes_notes

    def _settle_evaluation(self, work: Work, future: Future[bytes]) -> Iterable[Settled | Work]:
        error = _error_of(future)
        if error is None:
            return self.recorder.record_report(work, future.result())
        self.recorder.failure = error
        return ()

    def take_requests(self) -> Sequence[Asked]:
        """Returns the steps that persons ask for, once a second. Inside a transaction."""
        if not self._requests.due(time.monotonic()):
            return []
        # An ending run takes requests still, for nobody else may write the log; a program to add waits for the next run.
        self._requests.running = self._reason is None
        asked = self._requests.take(adding=self._reason in (None, "finished"))
        if self._requests.stopped and self._reason not in HASTY:
            self._drain("stopped")
        if self.campaign.settings is not self._settings:
            self._settings = self.campaign.settings
            self._executor.resize(self._settings.workers)
            self.dispatcher.models.ledger.change(self.campaign.budget)
            self._budget.retune()
        if self._reason is None:
            self.dispatcher.pause(on=self.campaign.state.paused)
        return asked

    def ask(self) -> list[Asked]:
        """Returns what to do next, as much as there is room for. Inside a transaction, which must not be lost with what had settled in it:
        an error is kept until it is durable."""
        if self._reason is None and self._budget.is_spent():
            # Programs whose calls were paid for are evaluated even when calls have spent the budget.
            if self.dispatcher.is_working and self._budget.is_paid():
                return []
            self._drain("budget")
        if self.dispatcher.is_paused:
            if not self.dispatcher.is_working:
                self.campaign.clock.rest()
            return []
        if self._reason:
            return [] if self._reason in HASTY or self.is_busy else self._scheduler.last_measurement()
        if self.recorder.failure is not None:
            return []
        try:
            asked = self._scheduler.next_steps(*self.dispatcher.count_steps())
        except EvolveError as error:
            self.recorder.failure = error
            return []
        if self._scheduler.exhausted:
            self._drain("exhausted")
            return self._scheduler.last_measurement()
        return asked

    def _drain(self, reason: Reason) -> None:
        """Asks for nothing new; running evaluations end, all else stays as `Asked` for the next run. Unless it is in haste, the archive
        gets the measurements that it asked for: they decide which program is the best."""
        self._reason = reason
        self.dispatcher.give_up(children_only=reason not in HASTY)

    def publish(self) -> None:
        """Answers requests, when what came of them is durable."""
        self.recorder.release_durable()
        self._requests.answer()

    def ending(self) -> Ending:
        """Returns why nothing is under way any more."""
        state, calls = self.campaign.state, self.recorder.calls
        why = state.refusals.why if self._reason == "exhausted" else ""
        unpaid = self._budget.unpaid if self._reason == "budget" else ""
        return Ending(
            self._reason or "budget",
            len(state.steps),
            state.history.text(why) if why else "",
            unpaid,
            self.dispatcher.models.ledger.wanted if unpaid else None,
            calls["answered"],
            calls["failed"],
            self.recorder.call_error,
            self.recorder.unusable,
            self.recorder.evaluated,
            self.recorder.faults,
            self._outage.is_suspected,
        )


def _check_capacity(executor: Executor, campaign: Campaign) -> None:
    for stage in campaign.task.stages:
        if executor.capacity(stage.needs) == 0:
            raise SandboxError(
                f"stage {stage.name!r} needs {format_needs(stage.needs)}, which may not be leased here. Try: grant more with --devices, or use "
                "another machine; `evolve devices` lists what there is"
            )


def _error_of(future: "Future[Any]") -> EvolveError | None:
    """Returns why there is no result. The turn must not be lost with what had settled in it, so such an error is raised only when it is durable;
    a bug of our own is raised at once."""
    if future.cancelled():
        return SandboxError(
            "the evaluation workers ended although nobody ended them. Try: go on with --continue; nothing that had settled is lost"
        )
    error = future.exception()
    if error is not None and not isinstance(error, EvolveError):
        raise error
    return error


@contextmanager
def catch_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Calls `interrupt` at the first signal to end, between two instructions of the main thread; every later one raises `KeyboardInterrupt`.
    The handlers from before are back afterwards. Does nothing on another thread, which gets no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def handle(*_: object) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise KeyboardInterrupt
        interrupt()

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
