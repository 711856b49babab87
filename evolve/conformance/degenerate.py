"""Wrong answers to questions that have one right answer, made from a task's seed: each is what a program might get away with that does not compute what
was asked, or not all of it.

Invariant: pure; a program here answers as the seed does, but for what its name says, and says so where it has nothing to change."""

import ast
from collections.abc import Sequence

from evolve.conformance.impostors import NO_NUMBER, REFUSED, Cast, Impostor, answering, defined, wrapped
from evolve.types import Outcome, Program, Task

NO_CHANGE = "evolve task check: the answer stays the same"
"""What a program says whose first answer is right all the same."""
SECOND = "evolve task check: a second question"
"""What a program says that is asked more than once in one process."""
PREVIOUS = "the previous answer again"

_LOWER = {"float64": "float32", "float32": "float16"}
_FORMATS = {"float32": "<f", "float16": "<e"}
_MOST_ARGUMENTS = 6
_REFUSE = (
    "compare every answer with the right one, by a tolerance that this does not pass, for inputs on which it differs"
)
_ANY = frozenset(Outcome) - {Outcome.OK, Outcome.INTERNAL, Outcome.SCREENED}

_CHANGES = {
    "zeros": "[0.0] * len(numbers)",
    "the mean of the answer for every number": "[math.fsum(numbers) / len(numbers)] * len(numbers)",
    "random numbers with the mean and spread of the answer": "moments(numbers)",
    "the first half right, the rest zero": "numbers[: len(numbers) // 2] + [0.0] * (len(numbers) - len(numbers) // 2)",
    "the sign flipped": "[-number for number in numbers]",
    "a hundredth of every number missing": "[number * 0.99 for number in numbers]",
}
"""By its name, what becomes of the list of an answer's numbers."""

_CODE = """
def _evolve_altered(function, state=[0, False, 0, None]):
    import copy
    import math
    import random
    import struct

    def is_number(value):
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    def is_array(value):
        return hasattr(value, "dtype") and value.dtype.kind in "iuf"

    def collected(value):
        if is_number(value):
            return [value]
        if is_array(value):
            return value.reshape(-1).tolist()
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            return []
        return [number for item in value for number in collected(item)]

    def rebuilt(value, numbers):
        if is_number(value):
            number = next(numbers)
            return round(number) if isinstance(value, int) else float(number)
        if is_array(value):
            import numpy
            flat = numpy.array([next(numbers) for _ in range(value.size)], dtype=float)
            whole = value.dtype.kind in "iu"
            return (numpy.rint(flat).astype("int64") if whole else flat).astype(value.dtype).reshape(value.shape)
        if isinstance(value, dict):
            return {key: rebuilt(item, numbers) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [rebuilt(item, numbers) for item in value]
        return value

    def moments(numbers):
        mean = math.fsum(numbers) / len(numbers)
        spread = math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / len(numbers)) or abs(mean) or 1.0
        draw = random.Random(len(numbers))
        return [draw.gauss(mean, spread) for _ in numbers]

    def lower(number):
        if not isinstance(number, float):
            return number
        try:
            return struct.unpack("{format}", struct.pack("{format}", number))[0]
        except OverflowError:
            return number

    def transposed(value):
        if is_array(value):
            return value.T.copy() if value.ndim == 2 else value
        if isinstance(value, dict):
            return {key: transposed(item) for key, item in value.items()}
        if not isinstance(value, (list, tuple)):
            return value
        rows = [item for item in value if isinstance(item, (list, tuple)) and not any(map(collection, item))]
        if value and len(rows) == len(value) and len({len(row) for row in rows}) == 1:
            return [list(column) for column in zip(*rows)]
        return [transposed(item) for item in value]

    def collection(value):
        return isinstance(value, (list, tuple, dict)) or hasattr(value, "dtype")

    def changed(value, by):
        numbers = collected(value)
        if not numbers:
            raise RuntimeError({no_number})
        return rebuilt(value, iter(by(numbers)))

    def same(one, other):
        if is_array(one) != is_array(other) or (is_array(one) and one.shape != other.shape):
            return False
        return shape(one) == shape(other) and collected(one) == collected(other)

    def shape(value):
        if is_array(value):
            return value.shape
        return [shape(item) for item in value] if isinstance(value, (list, tuple)) else type(value)

    def altered(first, arguments, keywords):
{body}

    def call(*arguments, **keywords):
        state[0] += 1
        try:
            if state[0] > 1 or not state[1]:
                return function(*arguments, **keywords)
            state[2] += 1
            return altered(state[2] == 1, arguments, keywords)
        finally:
            state[0] -= 1

    return call
"""
_ANSWER = """
right = function(*arguments, **keywords)
wrong = {wrong}
if first and same(wrong, right):
    raise RuntimeError({no_change})
return wrong
"""
_PASSED_THROUGH = """
right = function(*copy.deepcopy(arguments), **keywords)
given = [one for one in (*arguments, *keywords.values()) if collected(one)]
if not given:
    raise RuntimeError({no_number})
if first and same(given[0], right):
    raise RuntimeError({no_change})
return given[0]
"""
_PREVIOUS = """
right = function(*arguments, **keywords)
last, state[3] = state[3], copy.deepcopy(right)
if state[2] == 2 and same(last, right):
    raise RuntimeError({no_change})
return right if first else last
"""
_SECOND = """
if not first:
    raise RuntimeError({second})
return function(*arguments, **keywords)
"""
_ASKED = """
import hashlib
import pickle
raise RuntimeError("evolve task check: asked " + hashlib.sha256(pickle.dumps((arguments, keywords))).hexdigest())
"""
_DEAF = """
given = list(arguments)
if len(given) <= {place} or not collected(given[{place}]):
    raise RuntimeError({no_number})
blank = changed(given[{place}], lambda numbers: [0.0] * len(numbers))
if first and same(blank, given[{place}]):
    raise RuntimeError({no_change})
given[{place}] = blank
return function(*given, **keywords)
"""


def degenerate(task: Task) -> Cast:
    """Wrong answers of a task with determined ones, whose entry, if it has one, is a file of the program: nothing for other tasks."""
    if task.check.answers != "determined":
        return Cast(())
    paths = answering(task) if task.entry else []
    lower = _LOWER.get(task.check.precision, "")
    changes = {
        **_CHANGES,
        **({f"numbers rounded to {lower}": "[lower(number) for number in numbers]"} if lower else {}),
    }
    bodies = {name: _changing(f"changed(right, lambda numbers: {by})") for name, by in changes.items()}
    bodies["rows for columns"] = _changing("transposed(right)")
    bodies["the input for an answer"] = _PASSED_THROUGH
    bodies[PREVIOUS] = _PREVIOUS
    if not paths:
        return Cast((), dict.fromkeys(bodies, "no function of the program answers in Python"))
    made = [Impostor(name, _program(task, paths, body), REFUSED, _REFUSE, strict=True) for name, body in bodies.items()]
    return Cast(tuple(made))


def asked_once(task: Task) -> Program:
    """The seed, that raises `SECOND` where a process of it is asked again. Only for a task with functions that answer."""
    return _program(task, answering(task), _SECOND)


def asked_what(task: Task) -> list[Program]:
    """The seed, that ends with a hash of its first question; none where no function of the program answers in Python."""
    paths = answering(task) if task.entry else []
    return [_program(task, paths, _ASKED)] if paths else []


def deaf(task: Task) -> Cast:
    """The seed with zeros for one of its arguments, of a task with determined answers: where it passes, answers depend on that argument for no input."""
    paths = answering(task) if task.check.answers == "determined" and task.entry else []
    remedy = "if it should matter, draw inputs for which the right answer depends on it"
    made = [
        Impostor(f"{name} not looked at", _program(task, paths, _DEAF.replace("{place}", str(place))), _ANY, remedy)
        for place, name in enumerate(_arguments(task, paths))
    ]
    return Cast(tuple(made))


def _changing(wrong: str) -> str:
    return _ANSWER.replace("{wrong}", wrong)


def _arguments(task: Task, paths: Sequence[str]) -> list[str]:
    """The positional arguments, by their names where one function alone answers, and by their places where there are several."""
    functions = [function for path in paths for function in defined(ast.parse(task.seed.files[path]))]
    names = [[one.arg for one in (*function.args.posonlyargs, *function.args.args)] for function in functions]
    if len(names) == 1:
        return [f"argument {name!r}" for name in names[0][:_MOST_ARGUMENTS]]
    return [f"argument {place + 1}" for place in range(min(_MOST_ARGUMENTS, max(map(len, names), default=0)))]


def _program(task: Task, paths: Sequence[str], body: str) -> Program:
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    code = _CODE.replace("{body}\n", lines)
    lower = _FORMATS.get(_LOWER.get(task.check.precision, ""), "<f")
    said = {"{no_number}": repr(NO_NUMBER), "{no_change}": repr(NO_CHANGE), "{second}": repr(SECOND)}
    for place, text in {**said, "{format}": lower}.items():
        code = code.replace(place, text)
    return wrapped(task.seed, paths, code, "_evolve_altered")
