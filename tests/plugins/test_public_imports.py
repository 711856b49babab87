"""Bundled plugins are written as a third party's would be: they import what docs/plugins.md calls public, and nothing else of the engine."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULE = re.search(r"^- Import from (.+?), and in tests", (ROOT / "docs" / "plugins.md").read_text("utf-8"), re.M | re.S)
PUBLIC = set(re.findall(r"`([\w.]+)`", RULE[1])) if RULE else set()
PLUGINS = sorted(folder.name for folder in (ROOT / "plugins").glob("evolve_*"))


def imported(file: Path) -> set[str]:
    """The modules that a file imports from."""
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    named = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return named | {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_bundled_plugin_imports_what_is_public_and_nothing_else(plugin: str) -> None:
    """In all of its files."""
    files = list((ROOT / "plugins" / plugin).rglob("*.py"))
    found = {name for file in files for name in imported(file) if name.partition(".")[0] == "evolve"}
    assert "evolve.hookspecs" in found
    assert found <= PUBLIC
