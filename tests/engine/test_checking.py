"""What a strategy may ask for: everything else is refused before it is in the log."""

import dataclasses

import numpy as np
import pytest

from evolve.engine.scheduler import check_action
from evolve.types import Asked, Measure, PluginError, Propose, Rearrange, Rearranged, Ruled, Selection

NOBODY = "0" * 64


def proposal(**changes):
    """A strategy that always asks for this proposal."""
    selection = Selection(**{"operator": "tune_literals", "parents": (1,), **changes})
    return lambda view, rng: Propose(selection)


def measurement(**changes):
    """A strategy that always asks for this measurement of the seed."""
    return lambda view, rng: Measure(**{"about": 1, "program": view.task.seed.id, **changes})


def arrangement(**changes):
    """A strategy that always asks for this arrangement."""
    return lambda view, rng: Rearrange(**{"island": 0, "records": (1,), **changes})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (proposal(operator="gone"), "for operator 'gone', wanted one of .*tune_literals"),
        (proposal(island=4), "for island 4, wanted 0 to 3"),
        (proposal(island=-1), "for island -1, wanted 0 to 3"),
        (proposal(parents=(1, 2)), "record 2, which has not settled or has no program"),
        (proposal(inspirations=(0,)), "record 0, which has not settled or has no program"),
        (proposal(samples=0), "for 0 samples, wanted 1 or more"),
        (proposal(parents=(np.int64(1),)), "a Propose that the log cannot hold"),
        (proposal(parents=1), "a Propose that the log cannot hold"),
        (lambda view, rng: Propose(None), "a Propose that the log cannot hold"),
        (arrangement(island=4), "for island 4, wanted 0 to 3"),
        (arrangement(records=(1, 1)), "to arrange a record twice, 1, 1"),
        (arrangement(records=(2,)), "record 2, which has not settled or has no program"),
        (arrangement(records=[np.int64(1)]), "a Rearrange that the log cannot hold"),
        (lambda view, rng: "go on", "for a str, wanted Propose, Measure, Rearrange or Wait"),
        (measurement(about=2), "record 2, which has not settled or has no program"),
        (measurement(program=NOBODY), "record 1, which has another program"),
        (measurement(stage="gone"), "for stage 'gone', wanted one of 'evaluate' or ''"),
        (measurement(stage="certify"), "for stage 'certify', wanted one of 'evaluate' or ''"),
    ],
)
def test_an_action_that_cannot_be_done_is_never_in_the_log(bench, ask, message):
    """It stops the run and names the strategy; another run, of a mended strategy, goes on."""
    campaign = bench.create()
    campaign.strategy.ask = ask
    with campaign, pytest.raises(PluginError, match=f"strategy 'islands' asked .*{message}.*Try: mend its `ask`"):
        bench.run(campaign)
    with bench.open() as campaign:
        assert [found.event for kind in (Asked, Rearranged) for found in campaign.log.events(only=kind)] == []
        assert bench.run(campaign).reason == "budget"
        assert campaign.state.progress.programs == 30


@pytest.mark.parametrize(("promotion", "stage"), [("held_out", "evaluate"), ("certificate", "certify")])
def test_a_strategy_may_measure_by_a_stage_of_the_task(bench, circle_task, promotion, stage):
    """`certify` is one where the task has certificates."""
    campaign = bench.create(task=dataclasses.replace(circle_task, promotion=promotion))
    ask = campaign.strategy.ask
    wanted = Measure(1, circle_task.seed.id, stage, "again")
    campaign.strategy.ask = lambda view, rng: wanted if rng.random() < 0.3 else ask(view, rng)
    with campaign:
        bench.run(campaign)
        assert wanted in [found.event.action for found in campaign.log.events(only=Asked)]


def test_a_program_that_may_hold_no_place_is_never_arranged(bench):
    """A quarantined one, here."""
    campaign = bench.create()
    with campaign:
        bench.run(campaign)
        best = campaign.state.archive.best
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", best.program, "a test"))
        with pytest.raises(ValueError, match=f"to arrange record {best.record}, whose program may hold no place"):
            check_action(campaign, Rearrange(0, (1, best.record)))
        assert check_action(campaign, Rearrange(0, (1,))) == Rearrange(0, (1,))
