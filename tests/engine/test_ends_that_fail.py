"""The end of a run when a part of it fails, as at a second Ctrl-C or on a full disk."""

from collections.abc import Callable

import pytest
from loop_fakes import JUDGES, FakeExecutor, Seen, Workbench

from evolve.engine import run
from evolve.engine.loop import Run
from evolve.engine.recorder import Recorder


def fails(*_: object) -> None:
    raise RuntimeError("it does not end")


@pytest.mark.parametrize("part", ["_record_last_calls", "_proposals.close", "_desk.close"])
def test_an_end_that_fails_closes_the_rest(bench: Workbench, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shops: list[Run] = []
    closed: list[Recorder] = []

    def entered(self: Run, before: Callable[[Run], Run] = Run.__enter__) -> Run:
        shops.append(self)
        owner, _, name = part.rpartition(".")
        monkeypatch.setattr(getattr(self, owner) if owner else self, name, fails)
        return before(self)

    def closing(self: Recorder, before: Callable[[Recorder], None] = Recorder.close) -> None:
        closed.append(self)
        before(self)

    monkeypatch.setattr(Run, "__enter__", entered)
    monkeypatch.setattr(Recorder, "close", closing)
    with bench.create() as campaign, pytest.raises(RuntimeError, match="it does not end"):
        run(campaign, FakeExecutor(), JUDGES, Seen())
    assert closed == [shops[0].recorder]
    monkeypatch.undo()
    shops[0]._proposals.close()
