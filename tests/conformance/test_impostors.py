"""Facts about programs that fail on purpose; those that do no harm are called here."""

from dataclasses import replace
from typing import Any

import pytest

from evolve.conformance.impostors import NAN, NO_NUMBER, cast, opened
from evolve.types import EvaluatorSource, Limits, Outcome, Program, Task

SEED = '''"""A seed."""
from __future__ import annotations

import math

TABLE = [1.0]


def scale():
    """One helper."""
    return 2.0


FACTOR = scale()


def values(n, kind="list"):
    numbers = [scale() * FACTOR for _ in range(n)]
    if kind == "nested":
        return {"a": (numbers, True), "b": "text", "c": 3}
    return "text" if kind == "text" else numbers
'''


def task(files: dict[str, str] | None = None, entry: str = "seed", memory: int = 1 << 28) -> Task:
    files = files or {"seed.py": SEED}
    source = EvaluatorSource("evaluator.py")
    return Task("made", "", "1", "Be.", Program(files), entry, source, limits=Limits(memory=memory))


def program(name: str, of: Task) -> Program:
    return next(impostor.program for impostor in cast(of).impostors if impostor.name == name)


def loaded(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "seed.py", "exec"), names)
    return names


def test_a_function_task_has_every_impostor() -> None:
    """With the outcomes that are right for each; none is the seed."""
    found = cast(task())
    right = {impostor.name: {str(outcome) for outcome in impostor.right} for impostor in found.impostors}
    assert right == {
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
    assert found.not_tried == {}
    assert task().seed not in [impostor.program for impostor in found.impostors]
    assert all(impostor.remedy for impostor in found.impostors)


@pytest.mark.parametrize(
    ("name", "answer"),
    [("None for an answer", None), ("an empty list for an answer", []), ("an empty text for an answer", "")],
)
def test_functions_get_another_body(name: str, answer: object) -> None:
    """Whatever they are called with; the rest of the file stays."""
    names = loaded(program(name, task()).files["seed.py"])
    assert (names["values"](3), names["scale"](), names["TABLE"]) == (answer, answer, [1.0])


def test_every_number_of_an_answer_becomes_nan_and_nothing_else() -> None:
    """Functions call each other as before, and so does the module while it is imported."""
    names = loaded(program(NAN, task()).files["seed.py"])
    assert names["FACTOR"] == 2.0
    assert str(names["values"](2)) == "[nan, nan]"
    assert str(names["values"](1, kind="nested")) == "{'a': [[nan], True], 'b': 'text', 'c': nan}"
    with pytest.raises(RuntimeError, match=NO_NUMBER):
        names["values"](1, kind="text")


def test_arrays_become_arrays_of_nan() -> None:
    """Whole numbers too."""
    text = "import numpy\n\ndef values():\n    return numpy.arange(3)\n"
    names = loaded(program(NAN, task({"seed.py": text})).files["seed.py"])
    assert str(names["values"]()) == "[nan nan nan]"


def test_a_memory_bomb_is_bounded() -> None:
    """It asks for little more than twice the limit."""
    text = program("a memory bomb", task(memory=1 << 28)).files["seed.py"]
    assert f"bytes({1 << 26}) for _ in range(9)" in text


def test_only_the_entry_is_changed_where_it_has_functions() -> None:
    """Other files stay; they are changed where the entry only imports."""
    files = {"main.py": "from parts import f\n", "parts.py": "def f():\n    return 1\n", "data.json": "{}"}
    changed = program("None for an answer", task(files, "main")).files
    assert (changed["main.py"], changed["data.json"]) == (files["main.py"], "{}")
    assert "return None" in changed["parts.py"]
    files["main.py"] += "def g():\n    return f()\n"
    changed = program("None for an answer", task(files, "main")).files
    assert changed["parts.py"] == files["parts.py"]
    assert "return None" in changed["main.py"]


def test_an_entry_of_the_context_gets_another_body_too() -> None:
    """As if the program answered so: the task's own file is then the program's."""
    binding = "def f():\n    return 1.0\n"
    given = replace(task({"a.c": "double f(void);"}, "binding"), context={"binding.py": binding, "a.h": ""})
    seen = opened(given)
    assert (seen.context, dict(seen.seed.files)) == ({"a.h": ""}, {"a.c": "double f(void);", "binding.py": binding})
    assert loaded(program("an empty list for an answer", seen).files["binding.py"])["f"]() == []
    assert opened(task()) == task()


def test_a_command_gets_other_files() -> None:
    """How it fails is its evaluator's to say, but it must fail."""
    found = cast(task({"main.py": "print(1)\n", "data.json": "{}"}, entry=""))
    programs = {impostor.name: impostor.program.files for impostor in found.impostors}
    assert programs["an endless loop"] == {"main.py": "while True: pass\n", "data.json": "{}"}
    assert programs["no answer at all"] == {"main.py": "", "data.json": ""}
    assert Outcome.OK not in found.impostors[0].right
    assert found.not_tried == {NAN: "what a command answers has a form that only its evaluator knows"}


def test_a_program_in_another_language_is_only_emptied() -> None:
    """All else is listed with the reason."""
    found = cast(task({"kernel.c": "int x;\n"}, entry=""))
    assert [(impostor.name, dict(impostor.program.files)) for impostor in found.impostors] == [
        ("empty files", {"kernel.c": ""})
    ]
    assert set(found.not_tried.values()) == {"the program has no Python file, so that no other one can be made up"}
    assert len(found.not_tried) == 9


def test_an_entry_that_is_no_file_of_the_program_leaves_the_other_files() -> None:
    """A binding among the context files cannot change, so the functions that it calls get another body."""
    changed = program("None for an answer", task({"rules.py": "def f():\n    return 1\n"}, "binding")).files
    assert "return None" in changed["rules.py"]


def test_a_program_without_functions_is_not_replaced() -> None:
    """Its evaluator calls nothing that could be."""
    found = cast(task({"seed.py": "f = abs\n"}))
    assert found.impostors == ()
    assert set(found.not_tried.values()) == {"the program's files define no function at their top level"}
