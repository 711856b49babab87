"""What waits while a run is paused."""

from concurrent.futures import Future

from evolve.engine.doing import Held, Proposed
from evolve.types import Asked, Propose, Selection


def done(step: int, *, cancelled: bool) -> Proposed:
    future: Future = Future()
    if cancelled:
        future.cancel()
    else:
        future.set_result(())
    return Proposed(Asked(step, Propose(Selection("tune_literals")), 0), future)


def test_what_was_called_back_in_time_is_told_so_once() -> None:
    """What was done all the same is not."""
    held = Held()
    for step in (1, 2):
        held.withdraw(step)
    assert [held.was_withdrawn(done(step, cancelled=step == 1)) for step in (1, 2, 3)] == [True, False, False]
    assert not held.was_withdrawn(done(1, cancelled=True))


def test_what_waits_is_taken_in_its_order_and_once() -> None:
    """All of it."""
    held, waiting = Held(), [done(step, cancelled=False) for step in (3, 1)]
    for one in waiting:
        held.add(one)
    assert (held.take(), held.take()) == (waiting, [])
