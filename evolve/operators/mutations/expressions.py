"""Edits of values: another operator, constant, name or function; operands in the other order; one step more or less; another expression
in its place.

Invariant: what is put somewhere gets the parentheses that it needs there; all else keeps its layout."""

import ast
import re

from evolve.operators.mutations.material import Material, are_alike, is_plain, is_small, is_value, sort_of, suits
from evolve.operators.mutations.transplant import place_of, transplanted
from evolve.syntax import Change, Edit, Extent, Site, Source, fitted, needed, strength
from evolve.syntax.strength import ATOM, FACTOR, OPERATORS, TEST

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_FOUR = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_KINDS = ((*_FOUR, ast.FloorDiv, ast.Mod, ast.Pow), (ast.BitAnd, ast.BitOr, ast.BitXor), (ast.LShift, ast.RShift))
_SKIPPED = re.compile(rb"(?:[\s()\\]|#[^\r\n]*)*")
_NUMERIC = ("number", "any")


def another_operator(material: Material) -> Edit | None:
    """`a + b` becomes `a * b`: the four, and what else of their kind the file uses."""
    source = material.source
    site = material.pick(
        [site for site in material.sites if isinstance(site.node, ast.BinOp) and _others(material, site.node.op)]
    )
    if site is None or not isinstance(site.node, ast.BinOp):
        return None
    node = site.node
    new = material.pick(_others(material, node.op))
    extent = operator_extent(source, node.left, SYMBOLS[type(node.op)])
    if new is None or extent is None:
        return None
    changes = [Change(extent, SYMBOLS[new])]
    made = ast.BinOp(node.left, new(), node.right)
    for field, part in (("left", node.left), ("right", node.right)):
        if strength(source, part) < needed(made, field, part):
            changes += _in_parentheses(source, part)
    if OPERATORS[new] < needed(site.parent, site.field, node):
        changes = _around(source, node, changes)
    return Edit(tuple(changes), f"{SYMBOLS[type(node.op)]} became {SYMBOLS[new]}")


def another_augmented_operator(material: Material) -> Edit | None:
    """`x += y` becomes `x -= y`."""
    source = material.source
    found = [member.node for member in material.members if isinstance(member.node, ast.AugAssign)]
    node = material.pick([node for node in found if isinstance(node, ast.AugAssign) and _others(material, node.op)])
    if not isinstance(node, ast.AugAssign):
        return None
    new = material.pick(_others(material, node.op))
    extent = operator_extent(source, node.target, SYMBOLS[type(node.op)])
    if new is None or extent is None:
        return None
    return Edit((Change(extent, SYMBOLS[new]),), f"{SYMBOLS[type(node.op)]}= became {SYMBOLS[new]}=")


def another_constant(material: Material) -> Edit | None:
    """A number near it, twice or half of it, or one that stands elsewhere; the other truth value; another text of the file."""
    site = material.pick([site for site in material.sites if isinstance(site.node, ast.Constant)])
    if site is None or not isinstance(site.node, ast.Constant):
        return None
    value = site.node.value
    if isinstance(value, bool):
        return replaced(material.source, site, repr(not value))
    if is_plain(value):
        return _another_number(material, site, value)
    texts = [repr(text) for text in _constants(material) if isinstance(text, str) and text != value]
    new = material.pick(sorted(set(texts))) if isinstance(value, str) else None
    return replaced(material.source, site, new) if new is not None else None


def another_name(material: Material) -> Edit | None:
    """Another value that is bound there."""
    site = material.pick([site for site in material.sites if isinstance(site.node, ast.Name)])
    if site is None or not isinstance(site.node, ast.Name):
        return None
    node = site.node
    others = [name for name in material.values_at(node, node.lineno, node.col_offset) if name != node.id]
    new = material.pick(others)
    return replaced(material.source, site, new) if new else None


def another_function(material: Material) -> Edit | None:
    """A call of another function that is known here and takes as many arguments."""
    site = material.pick(_calls(material))
    if site is None or not isinstance(site.node, ast.Call):
        return None
    old = material.source.written(material.source.extent(site.node.func))
    known = [one.name for one in material.functions_at(site.node, len(site.node.args)) if one.name != old]
    new = material.pick([name for name in known if are_alike(name, old)])
    if new is None:
        return None
    return Edit((Change(material.source.extent(site.node.func), new),), f"{old} became {new}")


def swapped_operands(material: Material) -> Edit | None:
    """`a - b` becomes `b - a`, `f(a, b)` becomes `f(b, a)`."""
    source = material.source
    pairs = [_pair(site) for site in material.sites]
    pair = material.pick([one for one in pairs if one is not None])
    if pair is None:
        return None
    first, second = pair
    texts = source.written(source.extent(first.node)), source.written(source.extent(second.node))
    if texts[0] == texts[1]:
        return None
    changes = (
        Change(source.grouped(first.node), fitted(texts[1], strength(source, second.node), first)),
        Change(source.grouped(second.node), fitted(texts[0], strength(source, first.node), second)),
    )
    return Edit(changes, f"{short(texts[0])} and {short(texts[1])} changed places")


def extended(material: Material) -> Edit | None:
    """`a` becomes `a * b`, with another value of the file or of a donor, or a constant."""
    site = material.pick(_numeric(material))
    if site is None:
        return None
    source, operator = material.source, _FOUR[int(material.rng.integers(len(_FOUR)))]
    second = _second(material, site)
    if second is None:
        return None
    text, power, brought = second
    own = source.written(source.extent(site.node))
    left, right = (own, strength(source, site.node)), (text, power)
    if material.chance(0.5):
        left, right = right, left
    need = OPERATORS[operator]
    joined = f"{_weakest(left, need)} {SYMBOLS[operator]} {_weakest(right, need + 1)}"
    edit = replaced(source, site, joined, need)
    return Edit((*brought, *edit.changes), edit.words)


def wrapped(material: Material) -> Edit | None:
    """`a` becomes `-a`, `f(a)` or `f(a, b)`."""
    site = material.pick(_numeric(material))
    if site is None:
        return None
    source = material.source
    own = source.written(source.extent(site.node))
    if material.chance(0.15):
        text = _weakest((own, strength(source, site.node)), FACTOR)
        return replaced(source, site, f"-{text}", FACTOR)
    function = material.pick([*material.functions_at(site.node, 1), *material.functions_at(site.node, 2)])
    if function is None:
        return None
    argument = _weakest((own, strength(source, site.node)), TEST)
    if function.arity == 1:
        return replaced(source, site, f"{function.name}({argument})")
    second = _second(material, site)
    if second is None:
        return None
    text, power, brought = second
    edit = replaced(source, site, f"{function.name}({argument}, {_weakest((text, power), TEST)})")
    return Edit((*brought, *edit.changes), edit.words)


def substituted(material: Material) -> Edit | None:
    """Another expression of the file or of a donor stands in its place."""
    site = material.pick(material.sites)
    if site is None:
        return None
    found = _taken(material, site)
    if found is None:
        return None
    text, power, brought = found
    if text == material.source.written(material.source.extent(site.node)):
        return None
    edit = replaced(material.source, site, text, power)
    return Edit((*brought, *edit.changes), edit.words)


def reduced(material: Material) -> Edit | None:
    """One of its own parts stands in its place: `a + b` becomes `a`, `f(a)` becomes `a`."""
    site = material.pick([site for site in material.sites if _parts(site.node)])
    if site is None:
        return None
    part = material.pick(_parts(site.node))
    if part is None:
        return None
    source = material.source
    return replaced(source, site, source.written(source.extent(part)), strength(source, part))


def replaced(source: Source, site: Site, text: str, power: int = ATOM) -> Edit:
    """An edit that puts a text of this strength in the place of a site, and says so."""
    old = source.written(source.extent(site.node))
    return Edit((Change(source.grouped(site.node), fitted(text, power, site)),), f"{short(old)} became {short(text)}")


def operator_extent(source: Source, left: ast.expr, symbol: str) -> Extent | None:
    """Where the operator after an operand is written."""
    skipped = _SKIPPED.match(source.data, source.extent(left).end)
    start = skipped.end() if skipped else 0
    end = start + len(symbol)
    return Extent(start, end) if source.data[start:end] == symbol.encode() else None


def short(text: str) -> str:
    """A piece of code on one short line."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."


def _others(material: Material, operator: ast.operator) -> list[type[ast.operator]]:
    """Operators of the same kind: the four, and those that the file uses."""
    kind = next((kind for kind in _KINDS if isinstance(operator, kind)), ())
    used = material.operators
    return [
        one for one in kind if not isinstance(operator, one) and (one in used or one in _FOUR or kind is not _KINDS[0])
    ]


def _in_parentheses(source: Source, node: ast.expr) -> list[Change]:
    """Parentheses around an operand, unless it has them."""
    start, end = source.extent(node)
    if source.grouped(node) != (start, end):
        return []
    return [Change(Extent(start, start), "("), Change(Extent(end, end), ")")]


def _around(source: Source, node: ast.expr, changes: list[Change]) -> list[Change]:
    """Parentheses around all of it, outside of those that its operands get."""
    found = _in_parentheses(source, node)
    return [found[0], *changes, found[1]] if found else changes


def _another_number(material: Material, site: Site, value: float) -> Edit | None:
    near: list[float] = [value + 1, value - 1, 2 * value, value // 2 if isinstance(value, int) else value / 2, 0, 1]
    near += [number for number in _constants(material) if is_plain(number)]
    kind = type(value)
    options = sorted({kind(number) for number in near if kind(number) != value and is_plain(kind(number))})
    new = material.pick(options)
    if new is None:
        return None
    return replaced(material.source, site, repr(new), FACTOR if new < 0 else ATOM)


def _constants(material: Material) -> list[object]:
    """The numbers and texts of the file and the donors that are no docstrings."""
    return [
        site.node.value
        for source in (material.source, *material.donors)
        for site in source.sites
        if isinstance(site.node, ast.Constant) and not isinstance(site.node.value, bool)
    ]


def _calls(material: Material) -> list[Site]:
    """Calls with plain arguments only, of something with a name."""
    return [
        site
        for site in material.sites
        if isinstance(site.node, ast.Call)
        and site.node.args
        and not site.node.keywords
        and not any(isinstance(one, ast.Starred) for one in site.node.args)
        and isinstance(site.node.func, ast.Name | ast.Attribute)
    ]


def _pair(site: Site) -> tuple[Site, Site] | None:
    """Two values side by side: the operands of an operator, or the first two arguments of a call."""
    node = site.node
    if isinstance(node, ast.BinOp):
        return Site(node.left, node, "left"), Site(node.right, node, "right")
    if (
        isinstance(node, ast.Call)
        and len(node.args) > 1
        and not any(isinstance(one, ast.Starred) for one in node.args[:2])
    ):
        return Site(node.args[0], node, "args"), Site(node.args[1], node, "args")
    return None


def _numeric(material: Material) -> list[Site]:
    """Sites that may be numbers, and stand where a number may."""
    return [site for site in material.sites if sort_of(site.node) in _NUMERIC]


def _second(material: Material, site: Site) -> tuple[str, int, tuple[Change, ...]] | None:
    """A second operand: a name that is bound there, a small number, or an expression from anywhere."""
    roll = material.rng.random()
    if roll < 0.4:
        name = material.pick(material.values_at(site.node, site.node.lineno, site.node.col_offset))
        if name is not None:
            return name, ATOM, ()
    if roll < 0.6:
        return material.pick(["0.5", "1.0", "2", "2.0", "3"]) or "1.0", ATOM, ()
    return _taken(material, site)


def _taken(material: Material, site: Site) -> tuple[str, int, tuple[Change, ...]] | None:
    """An expression that suits the site, from a donor or from the file itself, as it can stand there."""
    donors = material.donors if material.chance(0.5) else ()
    donor = material.pick(donors) or material.source
    fragments = [other for other in donor.sites if suits(site.node, other.node) and is_value(donor, other)]
    chosen = material.pick(fragments)
    if chosen is None or not is_small(chosen.node):
        return None
    found = transplanted(material, donor, chosen.node, place_of(material.source, site.node))
    return (found.text, strength(donor, chosen.node), found.brought) if found else None


def _parts(node: ast.expr) -> list[ast.expr]:
    """The parts of an expression that may stand for the whole."""
    match node:
        case ast.BinOp():
            parts = [node.left, node.right]
        case ast.UnaryOp(op=ast.USub()):
            parts = [node.operand]
        case ast.IfExp():
            parts = [node.body, node.orelse]
        case ast.Call():
            parts = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        case _:
            parts = []
    return [part for part in parts if suits(node, part) and not isinstance(part, ast.GeneratorExp)]


def _weakest(part: tuple[str, int], need: int) -> str:
    """A text of a strength, in parentheses where it needs them to stand where `need` is needed."""
    text, power = part
    return text if power >= need and "\n" not in text else f"({text})"
