"""What the calls of models have cost: by operator, model and purpose, on the way to the best program, and per improvement.

Invariant: every figure is a sum over the log's `Replied` events, which are read once; failed calls are among them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from evolve.campaign import Campaign
from evolve.campaign.failures import has_failed
from evolve.report.records import lineage
from evolve.types import Asked, Call, Propose, Replied


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
class Improvements:
    """How often a proposal that a model wrote was better than everything before it when it was first judged (constraints come first; what is
    quarantined does not count), and by how much together, in the fitness's unit. Luck counts, too, where the task is noisy. `tokens` and
    `money` are those of all calls of the campaign, the fruitless ones included, for each of these; None where there was none."""

    count: int
    gained: float
    tokens: float | None
    money: float | None


@dataclass(frozen=True, slots=True)
class Costs:
    """What calls have cost. An operator's are all calls of its steps; those before any step have the name "". `lineage` is what the steps
    have cost that led from the seed to the best program, along first parents; None where there is no best."""

    total: CostLine
    operators: tuple[CostLine, ...]
    models: tuple[CostLine, ...]
    purposes: tuple[CostLine, ...]
    lineage: CostLine | None
    improvements: Improvements


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0
    seconds: float = 0.0
    exact: int = 0

    def add(self, call: Call, *, failed: bool) -> None:
        self.calls += 1
        self.failed += failed
        self.prompt_tokens += call.prompt_tokens
        self.completion_tokens += call.completion_tokens
        self.cached_tokens += call.cached_tokens
        self.money += call.cost
        self.gpu_seconds += call.gpu_seconds
        self.seconds += call.seconds
        self.exact += call.exact

    def line(self, name: str) -> CostLine:
        return CostLine(
            name,
            self.calls,
            self.failed,
            self.prompt_tokens,
            self.completion_tokens,
            self.cached_tokens,
            self.money,
            self.gpu_seconds,
            self.seconds,
            self.exact / self.calls if self.calls else 0.0,
        )


_Sums = defaultdict[str, _Sum]


@dataclass(slots=True)
class _Account:
    """The sums while the log is read."""

    total: _Sum = field(default_factory=_Sum)
    lineage: _Sum = field(default_factory=_Sum)
    operators: _Sums = field(default_factory=lambda: defaultdict(_Sum))
    models: _Sums = field(default_factory=lambda: defaultdict(_Sum))
    purposes: _Sums = field(default_factory=lambda: defaultdict(_Sum))

    def add(self, event: Replied, operator: str, *, ancestor: bool) -> None:
        call, failed = event.call, has_failed(event)
        for one in (self.total, self.operators[operator], self.models[call.model], self.purposes[call.purpose]):
            one.add(call, failed=failed)
        if ancestor:
            self.lineage.add(call, failed=failed)


def costs(campaign: Campaign) -> Costs | None:
    """What a campaign's calls have cost; None where there was none."""
    if not campaign.state.progress.calls:
        return None
    operators, ancestors, account = _operators(campaign), _steps_to_best(campaign), _Account()
    for stamped in campaign.log.events(only=Replied):
        if stamped.number > campaign.events:
            break
        assert isinstance(stamped.event, Replied), "only such events were asked for"
        step = stamped.event.step
        account.add(stamped.event, operators.get(step, ""), ancestor=step in (ancestors or ()))
    total = account.total.line("all")
    return Costs(
        total,
        _lines(account.operators),
        _lines(account.models),
        _lines(account.purposes),
        None if ancestors is None else account.lineage.line("lineage"),
        _improvements(campaign, total),
    )


def _lines(sums: Mapping[str, _Sum]) -> tuple[CostLine, ...]:
    """The dearest first."""
    lines = [one.line(name) for name, one in sums.items()]
    return tuple(sorted(lines, key=lambda line: (-line.money, -line.tokens, line.name)))


def _operators(campaign: Campaign) -> dict[int, str]:
    """The operator of each step."""
    found: dict[int, str] = {}
    for stamped in campaign.log.events(only=Asked):
        assert isinstance(stamped.event, Asked), "only such events were asked for"
        if isinstance(stamped.event.action, Propose):
            found[stamped.event.step] = stamped.event.action.selection.operator
    return found


def _steps_to_best(campaign: Campaign) -> set[int] | None:
    """The steps of the best program and of its line of first parents; the seed's is none, before which models are checked."""
    best = campaign.state.archive.best
    if best is None:
        return None
    line = lineage(campaign, best.record)
    return {campaign.log.settled(ancestor.record).record.origin.step for ancestor in line} - {0}


def _improvements(campaign: Campaign, total: CostLine) -> Improvements:
    history, state = campaign.state.history, campaign.state
    count, gained = 0, 0.0
    best: tuple[float, float] | None = None
    for record in range(1, len(history) + 1):
        if record == state.columns.since + 1:
            best = None
        fitness = history.fitness(record)
        if fitness is None or history.program_id(record) in state.quarantined:
            continue
        worth = (-history.violation(record), fitness)
        if best is not None and worth <= best:
            continue
        if history.model(record):
            count += 1
            gained += fitness - best[1] if best is not None and best[0] == worth[0] else 0.0
        best = worth
    per = (total.tokens / count, total.money / count) if count else (None, None)
    return Improvements(count, gained, *per)
