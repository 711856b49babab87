"""What a report is made of."""

from evolve.report import ChangedSetting, changed_settings
from evolve_view.findings import CampaignMachine, read_findings
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
