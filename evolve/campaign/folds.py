"""Folds over a campaign's events, each of one matter: progress, calls of models, cases, refusals, isolation levels, and the choice of models.

Every fold depends on the events alone, so that a run that goes on decides as one that never stopped would."""

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, filterfalse

from numpy.random import Generator

from evolve.config import ModelsSection
from evolve.strategies.bandit import Bandit, draw
from evolve.types import (
    FROM_SCRATCH,
    NOBODYS_FAULT,
    REJUDGED,
    Asked,
    Call,
    Evaluation,
    Event,
    Level,
    Measure,
    Origin,
    Outcome,
    ProgramId,
    Progress,
    Propose,
    Record,
    RecordId,
    Replied,
    SandboxError,
    Task,
)

REFLECTION = "reflect"
"""The operator that writes lessons; the engine asks it, and no strategy does."""
HELD_OUT = "held out"
"""Why a held-out case is measured."""
TRIES = 3
"""Failures of the machinery after which a case is not tried again."""
NOTHING_NEW = 500
"""Refused proposals in a row after which an operator that was refused itself is asked no more."""
TIRED = 8
"""Refusals of one operator in a row from which on it is asked seldom; each so many more halve how often."""
_HOPELESS = 4 * TIRED
"""Refusals of one operator in a row after which other programs in the archive do not bring it another chance at once."""
_MOST_HALVINGS = 8


def add_call(progress: Progress, call: Call) -> Progress:
    """Returns the progress after one more call, answered or failed."""
    return replace(
        progress,
        calls=progress.calls + 1,
        tokens=progress.tokens + call.prompt_tokens + call.completion_tokens,
        money=progress.money + call.cost,
        gpu_seconds=progress.gpu_seconds + call.gpu_seconds,
    )


def is_note(origin: Origin) -> bool:
    """Reports whether a record is a note, and no screened proposal. Older logs have reflections as proposals."""
    return origin.kind == "note" or origin.operator == REFLECTION


def add_record(progress: Progress, record: Record, cases: int = 0) -> Progress:
    """Returns the progress after one more record, of a task with so many cases."""
    looked = count_cases(record.evaluation)
    evaluated = looked > 0
    stopped = record.evaluation.outcome is Outcome.BELOW_THRESHOLD and bool(record.evaluation.cases)
    seconds, kind = record.evaluation.seconds, record.origin.kind
    screened = record.evaluation.outcome is Outcome.SCREENED and not is_note(record.origin)
    rejudged = not screened and kind != "proposal" and record.origin.why == REJUDGED
    measured = kind == "measurement" and not (screened or rejudged)
    # A proposal that was screened, or that the machinery failed, was not evaluated and is no program of the budget.
    counts = kind == "proposal" and evaluated
    return replace(
        progress,
        records=progress.records + 1,
        screened=progress.screened + screened,
        programs=progress.programs + counts,
        rejudged=progress.rejudged + rejudged,
        measurements=progress.measurements + measured,
        judge_seconds=progress.judge_seconds + seconds,
        measure_seconds=progress.measure_seconds + (seconds if measured else 0.0),
        evaluations=progress.evaluations + evaluated,
        cases=progress.cases + looked,
        saved_cases=progress.saved_cases + (max(0, cases - looked) if stopped else 0),
    )


def add_preview(progress: Progress, evaluation: Evaluation) -> Progress:
    """Returns the progress after one more preview of an operator."""
    looked = count_cases(evaluation)
    return replace(
        progress,
        previews=progress.previews + 1,
        judge_seconds=progress.judge_seconds + evaluation.seconds,
        evaluations=progress.evaluations + (looked > 0),
        cases=progress.cases + looked,
    )


def count_cases(evaluation: Evaluation) -> int:
    """Returns how many cases were looked at, one where the task has none; 0 for what was not evaluated."""
    return 0 if evaluation.outcome in NOBODYS_FAULT else max(1, len(evaluation.cases))


@dataclass(frozen=True, slots=True)
class ModelFailures:
    """Calls of a model for whatever purpose, and how many of them failed; `error` is the reason of the last one. Those that were given up
    because the run ended have not failed."""

    model: str
    calls: int
    failed: int
    error: str


@dataclass(slots=True)
class CallTotals:
    """Sums over calls. `cached_tokens` are among the `prompt_tokens`; `exact` counts the calls whose tokens the server has counted; those
    that were given up when a run ended have not `failed`; `seconds` are those of all calls one after another; `money` is in US dollars."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0
    seconds: float = 0.0
    exact: int = 0

    def add(self, other: "CallTotals") -> None:
        """Adds the totals of more calls."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class CallColumns:
    """One value for each call, in the order of the calls, by which a page of them is chosen before any is read."""

    def __init__(self) -> None:
        self.steps = array("q")
        self.operators: list[str] = []
        self.purposes: list[str] = []
        """One text for each name, however many calls have it."""
        self.failed = bytearray()
        self.retried = bytearray()
        """1 for a call of which a request failed and was made again."""

    def append(self, event: Replied, operator: str) -> None:
        """Adds the next call."""
        self.steps.append(event.step)
        self.operators.append(operator)
        self.purposes.append(sys.intern(event.call.purpose))
        self.failed.append(has_failed(event))
        self.retried.append(bool(event.call.retries) or event.call.attempts > 1)


def has_failed(event: Replied) -> bool:
    """Returns whether a call failed. One that was given up when a run ended has a negative index: it has neither been answered nor failed."""
    return event.index >= 0 and bool(event.call.error)


class Calls:
    """Fold over a campaign's calls. Calls before any step have the operator "" and step 0."""

    def __init__(self) -> None:
        self.columns = CallColumns()
        self._samples: dict[str, set[int]] = defaultdict(set)
        self.retries: dict[str, Counter[str]] = {}
        """Requests that failed, by the names of their models and their causes; most were made again."""
        self._totals: dict[tuple[str, str, str], CallTotals] = defaultdict(CallTotals)
        self._steps: dict[int, CallTotals] = defaultdict(CallTotals)
        self._operators: dict[int, str] = {}
        self._errors: dict[str, str] = {}

    def begin(self, event: Asked) -> None:
        """Notes the operator of a step."""
        if isinstance(event.action, Propose):
            self._operators[event.step] = event.action.selection.operator

    def end(self, step: int) -> None:
        """Forgets the operator of a step, of which no more calls come."""
        self._operators.pop(step, None)

    def add(self, event: Replied) -> None:
        """Counts a call."""
        call = event.call
        self._samples[call.request].add(call.sample)
        failed, operator = has_failed(event), self._operators.get(event.step, "")
        self.columns.append(event, operator)
        if failed:
            self._errors[call.model] = call.error
        if event.index >= 0 and call.retries:
            self.retries.setdefault(call.model, Counter()).update(call.retries)
        one = CallTotals(
            1,
            failed,
            call.prompt_tokens,
            call.completion_tokens,
            call.cached_tokens,
            call.cost,
            call.gpu_seconds,
            call.seconds,
            call.exact,
        )
        self._totals[operator, call.model, call.purpose].add(one)
        self._steps[event.step].add(one)

    def free_samples(self, request: str) -> Iterator[int]:
        """Yields the numbers that no call of a request has, by its digest, the smallest first. Any thread, while no call of it arrives."""
        # A number whose run ended before its call is used again: numbers without a gap make two runs ask alike.
        return filterfalse(frozenset(self._samples.get(request, ())).__contains__, count())

    def of_steps(self, steps: Iterable[int]) -> CallTotals:
        """Returns the totals of the calls of these steps together."""
        total = CallTotals()
        for step in steps:
            total.add(self._steps.get(step, CallTotals()))
        return total

    def totals(self) -> Iterator[tuple[str, str, str, CallTotals]]:
        """Yields operator, model, purpose, and the totals of the calls with these."""
        for (operator, model, purpose), totals in self._totals.items():
            yield operator, model, purpose, totals

    def failures(self) -> tuple[ModelFailures, ...]:
        """Returns a line per model that failed, the one that failed most often first."""
        models: dict[str, CallTotals] = defaultdict(CallTotals)
        for _, model, _, totals in self.totals():
            models[model].add(totals)
        lines = [
            ModelFailures(name, models[name].calls, models[name].failed, self._errors[name]) for name in self._errors
        ]
        return tuple(sorted(lines, key=lambda line: -line.failed))

    @property
    def failed(self) -> int:
        """Failed calls of all models."""
        return sum(totals.failed for totals in self._totals.values())

    @property
    def failed_requests(self) -> int:
        """Requests that failed, of all models."""
        return sum(causes.total() for causes in self.retries.values())


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Fitness of a program on a case, larger is better; None where it failed. `seed` is the same of the seed program, None too while
    that is not known; `agrees`: the program meets the task's constraints there, and is no worse than the seed."""

    case: str
    record: RecordId
    outcome: Outcome
    fitness: float | None
    seed: float | None
    agrees: bool


class Cases:
    """The fold of all measurements on cases. `wanted` are those that each new best is measured on."""

    def __init__(self, task: Task, *, carries: bool) -> None:
        self.held_out = tuple(case.name for case in task.held_out) if task.promotion == "held_out" else ()
        self.wanted = (*self.held_out, *([FROM_SCRATCH] if carries else ()))
        self._seed = task.seed.id
        self._found: dict[tuple[ProgramId, str], Record] = {}
        self._failures: Counter[tuple[ProgramId, str]] = Counter()
        self._elsewhere: dict[str, dict[tuple[ProgramId, str], Record]] = {}
        """Results on other hardware classes."""

    def move(self, former: str, hardware: str) -> None:
        """Makes the results on `hardware` count, where scores depend on it: a program and the seed are compared on one machine."""
        self._elsewhere[former] = self._found
        self._found = self._elsewhere.pop(hardware, {})

    def settle(self, record: Record) -> None:
        """Takes a settled measurement on a case."""
        if record.program is None:
            return
        key = (record.program, record.origin.case)
        # The machinery failed, not the program: it is tried again.
        if record.evaluation.outcome is Outcome.INTERNAL:
            self._failures[key] += 1
        else:
            self._found[key] = record

    def due(
        self, best: ProgramId, record: RecordId, under_way: Collection[Measure], *, seed: RecordId
    ) -> Measure | None:
        """Returns the next measurement before the best may be promoted: the seed (of record `seed`) first, then the best, each case once. The
        seed has no parent that left anything."""
        pending = {(measure.program, measure.case) for measure in under_way if measure.case}
        wanted = [(self._seed, seed, case) for case in self.held_out]
        wanted += [(best, record, case) for case in self.wanted] if best != self._seed else []
        for program, about, case in wanted:
            key = (program, case)
            if key not in self._found and key not in pending and self._failures[key] < TRIES:
                return Measure(about, program, why=case if case == FROM_SCRATCH else HELD_OUT, case=case)
        return None

    def results(self, program: ProgramId) -> Sequence[CaseResult]:
        """Returns the results of a program, in the order of the task's cases."""
        found = [self._found.get((program, case)) for case in self.wanted]
        return [self._result(record) for record in found if record is not None]

    def _result(self, record: Record) -> CaseResult:
        case, fitness = record.origin.case, record.evaluation.fitness
        base = self._found.get((self._seed, case))
        seed = None if base is None else base.evaluation.fitness
        passed = fitness is not None and (seed is None or fitness >= seed)
        agrees = passed and record.evaluation.violation == 0.0
        return CaseResult(case, record.id, record.evaluation.outcome, fitness, seed, agrees)

    def agree(self, program: ProgramId) -> bool:
        """Returns whether all held-out cases of a program are known, and on none it is worse than the seed."""
        agreeing = {result.case for result in self.results(program) if result.agrees}
        known = {case for case in self.held_out if (self._seed, case) in self._found}
        return bool(self.held_out) and known & agreeing == set(self.held_out)


@dataclass(slots=True)
class Refused:
    """An operator that was refused `count` times in a row, for the last time because of the text `why`; `step` asked it last, 0: none since the archive has changed."""

    count: int = 0
    step: int = 0
    why: str = ""


class Refusals:
    """Proposals in a row that were refused before they were evaluated. Of an operator those count that called no model: what a model is asked for it
    pays, and its next answer may be another one."""

    def __init__(self) -> None:
        self._operators: dict[str, Refused] = {}
        self.unheard = 0
        """Refusals in a row, of all operators, for which no model was called."""
        self.heard = 0
        """Refusals in a row, of all operators, for which a model was called."""
        self.why = ""
        """The text that says why the last proposal was refused."""

    def ask(self, operator: str, step: int) -> None:
        """Notes that a step asks an operator."""
        if operator in self._operators:
            self._operators[operator].step = step

    def settle(self, record: Record, *, called: bool) -> None:
        """Takes a proposal that has settled, and whether its step `called` a model."""
        operator, screened = record.origin.operator, record.evaluation.outcome is Outcome.SCREENED
        if screened:
            self.why = record.evaluation.feedback
        else:
            self.unheard = self.heard = 0
        if called or not screened:
            self._operators.pop(operator, None)
            self.heard += screened
            return
        self.unheard += 1
        refused = self._operators.setdefault(operator, Refused(step=record.origin.step))
        refused.count, refused.why = refused.count + 1, self.why

    def renew(self) -> None:
        """Lets each operator be asked once more at once, for the archive has changed, unless it was refused too often."""
        # In a campaign that improves all the time an operator without work would be asked all the time.
        for refused in self._operators.values():
            if refused.count < _HOPELESS or self.unheard >= NOTHING_NEW:
                refused.step = 0

    def list_tired(self) -> dict[str, str]:
        """Returns the operators that are asked seldom, each with the text that says why."""
        return {name: refused.why for name, refused in self._operators.items() if refused.count >= TIRED}

    def rests(self, operator: str, step: int) -> bool:
        """Returns whether an operator is not asked by this step."""
        refused = self._operators.get(operator)
        if refused is None or refused.count < TIRED or not refused.step:
            return False
        # Each eight further refusals halve how often it is asked, so that it costs the log ever less.
        return self.unheard >= NOTHING_NEW or step - refused.step < 2 ** min(refused.count // TIRED, _MOST_HALVINGS)


class LevelsReached:
    """The levels of a campaign's runs; the first `inherited` machines are those of the campaign that it was forked from."""

    def __init__(self, inherited: int = 0) -> None:
        self.best: Level | None = None
        """The best one that any of its records may have; None before the first run, and where none is known."""
        self.least: Level | None = None
        """The level that its own runs have reached, and that every further one must reach."""
        self._inherited = inherited

    def add(self, isolation: str) -> None:
        """Takes the line of isolation of a run that begins."""
        level = Level.of(isolation)
        own, self._inherited = self._inherited == 0, max(0, self._inherited - 1)
        if level is None:
            return
        self.best = _better(self.best, level)
        if own:
            self.least = _better(self.least, level)

    def weaker(self, isolation: str) -> bool:
        """Returns whether a record with this line was evaluated under a weaker level than the campaign's best."""
        level = Level.of(isolation)
        return level is not None and self.best is not None and not level.reaches(self.best)

    def check(self, name: str, now: Level, why: str = "") -> None:
        """Raises `SandboxError` where `now` is less than what campaign `name` was evaluated at; `why` says what keeps it there."""
        if self.least is None or now.reaches(self.least):
            return
        reason = f" ({why})" if why else ""
        raise SandboxError(
            f"campaign {name!r} was evaluated at the isolation level {str(self.least)!r}, and here it would go on at {str(now)!r}{reason}: its "
            f"scores would rest on less than they say. Try: go on where {str(self.least)!r} is reached (`evolve sandbox probe` tells what is "
            f"missing), or go on with a fork, whose weaker scores are marked: evolve campaign fork {name}"
        )


def _better(one: Level | None, other: Level) -> Level:
    return other if one is None or other.reaches(one) else one


class Ensemble:
    """The models of a campaign that propose. Main thread; only `tell` changes its state."""

    def __init__(self, settings: ModelsSection) -> None:
        names = settings.proposing
        self._weights = {member.name: member.weight for member in settings.members if member.name in names}
        learns = settings.choice == "bandit" and len(names) > 1
        self._bandit = (
            Bandit(names, settings.resource, settings.floor, arm_of="model", besides=(REFLECTION,)) if learns else None
        )

    def choose(self, rng: Generator, free: Sequence[str], answering: Sequence[str] = ()) -> str | None:
        """Draws one of the models that are free, of which there is at least one. It is drawn among all that are `answering`; in the place of one that is
        busy comes another, but none with less than half of an even share: a model that is always free because its answers are short and useless must not
        get all that the others have no time for. None where it is better to wait."""
        shares = self.shares(answering or free)
        found = draw(rng, shares)
        if found in free:
            return found
        # A model that is always free because its answers are short and useless must not get all that the others have no time for.
        good = [name for name in free if shares[name] >= 0.5 / len(shares)]
        return draw(rng, self.shares(good)) if good else None

    def shares(self, among: Sequence[str] | None = None) -> dict[str, float]:
        """Returns the probability of each model, of these or of all; they sum to 1."""
        if self._bandit is not None:
            return self._bandit.shares(among)
        weights = {name: weight for name, weight in self._weights.items() if among is None or name in among}
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}

    def tell(self, event: Event) -> None:
        """Folds one event."""
        if self._bandit is not None:
            self._bandit.tell(event)
