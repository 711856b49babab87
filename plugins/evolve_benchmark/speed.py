"""The mode `speed`: how many times as fast as the task's seed a function is, on inputs that are fresh for every pair of calls.

A round is two pairs for each instance of a drawing, one with the candidate first and one with the anchor first; a race of rounds decides how many there are (see `evolve.statistics`). Every few rounds both programs get a
new process, since a process keeps its luck with memory for its life. Invariant: the anchor is the task's seed, never another program; each answer is checked, after it was given, and
none is left out."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.random import Generator

from evolve import Candidate, Evaluation
from evolve.statistics import Interval, Race, combine, median_interval
from evolve.types import TaskError
from evolve_benchmark.hottest import profile
from evolve_benchmark.judging import INSTANCES, ORDER, Judging, Refused
from evolve_benchmark.pairs import Asking, Double, Fresh, Meter, Pair, Session
from evolve_benchmark.problem import Instance
from evolve_benchmark.timings import Told, rows, table, told


@dataclass(slots=True)
class _Course:
    """How far a judging is: `rounds` has the log ratio of each round, a list for each process; `openings` what later processes are asked again, with the answers of the first."""

    instances: Generator
    order: Generator
    race: Race
    fresh: Fresh = field(default_factory=Fresh)
    doubles: list[Double] = field(default_factory=list)
    rounds: list[list[float]] = field(default_factory=list)
    openings: list[tuple[Instance, Any]] = field(default_factory=list)
    kinds: Sequence[str] = ()


class Speed:
    """One judging."""

    def __init__(self, about: Judging) -> None:
        self._about = about
        self._settings = about.settings
        self._asking = Asking(about.settings.function)
        self._meter = Meter(about.settings.clock, max(1, about.task.limits.grants.threads))

    def evaluation(self) -> Evaluation:
        """Times, and tells; raises `Refused`, and `SessionFailed` of the program."""
        chosen, about = self._settings, self._about
        race = Race(chosen.pairs_first // 2, chosen.pairs_most // 2, floor=chosen.floor)
        course = _Course(about.stream(INSTANCES), about.stream(ORDER), race)
        anchor = about.candidate.beside(about.task.seed)
        while race.wanted:
            self._process(course, about.candidate, anchor)
        found = self._told(course)
        hottest = profile(about, statistics.fmean(pair.seconds for one in course.doubles for pair in one.pairs))
        return replace(found, feedback=f"{found.feedback}\n\n{hottest}".rstrip())

    def _process(self, course: _Course, candidate: Candidate, anchor: Candidate) -> None:
        """Some rounds in a new process of each."""
        course.rounds.append([])
        with candidate.session(timed=True) as mine, anchor.session(timed=True) as theirs:
            sessions = (mine, theirs)
            self._open(course, sessions)
            while course.race.wanted and 2 * len(course.rounds[-1]) < self._settings.pairs_of_process:
                self._round(course, sessions)

    def _open(self, course: _Course, sessions: tuple[Session, Session]) -> None:
        """One call for each kind that does not count, since it imports the program and touches memory for the first time. In later processes some of these
        questions are those of the first one: equal questions, equal answers."""
        again = course.openings[: self._settings.recall]
        for instance, before in again:
            mine, _ = self._asked(sessions, instance)
            if not self._about.problem.agree(instance, before, mine.value):
                said = f"{self._settings.function}() gave two answers to one question. Equal questions must get equal answers"
                raise Refused(Evaluation.wrong(said, tag="two answers to one question"))
        known = {instance.kind for instance, _ in again}
        firsts = {one.kind: one for one in reversed(self._drawn(course)) if one.kind not in known}
        found = [(instance, self._asked(sessions, instance)[0].value) for instance in firsts.values()]
        course.openings = course.openings or found

    def _round(self, course: _Course, sessions: tuple[Session, Session]) -> None:
        """Two pairs for each instance of new drawings, in an order of the judge's; who is first in the first of the two changes from one to the next."""
        ones, others = self._drawn(course), self._drawn(course)
        number, found = len(course.race.values), list[Double]()
        for place in course.order.permutation(len(ones)).tolist():
            first = (number + place) % 2 == 0
            one = self._paired(sessions, ones[place], anchor_first=first)
            found.append(Double((one, self._paired(sessions, others[place], anchor_first=not first))))
        course.doubles += found
        value = statistics.fmean(map(statistics.fmean, _by_kind(found).values()))
        course.rounds[-1].append(value)
        course.race.add(value)

    def _paired(self, sessions: tuple[Session, Session], instance: Instance, *, anchor_first: bool) -> Pair:
        """One pair that counts."""
        mine, theirs = self._asked(sessions, instance, anchor_first=anchor_first)
        moved, label = self._meter.moved(mine, theirs), self._about.problem.label(instance)
        seconds, anchor = self._meter.seconds(mine) + moved, self._meter.seconds(theirs)
        return Pair(instance.kind, label, instance.given, mine.value, seconds, anchor, moved)

    def _drawn(self, course: _Course) -> list[Instance]:
        """Instances that no process has seen, of the same kinds each time; raises `TaskError`."""
        drawn = self._about.problem.instances(course.instances, self._about.trial.parameters)
        kinds = [one.kind for one in drawn]
        if course.kinds and kinds != course.kinds:
            raise TaskError(
                f"instances() gave instances of the kinds {', '.join(kinds)} after {', '.join(course.kinds)}. Do: give as many of the same kinds each time, and others"
            )
        course.kinds = kinds
        for instance in drawn:
            course.fresh.check(self._about.problem.arguments(instance), self._about.name(instance))
        return drawn

    def _asked(self, sessions: tuple[Session, Session], instance: Instance, *, anchor_first: bool = True) -> Any:
        """What both took, each with an answer that is right; raises `Refused`, and `TaskError` where the anchor's is not."""
        arguments = self._about.problem.arguments(instance)
        mine, theirs = self._asking.both(sessions, arguments, anchor_first=anchor_first)
        # Only now, when both have answered, does the judge compute what is right.
        if fault := self._about.fault(instance, mine.value):
            raise Refused(Evaluation.invalid(fault))
        if fault := self._about.fault(instance, theirs.value):
            path = Path(self._about.task.folder) / self._settings.module
            raise TaskError(
                f"{path}: check() refuses an answer of the task's own seed: {fault}. Do: mend the seed, or check()"
            )
        return mine, theirs

    def _told(self, course: _Course) -> Evaluation:
        """The speed-up with all that stands beside it."""
        about, problem = self._about, self._about.problem
        medians = {kind: statistics.median(ratios) for kind, ratios in _by_kind(course.doubles).items()}
        self._check_possible(medians)
        fitness = statistics.fmean(medians.values())
        pairs = [pair for one in course.doubles for pair in one.pairs]
        spread = _error(course.rounds)
        half = (spread.high - spread.low) / 2
        how = Told(
            fitness,
            half,
            len(course.race.values),
            len(course.rounds),
            len(medians),
            self._settings.clock,
            course.race.verdict,
        )
        return Evaluation.ok(
            fitness,
            objectives=_objectives(about, pairs),
            descriptors=about.descriptors(min(medians.values())),
            metrics={**how.metrics(pairs), **problem.numbers("metrics", pairs)},
            artifacts={"timings": rows(course.doubles)},
            feedback=f"{told(how)}\n\n{table(rows(course.doubles), self._settings.rows)}",
            standard_error=spread.standard_error,
        )

    def _check_possible(self, medians: dict[str, float]) -> None:
        most = self._settings.at_most
        if most is not None and max(medians.values()) > math.log(most):
            said = f"instances of one kind took {math.exp(-max(medians.values())):.2g} of the seed's time, and nothing can be more than {most:g} times as fast"
            raise Refused(Evaluation.wrong(said, tag="impossible time"))


def _by_kind(doubles: Sequence[Double]) -> dict[str, list[float]]:
    return {
        kind: [one.log_ratio for one in doubles if one.kind == kind]
        for kind in dict.fromkeys(one.kind for one in doubles)
    }


def _error(rounds: Sequence[Sequence[float]]) -> Interval:
    """That of what all rounds say, which processes may say differently; a process of one round is counted with the one before."""
    return combine([median_interval(values) for values in _grouped(rounds)])


def _grouped(rounds: Sequence[Sequence[float]]) -> list[list[float]]:
    """Each process's; only the last may have served one round alone."""
    groups = [list(values) for values in rounds]
    if len(groups[-1]) == 1:
        alone = groups.pop()
        groups[-1] += alone
    return groups


def _objectives(about: Judging, pairs: Sequence[Pair]) -> dict[str, float]:
    """Each objective as its mean over all pairs."""
    each = [about.problem.numbers("objectives", pair.given, pair.answer) for pair in pairs]
    return {name: math.fsum(float(one[name]) for one in each) / len(each) for name in each[0]}
