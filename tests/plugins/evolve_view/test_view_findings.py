"""The values of a report, and the steps to a program."""

from evolve.report import ChangedSetting, changed_settings
from evolve_view.findings import CampaignMachine, read_findings, read_steps
from tests.plugins.evolve_view.reports import MOMENT
from tests.written import Written, short_campaign


def test_settings_that_differ_from_the_defaults_are_found(tmp_path):
    """The task, and the number of judges, which a machine decides, are none of them."""
    written = Written(tmp_path, archive={"islands": 7}, judges=9)
    with written.campaign as campaign:
        found = {each.key: each for each in changed_settings(campaign.settings.model_dump(mode="json"))}
    assert found["archive.islands"] == ChangedSetting("archive.islands", 7, 4)
    assert not {"task", "judges"} & found.keys()


def test_each_machine_is_told_once(tmp_path):
    written = Written(tmp_path)
    written.run_at("strict")
    written.run_at("reduced")
    with written.campaign as campaign:
        machines = read_findings(campaign, MOMENT).machines
    assert machines == (CampaignMachine("one core", "reduced"), CampaignMachine("one core", "strict"))


def test_what_failed_and_what_was_not_judged_are_kept_apart(tmp_path):
    with short_campaign(tmp_path) as campaign:
        found = read_findings(campaign, MOMENT)
    assert [each.outcome for each in found.failed] == ["crashed"]
    assert [each.outcome for each in found.screened] == ["screened"]


def test_a_short_line_is_told_as_a_whole(tmp_path):
    """Each step with what it changed."""
    with short_campaign(tmp_path) as campaign:
        line = read_steps(campaign, 6)
    assert [(step.line.record, step.told) for step in line] == [(1, False), (2, True), (6, True)]
    assert line[2].differences[0].text == (
        "--- number/2/seed.py\n+++ number/6/seed.py\n@@ -1,2 +1,2 @@\n def value():\n-    return 6.0\n+    return 6.5\n"
    )


def test_of_a_long_line_the_largest_changes_and_the_last_steps_are_told(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    fitness = 5.0
    for place in range(2, 42):
        fitness += 1.0 if place == 9 else 0.001 * (place % 2) + 0.0005
        written.proposal(fitness, parents=(place - 1,))
    with written.campaign as campaign:
        line = read_steps(campaign, 41)
    told = [step.line.record for step in line if step.told]
    assert (len(line), len(told)) == (41, 24)
    assert told[-4:] == [38, 39, 40, 41]
    assert 9 in told
    assert all(step.differences == () for step in line if not step.told)


def test_further_parents_have_names(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(7.0, parents=(2, 1), operator="crossover", model="small")
    with written.campaign as campaign:
        last = read_steps(campaign, 3)[-1]
    assert (last.others, last.model, last.step) == (("number/1",), "small", 3)
