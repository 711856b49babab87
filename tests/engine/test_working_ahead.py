"""How many steps are under way while judges take long: what needs no model waits for the judges' room, models work on ahead."""

import threading
from collections import Counter
from concurrent.futures import Future

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench
from model_fakes import FakeModel, members, with_operators

from evolve.engine import run
from evolve.engine.scheduler import FreeRoom
from evolve.evaluation import decode_job
from evolve.types import Asked, Measure, ProgramId, Propose, Selection

ROOM, CALLS, AHEAD = 6, 16, 4
"""Steps that two judges have room for; calls in flight; and how many more proposals a model with so many calls is asked for."""


class Stuck(FakeExecutor):
    """Judges the seed, and nothing else before the run is over."""

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, Future[bytes]] = {}
        self.most = 0

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        files = decode_job(job).files
        if not self.jobs or files == self.jobs[0].files:
            return super().submit(job_id, job)
        self.left[job_id] = Future()
        self.most = max(self.most, len(self.left))
        return self.left[job_id]

    def cancel(self, job_id: str) -> None:
        future = self.left.pop(job_id)
        future.cancel()
        future.set_running_or_notify_cancel()


def asked(bench: Workbench, executor: FakeExecutor, fake: FakeModel, *operators: str, **values: object) -> Counter[str]:
    """For what a campaign of two seconds asks: by the operator, or "measure"."""
    with_operators(bench)
    section = {"name": "fast", "kind": "fake", "concurrency": CALLS}
    values = {"models": {"members": [section]}, "operators": {"names": operators}, "budget": ["2s"], **values}
    with bench.create(**values) as campaign:
        run(campaign, executor, Seen(), members(campaign, fake))
        actions = [stamped.event.action for stamped in campaign.log.events(only=Asked)]
    return Counter(action.selection.operator if isinstance(action, Propose) else "measure" for action in actions)


@pytest.mark.parametrize(
    ("judging", "calls", "measures", "writes", "left"),
    [
        (1, 0, True, True, True),
        (0, 1, False, True, True),
        (0, 0, False, True, False),
        (1 - AHEAD, 1, False, True, True),
        (-AHEAD, 1, False, True, False),
    ],
)
def test_a_measurement_needs_a_judge_and_a_proposal_its_model(
    judging: int, calls: int, measures: bool, writes: bool, left: bool
) -> None:
    """The proposal's model has been found when room is asked for it."""
    free = FreeRoom(judging, {"fast": calls}, AHEAD)
    action = Propose(Selection("writes", 0, (1,), model="fast"))
    assert free.is_left == left
    assert (free.take(Measure(1, ProgramId("a"))), free.take(action)) == (measures, writes)


def test_models_are_asked_ahead_of_the_judges(bench: Workbench) -> None:
    """Eight wait for two judges that have room for six, and a proposal is asked for in the place of each that was answered."""
    executor = Stuck()
    found = asked(bench, executor, FakeModel(hold=threading.Event(), free=8), "writes")
    assert (found["writes"], executor.most) == (CALLS + AHEAD + 8, 8)


def test_models_are_not_asked_for_ever_while_judges_are_stuck(bench: Workbench) -> None:
    """The last time with room for one."""
    executor = Stuck()
    found = asked(bench, executor, FakeModel(), "writes")
    assert ROOM + AHEAD <= found["writes"] <= (ROOM + AHEAD - 1) + (CALLS + AHEAD)
    assert executor.most == found["writes"]


def test_what_needs_no_model_waits_for_the_judges(bench: Workbench) -> None:
    """Although a model has room all the time."""
    executor = Stuck()
    found = asked(bench, executor, FakeModel(hold=threading.Event()), "writes", "tune_literals")
    assert (found["tune_literals"], executor.most) == (ROOM, ROOM)
    assert found["writes"] < CALLS + AHEAD
