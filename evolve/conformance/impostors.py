"""Programs that fail in every common way, made from a task's seed.

Python functions get another body: those of the entry module, or of every file where that one defines none. A program that is run as a
command gets other files. What grows is bounded by itself, so that a judge without limits is found out and the machine takes no harm.

Invariant: pure; an impostor is never the seed, and all that it does it does when it is called or run."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evolve.types import Outcome, Program, Task

NO_NUMBER = "evolve task check: the answer holds no number"
"""What an impostor says that has nothing to replace."""
NO_LIMIT = "evolve task check: twice the limit of memory was there"
"""What a memory bomb says that did not go off."""

_CHUNK = 1 << 26
"""Bytes that a memory bomb asks for at once. `bytes(n)` is memory that the system has promised and nobody has touched: it counts for the
limit, and takes none from the machine."""
_ANY_FAILURE = frozenset(Outcome) - {Outcome.OK, Outcome.INTERNAL, Outcome.SCREENED}
REFUSED = frozenset({Outcome.INVALID, Outcome.WRONG})
"""How a judge ends that has looked at an answer and does not take it."""
_NAN = """
def _evolve_nan(function, state=[0, False]):
    def poisoned(value):
        if isinstance(value, bool) or value is None or isinstance(value, (str, bytes)):
            return value, False
        if isinstance(value, (int, float, complex)):
            return float("nan"), True
        if isinstance(value, dict):
            pairs = {key: poisoned(item) for key, item in value.items()}
            return {key: item for key, (item, _) in pairs.items()}, any(hit for _, hit in pairs.values())
        if isinstance(value, (list, tuple)):
            items = [poisoned(item) for item in value]
            return [item for item, _ in items], any(hit for _, hit in items)
        if hasattr(value, "dtype"):
            return value * float("nan"), getattr(value, "size", 1) > 0
        return value, False

    def call(*arguments, **keywords):
        state[0] += 1
        try:
            answer = function(*arguments, **keywords)
        finally:
            state[0] -= 1
        if state[0] or not state[1]:
            return answer
        answer, hit = poisoned(answer)
        if not hit:
            raise RuntimeError("{no_number}")
        return answer

    return call
""".replace("{no_number}", NO_NUMBER)


@dataclass(frozen=True, slots=True)
class Impostor:
    """A program, what it does in words, and the outcomes that are right for it. `remedy` is for a judge that ends otherwise. `strict`: a score that is worse
    than the seed's is not right either."""

    name: str
    program: Program
    right: frozenset[Outcome]
    remedy: str
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    """The impostors of a task, and what could not be tried, with the reason, by its name."""

    impostors: tuple[Impostor, ...]
    not_tried: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Behaviour:
    """Statements for a function's body, or for a script."""

    name: str
    body: str
    right: frozenset[Outcome]
    remedy: str


_PASS = "let what candidate.call raises pass: it becomes the program's own outcome"
_CHECK = "check what comes back before it is scored, with Evaluation.invalid for another type, length or form"


def _harms(memory: int) -> Sequence[_Behaviour]:
    """What a program does instead of answering; `memory` is its limit in bytes."""
    chunks = 2 * memory // _CHUNK + 1
    return (
        _Behaviour("an endless loop", "while True: pass", frozenset({Outcome.TIMED_OUT}), _PASS),
        _Behaviour("an endless printer", "while True: print('#' * 1000)", frozenset({Outcome.TIMED_OUT}), _PASS),
        _Behaviour(
            "an exception", "raise ValueError('made up by evolve task check')", frozenset({Outcome.CRASHED}), _PASS
        ),
        _Behaviour("an exit in the middle", "import os\nos._exit(0)", frozenset({Outcome.CRASHED}), _PASS),
        _Behaviour(
            "a memory bomb",
            f"held = [bytes({_CHUNK}) for _ in range({chunks})]\nraise ValueError({NO_LIMIT!r})",
            frozenset({Outcome.OUT_OF_MEMORY, Outcome.CRASHED}),
            _PASS,
        ),
    )


_EMPTY = (
    _Behaviour("None for an answer", "return None", REFUSED, _CHECK),
    _Behaviour("an empty list for an answer", "return []", REFUSED, _CHECK),
    _Behaviour("an empty text for an answer", "return ''", REFUSED, _CHECK),
)
NAN = "NaN for every number"


def opened(task: Task) -> Task:
    """The task with its entry among the program's files, where it is one of the context: as a compiled program might, other functions
    can then answer."""
    entry = entry_file(task)
    if entry not in task.context:
        return task
    context = {path: text for path, text in task.context.items() if path != entry}
    return replace(task, seed=Program({**task.seed.files, entry: task.context[entry]}), context=context)


def entry_file(task: Task) -> str:
    """Where the functions are that a judge calls."""
    return f"{task.entry.replace('.', '/')}.py"


def cast(task: Task) -> Cast:
    """The impostors of a task whose entry, if it has one, is a file of the program."""
    texts = {path: text for path, text in task.seed.files.items() if path.endswith(".py")}
    if not texts:
        return _nothing("the program has no Python file, so that no other one can be made up", _blank(task.seed))
    return _functions(task, texts) if task.entry else _commands(task, texts)


def _nothing(reason: str, *tried: Impostor) -> Cast:
    names = [*(behaviour.name for behaviour in (*_harms(0), *_EMPTY)), NAN]
    return Cast(tried, dict.fromkeys(names, reason))


def _functions(task: Task, texts: Mapping[str, str]) -> Cast:
    """Other bodies for the functions of the entry module, or of all files where that one has none."""
    chosen = answering(task)
    if not chosen:
        return _nothing("the program's files define no function at their top level")
    made = [
        Impostor(behaviour.name, _with_body(task.seed, chosen, behaviour.body), behaviour.right, behaviour.remedy)
        for behaviour in (*_harms(task.limits.memory), *_EMPTY)
    ]
    remedy = "check that every number is finite (math.isfinite) before it is scored"
    return Cast((*made, Impostor(NAN, wrapped(task.seed, chosen, _NAN, "_evolve_nan"), REFUSED, remedy)))


def answering(task: Task) -> list[str]:
    """The files whose functions answer: that of the entry module, or every Python file where that one defines none; empty where nothing does."""
    package = entry_file(task).removesuffix(".py") + "/__init__.py"
    texts = {path: text for path, text in task.seed.files.items() if path.endswith(".py")}
    defining = [path for path, text in texts.items() if defined(ast.parse(text))]
    return [path for path in defining if path in (entry_file(task), package)] or defining


def _commands(task: Task, texts: Mapping[str, str]) -> Cast:
    """Other files for a program that is run: how it fails is the evaluator's to say."""
    made = [
        Impostor(
            behaviour.name,
            Program({**task.seed.files, **dict.fromkeys(texts, f"{behaviour.body}\n")}),
            _ANY_FAILURE,
            "check the code that the command ends with, and all that it prints",
        )
        for behaviour in _harms(task.limits.memory)
    ]
    blank = Impostor("no answer at all", _blank(task.seed).program, _ANY_FAILURE, "check what the command prints")
    return Cast((*made, blank), {NAN: "what a command answers has a form that only its evaluator knows"})


def _blank(seed: Program) -> Impostor:
    return Impostor(
        "empty files", Program(dict.fromkeys(seed.files, "")), _ANY_FAILURE, "let a program that does nothing fail"
    )


def defined(tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions at the top level of a module."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _with_body(seed: Program, paths: Sequence[str], body: str) -> Program:
    changed = dict(seed.files)
    for path in paths:
        tree = ast.parse(changed[path])
        for function in defined(tree):
            function.body = ast.parse(body).body
            function.decorator_list = []
        changed[path] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return Program(changed)


def wrapped(seed: Program, paths: Sequence[str], code: str, decorator: str) -> Program:
    """The seed, whose functions answer by way of `decorator`, which `code` defines; while the module is imported they answer as they are. The decorator has the
    default `state=[0, False, ...]`: how deep the calls are nested, and whether the import is over."""
    changed = dict(seed.files)
    for path in paths:
        tree = ast.parse(changed[path])
        functions = defined(tree)
        for function in functions:
            function.decorator_list.insert(0, ast.Name(decorator, ast.Load()))
        first = tree.body.index(functions[0])
        tree.body[first:first] = ast.parse(code).body
        tree.body += ast.parse(f"{decorator}.__defaults__[0][1] = True").body
        changed[path] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return Program(changed)
