"""The page about the plugin says what its settings say."""

import ast
import json
from pathlib import Path

import evolve_vllm
from evolve_vllm.settings import VllmSettings

ROOT = Path(__file__).parents[3]
PUBLIC = {"evolve", "evolve.hookspecs", "evolve.protocols", "evolve.types", "evolve.archive", "evolve.models"}


def rows() -> list[str]:
    """The table of settings, as it must read."""
    fields = VllmSettings.model_fields.items()
    return [
        f"| `{name}` | {'required' if field.is_required() else f'`{json.dumps(field.get_default(call_default_factory=True))}`'} | {field.description} |"
        for name, field in fields
    ]


def test_every_setting_has_its_row():
    """With its default and what it means, and nothing else has one."""
    page = (ROOT / "docs" / "vllm.md").read_text()
    table = page.partition("|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows()


def test_the_plugin_imports_what_is_public_and_nothing_else():
    """As a third party's would."""
    folder = Path(evolve_vllm.__file__).parent
    names = {
        node.module
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert {name for name in names if name.partition(".")[0] == "evolve"} <= PUBLIC
