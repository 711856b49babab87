"""Material of an edit: the file that changes, the files that code may be taken from, and the random numbers.

Everything is drawn from sequences in the order of the text or of the alphabet, so that equal inputs give equal edits."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, TypeGuard, TypeVar

from numpy.random import Generator

from evolve.operators.python_names import Position, Scope
from evolve.operators.python_source import Extent, Replacement, Site, Source, SuiteStatement, reindent

_LEAVES = (ast.Break, ast.Return, ast.Raise)


def find_loop_ends(nodes: Iterable[ast.AST]) -> frozenset[ast.AST]:
    """Returns, of the nodes of a tree, the conditions of all `while`s; in their bodies what leaves them, the conditions that this depends on, and the statements that
    change what the loop's condition reads; with all nodes below."""
    found: set[ast.AST] = set()
    for loop in nodes:
        if isinstance(loop, ast.While):
            for node in (loop.test, *_loop_ends(loop)):
                # Operators and contexts are one object in the whole tree.
                found.update(inner for inner in ast.walk(node) if isinstance(inner, ast.expr | ast.stmt))
    return frozenset(found)


def _loop_ends(loop: ast.While) -> Iterator[ast.AST]:
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
    """Reports an assignment to a watched name or a part of it, or a call of a method of it."""
    for node in ast.walk(statement):
        stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and _root(node) in watched
        if stored or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _root(node.func) in watched
        ):
            return True
    return False


def _root(node: ast.AST) -> str:
    """Returns the name that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


T = TypeVar("T")
Sort = Literal["number", "truth", "text", "many", "nothing", "any"]

ALWAYS = {"abs": 1, "min": 2, "max": 2}
"""Builtins that may be called wherever they are not hidden, with how many arguments."""
_EFFECTS = frozenset(
    ("print", "input", "open", "exec", "eval", "compile", "exit", "quit", "setattr", "delattr", "super", "type")
)
"""Builtins that are never called where they were not: they do something to the world, or mean nothing there."""
_MATH = "acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 fabs floor gamma lgamma log log10 log1p log2 sin sinh sqrt tan tanh"
_NUMPY = "abs ceil cos cosh exp expm1 floor log log10 log1p log2 sign sin sinh sqrt square tan tanh"
LIBRARY = {"math": tuple(_MATH.split()), "cmath": ("cos", "exp", "log", "sin", "sqrt"), "numpy": tuple(_NUMPY.split())}
"""Functions of one number that a program knows when it imports their module."""
_SIZE = 40
"""Nodes of the largest expression or statement that is put elsewhere."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function as it is called, with how many arguments."""

    name: str
    arity: int


class Material:
    """A file and what may be put into it. `kept` are the module's names that the world outside may ask for."""

    def __init__(self, source: Source, donors: Sequence[Source], kept: frozenset[str], rng: Generator) -> None:
        self.source = source
        self.donors = tuple(donors)
        self.kept = kept
        self.rng = rng

    def pick(self, items: Sequence[T]) -> T | None:
        """Returns one of the items, each as likely; None where there is none."""
        return items[int(self.rng.integers(len(items)))] if items else None

    def chance(self, probability: float) -> bool:
        """Returns True with a probability."""
        return bool(self.rng.random() < probability)

    @cached_property
    def loop_ends(self) -> frozenset[ast.AST]:
        """Nodes that make a `while` end."""
        return find_loop_ends(self.source.nodes)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The values that may change."""
        source = self.source
        return tuple(
            site
            for site in source.sites
            if site.node not in self.loop_ends and source.allows(source.extent(site.node)) and is_value(source, site)
        )

    @cached_property
    def members(self) -> tuple[SuiteStatement, ...]:
        """The statements that may change."""
        found: Sequence[SuiteStatement] = self.source.members
        if self.loop_ends:
            found = [member for member in found if self.loop_ends.isdisjoint(ast.walk(member.node))]
        return tuple(member for member in found if self.source.allows(self.source.extent(member.node)))

    @cached_property
    def operators(self) -> frozenset[type[ast.AST]]:
        """The operators that the file uses."""
        return frozenset(type(node) for node in self.source.nodes if isinstance(node, ast.operator))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The functions that this file or a donor calls, imports or defines, and the always known."""
        found = [Function(name, arity) for name, arity in ALWAYS.items()]
        for source in (self.source, *self.donors):
            found += _list_called_functions(source)
            found += _list_imported_functions(source)
        return tuple(sorted(set(found), key=lambda function: (function.name, function.arity)))

    def functions_at(self, node: ast.expr, arity: int) -> list[Function]:
        """Returns the functions of so many arguments that can be called where the node stands, without a call of a function in itself."""
        names, position = self.source.names, (node.lineno, node.col_offset)
        scope = names.scopes[node]
        inside = enclosing_functions(self.source, node)
        known = [function for function in self.functions if function.arity == arity]
        return [
            function
            for function in known
            if (root := function.name.partition(".")[0]) not in inside and names.is_bound(root, scope, position)
        ]

    def values_at(self, node: ast.AST, line: int, column: int) -> list[str]:
        """Returns the names of values, in alphabetical order, that are bound in the scope of the node at a place."""
        names = self.source.names
        visible = names.visible(names.scopes[node], (line, column))
        return [name for name, found in visible.items() if found.kind == "value" and name not in names.called]


def is_value(source: Source, site: Site) -> bool:
    """Reports a site whose value is data as a whole: no function where it is called, no module, no class, nothing that has a dot after it."""
    if (isinstance(site.parent, ast.Call) and site.field == "func") or isinstance(site.parent, ast.Attribute):
        return False
    if isinstance(site.node, ast.Name):
        name = site.node
        binding = source.names.find(name.id, source.names.scopes[name], (name.lineno, name.col_offset))
        return binding is not None and binding.kind == "value"
    return not isinstance(site.node, ast.Lambda)


def sort_of(node: ast.expr) -> Sort:
    """Returns the kind of data that an expression gives, as far as its form tells."""
    match node:
        case ast.Constant(value=None) | ast.Constant(value=bytes()):
            return "nothing"
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return "truth"
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "text"
        case ast.Constant(value=int() | float() | complex()) | ast.BinOp() | ast.UnaryOp():
            return "number"
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return "many"
        case ast.GeneratorExp() | ast.Lambda():
            return "nothing"
    return "any"


def suits(one: ast.expr, other: ast.expr) -> bool:
    """Returns whether one may stand for the other."""
    sorts = {sort_of(one), sort_of(other)}
    return len(sorts) == 1 or sorts <= {"number", "any"} or sorts <= {"many", "any"}


def is_small(node: ast.AST) -> bool:
    """Reports a node that is small enough to be put elsewhere."""
    return next(islice(ast.walk(node), _SIZE, None), None) is None


def is_plain(value: object) -> TypeGuard[int | float]:
    """Reports a number that can be written as a literal."""
    return type(value) in (int, float) and isinstance(value, int | float) and abs(value) < 1e18


def enclosing_functions(source: Source, node: ast.AST) -> set[str]:
    """Returns the names of the functions that a node is in."""
    found = set()
    for member in source.members:
        if isinstance(member.node, ast.FunctionDef | ast.AsyncFunctionDef) and _encloses(source, member.node, node):
            found.add(member.node.name)
    return found


def _encloses(source: Source, outer: ast.stmt, node: ast.AST) -> bool:
    assert isinstance(node, ast.expr | ast.stmt), "only these have a place"
    low, high = source.extent(outer)
    start, end = source.extent(node)
    return low <= start and end <= high


def _list_called_functions(source: Source) -> list[Function]:
    """Returns the functions that are called with plain arguments only, by their dotted names. Methods of values are none."""
    found = []
    for site in source.sites:
        call = site.node
        if not isinstance(call, ast.Call) or call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        name = _find_dotted_name(source, call.func)
        if name and call.args:
            found.append(Function(name, len(call.args)))
    return found


def _find_dotted_name(source: Source, node: ast.expr) -> str:
    """Returns a dotted name such as `math.sin` or `helper`; empty for a method of a value, and for what has an effect on the world."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    binding = source.names.find(node.id, source.names.scopes[node], (node.lineno, node.col_offset))
    kind = binding.kind if binding else "builtin"
    plain = kind in ("module", "import") if parts else kind not in ("module", "class") and node.id not in _EFFECTS
    return ".".join([node.id, *reversed(parts)]) if plain else ""


def _list_imported_functions(source: Source) -> list[Function]:
    """Returns the functions of `LIBRARY` that a program imports."""
    found = []
    for node in source.tree.body:
        if isinstance(node, ast.Import):
            pairs = [(alias.asname or alias.name, alias.name) for alias in node.names]
            found += [Function(f"{name}.{one}", 1) for name, module in pairs for one in LIBRARY.get(module, ())]
        elif isinstance(node, ast.ImportFrom) and node.module in LIBRARY:
            known = LIBRARY[node.module]
            found += [Function(alias.asname or alias.name, 1) for alias in node.names if alias.name in known]
    return found


_DEPTH = 3
"""Functions that a function that is brought along may bring along in turn."""


@dataclass(frozen=True, slots=True)
class Location:
    """Location of inserted code: a scope, a position for what is bound before it, and where functions for it can be written, if anywhere."""

    scope: Scope
    position: Position
    opening: Extent | None


@dataclass(frozen=True, slots=True)
class Transplant:
    """Code that fits its new place, with the functions that it needs as changes of the same file."""

    text: str
    brought: tuple[Replacement, ...] = ()


def location_of(source: Source, node: ast.expr | ast.stmt) -> Location:
    """Returns the place where a node stands."""
    position = (node.lineno, node.col_offset)
    around = [statement for statement in source.tree.body if statement.lineno <= node.lineno]
    lines = source.lines(around[-1])
    opening = Extent(lines.start, lines.start) if lines else None
    allowed = opening is not None and source.allows(opening)
    return Location(source.names.scopes[node], position, opening if allowed else None)


def transplant(material: Material, donor: Source, node: ast.expr | ast.stmt, place: Location) -> Transplant | None:
    """Returns the text of a donor's expression or statement as it can stand at a place; None where it cannot."""
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
    text = _rename_names(donor, node, renames)
    if text is None:
        return None
    return Transplant(text, _changes_of(brought, place))


def helper(source: Source, name: str) -> ast.FunctionDef | None:
    """Returns the function of the module with this name, where it stands alone on its lines."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and source.lines(node) is not None:
            return node
    return None


def _free(node: ast.AST) -> list[str]:
    """Returns the names that code reads and does not bind itself, in their order. What `x += 1` changes must be there before."""
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
    """Returns the names in a piece of a donor that its module binds, in their order."""
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
    brought.update({**found, name: reindent(donor, node, "")})
    return True


def _changes_of(brought: Mapping[str, str], place: Location) -> tuple[Replacement, ...]:
    """Returns the functions before the statement of the module that needs them."""
    return tuple(Replacement(place.opening, f"{text}\n\n") for text in brought.values() if place.opening)


def _another(material: Material, node: ast.AST, name: str, place: Location) -> str | None:
    """Returns a name that can stand for one that is not there: a function's for a function's, a value's for a value's."""
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


def _rename_names(donor: Source, node: ast.expr | ast.stmt, renames: Mapping[str, str]) -> str | None:
    """Returns the text of a node with other names; None where one of them stands in an f-string, which has no reliable places."""
    low, high = donor.extent(node)
    parts: list[bytes] = []
    place = low
    for name in _sort_names(donor, node):
        if name.id in renames:
            start, end = donor.extent(name)
            if start < place or donor.data[start:end] != name.id.encode():
                return None
            parts += [donor.data[place:start], renames[name.id].encode()]
            place = end
    if renames and any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(node)):
        return None
    return b"".join([*parts, donor.data[place:high]]).decode("utf-8")


def _sort_names(donor: Source, node: ast.AST) -> Iterator[ast.Name]:
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return iter(sorted(names, key=donor.extent))
