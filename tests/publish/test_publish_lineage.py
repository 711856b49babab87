"""Facts about the lineage in an export."""

import json

from exported_here import Found

from evolve.publish.lineage import STEPS, steps_of


def test_each_step_has_its_operator_its_change_and_a_diff(tmp_path):
    found = Found(tmp_path)
    found.proposal(7.0, parents=(2, 1), operator="mutate_ast")
    steps, files = steps_of(found.campaign, 3)
    assert [(step.record, step.kind, step.operator, step.fitness, step.change, step.diff) for step in steps] == [
        (1, "seed", "", 5.0, None, ""),
        (2, "proposal", "tune_literals", 6.5, 1.5, "lineage/0001.diff"),
        (3, "proposal", "mutate_ast", 7.0, 0.5, "lineage/0002.diff"),
    ]
    assert files["lineage/0002.diff"].decode().splitlines()[:2] == ["--- a/seed.py", "+++ b/seed.py"]
    assert json.loads(files[STEPS])[2]["parents"] == [2, 1]


def test_a_measurement_has_the_lineage_of_what_it_measures(tmp_path):
    found = Found(tmp_path)
    found.again(2, 6.5)
    assert [step.record for step in steps_of(found.campaign, 3)[0]] == [1, 2]
