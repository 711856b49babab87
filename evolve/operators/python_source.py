"""Python programs as trees whose every node knows its bytes in the text: a part can change while all else stays as it is written.

Code that is moved gets parentheses where Python's table of operator precedence asks for them
(https://docs.python.org/3/reference/expressions.html). Nothing of a program is ever run.

The places inside f-strings are not reliable before Python 3.12, and annotations, decorators, bases and patterns are no values: no site
lies in any of them."""

import ast
import keyword
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from evolve.operators.python_names import Names
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
class Site:
    """An expression that is a value, where it stands: `field` of `parent`."""

    node: ast.expr
    parent: ast.AST
    field: str


@dataclass(frozen=True, slots=True)
class SuiteStatement:
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
        """Scopes of the file, and the names in them."""
        return Names(self.tree)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every value, in the order of the text, the outer before the inner."""
        return tuple(_sites(self.tree))

    @cached_property
    def members(self) -> tuple[SuiteStatement, ...]:
        """Every statement, in the order of the text, the outer before the inner."""
        return tuple(_members(self.tree))

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

    def extent_with_parentheses(self, node: ast.expr) -> Extent:
        """Returns the place of a node, with the parentheses on its own line that only group it."""
        start, end = self.extent(node)
        while True:
            before = len(self.data[:start].rstrip(_SPACE))
            after = len(self.data) - len(self.data[end:].lstrip(_SPACE))
            if self.data[before - 1 : before] != b"(" or self.data[after : after + 1] != b")":
                return Extent(start, end)
            if not _only_groups(self.data, before - 1, after + 1):
                return Extent(start, end)
            start, end = before - 1, after + 1

    def text_of(self, extent: Extent) -> str:
        """Returns the text of an extent."""
        return self.data[extent.start : extent.end].decode("utf-8")

    def lines(self, node: ast.stmt) -> Extent | None:
        """Returns the lines of a statement with its decorators; None where it shares one with other code."""
        start, end = self.extent(node)
        first = first_line(node)
        begin = self._lines[first - 1]
        rest = _REST_OF_LINE.match(self.data, end)
        shared = first == node.lineno and self.data[begin:start].strip()
        return None if shared or rest is None else Extent(begin, rest.end())

    def indentation(self, node: ast.stmt) -> str:
        """Returns the white space before a statement that begins its line."""
        start = self.extent(node).start
        return self.data[self._lines[node.lineno - 1] : start].decode("utf-8")


def _only_groups(data: bytes, start: int, end: int) -> bool:
    """Returns whether the parentheses at both ends of `data[start:end]` belong to no call, and can go without making one word of two."""
    leading, word = data[:start].rstrip(_SPACE), _LAST_WORD.search(data, max(0, start - 12), start)
    after_word = word is not None and word[1].decode() in keyword.kwlist
    return (not leading or leading[-1] in _GROUPS_AFTER or after_word) and not data[end : end + 1].isalnum()


def first_line(node: ast.stmt) -> int:
    """Returns the number of the line that a statement begins in, or its first decorator."""
    decorated = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list
    return min(node.lineno, decorated[0].lineno) if decorated else node.lineno


def read(text: str, path: str, regions: Sequence[tuple[int, int]]) -> Source:
    """Returns the file at `path` as a source whose `regions`, in characters, may change. Raises `EditError` where it is no Python."""
    try:
        return Source(text, _parse(text), regions)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise EditError(
            f"{path} is no Python that parses: {where}{reason}. Do: mend it, or use another operator"
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
        for number, line in enumerate(lines, first_line(node))
    ]
    text = "".join(moved)
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def _inside_strings(node: ast.stmt) -> set[int]:
    """Returns the numbers of the lines that begin in a string."""
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
    """Reports an expression that is read, and is no docstring."""
    if isinstance(node, ast.Constant) and isinstance(parent, ast.Expr):
        return False
    return not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yields the nodes in it that may hold a value, each with its field."""
    for name, value in ast.iter_fields(node):
        if name in _LEFT_ALONE or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        if isinstance(value, ast.AST):
            yield name, value
        elif isinstance(value, list):
            yield from ((name, item) for item in value if isinstance(item, ast.AST))


def _members(tree: ast.Module) -> Iterator[SuiteStatement]:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        found: list[SuiteStatement] = []
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                suite = tuple(value)
                found += [SuiteStatement(statement, node, field, suite, index) for index, statement in enumerate(suite)]
            elif field in ("handlers", "cases"):
                stack += reversed(value)
        yield from found
        stack += [member.node for member in reversed(found)]


BARE, TUPLE, TEST, OR, AND, NOT, COMPARE = -1, 0, 1, 2, 3, 4, 5
BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, TERM, FACTOR, POWER, AWAIT, ATOM = range(6, 16)

OPERATORS: dict[type[ast.AST], int] = {
    ast.Or: OR,
    ast.And: AND,
    ast.BitOr: BIT_OR,
    ast.BitXor: BIT_XOR,
    ast.BitAnd: BIT_AND,
    ast.LShift: SHIFT,
    ast.RShift: SHIFT,
    ast.Add: SUM,
    ast.Sub: SUM,
    ast.Mult: TERM,
    ast.Div: TERM,
    ast.FloorDiv: TERM,
    ast.Mod: TERM,
    ast.MatMult: TERM,
    ast.Pow: POWER,
    ast.Not: NOT,
    ast.USub: FACTOR,
    ast.UAdd: FACTOR,
    ast.Invert: FACTOR,
}
_NODES: dict[type[ast.AST], int] = {
    ast.NamedExpr: BARE,
    ast.Yield: BARE,
    ast.YieldFrom: BARE,
    ast.Starred: BARE,
    ast.Tuple: TUPLE,
    ast.IfExp: TEST,
    ast.Lambda: TEST,
    ast.Compare: COMPARE,
    ast.Await: AWAIT,
}
_FIELDS: dict[tuple[type[ast.AST], str], int] = {
    (ast.Assign, "value"): TUPLE,
    (ast.Return, "value"): TUPLE,
    (ast.Expr, "value"): TUPLE,
    (ast.For, "iter"): TUPLE,
    (ast.IfExp, "test"): OR,
    (ast.IfExp, "body"): OR,
    (ast.comprehension, "iter"): OR,
    (ast.comprehension, "ifs"): OR,
    (ast.Starred, "value"): BIT_OR,
    (ast.Await, "value"): ATOM,
    (ast.Attribute, "value"): ATOM,
    (ast.Subscript, "value"): ATOM,
    (ast.Call, "func"): ATOM,
}


def precedence(source: Source, node: ast.expr) -> int:
    """Returns how strongly the text of a node holds together."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        return OPERATORS[type(node.op)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return AWAIT  # `1.real` is no attribute of 1
    if isinstance(node, ast.Tuple) and _is_in_parentheses(source.text_of(source.extent(node)), node):
        return ATOM
    return _NODES.get(type(node), ATOM)


def minimum_precedence(parent: ast.AST, field: str, node: ast.AST) -> int:
    """Returns the precedence that a text needs in the place of `node`, which is `field` of `parent`."""
    if isinstance(parent, ast.BinOp):
        return _operand(parent.op, is_left=node is parent.left)
    if isinstance(parent, ast.BoolOp):
        return OPERATORS[type(parent.op)] + 1
    if isinstance(parent, ast.UnaryOp):
        return OPERATORS[type(parent.op)]
    if isinstance(parent, ast.Compare):
        return COMPARE + 1
    return _FIELDS.get((type(parent), field), TEST)


def parenthesize(text: str, power: int, site: Site) -> str:
    """Returns a text of this precedence as it must be written at a site. The parentheses of a generator that is the only argument of a call are
    also the call's, and stay."""
    lone = isinstance(site.node, ast.GeneratorExp) and isinstance(site.parent, ast.Call)
    weak = power < minimum_precedence(site.parent, site.field, site.node)
    return f"({text})" if lone or weak or not _stands_alone(text) else text


def _operand(operator: ast.operator, *, is_left: bool) -> int:
    """Returns the precedence that an operand needs: the left one of `-` may be another `-`, the right one may not; a power is the other way round."""
    power = OPERATORS[type(operator)]
    if isinstance(operator, ast.Pow):
        return AWAIT if is_left else FACTOR
    return power if is_left else power + 1


def _stands_alone(text: str) -> bool:
    """Reports a text that needs no bracket around it to go over several lines."""
    return "\n" not in text or _tree(text) is not None


def _is_in_parentheses(text: str, node: ast.Tuple) -> bool:
    """Reports the parentheses of `(a, b)` are its own, those of `(a), (b)` are not."""
    if not text.startswith("(") or not text.endswith(")"):
        return False
    return not node.elts or isinstance(getattr(_tree(f"[{text[1:-1]}]"), "body", None), ast.List)


def _tree(text: str) -> Any:
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
