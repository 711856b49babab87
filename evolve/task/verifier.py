"""The script by which anybody can check what a task has certified, with Python alone.

Invariant: one that passes stands alone: it imports nothing but the standard library, and does nothing by itself. It is read here, and never run."""

import ast
import builtins
import sys
from collections.abc import Iterator
from pathlib import Path

from evolve.types import TaskError

FUNCTION = "proven"
"""`proven(certificate, parameters)` is the exact fitness, or raises `ValueError` with what does not hold."""
SENTENCE = "PROVES"
"""A text: what a certificate proves that holds."""
CERTIFICATE = "certificate"
"""The artifact in which a task stores what it has proven."""
RESERVED = "exported"
"""What names begin with that an export adds, in small or capital letters."""

_BUILTIN = frozenset(dir(builtins))


def check(where: Path, text: str) -> None:
    """Raises `TaskError` with the first reason for which a verifier could not be handed on."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{where}: the verifier is not Python: {error}. Do: mend that line") from error
    fault = next(_faults(tree), "")
    if fault:
        raise TaskError(f"{where}: {fault}")


def sentence(text: str) -> str:
    """What the certificates of a task prove, as its verifier says it."""
    found = next(node for node in ast.parse(text).body if _is_sentence(node))
    assert isinstance(found, ast.Assign), "a verifier that passes has one"
    assert isinstance(found.value, ast.Constant), "a verifier that passes has one"
    return str(found.value.value)


def _faults(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        yield from _faults_of(node)
    yield from filter(None, map(_does, tree.body))
    if not any(isinstance(node, ast.FunctionDef) and node.name == FUNCTION for node in tree.body):
        yield f"a verifier has no function {FUNCTION}(certificate, parameters). Do: write it; it returns the exact fitness"
    if not any(_is_sentence(node) for node in tree.body):
        yield f'a verifier says what it proves. Do: write {SENTENCE} = "..."'


def _faults_of(node: ast.AST) -> Iterator[str]:
    line = getattr(node, "lineno", 0)
    for module in _imported(node):
        if module not in sys.stdlib_module_names:
            yield (
                f"line {line} imports {module or 'a neighbour'!r}, and a verifier runs with the standard library alone. "
                "Do: write what it needs into it"
            )
    for name in _names(node):
        if name == "__name__":
            yield f"line {line} asks for __name__, and a verifier is no program of its own. Do: leave only definitions in it"
        elif name.lower().startswith(RESERVED):
            yield f"line {line} uses the name {name!r}, which an export adds. Do: call it otherwise"


def _does(node: ast.stmt) -> str:
    """What is wrong with a statement that does more than define a name of the verifier's own."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        names = [node.name]
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        names = [
            ast.unparse(target).strip("()")
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
    else:
        words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        return (
            ""
            if words
            else f"line {node.lineno} does something when the file is read. Do: leave only definitions in it"
        )
    taken = [name for listed in names for name in listed.split(", ") if name in _BUILTIN or not name.isidentifier()]
    return (
        f"line {node.lineno} gives another meaning to {taken[0]!r}. Do: define only names of your own" if taken else ""
    )


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["" if node.level else (node.module or "").partition(".")[0]]
    return []


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.alias):
        return [node.asname or node.name]
    return [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []


def _is_sentence(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str) and [ast.unparse(target) for target in node.targets] == [SENTENCE]
