"""Rounds of pairs: candidate and anchor on the same inputs, right after each other, until the race decides.

Every answer of the candidate is checked, of warm-up calls too, by an oracle that is asked afterwards; a round has two pairs of every shape, one in each order, so that each weighs the same and the order cancels.

An output is right where its distance from the answer is *not above* the tolerance, so that NaN is never right; a message about a wrong one shows no input, and no answer but one."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve import Candidate
from evolve.statistics import Interval, Race, combine, median_interval
from evolve.types import TaskError
from evolve_kernel.backend import POISONS, Backend, Built, Called, Question, Side, count_bytes, segment_for
from evolve_kernel.problem import Arrays, KernelProblem, Shape, shape_name
from evolve_kernel.settings import KernelSettings

PROCESS_ROUNDS = 2
"""Rounds of a process; then both programs get new ones."""
IMPLAUSIBLE = 0.9
"""A time below this share of the least that is possible is none."""


class Wrong(Exception):
    """An answer that is none: the text says where."""


class Broken(Exception):
    """A failure of integrity: the text is the tag."""


@dataclass(slots=True)
class Timings:
    """Seconds of both on one shape, pair after pair; `least` is what is physically possible."""

    shape: Shape
    least: float
    mine: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """ln(anchor / candidate) of each pair."""
        return [math.log(theirs / mine) for mine, theirs in zip(self.mine, self.theirs, strict=True)]


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of all rounds: `processes` holds the rounds' values, of one pair of processes after the other; `distance` how far from the answers the candidate's were at most, relative, and None where no output has a tolerance."""

    timings: tuple[Timings, ...]
    processes: tuple[tuple[float, ...], ...]
    distance: float | None = None

    @property
    def values(self) -> list[float]:
        """Values of all rounds."""
        return [value for values in self.processes for value in values]

    @property
    def interval(self) -> Interval:
        """The median, with an error that knows that the rounds of a process share its luck."""
        whole = median_interval(self.values)
        shares = [median_interval(values) for values in self.processes if len(values) > 1]
        if len(shares) < 2:
            return whole
        shared = combine(shares, whole.level)
        half = (shared.high - shared.low) / 2
        low, high = min(whole.low, whole.estimate - half), max(whole.high, whole.estimate + half)
        return Interval(
            whole.estimate, low, high, whole.count, max(whole.standard_error, shared.standard_error), whole.level
        )


class Rounds:
    """The measuring of one candidate on a set of shapes."""

    def __init__(
        self, problem: KernelProblem, settings: KernelSettings, shapes: Sequence[Shape], rng: Generator
    ) -> None:
        self._problem = problem
        self._settings = settings
        self._rng = rng
        self._shapes = shapes
        self._regimes: Iterator[str] = self._dealt()
        self._largest = max(map(problem.arguments, shapes), key=count_bytes)
        self._shortest = 0.0
        self._distances: list[float] = []

    def measure(self, backend: Backend, mine: Built, anchor: Built, *, race: bool) -> Measured:
        """Rounds until the race is decided, or all of them; raises `Wrong`, `Broken`, and `SessionFailed` of the candidate."""
        self._shortest = backend.shortest
        timings = [
            Timings(shape, backend.least_seconds(anchor.candidate, *self._problem.work(shape)))
            for shape in self._shapes
        ]
        running = Race(
            self._settings.first if race else self._settings.rounds, self._settings.rounds, floor=self._settings.floor
        )
        processes: list[tuple[float, ...]] = []
        while running.wanted:
            count = min(running.wanted, PROCESS_ROUNDS)
            # New processes now and then: a process keeps its luck with memory for its life.
            with (
                segment_for(self._largest) as segment,
                backend.open_side(mine, segment) as one,
                backend.open_side(anchor, segment) as other,
            ):
                values = self._process((one, other), timings, count)
            processes.append(values)
            for value in values:
                running.add(value)
        self._check_times(timings, backend, anchor.candidate)
        return Measured(tuple(timings), tuple(processes), max(self._distances, default=None))

    def _process(self, sides: tuple[Side, Side], timings: Sequence[Timings], count: int) -> tuple[float, ...]:
        """Measures so many rounds between two equal questions that do not count: the first brings memory and code into place, and the last must get the same answer, whatever lies where it
        is written."""
        shape = self._shapes[int(self._rng.integers(len(self._shapes)))]
        question = self._question(shape, next(self._regimes))
        first, _ = self._pair(sides, question, shape, poison=0, turn=0)
        values = tuple(self._round(sides, timings) for _ in range(count))
        last, _ = self._pair(sides, question, shape, poison=1, turn=1)
        if any(first.outputs[name].tobytes() != last.outputs[name].tobytes() for name in first.outputs):
            raise Broken("answers that differ between equal calls")
        return values

    def _round(self, sides: tuple[Side, Side], timings: Sequence[Timings]) -> float:
        """Returns the mean over shapes, and over both orders: whoever is called first, right after the evaluator has worked, is up to 15 % slower than who follows."""
        for index in self._rng.permutation(len(timings)).tolist():
            for turn in self._rng.permutation(2).tolist():
                self._time(sides, timings[index], turn)
        return math.fsum(sum(timing.ratios[-2:]) / 2 for timing in timings) / len(timings)

    def _time(self, sides: tuple[Side, Side], timing: Timings, turn: int) -> None:
        """Times one pair. Where a time is none, both get a new question of the same kind: whoever disturbs a clock has seen nothing of it, and does not choose."""
        regime, asked = next(self._regimes), False
        while not asked:
            question, poison = self._question(timing.shape, regime), int(self._rng.integers(2))
            mine, theirs = self._pair(sides, question, timing.shape, poison, turn)
            asked = not (mine.doubtful or theirs.doubtful)
        if theirs.seconds < self._shortest:
            raise TaskError(
                f"the seed takes {theirs.seconds * 1e6:.0f} microseconds on {shape_name(timing.shape)}, too little for a clock that is read from outside. Try: give larger shapes"
            )
        timing.theirs.append(theirs.seconds)
        timing.mine.append(max(mine.seconds, 1e-9))

    def _pair(
        self, sides: tuple[Side, Side], question: Question, shape: Shape, poison: int, turn: int
    ) -> tuple[Called, Called]:
        """Returns what both did; `turn` says whether the anchor is called first. Then the answer is computed and both are checked."""
        found: dict[int, Called] = {}
        for place in (turn, 1 - turn):
            found[place] = sides[place].call(question, poison)
        expected = self._problem.compute_answers(question.inputs, shape)
        mine, theirs = found[0], found[1]
        anchor = check_answers(self._problem, theirs.outputs, expected, question.inputs, shape)
        if said := theirs.tag or anchor.fault:
            raise TaskError(
                f"the seed, which all others are compared with, fails on {shape_name(shape)}: {said}. Try: mend it, or the oracle"
            )
        if mine.tag:
            raise Broken(mine.tag)
        verdict = check_answers(self._problem, mine.outputs, expected, question.inputs, shape)
        if verdict.fault:
            raise Wrong(f"{verdict.fault} (on {shape_name(shape)})")
        self._distances += [] if verdict.distance is None else [verdict.distance]
        return mine, theirs

    def _check_times(self, timings: Sequence[Timings], backend: Backend, anchor: Candidate) -> None:
        """Raises `Broken` where a shape took less time than is possible, also when what is possible was measured again."""
        for timing in timings:
            if _is_implausible(timing):
                timing.least = backend.least_seconds(anchor, *self._problem.work(timing.shape), again=True)
                if _is_implausible(timing):
                    raise Broken("a time below what is physically possible")

    def _question(self, shape: Shape, regime: str) -> Question:
        inputs = self._problem.inputs(self._rng, shape, regime)
        return Question(self._problem.arguments(shape), inputs, int(self._rng.integers(1 << 30)))

    def _dealt(self) -> Iterator[str]:
        """Kinds of inputs as from a deck that is shuffled when it is used up: all come equally often."""
        while True:
            yield from (self._problem.regimes[index] for index in self._rng.permutation(len(self._problem.regimes)))


def _is_implausible(timing: Timings) -> bool:
    return median(timing.mine) < IMPLAUSIBLE * timing.least


# --- answers, right or not

_FAR = 3.0
"""An element is counted as wrong where it is off by more than so many times what each may be off on average."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`fault` says what is wrong with a call's outputs, empty where nothing is. `distance` is how far from the answers they are at most: in the L2 norm, relative to the answer where that is not
    all zeros, of the outputs that have a tolerance above 0; None where there are none."""

    fault: str
    distance: float | None = None


def check_answers(problem: KernelProblem, outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> Verdict:
    """Returns what is to be said of outputs; the module's own check comes last."""
    distances = []
    for name, answer in expected.items():
        if name not in problem.tolerance:
            continue
        found = _compare(name, outputs[name], answer, problem.tolerance[name])
        if found.fault:
            return found
        distances += [] if found.distance is None else [found.distance]
    return Verdict(problem.fault(outputs, expected, inputs, shape), max(distances, default=None))


def _compare(name: str, output: NDArray[Any], answer: NDArray[Any], tolerance: float) -> Verdict:
    if tolerance == 0:
        wrong = output != answer
        return Verdict(f"{name} must be exact: {_pattern(output, answer, wrong)}" if wrong.any() else "")
    with np.errstate(all="ignore"):
        off = np.subtract(output, answer, dtype=np.float64).reshape(-1)
        norm = _length(answer.reshape(-1)) or 1.0
        distance = _length(off) / norm
        if distance <= tolerance:
            return Verdict("", distance)
        wrong = ~(np.abs(off) <= _FAR * tolerance * norm / np.sqrt(off.size)).reshape(answer.shape)
    finite = math.isfinite(distance)
    told = f"{name} is off by {distance:.3g} (relative, in the L2 norm)" if finite else f"{name} is not finite"
    told = f"{told}, and {tolerance:g} is allowed"
    return Verdict(f"{told}: {_pattern(output, answer, wrong)}" if wrong.any() else told, distance)


def _length(values: NDArray[Any]) -> float:
    """Returns the L2 norm of a flat array, by one thread: a library that starts several takes longer, and the time of others."""
    return math.sqrt(float(np.einsum("i,i", values, values, dtype=np.float64)))


def _pattern(output: NDArray[Any], answer: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
    """Returns which elements are wrong, in words, and the worst of them."""
    with np.errstate(all="ignore"):
        off = np.where(wrong, np.abs(output.astype(np.float64) - answer), -1.0)
    worst = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
    many = int(wrong.sum())
    parts = [f"{many} of {wrong.size} elements are wrong"]
    if unwritten := int(_unwritten(output).sum()):
        parts.append(f"{unwritten} were not written")
    index = ", ".join(str(int(place)) for place in worst)
    return f"{'; '.join(parts)}. The worst is [{index}]: {output[worst]!s}, wanted {answer[worst]:.9g}"


def _unwritten(output: NDArray[Any]) -> NDArray[np.bool_]:
    """Elements that hold poison still."""
    raw = np.ascontiguousarray(output).reshape(-1, 1).view("uint8")
    found: NDArray[np.bool_] = np.any([(raw == poison).all(axis=1) for poison in POISONS], axis=0)
    return found
