"""Single edits of a Python program, each a function that returns an edit, or None where the random numbers found no place for one.

An edit knows nothing of blocks, of the campaign and of whether it is worth anything: what it makes is checked by `mutate_ast`. Code that
is put somewhere gets the parentheses that it needs there; all else keeps its layout, and a statement moves with its lines."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evolve.operators.material import Material, is_plain, is_small, is_value, location_of, sort_of, suits, transplant
from evolve.operators.python_source import (
    AND,
    ATOM,
    COMPARE,
    FACTOR,
    OPERATORS,
    OR,
    TEST,
    Edit,
    Extent,
    Replacement,
    Site,
    Source,
    SuiteStatement,
    minimum_precedence,
    parenthesize,
    precedence,
    reindent,
)

Mutation = Callable[[Material], Edit | None]
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


def change_operator(material: Material) -> Edit | None:
    """Changes `a + b` to `a * b`: the four, and others of their kind that the file uses."""
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
    changes = [Replacement(extent, SYMBOLS[new])]
    made = ast.BinOp(node.left, new(), node.right)
    for field, part in (("left", node.left), ("right", node.right)):
        if precedence(source, part) < minimum_precedence(made, field, part):
            changes += _in_parentheses(source, part)
    if OPERATORS[new] < minimum_precedence(site.parent, site.field, node):
        changes = _around(source, node, changes)
    return Edit(tuple(changes), f"{SYMBOLS[type(node.op)]} became {SYMBOLS[new]}")


def change_constant(material: Material) -> Edit | None:
    """Changes a number to one near it, twice or half of it, or one that stands elsewhere; a truth value to the other; a text to another of the file."""
    site = material.pick([site for site in material.sites if isinstance(site.node, ast.Constant)])
    if site is None or not isinstance(site.node, ast.Constant):
        return None
    value = site.node.value
    if isinstance(value, bool):
        return replace_site(material.source, site, repr(not value))
    if is_plain(value):
        return _change_number(material, site, value)
    texts = [repr(text) for text in _list_constants(material) if isinstance(text, str) and text != value]
    new = material.pick(sorted(set(texts))) if isinstance(value, str) else None
    return replace_site(material.source, site, new) if new is not None else None


def swap_operands(material: Material) -> Edit | None:
    """Changes `a - b` to `b - a`, and `f(a, b)` to `f(b, a)`."""
    source = material.source
    pairs = [_pair(site) for site in material.sites]
    pair = material.pick([one for one in pairs if one is not None])
    if pair is None:
        return None
    first, second = pair
    texts = source.text_of(source.extent(first.node)), source.text_of(source.extent(second.node))
    if texts[0] == texts[1]:
        return None
    changes = (
        Replacement(
            source.extent_with_parentheses(first.node), parenthesize(texts[1], precedence(source, second.node), first)
        ),
        Replacement(
            source.extent_with_parentheses(second.node), parenthesize(texts[0], precedence(source, first.node), second)
        ),
    )
    return Edit(changes, f"{short(texts[0])} and {short(texts[1])} changed places")


def extend_expression(material: Material) -> Edit | None:
    """Changes `a` to `a * b`, with another value of the file or of a donor, or a constant."""
    site = material.pick(_numeric_sites(material))
    if site is None:
        return None
    source, operator = material.source, _FOUR[int(material.rng.integers(len(_FOUR)))]
    second = _second_operand(material, site)
    if second is None:
        return None
    text, power, brought = second
    own = source.text_of(source.extent(site.node))
    left, right = (own, precedence(source, site.node)), (text, power)
    if material.chance(0.5):
        left, right = right, left
    need = OPERATORS[operator]
    joined = f"{_enclose(left, need)} {SYMBOLS[operator]} {_enclose(right, need + 1)}"
    edit = replace_site(source, site, joined, need)
    return Edit((*brought, *edit.changes), edit.words)


def wrap_expression(material: Material) -> Edit | None:
    """Changes `a` to `-a`, `f(a)` or `f(a, b)`."""
    site = material.pick(_numeric_sites(material))
    if site is None:
        return None
    source = material.source
    own = source.text_of(source.extent(site.node))
    if material.chance(0.15):
        text = _enclose((own, precedence(source, site.node)), FACTOR)
        return replace_site(source, site, f"-{text}", FACTOR)
    function = material.pick([*material.functions_at(site.node, 1), *material.functions_at(site.node, 2)])
    if function is None:
        return None
    argument = _enclose((own, precedence(source, site.node)), TEST)
    if function.arity == 1:
        return replace_site(source, site, f"{function.name}({argument})")
    second = _second_operand(material, site)
    if second is None:
        return None
    text, power, brought = second
    edit = replace_site(source, site, f"{function.name}({argument}, {_enclose((text, power), TEST)})")
    return Edit((*brought, *edit.changes), edit.words)


def replace_site(source: Source, site: Site, text: str, power: int = ATOM) -> Edit:
    """Returns an edit that puts a text of this precedence in the place of a site, and says so."""
    old = source.text_of(source.extent(site.node))
    return Edit(
        (Replacement(source.extent_with_parentheses(site.node), parenthesize(text, power, site)),),
        f"{short(old)} became {short(text)}",
    )


def operator_extent(source: Source, left: ast.expr, symbol: str) -> Extent | None:
    """Returns the place of the operator after an operand."""
    skipped = _SKIPPED.match(source.data, source.extent(left).end)
    start = skipped.end() if skipped else 0
    end = start + len(symbol)
    return Extent(start, end) if source.data[start:end] == symbol.encode() else None


def short(text: str) -> str:
    """Returns a piece of code on one short line."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."


def _others(material: Material, operator: ast.operator) -> list[type[ast.operator]]:
    """Operators of the same kind: the four, and those that the file uses."""
    kind = next((kind for kind in _KINDS if isinstance(operator, kind)), ())
    used = material.operators
    return [
        one for one in kind if not isinstance(operator, one) and (one in used or one in _FOUR or kind is not _KINDS[0])
    ]


def _in_parentheses(source: Source, node: ast.expr) -> list[Replacement]:
    """Parentheses around an operand, unless it has them."""
    start, end = source.extent(node)
    if source.extent_with_parentheses(node) != (start, end):
        return []
    return [Replacement(Extent(start, start), "("), Replacement(Extent(end, end), ")")]


def _around(source: Source, node: ast.expr, changes: list[Replacement]) -> list[Replacement]:
    """Parentheses around all of it, outside of those that its operands get."""
    found = _in_parentheses(source, node)
    return [found[0], *changes, found[1]] if found else changes


def _change_number(material: Material, site: Site, value: float) -> Edit | None:
    near: list[float] = [value + 1, value - 1, 2 * value, value // 2 if isinstance(value, int) else value / 2, 0, 1]
    near += [number for number in _list_constants(material) if is_plain(number)]
    kind = type(value)
    options = sorted({kind(number) for number in near if kind(number) != value and is_plain(kind(number))})
    new = material.pick(options)
    if new is None:
        return None
    return replace_site(material.source, site, repr(new), FACTOR if new < 0 else ATOM)


def _list_constants(material: Material) -> list[object]:
    """Returns the numbers and texts of the file and the donors that are no docstrings."""
    return [
        site.node.value
        for source in (material.source, *material.donors)
        for site in source.sites
        if isinstance(site.node, ast.Constant) and not isinstance(site.node.value, bool)
    ]


def _pair(site: Site) -> tuple[Site, Site] | None:
    """Returns two values side by side: the operands of an operator, or the first two arguments of a call."""
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


def _numeric_sites(material: Material) -> list[Site]:
    """Sites that may be numbers, and stand where a number may."""
    return [site for site in material.sites if sort_of(site.node) in _NUMERIC]


def _second_operand(material: Material, site: Site) -> tuple[str, int, tuple[Replacement, ...]] | None:
    """Returns a second operand: a name that is bound there, a small number, or an expression from anywhere."""
    roll = material.rng.random()
    if roll < 0.4:
        name = material.pick(material.values_at(site.node, site.node.lineno, site.node.col_offset))
        if name is not None:
            return name, ATOM, ()
    if roll < 0.6:
        return material.pick(["0.5", "1.0", "2", "2.0", "3"]) or "1.0", ATOM, ()
    return _take_expression(material, site)


def _take_expression(material: Material, site: Site) -> tuple[str, int, tuple[Replacement, ...]] | None:
    """Returns an expression that suits the site, from a donor or from the file itself, as it can stand there."""
    donors = material.donors if material.chance(0.5) else ()
    donor = material.pick(donors) or material.source
    fragments = [other for other in donor.sites if suits(site.node, other.node) and is_value(donor, other)]
    chosen = material.pick(fragments)
    if chosen is None or not is_small(chosen.node):
        return None
    found = transplant(material, donor, chosen.node, location_of(material.source, site.node))
    return (found.text, precedence(donor, chosen.node), found.brought) if found else None


def _enclose(part: tuple[str, int], need: int) -> str:
    """Returns a text of a precedence, in parentheses where it needs them to stand where `need` is required."""
    text, power = part
    return text if power >= need and "\n" not in text else f"({text})"


@dataclass(frozen=True, slots=True)
class Condition:
    """A site that decides something; `ends_loop`: it is the condition of a `while`, or one of its parts."""

    site: Site
    ends_loop: bool


def join_conditions(material: Material) -> Edit | None:
    """Changes `c` to `c and d` or `c or d`, with a condition of the file or of a donor, or a comparison of two values."""
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
    own = source.text_of(source.extent(site.node))
    parts = [
        part if weight >= need and "\n" not in part else f"({part})"
        for part, weight in ((own, precedence(source, site.node)), (text, power))
    ]
    edit = replace_site(source, site, f" {word} ".join(parts), need)
    return Edit((*brought, *edit.changes), edit.words)


def some_condition(material: Material, node: ast.stmt) -> tuple[str, tuple[Replacement, ...]] | None:
    """Returns a condition that can be asked before a statement."""
    site = Site(ast.Constant(value=True, lineno=node.lineno, col_offset=node.col_offset), node, "test")
    found = _another(material, site, node)
    return (found[0], found[2]) if found else None


def _conditions(material: Material) -> list[Condition]:
    """Returns all conditions that may change, the whole ones and their parts."""
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
        allowed = ends or site.node not in material.loop_ends
        if allowed and source.allows(source.extent(site.node)) and is_small(site.node):
            found.append(Condition(site, ends))
    return found


def _another(
    material: Material, site: Site, before: ast.stmt | None = None
) -> tuple[str, int, tuple[Replacement, ...]] | None:
    """Returns a condition of a donor or of the file, or a comparison of two values, as it can stand at a site."""
    place = location_of(material.source, before or site.node)
    donor = material.pick([material.source, *material.donors]) or material.source
    known = [other.node for other in donor.sites if isinstance(other.node, ast.Compare) and is_small(other.node)]
    chosen = material.pick(known)
    if chosen is not None and material.chance(0.5):
        found = transplant(material, donor, chosen, place)
        return (found.text, COMPARE, found.brought) if found else None
    names = material.values_at(before or site.node, *place.position)
    left, right = material.pick(names), material.pick([*names, "0", "0.5", "1"])
    if left is None or right is None or left == right:
        return None
    symbol = material.pick(["<", ">", "<=", ">="])
    return f"{left} {symbol} {right}", COMPARE, ()


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FIXED = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_STEP = "    "


def delete_statement(material: Material) -> Edit | None:
    """Deletes a statement; `pass` stays where it was the only one."""
    found = [member for member in _whole(material) if _may_go(material, member)]
    member = material.pick(found)
    if member is None:
        return None
    lines = material.source.lines(member.node)
    if lines is None:
        return None
    text = "" if len(member.suite) > 1 else f"{material.source.indentation(member.node)}pass\n"
    return Edit((Replacement(lines, text),), f"{_first_words(material.source, member.node)} is gone")


def repeat_statement(material: Material) -> Edit | None:
    """Repeats a statement directly after itself."""
    member = material.pick(_plain(material))
    if member is None:
        return None
    source = material.source
    text = reindent(source, member.node, source.indentation(member.node))
    return Edit((_after(source, member.node, text),), f"{_first_words(source, member.node)} twice")


def swap_neighbours(material: Material) -> Edit | None:
    """Swaps two neighbouring statements; comments between them stay there."""
    source, members = material.source, _plain(material)
    known = {id(member.node) for member in members}
    member = material.pick([one for one in members if one.index and id(one.suite[one.index - 1]) in known])
    if member is None:
        return None
    other = member.suite[member.index - 1]
    first, second = source.lines(other), source.lines(member.node)
    if first is None or second is None:
        return None
    texts = (reindent(source, node, source.indentation(node)) for node in (member.node, other))
    changes = tuple(Replacement(extent, text) for extent, text in zip((first, second), texts, strict=True))
    return Edit(changes, f"{_first_words(source, other)} and {_first_words(source, member.node)} changed places")


def guard_statement(material: Material) -> Edit | None:
    """Puts a statement under a condition of the file or of a donor."""
    found = [one for one in _plain(material) if not isinstance(one.node, ast.If)]
    member = material.pick([one for one in found if _may_be_left_out(material.source, one.node)])
    if member is None:
        return None
    source = material.source
    condition, lines = some_condition(material, member.node), source.lines(member.node)
    if condition is None or lines is None or "\n" in condition[0]:
        return None
    outer = source.indentation(member.node)
    text = f"{outer}if {condition[0]}:\n{reindent(source, member.node, outer + _STEP)}"
    return Edit(
        (*condition[1], Replacement(lines, text)), f"{_first_words(source, member.node)} only if {short(condition[0])}"
    )


def insert_statement(material: Material) -> Edit | None:
    """Inserts a small statement of a donor before or after one of the file."""
    donor = material.pick(material.donors)
    member = material.pick(_whole(material))
    if donor is None or member is None:
        return None
    known = [one.node for one in donor.members if _may_be_taken(donor, one.node)]
    chosen = material.pick(known)
    if chosen is None:
        return None
    source, node = material.source, member.node
    found = transplant(material, donor, chosen, location_of(source, node))
    lines = source.lines(node)
    if found is None or lines is None:
        return None
    text = f"{source.indentation(node)}{found.text}\n"
    before = isinstance(node, _LEAVES) or material.chance(0.5)
    change = Replacement(Extent(lines.start, lines.start), text) if before else _after(source, node, text)
    return Edit((*found.brought, change), f"{short(found.text)} from an inspiration")


def _whole(material: Material) -> list[SuiteStatement]:
    """Statements with lines of their own that are no docstring."""
    source = material.source
    return [one for one in material.members if not _is_docstring(one) and source.lines(one.node) is not None]


def _plain(material: Material) -> list[SuiteStatement]:
    """Statements that may stand twice or elsewhere in their suite."""
    return [one for one in _whole(material) if not isinstance(one.node, (*_FIXED, *_LEAVES))]


def _may_go(material: Material, member: SuiteStatement) -> bool:
    """Reports a statement that defines nothing which is used from outside, and is not the last `return` of a function."""
    node = member.node
    if isinstance(node, _DEFINITIONS):
        return isinstance(member.owner, ast.Module) and node.name not in material.kept
    last = member.index == len(member.suite) - 1 and isinstance(member.owner, ast.FunctionDef | ast.AsyncFunctionDef)
    return not isinstance(node, (*_FIXED, ast.Pass)) and not (last and isinstance(node, ast.Return))


def _may_be_left_out(source: Source, node: ast.stmt) -> bool:
    """Reports a statement of which every name is bound before it, so that nothing after it misses one."""
    stored = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    scope, position = source.names.scopes[node], (node.lineno, node.col_offset)
    return all(source.names.is_bound(one.id, scope, position) for one in stored)


def _may_be_taken(donor: Source, node: ast.stmt) -> bool:
    """Reports a small statement on one line that does something by itself."""
    taken = isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and node.lineno == node.end_lineno
    return taken and is_small(node) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_docstring(member: SuiteStatement) -> bool:
    node = member.node
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and member.index == 0


def _after(source: Source, node: ast.stmt, text: str) -> Replacement:
    """Returns a text on the line after a statement."""
    lines = source.lines(node)
    assert lines is not None, "only statements with lines of their own have something after them"
    ends = source.data[lines.start : lines.end].endswith((b"\n", b"\r"))
    return Replacement(Extent(lines.end, lines.end), text if ends else f"\n{text.rstrip()}")


def _first_words(source: Source, node: ast.stmt) -> str:
    """Returns the first line of a statement."""
    lines = source.text_of(source.extent(node)).splitlines()
    return short(lines[0])


WEIGHTS: Mapping[Mutation, float] = {
    repeat_statement: 3,
    swap_neighbours: 3,
    insert_statement: 3,
    join_conditions: 2,
    swap_operands: 2,
    change_constant: 2,
    wrap_expression: 2,
    delete_statement: 3,
    extend_expression: 2,
    guard_statement: 1,
    change_operator: 2,
}
"""How often each is tried, in no unit: roughly as often as it was seen to improve a program (docs/operators.md has the table)."""
