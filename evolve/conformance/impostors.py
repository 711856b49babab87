"""Programs made from a task's seed that no evaluator should score: they fail in a common way, or answer something wrong.

The functions of a Python program are decorated: a call from outside runs other statements, and the functions call each other as before. The
files of a program that is run as a command are replaced. Memory that a program asks for is bounded, so that an evaluation without limits is
found out and the machine takes no harm."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evolve.conformance.findings import (
    FAULT_REMEDY,
    Finding,
    evaluate,
    expect_ok,
    format_ending,
    format_score,
    make_trial,
    read_feedback,
)
from evolve.evaluation import Description, Job, LocalExecutor, Report
from evolve.types import Needs, Outcome, Program, Stage, Task

NO_NUMBER = "evolve task check: the answer holds no number"
"""Message of a program that had nothing to replace."""
NO_CHANGE = "evolve task check: the answer stays the same"
"""Message of a program whose first answer is right all the same."""
NO_LIMIT = "evolve task check: twice the limit of memory was there"
"""Message of a memory bomb that did not go off."""

_CHUNK = 1 << 26
"""Bytes that a memory bomb asks for at once. `bytes(n)` is memory that the system has promised and nobody has touched: it counts for the
limit, and takes none from the machine."""
_REFUSED = frozenset({Outcome.INVALID, Outcome.WRONG})
_ANY_FAILURE = frozenset(Outcome) - {Outcome.OK, Outcome.INTERNAL, Outcome.SCREENED}

_DECORATOR = """
def _evolve_altered(function, state=[0, False, 0]):
    import copy
    import math
    import struct

    def is_number(value):
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    def is_array(value):
        return hasattr(value, "dtype") and getattr(value.dtype, "kind", None) in ("i", "u", "f")

    def numbers_of(value):
        if is_number(value):
            return [value]
        if is_array(value):
            return value.reshape(-1).tolist()
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            return []
        return [number for item in value for number in numbers_of(item)]

    def rebuild(value, numbers):
        if is_number(value):
            number = next(numbers)
            return round(number) if isinstance(value, int) and math.isfinite(number) else float(number)
        if is_array(value):
            import numpy
            flat = numpy.array([next(numbers) for _ in range(value.size)], dtype=float).reshape(value.shape)
            return flat.astype(value.dtype) if value.dtype.kind == "f" or numpy.isfinite(flat).all() else flat
        if isinstance(value, dict):
            return {key: rebuild(item, numbers) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [rebuild(item, numbers) for item in value]
        return value

    def round_to(format, number):
        try:
            return struct.unpack(format, struct.pack(format, number))[0]
        except OverflowError:
            return number

    def answer_of(arguments, keywords, first):
{body}

    def call(*arguments, **keywords):
        state[0] += 1
        try:
            if state[0] > 1 or not state[1]:
                return function(*arguments, **keywords)
            state[2] += 1
            return answer_of(arguments, keywords, state[2] == 1)
        finally:
            state[0] -= 1

    return call
"""
"""`state`: the depth of the calls, whether the import is over, and the calls from outside."""
_WRONG = f"""
given = copy.deepcopy(arguments)
right = function(*given, **keywords)
# Where nothing comes back, the answer may be what its first argument was filled with.
filled = right is None and bool(given) and is_array(given[0])
asked = arguments[1:] if filled else arguments
right = given[0] if filled else right
numbers = numbers_of(right)
wrong = {{wrong}}
if not numbers or not numbers_of(wrong):
    raise RuntimeError({NO_NUMBER!r})
if first and numbers_of(wrong) == numbers:
    raise RuntimeError({NO_CHANGE!r})
if filled:
    import numpy
    arguments[0][...] = numpy.resize(wrong, right.shape)
    return None
return wrong
"""
_ASKED = """
import hashlib
import pickle
raise RuntimeError("evolve task check: asked " + hashlib.sha256(pickle.dumps((arguments, keywords))).hexdigest())
"""
_NAN = "rebuild(right, iter([math.nan] * len(numbers)))"
_WRONG_ANSWERS = {
    "zeros": "rebuild(right, iter([0.0] * len(numbers)))",
    "the first half right, the rest zero": "rebuild(right, iter([*numbers[: len(numbers) // 2], *[0.0] * len(numbers)]))",
    "the sign flipped": "rebuild(right, iter([-number for number in numbers]))",
    "a hundredth of every number missing": "rebuild(right, iter([number * 0.99 for number in numbers]))",
    "the input for an answer": "next(filter(numbers_of, (*asked, *keywords.values())), None)",
}
"""Expressions by the name of what they answer in place of `right`."""
_LOWER = {"float64": ("float32", "<f"), "float32": ("float16", "<e")}
"""The next lower precision, and its format in `struct`, by a task's precision."""


@dataclass(frozen=True, slots=True)
class Impostor:
    """A program, and the outcomes that are right for it; `remedy` is for an evaluator that ends otherwise. `is_wrong`: what it answers is never worth a
    score, not even one that is worse than the seed's."""

    name: str
    program: Program
    expected: frozenset[Outcome]
    remedy: str
    is_wrong: bool = False


def with_entry(task: Task) -> Task:
    """Returns the task with its entry among the program's files, where that is a file of the context: as a compiled program might, other functions can
    then answer."""
    entry = _entry_file(task)
    if entry not in task.context:
        return task
    context = {path: text for path, text in task.context.items() if path != entry}
    return replace(task, seed=Program({**task.seed.files, entry: task.context[entry]}), context=context)


def make_impostors(task: Task) -> list[Impostor]:
    """Returns the impostors of a task: other answers of its functions, other files for a command, and nothing for an entry without functions."""
    if not task.entry:
        return list(_make_commands(task))
    return list(_make_functions(task)) if answering_files(task) else []


def make_asking(task: Task) -> list[Program]:
    """Returns the seed, changed to end with a hash of its first question; empty where no function of the program answers in Python."""
    return [_decorate(task, _ASKED)] if task.entry and answering_files(task) else []


def limit_stages(task: Task, description: Description, seconds: float) -> Task:
    """Returns the task with stages that last no longer than `seconds`."""
    declared = {stage.name: stage for stage in task.stages}
    usual = Needs(gpus=task.limits.grants.gpu)
    stages = (declared.get(name, Stage(name, needs=usual)) for name in description.stages)
    return replace(task, stages=tuple(replace(stage, limit=min(stage.limit, seconds)) for stage in stages))


def check_impostors(task: Task, executor: LocalExecutor, slots: int, seed: float) -> Iterator[Finding]:
    """Yields a finding for each impostor, then one for the seed again in the same worker processes; `seed` is the fitness of the seed."""
    impostors = make_impostors(task)
    if not impostors:
        yield Finding("made-up programs", "not tried", "no function of the program answers in Python")
    programs = [*(one.program for one in impostors), *[task.seed] * slots]
    jobs = [Job(f"{number}", "evaluate", make_trial(task), files=one.files) for number, one in enumerate(programs)]
    # Two calls, so that every worker has met an impostor before it evaluates the seed.
    reports = evaluate(executor, jobs[: len(impostors)])
    for impostor, report in zip(impostors, reports, strict=True):
        yield _check_impostor(task, impostor, report, seed)
    yield _check_afterwards(task, evaluate(executor, jobs[len(impostors) :]), seed)


def _check_impostor(task: Task, impostor: Impostor, report: Report, seed: float) -> Finding:
    feedback, evaluation = read_feedback(report), report.evaluation
    expected = " or ".join(sorted(impostor.expected))
    if NO_NUMBER in feedback or NO_CHANGE in feedback:
        reason = "holds no number" if NO_NUMBER in feedback else "stays the same"
        return Finding(impostor.name, "not tried", f"the program's answer {reason}")
    if NO_LIMIT in feedback:
        remedy = "evaluate on a system that enforces limits of memory (Linux)"
        return Finding(impostor.name, "failed", "it got twice the memory that it may have", remedy)
    if evaluation.outcome in impostor.expected:
        return Finding(impostor.name, "passed", evaluation.outcome)
    if evaluation.outcome is Outcome.INTERNAL:
        return Finding(impostor.name, "failed", f"{format_ending(report)}; wanted {expected}", FAULT_REMEDY)
    if evaluation.fitness is None:
        return Finding(impostor.name, "warned", f"{evaluation.outcome}; wanted {expected}", impostor.remedy)
    happened = f"ok with {format_score(task, report)}; wanted {expected}"
    # An evaluator may mean to score a program that fails, but not to score it as high as the seed.
    if evaluation.fitness < seed and not impostor.is_wrong:
        return Finding(impostor.name, "warned", happened, f"if that is not meant: {impostor.remedy}")
    return Finding(impostor.name, "failed", happened, impostor.remedy)


def _check_afterwards(task: Task, reports: Sequence[Report], seed: float) -> Finding:
    """Returns a finding about the seed in workers that have evaluated impostors."""
    tried = "seed after them"
    for report in reports:
        if task.deterministic and report.evaluation.fitness not in (None, seed):
            happened = f"another {format_score(task, report)}"
            return Finding(tried, "failed", happened, "keep nothing in the evaluator from one program to the next")
        if report.evaluation.outcome is not Outcome.OK:
            break
    return expect_ok(tried, task, report, "let an evaluation leave nothing behind that the next one meets")


def answering_files(task: Task) -> Mapping[str, ast.Module]:
    """Returns the files whose functions answer: that of the entry module, or every Python file where that one defines none."""
    trees = {path: ast.parse(text) for path, text in task.seed.files.items() if path.endswith(".py")}
    defining = {path: tree for path, tree in trees.items() if _functions_of(tree)}
    entry = _entry_file(task)
    own = (entry, entry.replace(".py", "/__init__.py"))
    return {path: tree for path, tree in defining.items() if path in own} or defining


def _failures(memory: int) -> Iterator[tuple[str, str, frozenset[Outcome]]]:
    """Yields names, statements in place of an answer, and the outcomes that are right for them; `memory` is the limit in bytes."""
    chunks = 2 * memory // _CHUNK + 1
    bomb = f"held = [bytes({_CHUNK}) for _ in range({chunks})]\nraise ValueError({NO_LIMIT!r})"
    yield "an endless loop", "while True: pass", frozenset({Outcome.TIMED_OUT})
    yield "an endless printer", "while True: print('#' * 1000)", frozenset({Outcome.TIMED_OUT})
    yield "an exception", "raise ValueError('made up by evolve task check')", frozenset({Outcome.CRASHED})
    yield "an exit in the middle", "import os\nos._exit(0)", frozenset({Outcome.CRASHED})
    yield "a memory bomb", bomb, frozenset({Outcome.OUT_OF_MEMORY, Outcome.CRASHED})


def _make_functions(task: Task) -> Iterator[Impostor]:
    remedy = "let what candidate.call raises pass: it becomes the program's own outcome"
    for name, body, expected in _failures(task.limits.memory):
        yield Impostor(name, _decorate(task, body), expected, remedy)
    remedy = "check what comes back before it is scored, with Evaluation.invalid for another type, length or form"
    for name, value in (("None", "None"), ("an empty list", "[]"), ("an empty text", "''")):
        yield Impostor(f"{name} for an answer", _decorate(task, f"return {value}"), _REFUSED, remedy)
    remedy = "check that every number is finite (math.isfinite) before it is scored"
    yield Impostor("NaN for every number", _decorate(task, _WRONG.replace("{wrong}", _NAN)), _REFUSED, remedy)
    if task.check.answers != "determined":
        return
    wrong = dict(_WRONG_ANSWERS)
    if task.check.precision in _LOWER:
        lower, code = _LOWER[task.check.precision]
        rounded = f"rebuild(right, iter([round_to({code!r}, number) for number in numbers]))"
        wrong[f"numbers rounded to {lower}"] = rounded
    remedy = "compare every answer with the right one, by a tolerance that this does not pass"
    for name, expression in wrong.items():
        program = _decorate(task, _WRONG.replace("{wrong}", expression))
        yield Impostor(name, program, _REFUSED, remedy, is_wrong=True)


def _make_commands(task: Task) -> Iterator[Impostor]:
    """Yields programs with other files. Which outcome is right for how one fails, only the evaluator can say."""
    texts = [path for path in task.seed.files if path.endswith(".py")]
    remedy = "check the code that the command ends with, and all that it prints"
    for name, script, _ in _failures(task.limits.memory) if texts else ():
        program = Program({**task.seed.files, **dict.fromkeys(texts, f"{script}\n")})
        yield Impostor(name, program, _ANY_FAILURE, remedy)
    empty = Program(dict.fromkeys(task.seed.files, ""))
    yield Impostor("empty files", empty, _ANY_FAILURE, "let a program that does nothing fail")


def _decorate(task: Task, body: str) -> Program:
    """Returns the seed with `body` run for calls from outside; while the module is imported its functions answer as they are."""
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    changed = dict(task.seed.files)
    for path, tree in answering_files(task).items():
        functions = _functions_of(tree)
        # Decorators, not other bodies: functions that call each other must still get right answers.
        for function in functions:
            function.decorator_list.insert(0, ast.Name("_evolve_altered", ast.Load()))
        first = tree.body.index(functions[0])
        tree.body[first:first] = ast.parse(_DECORATOR.replace("{body}\n", lines)).body
        tree.body += ast.parse("_evolve_altered.__defaults__[0][1] = True").body
        changed[path] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return Program(changed)


def _entry_file(task: Task) -> str:
    return f"{task.entry.replace('.', '/')}.py"


def _functions_of(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]
