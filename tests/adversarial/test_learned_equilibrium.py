"""What a cheat of `cfr_variant` would be worth without the defence that it meets."""

import sys

import pytest
from cfr_variant_cheats import CHEATS, KUHN

from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Parameters, Trial

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]


def test_a_learned_equilibrium_wins_where_the_game_is_not_disguised() -> None:
    """By more than six decades over its disguise, so that it is the disguise that takes the gain away."""
    task = load("cfr_variant")
    cheat = next(cheat for cheat in CHEATS if cheat.name == "known equilibrium")
    executor = LocalExecutor(task, 1)
    found = []
    for disguise in (0.0, task.parameters["disguise"]):
        parameters = Parameters({**task.parameters, **KUHN, "horizons": "100", "disguise": disguise})
        job = Job("1.0", "evaluate", Trial(parameters=parameters), dict(cheat.files), ungated=True)
        found.append(decode_report(executor.submit(job.id, encode_job(job)).result(60)).evaluation.fitness)
    executor.close()
    assert found[0] > 6 + found[1] > 6
