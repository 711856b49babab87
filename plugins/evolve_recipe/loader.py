"""What a training is served: the judge's count of samples is the truth about the budget.

Invariant: a sample counts when it leaves the judge, and no more leave than the budget has; every row comes once before any comes again."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Inputs = NDArray[np.float32]
Integers = NDArray[np.int64]


class Loader:
    """Serves rows with their labels in an order of its own, which is another one each time round. `samples` is the budget; 0: every row once."""

    def __init__(self, inputs: Inputs, targets: Integers, rng: Generator, samples: int = 0) -> None:
        self.served = 0
        self.budget = samples or len(targets)
        self._inputs = inputs
        self._targets = targets
        self._rng = rng
        self._order = rng.permutation(len(targets))
        self._next = 0

    @property
    def left(self) -> int:
        """Samples that may still be served."""
        return self.budget - self.served

    def serve(self, count: int) -> tuple[Inputs, Integers]:
        """The next `count` samples, or as many as the budget has left."""
        wanted = min(count, self.left)
        chosen = np.empty(wanted, dtype=np.int64)
        filled = 0
        while filled < wanted:
            if self._next == len(self._order):
                self._order, self._next = self._rng.permutation(len(self._order)), 0
            taken = self._order[self._next : self._next + wanted - filled]
            chosen[filled : filled + len(taken)] = taken
            filled += len(taken)
            self._next += len(taken)
        self.served += wanted
        return self._inputs[chosen], self._targets[chosen]
