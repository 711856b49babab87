"""Structural edits of Python programs: the laws that every child keeps, on real files."""

import ast
import dataclasses
import tokenize
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_fakes import TASK, Past, context_of

from evolve.edits.blocks import blocks, outside
from evolve.novelty import signature
from evolve.operators.mutate_ast import MutateAst, MutateSettings
from evolve.operators.python_source import read
from evolve.testing import check_operator
from evolve.types import Child, EditError, Program, Selection

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("evolve", "tasks", "plugins", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    if len(path.read_text("utf-8")) > 400
)
TEXTS = [path.read_text("utf-8") for path in FILES]
SEED = """from math import sin


def formula(x):
    # EVOLVE-BLOCK-START
    y = 2.0 * x  # twice
    # EVOLVE-BLOCK-END
    return y  # kept
"""


def children(
    program: Program, *inspirations: Program, seed: int = 0, samples: int = 1, more: float = 0.35
) -> list[Child]:
    """Of a parent that is also the task's seed."""
    past = Past()
    records = tuple(past.settle(one, 1.0) for one in (program, *inspirations))
    context = dataclasses.replace(context_of(past, seed), task=dataclasses.replace(TASK, seed=program))
    selection = Selection("mutate_ast", parents=records[:1], inspirations=records[1:], samples=samples)
    return list(MutateAst(MutateSettings(more=more)).propose(selection, context))


def child(program: Program, *inspirations: Program, seed: int = 0, more: float = 0.35) -> Program:
    """The first child's program."""
    (made,) = children(program, *inspirations, seed=seed, more=more)
    assert made.program is not None
    return made.program


def comments(text: str) -> Counter[str]:
    """All comments of a text, with how often they stand in it."""
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def marked(text: str, first: int, last: int) -> str:
    """The text with the statements `first` to `last` of its module in a block."""
    body = ast.parse(text).body
    low, high = sorted((first % len(body), last % len(body)))
    lines = text.splitlines(keepends=True)
    starts = [one.lineno - 1 for one in body]
    begin, stop = starts[low], body[high].end_lineno
    decorators = getattr(body[low], "decorator_list", [])
    begin = min([begin, *(one.lineno - 1 for one in decorators)])
    return "".join(
        [*lines[:begin], "# EVOLVE-BLOCK-START\n", *lines[begin:stop], "# EVOLVE-BLOCK-END\n", *lines[stop:]]
    )


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.integers(0, 2**31))
def test_a_child_of_a_real_file_is_another_program_that_compiles(text: str, other: str, seed: int) -> None:
    """It reads no name that nothing binds, and equal inputs give equal children."""
    parent, inspiration = Program({"a.py": text}), Program({"a.py": other})
    try:
        made = child(parent, inspiration, seed=seed)
    except EditError:
        return  # a file of names and docstrings, say
    assert made == child(parent, inspiration, seed=seed)
    assert signature(made) != signature(parent)
    found = read(made.files["a.py"], "a.py", ())
    assert not found.names.unbound() - read(text, "a.py", ()).names.unbound()


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(TEXTS), st.integers(0, 2**31), st.integers(0, 50), st.integers(0, 50))
def test_nothing_outside_the_blocks_changes(text: str, seed: int, first: int, last: int) -> None:
    """Wherever they are."""
    parent = Program({"a.py": marked(text, first, last)})
    try:
        made = child(parent, Program({"a.py": text}), seed=seed)
    except EditError:
        return  # a block of imports, say
    assert outside(made.files["a.py"], "a.py") == outside(parent.files["a.py"], "a.py")
    assert len(blocks(made.files["a.py"], "a.py")) == len(blocks(parent.files["a.py"], "a.py"))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(TEXTS), st.integers(0, 2**31))
def test_the_comments_of_lines_that_stay_survive(text: str, seed: int) -> None:
    """One edit touches one statement, or two."""
    try:
        made = child(Program({"a.py": text}), seed=seed, more=0.0).files["a.py"]
    except EditError:
        return  # a file of names and docstrings, say
    old, new = text.splitlines(), made.splitlines()
    gone = Counter(line.strip() for line in old) - Counter(line.strip() for line in new)
    lost = comments(text) - comments(made)
    assert [comment for comment in lost if not any(comment in line for line in gone)] == []


def test_it_keeps_the_promises_of_an_operator() -> None:
    """Also for programs that it cannot change."""
    programs = [
        Program({"seed.py": SEED}),
        Program({"a.py": TEXTS[0]}),
        Program({"a.py": "x = ("}),
        Program({"a.c": "int x;"}),
    ]
    check_operator(lambda: MutateAst(MutateSettings()), programs)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.c": "int x;"}, r"no Python file that may change in a\.c\. Try: use another operator"),
        ({"a.py": "x = ("}, r"a\.py is no Python that parses: line 1: .*Try: mend it"),
        (
            {"a.py": "x = 1\n", "b.c": "// EVOLVE-BLOCK-START\nint x;\n"},
            r"no Python file that may change in a\.py, b\.c",
        ),
        ({"a.py": ""}, r"none of 240 edits of a\.py gave another program that compiles\. Try: "),
        ({"a.py": "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\nx = 1\n"}, r"none of 240 edits of a\.py"),
        ({"a.py": '"""Only words."""\n'}, r"none of 240 edits of a\.py"),
    ],
)
def test_what_cannot_be_changed_is_an_edit_error(files: dict[str, str], message: str) -> None:
    """It says what to do."""
    with pytest.raises(EditError, match=message):
        children(Program(files))


def test_without_a_parent_it_says_what_to_do() -> None:
    """As every operator."""
    with pytest.raises(EditError, match=r"the selection has none\. Try: select a parent"):
        MutateAst(MutateSettings()).propose(Selection("mutate_ast"), context_of(Past(), 1))


@pytest.mark.parametrize("deep", ["x = " + "-" * 90 + "1\n", "x = 1" + " + x" * 500 + "\n", "if 1:\n x = 1\n" * 300])
def test_deep_and_long_programs_have_children(deep: str) -> None:
    """As deep as Python allows."""
    assert len(children(Program({"a.py": deep}))) == 1


@pytest.mark.parametrize("terms", [1200, 3000])
def test_a_program_that_is_too_deep_is_an_edit_error(terms: int) -> None:
    """It never crashes."""
    with pytest.raises(EditError, match=r"recursion|nested too deeply.*Try: "):
        children(Program({"a.py": "x = 1" + " + x" * terms + "\n"}))


def test_one_python_file_of_several_changes() -> None:
    """The larger one more often; no other file, and none that has no block where another has one."""
    files = {"a.py": SEED.replace("EVOLVE", "NO"), "b.py": "x = 1\n", "c.c": "int x = 1;\n", "d.py": "x = ("}
    made = [child(Program(files), seed=seed).files for seed in range(60)]
    changed = [[path for path in files if one[path] != files[path]] for one in made]
    assert {len(paths) for paths in changed} == {1}
    counts = Counter(paths[0] for paths in changed)
    assert set(counts) == {"a.py", "b.py"}
    assert counts["a.py"] > counts["b.py"]
    files = {"a.py": SEED, "b.py": "x = 1\n"}
    assert all(child(Program(files), seed=seed).files["b.py"] == "x = 1\n" for seed in range(20))


def test_a_child_says_what_was_done() -> None:
    """In one short line, with the file."""
    thoughts = [children(Program({"a.py": SEED}), seed=seed)[0].thought for seed in range(60)]
    assert all(thought.startswith("a.py: ") and len(thought) <= 200 and "\n" not in thought for thought in thoughts)
    assert "a.py: 2.0 * x became x * 2.0" in thoughts


def test_one_edit_is_usual_and_several_happen() -> None:
    """As the setting says."""
    parent = Program({"a.py": SEED})
    counts = {
        more: Counter(children(parent, seed=seed, more=more)[0].thought.count("; ") for seed in range(12))
        for more in (0.0, 0.5)
    }
    assert counts[0.0] == {0: 12}
    assert counts[0.5][0] < 12


def test_as_many_children_as_are_wanted() -> None:
    """Each by itself."""
    assert len({made.program for made in children(Program({"a.py": TEXTS[0]}), samples=5)}) > 1


def test_inspirations_give_their_code() -> None:
    """With names that mean something in the parent; one that does not parse gives none."""
    text = SEED.replace("EVOLVE", "NO")
    other = Program({"a.py": "def formula(z):\n    w = z // 7\n    return w\n"})
    made = [child(Program({"a.py": text}), other, seed=seed).files["a.py"] for seed in range(80)]
    assert any("x // 7" in one for one in made)
    broken = Program({"a.py": "x = (", "b.c": "triple"})
    assert child(Program({"a.py": text}), broken, seed=1)


def test_a_file_grows_to_its_limit_and_not_beyond() -> None:
    """400 nodes, or three times the seed's."""
    seed = program = Program({"a.py": "x = 1.0\ny = x + 2.0\n"})
    past, operator = Past(), MutateAst(MutateSettings(more=0.9))
    for step in range(60):
        record = past.settle(program, 1.0)
        context = dataclasses.replace(context_of(past, step), task=dataclasses.replace(TASK, seed=seed))
        (made,) = operator.propose(Selection("mutate_ast", parents=(record,)), context)
        assert made.program is not None
        program = max(program, made.program, key=lambda one: len(one.files["a.py"]))
    size = len(read(program.files["a.py"], "a.py", ()).nodes)
    assert 100 < size <= 400
