"""Python programs as trees whose every node knows its bytes in the text: a part can change while all else stays as it is written.

Nothing of a program is ever run. The places inside f-strings are not reliable before Python 3.12, and annotations, decorators, bases and
patterns are no values: no site lies in any of them."""

import ast
import copy
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evolve.edits.python_names import Names
from evolve.types import EditError

_LINE_END = re.compile(rb"\r\n|\r|\n")
_LEFT_ALONE = frozenset({"annotation", "returns", "decorator_list", "type_params", "pattern", "type", "bases"})
_NO_SITES = (ast.Starred, ast.Slice, ast.Yield, ast.YieldFrom, ast.Await)
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_REST_OF_LINE = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z)")


class Extent(NamedTuple):
    """Extent `data[start:end]`, in bytes of UTF-8."""

    start: int
    end: int


class Replacement(NamedTuple):
    """A text for an extent; an empty extent is a place to insert at."""

    extent: Extent
    text: str


class Edit(NamedTuple):
    """Changes that belong together, and a few words that say what they do."""

    changes: tuple[Replacement, ...]
    words: str


@dataclass(frozen=True, slots=True)
class SuiteStatement:
    """A statement in its suite, which belongs to `owner`."""

    node: ast.stmt
    owner: ast.AST
    suite: tuple[ast.stmt, ...]
    index: int


class Source:
    """A Python file that parses. `regions` are the extents that may change."""

    def __init__(self, text: str, tree: ast.Module, regions: Sequence[tuple[int, int]]) -> None:
        self.text = text
        # The parser counts columns in bytes.
        self.data = text.encode("utf-8")
        self.tree = tree
        self.regions = tuple(Extent(len(text[:low].encode()), len(text[:high].encode())) for low, high in regions)
        self._lines = [0, *(found.end() for found in _LINE_END.finditer(self.data))]

    @cached_property
    def names(self) -> Names:
        """Scopes of the file, and the names in them."""
        return Names(self.tree)

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Node that each expression and statement is directly in."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def sites(self) -> tuple[ast.expr, ...]:
        """Every value, in the order of the text, the outer before the inner."""
        return tuple(_find_sites(self.tree))

    @cached_property
    def members(self) -> tuple[SuiteStatement, ...]:
        """Every statement, the outer before the inner."""
        return tuple(_find_members(self.nodes))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Nodes of the tree, the outer before the inner."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def shape(self) -> str:
        """The tree without its places: equal for texts that differ in layout, comments and needless parentheses alone."""
        return ast.dump(self.tree)

    def allows(self, extent: Extent) -> bool:
        """Returns whether it lies in one region."""
        return any(low <= extent.start and extent.end <= high for low, high in self.regions)

    def extent(self, node: ast.expr | ast.stmt) -> Extent:
        """Returns the place of a node, without parentheses around it and without decorators."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return Extent(self._lines[node.lineno - 1] + node.col_offset, self._lines[last - 1] + column)

    def text_of(self, extent: Extent) -> str:
        """Returns the text of an extent."""
        return self.data[extent.start : extent.end].decode("utf-8")

    def lines(self, node: ast.stmt) -> Extent | None:
        """Returns the lines of a statement with its decorators; None where it shares one with other code."""
        start, end = self.extent(node)
        first = _find_first_line(node)
        begin = self._lines[first - 1]
        rest = _REST_OF_LINE.match(self.data, end)
        shared = first == node.lineno and self.data[begin:start].strip()
        return None if shared or rest is None else Extent(begin, rest.end())

    def indentation(self, node: ast.stmt) -> str:
        """Returns the white space before a statement that begins its line."""
        start = self.extent(node).start
        return self.data[self._lines[node.lineno - 1] : start].decode("utf-8")

    def replace(self, node: ast.expr, new: ast.expr) -> Edit | None:
        """Returns an edit that puts an expression in the place of another; None where that cannot be written."""
        root = node
        while not self._stands_alone(root) and (outer := self._enclosing_expression(root)):
            root = outer
        # What the memo already holds is not copied: the one node becomes the other wherever it is met.
        changed = copy.deepcopy(root, {id(node): new})
        try:
            text, written = ast.unparse(changed), ast.unparse(new)
        except (ValueError, RecursionError):  # an f-string with quotes or backslashes that it cannot hold
            return None
        old = self.text_of(self.extent(node))
        return Edit((Replacement(self.extent(root), text),), f"{shorten(old)} became {shorten(written)}")

    def _stands_alone(self, node: ast.expr) -> bool:
        """Reports an expression that needs no parentheses where it stands, whatever it becomes: around any other, the tree decides on them."""
        parent = self.parents[node]
        if isinstance(parent, ast.Call):
            # The parentheses of a generator that is the only argument are also the call's.
            return node is not parent.func and not isinstance(node, ast.GeneratorExp)
        return isinstance(parent, ast.stmt | ast.keyword | ast.withitem | ast.List | ast.Tuple | ast.Set | ast.Dict)

    def _enclosing_expression(self, node: ast.expr) -> ast.expr | None:
        """Returns the expression that one is part of, past a `for` or the arguments of a `lambda`; None for a part of a statement."""
        outer = self.parents[node]
        while not isinstance(outer, ast.expr | ast.stmt):
            outer = self.parents[outer]
        return outer if isinstance(outer, ast.expr) else None


def shorten(text: str) -> str:
    """Returns a piece of code on one short line."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."


def read(text: str, path: str, regions: Sequence[tuple[int, int]]) -> Source:
    """Returns the file at `path` as a source whose `regions`, in characters, may change. Raises `EditError` where it is no Python."""
    try:
        return Source(text, _parse(text), regions)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise EditError(
            f"{path} is no Python that parses: {where}{reason}. Try: mend it, or use another operator"
        ) from error


def _parse(text: str) -> ast.Module:
    """Returns the tree of a text that would also compile: a `return` outside a function parses and does not. Warnings about a program's style
    are not for the person who runs the engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
        compile(text, "<program>", "exec", dont_inherit=True)
    return tree


def apply_edit(source: Source, edit: Edit) -> str | None:
    """Returns the text with an edit in it; None where the edit is not in the regions, or contradicts itself."""
    parts: list[bytes] = []
    place = 0
    for extent, text in sorted(edit.changes, key=lambda change: change.extent):
        if extent.start < place or not source.allows(extent):
            return None
        parts += [source.data[place : extent.start], text.encode("utf-8")]
        place = extent.end
    return b"".join([*parts, source.data[place:]]).decode("utf-8")


def reindent(source: Source, node: ast.stmt, indentation: str) -> str:
    """Returns the lines of a statement that has them for itself, with another indentation and a line's end; lines inside a string stay as they
    are."""
    extent = source.lines(node)
    assert extent is not None, "only a statement with lines of its own can move"
    old = source.indentation(node)
    kept = _inside_strings(node)
    lines = _LINES.findall(source.text_of(extent))
    moved = [
        indentation + line.removeprefix(old) if number not in kept and line.startswith(old) and line.strip() else line
        for number, line in enumerate(lines, _find_first_line(node))
    ]
    text = "".join(moved)
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def _find_first_line(node: ast.stmt) -> int:
    """Returns the number of the line that a statement begins in, or its first decorator."""
    decorated = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list
    return min(node.lineno, decorated[0].lineno) if decorated else node.lineno


def _inside_strings(node: ast.stmt) -> set[int]:
    """Returns the numbers of the lines that begin in a string."""
    strings = [found for found in ast.walk(node) if isinstance(found, ast.Constant | ast.JoinedStr)]
    return {line for found in strings for line in range(found.lineno + 1, (found.end_lineno or 0) + 1)}


def _find_sites(tree: ast.Module) -> Iterator[ast.expr]:
    stack: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while stack:
        node, parent = stack.pop()
        if isinstance(node, ast.expr) and not isinstance(node, _NO_SITES) and _is_read(node, parent):
            yield node
        if not isinstance(node, ast.JoinedStr):
            stack += [(child, node) for child in reversed(list(_find_children(node)))]


def _is_read(node: ast.expr, parent: ast.AST) -> bool:
    """Reports an expression that is read, and is no docstring."""
    if isinstance(node, ast.Constant) and isinstance(parent, ast.Expr):
        return False
    return not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


def _find_children(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes in it that may hold a value."""
    for name, value in ast.iter_fields(node):
        if name in _LEFT_ALONE or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                yield item


def _find_members(nodes: Iterable[ast.AST]) -> Iterator[SuiteStatement]:
    for node in nodes:
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                suite = tuple(value)
                yield from (SuiteStatement(statement, node, suite, index) for index, statement in enumerate(suite))
