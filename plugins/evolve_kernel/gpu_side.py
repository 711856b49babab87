"""One program on a GPU, in its runner's process: calls, two clocks, and what the device can do at most.

Invariant: a time counts where the device's events and the judge's clock agree; outputs, inputs and guards are looked at as they came back from the device."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

from evolve import Segment, Timed
from evolve_kernel.backend import Called, Question
from evolve_kernel.gpu_recording import Recording
from evolve_kernel.layout import GUARD, Layout

DOUBTS = 5
"""In how many calls of a process the clocks may disagree: the machine may have done something else, which only makes the judge's clock later."""
APART, AT_ONCE = 0.1, 60e-6
"""How far two clocks may be apart: a share of the time, and seconds."""
DISAGREE = "two clocks that disagree"
_NOTHINGS = 9
_PLACES = 64
_LANES = 128
"""Numbers in single precision that a multiprocessor multiplies and adds in a cycle, on every device of the last years."""


class Timer(Protocol):
    """What is needed of a timed session of the runner."""

    def timed(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Timed:
        """One timed call."""
        ...


@dataclass(slots=True)
class GpuSide:
    """`overhead` is what the judge's clock shows beyond the device's where nothing is replayed; `seconds` the wall time of one call; `doubts` in how many calls the clocks have disagreed."""

    session: Timer
    segment: Segment
    recording: Recording
    overhead: float
    seconds: float
    doubts: int = 0

    def call(self, question: Question, poison: int) -> Called:
        """One call; see `Side.call`. Where the clocks disagree it is doubtful, and a failure of integrity if that was too often."""
        layout = Layout.of(self.segment, question.arguments, question.draw - question.draw % _PLACES)
        launches = [launch.told(layout.places) for launch in self.recording.launches[question.arguments]]
        start = layout.places[0] - GUARD
        last, place = layout.arrays[-1]
        image = self.segment.window(start, (place + last.bytes + GUARD - start,), "uint8")
        layout.prepare(question.inputs, poison)
        self.session.timed("refill", image, start, launches, seconds=self.seconds)
        replayed = self.session.timed("replay", seconds=self.seconds)
        self.session.timed("give", image, start, seconds=self.seconds)
        doubtful = not agree(replayed.value, replayed.wall - self.overhead)
        self.doubts += doubtful
        tag = layout.violation(question.inputs) or (DISAGREE if self.doubts > DOUBTS else "")
        return Called(layout.outputs(), float(replayed.value), tag, doubtful)


def agree(events: float, wall: float) -> bool:
    """Whether seconds between two events are those that the judge has seen."""
    return abs(wall - events) <= APART * max(wall, events) + AT_ONCE


def overhead(session: Timer) -> float:
    """What the judge's clock shows beyond the device's for a graph that does nothing, the median of some."""
    found = [session.timed("nothing") for _ in range(_NOTHINGS)]
    return float(median(one.wall - one.value for one in found))


@dataclass(frozen=True, slots=True)
class GpuCeilings:
    """Of one device: bytes of its cache, bytes that it moves in a second, operations in single precision that it computes in one."""

    cache: int
    moved: float
    computed: float

    @classmethod
    def of(cls, facts: Mapping[str, int], moved: float) -> "GpuCeilings":
        """Movement as it was measured; arithmetic as the driver's clock and number of multiprocessors allow, a product and a sum each."""
        return cls(facts["l2"], moved, 2e3 * _LANES * facts["multiprocessors"] * facts["clock"])

    def least_seconds(self, moved: int, operations: int) -> float:
        """What was written may lie in the cache when the kernel has ended, but what was read came from memory: so at most half of the bytes are not counted."""
        return max(max(moved - self.cache, moved / 2) / self.moved, operations / self.computed)
