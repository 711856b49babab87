"""Which settings may change after a campaign has begun, and how a person writes that."""

import pytest

from evolve import plugins
from evolve.campaign.retuning import keys, retuned, when
from evolve.config import Settings, settings_from
from evolve.types import ConfigError, Task

LOADED = plugins.load()
FAST = {"name": "gpt-4.1", "settings": {"model": "gpt-4.1"}}
SMALL = {"name": "gpt-4.1-mini", "settings": {"model": "gpt-4.1-mini"}}


def settings(**values: object) -> Settings:
    return settings_from({"task": "one_number", "budget": ["30programs"], "judges": 2, **values})


def changed(task: Task, *assignments: str, running: bool = True, **values: object) -> dict[str, object]:
    return retuned("mine", settings(**values), assignments, task, LOADED, running=running)


@pytest.mark.parametrize(
    ("assignment", "key", "value"),
    [
        ("budget=['1h', '500programs']", "budget", ["1h", "500programs"]),
        ("judges=8", "judges", 8),
        ("confirm.share=0.5", "confirm", {"share": 0.5, "z": 2.0, "sigmas": 5.0, "seeds": 5}),
        ("outage.then=stop", None, None),
    ],
)
def test_a_change_is_what_differs_by_top_level_key(circle_task, assignment, key, value):
    """Nothing where nothing does."""
    assert changed(circle_task, assignment) == ({} if key is None else {key: value})


def test_one_setting_of_one_model_is_written_behind_its_name(circle_task):
    """Which may hold dots, and be the beginning of another's."""
    models = {"members": [FAST, SMALL]}
    found = changed(
        circle_task,
        "models.members.gpt-4.1.weight=3",
        "models.members.gpt-4.1.prompt_price=2",
        models=models,
        running=False,
    )
    members = found["models"]["members"]
    assert [(one["name"], one["weight"], one["prompt_price"]) for one in members] == [
        ("gpt-4.1", 3.0, 2.0),
        ("gpt-4.1-mini", 1.0, None),
    ]


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("seed=4", "'seed' cannot change in a campaign that has begun: every random decision follows from it. Do: evolve campaign fork mine"),
        ("archive.islands=2", "other rules would make another archive of the same records. Do: evolve campaign fork mine"),
        ("task.n=32", "decides their scores. Do: run a new campaign"),
        ("strategy.name=random", "its state is made of the whole log"),
        ("operators.settings.tune_literals.sigma=2", "a step that was asked must come out the same"),
        ("sandbox=none", "read when a run begins, so that it cannot change meanwhile. Do: evolve campaign stop mine"),
        ("judgs=3", "unknown setting 'judgs'. Did you mean 'judges'?"),
        ("judges=0", "setting 'judges': Input should be greater than or equal to 1, got 0"),
        ("models.members=[{name='a'}]", "read when a run begins, so that it cannot change meanwhile"),
        ("models.members.a.weight=2", "read when a run begins"),
        ("budget=['until=never']", "never"),
        ("budget=['5tokens']", "no operator of this campaign spends tokens"),
    ],
)  # fmt: skip
def test_what_cannot_change_is_refused_with_why_and_what_to_do(circle_task, assignment, message):
    """In one line."""
    with pytest.raises(ConfigError) as error:
        changed(circle_task, assignment)
    assert message in str(error.value)
    assert "Do: " in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["models.members=5", "models.members.gpt-4.1.weight=2"], "setting 'models.members' is a list"),
        (["models.members=[1]", "models.members.gpt-4.1.weight=2"], "setting 'models.members.0'"),
        (["models.members=[{kind='openai'}]", "models.members.gpt-4.1.weight=2"], "members.0.name': Field required"),
        (["budget=" + "[" * 10_000], "setting 'budget' is a list"),
        (["outage.model_wait_seconds=inf"], "finite number"),
    ],
)
def test_what_is_no_setting_is_an_error_of_the_one_who_wrote_it(circle_task, assignments, message):
    """Never one of the engine that is asked, which would end with it."""
    with pytest.raises(ConfigError) as error:
        changed(circle_task, *assignments, models={"members": [FAST]}, running=False)
    assert message in str(error.value)


def test_models_and_then_one_of_them_are_changed(circle_task):
    """What comes later is about what came before."""
    assignments = ("models.members=[{name='new', settings={model='x'}}]", "models.members.new.weight=4")
    found = changed(circle_task, *assignments, models={"members": [FAST]}, running=False)
    assert [(one["name"], one["weight"]) for one in found["models"]["members"]] == [("new", 4.0)]


def test_between_runs_more_may_change(circle_task):
    """What a run reads when it begins."""
    assert changed(circle_task, "sandbox=none", running=False) == {"sandbox": "none"}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("models.members=[{name='a'}]", "began without a model, and keeps its operators"),
        ("models.members.a.weight=2", "there is no model for"),
    ],
)
def test_a_campaign_that_began_without_models_gets_none(circle_task, assignment, message):
    """Neither between runs nor in one."""
    with pytest.raises(ConfigError, match=message):
        changed(circle_task, assignment, running=False)


def test_a_deterministic_campaign_gets_no_budget_in_time(circle_task):
    """As it cannot begin with one."""
    with pytest.raises(ConfigError, match="--deterministic cannot end by the clock"):
        changed(circle_task, "budget=['5s']", deterministic=True)


def test_every_setting_says_whether_it_may_change():
    """Or why it does not; operators' own are among them."""
    found = {one.key: (one.when, one.why) for one in keys(settings(), LOADED)}
    assert found["budget"] == ("any time", "")
    assert found["sandbox"] == ("between runs", "")
    assert found["seed"] == ("", "every random decision follows from it")
    assert found["operators.settings.mutate_ast.more"] == ("any time", "")
    assert found["operators.settings.tune_literals.sigma"][0] == ""
    assert all(bool(when) != bool(why) for when, why in found.values())


def test_nothing_that_the_fold_depends_on_may_change():
    """Rules of the archive, seeds, strategy: a log replays by the settings that it has at its end."""
    sections = ("archive", "strategy", "seed", "carry", "parameters", "task")
    fixed = [one.key for one in keys(settings(), LOADED) if one.key.startswith(sections)]
    rules = ["confirm.z", "confirm.sigmas", "confirm.seeds", "operators.names"]
    assert [key for key in [*fixed, *rules] if when(key, LOADED)] == []
