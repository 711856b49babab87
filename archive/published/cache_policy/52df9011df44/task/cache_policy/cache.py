"""A cache of keys of equal size: the replay of a trace with a policy, with LRU, and with hindsight.

Invariant: a hit is a request for a key that was stored before and not dropped since, and no decision is told of a later request."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Protocol

from traces import Request

Question = tuple[list[Request], int, int, bool]


class Session(Protocol):
    """What is needed of a candidate's session."""

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """Returns the answer of one of its functions."""
        ...


class Unusable(ValueError):
    """A decision that names no key that may be dropped."""


class Replay:
    """One trace, played up to the next decision, and the counts so far. `ages` are those of the keys that were dropped: the share of held keys that were asked for more recently."""

    def __init__(self, requests: Sequence[Request], capacity: int) -> None:
        self.hits = self.misses = self.again = self.decisions = self.not_stored = 0
        self.ages: list[float] = []
        self._requests = requests
        self.capacity = capacity
        self._next = 0
        self._held: OrderedDict[int, None] = OrderedDict()
        self._seen: set[int] = set()

    def question(self) -> Question | None:
        """Returns the hits since the last decision, and the key, the source and whether the cache is full, of the next miss; None at the end."""
        told: list[Request] = []
        while self._next < len(self._requests):
            request = self._requests[self._next]
            if request[0] not in self._held:
                return told, *request, len(self._held) == self.capacity
            self._held.move_to_end(request[0])
            self.hits += 1
            self._next += 1
            told.append(request)
        return None

    def answer(self, victim: object) -> None:
        """Goes on as the answer to the question says; raises `Unusable`."""
        key, _ = self._requests[self._next]
        self._next += 1
        self.misses += 1
        self.again += key in self._seen
        self._seen.add(key)
        if len(self._held) == self.capacity:
            self._decide(key, victim)
        else:
            self._held[key] = None

    def _decide(self, key: int, victim: object) -> None:
        if type(victim) is not int or (victim != key and victim not in self._held):
            shown = victim if type(victim) is int and abs(victim) < 1 << 64 else f"a {type(victim).__name__}"
            raise Unusable(
                f"miss() must return a key that is held, or the one that was asked for, got {shown} at request {self._next}"
            )
        self.decisions += 1
        if victim == key:
            self.not_stored += 1
            return
        self.ages.append(1.0 - list(self._held).index(victim) / (self.capacity - 1))
        del self._held[victim]
        self._held[key] = None


def play(session: Session, replays: Sequence[Replay]) -> None:
    """Plays all traces to their ends, side by side: one call asks for the next decision of each. Raises `Unusable`."""
    capacities = [replay.capacity for replay in replays]
    session.call("begin", capacities)
    while True:
        asked = [(number, question) for number, replay in enumerate(replays) if (question := replay.question())]
        if not asked:
            return
        answers = session.call("advance", [[number, *question] for number, question in asked])
        if not isinstance(answers, list) or len(answers) != len(asked):
            raise Unusable("miss() must return a key")
        for (number, _), victim in zip(asked, answers, strict=True):
            replays[number].answer(victim)


def lru_hits(requests: Sequence[Request], capacity: int) -> int:
    """Returns the hits of dropping what was asked for longest ago."""
    held: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key, _ in requests:
        if key in held:
            hits += 1
            held.move_to_end(key)
            continue
        if len(held) == capacity:
            held.popitem(last=False)
        held[key] = None
    return hits


def optimal_hits(requests: Sequence[Request], capacity: int) -> int:
    """Returns the most hits that are possible: dropped is what is asked for latest, which may be the new key (Belady 1966, doi:10.1147/sj.52.0078)."""
    held: dict[int, int] = {}
    hits = 0
    for (key, _), following in zip(requests, next_uses(requests), strict=True):
        hits += key in held
        held[key] = following
        if len(held) > capacity:
            del held[max(held, key=held.__getitem__)]
    return hits


def next_uses(requests: Sequence[Request]) -> list[int]:
    """Returns for each request the number of the next one for its key, or how many requests there are."""
    following = [len(requests)] * len(requests)
    last: dict[int, int] = {}
    for number in reversed(range(len(requests))):
        key = requests[number][0]
        following[number] = last.get(key, len(requests))
        last[key] = number
    return following
