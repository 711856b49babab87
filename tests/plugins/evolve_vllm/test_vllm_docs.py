"""The page about the plugin says what its settings say."""

import json
from pathlib import Path

import pytest

from evolve_vllm.settings import VllmSettings
from tests.pages import read_chapter

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]


def rows() -> list[str]:
    """The table of settings, as it must read."""
    fields = VllmSettings.model_fields.items()
    return [
        f"| `{name}` | {'required' if field.is_required() else f'`{json.dumps(field.get_default(call_default_factory=True))}`'} | {field.description} |"
        for name, field in fields
    ]


def test_every_setting_has_its_row():
    """With its default and what it means, and nothing else has one."""
    page = read_chapter("models", "vLLM")
    table = page.partition("|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows()
