"""Single edits of a Python program, each a function that returns an edit, or None where the random numbers found no place for one.

An edit knows nothing of blocks, of the campaign and of whether it is worth anything: what it makes is checked by `mutate_ast`. An expression
is written anew where it stands; all else keeps its layout, and a statement moves with its lines. Everything is drawn from sequences in the
order of the text or of the alphabet, so that equal inputs give equal edits."""

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple, TypeGuard, TypeVar

from numpy.random import Generator

from evolve.operators.python_source import Edit, Extent, Replacement, Source, SuiteStatement, reindent, shorten

T = TypeVar("T")
Fragment = TypeVar("Fragment", ast.expr, ast.stmt)

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
_LOOP_ENDS = (ast.Break, ast.Return, ast.Raise)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_ARITHMETIC = (*_OPERATORS, ast.FloorDiv, ast.Mod, ast.Pow)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FIXED = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NO_NUMBERS = (
    ast.Compare,
    ast.BoolOp,
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.Lambda,
    *_COMPREHENSIONS,
)


class Function(NamedTuple):
    """A function as it is called, with how many arguments."""

    name: str
    arity: int

    @property
    def root(self) -> str:
        """Name that must be bound where it is called: `math` of `math.sin`."""
        return self.name.partition(".")[0]


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
        # A program that never ends costs its whole time limit, so that what ends a loop is left alone.
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
        return tuple(sorted(set(found)))

    def functions_at(self, node: ast.expr, arity: int) -> list[Function]:
        """Returns the functions of so many arguments that can be called where the node stands, without a call of a function in itself."""
        inside, outer = set[str](), self.source.parents.get(node)
        while outer is not None:
            inside |= {outer.name} if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef) else set()
            outer = self.source.parents.get(outer)
        # A function that comes to call itself would hardly ever end.
        known = [function for function in self.functions if function.arity == arity and function.root not in inside]
        return [function for function in known if self.is_bound(function.root, node)]

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
        """Returns an expression or statement of any file as it can stand at a place: values that mean nothing there become others. None where
        there are no others, and where a function is called that is not there."""
        renames: dict[str, str] = {}
        calls = [node.func for node in ast.walk(fragment) if isinstance(node, ast.Call)]
        called = {function.id for function in calls if isinstance(function, ast.Name)}
        for name in _list_free_names(fragment):
            if not self.is_bound(name, place):
                other = None if name in called else self.pick(self.values_at(place))
                if other is None:
                    return None
                renames[name] = other
        moved = copy.deepcopy(fragment)
        for inner in ast.walk(moved):
            if isinstance(inner, ast.Name):
                inner.id = renames.get(inner.id, inner.id)
        return moved


Mutation = Callable[[Material], Edit | None]


def change_operator(material: Material) -> Edit | None:
    """Changes `a + b` to `a - b`, `a * b` or `a / b`, and `%`, `//` and `**` to one of the four."""
    # Operators on bits are left alone: the four would end with an error, or with another type.
    changeable = [site for site in material.sites if isinstance(site, ast.BinOp) and isinstance(site.op, _ARITHMETIC)]
    options = [(site, new) for site in changeable for new in _OPERATORS if not isinstance(site.op, new)]
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
    operator = _OPERATORS[int(material.rng.integers(len(_OPERATORS)))]
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
    return [site for site in material.sites if may_be_number(site)]


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
    chosen = material.pick([other for other in donor.sites if may_be_number(other) and is_value(donor, other)])
    return material.transplant(chosen, site) if chosen is not None and is_small(chosen) else None


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
            if isinstance(node, _LOOP_ENDS) or (_is_simple(node) and _changes(node, watched)):
                ends.append(node)
            elif isinstance(node, ast.If) and any(isinstance(inner, _LOOP_ENDS) for inner in ast.walk(node)):
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


def may_be_number(node: ast.expr) -> bool:
    """Returns whether an expression may give a number, as far as its form tells."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float | complex) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    return not isinstance(node, _NO_NUMBERS)


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


WEIGHTS: Mapping[Mutation, float] = {
    repeat_statement: 3,
    swap_neighbours: 3,
    insert_statement: 3,
    swap_operands: 2,
    change_constant: 2,
    wrap_expression: 2,
    delete_statement: 3,
    extend_expression: 2,
    change_operator: 2,
}
"""Relative frequencies of the edits: roughly as often as each was seen to improve a program (docs/operators.md has the table)."""
