"""Scopes of a Python program: the names that are bound at a place, found without running it.

A name is taken for bound where the language's scopes allow it and some assignment stands before it in the text (in a function
that is called later: anywhere in what encloses it). So a program that works has no unbound names, but for those that `import *` or `exec`
bring."""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["value", "function", "class", "module", "import"]
Position = tuple[int, int]
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

BUILTINS = frozenset(dir(builtins)) | {"__file__", "__doc__", "__name__", "__spec__", "__builtins__"}
_FIRST: Position = (0, 0)


class Binding(NamedTuple):
    """Binding of a name: from where on, and to what kind of value."""

    position: Position
    kind: Kind


@dataclass(eq=False, slots=True)
class Scope:
    """A module, a function, a class, or one `for` of a comprehension, with the names that are bound in it."""

    kind: Literal["module", "function", "class", "comprehension"]
    outer: "Scope | None" = None
    bindings: dict[str, Binding] = field(default_factory=dict)
    elsewhere: dict[str, "Scope | None"] = field(default_factory=dict)
    """Names that a `global` binds in the module, and those that a `nonlocal` binds in a function that binds them itself."""
    has_star: bool = False

    def bind(self, name: str, position: Position, kind: Kind = "value") -> None:
        """Binds a name; the first place counts."""
        if name in self.elsewhere:
            module = self.elsewhere[name]
            if module is not None:
                module.bind(name, _FIRST, kind)
            return
        known = self.bindings.get(name)
        if known is None or position < known.position:
            self.bindings[name] = Binding(position, kind)


class Names:
    """The scopes of a tree, and the names that are read in it."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope("module")
        self.scopes: dict[ast.AST, Scope] = {}
        """The scope that each node is in."""
        self.reads: list[ast.Name] = []
        self.called: set[str] = set()
        """Names that are called anywhere."""
        self._visit_all(tree)

    def find(self, name: str, scope: Scope, position: Position) -> Binding | None:
        """Returns the binding of a name at a place; None also for builtins."""
        inner, crossed = scope, False
        current: Scope | None = scope
        while current is not None:
            # Names of a class are not seen from the functions in it.
            binding = current.bindings.get(name)
            if binding is not None and (current.kind != "class" or current is inner):
                # A function is called later than its text stands: any place around it counts.
                if crossed or binding.position <= position:
                    return binding
                if current.kind == "function":
                    return None  # a local name that is read too early hides what is outside
            crossed = crossed or current.kind == "function"
            current = current.outer
        return None

    def is_bound(self, name: str, scope: Scope, position: Position) -> bool:
        """Returns whether reading a name there would find something."""
        return name in BUILTINS or self.module.has_star or self.find(name, scope, position) is not None

    def visible(self, scope: Scope, position: Position) -> Mapping[str, Binding]:
        """Returns all names that are bound there, but for builtins, in alphabetical order."""
        known: set[str] = set()
        current: Scope | None = scope
        while current is not None:
            known |= current.bindings.keys()
            current = current.outer
        found = ((name, self.find(name, scope, position)) for name in sorted(known))
        return {name: binding for name, binding in found if binding is not None}

    def list_unbound(self) -> list[ast.Name]:
        """Returns the reads of names that nothing binds there."""
        return [name for name in self.reads if not self.is_bound(name.id, self.scopes[name], start(name))]

    def unbound(self) -> Counter[str]:
        """Returns the names that are read where nothing binds them, and how often."""
        return Counter(name.id for name in self.list_unbound())

    def _visit_all(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope, Position]] = [(tree, self.module, _FIRST)]
        while stack:
            node, scope, when = stack.pop()
            self.scopes[node] = scope
            self._note(node, scope, when)
            stack += reversed(list(_visit_children(node, scope, when)))

    def _note(self, node: ast.AST, scope: Scope, when: Position) -> None:
        """Records the names that a single node binds or reads."""
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                _store(name, scope, when)
            case ast.Name(ctx=ast.Load()):
                self.reads.append(node)
            case ast.AugAssign(target=ast.Name() as target):
                self.reads.append(target)
            case ast.Call(func=ast.Name(id=name)):
                self.called.add(name)
            case ast.Global() if scope is not self.module:
                scope.elsewhere.update(dict.fromkeys(node.names, self.module))
            case ast.Nonlocal():
                scope.elsewhere.update(dict.fromkeys(node.names))
            case ast.ImportFrom() if node.names[0].name == "*":
                self.module.has_star = True
            case _:
                _define(node, scope)


def start(node: ast.AST) -> Position:
    """Returns the position at which a node begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end(node: ast.AST) -> Position:
    """Returns the position at which a node ends."""
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def list_imported(tree: ast.AST) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Yields the imports of a program with the package of each, without its modules; empty for a neighbour (`from . import`)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, "" if node.level else (node.module or "").partition(".")[0]


def _visit_children(node: ast.AST, scope: Scope, when: Position) -> Iterator[tuple[ast.AST, Scope, Position]]:
    """Yields the nodes below a node with their scopes, and from where on a name that is stored there is bound."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _open_function(node, scope)
        case ast.ClassDef():
            inner, body = Scope("class", scope), set[ast.AST](node.body)
            yield from ((child, inner if child in body else scope, when) for child in ast.iter_child_nodes(node))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _open_comprehension(node, scope)
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
            yield from ((child, scope, end(node)) for child in ast.iter_child_nodes(node))
        case ast.For() | ast.AsyncFor():
            yield from ((child, scope, end(node.iter)) for child in ast.iter_child_nodes(node))
        case ast.withitem():
            yield from ((child, scope, end(node.context_expr)) for child in ast.iter_child_nodes(node))
        case _:
            yield from ((child, scope, when) for child in ast.iter_child_nodes(node))


def _store(name: str, scope: Scope, when: Position) -> None:
    """Binds a name that is stored. In a comprehension only `:=` stores here: its name is the enclosing function's, and the results, which stand before it in the
    text, are computed after it."""
    while scope.kind == "comprehension" and scope.outer is not None:
        scope.bind(name, _FIRST)
        scope = scope.outer
    scope.bind(name, when)


def _define(node: ast.AST, scope: Scope) -> None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            scope.bind(node.name, end(node), "function")
        case ast.ClassDef():
            scope.bind(node.name, end(node), "class")
        case ast.Import():
            for alias in node.names:
                scope.bind(alias.asname or alias.name.partition(".")[0], end(node), "module")
        case ast.ImportFrom():
            for alias in node.names:
                scope.bind(alias.asname or alias.name, end(node), "import")
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.bind(name, start(node))
        case ast.MatchMapping(rest=str(name)):
            scope.bind(name, start(node))


def _open_function(node: Function, scope: Scope) -> Iterator[tuple[ast.AST, Scope, Position]]:
    inner = Scope("function", scope)
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    for argument in named:
        if argument is not None:
            inner.bind(argument.arg, _FIRST)
    for parameter in getattr(node, "type_params", ()):
        inner.bind(parameter.name, _FIRST)
    body = set[ast.AST]([node.body] if isinstance(node, ast.Lambda) else node.body)
    yield from ((child, inner if child in body else scope, _FIRST) for child in ast.iter_child_nodes(node))


def _open_comprehension(node: Comprehension, scope: Scope) -> Iterator[tuple[ast.AST, Scope, Position]]:
    """Yields the parts of a comprehension. Each `for` is a scope in that of the one before it: its iterable does not see its own targets."""
    for generator in node.generators:
        inner = Scope("comprehension", scope)
        for target in ast.walk(generator.target):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                inner.bind(target.id, _FIRST)
            elif isinstance(getattr(target, "ctx", None), ast.Store):
                yield from (
                    (part, inner, _FIRST) for part in ast.iter_child_nodes(target) if isinstance(part, ast.expr)
                )
        yield generator.iter, scope, _FIRST
        yield from ((test, inner, _FIRST) for test in generator.ifs)
        scope = inner
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    yield from ((result, scope, _FIRST) for result in results)
