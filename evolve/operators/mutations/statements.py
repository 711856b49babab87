"""Edits of statements: one less, one twice, two in the other order, into and out of an `if`, and one from a donor.

Invariant: a statement moves with its lines, and the comments on other lines stay where they are."""

import ast
from collections.abc import Sequence

from evolve.operators.mutations.conditions import some_condition
from evolve.operators.mutations.expressions import replaced, short
from evolve.operators.mutations.material import Material, is_small, suits
from evolve.operators.mutations.transplant import place_of, transplanted
from evolve.syntax import Change, Edit, Extent, Member, Site, Source, indented, strength

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FIXED = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_STEP = "    "


def deleted(material: Material) -> Edit | None:
    """A statement less; `pass` where it was the only one."""
    found = [member for member in _whole(material) if _may_go(material, member)]
    member = material.pick(found)
    if member is None:
        return None
    lines = material.source.lines(member.node)
    if lines is None:
        return None
    text = "" if len(member.suite) > 1 else f"{material.source.indentation(member.node)}pass\n"
    return Edit((Change(lines, text),), f"{_first_words(material.source, member.node)} is gone")


def doubled(material: Material) -> Edit | None:
    """A statement again, directly after itself."""
    member = material.pick(_plain(material))
    if member is None:
        return None
    source = material.source
    text = indented(source, member.node, source.indentation(member.node))
    return Edit((_after(source, member.node, text),), f"{_first_words(source, member.node)} twice")


def swapped_neighbours(material: Material) -> Edit | None:
    """Two statements in the other order; what stands between them stays there."""
    source, members = material.source, _plain(material)
    known = {id(member.node) for member in members}
    member = material.pick([one for one in members if one.index and id(one.suite[one.index - 1]) in known])
    if member is None:
        return None
    other = member.suite[member.index - 1]
    first, second = source.lines(other), source.lines(member.node)
    if first is None or second is None:
        return None
    texts = (indented(source, node, source.indentation(node)) for node in (member.node, other))
    changes = tuple(Change(extent, text) for extent, text in zip((first, second), texts, strict=True))
    return Edit(changes, f"{_first_words(source, other)} and {_first_words(source, member.node)} changed places")


def into_an_if(material: Material) -> Edit | None:
    """A statement under a condition of the file or of a donor."""
    found = [one for one in _plain(material) if not isinstance(one.node, ast.If)]
    member = material.pick([one for one in found if _may_be_left_out(material.source, one.node)])
    if member is None:
        return None
    source = material.source
    condition, lines = some_condition(material, member.node), source.lines(member.node)
    if condition is None or lines is None or "\n" in condition[0]:
        return None
    outer = source.indentation(member.node)
    text = f"{outer}if {condition[0]}:\n{indented(source, member.node, outer + _STEP)}"
    return Edit(
        (*condition[1], Change(lines, text)), f"{_first_words(source, member.node)} only if {short(condition[0])}"
    )


def into_the_next_if(material: Material) -> Edit | None:
    """A statement that stands beside an `if` becomes the first or the last of its body."""
    source, pairs = material.source, list[tuple[Member, ast.If]]()
    for member in _plain(material):
        near = member.suite[max(0, member.index - 1) : member.index + 2]
        if _may_be_left_out(source, member.node):
            pairs += [(member, node) for node in near if isinstance(node, ast.If) and node is not member.node]
    pair = material.pick(pairs)
    if pair is None:
        return None
    member, node = pair
    old, body = source.lines(member.node), [source.lines(inner) for inner in (node.body[0], node.body[-1])]
    if old is None or body[0] is None or body[1] is None:
        return None
    text = indented(source, member.node, source.indentation(node.body[0]))
    place = body[0].start if material.chance(0.5) else body[1].end
    return Edit(
        (Change(old, ""), Change(Extent(place, place), text)), f"{_first_words(source, member.node)} into the if"
    )


def out_of_an_if(material: Material) -> Edit | None:
    """The body of an `if` without a condition, or its first statement before it."""
    found = [
        one for one in _whole(material) if isinstance(one.node, ast.If) and not _is_chained(material.source, one.node)
    ]
    member = material.pick(found)
    if member is None or not isinstance(member.node, ast.If):
        return None
    source, node = material.source, member.node
    lines, inner = source.lines(node), [source.lines(one) for one in node.body]
    if lines is None or any(extent is None for extent in inner):
        return None
    outer = source.indentation(node)
    if len(node.body) > 1 and material.chance(0.5):
        first = inner[0]
        assert first is not None, "all have lines of their own"
        text = indented(source, node.body[0], outer)
        changes = (Change(Extent(lines.start, lines.start), text), Change(first, ""))
        return Edit(changes, f"{_first_words(source, node.body[0])} out of the if")
    text = "".join(indented(source, one, outer) for one in node.body)
    return Edit((Change(lines, text),), f"{_first_words(source, node)} always")


def inserted(material: Material) -> Edit | None:
    """A small statement of a donor, before or after one of the file."""
    donor = material.pick(material.donors)
    member = material.pick(_whole(material))
    if donor is None or member is None:
        return None
    known = [one.node for one in donor.members if _may_be_taken(donor, one.node)]
    chosen = material.pick(known)
    if chosen is None:
        return None
    source, node = material.source, member.node
    found = transplanted(material, donor, chosen, place_of(source, node))
    lines = source.lines(node)
    if found is None or lines is None:
        return None
    text = f"{source.indentation(node)}{found.text}\n"
    before = isinstance(node, _LEAVES) or material.chance(0.5)
    change = Change(Extent(lines.start, lines.start), text) if before else _after(source, node, text)
    return Edit((*found.brought, change), f"{short(found.text)} from an inspiration")


def another_assignment(material: Material) -> Edit | None:
    """The value of an assignment or of a `return` is that of another one of a donor, if it can be to the same name."""
    donor = material.pick(material.donors)
    sites = [site for site in material.sites if _is_assigned(site)]
    site = material.pick(sites)
    if donor is None or site is None:
        return None
    others = [one for one in donor.sites if _is_assigned(one) and suits(site.node, one.node) and is_small(one.node)]
    same = [one for one in others if _target(one) == _target(site)]
    chosen = material.pick(same or others)
    if chosen is None:
        return None
    found = transplanted(material, donor, chosen.node, place_of(material.source, site.node))
    if found is None:
        return None
    edit = replaced(material.source, site, found.text, strength(donor, chosen.node))
    return Edit((*found.brought, *edit.changes), edit.words)


def _whole(material: Material) -> list[Member]:
    """Statements with lines of their own that are no docstring."""
    source = material.source
    return [one for one in material.members if not _is_docstring(one) and source.lines(one.node) is not None]


def _plain(material: Material) -> list[Member]:
    """Statements that may stand twice or elsewhere in their suite."""
    return [one for one in _whole(material) if not isinstance(one.node, (*_FIXED, *_LEAVES))]


def _may_go(material: Material, member: Member) -> bool:
    """It defines nothing that is asked for from outside, and it is not what a function gives back in the end."""
    node = member.node
    if isinstance(node, _DEFINITIONS):
        return isinstance(member.owner, ast.Module) and node.name not in material.kept
    last = member.index == len(member.suite) - 1 and isinstance(member.owner, ast.FunctionDef | ast.AsyncFunctionDef)
    return not isinstance(node, (*_FIXED, ast.Pass)) and not (last and isinstance(node, ast.Return))


def _may_be_left_out(source: Source, node: ast.stmt) -> bool:
    """Every name that it binds is bound before it, so that nothing after it misses one."""
    stored = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    scope, position = source.names.scopes[node], (node.lineno, node.col_offset)
    return all(source.names.is_bound(one.id, scope, position) for one in stored)


def _may_be_taken(donor: Source, node: ast.stmt) -> bool:
    """A small statement on one line that does something by itself."""
    taken = isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) and node.lineno == node.end_lineno
    return taken and is_small(node) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_docstring(member: Member) -> bool:
    node = member.node
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and member.index == 0


def _is_chained(source: Source, node: ast.If) -> bool:
    """It has an `else`, or is an `elif`."""
    return bool(node.orelse) or source.data[source.extent(node).start :].startswith(b"elif")


def _is_assigned(site: Site) -> bool:
    return site.field == "value" and isinstance(site.parent, ast.Assign | ast.AugAssign | ast.Return)


def _target(site: Site) -> str:
    """To what the value is assigned; empty for a `return`."""
    match site.parent:
        case ast.Assign(targets=targets):
            return ast.unparse(targets[0])
        case ast.AugAssign(target=target):
            return ast.unparse(target)
    return ""


def _after(source: Source, node: ast.stmt, text: str) -> Change:
    """A text on the line after a statement."""
    lines = source.lines(node)
    assert lines is not None, "only statements with lines of their own have something after them"
    ends = source.data[lines.start : lines.end].endswith((b"\n", b"\r"))
    return Change(Extent(lines.end, lines.end), text if ends else f"\n{text.rstrip()}")


def _first_words(source: Source, node: ast.stmt) -> str:
    """The first line of a statement."""
    lines: Sequence[str] = source.written(source.extent(node)).splitlines()
    return short(lines[0])
