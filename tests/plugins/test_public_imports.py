"""Bundled plugins are written as a third party's would be: they import what docs/plugins.md calls public, and nothing else of the engine."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.pages import read_chapter

ROOT = Path(__file__).parents[2]
SECTION = read_chapter("plugins", "Write a plugin").partition("\n## What is public\n")[2].partition("\n## ")[0]
PUBLIC = re.findall(r"^\| `([\w.]+)` \|", SECTION, re.MULTILINE)
PLUGINS = sorted(folder.name for folder in (ROOT / "plugins").glob("evolve_*"))
OTHER_PLUGINS = {"evolve_compare": {"evolve_view"}, "evolve_publish": {"evolve_view"}}
"""Bundled plugins that a bundled plugin may import."""


def imported_modules(file: Path) -> set[str]:
    """The modules that a file imports, those among them that it takes from a package by name."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {module_of(node.module, alias.name) for alias in node.names}
    return found


def module_of(module: str, name: str) -> str:
    """The module that `from module import name` takes the name from: a submodule, unless the package has a value of that name."""
    if not module.startswith("evolve.") and module != "evolve":
        return module
    path = ROOT.joinpath(*module.split("."), name)
    is_module = path.with_suffix(".py").is_file() or path.is_dir()
    return f"{module}.{name}" if is_module and not callable(getattr(import_module(module), name, None)) else module


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_bundled_plugin_imports_what_is_public_and_nothing_else(plugin: str) -> None:
    """In all of its files; of other bundled plugins it imports none but those above."""
    found = set().union(*map(imported_modules, (ROOT / "plugins" / plugin).rglob("*.py")))
    engine = {name for name in found if name.partition(".")[0] == "evolve"}
    others = {name.partition(".")[0] for name in found if name.startswith("evolve_")}
    assert engine
    assert engine - set(PUBLIC) == set()
    assert others - {plugin} - OTHER_PLUGINS.get(plugin, set()) == set()


@pytest.mark.parametrize("module", PUBLIC)
def test_what_is_public_is_there(module: str) -> None:
    """It imports, and says what it has."""
    assert import_module(module).__doc__


def test_a_module_that_is_not_public_is_found(tmp_path: Path) -> None:
    """So that the check above can fail."""
    (tmp_path / "a.py").write_text(
        "from evolve import report, types\nfrom evolve.cli import output\nimport evolve.log\n"
    )
    assert imported_modules(tmp_path / "a.py") == {"evolve.report", "evolve.types", "evolve.cli.output", "evolve.log"}
