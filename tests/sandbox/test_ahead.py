"""Modules that the judge has compiled piece by piece are what they are as a whole."""

import marshal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.sandbox import Box, SessionFailed
from evolve.sandbox.ahead import _piece, compile_ahead
from evolve.types import Limits, Program

pytestmark = pytest.mark.integration

MODULE = '''"""What it is for."""
import math


LIMIT: int = 3


@staticmethod
def area(r):
    """Of a circle."""

    return math.pi * r**2


class Shape:
    sides = 4

    def grow(self): return self.sides + LIMIT


# Of both.
if LIMIT > 2:
    def told():
        return __doc__, __annotations__, Shape().grow()
'''


CONTEXT = {"seed.py": "def who(): return 'context'\n"}


def run(text: str, pieces: tuple[bytes, ...]) -> dict[str, Any]:
    """The module's names after its pieces, or without any its text."""
    namespace: dict[str, Any] = {"__name__": "seed"}
    for code in map(marshal.loads, pieces) if pieces else [compile(text, "seed.py", "exec", dont_inherit=True)]:
        exec(code, namespace)
    return namespace


def test_a_module_is_cut_at_its_statements() -> None:
    """And is what it was, with its docstring, annotations and lines."""
    pieces = compile_ahead("seed.py", MODULE)
    assert len(pieces) == 5
    names = run(MODULE, pieces)
    assert names["told"]() == ("What it is for.", {"LIMIT": int}, 7)
    lines = [names[name].__code__.co_firstlineno for name in ("told",)] + [names["Shape"].grow.__code__.co_firstlineno]
    whole = run(MODULE, ())
    assert lines == [whole["told"].__code__.co_firstlineno, whole["Shape"].grow.__code__.co_firstlineno]


def test_what_has_not_changed_is_not_compiled_again() -> None:
    """A child that differs in one function costs one function."""
    child = MODULE.replace("r**2", "r**3")
    compile_ahead("cut.py", MODULE)
    before = _piece.cache_info().misses
    first, second = compile_ahead("cut.py", MODULE), compile_ahead("cut.py", child)
    assert _piece.cache_info().misses == before + 1
    assert [a == b for a, b in zip(first, second, strict=True)] == [True, True, False, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations\n\n\nx: Missing = 1\n",
        'x = """\n\n\ny = 1\n\n\nz = """\n',
        "try:\n    x = 1\n\n\nexcept ValueError:\n    x = 2\n",
        "if False:\n    x = 1\n\nelse:\n    x = 2\n",
        "x = (1 +\n\ny)\n",
        "x = 1 + \\\n\nx = 2\n",
        "@print\n\ndef f(): pass\n",
        "x = 1\n\n\nr'no docstring'\n\n\ny = 2\n",
        "x = 1\n\n\nglobal x\n",
        "def f():\n    global x\n    x = 1\n",
        "x = 1\n\n\ny = '\\d'\n",
        "x = 1\n\n\ny = x is 1\n",
        "x = 1\r\n\r\ny = 2\r\n",
        "x = '\ud800'\n",
        "x = 1\n\n\ny = =\n",
        "x = 1\n\n\n" + "(" * 300 + ")" * 300 + "\n",
        "x = " + "-" * 7000 + "1\n",
        "x = [" + "1, " * 3000 + "]\n",
        "x = 1\n" * 40_000,
        "x = 1\n\n\nreturn 2\n",
    ],
)
def test_what_is_not_sure_is_left_whole(text: str) -> None:
    """So is everything of which the compiler would say something, in the words that its author is to see."""
    assert compile_ahead("seed.py", text) == ()


_LINES = st.sampled_from(
    [
        "x = 1",
        "def f():",
        "    y = 2",
        "    return y",
        "else:",
        "if x:",
        '"""',
        "'doc'",
        "@f",
        "",
        "",
        "",
        "#",
        "x: int = (",
        ")",
        "x = \\",
        "class C:",
    ]
)


@given(st.lists(_LINES, max_size=25))
@settings(max_examples=500, deadline=None)
def test_pieces_are_the_whole(lines: list[str]) -> None:
    """Whatever stands behind an empty line: where there are pieces, the text compiles, and leaves the same names and values, or the same error."""
    text = "\n".join(lines)
    pieces = compile_ahead("seed.py", text)
    if pieces:
        assert _outcome(text, pieces) == _outcome(text, ())


def _outcome(text: str, pieces: tuple[bytes, ...]) -> Any:
    try:
        names = run(text, pieces)
    except Exception as error:  # noqa: BLE001 any error is a program's outcome
        return type(error), str(error)
    names.pop("__builtins__")
    return {name: value if isinstance(value, int | str | dict) else type(value) for name, value in names.items()}


def test_a_candidate_runs_what_was_compiled() -> None:
    """A traceback quotes the line of the program's text, and the module knows its docstring."""
    source = '"""Why."""\n\n\ndef why():\n    return __doc__\n\n\ndef fail():\n    raise ValueError("no")\n'
    assert len(compile_ahead("seed.py", source)) == 3
    with closing(Box(Limits())) as box, box.open(Program({"seed.py": source}), "seed", 20.0) as session:
        assert session.call("why") == "Why."
        with pytest.raises(SessionFailed, match=r'File "seed.py", line 9, in fail\n    raise ValueError\("no"\)'):
            session.call("fail")


def test_the_contexts_file_goes_before_the_programs() -> None:
    """Then nothing was compiled of the latter."""
    with (
        closing(Box(Limits(), context=CONTEXT)) as box,
        box.open(Program({"seed.py": "def who(): return 'program'\n"}), "seed", 20.0) as session,
    ):
        assert session.call("who") == "context"


def test_what_a_build_has_placed_goes_before_the_program() -> None:
    """Also before what was compiled."""
    with (
        closing(Box(Limits())) as box,
        box.open(Program({"seed.py": "def who(): return 'program'\n"}), "seed", 20.0) as session,
    ):
        session.place({"seed.py": b"def who(): return 'placed'\n"})
        assert session.call("who") == "placed"


def test_a_hostile_text_costs_the_compiler_little(tmp_path: Path) -> None:
    """The judge's process lives on where a text nests as deeply as a piece may, in all that nests."""
    program = tmp_path / "nests.py"
    program.write_text(
        "from evolve.sandbox.ahead import compile_ahead\n"
        "for one in ('(', '[', '{', '-', 'not ', 'lambda:', 'f(', 'x[', '{1:', '~', 'await ', 'x if x else ', 'f\"{', 'x.', '*'):\n"
        "    compile_ahead('seed.py', 'x = ' + one * (7_900 // len(one)))\n"
        "    compile_ahead('seed.py', 'x = ' + one * 90 + '1')\n"
        "for one in ('if x:', 'for x in x:', 'with x:', 'def f():', 'class C:', 'try:'):\n"
        "    compile_ahead('seed.py', ''.join(f'{\" \" * n}{one}\\n' for n in range(98)) + ' ' * 98 + 'pass\\n')\n"
        "compile_ahead('seed.py', 'if x: pass\\n' + 'elif x: pass\\n' * 600)\n"
        "compile_ahead('seed.py', 'x = ' + 'x+' * 3900 + '1')\n"
        "compile_ahead('seed.py', 'x = ' + 'x.a' + '.a' * 3900)\n"
        "print('alive')\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]
