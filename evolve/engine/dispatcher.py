"""Dispatcher of one run: steps under way, from their start on threads and evaluation workers to the one inbox in which they end.

Proposal threads, model clients and the executor put into the inbox; all else here belongs to the main thread."""

import json
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from evolve import novelty
from evolve.campaign import Campaign, stream
from evolve.campaign.settings import reflection_operators
from evolve.engine.members import Members
from evolve.engine.metering import Answered, MeteredModels
from evolve.engine.previews import PreviewEnded, Previews
from evolve.engine.proposals import Draft, Proposer, Screening, Work, proposal_origin
from evolve.evaluation import Job, encode_job
from evolve.protocols import Context, Executor, SessionOpener, no_session
from evolve.types import (
    REJUDGED,
    Asked,
    Carried,
    Child,
    Description,
    Import,
    Measure,
    Origin,
    OriginKind,
    Parameters,
    Program,
    Propose,
    RecordId,
    Split,
    Task,
    TextId,
    Trial,
)

_PURPOSES: Mapping[OriginKind, str] = {"seed": "seed", "proposal": "trial", "import": "trial", "measurement": "measure"}
"""Stream from which the seed of a trial is drawn."""
_LIMIT_TIMES, _LEAST_LIMIT = 20, 1.0
"""Wall limit of a free operator's children: so many times the seed's seconds, and at least so many seconds."""


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


Done = Proposed | Answered | PreviewEnded | Evaluated | None
"""Item of the inbox; None is an interrupt: a person or the system asks the run to end."""


class Jobs:
    """Makes the jobs of one campaign. `description`, that of the executor, tells which of the evaluator's stages have a relative threshold."""

    def __init__(self, campaign: Campaign, description: Description) -> None:
        self._state = campaign.state
        self._task = campaign.task
        self._seed = campaign.settings.seed
        self._secret = campaign.secret
        self._races = campaign.settings.race
        self._deterministic = campaign.settings.deterministic
        self._plugins = campaign.plugins
        self._tops = description.tops
        self._cases = {case.name: case for case in campaign.task.held_out}

    def seed(self) -> Work:
        """Returns the evaluation of the task's seed program, before anything else."""
        return self._work(Origin("seed", step=0), self._task.seed)

    def measurement(self, asked: Asked, measure: Measure) -> Work:
        """Returns the evaluation that a `Measure` asks for: the program again with what it was given before, a case, or its certificate."""
        origin = Origin("measurement", asked.step, about=measure.about, why=measure.why, case=measure.case)
        if measure.why == REJUDGED:
            first = self._state.reader.settled(measure.about).record.origin
            origin = replace(origin, island=first.island, parents=first.parents)
        program = self._state.reader.program(measure.program)
        if measure.case:
            return self._work(origin, program)
        about = self._state.reader.settled(measure.about).record.evaluation
        if measure.stage != "certify":
            return self._work(origin, program, stage=measure.stage, carried=about.carried)
        artifacts = {name: self._state.reader.text(TextId(text)) for name, text in about.artifacts.items()}
        trial = Trial(stage="certify", parameters=Parameters(self._task.parameters))
        return Work(origin, program, Job(f"{asked.step}.0", "certify", trial, artifacts=artifacts))

    def proposal(self, asked: Asked, draft: Draft) -> Work:
        """Returns the evaluation of a draft, with the relative thresholds as they were when it was asked for."""
        assert draft.child.program is not None, "a draft without a program is refused"
        origin = proposal_origin(self._plugins, asked, draft)
        past = self._state.past(asked.after)
        wanted = {stage: past.least_of_top(stage, share) for stage, share in self._tops.items()}
        work = self._work(origin, draft.child.program, carried=self._find_carried(origin.parents))
        assert isinstance(asked.action, Propose), "only a proposal has drafts"
        gate = asked.action.gate
        known = {stage: least for stage, least in wanted.items() if least is not None}
        limit = self._limit(origin.operator)
        return replace(
            work,
            draft=draft,
            job=replace(work.job, wanted=known, limit=limit, rival=self._find_rival(origin.parents, gate), gate=gate),
        )

    def preview(self, asked: Asked, program: Program, stage: str, index: int) -> Job:
        """Returns the job of a preview. Any thread."""
        assert isinstance(asked.action, Propose), "only a proposal has previews"
        selection = asked.action.selection
        seed = (
            0 if self._task.deterministic else int(stream(self._seed, asked.step, "preview").integers(1 << 31)) + index
        )
        work = self._work(
            Origin("proposal", asked.step), program, stage=stage, carried=self._find_carried(selection.parents)
        )
        job = replace(work.job, id=f"{asked.step}.preview{index}", trial=replace(work.job.trial, seed=seed))
        return replace(job, limit=self._limit(selection.operator))

    def _find_rival(self, parents: Sequence[RecordId], gate: Sequence[str]) -> Mapping[str, float]:
        """Returns what the first parent found on the cases that a child is compared with it on."""
        if not parents or not self._task.cases or not (self._races or gate):
            return {}
        found = self._state.reader.settled(parents[0]).record.evaluation.cases
        # Without races a gate alone compares, on its own cases.
        return found if self._races else {name: found[name] for name in gate if name in found}

    def _limit(self, operator: str) -> float:
        """Returns the wall limit in seconds for the children of an operator; 0 for the stages' own limits. Children that cost no call are many, and
        two that loop would hold every worker for as long as a stage may take. Where two runs must agree, seconds decide nothing."""
        seconds = None if self._deterministic else self._state.seed_seconds
        if seconds is None or self._plugins.operators[operator].entry.needs_model:
            return 0.0
        return max(_LEAST_LIMIT, _LIMIT_TIMES * seconds)

    def addition(self, asked: Asked, action: Import) -> Work:
        """Returns the evaluation of a program that a person brought."""
        origin = Origin("import", asked.step, island=action.island, parents=action.parents)
        program = self._state.reader.program(action.program)
        work = self._work(origin, program, carried=self._find_carried(action.parents))
        return replace(work, draft=Draft(0, 1, Child(program, action.thought), novelty.signature(program)))

    def _find_carried(self, parents: Sequence[RecordId]) -> Mapping[str, str]:
        """Returns the ids of the artifacts that the first parent leaves to its children."""
        if not parents or not self._state.carries:
            return {}
        artifacts = self._state.reader.settled(parents[0]).record.evaluation.artifacts
        return {name: artifacts[name] for name in self._task.carry if name in artifacts}

    def _work(
        self,
        origin: Origin,
        program: Program,
        *,
        stage: str = "",
        carried: Mapping[str, str] | None = None,
    ) -> Work:
        """Returns the evaluation by the whole cascade, or by one stage of it; on the origin's case, where it has one."""
        held_out = self._cases.get(origin.case)
        split: Split = "held_out" if held_out else "search"
        if origin.kind == "measurement" and not origin.case:
            split = "confirm"
        left = {name: json.loads(self._state.reader.text(TextId(text))) for name, text in (carried or {}).items()}
        trial = Trial(
            trial_seed(self._seed, self._task, origin),
            split=split,
            parameters=Parameters(held_out.parameters if held_out else self._task.parameters),
            carried=Carried(left),
            secret=self._secret,
        )
        # No threshold ends an evaluation on a case early: what is compared there is the program, and not what the search wants.
        ungated = bool(origin.case)
        job = Job(f"{origin.step}.{origin.index}", "evaluate", trial, files=program.files, stage=stage, ungated=ungated)
        return Work(origin, program, job, carried=carried or {})


class Dispatcher:
    """Steps under way. While it is paused, children and all work that nothing had begun wait for its end. `pays_for_child` says whether the budget
    has room for one more child beside so many."""

    def __init__(
        self,
        campaign: Campaign,
        executor: Executor,
        members: Members,
        screening: Screening,
        pays_for_child: Callable[[int], bool],
        open_session: SessionOpener = no_session,
    ) -> None:
        self._campaign = campaign
        self._pays_for_child = pays_for_child
        self._open_session = open_session
        self._executor = executor
        self.jobs = Jobs(campaign, executor.describe())
        self._inbox: queue.SimpleQueue[Done] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self.models = MeteredModels(campaign, members, self._inbox.put, self._cancelled)
        self._previews = Previews(campaign, executor, self.jobs.preview, self._inbox.put, self._cancelled)
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

    def count_steps(self) -> tuple[int, Mapping[str, int]]:
        """Returns how many steps are in evaluation or on their way to it, and how many wait for each model."""
        steps = self._campaign.state.steps
        actions = [steps[step].asked.action for step in self._proposals]
        calling = Counter(one.selection.model for one in actions if isinstance(one, Propose) and one.selection.model)
        return len(self._evaluations) + len(self._proposals) - calling.total(), calling

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
                    self.submit(self.jobs.measurement(item, item.action))
                case Import():
                    self.submit(self.jobs.addition(item, item.action))
                case Propose():
                    self._propose(item, item.action)

    def _propose(self, asked: Asked, action: Propose) -> None:
        state, entry = self._campaign.state, self._campaign.plugins.operators[action.selection.operator].entry
        deadline = time.monotonic() + entry.seconds
        context = Context(
            task=self._campaign.task,
            history=state.past(asked.after),
            rng=stream(self._campaign.settings.seed, asked.step, "propose"),
            deadline=deadline,
            cancelled=self._cancelled,
            lessons=tuple(state.lessons[: asked.lessons]),
            model=self.models.callers(asked),
            quarantined=state.steps[asked.step].quarantined,
            best=state.steps[asked.step].best,
            rivals=state.steps[asked.step].rivals,
            timed=not self._campaign.settings.deterministic,
            derived=state.derived,
            evaluate=self._previews.evaluator(asked, deadline),
            open_session=self._open_session,
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
            if not self._pays_for_child(children):
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


def trial_seed(seed: int, task: Task, origin: Origin) -> int:
    """Returns the seed of a trial: the same for every program on a case, and 0 for a deterministic task."""
    if origin.case:
        return int(stream(seed, 0, f"case {origin.case}").integers(1 << 31))
    if task.deterministic:
        return 0
    return origin.index + int(stream(seed, origin.step, _PURPOSES[origin.kind]).integers(1 << 31))
