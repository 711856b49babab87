"""Edits of conditions: negated, another comparison, one part more or less.

Invariant: the condition of a `while` only becomes harder to meet, so that the loop ends no later in the same program."""

import ast
from dataclasses import dataclass

from evolve.operators.mutations.expressions import operator_extent, replaced
from evolve.operators.mutations.material import Material, is_small
from evolve.operators.mutations.transplant import place_of, transplanted
from evolve.syntax import Change, Edit, Extent, Site, Source, strength
from evolve.syntax.strength import AND, COMPARE, NOT, OR

_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_STRICTER = {"<=": "<", ">=": ">"}


@dataclass(frozen=True, slots=True)
class Condition:
    """A site that decides something; `ends_loop`: it is the condition of a `while`, or one of its parts."""

    site: Site
    ends_loop: bool


def negated(material: Material) -> Edit | None:
    """`a < b` becomes `a >= b`, `c` becomes `not c`, `not c` becomes `c`."""
    source = material.source
    condition = material.pick([one for one in _conditions(material) if not one.ends_loop])
    if condition is None:
        return None
    site, node = condition.site, condition.site.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return replaced(source, site, source.written(source.extent(node.operand)), strength(source, node.operand))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SYMBOLS:
        return _compared(source, node, 0, _NEGATED[_SYMBOLS[type(node.ops[0])]])
    text = source.written(source.extent(node))
    inner = text if strength(source, node) >= NOT and "\n" not in text else f"({text})"
    return replaced(source, site, f"not {inner}", NOT)


def another_comparison(material: Material) -> Edit | None:
    """`<` becomes `<=`, or any other."""
    looping = {id(node) for one in _conditions(material) if one.ends_loop for node in ast.walk(one.site.node)}
    free = [site.node for site in material.sites if isinstance(site.node, ast.Compare)]
    held = [one.site.node for one in _conditions(material) if one.ends_loop]
    node = material.pick([*free, *held])
    if not isinstance(node, ast.Compare):
        return None
    index = int(material.rng.integers(len(node.ops)))
    old = _SYMBOLS.get(type(node.ops[index]))
    if old is None:
        return None
    allowed = [_STRICTER[old]] if old in _STRICTER else []
    new = material.pick(allowed if id(node) in looping else [other for other in _NEGATED if other != old])
    return _compared(material.source, node, index, new) if new else None


def conjoined(material: Material) -> Edit | None:
    """`c` becomes `c and d` or `c or d`, with a condition of the file or of a donor, or a comparison of two values."""
    source = material.source
    condition = material.pick(_conditions(material))
    if condition is None:
        return None
    site = condition.site
    found = _another(material, site)
    if found is None:
        return None
    text, power, brought = found
    word, need = ("and", AND) if condition.ends_loop or material.chance(0.5) else ("or", OR)
    own = source.written(source.extent(site.node))
    parts = [
        part if weight >= need and "\n" not in part else f"({part})"
        for part, weight in ((own, strength(source, site.node)), (text, power))
    ]
    edit = replaced(source, site, f" {word} ".join(parts), need)
    return Edit((*brought, *edit.changes), edit.words)


def disjoined(material: Material) -> Edit | None:
    """`c and d` becomes `c`: a part less."""
    source = material.source
    found = [one for one in _conditions(material) if isinstance(one.site.node, ast.BoolOp)]
    condition = material.pick([one for one in found if not one.ends_loop or _is_or(one.site.node)])
    if condition is None or not isinstance(condition.site.node, ast.BoolOp):
        return None
    node = condition.site.node
    gone = int(material.rng.integers(len(node.values)))
    kept = [value for index, value in enumerate(node.values) if index != gone]
    if len(kept) == 1:
        return replaced(source, condition.site, source.written(source.extent(kept[0])), strength(source, kept[0]))
    parts = [source.written(source.grouped(value)) for value in kept]
    if any("\n" in part for part in parts):
        return None
    need = OR if _is_or(node) else AND
    return replaced(source, condition.site, f" {'or' if _is_or(node) else 'and'} ".join(parts), need)


def some_condition(material: Material, node: ast.stmt) -> tuple[str, tuple[Change, ...]] | None:
    """A condition that can be asked before a statement."""
    site = Site(ast.Constant(value=True, lineno=node.lineno, col_offset=node.col_offset), node, "test")
    found = _another(material, site, node)
    return (found[0], found[2]) if found else None


def _conditions(material: Material) -> list[Condition]:
    """All conditions that may change, the whole ones and their parts."""
    source, found = material.source, list[Condition]()
    loops: dict[int, bool] = {}
    for site in source.sites:
        whole = isinstance(site.parent, ast.If | ast.While | ast.IfExp) and site.field == "test"
        whole = whole or (isinstance(site.parent, ast.comprehension) and site.field == "ifs")
        part = id(site.parent) in loops
        if not whole and not part:
            continue
        ends = isinstance(site.parent, ast.While) or loops.get(id(site.parent), False)
        if isinstance(site.node, ast.BoolOp) or (isinstance(site.node, ast.UnaryOp) and not ends):
            loops[id(site.node)] = ends
        allowed = ends or site.node not in material.held
        if allowed and source.allows(source.extent(site.node)) and is_small(site.node):
            found.append(Condition(site, ends))
    return found


def _another(
    material: Material, site: Site, before: ast.stmt | None = None
) -> tuple[str, int, tuple[Change, ...]] | None:
    """A condition of a donor or of the file, or a comparison of two values, as it can stand at a site."""
    place = place_of(material.source, before or site.node)
    donor = material.pick([material.source, *material.donors]) or material.source
    known = [other.node for other in donor.sites if isinstance(other.node, ast.Compare) and is_small(other.node)]
    chosen = material.pick(known)
    if chosen is not None and material.chance(0.5):
        found = transplanted(material, donor, chosen, place)
        return (found.text, COMPARE, found.brought) if found else None
    names = material.values_at(before or site.node, *place.position)
    left, right = material.pick(names), material.pick([*names, "0", "0.5", "1"])
    if left is None or right is None or left == right:
        return None
    symbol = material.pick(["<", ">", "<=", ">="])
    return f"{left} {symbol} {right}", COMPARE, ()


def _compared(source: Source, node: ast.Compare, index: int, new: str) -> Edit | None:
    """The comparison with another symbol in this place."""
    old = _SYMBOLS[type(node.ops[index])]
    extent: Extent | None = operator_extent(source, [node.left, *node.comparators][index], old)
    return Edit((Change(extent, new),), f"{old} became {new}") if extent else None


def _is_or(node: ast.expr) -> bool:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
