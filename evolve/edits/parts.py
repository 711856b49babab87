"""A piece of a Python file where the whole file, or the whole block, is asked for: most often the one function that changed.

Invariant: a text is a piece only where it cannot run in the place of the old one; what does not parse is no piece."""

import ast
from pathlib import PurePosixPath

from evolve.edits.failure import EditFailed, EditKind
from evolve.edits.parsing import tree

_DO = "Do: write the whole text anew, not the changed functions alone, or answer with SEARCH/REPLACE blocks"


def refuse_part(new: str, old: str, path: str, around: str = "") -> None:
    """Raises `EditFailed` where `new`, or `around`, the text that stays, uses a name that only the old text defines, or `new` has none of
    the functions that are called from elsewhere."""
    if not path.endswith(".py"):
        return
    before, after = tree(old), tree(new)
    if before is None or after is None:
        return
    if PurePosixPath(path).stem in _sources(after):
        raise EditFailed(
            EditKind.PARTIAL, f"The new text of {path} imports {path} itself. Do: write the file, not how it is used"
        )
    stays = tree(around)
    bound = _bound(after) | (_bound(stays) if stays else set())
    missing = (_top(before) - bound) & (_used(after) | (_used(stays) if stays else set()))
    if missing and "*" not in bound:
        name = sorted(missing)[0]
        raise _part(
            path,
            name,
            "uses it and does not define it" if name in _used(after) else "does not, though it is used outside",
        )
    entries = {name for name in _defined(before) if name not in _used(before)}
    if entries and not entries & bound:
        raise _part(path, sorted(entries)[0], "does not have it")


def _part(path: str, name: str, why: str) -> EditFailed:
    return EditFailed(
        EditKind.PARTIAL, f"The text of {path} that was shown defines {name!r}, and the new one {why}. {_DO}"
    )


def _sources(module: ast.Module) -> set[str]:
    """The modules that `from x import y` names."""
    return {node.module or "" for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and not node.level}


def _defined(module: ast.Module) -> set[str]:
    return {
        node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def _top(module: ast.Module) -> set[str]:
    """The names that a module has: what is in its functions and classes is not."""
    rest = [node for node in module.body if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    return _defined(module) | _bound(ast.Module(rest, []))


def _used(module: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(module: ast.Module) -> set[str]:
    """Every name that a text gives a meaning to, anywhere; `*` where it imports names that it does not tell."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found
