"""How strongly the parts of an expression hold together, so that a part that is put elsewhere gets parentheses where it needs them.

Invariant: the numbers order as in Python's table of operator precedence (https://docs.python.org/3/reference/expressions.html)."""

import ast
from typing import Any

from evolve.syntax.source import Site, Source

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


def strength(source: Source, node: ast.expr) -> int:
    """How strongly the text of a node holds together."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        return OPERATORS[type(node.op)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return AWAIT  # `1.real` is no attribute of 1
    if isinstance(node, ast.Tuple) and _is_in_parentheses(source.written(source.extent(node)), node):
        return ATOM
    return _NODES.get(type(node), ATOM)


def needed(parent: ast.AST, field: str, node: ast.AST) -> int:
    """How strong a text must be to stand where `node` stands, which is `field` of `parent`."""
    if isinstance(parent, ast.BinOp):
        return _operand(parent.op, is_left=node is parent.left)
    if isinstance(parent, ast.BoolOp):
        return OPERATORS[type(parent.op)] + 1
    if isinstance(parent, ast.UnaryOp):
        return OPERATORS[type(parent.op)]
    if isinstance(parent, ast.Compare):
        return COMPARE + 1
    return _FIELDS.get((type(parent), field), TEST)


def fitted(text: str, power: int, site: Site) -> str:
    """A text of this strength as it must be written at a site. The parentheses of a generator that is the only argument of a call are
    also the call's, and stay."""
    lone = isinstance(site.node, ast.GeneratorExp) and isinstance(site.parent, ast.Call)
    weak = power < needed(site.parent, site.field, site.node)
    return f"({text})" if lone or weak or not _stands_alone(text) else text


def _operand(operator: ast.operator, *, is_left: bool) -> int:
    """The left operand of `-` may be another `-`, the right one may not; a power is the other way round."""
    power = OPERATORS[type(operator)]
    if isinstance(operator, ast.Pow):
        return AWAIT if is_left else FACTOR
    return power if is_left else power + 1


def _stands_alone(text: str) -> bool:
    """It needs no bracket around it to go over several lines."""
    return "\n" not in text or _tree(text) is not None


def _is_in_parentheses(text: str, node: ast.Tuple) -> bool:
    """The parentheses of `(a, b)` are its own, those of `(a), (b)` are not."""
    if not text.startswith("(") or not text.endswith(")"):
        return False
    return not node.elts or isinstance(getattr(_tree(f"[{text[1:-1]}]"), "body", None), ast.List)


def _tree(text: str) -> Any:
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
