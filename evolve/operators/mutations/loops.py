"""What makes a `while` end. A child that never ends costs its whole time limit, a thousand times what another costs, so these parts are
left alone; `conditions` may make a loop shorter.

Invariant: a `for` ends by itself, and none of it is held."""

import ast
from collections.abc import Iterable, Iterator

_LEAVES = (ast.Break, ast.Return, ast.Raise)


def kept_for_their_end(nodes: Iterable[ast.AST]) -> frozenset[ast.AST]:
    """Of the nodes of a tree the conditions of all `while`s; in their bodies what leaves them, the conditions that this depends on, and the statements that
    change what the loop's condition reads; with all nodes below."""
    found: set[ast.AST] = set()
    for loop in nodes:
        if isinstance(loop, ast.While):
            for node in (loop.test, *_held(loop)):
                # Operators and contexts are one object in the whole tree.
                found.update(inner for inner in ast.walk(node) if isinstance(inner, ast.expr | ast.stmt))
    return frozenset(found)


def _held(loop: ast.While) -> Iterator[ast.AST]:
    watched = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, _LEAVES) or (_is_simple(node) and _changes(node, watched)):
                yield node
            elif isinstance(node, ast.If) and any(isinstance(inner, _LEAVES) for inner in ast.walk(node)):
                yield node.test


def _is_simple(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


def _changes(statement: ast.AST, watched: set[str]) -> bool:
    """It assigns to a watched name or a part of it, or calls a method of it."""
    for node in ast.walk(statement):
        stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and _root(node) in watched
        if stored or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _root(node.func) in watched
        ):
            return True
    return False


def _root(node: ast.AST) -> str:
    """The name that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
