"""`evolve run --dry-run`: settings, the first prompt, and what proposals will cost."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evolve import plugins
from evolve.campaign.spending import CostEstimate, ModelEstimate
from evolve.cli import dry_run
from evolve.config import ModelSection, ModelsSection, Settings
from evolve.engine import RunRequest
from evolve.models.prices import Cost
from evolve.types import Call, Message, Prompt, Section
from tests.written import Written, number_task

DRY = {
    "settings": {"workers": 2, "archive": {"islands": 4}},
    "operators": ("tune_literals", "mutate_ast"),
    "budget": "30programs",
    "stages": ("screen", "full"),
    "functions": ("certify", "draw"),
    "limit": 25.0,
    "isolation": "reduced: a fake",
    "environment": "python 0",
    "foreseen": None,
}


def request(task=None, **fields) -> RunRequest:
    """A run on the number, with these settings."""
    settings = Settings(**{"task": "number", "workers": 1, **fields})
    return RunRequest(settings, task or number_task(), plugins.load(), Path())


def test_it_tells_the_task_what_its_evaluator_says_and_the_settings():
    """As keys that --set takes."""
    text = dry_run.format_run(request(), DRY)
    for line in (
        "what would run; nothing was made and nothing is evaluated",
        "fitness      nearness, max, deterministic",
        "stages       screen, full; at most 25 s in all",
        "evaluator    loads; it also has certify, draw",
        "isolation    reduced: a fake",
        "grants       nothing beyond the usual",
        "environment  python 0",
        "axes         size [0, 10] x 5",
        "anchors      8 Later, 3 Early",
        "operators    tune_literals, mutate_ast",
        "budget       30programs",
        "  workers = 2",
        "  archive.islands = 4",
    ):
        assert line in text, line


def test_of_a_noisy_task_it_says_how_often_its_seed_is_measured():
    """Its evaluator may have no other functions."""
    task = number_task(deterministic=False, axes=(), anchors=())
    text = dry_run.format_run(request(task), {**DRY, "functions": ()})
    assert "noisy, its seed is measured 5 times" in text
    assert "axes         default" in text
    assert "evaluator    loads\n" in text


MAILBOX = ModelSection(
    name="person", kind="mailbox", settings={"folder": "nowhere"}, prompt_price=2, completion_price=4
)


def plan(*members: ModelSection, **fields: object) -> RunRequest:
    """A campaign on the number, with these models."""
    return request(models=ModelsSection(members=members), **fields)


def test_the_first_prompt_shows_the_seed_which_is_not_judged():
    """Task, rules and the seed, as the operator's first step will read them."""
    found = dry_run.preview_cost(plan(MAILBOX, budget=("10calls",)))
    assert [message.role for message in found.prompt.messages] == ["system", "user"]
    assert "Find the number." in found.prompt.messages[0].text
    assert "Not evaluated." in found.prompt.messages[1].text
    assert "    return 5" in found.prompt.messages[1].text
    (line,) = found.estimate.models
    assert (line.model, line.proposals, line.least) == ("person", 10, 10)


def test_without_a_model_that_proposes_nothing_is_foreseen():
    """Neither without models, nor with one for other purposes alone."""
    assert dry_run.preview_cost(plan()) is None
    models = ModelsSection(members=(MAILBOX,)).model_copy(update={"purposes": {"reflect": "person"}})
    settings = request().settings.model_copy(update={"models": models})
    assert dry_run.preview_cost(replace(request(), settings=settings)) is None


def test_more_of_a_campaign_begins_with_its_best_and_what_is_left(tmp_path: Path):
    """The prompt tells what is known, and the estimate counts what was spent."""
    written = Written(tmp_path, budget=["10calls"], models={"members": [MAILBOX.model_dump()]})
    written.seed(5.0)
    written.called(Call("person", prompt_tokens=10))
    written.proposal(6.0, operator="diff", model="person")
    with written.campaign as campaign:
        more = RunRequest(campaign.settings, campaign.task, campaign.plugins, tmp_path, campaign=campaign)
        found = dry_run.preview_cost(more)
    assert "    return 6" in found.prompt.messages[1].text
    assert found.estimate.models[0].proposals == 9


def test_what_is_foreseen_is_plain_data():
    """For `--json`."""
    found = json.loads(json.dumps(asdict(dry_run.preview_cost(plan(MAILBOX)))))
    assert found["operator"] == "diff"
    assert found["estimate"]["models"][0]["usual"]["calls"] == 1


ESTIMATE = CostEstimate(
    1454,
    1000,
    (
        ModelEstimate("small", Cost(1, 2454, 0.0123), Cost(1, 22_500, 0.25), 406, 20),
        ModelEstimate("own", Cost(1, 2454, 0.0, 10.0), Cost(1, 22_500, 0.0, 5400.0), None, None),
        ModelEstimate("huge", Cost(1, 9000, 9.0), Cost(1, 9000, 9.0), 0, 0),
    ),
)


def test_an_estimate_tells_suppositions_and_bounds_apart():
    """And how many proposals a budget pays for, by each model."""
    rows = dict(dry_run.format_costs(ESTIMATE, "5usd"))
    assert rows["a proposal"].splitlines()[:2] == [
        "small: about 2,454 tokens, 0.012 usd; at most 22,500 tokens, 0.25 usd",
        "own: about 2,454 tokens, 10 GPU seconds; at most 22,500 tokens, 1.5 GPU hours",
    ]
    assert "about 1,454 tokens, one call, and an answer of 1,000 tokens" in rows["a proposal"]
    assert rows["5usd pays for"].splitlines() == [
        "small: about 406, and 20 at least",
        "own: as many as there is time for",
        "huge: none",
    ]


@pytest.mark.parametrize("length", [10, 100_000])
def test_the_prompt_is_shown_word_for_word_as_a_quotation(length: int):
    """However long it is; what a terminal would obey is made harmless."""
    words = Prompt((Message("system", (Section("task", "x" * length + "\x1b[2J"),)),))
    told = dry_run.format_prompt(dry_run.CostPreview("diff", words, ESTIMATE))
    assert told.startswith("a first prompt, of operator diff\n\n--- system: task (about ")
    assert "│ " + "x" * length in told
    assert "\x1b" not in told
