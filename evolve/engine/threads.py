"""The threads of a run that make proposals: one that computes, and those that wait for models.

Invariant: there are as many as proposals may wait."""

from concurrent.futures import ThreadPoolExecutor


class Threads:
    """Pools of threads; made with room for `waiting` proposals. Main thread."""

    def __init__(self, waiting: int) -> None:
        self.computing = ThreadPoolExecutor(1, "evolve-proposer")
        self.waiting = ThreadPoolExecutor(max(1, waiting), "evolve-model")

    def close(self) -> None:
        """Waits until all have ended; what none has begun is cancelled."""
        for pool in (self.computing, self.waiting):
            pool.shutdown(wait=True, cancel_futures=True)
