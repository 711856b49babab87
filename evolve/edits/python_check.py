"""Checks of Python text: whether it parses, and whether it is a piece where the whole file is asked for.

Nothing of a program is run, and a language that is not known is never held against it."""

import ast
import warnings
from pathlib import PurePosixPath

from evolve.edits.errors import EditFailed, EditKind, quote_lines
from evolve.types import Program

_CONTEXT = 2
_LARGEST = 1_000_000


def find_syntax_error(program: Program, before: Program) -> str:
    """Returns why a file that differs from `before` cannot be parsed, with the line quoted; empty where all parse. Only the files of
    Python (`.py`) are looked at."""
    for path, text in program.files.items():
        if path.endswith(".py") and text != before.files.get(path):
            fault = _fault(path, text)
            if fault:
                return fault
    return ""


def parse_module(text: str) -> ast.Module | None:
    """Returns a text as Python; None where it is none, or larger than any program."""
    if len(text) > _LARGEST:
        return None
    try:
        _compile(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _compile(text: str) -> None:
    """Parses it, and finds what parses and is no program, such as a `return` outside of a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "<program>", "exec", dont_inherit=True)


def _fault(path: str, text: str) -> str:
    try:
        _compile(text)
    except SyntaxError as error:
        return _describe_error(path, text, error)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{path} does not parse: {error or type(error).__name__}. Do: write plain Python that is not nested as deeply"
    return ""


def _describe_error(path: str, text: str, error: SyntaxError) -> str:
    number = error.lineno or 0
    lines = text.split("\n")
    near = lines[max(0, number - 1 - _CONTEXT) : number]
    where = f", line {number}" if number else ""
    quoted = f" The last of these lines:\n{quote_lines(near)}\n" if near else " "
    return f"{path} does not parse{where}: {error.msg}.{quoted}Do: write Python that parses"


_DO = "Do: write the whole text anew, not the changed functions alone, or answer with SEARCH/REPLACE blocks"


def refuse_part(new: str, old: str, path: str, around: str = "") -> None:
    """Raises `EditFailed` where `new`, or `around`, the text that stays, uses a name that only the old text defines, or `new` has none of
    the functions that are called from elsewhere."""
    if not path.endswith(".py"):
        return
    before, after = parse_module(old), parse_module(new)
    if before is None or after is None:
        return
    if PurePosixPath(path).stem in _sources(after):
        raise EditFailed(
            EditKind.PARTIAL, f"The new text of {path} imports {path} itself. Do: write the file, not how it is used"
        )
    stays = parse_module(around)
    bound = _bound_names(after) | (_bound_names(stays) if stays else set())
    missing = (_top(before) - bound) & (_find_used_names(after) | (_find_used_names(stays) if stays else set()))
    if missing and "*" not in bound:
        name = sorted(missing)[0]
        raise _part(
            path,
            name,
            "uses it and does not define it"
            if name in _find_used_names(after)
            else "does not, though it is used outside",
        )
    entries = {name for name in _find_definitions(before) if name not in _find_used_names(before)}
    if entries and not entries & bound:
        raise _part(path, sorted(entries)[0], "does not have it")


def _part(path: str, name: str, why: str) -> EditFailed:
    return EditFailed(
        EditKind.PARTIAL, f"The text of {path} that was shown defines {name!r}, and the new one {why}. {_DO}"
    )


def _sources(module: ast.Module) -> set[str]:
    """Returns the modules that `from x import y` names."""
    return {node.module or "" for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and not node.level}


def _find_definitions(module: ast.Module) -> set[str]:
    return {
        node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def _top(module: ast.Module) -> set[str]:
    """Returns the names that a module has: what is in its functions and classes is not."""
    rest = [node for node in module.body if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    return _find_definitions(module) | _bound_names(ast.Module(rest, []))


def _find_used_names(module: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound_names(module: ast.Module) -> set[str]:
    """Returns every name that a text gives a meaning to, anywhere; `*` where it imports names that it does not tell."""
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
