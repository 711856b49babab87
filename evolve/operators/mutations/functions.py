"""Edits of whole functions: the body that a donor gives a function of the same name.

Invariant: the function keeps its name, its decorators and its parameters, so that its callers are none the wiser; functions that the new
body calls come with it."""

import ast

from evolve.operators.mutations.material import Material
from evolve.operators.mutations.transplant import bring_all, place_of
from evolve.syntax import Change, Edit, Extent, Source, indented

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def another_body(material: Material) -> Edit | None:
    """The body of a donor's function with the same name and parameters."""
    pairs = [
        (donor, other, node)
        for donor in material.donors
        for other in _definitions(donor)
        for node in _definitions(material.source)
        if _is_alike(node, other) and _body(donor, other) != _body(material.source, node)
    ]
    pair = material.pick(pairs)
    if pair is None:
        return None
    donor, other, node = pair
    source = material.source
    old = _lines(source, node)
    brought = bring_all(material, donor, other, place_of(source, node))
    if old is None or brought is None or _lines(donor, other) is None:
        return None
    text = "".join(indented(donor, statement, source.indentation(node.body[0])) for statement in other.body)
    return Edit((*brought, Change(old, text)), f"{node.name} as in an inspiration")


def _definitions(source: Source) -> list[Definition]:
    return [member.node for member in source.members if isinstance(member.node, Definition)]


def _is_alike(one: Definition, other: Definition) -> bool:
    return one.name == other.name and type(one) is type(other) and ast.dump(one.args) == ast.dump(other.args)


def _body(source: Source, node: Definition) -> str:
    """The text of a body, comments included, to see whether two differ."""
    low, high = source.extent(node.body[0]).start, source.extent(node.body[-1]).end
    return source.written(Extent(low, high))


def _lines(source: Source, node: Definition) -> Extent | None:
    """The lines of a body; None where it is on the line of its `def`, or a statement of it shares one."""
    found = [source.lines(statement) for statement in node.body]
    if found[0] is None or found[-1] is None or any(extent is None for extent in found):
        return None
    return Extent(found[0].start, found[-1].end)
