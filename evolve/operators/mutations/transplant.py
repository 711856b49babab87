"""Code that is taken from one place and put into another, so that every name in it means something there.

Invariant: a name that is not bound at the new place is renamed to a value that is, or brings its function along; else there is no
transplant."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evolve.operators.mutations.material import Material
from evolve.syntax import Change, Extent, Source, indented
from evolve.syntax.scopes import Position, Scope

_DEPTH = 3
"""Functions that a function that is brought along may bring along in turn."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where code is put: a scope, a position for what is bound before it, and where functions for it can be written, if anywhere."""

    scope: Scope
    position: Position
    opening: Extent | None


@dataclass(frozen=True, slots=True)
class Transplant:
    """Code that fits its new place, with the functions that it needs as changes of the same file."""

    text: str
    brought: tuple[Change, ...] = ()


def place_of(source: Source, node: ast.expr | ast.stmt) -> Place:
    """The place where a node stands."""
    position = (node.lineno, node.col_offset)
    around = [statement for statement in source.tree.body if statement.lineno <= node.lineno]
    lines = source.lines(around[-1])
    opening = Extent(lines.start, lines.start) if lines else None
    allowed = opening is not None and source.allows(opening)
    return Place(source.names.scopes[node], position, opening if allowed else None)


def transplanted(material: Material, donor: Source, node: ast.expr | ast.stmt, place: Place) -> Transplant | None:
    """The text of a donor's expression or statement as it can stand at a place; None where it cannot."""
    renames: dict[str, str] = {}
    brought: dict[str, str] = {}
    for name in _free(node):
        if material.source.names.is_bound(name, place.scope, place.position):
            continue
        if not place.opening or not _bring(material, donor, name, brought):
            other = _another(material, node, name, place)
            if other is None:
                return None
            renames[name] = other
    text = _renamed(donor, node, renames)
    if text is None:
        return None
    return Transplant(text, _changes(brought, place))


def helper(source: Source, name: str) -> ast.FunctionDef | None:
    """The function of the module with this name, where it stands alone on its lines."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and source.lines(node) is not None:
            return node
    return None


def bring_all(material: Material, donor: Source, node: ast.AST, place: Place) -> tuple[Change, ...] | None:
    """The functions of the donor that the code needs and the file lacks; None where it needs something else that it lacks."""
    brought: dict[str, str] = {}
    for name in _outer_names(donor, node):
        known = material.source.names.is_bound(name, place.scope, place.position)
        if not known and not (place.opening and _bring(material, donor, name, brought)):
            return None
    return _changes(brought, place)


def _free(node: ast.AST) -> list[str]:
    """The names that code reads and does not bind itself, in their order. What `x += 1` changes must be there before."""
    bound = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    assigned = node.targets if isinstance(node, ast.Assign) else []
    late = {id(target) for target in assigned}
    bound |= {name.id for name in names if isinstance(name.ctx, ast.Store) and id(name) not in late}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        bound.discard(node.target.id)
        return list(dict.fromkeys([node.target.id, *(name.id for name in names if name.id not in bound)]))
    return list(dict.fromkeys(name.id for name in names if isinstance(name.ctx, ast.Load) and name.id not in bound))


def _outer_names(donor: Source, node: ast.AST) -> list[str]:
    """The names in a piece of a donor that its module binds, in their order."""
    found = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            binding = donor.names.find(inner.id, donor.names.scopes[inner], (inner.lineno, inner.col_offset))
            if binding is not None and binding is donor.names.module.bindings.get(inner.id):
                found.append(inner.id)
    return list(dict.fromkeys(found))


def _bring(material: Material, donor: Source, name: str, brought: dict[str, str], depth: int = _DEPTH) -> bool:
    """Adds a donor's function to what is brought, with those that it calls; False where that is not possible."""
    if name in brought:
        return True
    node, own = helper(donor, name), material.source.names.module
    if donor is material.source or node is None or name in own.bindings or depth == 0:
        return False
    found = {**brought, name: ""}  # a function may call itself
    for other in _outer_names(donor, node):
        known = other in own.bindings or own.has_star
        if not known and not _bring(material, donor, other, found, depth - 1):
            return False
    del found[name]
    brought.update({**found, name: indented(donor, node, "")})
    return True


def _changes(brought: Mapping[str, str], place: Place) -> tuple[Change, ...]:
    """The functions before the statement of the module that needs them."""
    return tuple(Change(place.opening, f"{text}\n\n") for text in brought.values() if place.opening)


def _another(material: Material, node: ast.AST, name: str, place: Place) -> str | None:
    """A name that can stand for one that is not there: a function's for a function's, a value's for a value's."""
    calls = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == name
    ]
    names = material.source.names
    visible = names.visible(place.scope, place.position)
    if calls:
        arity = len(calls[0].args)
        known = [one.name for one in material.functions if one.arity == arity and one.name in visible]
        return material.pick(known)
    return material.pick(
        [other for other, found in visible.items() if found.kind == "value" and other not in names.called]
    )


def _renamed(donor: Source, node: ast.expr | ast.stmt, renames: Mapping[str, str]) -> str | None:
    """The text of a node with other names; None where one of them stands in an f-string, which has no reliable places."""
    low, high = donor.extent(node)
    parts: list[bytes] = []
    place = low
    for name in _sorted_names(donor, node):
        if name.id in renames:
            start, end = donor.extent(name)
            if start < place or donor.data[start:end] != name.id.encode():
                return None
            parts += [donor.data[place:start], renames[name.id].encode()]
            place = end
    if renames and any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(node)):
        return None
    return b"".join([*parts, donor.data[place:high]]).decode("utf-8")


def _sorted_names(donor: Source, node: ast.AST) -> Iterator[ast.Name]:
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return iter(sorted(names, key=donor.extent))
