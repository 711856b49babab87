"""A task in one file: the brief in its docstring, the seed between the EVOLVE-BLOCK markers, settings in a comment block, the evaluator
below.

Invariant: the seed stands alone. What a block takes from the rest of the file is an error when the task is loaded, with its line, for a
candidate gets the blocks and nothing else."""

import ast
import builtins
import io
import re
import symtable
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from evolve.edits.blocks import END, START
from evolve.types import TaskError

SEED = "seed.py"
"""The name of the program's only file."""

_SETTINGS = re.compile(r"^# /// evolve[ \t]*\n(?P<lines>(?:#(?:| .*)\n)*?)# ///[ \t]*$", re.MULTILINE)
_OPENED = re.compile(r"^# /// evolve[ \t]*$", re.MULTILINE)
_LIKE_OPENED = re.compile(r"^#[ \t]*//+[ \t]*(?P<word>\w+)[ \t:]*$")
_GIVEN = {*vars(builtins), "__name__", "__file__", "__doc__", "__spec__", "__loader__", "__package__", "__builtins__"}
_REFUSED = {
    "brief": "the docstring of the file is the brief",
    "program": "what stands between the EVOLVE-BLOCK markers is the program",
    "evaluator": "the function marked @evaluator in the file judges",
    "verifier": "a verifier is a file of its own, and such a task is a folder",
}


@dataclass(frozen=True, slots=True)
class OneFile:
    """What a file says: `settings` are the keys of a `task.toml`, with its schema."""

    brief: str
    seed: str
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Block:
    """A part of the program with its marker lines; `line` is where the first one stands in the file, counted from 1."""

    line: int
    text: str


def read(path: Path) -> OneFile:
    """The task that a file is; raises `TaskError`, and `OSError` where the file cannot be read."""
    try:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: this is not a text in UTF-8: {error}. Do: save it as UTF-8") from error
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{path}: this is not Python: {error}. Do: mend that line") from error
    except (RecursionError, MemoryError) as error:
        raise TaskError(
            f"{path}: this is nested too deeply for Python to read it. Do: break the longest expression up"
        ) from error
    brief = ast.get_docstring(tree)
    if not brief:
        raise TaskError(
            f"{path}: there is no brief. Do: begin the file with a docstring that says what the program must do"
        )
    blocks = _blocks(path, text)
    for block in blocks:
        _check_alone(path, block)
    _check_names(path, tree, blocks)
    _check_neighbours(path, tree)
    return OneFile(brief, _joined(blocks), _settings(path, text))


def program_of(text: str) -> str:
    """What stands between the markers of a text, with them; the text itself where there are none. Raises `TaskError`."""
    try:
        blocks = _blocks(Path(SEED), text)
    except TaskError:
        if START in text:
            raise
        return text
    return _joined(blocks)


def _joined(blocks: Sequence[_Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _blocks(path: Path, text: str) -> list[_Block]:
    """The blocks in their order; raises `TaskError` where the markers are none, or no pairs."""
    lines, found, opened = text.splitlines(keepends=True), [], 0
    for line, marker in _markers(text):
        if (marker == START) == bool(opened):
            last = f"the {START} of line {opened}" if opened else f"no {START}"
            raise TaskError(
                f"{path}:{line}: {marker} comes after {last}. Do: put each block between one {START} and one {END}"
            )
        if marker == END:
            found.append(_Block(opened, "".join(lines[opened - 1 : line]).rstrip("\n") + "\n"))
        opened = line if marker == START else 0
    if opened:
        raise TaskError(f"{path}:{opened}: the block that begins here has no end. Do: add a line # {END}")
    if not found:
        raise TaskError(
            f"{path}: there is no seed program. Do: put the code that may change between # {START} and # {END}"
        )
    return found


def _markers(text: str) -> Iterator[tuple[int, str]]:
    """The markers in comments, with their lines; a comment that tells of both is none of them."""
    for line, comment in _comments(text):
        named = [marker for marker in (START, END) if marker in comment]
        if len(named) == 1:
            yield line, named[0]


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments with their lines."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):  # a program that does not parse may be judged all the same
        return


def _check_alone(path: Path, block: _Block) -> None:
    """Each block is code by itself."""
    try:
        ast.parse(block.text)
    except SyntaxError as error:
        line = block.line + (error.lineno or 1) - 1
        raise TaskError(
            f"{path}:{line}: the block that begins at line {block.line} is not complete in itself: {error.msg}. "
            "Do: put the markers around whole functions, at the margin"
        ) from error


def _check_names(path: Path, tree: ast.Module, blocks: Sequence[_Block]) -> None:
    """Raises `TaskError` for the first name that the program uses and only the rest of the file has."""
    program = "".join(block.text for block in blocks)
    table = symtable.symtable(program, str(path), "exec")
    inside = _bound(table)
    missing = _used(table) - inside - _GIVEN
    inner = [(block.line, block.line + block.text.count("\n")) for block in blocks]
    outside = _places(tree, inner)
    uses = [
        (node.lineno, node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in missing and any(low <= node.lineno < high for low, high in inner)
    ]
    for line, name in sorted(uses):
        if name in outside:
            raise TaskError(
                f"{path}:{line}: the program uses {name!r}, which line {outside[name]} makes outside its block: a candidate gets the "
                f"block alone. Do: {_remedy(tree, name)}"
            )


def _bound(table: symtable.SymbolTable) -> set[str]:
    """The names that a module has: those of its top level, and what its functions declare global."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_namespace()}
    for inner in _inner(table):
        names |= {
            symbol.get_name()
            for symbol in inner.get_symbols()
            if symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported())
        }
    return names


def _used(table: symtable.SymbolTable) -> set[str]:
    """The names that a module looks up in its own top level."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    for inner in _inner(table):
        names |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return names


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """The scopes below a scope, at any depth."""
    for child in table.get_children():
        yield child
        yield from _inner(child)


def _places(tree: ast.Module, inner: Sequence[tuple[int, int]]) -> dict[str, int]:
    """The names that the file's top level makes outside the blocks, with their lines."""
    found: dict[str, int] = {}
    for statement in tree.body:
        if not any(low <= statement.lineno < high for low, high in inner):
            for name in _made(statement):
                found.setdefault(name, statement.lineno)
    return found


def _made(statement: ast.stmt) -> Iterator[str]:
    """The names that one statement gives to its module."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _remedy(tree: ast.Module, name: str) -> str:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and name in _made(node):
            return f"write `{ast.unparse(node)}` inside the block"
    return f"move {name!r} into the block, or give it to the program as an argument"


def _check_neighbours(path: Path, tree: ast.Module) -> None:
    """The version of a task in one file covers no other file, so none may be imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        else:
            continue
        for name in (name.partition(".")[0] for name in names):
            beside = name not in sys.stdlib_module_names and (path.parent / f"{name}.py").is_file()
            if beside or not name:
                raise TaskError(
                    f"{path}:{node.lineno}: a task in one file imports no other file of its folder, got `{ast.unparse(node)}`. "
                    "Do: move the code here, or make the task a folder (`evolve task new NAME` writes one)"
                )


def _settings(path: Path, text: str) -> dict[str, Any]:
    """The comment block `# /// evolve` ... `# ///` as TOML (the form of PEP 723), with the schema's version."""
    _check_marker(path, text)
    found = list(_SETTINGS.finditer(text))
    opened = list(_OPENED.finditer(text))
    if len(found) < len(opened) or len(found) > 1:
        closed = {each.start() for each in found}
        wrong = next((each for each in opened if each.start() not in closed), opened[-1])
        line = text.count("\n", 0, wrong.start()) + 1
        raise TaskError(
            f"{path}:{line}: the settings are one block of lines that begin with `# `, between `# /// evolve` and `# ///`. "
            "Do: close it with a line `# ///`, and keep only one"
        )
    if not found:
        return {"schema": 1}
    # As many empty lines before it as the file has, so that an error names the file's line.
    before = "\n" * (text[: found[0].start("lines")].count("\n"))
    lines = re.sub(r"^# ?", "", found[0]["lines"], flags=re.MULTILINE)
    try:
        settings = tomllib.loads(before + lines)
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: the settings are not TOML: {error}. Do: mend that line") from error
    for key, reason in _REFUSED.items():
        if key in settings:
            raise TaskError(f"{path}: a task in one file has no key {key!r}: {reason}. Do: leave it out")
    return {"schema": 1, **settings}


def _check_marker(path: Path, text: str) -> None:
    """Raises `TaskError` for a comment that is nearly the line which opens the settings: they would be left out without a word."""
    for line, comment in _comments(text):
        like = _LIKE_OPENED.match(comment)
        if like and not _OPENED.match(comment) and get_close_matches(like["word"].lower(), ["evolve"], cutoff=0.8):
            raise TaskError(
                f"{path}:{line}: got {comment!r}, which opens no settings. Do: write `# /// evolve`, and `# ///` after the last setting"
            )
