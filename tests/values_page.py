"""Makes `docs/values.md` from the docstrings of what plugins are given: `python -m tests.values_page` writes it anew."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Literal, get_args, get_origin

from evolve import archive, protocols, types

PAGE = Path(__file__).parents[1] / "docs" / "values.md"
GROUPS: dict[str, tuple[str, Sequence[str]]] = {
    "For a strategy": (
        "`ask` gets a `View` on the main thread, where nothing may wait; `tell` gets every [event](#events).",
        ["View", "History", "Archive", "Elite", "Traits", "Progress", "Lesson", "Propose", "Measure", "Wait"],
    ),
    "For an operator": (
        "`propose` gets a `Selection` and a `Context` on a proposal thread, where it may take its time, and returns children.",
        ["Selection", "Context", "Caller", "Prompt", "Message", "Section", "Reply", "Usage", "Child", "Program"],
    ),
    "For an evaluator": (
        "A stage gets a candidate and a `Trial` in a worker process, and returns an `Evaluation`. [Tasks](tasks.md) tell what a candidate can do.",
        ["Trial", "Evaluation", "Outcome", "Case"],
    ),
    "Events": (
        "A strategy and a replay are told the same events, in the same order; a tracker is told of records.",
        [
            *("Asked", "Replied", "Call", "Previewed", "Settled", "Record", "Origin", "Placement", "Insertion"),
            *("Ruled", "TaskChanged", "LessonWritten", "MachineMeasured", "Opened"),
        ],
    ),
    "The task": ("", ["Task", "Stage", "Axis", "Fitness", "Constraint"]),
}
HIDDEN = {"Archive": {"settle", "rule", "move_to_machine", "mark_asked", "due", "state"}}
"""Methods that only the engine calls."""
HEAD = """\
# What plugins are given

Made from the docstrings by `python -m tests.values_page`. [Plugins](plugins.md#rules) says what each part may do, and on which thread it runs.

Throughout: a `fitness` is larger for better programs, whatever the task's direction; times are seconds, and sizes bytes, where nothing else is said. A `RecordId` is a whole number from 1 on, in
the order in which records settled; a `ProgramId` and a `TextId` are digests. All values are immutable and plain data, but for `View`, `History`, `Archive`, `Context` and `Caller`, which answer questions. Import
`View`, `History`, `Context` and `Caller` from `evolve.protocols`, `Archive` and `Elite` from `evolve.archive`, and all others from `evolve.types`.
"""


def find(name: str) -> type:
    """The class of a name."""
    found = next(getattr(module, name) for module in (protocols, archive, types) if hasattr(module, name))
    assert isinstance(found, type)
    return found


def write_page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, (lead, names) in GROUPS.items():
        parts += [f"## {title}\n", *([f"{lead}\n"] if lead else []), *map(describe, names)]
    return "\n".join(parts)


def describe(name: str) -> str:
    """A class: its docstring, its fields, and its methods."""
    found = find(name)
    tree = ast.parse(textwrap.dedent(inspect.getsource(found))).body[0]
    assert isinstance(tree, ast.ClassDef)
    text = join_lines(ast.get_docstring(tree) or "")
    fields, methods = list(list_fields(tree, issubclass(found, Enum))), list(list_methods(tree))
    parts = [f"### {name}\n", text + "\n"]
    if fields:
        parts.append("```python\n" + "\n".join(fields) + "\n```\n")
    if methods:
        parts.append("\n".join(methods) + "\n")
    return "\n".join(part for part in parts if part.strip())


def list_fields(tree: ast.ClassDef, is_enum: bool) -> Iterator[str]:
    """The public fields of a class with their types and defaults, and what their docstrings say as comments."""
    for place, node in enumerate(tree.body):
        if (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)) or (
            is_enum and isinstance(node, ast.Assign)
        ):
            line = ast.unparse(node)
        else:
            continue
        if line.startswith("_"):
            continue
        line = line.replace("'", '"')
        meant = getattr(types, ast.unparse(node.annotation), None) if isinstance(node, ast.AnnAssign) else None
        if get_origin(meant) is Literal:
            line += f"  # {', '.join(map(repr, get_args(meant)))}"
        after = tree.body[place + 1] if place + 1 < len(tree.body) else None
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            line += f"  # {join_lines(after.value.value)}"
        yield line


def list_methods(tree: ast.ClassDef) -> Iterator[str]:
    """The public methods and properties of a class with their docstrings."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if node.name in HIDDEN.get(tree.name, ()):
            continue
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        given = node.args
        if "staticmethod" not in marks:
            given.args = given.args[1:]
        returns = f" -> {unquote(node.returns)}" if node.returns else ""
        called = node.name if "property" in marks else f"{node.name}({ast.unparse(given)})"
        about = join_lines(ast.get_docstring(node) or "")
        yield f"- `{called}{returns}`" + (f": {about}" if about else "")


def unquote(annotation: ast.expr) -> str:
    """An annotation without the quotes of a name that comes later."""
    return str(annotation.value) if isinstance(annotation, ast.Constant) else ast.unparse(annotation).replace("'", "")


def join_lines(text: str) -> str:
    """A docstring as one line for each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


if __name__ == "__main__":
    PAGE.write_text(write_page(), "utf-8")
