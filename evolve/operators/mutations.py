"""Single edits of a Python program, each a function that returns an edit, or None where the random numbers found no place for one.

An edit knows nothing of blocks, of the campaign and of whether it is worth anything: what it makes is checked by `mutate_ast`. An expression
is written anew where it stands; all else keeps its layout, and a statement moves with its lines."""

import ast
from collections.abc import Callable, Mapping, Sequence

from evolve.operators.material import Material, is_plain, is_small, is_value, sort_of, suits
from evolve.operators.python_source import Edit, Extent, Replacement, Source, SuiteStatement, reindent, shorten

Mutation = Callable[[Material], Edit | None]
_FOUR = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_KINDS = ((*_FOUR, ast.FloorDiv, ast.Mod, ast.Pow), (ast.BitAnd, ast.BitOr, ast.BitXor), (ast.LShift, ast.RShift))
_COMPARISONS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FIXED = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def change_operator(material: Material) -> Edit | None:
    """Changes `a + b` to `a * b`: the four, and others of their kind that the file uses."""
    used = {type(node) for node in material.source.nodes if isinstance(node, ast.operator)}
    options = [
        (site, new)
        for site in material.sites
        if isinstance(site, ast.BinOp)
        for kind in _KINDS
        if isinstance(site.op, kind)
        for new in kind
        if not isinstance(site.op, new) and (new in used or new in _FOUR or kind is not _KINDS[0])
    ]
    chosen = material.pick(options)
    if chosen is None:
        return None
    site, new = chosen
    return material.source.replace(site, ast.BinOp(site.left, new(), site.right))


def change_constant(material: Material) -> Edit | None:
    """Changes a number to one near it, twice or half of it, or one that stands elsewhere; a truth value to the other; a text to another of the file."""
    site = material.pick([site for site in material.sites if isinstance(site, ast.Constant)])
    if site is None:
        return None
    value: object = site.value
    options: Sequence[object] = ()
    if isinstance(value, bool):
        options = [not value]
    elif is_plain(value):
        options = _list_numbers(material, value)
    elif isinstance(value, str):
        options = sorted({text for text in _list_constants(material) if isinstance(text, str) and text != value})
    new = material.pick(options)
    return None if new is None else material.source.replace(site, _constant(new))


def swap_operands(material: Material) -> Edit | None:
    """Changes `a - b` to `b - a`, and `f(a, b)` to `f(b, a)`."""
    swapped = [(site, new) for site in material.sites if (new := _swap(site)) is not None]
    chosen = material.pick(swapped)
    return material.source.replace(*chosen) if chosen else None


def extend_expression(material: Material) -> Edit | None:
    """Changes `a` to `a * b`, with another value of the file or of a donor, or a constant."""
    site = material.pick(_numeric_sites(material))
    if site is None:
        return None
    operator = _FOUR[int(material.rng.integers(len(_FOUR)))]
    second = _second_operand(material, site)
    if second is None:
        return None
    left, right = (second, site) if material.chance(0.5) else (site, second)
    return material.source.replace(site, ast.BinOp(left, operator(), right))


def wrap_expression(material: Material) -> Edit | None:
    """Changes `a` to `-a`, `f(a)` or `f(a, b)`."""
    site = material.pick(_numeric_sites(material))
    if site is None:
        return None
    if material.chance(0.15):
        return material.source.replace(site, ast.UnaryOp(ast.USub(), site))
    function = material.pick([*material.functions_at(site, 1), *material.functions_at(site, 2)])
    if function is None:
        return None
    arguments = [site]
    if function.arity == 2:
        second = _second_operand(material, site)
        if second is None:
            return None
        arguments.append(second)
    called = ast.parse(function.name, mode="eval").body
    return material.source.replace(site, ast.Call(called, arguments, []))


def join_conditions(material: Material) -> Edit | None:
    """Changes `c` to `c and d` or `c or d`, with a condition of the file or of a donor, or a comparison of two values."""
    source = material.source
    conditions = [site for site in source.sites if _is_condition(source, site) and is_small(site)]
    # The condition of a loop may only become harder to meet: it ends no later then.
    loops = [site for site in conditions if isinstance(source.parents[site], ast.While)]
    site = material.pick([site for site in conditions if site in loops or site not in material.loop_ends])
    other = _another_condition(material, site) if site else None
    if site is None or other is None:
        return None
    word = ast.And() if site in loops or material.chance(0.5) else ast.Or()
    return source.replace(site, ast.BoolOp(word, [site, other]))


def delete_statement(material: Material) -> Edit | None:
    """Deletes a statement; `pass` stays where it was the only one."""
    member = material.pick([member for member in _list_whole(material) if _may_go(material, member)])
    lines = material.source.lines(member.node) if member else None
    if member is None or lines is None:
        return None
    text = "" if len(member.suite) > 1 else f"{material.source.indentation(member.node)}pass\n"
    return Edit((Replacement(lines, text),), f"{_first_words(material.source, member.node)} is gone")


def repeat_statement(material: Material) -> Edit | None:
    """Repeats a statement directly after itself."""
    member = material.pick(_list_plain(material))
    if member is None:
        return None
    source = material.source
    text = reindent(source, member.node, source.indentation(member.node))
    return Edit((_insert_after(source, member.node, text),), f"{_first_words(source, member.node)} twice")


def swap_neighbours(material: Material) -> Edit | None:
    """Swaps two neighbouring statements; comments between them stay there."""
    source, members = material.source, _list_plain(material)
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


def insert_statement(material: Material) -> Edit | None:
    """Inserts a small statement of a donor before or after one of the file."""
    donor, member = material.pick(material.donors), material.pick(_list_whole(material))
    chosen = material.pick([one.node for one in donor.members if _may_be_taken(one.node)]) if donor else None
    if chosen is None or member is None:
        return None
    source, node = material.source, member.node
    found, lines = material.transplant(chosen, node), source.lines(node)
    if found is None or lines is None:
        return None
    text = ast.unparse(found)
    line = f"{source.indentation(node)}{text}\n"
    # After a `return` or a `break` nothing would ever run.
    before = isinstance(node, _LEAVES) or material.chance(0.5)
    change = Replacement(Extent(lines.start, lines.start), line) if before else _insert_after(source, node, line)
    return Edit((change,), f"{shorten(text)} from an inspiration")


def _list_numbers(material: Material, value: float) -> list[float]:
    """Returns numbers of a constant's type near it, of another size, and from elsewhere."""
    near: list[float] = [value + 1, value - 1, 2 * value, value // 2 if isinstance(value, int) else value / 2, 0, 1]
    near += [number for number in _list_constants(material) if is_plain(number)]
    kind = type(value)
    return sorted({kind(number) for number in near if kind(number) != value and is_plain(kind(number))})


def _list_constants(material: Material) -> list[object]:
    """Returns the numbers and texts of the file and the donors that are no docstrings."""
    return [
        site.value
        for source in (material.source, *material.donors)
        for site in source.sites
        if isinstance(site, ast.Constant) and not isinstance(site.value, bool)
    ]


def _constant(value: object) -> ast.expr:
    """Returns a literal. A negative number is one with a sign before it: `(-1) ** 2` needs its parentheses."""
    if is_plain(value) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    assert isinstance(value, bool | int | float | str), "constants are numbers, truth values and texts"
    return ast.Constant(value)


def _swap(node: ast.expr) -> ast.expr | None:
    """Returns an expression with its operands, or its first two arguments, swapped; None where that makes no other."""
    pair: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        pair = [node.left, node.right]
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        pair = node.args[:2]
    if not pair or any(isinstance(one, ast.Starred) for one in pair) or ast.dump(pair[0]) == ast.dump(pair[1]):
        return None
    if isinstance(node, ast.BinOp):
        return ast.BinOp(node.right, node.op, node.left)
    return (
        ast.Call(node.func, [pair[1], pair[0], *node.args[2:]], node.keywords) if isinstance(node, ast.Call) else None
    )


def _numeric_sites(material: Material) -> list[ast.expr]:
    """Sites that may be numbers, and stand where a number may."""
    return [site for site in material.sites if sort_of(site) in ("number", "any")]


def _second_operand(material: Material, site: ast.expr) -> ast.expr | None:
    """Returns a second operand: a name that is bound there, a small number, or an expression from anywhere."""
    roll = material.rng.random()
    if roll < 0.4:
        name = material.pick(material.values_at(site))
        if name is not None:
            return ast.Name(name)
    if roll < 0.6:
        return ast.Constant(material.pick([0.5, 1.0, 2, 2.0, 3]))
    donor = material.pick(material.donors if material.chance(0.5) else ()) or material.source
    chosen = material.pick([other for other in donor.sites if suits(site, other) and is_value(donor, other)])
    return material.transplant(chosen, site) if chosen is not None and is_small(chosen) else None


def _is_condition(source: Source, site: ast.expr) -> bool:
    """Reports a whole condition that may change."""
    parent = source.parents[site]
    tested = isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is site
    return (tested or (isinstance(parent, ast.comprehension) and site in parent.ifs)) and source.allows(
        source.extent(site)
    )


def _another_condition(material: Material, site: ast.expr) -> ast.expr | None:
    """Returns a condition of a donor or of the file, or a comparison of two values, as it can stand at a site."""
    donor = material.pick([material.source, *material.donors]) or material.source
    chosen = material.pick([other for other in donor.sites if isinstance(other, ast.Compare) and is_small(other)])
    if chosen is not None and material.chance(0.5):
        return material.transplant(chosen, site)
    names = [ast.Name(name) for name in material.values_at(site)]
    left, right = material.pick(names), material.pick([*names, *map(ast.Constant, (0, 0.5, 1))])
    comparison = material.pick(_COMPARISONS)
    if left is None or right is None or comparison is None or left is right:
        return None
    return ast.Compare(left, [comparison()], [right])


def _list_whole(material: Material) -> list[SuiteStatement]:
    """Returns the statements with lines of their own that are no docstring."""
    source = material.source
    return [one for one in material.members if not _is_docstring(one) and source.lines(one.node) is not None]


def _list_plain(material: Material) -> list[SuiteStatement]:
    """Returns the statements that may stand twice or elsewhere in their suite."""
    return [one for one in _list_whole(material) if not isinstance(one.node, (*_FIXED, *_LEAVES))]


def _may_go(material: Material, member: SuiteStatement) -> bool:
    """Reports a statement that defines nothing which is used from outside, and is not the last `return` of a function."""
    node = member.node
    if isinstance(node, _DEFINITIONS):
        return isinstance(member.owner, ast.Module) and node.name not in material.kept
    last = member.index == len(member.suite) - 1 and isinstance(member.owner, ast.FunctionDef | ast.AsyncFunctionDef)
    return not isinstance(node, (*_FIXED, ast.Pass)) and not (last and isinstance(node, ast.Return))


def _may_be_taken(node: ast.stmt) -> bool:
    """Reports a small statement on one line that does something by itself."""
    taken = isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and node.lineno == node.end_lineno
    return taken and is_small(node) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_docstring(member: SuiteStatement) -> bool:
    node = member.node
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and member.index == 0


def _insert_after(source: Source, node: ast.stmt, text: str) -> Replacement:
    """Returns a text on the line after a statement."""
    lines = source.lines(node)
    assert lines is not None, "only statements with lines of their own have something after them"
    ends = source.data[lines.start : lines.end].endswith((b"\n", b"\r"))
    return Replacement(Extent(lines.end, lines.end), text if ends else f"\n{text.rstrip()}")


def _first_words(source: Source, node: ast.stmt) -> str:
    """Returns the first line of a statement."""
    return shorten(source.text_of(source.extent(node)).splitlines()[0])


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
    change_operator: 2,
}
"""Relative frequencies of the edits: roughly as often as each was seen to improve a program (docs/operators.md has the table)."""
