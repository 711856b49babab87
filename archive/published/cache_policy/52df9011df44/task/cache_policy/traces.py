"""Traces of requests, each drawn from a law.

A law yields (label, source) for ever; `trace` takes as many as wanted, and replaces labels by numbers without a meaning, sources by numbers that are dealt anew. Lengths are in units of the
capacity, so that a law asks the same of every cache."""

import math
from bisect import bisect
from collections.abc import Callable, Iterator
from heapq import heapify, heapreplace
from itertools import accumulate, count, islice
from random import Random

from evolve import EvolveError

SOURCES = 8
KEYS = 1 << 30

Request = tuple[int, int]
Labelled = Iterator[tuple[object, int]]
Law = Callable[[int, Random], Labelled]


def trace(law: str, requests: int, capacity: int, tells_sources: bool, rng: Random) -> list[Request]:
    """Returns keys and sources; raises `EvolveError` for a law that there is not."""
    if law not in LAWS:
        raise EvolveError(f"there is no law {law!r}. Try: --set task.traces='{' '.join(LAWS)}'")
    dealt = rng.sample(range(SOURCES), SOURCES)
    keys: dict[object, int] = {}
    free = iter(rng.sample(range(KEYS), requests))
    found = []
    for label, source in islice(LAWS[law](capacity, rng), requests):
        if label not in keys:
            keys[label] = next(free)
        found.append((keys[label], dealt[source] if tells_sources else 0))
    return found


class Popular:
    """Ranks that are drawn by a power law."""

    def __init__(self, items: int, exponent: float) -> None:
        self._cumulated = list(accumulate((rank + 1) ** -exponent for rank in range(items)))

    def draw(self, rng: Random) -> int:
        """Returns a rank, 0 the most popular."""
        return bisect(self._cumulated, rng.random() * self._cumulated[-1])


def zipf(capacity: int, rng: Random) -> Labelled:
    """Popularity that never changes; the source tells nothing."""
    popular = Popular(6 * capacity, 0.85)
    while True:
        yield popular.draw(rng), rng.randrange(4)


def loop(capacity: int, rng: Random) -> Labelled:
    """A loop that is longer than the cache, beside a few keys that come at random; a fifth of the requests lies about its source."""
    length, others = round(1.3 * capacity), Popular(capacity, 0.7)
    for step in count():
        while rng.random() < 0.25:
            yield ("other", others.draw(rng)), int(rng.random() < 0.8)
        yield step % length, int(rng.random() < 0.2)


def scans(capacity: int, rng: Random) -> Labelled:
    """Popular keys between scans of keys that do not come again; most requests of a scan have a source of its own."""
    popular, fresh = Popular(2 * capacity, 0.8), count()
    while True:
        for _ in range(rng.randrange(capacity, 4 * capacity)):
            yield popular.draw(rng), rng.randrange(2)
        for _ in range(rng.randrange(capacity // 2, 2 * capacity)):
            yield ("scan", next(fresh)), 2 if rng.random() < 0.75 else rng.randrange(2)


def shift(capacity: int, rng: Random) -> Labelled:
    """A working set that moves slowly and now and then leaps, among keys that are asked for once."""
    fresh = count()
    members: list[int] = []
    while True:
        if not members or rng.random() < 0.0015:
            members = [next(fresh) for _ in range(round(0.9 * capacity))]
        if rng.random() < 0.06:
            members[rng.randrange(len(members))] = next(fresh)
        is_member = rng.random() < 0.65
        source = int(is_member) if rng.random() < 0.7 else rng.randrange(3)
        yield rng.choice(members) if is_member else next(fresh), source


def phases(capacity: int, rng: Random) -> Labelled:
    """Some hundred requests by popularity, then as many by recency, and so on; the source tells nothing."""
    popular, fresh = Popular(4 * capacity, 1.0), count()
    while True:
        for _ in range(rng.randrange(4 * capacity, 8 * capacity)):
            yield popular.draw(rng), rng.randrange(3)
        stack = [("recent", next(fresh)) for _ in range(2 * capacity)]
        for _ in range(rng.randrange(4 * capacity, 8 * capacity)):
            depth = int(rng.expovariate(1.5 / capacity))
            stack.append(("recent", next(fresh)) if depth >= len(stack) else stack.pop(-1 - depth))
            yield stack[-1], rng.randrange(3)


def periodic(capacity: int, rng: Random) -> Labelled:
    """Keys that come back after a time of their own, give or take a tenth; the source tells roughly how long."""
    periods = [capacity * math.exp(rng.uniform(-0.3, 2.6)) for _ in range(round(2.5 * capacity))]
    due = [(rng.random() * period, item) for item, period in enumerate(periods)]
    heapify(due)
    while True:
        time, item = due[0]
        heapreplace(due, (time + periods[item] * rng.gauss(1.0, 0.1), item))
        rough = min(3, max(0, int(math.log(periods[item] / capacity) + 0.3 + rng.gauss(0.0, 0.4))))
        yield item, rough


def few_uses(capacity: int, rng: Random) -> Labelled:
    """Keys that are used one to five times and never again: the source of a key's requests decides how often, and how long it waits."""
    kinds = [(1, 0.0), (2, 0.5), (2, 2.5), (3, 1.0), (5, 0.4)]
    fresh = count()
    waiting: list[tuple[float, int, int, int]] = []
    for now in count():
        due = min(waiting, default=None)
        if due and due[0] <= now:
            waiting.remove(due)
            _, key, kind, left = due
        else:
            key, kind = next(fresh), rng.choices(range(len(kinds)), (4, 3, 3, 2, 1))[0]
            left = kinds[kind][0]
        if left > 1:
            waiting.append((now + 1 + rng.gauss(1.0, 0.25) * kinds[kind][1] * capacity, key, kind, left - 1))
        yield key, kind


def lanes(capacity: int, rng: Random) -> Labelled:
    """Loops of different lengths in turn, some of which fit; the source is the lane, or that of another one in a tenth of the requests."""
    lengths = [round(share * capacity) for share in (0.15, 0.4, 0.7, 1.5, 4.0)]
    places = [0] * len(lengths)
    while True:
        lane = rng.choices(range(len(lengths)), (2, 2, 2, 2, 1))[0]
        for _ in range(rng.randrange(10, capacity)):
            places[lane] = (places[lane] + 1) % lengths[lane]
            yield (lane, places[lane]), lane if rng.random() < 0.9 else rng.randrange(len(lengths))


def sweeps(capacity: int, rng: Random) -> Labelled:
    """Sweeps forth and back over a range whose size changes; the source is the direction."""
    while True:
        size = round(capacity * rng.uniform(0.8, 2.5))
        for direction in (0, 1) * 3:
            for item in range(size) if direction == 0 else reversed(range(size)):
                if rng.random() < 0.9:
                    yield item, direction


def walk(capacity: int, rng: Random) -> Labelled:
    """A walk on a ring with long jumps to a few places; the source tells a step from a jump."""
    size, place = 6 * capacity, 0
    homes = [rng.randrange(size) for _ in range(4)]
    while True:
        jumps = rng.random() < 0.02
        place = rng.choice(homes) if jumps else (place + rng.choice((-2, -1, -1, 1, 1, 2, 3))) % size
        yield place, int(jumps)


def tides(capacity: int, rng: Random) -> Labelled:
    """Popularity whose centre wanders back and forth over the keys, among requests from anywhere."""
    size = 8 * capacity
    for step in count():
        centre = size / 2 * (1 + 0.6 * math.sin(step / (5 * capacity)))
        if rng.random() < 0.3:
            yield rng.randrange(size), 0
        else:
            yield int(rng.gauss(centre, 0.35 * capacity)), int(rng.random() < 0.6)


def calls(capacity: int, rng: Random) -> Labelled:
    """Calls of procedures: each asks for its own keys in the same order, and calls others in between; the source is the procedure's kind."""
    bodies = [[(name, part) for part in range(rng.randrange(3, 25))] for name in range(capacity // 4)]
    popular = Popular(len(bodies), 0.5)
    while True:
        stack = [(name, iter(bodies[name])) for name in [popular.draw(rng)]]
        while stack:
            name, body = stack[-1]
            part = next(body, None)
            if part is None:
                stack.pop()
                continue
            yield part, name % 4
            if len(stack) < 4 and rng.random() < 0.06:
                called = popular.draw(rng)
                stack.append((called, iter(bodies[called])))


LAWS: dict[str, Law] = {
    "zipf": zipf,
    "loop": loop,
    "scans": scans,
    "shift": shift,
    "phases": phases,
    "periodic": periodic,
    "few_uses": few_uses,
    "lanes": lanes,
    "sweeps": sweeps,
    "walk": walk,
    "tides": tides,
    "calls": calls,
}
