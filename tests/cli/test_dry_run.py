"""What would run."""

from pathlib import Path

import pytest

from evolve import plugins
from evolve.cli import dry_run
from evolve.cli.request import Layers, Plan
from evolve.config import OperatorsSection
from evolve.evaluation import Description
from tests.written import number_task, short_campaign

JUDGE = Description(
    stages=("screen", "full"),
    functions=("certify", "draw"),
    isolation="reduced: a fake",
    environment="python 0",
    limit=25.0,
)


@pytest.fixture
def settings(tmp_path: Path):
    """Those of a campaign."""
    with short_campaign(tmp_path) as campaign:
        return campaign.settings


def test_it_tells_the_task_what_its_judge_says_and_the_settings(settings):
    """As keys that --set takes, each with where it comes from unless it is the default."""
    layers = Layers({"task": "number", "judges": 2}, (), {"budget": ["30programs"]}, "search.toml")
    text = dry_run.format_plan(Plan(settings, number_task(), plugins.load(), layers=layers), JUDGE)
    for line in (
        "what would run; nothing was made and nothing is judged",
        "fitness      nearness, max, deterministic",
        "stages       screen, full; at most 25 s in all",
        "evaluator    loads; it also has certify, draw",
        "isolation    reduced: a fake",
        "grants       nothing beyond the usual",
        "judged with  python 0",
        "axes         size [0, 10] x 5",
        "anchors      8 Later, 3 Early",
        "operators    tune_literals, mutate_ast (if the seed is judged within 1 s)",
        "budget       30programs",
        "  judges = 2    (command line)",
        '  budget = ["30programs"]    (search.toml)',
        "  archive.islands = 4\n",
    ):
        assert line in text, line


def test_of_an_operator_that_is_used_in_any_case_it_names_no_condition(settings):
    """Because it was asked for, or because seconds must not decide."""
    for changes in ({"operators": OperatorsSection(names=("mutate_ast",))}, {"deterministic": True}):
        text = dry_run.format_plan(Plan(settings.model_copy(update=changes), number_task(), plugins.load()), JUDGE)
        assert "mutate_ast\n" in text


def test_of_a_noisy_task_it_says_how_often_its_seed_is_measured(settings):
    """And that more of a campaign is more of it."""
    task = number_task(deterministic=False, axes=(), anchors=())
    plan = Plan(settings, task, plugins.load(), "number", {"judges": 2})
    text = dry_run.format_plan(plan, Description(stages=("evaluate",), limit=20.0))
    assert "noisy, its seed is measured 5 times" in text
    assert "more of campaign number" in text
    assert "axes         default" in text
    assert "evaluator    loads\n" in text


def test_as_a_value_it_has_the_settings_apart_from_where_they_come_from(settings):
    """What is no source is the default."""
    dry = dry_run.describe_plan(Plan(settings, number_task(), plugins.load(), layers=Layers({"judges": 2})), JUDGE)
    assert (dry.settings["judges"], dict(dry.sources)) == (2, {"judges": "command line"})
    assert (dry.task, dry.stages, dry.limit) == ("number", ("screen", "full"), 25.0)
    assert dry.operators == ("tune_literals", "mutate_ast")
