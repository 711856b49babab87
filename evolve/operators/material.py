"""Material of an edit: the file that changes, the files that code may be taken from, and the random numbers.

Everything is drawn from sequences in the order of the text or of the alphabet, so that equal inputs give equal edits."""

import ast
import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, TypeGuard, TypeVar

from numpy.random import Generator

from evolve.operators.python_source import Source, SuiteStatement

T = TypeVar("T")
Fragment = TypeVar("Fragment", ast.expr, ast.stmt)
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
_LEAVES = (ast.Break, ast.Return, ast.Raise)


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
    def sites(self) -> tuple[ast.expr, ...]:
        """The values that may change."""
        source = self.source
        return tuple(
            site
            for site in source.sites
            if site not in self.loop_ends and source.allows(source.extent(site)) and is_value(source, site)
        )

    @cached_property
    def members(self) -> tuple[SuiteStatement, ...]:
        """The statements that may change."""
        found: Sequence[SuiteStatement] = self.source.members
        if self.loop_ends:
            found = [member for member in found if self.loop_ends.isdisjoint(ast.walk(member.node))]
        return tuple(member for member in found if self.source.allows(self.source.extent(member.node)))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The functions that this file or a donor calls or imports, and the always known."""
        found = [Function(name, arity) for name, arity in ALWAYS.items()]
        for source in (self.source, *self.donors):
            found += _list_called_functions(source)
            found += _list_imported_functions(source)
        return tuple(sorted(set(found), key=lambda function: (function.name, function.arity)))

    def functions_at(self, node: ast.expr, arity: int) -> list[Function]:
        """Returns the functions of so many arguments that can be called where the node stands, without a call of a function in itself."""
        inside, outer = set[str](), self.source.parents.get(node)
        while outer is not None:
            inside |= {outer.name} if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) else set()
            outer = self.source.parents.get(outer)
        # A function that comes to call itself would hardly ever end.
        known = [function for function in self.functions if function.arity == arity]
        roots = {function: function.name.partition(".")[0] for function in known}
        return [one for one in known if roots[one] not in inside and self.is_bound(roots[one], node)]

    def is_bound(self, name: str, node: ast.expr | ast.stmt) -> bool:
        """Returns whether reading a name where a node stands would find something."""
        names = self.source.names
        return names.is_bound(name, names.scopes[node], (node.lineno, node.col_offset))

    def values_at(self, node: ast.expr | ast.stmt) -> list[str]:
        """Returns the names of values, in alphabetical order, that are bound where a node stands."""
        names = self.source.names
        visible = names.visible(names.scopes[node], (node.lineno, node.col_offset))
        return [name for name, found in visible.items() if found.kind == "value" and name not in names.called]

    def transplant(self, fragment: Fragment, place: ast.expr | ast.stmt) -> Fragment | None:
        """Returns an expression or statement of any file as it can stand at a place: names that mean nothing there become others, a
        function's a function's and a value's a value's. None where there are no others."""
        renames: dict[str, str] = {}
        for name in _list_free_names(fragment):
            if not self.is_bound(name, place):
                other = self.pick(self._list_stand_ins(fragment, name, place))
                if other is None:
                    return None
                renames[name] = other
        moved = copy.deepcopy(fragment)
        for inner in ast.walk(moved):
            if isinstance(inner, ast.Name):
                inner.id = renames.get(inner.id, inner.id)
        return moved

    def _list_stand_ins(self, fragment: ast.AST, name: str, place: ast.expr | ast.stmt) -> list[str]:
        for call in ast.walk(fragment):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
                known = (one.name for one in self.functions if one.arity == len(call.args))
                return [function for function in known if "." not in function and self.is_bound(function, place)]
        return self.values_at(place)


def find_loop_ends(nodes: Iterable[ast.AST]) -> frozenset[ast.AST]:
    """Returns the conditions of all `while`s, and in their bodies what leaves them, the conditions that this depends on, and the statements
    that change what the loop's condition reads; with all nodes below. Most edits of these would never end."""
    found: set[ast.AST] = set()
    for loop in nodes:
        if not isinstance(loop, ast.While):
            continue
        watched = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
        ends: list[ast.AST] = [loop.test]
        for node in (node for statement in loop.body for node in ast.walk(statement)):
            if isinstance(node, _LEAVES) or (_is_simple(node) and _changes(node, watched)):
                ends.append(node)
            elif isinstance(node, ast.If) and any(isinstance(inner, _LEAVES) for inner in ast.walk(node)):
                ends.append(node.test)
        # Operators and contexts are one object in the whole tree.
        found.update(inner for end in ends for inner in ast.walk(end) if isinstance(inner, ast.expr | ast.stmt))
    return frozenset(found)


def _is_simple(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


def _changes(statement: ast.AST, watched: set[str]) -> bool:
    """Reports an assignment to a watched name or a part of it, or a call of a method of it."""
    for node in ast.walk(statement):
        stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        target = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        if (stored or target is not node) and _find_root(target) in watched:
            return True
    return False


def _find_root(node: ast.AST) -> str:
    """Returns the name that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_value(source: Source, node: ast.expr) -> bool:
    """Reports a site whose value is data as a whole: no function where it is called, no module, no class, nothing that has a dot after it."""
    parent = source.parents[node]
    if (isinstance(parent, ast.Call) and parent.func is node) or isinstance(parent, ast.Attribute):
        return False
    if isinstance(node, ast.Name):
        binding = source.names.find(node.id, source.names.scopes[node], (node.lineno, node.col_offset))
        return binding is not None and binding.kind == "value"
    return not isinstance(node, ast.Lambda)


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


def _list_called_functions(source: Source) -> list[Function]:
    """Returns the functions that are called with plain arguments only, by their dotted names. Methods of values are none."""
    found = []
    for call in source.sites:
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


def _list_free_names(fragment: ast.AST) -> list[str]:
    """Returns the names that code reads and does not bind itself, in their order. What `x += 1` changes must be there before."""
    inner = list(ast.walk(fragment))
    bound = {one.arg for one in inner if isinstance(one, ast.arg)}
    for one in inner:
        if isinstance(one, ast.comprehension | ast.NamedExpr):
            bound |= {name.id for name in ast.walk(one.target) if isinstance(name, ast.Name)}
    names = [one for one in inner if isinstance(one, ast.Name)]
    read = [name.id for name in names if isinstance(name.ctx, ast.Load) and name.id not in bound]
    if isinstance(fragment, ast.AugAssign) and isinstance(fragment.target, ast.Name):
        read.append(fragment.target.id)
    return list(dict.fromkeys(read))
