"""Tasks in one file: the brief in its docstring, the seed between the EVOLVE-BLOCK markers, settings in a comment block, the evaluator
below.

A candidate gets the blocks and nothing else: what a block takes from the rest of the file is an error, with its line, when the task is loaded."""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve.edits.blocks import END, START
from evolve.edits.python_names import Names, list_imported, start
from evolve.types import TaskError

SEED = "seed.py"
"""Name of the program's only file."""

# The form of PEP 723, so that editors leave it alone.
_SETTINGS = re.compile(r"^# /// evolve[ \t]*\n(?P<lines>(?:#(?:| .*)\n)*?)# ///[ \t]*$", re.MULTILINE)
_OPENED = re.compile(r"^# /// evolve[ \t]*$", re.MULTILINE)
_LIKE_OPENED = re.compile(r"^#[ \t]*(?://+[ \t]*evolve|///[ \t]*(?!script\b)\w+)[ \t:]*$", re.IGNORECASE)
_REFUSED = {
    "brief": "the docstring of the file is the brief",
    "program": "what stands between the EVOLVE-BLOCK markers is the program",
    "evaluator": "the function marked @evaluator in the file evaluates",
    "verifier": "a verifier is a file of its own, and such a task is a folder",
}


@dataclass(frozen=True, slots=True)
class OneFile:
    """Parts of a file; `settings` are the keys of a `task.toml`, with its schema."""

    brief: str
    seed: str
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Block:
    """A part of the program with its marker lines, which begins at this line of the file, counted from 1."""

    line: int
    text: str

    def holds(self, line: int) -> bool:
        return self.line <= line < self.line + self.text.count("\n")


def read(path: Path) -> OneFile:
    """Returns the task that a file is; raises `TaskError`, and `OSError` where the file cannot be read."""
    try:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: this is not a text in UTF-8: {error}. Try: save it as UTF-8") from error
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{path}: this is not Python: {error}. Try: mend that line") from error
    except (RecursionError, MemoryError) as error:
        raise TaskError(
            f"{path}: this is nested too deeply for Python to read it. Try: break the longest expression up"
        ) from error
    brief = ast.get_docstring(tree)
    if not brief:
        raise TaskError(
            f"{path}: there is no brief. Try: begin the file with a docstring that says what the program must do"
        )
    blocks = _find_blocks(path, text)
    for block in blocks:
        _check_alone(path, block)
    _check_names(path, tree, blocks)
    _check_neighbours(path, tree)
    return OneFile(brief, _join(blocks), _read_settings(path, text))


def program_of(text: str) -> str:
    """Returns the part of a text between its markers, with them; the text itself where there are none. Raises `TaskError`."""
    return _join(_find_blocks(Path(SEED), text)) if any(_find_markers(text)) else text


def _join(blocks: Sequence[_Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _find_blocks(path: Path, text: str) -> list[_Block]:
    """Returns the blocks in their order; raises `TaskError` where the markers are none, or no pairs."""
    lines, found, opened = text.splitlines(keepends=True), [], 0
    for line, marker in _find_markers(text):
        if (marker == START) == bool(opened):
            last = f"the {START} of line {opened}" if opened else f"no {START}"
            raise TaskError(
                f"{path}:{line}: {marker} comes after {last}. Try: put each block between one {START} and one {END}"
            )
        if marker == END:
            found.append(_Block(opened, "".join(lines[opened - 1 : line]).rstrip("\n") + "\n"))
        opened = line if marker == START else 0
    if opened:
        raise TaskError(f"{path}:{opened}: the block that begins here has no end. Try: add a line # {END}")
    if not found:
        raise TaskError(
            f"{path}: there is no seed program. Try: put the code that may change between # {START} and # {END}"
        )
    return found


def _find_markers(text: str) -> Iterator[tuple[int, str]]:
    """Yields the markers in comments, with their lines; a comment that tells of both is none of them."""
    for line, comment in _comments(text):
        named = [marker for marker in (START, END) if marker in comment]
        if len(named) == 1:
            yield line, named[0]


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yields the comments with their lines."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):  # a program that does not parse may be evaluated all the same
        return


def _check_alone(path: Path, block: _Block) -> None:
    """Raises `TaskError` where a block is no code by itself."""
    try:
        ast.parse(block.text)
    except SyntaxError as error:
        line = block.line + (error.lineno or 1) - 1
        raise TaskError(
            f"{path}:{line}: the block that begins at line {block.line} is not complete in itself: {error.msg}. "
            "Try: put the markers around whole functions, at the margin"
        ) from error


def _check_names(path: Path, tree: ast.Module, blocks: Sequence[_Block]) -> None:
    """Raises `TaskError` for the first name that the program uses and only the rest of the file makes."""
    inside, makers = list[ast.stmt](), dict[str, ast.stmt]()
    for statement in tree.body:
        if any(block.holds(statement.lineno) for block in blocks):
            inside.append(statement)
        else:
            for name in Names(ast.Module([statement], [])).module.bindings:
                makers.setdefault(name, statement)
    # A name that nothing makes is left to the evaluation: only what is surely wrong is refused.
    program = Names(ast.Module(inside, []))
    missing = [one for one in program.list_unbound() if one.id in makers]
    if missing:
        first = min(missing, key=start)
        maker = makers[first.id]
        remedy = f"move {first.id!r} into the block, or give it to the program as an argument"
        if isinstance(maker, ast.Import | ast.ImportFrom):
            remedy = f"write `{ast.unparse(maker)}` inside the block"
        raise TaskError(
            f"{path}:{first.lineno}: the program uses {first.id!r}, which line {maker.lineno} makes outside its block: a candidate gets the "
            f"block alone. Try: {remedy}"
        )


def _check_neighbours(path: Path, tree: ast.Module) -> None:
    """Raises `TaskError` where another file of the folder is imported: the version of a task in one file covers no other."""
    for node, module in list_imported(tree):
        is_beside = module not in sys.stdlib_module_names and (path.parent / f"{module}.py").is_file()
        if is_beside or not module:
            raise TaskError(
                f"{path}:{node.lineno}: a task in one file imports no other file of its folder, got `{ast.unparse(node)}`. "
                "Try: move the code here, or make the task a folder (`evolve task new NAME` writes one)"
            )


def _read_settings(path: Path, text: str) -> dict[str, Any]:
    """Returns the comment block `# /// evolve` ... `# ///` as TOML, with the schema's version."""
    for line, comment in _comments(text):
        # A misspelt first line would leave all settings out without a word.
        if _LIKE_OPENED.match(comment) and not _OPENED.match(comment):
            raise TaskError(
                f"{path}:{line}: got {comment!r}, which opens no settings. Try: write `# /// evolve`, and `# ///` after the last setting"
            )
    blocks = list(_SETTINGS.finditer(text))
    opened = list(_OPENED.finditer(text))
    if len(opened) > 1 or len(blocks) < len(opened):
        line = text.count("\n", 0, opened[-1].start()) + 1
        raise TaskError(
            f"{path}:{line}: the settings are one block of lines that begin with `# `, between `# /// evolve` and `# ///`. "
            "Try: close it with a line `# ///`, and keep only one"
        )
    if not blocks:
        return {"schema": 1}
    # As many empty lines before it as the file has, so that an error names the file's line.
    before = "\n" * (text[: blocks[0].start("lines")].count("\n"))
    lines = re.sub(r"^# ?", "", blocks[0]["lines"], flags=re.MULTILINE)
    try:
        settings = tomllib.loads(before + lines)
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: the settings are not TOML: {error}. Try: mend that line") from error
    for key, reason in _REFUSED.items():
        if key in settings:
            raise TaskError(f"{path}: a task in one file has no key {key!r}: {reason}. Try: leave it out")
    return {"schema": 1, **settings}
