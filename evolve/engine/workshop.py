"""What one run of a campaign holds: the proposal thread, the jobs under way, the inbox that both fill, and the way to stop.

Invariant: all methods belong to the main thread; the proposal thread and the executor's reader only put into the inbox."""

import os
import queue
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import TypeVar

from evolve.campaign import Campaign
from evolve.campaign.state import REFLECTION
from evolve.devices.leases import written
from evolve.engine.asking import Asking, Load
from evolve.engine.calling import Answered
from evolve.engine.desk import Desk
from evolve.engine.doing import Done, Held, Interrupt, Judged, Proposed
from evolve.engine.drafts import Draft, refused
from evolve.engine.ending import HASTY, Ending, Reason
from evolve.engine.infrastructure import Infrastructure
from evolve.engine.interrupts import interrupts
from evolve.engine.jobs import Jobs, Work
from evolve.engine.members import Members
from evolve.engine.proposals import Proposals
from evolve.engine.recorder import Settling
from evolve.engine.requests import INTERVAL, Requests
from evolve.evaluation import Description
from evolve.models.cancellation import Cancellation
from evolve.protocols import Executor
from evolve.types import (
    Asked,
    EvolveError,
    Import,
    Measure,
    ModelGone,
    Paused,
    Propose,
    SandboxError,
    Settled,
    TaskError,
    Unaffordable,
)

Result = TypeVar("Result")


class Workshop:
    """Starts what was asked, collects what is done, and drains when it is time to stop."""

    def __init__(self, campaign: Campaign, executor: Executor, judges: Description, members: Members) -> None:
        self.campaign = campaign
        self._infrastructure = Infrastructure(campaign.task.seed.id, campaign.settings.outage.wait_seconds)
        self._members = members
        self.asking = Asking(campaign, self._infrastructure, members)
        self.jobs = Jobs(campaign, judges)
        self._judges = judges
        self._executor = executor
        self._inbox: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._cancelled = Cancellation()
        self._desk = Desk(campaign, members, self._inbox.put, self._cancelled)
        self.settling = Settling(campaign, self.jobs, self._infrastructure)
        self._settings = campaign.settings
        screening = self.settling.screening
        self._proposals = Proposals(campaign, self._desk, members, screening, self._cancelled, self._inbox.put)
        self._held = Held()
        self._requests = Requests(campaign, self.settling.signatures, os.getpid(), running=True)
        self._judging: dict[str, Work] = {}
        self._reason: Reason | None = None
        self._calls = Counter[str]()
        self._failure = ""
        self._resources = ExitStack()

    def __enter__(self) -> "Workshop":
        self._resources.callback(self._cancelled.close)
        self._resources.callback(self.settling.close)
        self._resources.enter_context(interrupts(lambda: self._inbox.put(Interrupt())))
        return self

    def __exit__(self, *_: object) -> None:
        with self._resources:
            self._cancelled.set()
            self._desk.close()
            self._proposals.close()
            self._keep_answers()

    def _keep_answers(self) -> None:
        """What arrived after the last turn was paid for, and belongs to steps of the next run."""
        with self.campaign.log.transaction():
            while not self._inbox.empty():
                done = self._inbox.get_nowait()
                if isinstance(done, Answered):
                    self._answered(done)

    def _answered(self, answered: Answered) -> None:
        """Tells the log of a call. Inside a transaction."""
        call = answered.event.call
        self._calls["failed" if call.error else "answered"] += 1
        self._failure = call.error or self._failure
        self.campaign.log.put_texts(answered.texts)
        self.campaign.write(answered.event)

    @property
    def busy(self) -> bool:
        """Something is under way that will put into the inbox, or is waited for."""
        waits = self._reason is None and self._infrastructure.in_doubt
        pauses = self._reason is None and self._held.on
        return bool(self._proposals or self._judging) or waits or pauses

    def ending(self) -> Ending:
        """Why nothing is under way any more."""
        why = self.campaign.state.refusals.why if self._reason == "exhausted" else ""
        refusal = self.campaign.state.history.text(why) if why else ""
        unpaid = self.asking.unpaid if self._reason == "budget" else ""
        return Ending(
            self._reason or "budget",
            len(self.campaign.state.steps),
            refusal,
            unpaid,
            self._desk.wanted if unpaid else None,
            self._calls["answered"],
            self._calls["failed"],
            self._failure,
        )

    def arrive(self) -> None:
        """Tells the log on which machine and how well isolated this run judges. Inside a transaction."""
        for stage in self.campaign.task.stages:
            if self._executor.capacity(stage.needs) == 0:
                raise SandboxError(
                    f"stage {stage.name!r} needs {written(stage.needs)}, which may not be leased here. Do: grant more with --devices, or use "
                    "another machine; `evolve devices` lists what there is"
                )
        self.settling.arrive(self._judges)
        if self.campaign.state.paused and self._reason is None:
            self.campaign.write(Paused(False))
        for event in self._desk.introduced():
            self.campaign.write(event)

    def resume(self) -> None:
        """Starts the steps that an earlier run left unfinished; a seed that this version of the task has not judged is judged first.
        Raises `TaskError` where an earlier run found that the seed fails."""
        self._judge_seed()
        self.start(step.asked for step in self.campaign.state.unfinished())

    def only(self, steps: Iterable[Asked]) -> None:
        """As `resume`, but for these steps, and nothing is asked but what they make of the best."""
        self._reason = "finished"
        self._judge_seed()
        self.start(steps)

    def _judge_seed(self) -> None:
        state, name = self.campaign.state, self.campaign.name
        if not state.seed_record:
            self._submit(self.jobs.seed())
        elif not state.seed_values:
            raise TaskError(
                f"the seed of campaign {name!r} failed its own evaluator: {state.history.outcome(state.seed_record)}. "
                f"Do: `evolve program show {name}/{state.seed_record}` says why; mend the task, and `evolve campaign rejudge {name}`"
            )

    def wait(self) -> list[Done]:
        """All that is done, at least one thing, or nothing when the time is up."""
        try:
            done = [self._inbox.get(timeout=INTERVAL if self._reason else self._patience())]
        except queue.Empty:
            return []
        while not self._inbox.empty():
            done.append(self._inbox.get_nowait())
        return done

    def _patience(self) -> float:
        """How long nothing may happen before there is something to decide, or it is time to look for requests."""
        times = (self.asking.seconds_left(), self._infrastructure.seconds_left, INTERVAL)
        return min(seconds for seconds in times if seconds is not None)

    def turn(self) -> AbstractContextManager[None]:
        """While the main thread decides what to do next."""
        return self._desk.turn()

    def take(self, done: Done) -> Iterator[Settled]:
        """Settles what is done, or sends it on to the judge. Inside a transaction."""
        match done:
            case Interrupt():
                self._drain("interrupted")
            case Answered():
                self._answered(done)
            case Proposed(asked, future):
                if self._proposals.take(asked.step) and not self._waits(done):
                    yield from self._proposed(asked, self._drafts(asked, future))
            case Judged(work, future):
                self._judging.pop(work.job.id)
                result = None if self._waits(done) else self._result(future)
                if result is not None:
                    yield from self._started(self.settling.judged(work, result))

    def _waits(self, done: Proposed | Judged) -> bool:
        """While the run is paused, what is proposed waits to be judged, and so does what no judge has begun; what was called back and is wanted
        again is started anew."""
        back = self._held.was_withdrawn(done)
        if self._reason is not None:
            return back
        if self._held.on and (back or isinstance(done, Proposed)):
            self._held.add(done)
            return True
        if back:
            self._again(done)
        return back

    def _again(self, done: Proposed | Judged) -> None:
        match done:
            case Judged(work, _):
                self._submit(work)
            case Proposed(asked, future) if future.cancelled():
                self.start([asked])
            case Proposed():
                self._proposals.put_back(done)

    def _result(self, future: "Future[Result]") -> Result | None:
        """None where it was cancelled, or where it failed: the turn must not be lost with what had settled in it, so the error is
        kept until it is durable, and the step is one for the next run."""
        if future.cancelled():
            if self._reason in (None, "finished"):
                self.settling.failure = SandboxError(
                    "the judges ended although nobody ended them. Do: go on with --continue; nothing that had settled is lost"
                )
            return None
        error = future.exception()
        if not isinstance(error, EvolveError):
            return future.result()
        self.settling.failure = error
        return None

    def _drafts(self, asked: Asked, future: "Future[Sequence[Draft]]") -> Sequence[Draft]:
        """What a proposal came to; nothing where the step is one for the next run: nobody can pay for its calls, or no model is left to
        answer them and the settings say to stop. Lessons that cannot be paid may be dearer than proposals, and end nothing."""
        error = None if future.cancelled() else future.exception()
        match error:
            case Unaffordable() if not _reflects(asked):
                self.asking.unaffordable = str(error)
            case ModelGone() if not self.asking.goes_on:
                self.settling.failure = error
            case ModelGone() | Unaffordable():
                return [refused(str(error))]
            case _:
                return self._result(future) or ()
        return ()

    def _proposed(self, asked: Asked, drafts: Sequence[Draft]) -> Iterator[Settled]:
        if not self._reason:
            yield from self._started(self.settling.drafted(asked, drafts, self._has_room))

    def _has_room(self) -> bool:
        """For one more child of a step that has several. Those that are left wait with their step for the next run; their calls are not paid again."""
        judging = sum(work.origin.kind == "proposal" for work in self._judging.values())
        return self.asking.pays_for_child(judging)

    def _started(self, outcomes: Iterable[Settled | Work]) -> Iterator[Settled]:
        """What has settled; what is to be judged goes to the judges."""
        for outcome in outcomes:
            if isinstance(outcome, Settled):
                yield outcome
            else:
                self._submit(outcome)

    def requested(self) -> Sequence[Asked]:
        """What persons ask for, once a second. Inside a transaction."""
        if not self._requests.due(time.monotonic()):
            return []
        self._requests.running = self._reason is None
        asked = self._requests.take(adding=self._reason in (None, "finished"))
        if self._requests.stopped and self._reason not in HASTY:
            self._drain("stopped")
        if self.campaign.settings is not self._settings:
            self._retune()
        if self.campaign.state.paused != self._held.on and self._reason is None:
            self._pause(on=self.campaign.state.paused)
        return asked

    def _retune(self) -> None:
        """Takes other settings, from the next step on."""
        self._settings = settings = self.campaign.settings
        self._desk.retune(settings)
        self.asking.retune()
        self._infrastructure.wait(settings.outage.wait_seconds)
        self._executor.resize(settings.judges)
        self._proposals.retune()

    def _pause(self, *, on: bool) -> None:
        """Nothing is started any more, and what nobody has begun is called back; or all of it is started again."""
        self._held.on = on
        if not on:
            self.campaign.clock.wake()
            for done in self._held.take():
                self._again(done)
            return
        for step in self._proposals.call_back():
            self._held.withdraw(step)
        for job in list(self._judging):
            self._held.withdraw(job)
            self._executor.cancel(job)

    def ask(self) -> list[Asked]:
        """What to do next, as much as there is room for. Inside a transaction, which must not be lost with what had settled in it:
        an error is kept until it is durable."""
        if self._reason is None and self.asking.spent():
            if (self._proposals or self._judging) and self.asking.is_paid():
                return []
            self._drain("budget")
        if self._held.on:
            if not (self._proposals or self._judging):
                self.campaign.clock.rest()
            return []
        if self._reason:
            return self.asking.last_measurement() if self._reason not in HASTY and not self.busy else []
        if self.settling.failure is not None:
            return []
        try:
            asked = self.asking.next_steps(self._load())
        except EvolveError as error:
            self.settling.failure = error
            return []
        if self.asking.exhausted:
            self._drain("exhausted")
            return self.asking.last_measurement()
        return asked

    def _load(self) -> Load:
        """What is under way: for the judges, and for each model."""
        models = self._proposals.models()
        return Load(len(self._judging) + len(self._proposals) - models.total(), dict(models))

    def remember(self) -> None:
        """Keeps evaluations for later campaigns, when their records are durable, and answers requests, when what came of them is."""
        self.settling.remember()
        self._requests.answer()

    def stop_on_failure(self) -> None:
        """Raises what makes going on useless."""
        if self.settling.failure is not None:
            raise self.settling.failure

    def start(self, asked: Iterable[Asked]) -> None:
        """Starts steps whose `Asked` is durable."""
        for item in asked:
            match item.action:
                case Measure():
                    self._submit(self.jobs.measurement(item, item.action))
                case Import():
                    self._submit(self.jobs.imported(item, item.action))
                case Propose():
                    self._proposals.start(item, item.action)

    def _submit(self, work: Work) -> None:
        future = self._executor.submit(work.job.id, work.encoded())
        self._judging[work.job.id] = work
        future.add_done_callback(partial(self._judged, work))

    def _judged(self, work: Work, future: "Future[bytes]") -> None:
        self._inbox.put(Judged(work, future))

    def _drain(self, reason: Reason) -> None:
        """No new asks; what is being judged finishes; all else stays as `Asked` for the next run. Unless it is in haste, the archive
        gets the measurements that it asked for: they decide which program is the best."""
        self._reason = reason
        self._cancelled.set()
        self._proposals.give_up()
        for job, work in list(self._judging.items()):
            if reason in HASTY or work.origin.kind == "proposal":
                self._executor.cancel(job)


def _reflects(asked: Asked) -> bool:
    return isinstance(asked.action, Propose) and asked.action.selection.operator == REFLECTION
