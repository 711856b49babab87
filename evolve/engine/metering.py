"""Calls of models by the operators of a step: answered from the log, else paid from the ledger, asked of the client, and told to the log.

`MeteredCaller._call` is that way from its beginning to its end. The calls of a step are numbered in the order in which they are made, so
that an operator that runs again gets the same answers in the same order. An answer is put into the inbox before its step's proposal is, so
that no record is in the log without the calls that it came from."""

import json
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from itertools import islice

from evolve.campaign import Campaign
from evolve.campaign.folds import add_call
from evolve.campaign.spending import prices_of
from evolve.engine.members import Member, Members, add_name, naming
from evolve.models.ledger import Ledger
from evolve.models.prices import Cost, sum_costs
from evolve.plugins import guarded
from evolve.protocols import Caller, Embedder, no_model
from evolve.types import (
    Asked,
    Call,
    Message,
    ModelError,
    ModelGone,
    Part,
    Prompt,
    Propose,
    Replied,
    Reply,
    Section,
    TextId,
    Unaffordable,
    Usage,
    text_id,
)
from evolve.types.errors import without_remedy

ABANDONED = -1
"""Index of a call that answers nothing when its step runs again."""
_SCREENING = frozenset({"novelty", "embed"})
"""Purposes for which the engine calls models, and not an operator."""
_LONGEST_TOKEN = 16
"""Characters of a token, more than any tokenizer makes on average."""
_SHORTEST_BOUND = 1 << 16
"""Characters that an answer may have whatever its `max_tokens`, which a command need not obey."""
_LOOK_SECONDS = 0.5
"""Seconds between two looks whether a call that waits for a slot was cancelled."""

_log = logging.getLogger(__name__)

Ask = Callable[[Sequence[int], float], Sequence[Reply]]
"""Asks the client for samples of these numbers until a deadline."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer or a failure of a model: the event, and the texts that it names."""

    event: Replied
    texts: Mapping[TextId, str]


class StepCalls:
    """Calls of one step in their order; `known` are those that the log has. `matches`: any call is answered by one with an equal request alone."""

    def __init__(self, step: int, known: Mapping[int, Call], *, matches: bool = False) -> None:
        self.step = step
        self._matches = matches
        self._known = dict(sorted(known.items()))
        self._next = max(known, default=-1) + 1

    def take(self, purpose: str, request: str) -> tuple[int, Call] | None:
        """Takes the next call for a purpose with its index, if the log has it. The questions that screen a child depend on what else was proposed until
        then: there, only the same words are answered."""
        for index, call in self._known.items():
            in_order = not self._matches and purpose not in _SCREENING
            if call.purpose == purpose and (in_order or call.request == request):
                return index, self._known.pop(index)
        return None

    def next_index(self) -> int:
        """Takes the index of the next call."""
        self._next += 1
        return self._next - 1


class MeteredModels:
    """Models of one run as operators reach them. `tell` takes answers, on any thread; `cancelled` ends all calls."""

    def __init__(
        self, campaign: Campaign, members: Members, tell: Callable[[Answered], None], cancelled: threading.Event
    ) -> None:
        self._campaign = campaign
        self._state = campaign.state
        self._members = members
        self.tell = tell
        self.cancelled = cancelled
        self.prices = {member.name: prices_of(member.section) for member in members}
        self.checks = [
            Replied(0, ABANDONED, _describe_check(member)) for member in members if member.checked.prompt_tokens
        ]
        """Calls that checked the models, for the log."""
        spent = reduce(add_call, (check.call for check in self.checks), campaign.state.progress)
        self.ledger = Ledger(campaign.budget, spent)
        self._samples: dict[str, Iterator[int]] = {}
        self._numbering = threading.Lock()

    def callers(self, asked: Asked) -> Callable[[str], Caller]:
        """Returns the function by which a step's operator gets a model for a purpose."""
        assert isinstance(asked.action, Propose), "only a proposal calls models"
        step, proposer = self._state.steps.get(asked.step), asked.action.selection.model
        entry = self._campaign.plugins.operators[asked.action.selection.operator].entry
        calls = StepCalls(asked.step, {} if step is None else dict(step.replies), matches=entry.matches_requests)

        def find_caller(purpose: str) -> Caller:
            member = self._members.find(purpose, proposer)
            return no_model(purpose) if member is None else MeteredCaller(self, member, purpose, calls)

        return find_caller

    def read_text(self, name: str) -> str:
        """Reads a text of the log."""
        return self._state.reader.text(TextId(name)) if name else ""

    def next_samples(self, request: str, count: int) -> Sequence[int]:
        """Takes the numbers of the next samples of a prompt: they count its calls in the whole campaign."""
        with self._numbering:
            if request not in self._samples:
                # This run has no call of it yet, so that the main thread does not change what is read here.
                self._samples[request] = self._state.calls.free_samples(request)
            return list(islice(self._samples[request], count))

    def note_failure(self, member: Member, error: ModelError) -> None:
        """Counts a failed call; warns where its model is given up while the run goes on. Where it ends, its error says so."""
        if self.cancelled.is_set() or not member.note_failure(error):
            return
        others = self._members.proposing
        if others or self._campaign.settings.outage.then == "offline":
            what = without_remedy(member.gone).removeprefix(f"model {member.name!r}: ")
            left = ", ".join(others) or "operators that need no model"
            _log.warning("model %r is asked no more in this run: %s. Left to propose: %s", member.name, what, left)


class MeteredCaller:
    """Model for one step and one purpose; implements `protocols.Caller`. Proposal thread."""

    def __init__(self, models: MeteredModels, member: Member, purpose: str, calls: StepCalls) -> None:
        self._models = models
        self._member = member
        self._purpose = purpose
        self._calls = calls
        self._prices = models.prices[member.name]

    @property
    def name(self) -> str:
        """Name of the model in the campaign."""
        return self._member.name

    @property
    def context_tokens(self) -> int:
        """Bound of prompt and answer together."""
        return self._member.section.context_tokens

    @property
    def max_tokens(self) -> int:
        """Bound of an answer."""
        return self._member.section.max_tokens

    def complete(self, prompt: Prompt, samples: int = 1) -> Sequence[Reply]:
        """Returns so many answers to one prompt; fewer where a call failed. Raises `ModelError` where there was none at all."""
        bounded = replace(prompt, max_tokens=min(prompt.max_tokens or self.max_tokens, self.max_tokens))
        longest = max(_SHORTEST_BOUND, _LONGEST_TOKEN * bounded.max_tokens)

        def ask(numbers: Sequence[int], deadline: float) -> Sequence[Reply]:
            model, cancelled = self._member.model, self._models.cancelled
            replies = model.complete(bounded, samples=numbers, deadline=deadline, cancelled=cancelled)
            if not replies:
                raise ModelError(
                    "it gave no answer and no error. Try: mend the plugin that provides this kind of model"
                )
            return [_shorten(reply, longest) for reply in replies[: len(numbers)]]

        return self._call(bounded, samples, ask)

    def embed(self, text: str) -> Sequence[float]:
        """Returns the text's vector, of length 1. Raises `ModelError`."""

        def ask(numbers: Sequence[int], deadline: float) -> Sequence[Reply]:
            model, began = self._member.model, time.monotonic()
            assert isinstance(model, Embedder), "a model for embeddings is checked when it is opened"
            vector, usage = model.embed(text, deadline=deadline, cancelled=self._models.cancelled)
            return [Reply(format_vector(vector), usage=usage, seconds=time.monotonic() - began)]

        prompt = Prompt((Message("user", (Section("text", text),)),))
        vector: list[float] = json.loads(self._call(prompt, 1, ask)[0].text)
        return vector

    def _call(self, prompt: Prompt, samples: int, ask: Ask) -> Sequence[Reply]:
        """Answers from the log first; then reserves each request in the ledger, sends it, settles its cost, and tells the log."""
        replies, failure = self._take_recorded(prompt, samples)
        missing = samples - len(replies) if failure is None else 0
        numbers = self._models.next_samples(prompt.request, missing) if missing else ()
        while numbers and failure is None:
            try:
                with naming(self.name):
                    answered = self._request(prompt, numbers, ask)
                replies, numbers = [*replies, *answered], numbers[len(answered) :]
            except ModelError as error:
                failure = error
        if failure is not None and not replies:
            raise failure
        return replies

    def _take_recorded(self, prompt: Prompt, samples: int) -> tuple[list[Reply], ModelError | None]:
        """Returns the answers that the log has, until a call that failed."""
        replies: list[Reply] = []
        while len(replies) < samples and (known := self._calls.take(self._purpose, prompt.request)) is not None:
            index, call = known
            if call.error:
                return replies, ModelError(add_name(call.model, call.error))
            usage = Usage(call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.exact)
            text, thinking = self._models.read_text(call.reply), self._models.read_text(call.thinking)
            took = (call.seconds, call.attempts, call.retries)
            replies.append(Reply(text, thinking, call.finish, usage, call.revision, *took, index))
        return replies, None

    def _request(self, prompt: Prompt, numbers: Sequence[int], ask: Ask) -> Sequence[Reply]:
        """Pays and carries out one request."""
        member, models, prices = self._member, self._models, self._prices
        seconds = member.section.timeout_seconds
        worst = prices.worst(prompt.size, len(prompt.messages), prompt.max_tokens, seconds, len(numbers))
        with _take_slot(member, models.cancelled):
            if member.gone:
                raise ModelGone(member.gone)
            reservation, spent = models.ledger.reserve(worst, models.cancelled), Cost()
            try:
                replies = guarded(member.section.kind, self._ask_client, partial(ask, numbers))
                replies = [prices.check_usage(prompt, reply) for reply in replies]
                prices.learn(prompt, replies[0])
                costs = [prices.cost(reply.usage, reply.seconds) for reply in replies]
                spent = sum_costs(costs)
                member.failures = 0
            except ModelError as error:
                spent = self._settle_failure(prompt, numbers[0], error)
                if member.gone and not models.cancelled.is_set():
                    raise ModelGone(member.gone, error.usage, error.attempts, error.seconds) from error
                raise
            finally:
                models.ledger.settle(reservation, spent)
            replies = [replace(reply, call=self._calls.next_index()) for reply in replies]
            for number, reply, cost in zip(numbers[: len(replies)], replies, costs, strict=True):
                self._tell(reply.call, prompt, number, reply, cost)
        return replies

    def _ask_client(self, ask: Callable[[float], Sequence[Reply]]) -> Sequence[Reply]:
        """Asks the client when its circuit breaker lets it; adds the usage of failed tries to the first answer."""
        deadline = time.monotonic() + self._member.section.timeout_seconds
        done = self._member.breaker.call(ask, deadline, self._models.cancelled)
        if not done.failed.count:
            return done.value
        first, *others = [replace(reply, attempts=done.failed.count + reply.attempts) for reply in done.value]
        retries = dict(done.failed.causes + Counter(first.retries))
        return [replace(first, usage=done.failed.usage.plus(first.usage), retries=retries), *others]

    def _settle_failure(self, prompt: Prompt, number: int, error: ModelError) -> Cost:
        """Returns the cost of a failed call, and tells the log of it; of one that was cancelled only where it may have been charged. One that
        was the last that its model may fail answers nothing later: its step asks again in the next run."""
        models = self._models
        models.note_failure(self._member, error)
        charged = error.usage.prompt_tokens > 0
        is_abandoned = models.cancelled.is_set() or isinstance(error, ModelGone | Unaffordable)
        if not charged and is_abandoned:
            return Cost()
        cost = self._prices.cost(error.usage, error.seconds)
        index = ABANDONED if is_abandoned or self._member.gone else self._calls.next_index()
        self._tell(index, prompt, number, error, cost)
        return cost

    def _tell(self, index: int, prompt: Prompt, number: int, ended: Reply | ModelError, cost: Cost) -> None:
        """Tells the log of an answer or of a failure."""
        usage = ended.usage
        parts, texts = _to_parts(prompt)
        sampling = {"temperature": prompt.temperature, "effort": prompt.effort, "max_tokens": prompt.max_tokens}
        call = Call(
            model=self.name,
            purpose=self._purpose,
            parameters={name: value for name, value in sampling.items() if value not in (None, "", 0)},
            prompt=parts,
            request=prompt.request,
            sample=number,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            exact=usage.exact,
            gpu_seconds=cost.gpu_seconds,
            cost=cost.money,
            seconds=ended.seconds,
            attempts=ended.attempts,
            retries=dict(ended.retries),
        )
        if isinstance(ended, Reply):
            reply, thinking = (text_id(text) if text else TextId("") for text in (ended.text, ended.thinking))
            texts |= {name: text for name, text in ((reply, ended.text), (thinking, ended.thinking)) if name}
            call = replace(call, revision=ended.revision, reply=reply, thinking=thinking, finish=ended.finish)
        else:
            call = replace(call, error=str(ended))
        self._models.tell(Answered(Replied(self._calls.step, index, call), texts))


@contextmanager
def _take_slot(member: Member, cancelled: threading.Event) -> Iterator[None]:
    """Waits until fewer calls of a model are in flight than its settings allow."""
    while not member.slots.acquire(timeout=_LOOK_SECONDS):
        if cancelled.is_set():
            raise ModelError("the call was given up while it waited for its turn")
    try:
        yield
    finally:
        member.slots.release()


def _shorten(reply: Reply, longest: int) -> Reply:
    """Cuts text and thinking, for the log keeps them."""
    if max(len(reply.text), len(reply.thinking)) <= longest:
        return reply
    return replace(reply, text=reply.text[:longest], thinking=reply.thinking[:longest], finish="length")


def _to_parts(prompt: Prompt) -> tuple[tuple[Part, ...], dict[TextId, str]]:
    """Returns the sections as the log holds them, and their texts by their ids."""
    parts, texts = list[Part](), dict[TextId, str]()
    for message in prompt.messages:
        for section in message.sections:
            name = _section_id(section)
            parts.append(Part(message.role, section.name, name))
            texts[name] = section.text
    return tuple(parts), texts


@lru_cache(maxsize=64)
def _section_id(section: Section) -> TextId:
    # The task and the rules stand in every prompt, so that their hashes are kept.
    return text_id(section.text)


def format_vector(vector: Sequence[float]) -> str:
    """Formats a vector as a text of the log: scaled to length 1, in single precision. Raises `ModelError` where it has no direction."""
    length = math.sqrt(sum(value * value for value in vector))
    if not (0 < length < math.inf):
        raise ModelError("an embedding is a vector of finite numbers that are not all 0. Try: use another model for it")
    return json.dumps([float(f"{value / length:.8g}") for value in vector])


def _describe_check(member: Member) -> Call:
    """Returns the check of a model as a call."""
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
