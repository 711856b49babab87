"""The pages for people: what there is stands in them, what stands in them exists, and their examples run."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from evolve import hookspecs, plugins
from evolve.cli import evolve
from evolve.config import Settings
from evolve.log.views import VIEWS
from evolve.types import Insertion, Outcome
from tests.pages import read_chapter

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *DOCS.rglob("*.md"),
        *(page for folder in ("archive", "plugins", "tasks") for page in (ROOT / folder).glob("*/*.md")),
        *(ROOT / folder / "README.md" for folder in ("archive", "plugins")),
    ]
)
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
MACHINE_PATH = re.compile(r"(?<![\w.~*-])/(?:work|tmp|home|root|Users)(?![\w-])")
NO_DEFAULT = {"task": "required", "workers": "one per core"}
"""Settings whose default is told in words."""


def text(name: str) -> str:
    """A page by its path from the root."""
    return (ROOT / name).read_text("utf-8")


def headings(page: str) -> list[str]:
    """The headings of a page, without `#` and backticks; what looks like one in a block of code is none."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return [found.replace("`", "") for found in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]


def anchor(heading: str) -> str:
    """What a link to a heading is called on a code host."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


# --- what there is stands in the pages


def test_every_hook_has_its_heading() -> None:
    """In docs/plugins.md, and no other hook has one."""
    hooks = {name for name, found in vars(hookspecs).items() if hasattr(found, "evolve_spec")}
    heads = {heading for heading in headings(text("docs/plugins.md")) if re.fullmatch(r"[a-z]+(_[a-z]+)+", heading)}
    assert heads == hooks


def test_the_headings_of_views_are_those_that_there_are() -> None:
    """A view that is gone leaves the page, too."""
    assert set(re.findall(r"^#### `(\w+)`$", text("docs/python.md"), re.MULTILINE)) == set(VIEWS)


def told(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every dotted key with what the model says of it: editors show that for a campaign file."""
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from told(type(field.default), f"{prefix}{name}.")
        else:
            yield prefix + name, field.description or f"the field {prefix + name} of the settings has no description"


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every dotted key with its default as TOML writes it, or in words."""
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from leaves(type(field.default), f"{prefix}{name}.")
        elif prefix + name in NO_DEFAULT:
            yield prefix + name, NO_DEFAULT[prefix + name]
        else:
            default = field.get_default(call_default_factory=True)
            assert default is not PydanticUndefined, name
            yield prefix + name, f"`{json.dumps(default)}`"


def own_settings() -> Iterator[tuple[str, str]]:
    """Those of the bundled strategies and operators."""
    found = plugins.load()
    for strategy in found.strategies.values():
        if strategy.plugin in plugins.BUNDLED and strategy.entry.settings is not None:
            yield from leaves(strategy.entry.settings, "strategy.settings.")
    for name, operator in found.operators.items():
        if operator.plugin in plugins.BUNDLED and operator.entry.settings is not None:
            yield from leaves(operator.entry.settings, f"operators.settings.{name}.")


def test_every_setting_is_told_with_its_default() -> None:
    """In docs/settings.md, which has no other keys."""
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \| .+ \|$", text("docs/settings.md"), re.MULTILINE)
    assert sorted(rows) == sorted([*leaves(Settings), *own_settings()])


def test_the_page_says_of_a_setting_what_the_model_says() -> None:
    """But for links."""
    page = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text("docs/settings.md"))
    rows = dict(re.findall(r"^\| `([\w.]+)` \| .+? \| (.+) \|$", page, re.MULTILINE))
    assert {key: rows[key] for key, _ in told(Settings)} == dict(told(Settings))


def test_the_pages_of_operators_and_strategies_have_those_that_there_are() -> None:
    """Each bundled one has a heading; methods of papers have a page of their own."""
    found = plugins.load()
    for entries in (found.operators, found.strategies):
        names = {name for name, registered in entries.items() if registered.plugin in plugins.BUNDLED}
        heads = {heading for page in ("operators", "methods") for heading in headings(text(f"docs/{page}.md"))}
        assert names <= heads


def test_the_glossary_has_every_outcome_and_every_insertion() -> None:
    """One word for one thing, and all of them."""
    page = text("docs/concepts.md")
    wanted = [*(str(outcome) for outcome in Outcome), *(insertion.name for insertion in Insertion)]
    assert [word for word in wanted if f"`{word}`" not in page] == []


def test_the_glossary_is_short() -> None:
    """At most 45 words."""
    assert len(re.findall(r"^\| \*\*", text("docs/concepts.md"), re.MULTILINE)) <= 45


def test_every_page_is_linked_from_the_index() -> None:
    """docs/index.md lists every page of docs/."""
    index = text("docs/index.md")
    pages = [name.removeprefix("docs/") for name in NAMES if name.startswith("docs/")]
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []


def test_the_readme_is_short() -> None:
    """Longer explanations belong into docs/."""
    assert len(text("README.md")) <= 6_000


# --- what stands in the pages exists


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_to_a_file_resolves(page: Path) -> None:
    """Its anchor, too."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if re.match(r"https?://", target):
            continue
        path, _, part = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        found = file.exists() and (not part or part in map(anchor, headings(file.read_text("utf-8"))))
        broken += [] if found else [target]
    assert broken == []


def test_every_make_target_that_is_named_exists() -> None:
    """In any page."""
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    named = {target for page in PAGES for target in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text("utf-8"), re.M)}
    assert {"demo", "test"} <= named <= targets


def command_lines() -> set[str]:
    """Every `evolve COMMAND ...` in a block of code or in backticks."""
    found = set()
    for page in PAGES:
        blocks = re.findall(r"^```\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        found |= {line for block in blocks for line in re.findall(r"^(?:\$ )?evolve ([a-z].*)$", block, re.MULTILINE)}
        found |= set(re.findall(r"`evolve ([a-z][^`]*)`", prose))
    return found


def unknown(line: str) -> list[str]:
    """The words of a command line that name no command and no option that there is."""
    first, *words = shlex.split(line, comments=True)
    context = click.Context(evolve)
    if first not in evolve.list_commands(context):
        return [first]
    command = evolve.get_command(context, first)
    if isinstance(command, click.Group) and words:
        if words[0] not in command.list_commands(context):
            return words[:1]
        command = command.get_command(context, words.pop(0))
    assert command is not None
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in words if word.startswith("-") and word not in {*known, "-"}]


def test_every_command_and_option_that_is_named_exists() -> None:
    """In any page."""
    lines = command_lines()
    assert "run online_bin_packing --budget 40s" in lines
    assert [line for line in sorted(lines) if unknown(line)] == []


@pytest.mark.parametrize(
    ("line", "words"),
    [("walk", ["walk"]), ("campaign move x", ["move"]), ("run x --budgets 3s", ["--budgets"]), ("program list", [])],
)
def test_a_command_that_there_is_not_is_found(line: str, words: list[str]) -> None:
    """So that the check above can fail."""
    assert unknown(line) == words


# --- the examples run


@pytest.fixture
def wave(tmp_path: Path) -> Path:
    """The folder that docs/tasks.md tells to make."""
    files = re.findall(
        r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", read_chapter("tasks", "Write a task"), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "wave").mkdir()
    for name, content in files:
        (tmp_path / "wave" / name).write_text(content, "utf-8")
    return tmp_path


def cli(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "evolve", *words],
        cwd=folder,
        env={**os.environ, "EVOLVE_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.integration
def test_the_task_of_the_page_runs_on_the_first_try(wave: Path) -> None:
    """Twenty programs are evaluated, and what the page says to type next works."""
    ran = cli(wave, "run", "./wave", "--budget", "20programs", "--json")
    assert ran.returncode == 0, ran.stderr
    records: list[Mapping[str, Any]] = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (records[-1]["event"], records[-1]["programs"]) == ("ended", 20)
    outcomes = [record["outcome"] for record in records[:-1]]
    assert outcomes.count("ok") > len(outcomes) / 2, outcomes
    assert records[0]["fitness"] == pytest.approx(0.0488, abs=1e-4)
    shown = cli(wave, "program", "show", "best", "--code")
    assert shown.returncode == 0, shown.stderr
    assert "def wave(points):" in shown.stdout


@pytest.mark.integration
def test_the_campaign_file_of_the_page_is_one(tmp_path: Path) -> None:
    """It says what is in it."""
    (example,) = re.findall(
        r"^```toml\n# (search.toml)\n(.*?)^```$", text("docs/settings.md"), re.MULTILINE | re.DOTALL
    )
    name, content = example
    (tmp_path / name).write_text(content, "utf-8")
    shown = cli(tmp_path, "run", "-c", name, "--seed", "8", "--dry-run", "--json")
    assert shown.returncode == 0, shown.stderr
    dry = json.loads(shown.stdout)
    assert {key: dry["settings"][key] for key in ("task", "budget", "seed", "parameters", "strategy", "operators")} == {
        "task": "circle_packing",
        "budget": ["2h", "5000programs"],
        "seed": 8,
        "parameters": {"n": 32},
        "strategy": {"name": "islands", "settings": {"inspirations": 3, "resource": "programs"}},
        "operators": {
            "names": ["tune_literals", "perturb_literals", "diff"],
            "settings": {"perturb_literals": {"sigma": 0.5}},
        },
    }
    assert dry["settings"]["archive"]["islands"] == 2


def python_examples() -> list[tuple[str, str]]:
    """Every block of Python in the pages, with its page; decisions hold sketches, which nobody copies."""
    return [
        (name, block)
        for name, page in zip(NAMES, PAGES, strict=True)
        if not name.startswith("docs/decisions/")
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize(("name", "block"), python_examples())
def test_every_example_in_python_parses(name: str, block: str) -> None:
    """Dots stand for what is left out."""
    assert ast.parse(block, filename=name).body


# --- the code as its readers find it


def modules() -> list[Path]:
    """Every module of the engine."""
    return sorted((ROOT / "evolve").rglob("*.py"))


def test_every_module_says_why_it_exists() -> None:
    """In its docstring."""
    silent = [path for path in modules() if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert [str(path.relative_to(ROOT)) for path in silent] == []


def shipped() -> Iterator[Path]:
    """Every text of the project but tests, and what is made by running it."""
    suffixes = {".py", ".md", ".toml", ".svg", ".json", ""}
    for folder in ("evolve", "tasks", "plugins", "benchmarks", "docs", ".ci"):
        found = (path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in suffixes)
        yield from (path for path in found if "__pycache__" not in path.parts)
    yield from (
        ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "archive/README.md")
    )


def test_no_file_names_a_place_of_one_machine() -> None:
    """What is told works elsewhere. The sandbox names the folders that every system has."""
    others = [path for path in shipped() if not path.is_relative_to(ROOT / "evolve" / "sandbox")]
    found = [(str(path.relative_to(ROOT)), MACHINE_PATH.findall(path.read_text("utf-8"))) for path in others]
    assert [(name, places) for name, places in found if places] == []


@pytest.mark.parametrize(
    ("line", "names_one"),
    [("see /tmp/x", True), ("cd /home", True), ("`/work/main`", True), ("docs/work", False), ("/workspace", False)],
)
def test_what_counts_as_a_place_of_one_machine(line: str, names_one: bool) -> None:
    """An absolute path into a folder that belongs to somebody."""
    assert bool(MACHINE_PATH.search(line)) == names_one
