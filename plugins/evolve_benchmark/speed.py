"""The mode `speed`: how many times as fast as the task's seed a function is, on inputs that are fresh for every pair of calls.

A round is two pairs for each instance of a drawing, one with the candidate first and one with the anchor first; a race of rounds decides how many there are (see `evolve.statistics`). Every few rounds both programs get a
new process, since a process keeps its luck with memory for its life. The anchor is the task's seed, never another program; each answer is checked, after it was given, and none is left out.

A call is timed from when its arguments are sent until its whole answer is there, and what a program's process works outside of its calls, beyond what the anchor's does, is added to its time; so nothing is
gained by work that is put off until the answer is handed over, or left to a thread."""

import math
import pickle
import statistics
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

from numpy.random import Generator

from evolve import Evaluation, Timed
from evolve.statistics import Interval, Race, combine, median_interval
from evolve.types import TaskError
from evolve_benchmark.problem import INSTANCES, ORDER, ROWS, Arguments, EvaluationContext, Instance, RefusedAnswer
from evolve_benchmark.sharing import SharedSession

PAIRS_OF_PROCESS = 4
"""Pairs that a process serves before both programs get a new one."""
Sessions: TypeAlias = tuple[Any, Any]
"""Timed sessions of the candidate and of the anchor."""
SLACK, SHARE = 5e-5, 0.1
"""Seconds, and the part of the anchor's own, by which two processes that do the same differ outside of a call."""
SHORTEST_LIMIT, TIMES = 10.0, 100.0
"""Seconds of wall time that a call may always take, and how many times as long as the anchor's slowest: beyond both it is ended."""
LEAST = 1e-7
"""Seconds: less is no time that was measured."""
TimingRow: TypeAlias = dict[str, str | float | bool]
_CLOCKS = {"cpu": "processor time", "wall": "wall time"}
_VERDICTS = {
    "better": "It is faster than the seed.",
    "worse": "It is slower than the seed.",
    "equal": "It is as fast as the seed: what difference there may be does not matter.",
    "open": "Whether it is faster than the seed was not decided by so many pairs.",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One instance, given to both. Times in seconds: `seconds` has what was `moved` out of the call, `anchor` is the anchor's. `given` is the module's instance, `answer` the candidate's."""

    kind: str
    label: str
    given: Any
    answer: Any
    seconds: float
    anchor: float
    moved: float

    @property
    def log_ratio(self) -> float:
        """Logarithm of the speed-up: 0 is as fast as the anchor, ln 2 is twice as fast."""
        return math.log(self.anchor / self.seconds)


@dataclass(frozen=True, slots=True)
class BalancedPairs:
    """Two pairs of one kind, one right after the other: the candidate first in the one, the anchor first in the other. Whoever comes second finds the caches warm, and is some percent faster for it;
    that cancels here and nowhere else."""

    pairs: tuple[Pair, Pair]

    @property
    def kind(self) -> str:
        """Kind of both instances."""
        return self.pairs[0].kind

    @property
    def log_ratio(self) -> float:
        """Mean of both log ratios."""
        return (self.pairs[0].log_ratio + self.pairs[1].log_ratio) / 2


def measure_speed(context: EvaluationContext) -> Evaluation:
    """Times a program beside the seed; raises `RefusedAnswer`, and `SessionFailed` of the program."""
    settings = context.settings
    race = Race(settings.pairs_first // 2, settings.pairs_most // 2, floor=settings.floor)
    run = _SpeedRun(context, race, context.stream(INSTANCES), context.stream(ORDER))
    anchor = context.candidate.beside(context.task.seed)
    while race.wanted:
        with context.candidate.session(timed=True) as mine, anchor.session(timed=True) as theirs:
            if not settings.shared:
                run.measure((mine, theirs))
                continue
            with closing(SharedSession(mine)) as my_shared, closing(SharedSession(theirs)) as their_shared:
                run.measure((my_shared, their_shared))
    return _summarise(run)


@dataclass(slots=True)
class _SpeedRun:
    """Measurements so far: `rounds` has the log ratio of each round, a list for each process; `openings` what later processes are asked again, with the answers of the first; `slowest` the anchor's longest wall time."""

    context: EvaluationContext
    race: Race
    instances: Generator
    order: Generator
    pairs: list[BalancedPairs] = field(default_factory=list)
    rounds: list[list[float]] = field(default_factory=list)
    openings: list[tuple[Instance, Any]] = field(default_factory=list)
    kinds: Sequence[str] = ()
    seen: set[bytes] = field(default_factory=set)
    slowest: float = 0.0

    def measure(self, sessions: Sessions) -> None:
        """Measures some rounds in a new process of each program."""
        self.rounds.append([])
        self._open(sessions)
        while self.race.wanted and 2 * len(self.rounds[-1]) < PAIRS_OF_PROCESS:
            self._measure_round(sessions)

    def _open(self, sessions: Sessions) -> None:
        """Makes one call for each kind that does not count, since it imports the program and touches memory for the first time. In later processes some of these
        questions are those of the first one: equal questions, equal answers."""
        again = self.openings[: self.context.settings.recall]
        for instance, before in again:
            mine, _ = self._ask(sessions, instance)
            if not self.context.problem.agree(instance, before, mine.value):
                why = f"{self.context.settings.function}() gave two answers to one question. Equal questions must get equal answers"
                raise RefusedAnswer(Evaluation.wrong(why, tag="two answers to one question"))
        known = {instance.kind for instance, _ in again}
        # The first of each kind: later ones of a kind are overwritten by earlier ones.
        firsts = {one.kind: one for one in reversed(self._draw()) if one.kind not in known}
        found = [(instance, self._ask(sessions, instance)[0].value) for instance in firsts.values()]
        self.openings = self.openings or found

    def _measure_round(self, sessions: Sessions) -> None:
        """Measures two pairs for each instance of new drawings, in an order of the evaluator's; who is first in the first of the two changes from one to the next."""
        ones, others = self._draw(), self._draw()
        number, found = len(self.race.values), list[BalancedPairs]()
        for place in self.order.permutation(len(ones)).tolist():
            first = (number + place) % 2 == 0
            one = self._measure_pair(sessions, ones[place], anchor_first=first)
            found.append(BalancedPairs((one, self._measure_pair(sessions, others[place], anchor_first=not first))))
        self.pairs += found
        value = statistics.fmean(map(statistics.fmean, _by_kind(found).values()))
        self.rounds[-1].append(value)
        self.race.add(value)

    def _measure_pair(self, sessions: Sessions, instance: Instance, *, anchor_first: bool) -> Pair:
        mine, theirs = self._ask(sessions, instance, anchor_first=anchor_first)
        moved, label = self._moved_seconds(mine, theirs), self.context.problem.label(instance)
        seconds, anchor = self._seconds(mine) + moved, self._seconds(theirs)
        return Pair(instance.kind, label, instance.given, mine.value, seconds, anchor, moved)

    def _draw(self) -> list[Instance]:
        """Returns instances that no process has seen, of the same kinds each time; raises `TaskError`."""
        found = self.context.problem.instances(self.instances, self.context.trial.parameters)
        kinds = [one.kind for one in found]
        if self.kinds and kinds != self.kinds:
            raise TaskError(
                f"instances() gave instances of the kinds {', '.join(kinds)} after {', '.join(self.kinds)}. Try: give as many of the same kinds each time, and others"
            )
        self.kinds = kinds
        for instance in found:
            digest = blake2b(pickle.dumps(self.context.problem.arguments(instance)), digest_size=16).digest()
            if digest in self.seen:
                name = self.context.name(instance) or "of one kind"
                raise TaskError(
                    f"instances() gave the same instance twice ({name}), and a program that remembers it would pass for a fast one. Try: draw every instance from `rng`, from more than a few"
                )
            self.seen.add(digest)
        return found

    def _ask(self, sessions: Sessions, instance: Instance, *, anchor_first: bool = True) -> tuple[Timed, Timed]:
        """Returns both calls, each with an answer that is right; raises `RefusedAnswer`, and `TaskError` where the anchor's is not."""
        problem, shared = self.context.problem, self.context.settings.shared
        arguments = problem.shared_arguments(instance) if shared else problem.arguments(instance)
        mine, theirs = self._call_both(sessions, arguments, anchor_first=anchor_first)
        # Only now, when both have answered, does the evaluator compute what is right.
        if fault := self.context.fault(instance, mine.value):
            raise RefusedAnswer(Evaluation.invalid(fault))
        if fault := self.context.fault(instance, theirs.value):
            path = Path(self.context.task.folder) / self.context.settings.module
            raise TaskError(
                f"{path}: check() refuses an answer of the task's own seed: {fault}. Try: mend the seed, or check()"
            )
        return mine, theirs

    def _call_both(self, sessions: Sessions, arguments: Arguments, *, anchor_first: bool) -> tuple[Timed, Timed]:
        """Calls candidate and anchor once each; raises `SessionFailed` of the candidate, also where a call takes longer than any that is worth to wait for."""
        theirs = self._call_anchor(sessions[1], arguments) if anchor_first else None
        limit = max(SHORTEST_LIMIT, TIMES * self.slowest)
        mine: Timed = sessions[0].timed(self.context.settings.function, *arguments, seconds=limit)
        return mine, theirs or self._call_anchor(sessions[1], arguments)

    def _call_anchor(self, session: Any, arguments: Arguments) -> Timed:
        timed: Timed = session.timed(self.context.settings.function, *arguments)
        self.slowest = max(self.slowest, timed.wall)
        return timed

    def _seconds(self, call: Timed) -> float:
        return max(LEAST, call.cpu if self.context.settings.clock == "cpu" else call.wall)

    def _moved_seconds(self, mine: Timed, anchor: Timed) -> float:
        """Returns what was worked outside of the calls: processor time, or the wall time that it takes at least."""
        outside = mine.outside - anchor.outside - max(SLACK, SHARE * anchor.outside)
        threads = 1 if self.context.settings.clock == "cpu" else max(1, self.context.task.limits.grants.threads)
        return max(0.0, outside / threads)


def _by_kind(pairs: Sequence[BalancedPairs]) -> dict[str, list[float]]:
    kinds = dict.fromkeys(one.kind for one in pairs)
    return {kind: [one.log_ratio for one in pairs if one.kind == kind] for kind in kinds}


def _summarise(run: _SpeedRun) -> Evaluation:
    """Returns the speed-up with all that stands beside it."""
    context = run.context
    medians = {kind: statistics.median(ratios) for kind, ratios in _by_kind(run.pairs).items()}
    _check_possible(context.settings.at_most, max(medians.values()))
    # The median of a kind is not moved by the few calls that the machine has interrupted; the mean over kinds weighs all alike.
    fitness, spread = statistics.fmean(medians.values()), _spread(run.rounds)
    half = (spread.high - spread.low) / 2
    pairs, rows = [pair for one in run.pairs for pair in one.pairs], list_timings(run.pairs)
    seconds = math.fsum(pair.seconds for pair in pairs)
    metrics = {
        "speed_up": math.exp(fitness),
        "speed_up_low": math.exp(fitness - half),
        "speed_up_high": math.exp(fitness + half),
        "pairs": len(pairs),
        "processes": len(run.rounds),
        "seconds": seconds / len(pairs),
        "seed_seconds": math.fsum(pair.anchor for pair in pairs) / len(pairs),
        "moved": math.fsum(pair.moved for pair in pairs) / seconds,
    }
    head = (
        f"The program is {metrics['speed_up']:.4g} times as fast as the seed (95 %: {metrics['speed_up_low']:.4g} to {metrics['speed_up_high']:.4g}), by {_CLOCKS[context.settings.clock]}: "
        f"the geometric mean over {len(medians)} kinds of instances of the median of their pairs, each with one in the other order, in {len(run.race.values)} rounds and {len(run.rounds)} processes. "
        f"{_VERDICTS[run.race.verdict]} A change of less than {100 * math.expm1(half):.2g} % would be noise here. The slowest kinds are:"
    )
    return Evaluation.ok(
        fitness,
        objectives=context.problem.mean_objectives([(pair.given, pair.answer) for pair in pairs]),
        descriptors=context.descriptors(min(medians.values())),
        metrics={**metrics, **context.problem.numbers("metrics", pairs)},
        artifacts={"timings": rows},
        feedback=f"{head}\n\n{format_timings(rows)}",
        standard_error=spread.standard_error,
    )


def _check_possible(most: float | None, largest: float) -> None:
    if most is not None and largest > math.log(most):
        why = f"instances of one kind took {math.exp(-largest):.2g} of the seed's time, and nothing can be more than {most:g} times as fast"
        raise RefusedAnswer(Evaluation.wrong(why, tag="impossible time"))


def _spread(rounds: Sequence[Sequence[float]]) -> Interval:
    """Returns the interval of all rounds, whose processes may differ; a process of one round is counted with the one before."""
    groups = [list(values) for values in rounds]
    if len(groups[-1]) == 1:
        alone = groups.pop()
        groups[-1] += alone
    return combine([median_interval(values) for values in groups])


def list_timings(pairs: Sequence[BalancedPairs]) -> list[TimingRow]:
    """Returns a row for every kind and label (of the first of two), as an artifact: `score` is how many times as fast as the seed, `moved` the charged part of the seconds."""
    groups: dict[tuple[str, str], list[BalancedPairs]] = {}
    for one in pairs:
        groups.setdefault((one.kind, one.pairs[0].label), []).append(one)
    return [_list_timing(kind, label, found) for (kind, label), found in sorted(groups.items())]


def _list_timing(kind: str, label: str, group: Sequence[BalancedPairs]) -> TimingRow:
    ratios, pairs = [one.log_ratio for one in group], [pair for one in group for pair in one.pairs]
    middle = statistics.median(ratios)
    limits = median_interval(ratios) if len(ratios) > 1 else None
    return {
        "kind": kind,
        "label": label,
        "score": math.exp(middle),
        "low": math.exp(limits.low if limits else middle),
        "high": math.exp(limits.high if limits else middle),
        "seconds": statistics.median(pair.seconds for pair in pairs),
        "seed_seconds": statistics.median(pair.anchor for pair in pairs),
        "moved": statistics.median(pair.moved / pair.seconds for pair in pairs),
        "pairs": len(pairs),
        "late": False,
    }


def format_timings(rows: Sequence[TimingRow]) -> str:
    """Returns the rows in which the program gains least, as Markdown."""
    ordered = sorted(rows, key=lambda row: float(row["score"]))
    lines = [
        "| instances | times as fast | 95 % | seconds | the seed's | of it outside of the call | pairs |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in ordered[:ROWS]:
        name = " ".join(str(part) for part in (row["kind"], row["label"]) if part) or "all"
        interval = f"{row['low']:.3g} to {row['high']:.3g}" if float(row["pairs"]) > 2 else "two pairs"
        lines.append(
            f"| {name} | {row['score']:.4g} | {interval} | {row['seconds']:.3g} | {row['seed_seconds']:.3g} | {100 * float(row['moved']):.2g} % | {row['pairs']} |"
        )
    if (left := len(ordered) - ROWS) > 0:
        lines.append(f"\nAnd {left} more, in each of which it gains more.")
    return "\n".join(lines)
