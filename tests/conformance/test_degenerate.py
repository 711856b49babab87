"""Facts about wrong answers that are made from a seed; each is called here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evolve.conformance.degenerate import NO_CHANGE, PREVIOUS, SECOND, asked_once, deaf, degenerate
from evolve.conformance.impostors import NO_NUMBER
from evolve.types import Check, EvaluatorSource, Program, Task

SEED = """
def answer(given, kind=""):
    if kind == "array":
        import numpy
        return numpy.array(given, dtype=numpy.float32)
    return helper(given)


def helper(value):
    return {"a": list(value), "b": [True, "text", None]} if isinstance(value, tuple) else value
"""


def task(seed: str = SEED, precision: Any = "float64", answers: Any = "determined", entry: str = "seed") -> Task:
    source, program = EvaluatorSource("evaluator.py"), Program({"seed.py": seed})
    return Task("made", "", "1", "Be.", program, entry, source, check=Check(answers, precision))


def loaded(program: Program) -> Any:
    """The function `answer` of a program."""
    names: dict[str, Any] = {}
    exec(compile(program.files["seed.py"], "seed.py", "exec"), names)
    return names["answer"]


def made(name: str, of: Task | None = None) -> Any:
    """The function of the wrong program with this name."""
    return loaded(next(one.program for one in degenerate(of or task()).impostors if one.name == name))


@pytest.mark.parametrize(
    ("name", "given", "wrong"),
    [
        ("zeros", [1.5, 2], [0.0, 0]),
        ("zeros", (3, 4), {"a": [0, 0], "b": [True, "text", None]}),
        ("zeros", 2.5, 0.0),
        ("the mean of the answer for every number", [1.0, 2.0, 6.0], [3.0, 3.0, 3.0]),
        ("the mean of the answer for every number", [1, 2, 5], [3, 3, 3]),
        ("the first half right, the rest zero", [1.0, 2.0, 3.0], [1.0, 0.0, 0.0]),
        ("the sign flipped", [[1.0], [-2]], [[-1.0], [2]]),
        ("a hundredth of every number missing", [100.0], [99.0]),
        ("rows for columns", [[1, 2, 3], [4, 5, 6]], [[1, 4], [2, 5], [3, 6]]),
        ("numbers rounded to float32", [0.1, 7], [float(np.float32(0.1)), 7]),
        ("numbers rounded to float32", [1e300, 0.1], [1e300, float(np.float32(0.1))]),
    ],
)
def test_an_answer_is_wrong_in_one_way(name: str, given: Any, wrong: Any) -> None:
    """And keeps its form and its types, so that nothing but the numbers can give it away."""
    found = made(name)(given)
    assert found == wrong
    assert [type(one) for one in flat(found)] == [type(one) for one in flat(wrong)]


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [one for item in value for one in flat(item)] if isinstance(value, list) else [value]


def test_an_array_stays_one() -> None:
    """Of the same type and shape; of two dimensions it is transposed."""
    given = [[0.1, 2.0, 3.0], [4.0, 5.0, 6.0]]
    for name in ("zeros", "the sign flipped", "random numbers with the mean and spread of the answer"):
        found = made(name)(given, "array")
        assert (found.dtype, found.shape) == (np.float32, (2, 3))
    assert made("rows for columns")(given, "array").shape == (3, 2)
    rounded = made("numbers rounded to float16", task(precision="float32"))(given, "array")
    assert rounded[0, 0] == np.float32(np.float16(0.1))


def test_random_numbers_have_the_moments_of_the_answer() -> None:
    """The same ones each time."""
    given = [float(number % 7) for number in range(2000)]
    found = made("random numbers with the mean and spread of the answer")(given)
    assert np.mean(found) == pytest.approx(np.mean(given), abs=0.2)
    assert np.std(found) == pytest.approx(np.std(given), rel=0.1)
    assert found == made("random numbers with the mean and spread of the answer")(given)


def test_the_previous_answer_comes_one_call_late() -> None:
    """The first one is right."""
    late = made(PREVIOUS)
    assert [late([number]) for number in (1, 2, 3)] == [[1], [1], [2]]


def test_the_input_is_an_answer_of_the_right_form_at_times() -> None:
    """The first argument with numbers in it."""
    doubled = "def answer(kind, given):\n    return [2 * one for one in given]\n"
    assert made("the input for an answer", task(doubled))("text", [1, 2]) == [1, 2]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("zeros", "text", NO_NUMBER),
        ("zeros", [0.0], NO_CHANGE),
        ("the first half right, the rest zero", [0.0], NO_CHANGE),
        ("rows for columns", [1.0, 2.0], NO_CHANGE),
        ("numbers rounded to float32", [1, 0.5], NO_CHANGE),
        ("the input for an answer", [1.0], NO_CHANGE),
        ("the input for an answer", "text", NO_NUMBER),
    ],
)
def test_what_has_nothing_to_change_says_so(name: str, given: Any, said: str) -> None:
    """So that nobody takes a right answer for one that got through."""
    with pytest.raises(RuntimeError, match=said):
        made(name)(given)


def test_equal_answers_in_a_row_are_told() -> None:
    """The previous one is right then."""
    late = made(PREVIOUS)
    late([1])
    with pytest.raises(RuntimeError, match=NO_CHANGE):
        late([1])


def test_the_lowest_precision_has_no_lower_one() -> None:
    """And each says of what it is the next."""
    names = {
        precision: {one.name for one in degenerate(task(precision=precision)).impostors}
        for precision in ("float64", "float32", "float16")
    }
    rounded = {precision: {name for name in found if "rounded" in name} for precision, found in names.items()}
    assert rounded == {
        "float64": {"numbers rounded to float32"},
        "float32": {"numbers rounded to float16"},
        "float16": set(),
    }


def test_a_program_is_deaf_to_one_argument() -> None:
    """Zeros of the same form stand in its place; where there is none, that is told."""
    seed = "def answer(numbers, factor, *, kind=0):\n    return [factor * one for one in numbers]\n"
    to_numbers, to_factor = deaf(task(seed)).impostors
    assert (to_numbers.name, to_factor.name) == ("argument 'numbers' not looked at", "argument 'factor' not looked at")
    assert loaded(to_numbers.program)([1.0, 2.0], 3.0) == [0.0, 0.0]
    assert loaded(to_factor.program)([1.0, 2.0], 3.0) == [0.0, 0.0]
    with pytest.raises(RuntimeError, match=NO_NUMBER):
        loaded(to_factor.program)([1.0])
    with pytest.raises(RuntimeError, match=NO_CHANGE):
        loaded(to_factor.program)([1.0], 0.0)
    assert [one.name for one in deaf(task()).impostors] == ["argument 1 not looked at", "argument 2 not looked at"]


def test_who_is_asked_again_says_so() -> None:
    """In one process."""
    answer = loaded(asked_once(task()))
    assert answer([1]) == [1]
    with pytest.raises(RuntimeError, match=SECOND):
        answer([1])


def test_a_task_whose_answers_are_open_has_none() -> None:
    """There a wrong answer is a worse one; and one that is run as a command answers in a form of its own."""
    assert degenerate(task(answers="open")).impostors == deaf(task(answers="open")).impostors == ()
    command = degenerate(task(entry=""))
    assert command.impostors == ()
    assert set(command.not_tried) == {one.name for one in degenerate(task()).impostors}


def test_they_are_refused_for_good() -> None:
    """A score that is worse than the seed's does not excuse a judge."""
    assert all(one.strict for one in degenerate(task()).impostors)
    assert replace(degenerate(task()).impostors[0], strict=False).strict is False
