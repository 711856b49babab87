"""Costs of finding the neighbours of a program among 100,000: time and memory, early and late.

The programs are sketches: families of children that each differ from their parent in a few minima, as a campaign makes them."""

import argparse
import statistics
import time
import tracemalloc

import numpy as np
from figures import report

from evolve.novelty import SketchIndex
from evolve.novelty.indexes import MINIMA

WINDOW = 100
MOST_CHANGES = 30
WANTED = {"lookup_us": "<= 100000", "bytes_per_program": "<= 400"}


def sketches(count: int, size: int) -> list[bytes]:
    """So many, of one family of this size after the other."""
    rng = np.random.default_rng(0)
    found, base = [], np.empty(0, np.uint8)
    for number in range(count):
        if number % size == 0:
            base = rng.integers(0, 256, MINIMA, np.uint8)
        row = base.copy()
        places = rng.permutation(MINIMA)[: rng.integers(1, MOST_CHANGES)]
        row[places] = rng.integers(0, 256, len(places))
        found.append(row.tobytes())
    return found


def time_lookups(index: SketchIndex, some: list[bytes], first: int) -> float:
    """Returns the microseconds of a look-up, while these are looked up and added."""
    seconds = []
    for number, sketch in enumerate(some, first):
        begun = time.perf_counter()
        index.nearest(sketch, 0)
        seconds.append(time.perf_counter() - begun)
        index.add(str(number), 0, sketch)
    return statistics.median(seconds) * 1e6


def measure(count: int, wanted: float, size: int) -> dict[str, float]:
    """All figures of an index that is asked for a distance, of families of `size` programs."""
    some, keys = sketches(count, size), [str(number) for number in range(count)]
    index = SketchIndex(wanted)
    early = time_lookups(index, some[:WINDOW], 0)
    for number in range(WINDOW, count - WINDOW):
        index.add(keys[number], 0, some[number])
    late = time_lookups(index, some[-WINDOW:], count - WINDOW)
    begun = time.perf_counter()
    again = SketchIndex(wanted)
    for key, sketch in zip(keys, some, strict=True):
        again.add(key, 0, sketch)
    loaded = time.perf_counter() - begun
    return {
        "lookup_us_early": early,
        "lookup_us": late,
        "load_seconds": loaded,
        "bytes_per_program": weighed(some, keys, wanted),
    }


def weighed(some: list[bytes], keys: list[str], wanted: float) -> float:
    """Bytes that an index holds for each of its programs, beside their keys."""
    tracemalloc.start()
    index = SketchIndex(wanted)
    for key, sketch in zip(keys, some, strict=True):
        index.add(key, 0, sketch)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held / len(set(some))


def main() -> None:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--distance", type=float, default=0.02)
    parser.add_argument(
        "--family", type=int, default=50, metavar="PROGRAMS", help="how many are children of one parent"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    report("novelty", measure(given.programs, given.distance, given.family), WANTED, given.json)


if __name__ == "__main__":
    main()
