"""Facts about the compiler: what it is told, what it says, and what is said where there is none."""

import shutil

import pytest
from kernel_problems import DOUBLING, doubling, needs_compiler

from evolve import Timed
from evolve.plugins import BUNDLED, load
from evolve.types import Case, ConfigError, EvaluatorSource, TaskError
from evolve_kernel.compiled import _clocks, _measured_size, compiler, fastest_rate, format_call, simd_share
from evolve_kernel.evaluator import Kernel
from evolve_kernel.problem import Argument
from evolve_kernel.settings import KernelSettings

MINIMAL = {"module": "problem.py", "function": "doubled", "header": "doubled.h"}


@pytest.fixture
def no_compiler(monkeypatch):
    """A machine without one."""
    compiler.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda command: None)
    yield
    compiler.cache_clear()


def test_it_is_bundled():
    """And known by its name."""
    assert load([]).evaluators["kernel"].plugin == "evolve_kernel"
    assert "evolve_kernel" in BUNDLED


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "module"),
        ({**MINIMAL, "header": ""}, "language 'c' needs a header that declares the function"),
        ({**MINIMAL, "first": 9}, "the first 9 rounds are more than all 8"),
        ({**MINIMAL, "language": "fortran"}, "language"),
        ({**MINIMAL, "function": "a b"}, "function"),
        ({**MINIMAL, "modul": "x"}, "no setting 'modul'. Did you mean 'module'?"),
    ],
)
def test_what_cannot_be_judged_by_is_an_error(settings, said):
    """Before anything is made."""
    with pytest.raises(ConfigError) as caught:
        load([]).evaluator(EvaluatorSource(plugin="kernel", settings=settings))
    assert said in str(caught.value)


@pytest.mark.usefixtures("no_compiler")
def test_a_machine_without_a_compiler_is_told_before_a_campaign(tmp_path):
    """When the evaluator is loaded."""
    with pytest.raises(TaskError, match=r"compiled by 'cc', and this machine has no such command. Try: install"):
        Kernel(KernelSettings(**MINIMAL)).stages(doubling(tmp_path))


@pytest.mark.integration
@needs_compiler
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"context": {}}, "evaluator.header: 'doubled.h' is no file of program.context"),
        ({"file": "doubled.txt"}, "has one file that is compiled, with the suffix .c, got none"),
        ({"parameters": {"count": 0}}, "shapes\\(\\) returned"),
    ],
)
def test_a_task_that_cannot_be_built_is_an_error(tmp_path, fields, said):
    """When the evaluator is loaded."""
    with pytest.raises(TaskError, match=said):
        Kernel(KernelSettings(**MINIMAL)).stages(doubling(tmp_path, **fields))


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('("number", "count", shape["count"])]', '("number", "count", 1)] + [("room", "more", dims, "int8")] * (shape["count"] > 100)', "on count 300, and .* on the first shape"),
        ('("number", "count", shape["count"])]', '("number", "a" if shape["count"] < 400 else "b", 1)]', "on count 500, and"),
        ("parameters.count, 3 *", "parameters.count, 10**7 *", "the arrays of count 1000000000 take 14.9 GiB, and 1 GiB is the most"),
    ],
)  # fmt: skip
def test_shapes_that_no_one_function_can_be_called_on_are_an_error(tmp_path, old, new, said):
    """Those of held-out cases too, before anything is made."""
    text = DOUBLING.replace(old, new)
    assert text != DOUBLING
    task = doubling(tmp_path, text, parameters={"count": 100}, held_out=(Case("far", {"count": 500}),))
    with pytest.raises(TaskError, match=said):
        Kernel(KernelSettings(**MINIMAL)).stages(task)


@needs_compiler
def test_a_machine_without_a_lister_is_told_before_a_campaign(tmp_path, monkeypatch):
    """It is no program's fault."""
    compiler.cache_clear()
    there = shutil.which
    monkeypatch.setattr(shutil, "which", lambda command: None if command == "objdump" else there(command))
    with pytest.raises(TaskError, match=r"listed by 'objdump', and this machine has no such command. Try: install"):
        Kernel(KernelSettings(**MINIMAL)).stages(doubling(tmp_path))
    compiler.cache_clear()


@pytest.mark.integration
@needs_compiler
def test_a_stage_has_a_core_of_its_own(tmp_path):
    """Without the task's saying so."""
    ((stage, _),) = Kernel(KernelSettings(**MINIMAL)).stages(doubling(tmp_path))
    assert stage.needs.pinned


@pytest.mark.parametrize(
    ("assembler", "share"),
    [
        ("", 0.0),
        ("\tvaddps\t%zmm0, %zmm1, %zmm2\n\tret\n", 0.5),
        ("\tvaddss\t%xmm0, %xmm1, %xmm2\n\tmovq\t%rdi, %rax\n", 0.0),
        ("\tvcvttss2si\t%xmm0, %eax\n\tvpaddd\t%ymm0, %ymm1, %ymm1\n\t.p2align 4\nlabel:\n", 0.5),
        ("\tfmla\tv0.4s, v1.4s, v2.4s\n\tfadd\ts0, s1, s2\n", 0.5),
    ],
)
def test_the_share_of_packed_instructions(assembler, share):
    """Of all instructions; directives and labels are none."""
    assert simd_share(assembler) == share


def test_a_call_passes_arguments_in_their_order():
    """Pointers as the dtype's C type, numbers as long; the first number is the judge's."""
    arguments = (
        Argument("number", "rows", value=3),
        Argument("in", "a", (2,), "uint8"),
        Argument("out", "b", (2,), "int64"),
        Argument("number", "columns", value=4),
    )
    call = "f(numbers[1], (const unsigned char *)pointers[0], (long *)pointers[1], numbers[2])"
    assert format_call("f", arguments) == call


def test_the_fastest_of_several_measurements_is_the_ceiling():
    """Each long enough, whatever the first was."""
    taken = iter([1e-5, 1e-4, 4e-3, 4e-3, 3e-3, 2e-3, 4e-3, 9e-3])
    asked = []

    def seconds(times):
        asked.append(times)
        return next(taken)

    rate = fastest_rate(seconds, 10)
    assert rate == pytest.approx(10 * asked[-1] / 2e-3)
    assert asked[0] < asked[1] < asked[2] == asked[-1]


@pytest.mark.parametrize(
    ("size", "measured"), [(1, 1 << 16), (1 << 16, 1 << 16), (140_000, 1 << 17), (1 << 40, 1 << 26)]
)
def test_memory_is_measured_in_powers_of_two(size, measured):
    """Not larger than what it is used for, within bounds."""
    assert _measured_size(size) == measured


MORE, OUTSIDE = "more processor time than wall time", "work outside of the timed call"


@pytest.mark.parametrize(
    ("timed", "tag"),
    [
        (Timed(None, wall=0.010, cpu=0.010, outside=0.0, span=0.011), ""),
        (Timed(None, wall=0.010, cpu=0.020, outside=0.0, span=0.011), MORE),
        (Timed(None, wall=0.010, cpu=0.020, outside=0.0, span=0.021), ""),
        (Timed(None, wall=0.020, cpu=0.010, outside=0.0, span=0.021), ""),
        (Timed(None, wall=0.010, cpu=0.010, outside=0.004, span=0.011), ""),
        (Timed(None, wall=0.010, cpu=0.010, outside=0.005, span=0.011), OUTSIDE),
    ],
    ids=[
        "one thread",
        "two threads",
        "a machine that stood still after the call was done",
        "one that did something else meanwhile",
        "a little before",
        "much before",
    ],
)
def test_a_time_that_one_thread_cannot_have_used_is_refused(timed: Timed, tag: str) -> None:
    """Wall time alone says nothing: a processor that is taken away before the program is stopped counts as the program's."""
    assert _clocks(timed) == tag
