"""A Python text, its tree, and the way from a node to its bytes and back.

Invariant: an edit replaces whole extents and leaves every other byte; what lies outside the regions is never in an edit that is applied.

The places inside f-strings are not reliable before Python 3.12, and annotations, decorators, bases and patterns are no values: no site
lies in any of them."""

import ast
import keyword
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evolve.syntax.scopes import Names
from evolve.types import EditError

_LINE_END = re.compile(rb"\r\n|\r|\n")
_LEFT_ALONE = frozenset({"annotation", "returns", "decorator_list", "type_params", "pattern", "type", "bases"})
_NO_SITES = (ast.Starred, ast.Slice, ast.Yield, ast.YieldFrom, ast.Await)
_GROUPS_AFTER = frozenset(b"([{,:;=+-*/%@&|^~<>!\r\n")
_SPACE = b" \t"
_LAST_WORD = re.compile(rb"\b([a-z]+)[ \t]+\Z")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_REST_OF_LINE = re.compile(rb"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z)")


class Extent(NamedTuple):
    """`data[start:end]`, in bytes of UTF-8."""

    start: int
    end: int


class Change(NamedTuple):
    """A text for an extent; an empty extent is a place to insert at."""

    extent: Extent
    text: str


class Edit(NamedTuple):
    """Changes that belong together, and a few words that say what they do."""

    changes: tuple[Change, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Site:
    """An expression that is a value, where it stands: `field` of `parent`."""

    node: ast.expr
    parent: ast.AST
    field: str


@dataclass(frozen=True, slots=True)
class Member:
    """A statement in its suite, which is `field` of `owner`."""

    node: ast.stmt
    owner: ast.AST
    field: str
    suite: tuple[ast.stmt, ...]
    index: int


class Source:
    """A Python file that parses. `regions` are the extents that may change."""

    def __init__(self, text: str, tree: ast.Module, regions: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.data = text.encode("utf-8")
        self.tree = tree
        self.regions = tuple(Extent(len(text[:low].encode()), len(text[:high].encode())) for low, high in regions)
        self._lines = [0, *(found.end() for found in _LINE_END.finditer(self.data))]

    @cached_property
    def names(self) -> Names:
        """Which names mean something where."""
        return Names(self.tree)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every value, in the order of the text, the outer before the inner."""
        return tuple(_sites(self.tree))

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Every statement, in the order of the text, the outer before the inner."""
        return tuple(_members(self.tree))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes, the outer before the inner."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def shape(self) -> str:
        """The tree without its places: equal for texts that differ in layout, comments and needless parentheses alone."""
        return ast.dump(self.tree)

    def allows(self, extent: Extent) -> bool:
        """Whether it lies in one region."""
        return any(low <= extent.start and extent.end <= high for low, high in self.regions)

    def extent(self, node: ast.expr | ast.stmt) -> Extent:
        """Where a node is written, without parentheses around it and without decorators."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return Extent(self._lines[node.lineno - 1] + node.col_offset, self._lines[last - 1] + column)

    def grouped(self, node: ast.expr) -> Extent:
        """Where a node is written, with the parentheses on its own line that only group it."""
        start, end = self.extent(node)
        while True:
            before = len(self.data[:start].rstrip(_SPACE))
            after = len(self.data) - len(self.data[end:].lstrip(_SPACE))
            if self.data[before - 1 : before] != b"(" or self.data[after : after + 1] != b")":
                return Extent(start, end)
            if not _only_groups(self.data, before - 1, after + 1):
                return Extent(start, end)
            start, end = before - 1, after + 1

    def written(self, extent: Extent) -> str:
        """The text of an extent."""
        return self.data[extent.start : extent.end].decode("utf-8")

    def lines(self, node: ast.stmt) -> Extent | None:
        """The lines of a statement with its decorators; None where it shares one with other code."""
        start, end = self.extent(node)
        first = first_line(node)
        begin = self._lines[first - 1]
        rest = _REST_OF_LINE.match(self.data, end)
        shared = first == node.lineno and self.data[begin:start].strip()
        return None if shared or rest is None else Extent(begin, rest.end())

    def indentation(self, node: ast.stmt) -> str:
        """The white space before a statement that begins its line."""
        start = self.extent(node).start
        return self.data[self._lines[node.lineno - 1] : start].decode("utf-8")


def _only_groups(data: bytes, start: int, end: int) -> bool:
    """Whether the parentheses at both ends of `data[start:end]` belong to no call, and can go without making one word of two."""
    leading, word = data[:start].rstrip(_SPACE), _LAST_WORD.search(data, max(0, start - 12), start)
    after_word = word is not None and word[1].decode() in keyword.kwlist
    return (not leading or leading[-1] in _GROUPS_AFTER or after_word) and not data[end : end + 1].isalnum()


def first_line(node: ast.stmt) -> int:
    """The number of the line that a statement begins in, or its first decorator."""
    decorated = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list
    return min(node.lineno, decorated[0].lineno) if decorated else node.lineno


def read(text: str, path: str, regions: Sequence[tuple[int, int]]) -> Source:
    """The file at `path` as a source whose `regions`, in characters, may change. Raises `EditError` where it is no Python."""
    try:
        return Source(text, _parsed(text), regions)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise EditError(
            f"{path} is no Python that parses: {where}{reason}. Do: mend it, or use another operator"
        ) from error


def _parsed(text: str) -> ast.Module:
    """The tree of a text that would also compile: a `return` outside a function parses and does not. Warnings about a program's style
    are not for the person who runs the engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
        compile(text, "<program>", "exec", dont_inherit=True)
    return tree


def applied(source: Source, edit: Edit) -> str | None:
    """The text with an edit in it; None where the edit is not in the regions, or contradicts itself."""
    parts: list[bytes] = []
    place = 0
    for extent, text in sorted(edit.changes, key=lambda change: change.extent):
        if extent.start < place or not source.allows(extent):
            return None
        parts += [source.data[place : extent.start], text.encode("utf-8")]
        place = extent.end
    return b"".join([*parts, source.data[place:]]).decode("utf-8")


def indented(source: Source, node: ast.stmt, indentation: str) -> str:
    """The lines of a statement that has them for itself, with another indentation and a line's end; lines inside a string stay as they
    are."""
    extent = source.lines(node)
    assert extent is not None, "only a statement with lines of its own can move"
    old = source.indentation(node)
    kept = _inside_strings(node)
    lines = _LINES.findall(source.written(extent))
    moved = [
        indentation + line.removeprefix(old) if number not in kept and line.startswith(old) and line.strip() else line
        for number, line in enumerate(lines, first_line(node))
    ]
    text = "".join(moved)
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def _inside_strings(node: ast.stmt) -> set[int]:
    """The numbers of the lines that begin in a string."""
    strings = [found for found in ast.walk(node) if isinstance(found, ast.Constant | ast.JoinedStr)]
    return {line for found in strings for line in range(found.lineno + 1, (found.end_lineno or 0) + 1)}


def _sites(tree: ast.Module) -> Iterator[Site]:
    stack: list[tuple[ast.AST, ast.AST, str]] = [(tree, tree, "")]
    while stack:
        node, parent, field = stack.pop()
        if isinstance(node, ast.expr) and not isinstance(node, _NO_SITES) and _is_value(node, parent):
            yield Site(node, parent, field)
        if not isinstance(node, ast.JoinedStr):
            stack += [(child, node, name) for name, child in reversed(list(_children(node)))]


def _is_value(node: ast.expr, parent: ast.AST) -> bool:
    """It is read, and it is no docstring."""
    if isinstance(node, ast.Constant) and isinstance(parent, ast.Expr):
        return False
    return not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The nodes in it that may hold a value, each with its field."""
    for name, value in ast.iter_fields(node):
        if name in _LEFT_ALONE or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        if isinstance(value, ast.AST):
            yield name, value
        elif isinstance(value, list):
            yield from ((name, item) for item in value if isinstance(item, ast.AST))


def _members(tree: ast.Module) -> Iterator[Member]:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        found: list[Member] = []
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                suite = tuple(value)
                found += [Member(statement, node, field, suite, index) for index, statement in enumerate(suite)]
            elif field in ("handlers", "cases"):
                stack += reversed(value)
        yield from found
        stack += [member.node for member in reversed(found)]
