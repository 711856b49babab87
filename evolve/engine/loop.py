"""The loop: takes what is done, settles it, asks for what is next, until the budget is spent.

Only the main thread writes to the log, in one transaction per turn, and what a turn asked for is started after it is durable. So a killed engine loses nothing
that was announced, and starts nothing twice under another name."""

import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from evolve.campaign import Campaign
from evolve.campaign.state import REFLECTION
from evolve.devices.leases import format_needs
from evolve.engine.drafts import Draft, refuse
from evolve.engine.interrupts import interrupts
from evolve.engine.jobs import Evaluations, Jobs, Work
from evolve.engine.members import NOBODY, Members
from evolve.engine.metering import Answered, MeteredModels
from evolve.engine.proposals import Proposals
from evolve.engine.recorder import Recorder
from evolve.engine.scheduler import Load, Scheduler
from evolve.engine.steering import INTERVAL, Done, Interrupt, Judged, PausedWork, Proposed, Requests
from evolve.evaluation import Description
from evolve.protocols import Executor
from evolve.types import (
    Asked,
    EvolveError,
    Import,
    Measure,
    ModelGone,
    Paused,
    Progress,
    Propose,
    SandboxError,
    Settled,
    TaskError,
    Unaffordable,
)

Result = TypeVar("Result")
Reason = Literal["budget", "interrupted", "stopped", "exhausted", "finished"]
HASTY: frozenset[Reason | None] = frozenset({"interrupted", "stopped"})
"""Reasons to end at once: not even the best is measured any more."""


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a run: its reason, `finished` where the run had certain steps to do and no others. `left` counts the steps that wait for the next run; `refusal` is
    why the last proposal was not evaluated, where that ended the run. `unpaid` names the call that the budget did not pay for, where that ended the run, and `wanted` is the progress
    with it. `answered` and `failed` count the run's calls of models, and `failure` is why the last of the failed ones did."""

    reason: Reason
    left: int
    refusal: str = ""
    unpaid: str = ""
    wanted: Progress | None = None
    answered: int = 0
    failed: int = 0
    failure: str = ""


class Watch(Protocol):
    """Observes a campaign while it runs. Called on the main thread, which it must not delay."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Takes a record that is durable."""

    def turned(self, campaign: Campaign) -> None:
        """Follows each turn of the loop."""


class Unwatched:
    """A watch that does nothing."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Does nothing."""

    def turned(self, campaign: Campaign) -> None:
        """Does nothing."""


def run(campaign: Campaign, executor: Executor, judges: Description, watch: Watch, members: Members = NOBODY) -> Ending:
    """Runs until the budget is spent, nothing new is proposed, or the first interrupt; raises on what makes going on useless. `members` are
    the campaign's models."""
    with Run(campaign, executor, judges, members) as run:
        with campaign.log.transaction():
            run.record_circumstances()
        run.resume()
        return _loop(campaign, run, watch)


def finish(campaign: Campaign, executor: Executor, judges: Description, watch: Watch, steps: Sequence[Asked]) -> Ending:
    """Runs these steps, which are in the log, and what the archive then needs to know of its best. The seed is judged first where this
    version of the task has not judged it."""
    with Run(campaign, executor, judges, NOBODY) as run:
        with campaign.log.transaction():
            run.record_circumstances()
        run.resume_only(steps)
        return _loop(campaign, run, watch)


def _loop(campaign: Campaign, run: "Run", watch: Watch) -> Ending:
    while True:
        done = run.wait()
        with campaign.log.transaction():
            settled = [event for item in done for event in run.settle(item)]
            asked = [*run.take_requests(), *run.ask()]
        run.start(asked)
        run.publish()
        for event in settled:
            watch.settled(campaign, event)
        watch.turned(campaign)
        run.raise_failure()
        if not run.busy:
            return run.ending()


class Run:
    """One run of a campaign: what is under way, the inbox of what is done, and the reason to end. All methods belong to the main thread; proposal
    threads and the executor's reader put into the inbox unchanged."""

    def __init__(self, campaign: Campaign, executor: Executor, judges: Description, members: Members) -> None:
        self.campaign = campaign
        self._members = members
        self.scheduler = Scheduler(campaign, members)
        self.jobs = Jobs(campaign, judges)
        self._judges = judges
        self._executor = executor
        self._inbox: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self._models = MeteredModels(campaign, members, self._inbox.put, self._cancelled)
        self.recorder = Recorder(campaign, self.jobs)
        self._settings = campaign.settings
        screening = self.recorder.screening
        self._proposals = Proposals(campaign, self._models, members, screening, self._cancelled, self._inbox.put)
        self._paused = PausedWork()
        self._requests = Requests(campaign, self.recorder.signatures, os.getpid(), running=True)
        self._evaluations = Evaluations(executor, lambda work, future: self._inbox.put(Judged(work, future)))
        self._reason: Reason | None = None
        self._calls = Counter[str]()
        self._failure = ""
        self._resources = ExitStack()

    def __enter__(self) -> "Run":
        self._resources.enter_context(interrupts(lambda: self._inbox.put(Interrupt())))
        return self

    def __exit__(self, *_: object) -> None:
        with self._resources:
            self._cancelled.set()
            self._proposals.close()
            self._record_last_calls()

    def _record_last_calls(self) -> None:
        """What arrived after the last turn was paid for, and belongs to steps of the next run."""
        with self.campaign.log.transaction():
            while not self._inbox.empty():
                done = self._inbox.get_nowait()
                if isinstance(done, Answered):
                    self._record_call(done)

    def _record_call(self, answered: Answered) -> None:
        """Tells the log of a call. Inside a transaction."""
        call = answered.event.call
        self._calls["failed" if call.error else "answered"] += 1
        self._failure = call.error or self._failure
        self.campaign.log.put_texts(answered.texts)
        self.campaign.write(answered.event)

    @property
    def busy(self) -> bool:
        """True while something is under way that will put into the inbox, or the end of a pause is waited for."""
        return self._is_working or (self._reason is None and self._paused.on)

    @property
    def _is_working(self) -> bool:
        return bool(self._proposals or self._evaluations)

    def ending(self) -> Ending:
        """Why nothing is under way any more."""
        why = self.campaign.state.refusals.why if self._reason == "exhausted" else ""
        refusal = self.campaign.state.history.text(why) if why else ""
        unpaid = self.scheduler.unpaid if self._reason == "budget" else ""
        return Ending(
            self._reason or "budget",
            len(self.campaign.state.steps),
            refusal,
            unpaid,
            self._models.wanted if unpaid else None,
            self._calls["answered"],
            self._calls["failed"],
            self._failure,
        )

    def record_circumstances(self) -> None:
        """Tells the log on which machine and how well isolated this run judges. Inside a transaction."""
        for stage in self.campaign.task.stages:
            if self._executor.capacity(stage.needs) == 0:
                raise SandboxError(
                    f"stage {stage.name!r} needs {format_needs(stage.needs)}, which may not be leased here. Do: grant more with --devices, or use "
                    "another machine; `evolve devices` lists what there is"
                )
        self.recorder.record_machine(self._judges)
        if self.campaign.state.paused and self._reason is None:
            self.campaign.write(Paused(False))
        for event in self._models.checks():
            self.campaign.write(event)

    def resume(self) -> None:
        """Starts the steps that an earlier run left unfinished; a seed that this version of the task has not judged is judged first.
        Raises `TaskError` where an earlier run found that the seed fails."""
        self._judge_seed()
        self.start(step.asked for step in self.campaign.state.unfinished())

    def resume_only(self, steps: Iterable[Asked]) -> None:
        """As `resume`, but for these steps, and nothing is asked but what they make of the best."""
        self._reason = "finished"
        self._judge_seed()
        self.start(steps)

    def _judge_seed(self) -> None:
        state, name = self.campaign.state, self.campaign.name
        if not state.seed_record:
            self._evaluations.submit(self.jobs.seed())
        elif not state.seed_values:
            raise TaskError(
                f"the seed of campaign {name!r} failed its own evaluator: {state.history.outcome(state.seed_record)}. "
                f"Do: `evolve program show {name}/{state.seed_record}` says why; mend the task, and `evolve campaign rejudge {name}`"
            )

    def wait(self) -> list[Done]:
        """Waits until something is done and returns all that is; nothing when it is time to decide anew."""
        if not self.busy:
            return []
        try:
            done = [self._inbox.get(timeout=INTERVAL if self._reason else self._seconds_to_wait())]
        except queue.Empty:
            return []
        while not self._inbox.empty():
            done.append(self._inbox.get_nowait())
        return done

    def _seconds_to_wait(self) -> float:
        """How long nothing may happen before there is something to decide, or it is time to look for requests."""
        left = self.scheduler.seconds_left()
        return INTERVAL if left is None else min(left, INTERVAL)

    def settle(self, done: Done) -> Iterator[Settled]:
        """Settles what is done, or sends it on to the judge. Inside a transaction."""
        match done:
            case Interrupt():
                self._drain("interrupted")
            case Answered():
                self._record_call(done)
            case Proposed(asked, future):
                if self._proposals.take(asked.step) and not self._is_held_back(done):
                    yield from self._settle_drafts(asked, self._drafts_of(asked, future))
            case Judged(work, future):
                self._evaluations.remove(work)
                result = None if self._is_held_back(done) else self._result(future)
                if result is not None:
                    yield from self._submit(self.recorder.record_report(work, result))

    def _is_held_back(self, done: Proposed | Judged) -> bool:
        """While the run is paused, what is proposed waits to be judged, and so does what no judge has begun; what was called back and is wanted
        again is started anew."""
        back = self._paused.was_withdrawn(done)
        if self._reason is not None:
            return back
        if self._paused.on and (back or isinstance(done, Proposed)):
            self._paused.add(done)
            return True
        if back:
            self._start_again(done)
        return back

    def _start_again(self, done: Proposed | Judged) -> None:
        match done:
            case Judged(work, _):
                self._evaluations.submit(work)
            case Proposed(asked, future) if future.cancelled():
                self.start([asked])
            case Proposed():
                self._proposals.put_back(done)

    def _result(self, future: "Future[Result]") -> Result | None:
        """None where it was cancelled, or where it failed: the turn must not be lost with what had settled in it, so the error is
        kept until it is durable, and the step is one for the next run."""
        if future.cancelled():
            if self._reason in (None, "finished"):
                self.recorder.failure = SandboxError(
                    "the judges ended although nobody ended them. Do: go on with --continue; nothing that had settled is lost"
                )
            return None
        error = future.exception()
        if not isinstance(error, EvolveError):
            return future.result()
        self.recorder.failure = error
        return None

    def _drafts_of(self, asked: Asked, future: "Future[Sequence[Draft]]") -> Sequence[Draft]:
        """What a proposal came to; nothing where the step is one for the next run: nobody can pay for its calls, or no model is left to
        answer them and the settings say to stop. Lessons that cannot be paid may be dearer than proposals, and end nothing."""
        error = None if future.cancelled() else future.exception()
        match error:
            case Unaffordable() if not _reflects(asked):
                self.scheduler.unaffordable = str(error)
            case ModelGone() if not self.scheduler.goes_on:
                self.recorder.failure = error
            case ModelGone() | Unaffordable():
                return [refuse(str(error))]
            case _:
                return self._result(future) or ()
        return ()

    def _settle_drafts(self, asked: Asked, drafts: Sequence[Draft]) -> Iterator[Settled]:
        if not self._reason:
            yield from self._submit(self.recorder.record_drafts(asked, drafts, self._has_room))

    def _has_room(self) -> bool:
        """For one more child of a step that has several. Those that are left wait with their step for the next run; their calls are not paid again."""
        return self.scheduler.pays_for_child(self._evaluations.children)

    def _submit(self, outcomes: Iterable[Settled | Work]) -> Iterator[Settled]:
        """What has settled; what is to be judged goes to the judges."""
        for outcome in outcomes:
            if isinstance(outcome, Settled):
                yield outcome
            else:
                self._evaluations.submit(outcome)

    def take_requests(self) -> Sequence[Asked]:
        """What persons ask for, once a second. Inside a transaction."""
        if not self._requests.due(time.monotonic()):
            return []
        self._requests.running = self._reason is None
        asked = self._requests.take(adding=self._reason in (None, "finished"))
        if self._requests.stopped and self._reason not in HASTY:
            self._drain("stopped")
        if self.campaign.settings is not self._settings:
            self._retune()
        if self.campaign.state.paused != self._paused.on and self._reason is None:
            self._pause(on=self.campaign.state.paused)
        return asked

    def _retune(self) -> None:
        """Takes other settings, from the next step on."""
        self._settings = settings = self.campaign.settings
        self._models.retune(settings)
        self.scheduler.retune()
        self._executor.resize(settings.judges)
        self._proposals.retune()

    def _pause(self, *, on: bool) -> None:
        """Nothing is started any more, and what nobody has begun is called back; or all of it is started again."""
        self._paused.on = on
        if not on:
            self.campaign.clock.wake()
            for done in self._paused.take():
                self._start_again(done)
            return
        for step in self._proposals.call_back():
            self._paused.withdraw(step)
        for job in self._evaluations.call_back():
            self._paused.withdraw(job)

    def ask(self) -> list[Asked]:
        """What to do next, as much as there is room for. Inside a transaction, which must not be lost with what had settled in it:
        an error is kept until it is durable."""
        if self._reason is None and self.scheduler.is_spent():
            if self._is_working and self.scheduler.is_paid():
                return []
            self._drain("budget")
        if self._paused.on:
            if not self._is_working:
                self.campaign.clock.rest()
            return []
        if self._reason:
            return self.scheduler.last_measurement() if self._reason not in HASTY and not self.busy else []
        if self.recorder.failure is not None:
            return []
        try:
            asked = self.scheduler.next_steps(self._load())
        except EvolveError as error:
            self.recorder.failure = error
            return []
        if self.scheduler.exhausted:
            self._drain("exhausted")
            return self.scheduler.last_measurement()
        return asked

    def _load(self) -> Load:
        """What is under way: for the judges, and for each model."""
        models = self._proposals.models()
        return Load(len(self._evaluations) + len(self._proposals) - models.total(), dict(models))

    def publish(self) -> None:
        """Answers requests, when what came of them is durable."""
        self.recorder.release_durable()
        self._requests.answer()

    def raise_failure(self) -> None:
        """Raises what makes going on useless."""
        if self.recorder.failure is not None:
            raise self.recorder.failure

    def start(self, asked: Iterable[Asked]) -> None:
        """Starts steps whose `Asked` is durable."""
        for item in asked:
            match item.action:
                case Measure():
                    self._evaluations.submit(self.jobs.measurement(item, item.action))
                case Import():
                    self._evaluations.submit(self.jobs.imported(item, item.action))
                case Propose():
                    self._proposals.start(item, item.action)

    def _drain(self, reason: Reason) -> None:
        """No new asks; what is being judged finishes; all else stays as `Asked` for the next run. Unless it is in haste, the archive
        gets the measurements that it asked for: they decide which program is the best."""
        self._reason = reason
        self._cancelled.set()
        self._proposals.give_up()
        self._evaluations.cancel(children_only=reason not in HASTY)


def _reflects(asked: Asked) -> bool:
    return isinstance(asked.action, Propose) and asked.action.selection.operator == REFLECTION
