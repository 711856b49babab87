"""What an edit is made of: the file that changes, the files that something may be taken from, and the dice.

Invariant: everything is drawn from sequences in the order of the text or of the alphabet, so that equal inputs give equal edits."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, TypeGuard, TypeVar

from numpy.random import Generator

from evolve.operators.mutations.loops import kept_for_their_end
from evolve.syntax import Edit, Member, Site, Source
from evolve.syntax.scopes import BUILTINS

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
    """One file and what may be put into it. `kept` are the module's names that the world outside may ask for."""

    def __init__(self, source: Source, donors: Sequence[Source], kept: frozenset[str], rng: Generator) -> None:
        self.source = source
        self.donors = tuple(donors)
        self.kept = kept
        self.rng = rng

    def pick(self, items: Sequence[T]) -> T | None:
        """One of the items, each as likely; None where there is none."""
        return items[int(self.rng.integers(len(items)))] if items else None

    def chance(self, probability: float) -> bool:
        """True as often."""
        return bool(self.rng.random() < probability)

    @cached_property
    def held(self) -> frozenset[ast.AST]:
        """Nodes that make a `while` end."""
        return kept_for_their_end(self.source.nodes)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The values that may change."""
        source = self.source
        return tuple(
            site
            for site in source.sites
            if site.node not in self.held and source.allows(source.extent(site.node)) and is_value(source, site)
        )

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The statements that may change."""
        found: Sequence[Member] = self.source.members
        if self.held:
            found = [member for member in found if self.held.isdisjoint(ast.walk(member.node))]
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
            found += _called(source)
            found += _imported(source)
        return tuple(sorted(set(found), key=lambda function: (function.name, function.arity)))

    def functions_at(self, node: ast.expr, arity: int) -> list[Function]:
        """Those of so many arguments that can be called where the node stands, without a call of a function in itself."""
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
        """The names of values, in alphabetical order, that are bound in the scope of the node at a place."""
        names = self.source.names
        visible = names.visible(names.scopes[node], (line, column))
        return [name for name, found in visible.items() if found.kind == "value" and name not in names.called]


Find = Callable[[Material], Edit | None]
"""An edit of one kind, somewhere; None where the dice found no place for it."""


def is_value(source: Source, site: Site) -> bool:
    """A site whose value is data as a whole: no function where it is called, no module, no class, nothing that has a dot after it."""
    if (isinstance(site.parent, ast.Call) and site.field == "func") or isinstance(site.parent, ast.Attribute):
        return False
    if isinstance(site.node, ast.Name):
        name = site.node
        binding = source.names.find(name.id, source.names.scopes[name], (name.lineno, name.col_offset))
        return binding is not None and binding.kind == "value"
    return not isinstance(site.node, ast.Lambda)


def sort_of(node: ast.expr) -> Sort:
    """What kind of data an expression gives, as far as its form tells."""
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
    """Whether one may stand for the other."""
    sorts = {sort_of(one), sort_of(other)}
    return len(sorts) == 1 or sorts <= {"number", "any"} or sorts <= {"many", "any"}


def are_alike(one: str, other: str) -> bool:
    """Whether two functions may take the same arguments, as far as their names tell: functions of numbers and other builtins do not;
    of what a program defines nothing is known."""
    sorts = {_sort_of_function(one), _sort_of_function(other)}
    return len(sorts) == 1 or "unknown" in sorts


def _sort_of_function(name: str) -> Literal["number", "builtin", "unknown"]:
    last = name.rpartition(".")[2]
    if last in ALWAYS or any(last in known for known in LIBRARY.values()):
        return "number"
    return "builtin" if name in BUILTINS else "unknown"


def is_small(node: ast.AST) -> bool:
    """Small enough to be put elsewhere."""
    return next(islice(ast.walk(node), _SIZE, None), None) is None


def is_plain(value: object) -> TypeGuard[int | float]:
    """A number that can be written as a literal."""
    return type(value) in (int, float) and isinstance(value, int | float) and abs(value) < 1e18


def enclosing_functions(source: Source, node: ast.AST) -> set[str]:
    """The names of the functions that a node is in."""
    found = set()
    for member in source.members:
        if isinstance(member.node, ast.FunctionDef | ast.AsyncFunctionDef) and _holds(source, member.node, node):
            found.add(member.node.name)
    return found


def _holds(source: Source, outer: ast.stmt, node: ast.AST) -> bool:
    assert isinstance(node, ast.expr | ast.stmt), "only these have a place"
    low, high = source.extent(outer)
    start, end = source.extent(node)
    return low <= start and end <= high


def _called(source: Source) -> list[Function]:
    """The functions that are called with plain arguments only, by their dotted names. Methods of values are none."""
    found = []
    for site in source.sites:
        call = site.node
        if not isinstance(call, ast.Call) or call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        name = _dotted(source, call.func)
        if name and call.args:
            found.append(Function(name, len(call.args)))
    return found


def _dotted(source: Source, node: ast.expr) -> str:
    """`math.sin` and `helper`; empty for a method of a value, and for what has an effect on the world."""
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


def _imported(source: Source) -> list[Function]:
    """What a program knows from its imports: functions of `LIBRARY`."""
    found = []
    for node in source.tree.body:
        if isinstance(node, ast.Import):
            pairs = [(alias.asname or alias.name, alias.name) for alias in node.names]
            found += [Function(f"{name}.{one}", 1) for name, module in pairs for one in LIBRARY.get(module, ())]
        elif isinstance(node, ast.ImportFrom) and node.module in LIBRARY:
            known = LIBRARY[node.module]
            found += [Function(alias.asname or alias.name, 1) for alias in node.names if alias.name in known]
    return found
