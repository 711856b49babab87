"""Changes of settings after a campaign has begun."""

import pytest

from evolve import plugins
from evolve.campaign.retuning import BETWEEN_RUNS, keys, retune, when
from evolve.campaign.state import WHILE_RUNNING
from evolve.config import Settings, settings_from
from evolve.types import ConfigError, Task

LOADED = plugins.load()
FAST = {"name": "gpt-4.1", "settings": {"model": "gpt-4.1"}}


def settings(**values: object) -> Settings:
    return settings_from({"task": "one_number", "budget": ["30programs"], "workers": 2, **values})


def changed(task: Task, *assignments: str, running: bool = True, **values: object) -> dict[str, object]:
    return retune("mine", settings(**values), assignments, task, LOADED, running=running)


@pytest.mark.parametrize(
    ("assignment", "key", "value"),
    [
        ("budget=['1h', '500programs']", "budget", ["1h", "500programs"]),
        ("workers=8", "workers", 8),
        ("confirm.share=0.5", "confirm", {"share": 0.5, "z": 2.0, "sigmas": 5.0, "seeds": 5}),
        ("outage.then=stop", None, None),
    ],
)
def test_a_change_is_what_differs_by_top_level_key(circle_task, assignment, key, value):
    """Nothing where nothing does."""
    assert changed(circle_task, assignment, running=False) == ({} if key is None else {key: value})


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("seed=4", "'seed' cannot change in a campaign that has begun. Try: evolve campaign fork mine"),
        ("archive.islands=2", "'archive.islands' cannot change in a campaign that has begun. Try: evolve campaign fork mine"),
        ("task.n=32", "'parameters' cannot change in a campaign that has begun. Try: run a new campaign"),
        ("strategy.name=random", "Try: evolve campaign fork mine --set strategy.name=VALUE"),
        ("operators.settings.tune_literals.sigma=2", "Try: evolve campaign fork mine --set operators.settings=VALUE"),
        ("sandbox=none", "read when a run begins, so that it cannot change meanwhile. Try: evolve campaign stop mine"),
        ("wrkers=3", "unknown setting 'wrkers'. Did you mean 'workers'?"),
        ("workers=0", "setting 'workers' is at least 1, got 0"),
        ("models.members=[{name='a'}]", "read when a run begins, so that it cannot change meanwhile"),
        ("budget=['until=never']", "never"),
        ("budget=['5tokens']", "no operator of this campaign spends tokens"),
    ],
)  # fmt: skip
def test_what_cannot_change_is_refused_with_what_to_do(circle_task, assignment, message):
    """In one line."""
    with pytest.raises(ConfigError) as error:
        changed(circle_task, assignment)
    assert message in str(error.value)
    assert "Try: " in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["models.members=5"], "setting 'models.members' is a list"),
        (["models.members=[1]"], "setting 'models.members.0'"),
        (["models.members=[{kind='openai'}]"], "members.0.name': Field required"),
        (["budget=" + "[" * 10_000], "a budget cannot be used"),
        (["outage.wait_seconds=inf"], "finite number"),
        (["outage.model_wait_seconds=inf"], "finite number"),
    ],
)
def test_what_is_no_setting_is_an_error_of_the_one_who_wrote_it(circle_task, assignments, message):
    """Never one of the engine that is asked, which would end with it."""
    with pytest.raises(ConfigError) as error:
        changed(circle_task, *assignments, models={"members": [FAST]}, running=False)
    assert message in str(error.value)


def test_between_runs_more_may_change(circle_task):
    """What a run reads when it begins."""
    assert changed(circle_task, "sandbox=none", running=False) == {"sandbox": "none"}


def test_a_campaign_that_began_without_models_gets_none(circle_task):
    """Its operators were chosen without them."""
    with pytest.raises(ConfigError, match="began without a model, and keeps its operators"):
        changed(circle_task, "models.members=[{name='a'}]", running=False)


def test_a_deterministic_campaign_gets_no_budget_in_time(circle_task):
    """As it cannot begin with one."""
    with pytest.raises(ConfigError, match="--deterministic cannot end by the clock"):
        changed(circle_task, "budget=['5s']", deterministic=True)


def test_every_setting_says_whether_it_may_change():
    found = {one.key: one.when for one in keys(settings())}
    assert (found["budget"], found["sandbox"], found["seed"]) == ("any time", "between runs", "")
    assert {key for key, when in found.items() if when} == WHILE_RUNNING | BETWEEN_RUNS


def test_nothing_that_the_fold_depends_on_may_change():
    """Rules of the archive, seeds, strategy: a log replays by the settings that it has at its end."""
    sections = ("archive", "strategy", "seed", "carry", "parameters", "task")
    fixed = [one.key for one in keys(settings()) if one.key.startswith(sections)]
    rules = ["confirm.z", "confirm.sigmas", "confirm.seeds", "operators.names"]
    assert [key for key in [*fixed, *rules] if when(key)] == []
