"""Facts about the programs that the evaluator brings for a check of a task in C."""

import pytest
from kernel_problems import HEADER, KERNEL, SETTINGS, compiled, doubling, needs_compiler

from evolve.protocols import Twinned
from evolve_kernel.evaluator import Kernel
from evolve_kernel.impostors import impostors
from evolve_kernel.settings import KernelSettings

pytestmark = pytest.mark.integration

ALL = {
    "a variable that stays",
    "a second symbol",
    "code that runs at loading",
    "returns at once",
    "never returns",
    "ends its process",
    "writes before its output",
    "changes its input",
}


def test_they_are_the_evaluators_twins(tmp_path):
    """None is honest."""
    evaluator = Kernel(KernelSettings(**SETTINGS))
    assert isinstance(evaluator, Twinned)
    found = evaluator.twins(doubling(tmp_path))
    assert {twin.name for twin in found} == ALL
    assert not any(twin.honest for twin in found)
    assert {path for twin in found for path in twin.files} == {"doubled.c"}


@needs_compiler
@pytest.mark.parametrize("name", sorted(ALL))
def test_each_of_them_is_compiled(tmp_path, name):
    """What is wrong with them is not their C."""
    (twin,) = (one for one in impostors("doubled.c", KERNEL, "doubled.h", HEADER, "doubled") if one.name == name)
    assert compiled(tmp_path, twin.files["doubled.c"])


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        (
            "void f(const float *a, double b[], long n);",
            {"writes before its output": "b)[-1]", "changes its input": "*)a"},
        ),
        ("/* void f(int); */ void f (\n  long n,\n  int *out\n);", {"writes before its output": "out)[-1]"}),
        ("void g(float *a);", {}),
        ("int f(float *a);", {}),
        ("void f(void);", {}),
    ],
)
def test_parameters_are_those_of_the_header(declared, written):
    """What cannot be read is left out."""
    found = {twin.name: twin.files["f.c"] for twin in impostors("f.c", "", "f.h", declared, "f")}
    assert {"a variable that stays", "a second symbol"} <= set(found)
    for name in ("writes before its output", "changes its input"):
        assert (name in found) == (name in written)
        assert written.get(name, "") in found.get(name, "")
