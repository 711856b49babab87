"""The proposals of one run that are being made: which step each is of, and the threads that make them.

Invariant: a step's proposal is a function of its `Asked`, its replies and the log before it; only the main thread starts and takes proposals."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from evolve.campaign import Campaign, stream
from evolve.campaign.fitting import reflection_operators
from evolve.engine.drafts import Draft, Proposer, add_prompts
from evolve.engine.members import Members
from evolve.engine.metering import MeteredModels
from evolve.engine.screening import Screening
from evolve.engine.steering import Proposed
from evolve.protocols import Context
from evolve.types import Asked, Propose, Selection

PATIENCE = 600.0
"""Seconds that an operator has for one proposal."""


class Proposals:
    """What is being proposed. `tell` takes what is done, on any thread; `cancelled` ends what waits."""

    def __init__(
        self,
        campaign: Campaign,
        models: MeteredModels,
        members: Members,
        screening: Screening,
        cancelled: threading.Event,
        tell: Callable[[Proposed], None],
    ) -> None:
        self._campaign = campaign
        self._models = models
        self._screening = screening
        self._cancelled = cancelled
        self._tell = tell
        self._computing = ThreadPoolExecutor(1, "evolve-proposer")
        self._calling = ThreadPoolExecutor(max(1, members.threads), "evolve-model")
        self._proposer = self._new_proposer()
        self._futures: dict[int, Future[Sequence[Draft]]] = {}

    def __len__(self) -> int:
        return len(self._futures)

    def models(self) -> Counter[str]:
        """How many wait for each model."""
        steps = [self._campaign.state.steps[step].asked.action for step in self._futures]
        return Counter(step.selection.model for step in steps if isinstance(step, Propose) and step.selection.model)

    def start(self, asked: Asked, action: Propose) -> None:
        """A step whose `Asked` is durable."""
        state = self._campaign.state
        context = Context(
            task=self._campaign.task,
            history=state.past(asked.after),
            rng=stream(self._campaign.settings.seed, asked.step, "propose"),
            deadline=time.monotonic() + PATIENCE,
            cancelled=self._cancelled,
            lessons=tuple(state.lessons[: asked.lessons]),
            model=self._models.callers(asked),
            quarantined=state.steps[asked.step].quarantined,
            derived=state.derived,
        )
        pool = self._calling if action.selection.model else self._computing
        future = pool.submit(self._proposer.drafts, action.selection, context)
        self._futures[asked.step] = future
        future.add_done_callback(lambda ready: self._tell(Proposed(asked, ready)))

    def take(self, step: int) -> bool:
        """Whether a step is among them; it is no more."""
        return self._futures.pop(step, None) is not None

    def put_back(self, done: Proposed) -> None:
        """What was taken and waited is told again."""
        self._futures[done.asked.step] = done.future
        self._tell(done)

    def call_back(self) -> Iterator[int]:
        """The steps that nothing has begun to propose: they will be told as cancelled."""
        for step, future in self._futures.items():
            if future.cancel():
                yield step

    def give_up(self) -> None:
        """All of them; none is among them any more."""
        for future in list(self._futures.values()):
            future.cancel()
        self._futures.clear()

    def retune(self) -> None:
        """Takes operators from the campaign's settings, as they are now; what is being proposed goes on."""
        self._proposer = self._new_proposer()

    def close(self) -> None:
        """Waits until the threads have ended."""
        for pool in (self._computing, self._calling):
            pool.shutdown(wait=True, cancel_futures=True)

    def _new_proposer(self) -> Proposer:
        names = (*self._campaign.operator_names, *reflection_operators(self._campaign.settings))
        operators = {name: self._campaign.operator(name) for name in names}
        return Proposer(self._campaign.task, operators, self._screening, self._prompting)

    def _prompting(self, context: Context, selection: Selection) -> Context:
        """Proposal thread."""
        if not selection.model:
            return context
        return add_prompts(context, selection, self._campaign.settings.prompts, self._campaign.plugins)
