"""Facts about programs that fail or answer wrongly on purpose; those that do no harm are called here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evolve.conformance.impostors import (
    NO_CHANGE,
    NO_NUMBER,
    answering_files,
    make_asking,
    make_impostors,
    with_entry,
)
from evolve.types import Check, EvaluatorSource, Limits, Outcome, Program, Task

SEED = '''"""A seed."""
from __future__ import annotations


def scale():
    """One helper."""
    return 2.0


FACTOR = scale()


def values(n, kind="list"):
    numbers = [scale() * FACTOR for _ in range(n)]
    if kind == "nested":
        return {"a": (numbers, True), "b": "text", "c": 3}
    return "text" if kind == "text" else numbers


def echo(given, kind=""):
    if kind == "array":
        import numpy
        return numpy.array(given, dtype=numpy.float32)
    return {"a": list(given), "b": [True, "text", None]} if isinstance(given, tuple) else given


def double(kind, given):
    return [2 * one for one in given]
'''
NAN = "NaN for every number"
FAILING = {
    "an endless loop": {"timed_out"},
    "an endless printer": {"timed_out"},
    "an exception": {"crashed"},
    "an exit in the middle": {"crashed"},
    "a memory bomb": {"out_of_memory", "crashed"},
    "None for an answer": {"invalid", "wrong"},
    "an empty list for an answer": {"invalid", "wrong"},
    "an empty text for an answer": {"invalid", "wrong"},
    NAN: {"invalid", "wrong"},
}
WRONG = [
    "zeros",
    "the first half right, the rest zero",
    "the sign flipped",
    "a hundredth of every number missing",
    "the input for an answer",
]


def make_task(
    files: dict[str, str] | None = None, entry: str = "seed", answers: Any = "determined", precision: Any = "float64"
) -> Task:
    program, source = Program(files or {"seed.py": SEED}), EvaluatorSource("evaluator.py")
    limits, check = Limits(memory=1 << 28), Check(answers, precision)
    return Task("made", "", "1", "Be.", program, entry, source, limits=limits, check=check)


def program(name: str, of: Task) -> Program:
    return next(impostor.program for impostor in make_impostors(of) if impostor.name == name)


def load(program: Program) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program.files["seed.py"], "seed.py", "exec"), names)
    return names


def impostor(name: str, **fields: Any) -> dict[str, Any]:
    """Returns the names of the impostor that is called so."""
    return load(program(name, make_task(**fields)))


def test_an_open_task_has_those_that_fail() -> None:
    """With the outcomes that are right for each; none is the seed."""
    impostors = make_impostors(make_task(answers="open"))
    assert {one.name: {str(outcome) for outcome in one.expected} for one in impostors} == FAILING
    assert make_task().seed not in [one.program for one in impostors]
    assert all(one.remedy for one in impostors)


@pytest.mark.parametrize(
    ("precision", "rounded"),
    [("float64", ["numbers rounded to float32"]), ("float32", ["numbers rounded to float16"]), ("float16", [])],
)
def test_a_task_with_determined_answers_has_wrong_ones_too(precision: str, rounded: list[str]) -> None:
    """A score that is worse than the seed's does not excuse an evaluator. The lowest precision has no lower one."""
    impostors = make_impostors(make_task(precision=precision))
    assert [one.name for one in impostors if one.is_wrong] == [*WRONG, *rounded]


@pytest.mark.parametrize(
    ("name", "answer"),
    [("None for an answer", None), ("an empty list for an answer", []), ("an empty text for an answer", "")],
)
def test_functions_answer_something_else(name: str, answer: object) -> None:
    """Whatever they are called with; they answer as before while the module is imported."""
    names = impostor(name)
    assert (names["values"](3), names["scale"](), names["FACTOR"]) == (answer, answer, 2.0)


def test_every_number_of_an_answer_becomes_nan_and_nothing_else() -> None:
    """Functions call each other as before."""
    names = impostor(NAN)
    assert str(names["values"](2)) == "[nan, nan]"
    assert str(names["values"](1, kind="nested")) == "{'a': [[nan], True], 'b': 'text', 'c': nan}"


@pytest.mark.parametrize(
    ("name", "given", "wrong"),
    [
        ("zeros", [1.5, 2], [0.0, 0]),
        ("zeros", (3, 4), {"a": [0, 0], "b": [True, "text", None]}),
        ("zeros", 2.5, 0.0),
        ("the first half right, the rest zero", [1.0, 2.0, 3.0], [1.0, 0.0, 0.0]),
        ("the sign flipped", [[1.0], [-2]], [[-1.0], [2]]),
        ("a hundredth of every number missing", [100.0], [99.0]),
        ("numbers rounded to float32", [0.1, 7], [float(np.float32(0.1)), 7]),
        ("numbers rounded to float32", [1e300, 0.1], [1e300, float(np.float32(0.1))]),
    ],
)
def test_an_answer_is_wrong_in_one_way(name: str, given: Any, wrong: Any) -> None:
    """And keeps its form and its types, so that nothing but the numbers can give it away."""
    found = impostor(name)["echo"](given)
    assert found == wrong
    assert [type(one) for one in flat(found)] == [type(one) for one in flat(wrong)]


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [one for item in value for one in flat(item)] if isinstance(value, list) else [value]


def test_an_array_stays_one() -> None:
    """Of the same type and shape; whole numbers have no NaN."""
    given = [[0.1, 2.0, 3.0], [4.0, 5.0, 6.0]]
    for name in ("zeros", "the sign flipped", NAN):
        found = impostor(name)["echo"](given, "array")
        assert (found.dtype, found.shape) == (np.float32, (2, 3))
    rounded = impostor("numbers rounded to float16", precision="float32")["echo"](given, "array")
    assert rounded[0, 0] == np.float32(np.float16(0.1))
    assert str(impostor(NAN)["echo"](np.arange(2))) == "[nan nan]"


def test_the_input_is_an_answer_of_the_right_form_at_times() -> None:
    """The first argument with numbers in it."""
    assert impostor("the input for an answer")["double"]("text", [1, 2]) == [1, 2]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (NAN, "text", NO_NUMBER),
        ("zeros", "text", NO_NUMBER),
        ("zeros", [0.0], NO_CHANGE),
        ("the first half right, the rest zero", [0.0], NO_CHANGE),
        ("numbers rounded to float32", [1, 0.5], NO_CHANGE),
        ("the input for an answer", [1.0], NO_CHANGE),
        ("the input for an answer", "text", NO_NUMBER),
    ],
)
def test_what_has_nothing_to_change_says_so(name: str, given: Any, message: str) -> None:
    """So that nobody takes a right answer for one that got through."""
    with pytest.raises(RuntimeError, match=message):
        impostor(name)["echo"](given)


def test_a_question_is_told_by_its_hash() -> None:
    """Equal questions have equal ones; a command is asked nothing."""
    (asking,) = make_asking(make_task())

    def ask(*arguments: object) -> str:
        with pytest.raises(RuntimeError) as raised:
            load(asking)["echo"](*arguments)
        return str(raised.value)

    assert ask([1], "a") == ask([1], "a") != ask([2], "a")
    assert make_asking(make_task(entry="")) == []


def test_a_memory_bomb_is_bounded() -> None:
    """It asks for little more than twice the limit."""
    text = program("a memory bomb", make_task()).files["seed.py"]
    assert f"bytes({1 << 26}) for _ in range(9)" in text


def test_only_the_entry_answers_where_it_has_functions() -> None:
    """The other files do where the entry only imports, or is no file of the program."""
    files = {"main.py": "from parts import f\n", "parts.py": "def f():\n    return 1\n", "data.json": "{}"}
    assert list(answering_files(make_task(files, "main"))) == ["parts.py"]
    assert list(answering_files(make_task(files, "binding"))) == ["parts.py"]
    files["main.py"] += "def g():\n    return f()\n"
    assert list(answering_files(make_task(files, "main"))) == ["main.py"]
    package = {"main/__init__.py": files["main.py"], "parts.py": files["parts.py"]}
    assert list(answering_files(make_task(package, "main"))) == ["main/__init__.py"]


def test_an_entry_of_the_context_answers_too() -> None:
    """As if the program answered so: the task's own file is then the program's."""
    binding = "def f():\n    return 1.0\n"
    given = replace(make_task({"a.c": "double f(void);"}, "seed"), context={"seed.py": binding, "a.h": ""})
    seen = with_entry(given)
    assert (seen.context, dict(seen.seed.files)) == ({"a.h": ""}, {"a.c": "double f(void);", "seed.py": binding})
    assert load(program("an empty list for an answer", seen))["f"]() == []
    assert with_entry(make_task()) == make_task()


def test_a_command_gets_other_files() -> None:
    """How it fails is its evaluator's to say, but it must fail."""
    impostors = make_impostors(make_task({"main.py": "print(1)\n", "data.json": "{}"}, entry=""))
    programs = {one.name: one.program.files for one in impostors}
    assert programs["an endless loop"] == {"main.py": "while True: pass\n", "data.json": "{}"}
    assert programs["empty files"] == {"main.py": "", "data.json": ""}
    assert Outcome.OK not in impostors[0].expected


@pytest.mark.parametrize(
    ("files", "entry", "names"),
    [({"kernel.c": "int x;\n"}, "", ["empty files"]), ({"seed.py": "f = abs\n"}, "seed", [])],
)
def test_a_program_without_functions_has_few(files: dict[str, str], entry: str, names: list[str]) -> None:
    """One in another language is only emptied, and where nothing can be called nothing can be replaced."""
    assert [one.name for one in make_impostors(make_task(files, entry))] == names
