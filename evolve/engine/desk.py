"""Where operators call models: each call is paid for in advance, carried out, and told to the log.

Invariant: what was answered is put into the inbox before its step's proposal is, so that no record is in the log without the calls
that it came from; while a call is in flight its thread lets others compute."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice

from evolve.campaign import Campaign
from evolve.campaign.spending import prices_of
from evolve.config import Settings
from evolve.engine.calling import ABANDONED, Answered, Counter, Order, StepCaller, as_json
from evolve.engine.members import Member, Members, said_of
from evolve.models.cost import Cost, total
from evolve.models.ledger import Ledger, Reservation
from evolve.models.turns import Turns, given_up, gives_way
from evolve.plugins import guarded
from evolve.protocols import Caller, Embedder, no_model
from evolve.types import (
    Asked,
    Call,
    ConfigError,
    ModelError,
    ModelGone,
    Progress,
    Propose,
    Replied,
    Reply,
    TextId,
    Unaffordable,
)

_log = logging.getLogger(__name__)
_SHORT = 0.01
"""Seconds that the main thread waits until a proposal thread has computed."""
_LONGEST_TOKEN = 16
"""Characters of a token, more than any tokenizer makes on average."""
_TEXT = 1 << 16
"""Characters that an answer may have whatever its `max_tokens`, which a command need not obey."""
_LOOK = 0.5
"""Seconds between two looks whether a thread that waits for its turn should give up."""


class Desk:
    """The models of one run as operators reach them. `tell` takes what was answered, on any thread; `cancelled` ends what waits."""

    def __init__(
        self,
        campaign: Campaign,
        members: Members,
        tell: Callable[[Answered], None],
        cancelled: threading.Event,
    ) -> None:
        self._campaign = campaign
        self._state = campaign.state
        self._members = members
        self._tell = tell
        self._cancelled = cancelled
        self._prices = {member.name: prices_of(member.section) for member in members}
        checked = [member for member in members if member.checked.prompt_tokens]
        self._checks = [check_of(member) for member in checked]
        checks = total(self._prices[member.name].cost(member.checked, 0.0) for member in checked)
        self._ledger = Ledger(campaign.budget, checks.after(campaign.state.progress))
        self._samples: dict[str, Iterator[int]] = {}
        self._numbering = threading.Lock()
        self._turns = Turns()

    @property
    def wanted(self) -> Progress | None:
        """What would have been spent with the last call that the budget did not pay for."""
        return self._ledger.wanted

    def introduced(self) -> Sequence[Replied]:
        """What the checks of the models have used, for the log. Main thread, before anything is asked."""
        return [Replied(0, ABANDONED, call) for call in self._checks]

    def retune(self, settings: Settings) -> None:
        """Takes budget and patience from other settings, from now on. Main thread."""
        self._members.wait(settings.outage.model_wait_seconds)
        self._ledger.change(self._campaign.budget)

    def computing(self) -> AbstractContextManager[None]:
        """One proposal thread at a time computes."""
        return self._turns.one()

    def turn(self) -> AbstractContextManager[None]:
        """No proposal thread computes while the main thread does, unless it computes for long: two that want the interpreter hand it to and
        fro at each statement of SQLite and at each hash, and both wait for that."""
        return self._turns.hurried(_SHORT)

    def close(self) -> None:
        """The run is over: its threads need no turn to end."""
        self._turns.end()

    def callers(self, asked: Asked) -> Callable[[str], Caller]:
        """What a step's operator calls models by, for a purpose."""
        assert isinstance(asked.action, Propose), "only a proposal calls models"
        step = self._state.steps.get(asked.step)
        counter = Counter(asked.step, {} if step is None else dict(step.replies))
        return partial(self._caller, counter, asked.action.selection.model)

    def _caller(self, counter: Counter, proposer: str, purpose: str) -> Caller:
        member = self._members.named_for(purpose)
        if member is None:
            if not proposer:
                return no_model(purpose)
            if proposer not in self._members:
                raise ModelError(
                    f"model {proposer!r} is no model of this campaign any more. Do: nothing; others propose"
                )
            member = self._members[proposer]
        return StepCaller(self, member, purpose, counter)

    def text(self, name: str) -> str:
        """A text of the log."""
        return self._state.reader.text(TextId(name))

    def numbers(self, request: str, samples: int) -> Sequence[int]:
        """The numbers of the next samples of a prompt: they count its calls in the whole campaign."""
        with self._numbering:
            if request not in self._samples:
                # This run has no call of it yet, so that the main thread does not change what is read here.
                self._samples[request] = self._state.calls.samples.free(request)
            return list(islice(self._samples[request], samples))

    def completed(self, order: Order) -> Sequence[Reply]:
        """At least one answer, at most one for each sample that is wanted; paid, and told to the log. Raises `ModelError`."""
        complete = order.member.model.complete

        def ask(deadline: float) -> Sequence[Reply]:
            replies = complete(order.prompt, samples=order.samples, deadline=deadline, cancelled=self._cancelled)
            if not replies:
                raise ModelError("it gave no answer and no error. Do: mend the plugin that provides this kind of model")
            most = max(_TEXT, _LONGEST_TOKEN * (order.prompt.max_tokens or order.member.section.max_tokens))
            return [_cut(reply, most) for reply in replies[: len(order.samples)]]

        return self._carried_out(order, ask)

    def embedded(self, order: Order, text: str) -> str:
        """The vector of a text, as JSON; paid, and told to the log. Raises `ModelError`."""
        model = order.member.model
        if not isinstance(order.member.bare, Embedder) or not isinstance(model, Embedder):
            raise ConfigError(
                f"model {order.member.name!r} turns no texts into vectors. Do: name one that does in models.purposes.embed"
            )

        def ask(deadline: float) -> Sequence[Reply]:
            began = time.monotonic()
            vector, usage = model.embed(text, deadline=deadline, cancelled=self._cancelled)
            return [Reply(as_json(vector), usage=usage, seconds=time.monotonic() - began)]

        return self._carried_out(order, ask)[0].text

    def _carried_out(self, order: Order, ask: Callable[[float], Sequence[Reply]]) -> Sequence[Reply]:
        member = order.member
        away = nullcontext() if gives_way(member.model) else _elsewhere()
        with away, self._turn(member), said_of(member.name):
            if member.gone:
                raise ModelGone(member.gone)
            reservation = self._reserved(order)
            spent = Cost()
            try:
                deadline = time.monotonic() + member.section.timeout_seconds
                replies = guarded(member.section.kind, ask, deadline)
                told = self._told(order, replies)
                spent = total(cost for _, cost in told)
                member.answered()
            except ModelError as error:
                spent = self._failed(order, error)
                if member.gone and not self._cancelled.is_set():
                    raise ModelGone(member.gone, error.usage, error.attempts, error.seconds) from error
                raise
            finally:
                self._ledger.settle(reservation, spent)
            for answered, _ in told:
                self._tell(answered)
        return replies

    def _reserved(self, order: Order) -> Reservation:
        worst = self._worst(order)
        at_once = self._ledger.reserve_at_once(worst)
        if at_once is not None:
            return at_once
        with given_up():
            return self._ledger.reserve(worst, self._cancelled)

    def _worst(self, order: Order) -> Cost:
        prompt, limit = order.prompt, order.member.section.timeout_seconds
        prices, samples = self._prices[order.member.name], len(order.samples)
        return prices.worst(prompt.size, len(prompt.messages), prompt.max_tokens, limit, samples)

    def _told(self, order: Order, replies: Sequence[Reply]) -> Sequence[tuple[Answered, Cost]]:
        """Each answer as an event, with its cost."""
        prices = self._prices[order.member.name]
        replies = [prices.believed(order.prompt, reply) for reply in replies]
        prices.saw(order.prompt, replies[0])
        costs = [prices.cost(reply.usage, reply.seconds) for reply in replies]
        return [
            (order.answered(sample, reply, cost), cost)
            for sample, reply, cost in zip(order.samples[: len(replies)], replies, costs, strict=True)
        ]

    def _failed(self, order: Order, error: ModelError) -> Cost:
        """What a call that failed has cost. It is told; one that was given up only where it may have been charged. One that was the last
        that its model may fail answers nothing later: its step asks again in the next run."""
        member, cancelled = order.member, self._cancelled.is_set()
        if not cancelled and member.failed(error):
            self._tell_gone(member)
        charged = error.usage.prompt_tokens > 0
        given_up = cancelled or isinstance(error, ModelGone | Unaffordable)
        cost = self._prices[member.name].cost(error.usage, error.seconds) if charged or not given_up else Cost()
        if charged or not given_up:
            self._tell(order.failed(error, cost, given_up=given_up or bool(member.gone)))
        return cost

    def _tell_gone(self, member: Member) -> None:
        """That a model is given up, where the run goes on; where it does not, its error says so."""
        others = self._members.proposing
        if others or self._campaign.settings.outage.then == "offline":
            what = member.gone.partition(" Do: ")[0].removeprefix(f"model {member.name!r}: ").rstrip(".")
            left = ", ".join(others) or "operators that need no model"
            _log.warning("model %r is asked no more in this run: %s. Left to propose: %s", member.name, what, left)

    def _wait(self, member: Member) -> None:
        while not member.turns.acquire(timeout=_LOOK):
            if self._cancelled.is_set():
                raise ModelError("the call was given up while it waited for its turn")

    @contextmanager
    def _turn(self, member: Member) -> Iterator[None]:
        """At most as many calls of a model are in flight as its settings allow."""
        if not member.turns.acquire(blocking=False):
            with given_up():
                self._wait(member)
        try:
            yield
        finally:
            member.turns.release()


def _cut(reply: Reply, most: int) -> Reply:
    """At most so many characters of its text and of its thinking, for the log keeps them."""
    if max(len(reply.text), len(reply.thinking)) <= most:
        return reply
    return replace(reply, text=reply.text[:most], thinking=reply.thinking[:most], finish="length")


@contextmanager
def _elsewhere() -> Iterator[None]:
    """While a model computes that knows nothing of turns: others do, too."""
    with given_up():
        yield


def check_of(member: Member) -> Call:
    """What the check of a model has used, as a call."""
    usage = member.checked
    return Call(
        member.name,
        "check",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        cost=prices_of(member.section).cost(usage, 0.0).money,
        exact=usage.exact,
    )
