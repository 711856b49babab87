"""Calls of models: what was asked and answered, and what it cost by operator, model and purpose.

A call's texts are read only where they are asked for; every cost is a sum over the calls that the fold has counted, failed ones among them."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

from evolve.campaign import Campaign
from evolve.campaign.folds import CallColumns, CallTotals
from evolve.log.reading import LogReader
from evolve.report.records import RecordLine, record_line
from evolve.stop import Amount
from evolve.types import ConfigError, Propose, RecordId, Replied, Settled, Stamped, TextId, estimate_tokens


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call without its texts. `index` -1: it was given up. Where nobody counted the tokens, `exact` is false; `retries` counts the requests
    that failed, by their causes."""

    step: int
    index: int
    purpose: str
    model: str
    revision: str
    request: str
    sample: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    exact: bool
    cost: float
    seconds: float
    attempts: int
    finish: str
    error: str
    retries: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Said:
    """A section of a prompt."""

    role: str
    name: str
    text: str

    @property
    def tokens(self) -> int:
        """Tokens of the section, estimated: servers count a prompt as a whole."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class WholeCall:
    """A call with its texts."""

    call: CallLine
    parameters: Mapping[str, Any]
    prompt: tuple[Said, ...]
    thinking: str
    reply: str


def call_line(replied: Replied) -> CallLine:
    """Returns a call as the log has it, without its texts."""
    call = replied.call
    return CallLine(
        replied.step,
        replied.index,
        call.purpose,
        call.model,
        call.revision,
        call.request,
        call.sample,
        call.prompt_tokens,
        call.completion_tokens,
        call.cached_tokens,
        call.exact,
        call.cost,
        call.seconds,
        call.attempts,
        call.finish,
        call.error,
        call.retries,
    )


def whole_call(log: LogReader, replied: Replied) -> WholeCall:
    """Returns a call with its texts, read from its log."""
    call = replied.call
    prompt = tuple(Said(part.role, part.name, log.text(TextId(part.text))) for part in call.prompt)
    thinking, reply = (log.text(TextId(name)) if name else "" for name in (call.thinking, call.reply))
    return WholeCall(call_line(replied), dict(call.parameters), prompt, thinking, reply)


def calls_of(campaign: Campaign, record: RecordId) -> tuple[WholeCall, ...]:
    """Returns the calls of the step that made a record, in their order; none where no model was asked."""
    return tuple(whole_call(campaign.log, replied) for replied in campaign.log.replies(record))


CALL_ENDS = ("failed", "retried")
"""Ends of calls that a page of them may be chosen by: those that failed, and those of which a request was made again."""


@dataclass(frozen=True, slots=True)
class WantedCalls:
    """Filter of calls. An empty text means any; `ended` is one of `CALL_ENDS`."""

    operator: str = ""
    purpose: str = ""
    ended: str = ""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A record of the step that made a call; `why` is what its evaluator, or the screen that refused it, said. `parent_fitness` is that of its first parent, as
    the user sees it; None where there is none."""

    record: RecordLine
    why: str
    parent_fitness: float | None


@dataclass(frozen=True, slots=True)
class CallEntry:
    """A call, the number and time (in seconds since 1970) of its event, and the records of its step; `open`: the step has not settled as a whole."""

    number: int
    at: float
    operator: str
    call: CallLine
    results: tuple[CallOutcome, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class CallsPage:
    """Entries `start` to `start + len(entries)` of `total`, the newest first."""

    entries: tuple[CallEntry, ...]
    total: int
    start: int


def calls_page(campaign: Campaign, wanted: WantedCalls, start: int = 0, limit: int = 50) -> CallsPage:
    """Returns some of the calls that are wanted, the newest first; no others are read. Raises `ConfigError` for an end that there is not."""
    columns = campaign.state.calls.columns
    places = [place for place in range(len(columns.steps) - 1, -1, -1) if _is_wanted(columns, place, wanted)]
    shown = places[start : start + limit]
    numbers = call_numbers(campaign)
    stamped = campaign.log.events_at(numbers[place] for place in shown)
    operators = [columns.operators[place] for place in reversed(shown)]
    return CallsPage(tuple(reversed(_make_entries(campaign, stamped, operators))), len(places), start)


def _is_wanted(columns: CallColumns, place: int, wanted: WantedCalls) -> bool:
    flags = {"": None, "failed": columns.failed, "retried": columns.retried}
    if wanted.ended not in flags:
        raise ConfigError(f"calls are {' or '.join(CALL_ENDS)}, got {wanted.ended[:40]!r}. Try: name one of them")
    flag = flags[wanted.ended]
    return (
        wanted.operator in ("", columns.operators[place])
        and wanted.purpose in ("", columns.purposes[place])
        and (flag is None or bool(flag[place]))
    )


def _make_entries(campaign: Campaign, stamped: Sequence[Stamped], operators: Sequence[str]) -> list[CallEntry]:
    """Returns calls with the records of their steps; one query for all texts."""
    events = [(one, one.event) for one in stamped if isinstance(one.event, Replied)]
    settled = _read_results(campaign, {event.step for _, event in events})
    said = campaign.log.texts({TextId(one.record.evaluation.feedback) for each in settled.values() for one in each})
    return [
        CallEntry(
            number=one.number,
            at=one.at,
            operator=operator,
            call=call_line(event),
            results=tuple(_make_result(campaign, each, said) for each in settled.get(event.step, ())),
            open=event.step in campaign.state.steps,
        )
        for (one, event), operator in zip(events, operators, strict=True)
    ]


def _make_result(campaign: Campaign, event: Settled, said: Mapping[TextId, str]) -> CallOutcome:
    parents, why = event.record.origin.parents, said.get(TextId(event.record.evaluation.feedback), "")
    value = campaign.state.history.fitness(parents[0]) if parents else None
    fitness = None if value is None else campaign.task.fitness.shown(value)
    return CallOutcome(record_line(campaign, event), why or event.record.thought, fitness)


def _read_results(campaign: Campaign, steps: Set[int]) -> dict[int, list[Settled]]:
    """Returns the records of these steps; a call before any step, 0, has none."""
    found = defaultdict[int, list[Settled]](list)
    for record, step in enumerate(campaign.state.columns.steps, 1):
        if step in steps and step:
            found[step].append(campaign.log.settled(record))
    return found


@dataclass(frozen=True, slots=True)
class CallShown:
    """A call with its texts, and what came of it."""

    entry: CallEntry
    whole: WholeCall


def call_numbers(campaign: Campaign) -> list[int]:
    """Returns the numbers of the events of all calls, in their order."""
    return campaign.log.numbers(Replied)[: len(campaign.state.calls.columns.steps)]


def read_call(campaign: Campaign, number: int) -> CallShown:
    """Returns the call of an event; raises `ConfigError` where that is none."""
    numbers, columns = call_numbers(campaign), campaign.state.calls.columns
    place = bisect_left(numbers, number)
    if numbers[place : place + 1] != [number]:
        raise ConfigError(f"event {number} of campaign {campaign.name!r} is no call of a model. Try: go to the list")
    (stamped,) = campaign.log.events_at([number])
    assert isinstance(stamped.event, Replied), "the index of types says so"
    (entry,) = _make_entries(campaign, [stamped], [columns.operators[place]])
    return CallShown(entry, whole_call(campaign.log, stamped.event))


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Number of calls that models work on, and of those that wait for their turn."""

    in_flight: int
    queued: int


def pending_calls(campaign: Campaign) -> PendingCalls:
    """Returns how many proposals have no answer yet: each model takes `concurrency` at once, as long as the budget pays for calls, and more are made ready."""
    proposals = Counter(
        step.asked.action.selection.model
        for step in campaign.state.steps.values()
        if isinstance(step.asked.action, Propose) and not step.replies and not step.settled
    )
    members = campaign.settings.models.members
    flying = sum(min(proposals[member.name], member.concurrency) for member in members)
    paid = [
        max(0, int(leaf.limit - leaf.counted(campaign.state.progress)))
        for leaf in campaign.budget.leaves()
        if isinstance(leaf, Amount) and leaf.unit.resource == "calls"
    ]
    in_flight = min([flying, *paid])
    return PendingCalls(in_flight, sum(proposals[member.name] for member in members) - in_flight)


@dataclass(frozen=True, slots=True)
class CostLine:
    """Sums over calls. `cached_tokens` are among the `prompt_tokens`; `exact` is the share of the calls whose tokens the server has
    counted; those that were given up when a run ended have not `failed`; `seconds` are those of all calls one after another; `money` is in US dollars."""

    name: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    money: float
    gpu_seconds: float
    seconds: float
    exact: float

    @property
    def tokens(self) -> int:
        """Prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of calls. An operator's are all calls of its steps; those before any step have the name ""."""

    total: CostLine
    operators: tuple[CostLine, ...]
    models: tuple[CostLine, ...]
    purposes: tuple[CostLine, ...]


def _line_of(name: str, taken: CallTotals) -> CostLine:
    """Sums under a name."""
    share = taken.exact / taken.calls if taken.calls else 0.0
    return CostLine(name, **(asdict(taken) | {"exact": share}))


def costs(campaign: Campaign) -> Costs | None:
    """Returns what a campaign has paid for calls; None where no model was called."""
    if not campaign.state.progress.calls:
        return None
    total = CallTotals()
    operators, models, purposes = (defaultdict[str, CallTotals](CallTotals) for _ in range(3))
    for operator, model, purpose, taken in campaign.state.calls.totals():
        for sums in (total, operators[operator], models[model], purposes[purpose]):
            sums.add(taken)
    return Costs(_line_of("all", total), _lines(operators), _lines(models), _lines(purposes))


def _lines(sums: Mapping[str, CallTotals]) -> tuple[CostLine, ...]:
    """Returns the sums, the most expensive first."""
    lines = [_line_of(name, taken) for name, taken in sums.items()]
    return tuple(sorted(lines, key=lambda line: (-line.money, -line.tokens, line.name)))
