"""How often each prompt was called, and by which numbers.

Invariant: a number that was given out in an earlier run, and whose call is not in the log, is free again: a mailbox has its prompt, and
perhaps its answer."""

from collections.abc import Iterator
from itertools import chain, count


class Samples:
    """Of each request, by its digest, the numbers of the calls that the log has. Main thread, but for `free`."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._missing: dict[str, set[int]] = {}

    def called(self, request: str, sample: int) -> None:
        """The log has a call with this number."""
        after = self._next.get(request, 0)
        if sample >= after:
            self._next[request] = sample + 1
            if sample > after:
                self._missing.setdefault(request, set()).update(range(after, sample))
        elif request in self._missing:
            self._missing[request].discard(sample)

    def free(self, request: str) -> Iterator[int]:
        """The numbers that no call has, the smallest first."""
        return chain(sorted(self._missing.get(request, ())), count(self._next.get(request, 0)))
