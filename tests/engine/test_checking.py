"""What a strategy may ask for: everything else is refused before it is in the log."""

import dataclasses

import numpy as np
import pytest

from evolve.types import Asked, Measure, PluginError, Propose, Selection

NOBODY = "0" * 64


def proposal(**changes):
    """A strategy that always asks for this proposal."""
    selection = Selection(**{"operator": "tune_literals", "parents": (1,), **changes})
    return lambda view, rng: Propose(selection)


def measurement(**changes):
    """A strategy that always asks for this measurement of the seed."""
    return lambda view, rng: Measure(**{"about": 1, "program": view.task.seed.id, **changes})


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
        (lambda view, rng: "go on", "for a str, wanted Propose, Measure or Wait"),
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
        assert list(campaign.log.events(only=Asked)) == []
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
