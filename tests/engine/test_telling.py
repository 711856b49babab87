"""What an operator with a model has besides."""

import math
import threading
from dataclasses import replace

import numpy as np

from evolve import plugins
from evolve.config import PromptsSection
from evolve.engine.proposals import add_prompts
from evolve.protocols import Context
from evolve.testing import RehearsedHistory, rehearsed_task
from evolve.types import Selection

SELECTION = Selection("diff")


def context() -> Context:
    """Of a task with templates of its own."""
    task = replace(rehearsed_task(), prompts={"task": "{{brief}}", "repair": "task: {{reason}}"})
    return Context(task, RehearsedHistory(), np.random.default_rng(0), math.inf, threading.Event())


def test_a_campaigns_template_comes_before_the_tasks() -> None:
    """Each by its name."""
    settings = PromptsSection(templates={"repair": "campaign: {{reason}}"}, tokens=5000)
    found = add_prompts(context(), SELECTION, settings, plugins.load([]))
    assert found.templates == {"task": "{{brief}}", "repair": "campaign: {{reason}}"}
    assert found.prompt_tokens == 5000


def test_the_machine_is_told_of_unless_a_person_says_no() -> None:
    """A cassette that shall replay elsewhere needs prompts without it."""
    loaded = plugins.load([])
    names = [
        [
            section.name
            for section in add_prompts(context(), SELECTION, PromptsSection(hardware=wanted), loaded).sections
        ]
        for wanted in (True, False)
    ]
    assert names == [["hardware"], []]
