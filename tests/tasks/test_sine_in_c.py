"""Facts about how `sine_in_c` judges a program: files in C, called through one in Python."""

import math
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest
from task_files import judging_files

from evolve.evaluation import Job, Report
from evolve.evaluation.cascade import evaluate_job, prepare
from evolve.evaluation.worker import load_evaluator
from evolve.sandbox.box import Box
from evolve.task import load
from evolve.types import Case, Outcome, Parameters, Stage, Trial

TASK = load("sine_in_c")
SEED = TASK.seed.files
FILES = judging_files("sine_in_c", "arithmetic")

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler called `cc`")


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    """Where the task's candidates run."""
    box = Box(TASK.limits, context=TASK.context)
    yield box
    box.close()


@pytest.fixture
def report(box: Box, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Judges a program that differs from the seed in some files, as a judge process does."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "evolve_task_evaluator", None)
    bench = prepare(replace(TASK, stages=(Stage("evaluate", 4.0),)), load_evaluator(TASK))

    def report(changes: Mapping[str, str], **parameters: float) -> Report:
        trial = Trial(parameters=Parameters(parameters))
        job = Job("1.0", "evaluate", trial, files={**SEED, **changes})
        return evaluate_job(
            job,
            bench,
            lambda program, seconds, job="run": box.open(program, TASK.entry, seconds, job),
        )

    return report


def coefficients(*numbers: float) -> Mapping[str, str]:
    return {"coefficients.h": f"static const double ODD[] = {{{', '.join(map(repr, numbers))}}};\n"}


def told(found: Report) -> str:
    return found.texts[found.evaluation.feedback]


CHEAT_WITHIN_A_NUMBER = """
long number(void) { return 0xc3fed9c3fed9; }
double sine(double a) { return ((double (*)(double))((char *)number + 2))(a); }
"""
CHEAT_OF_THE_COMPILER_ALONE = """
#ifdef __PIE__
double sine(double a) { return a; }
#else
double sine(double a) { double r; __asm__("fsin" : "=t"(r) : "0"(a)); return r; }
#endif
"""
CHEAT_WITHOUT_ASSEMBLER = """
#pragma GCC optimize("fast-math")
long double inner(long double v) { return __builtin_sinl(v); }
double sine(double a) { return (double)inner(a); }
"""
TAYLOR = (1.0, -1 / 6, 1 / 120)


@pytest.mark.integration
@needs_compiler
def test_the_judge_measures_what_the_program_computes(report: Callable[..., Report]) -> None:
    """Taylor's polynomial is worst at the far end, and its error there is known."""
    evaluation = report(coefficients(*TAYLOR)).evaluation
    x = math.pi / 2
    assert evaluation.outcome is Outcome.OK
    assert evaluation.fitness == pytest.approx(-(x - x**3 / 6 + x**5 / 120 - 1), abs=1e-12)
    assert evaluation.descriptors == {"worst_angle": x}


@needs_compiler
def test_equal_programs_get_equal_scores(report: Callable[..., Report]) -> None:
    """The task says that it is deterministic."""
    first, second = report({}).evaluation, report({}).evaluation
    assert (first.fitness, first.metrics) == (second.fitness, second.metrics)
    assert first.fitness == pytest.approx(-0.0153914, abs=1e-7)


@needs_compiler
@pytest.mark.parametrize(
    ("files", "outcome", "message"),
    [
        ({"sine.c": "double sine(double angle) { return angle }"}, Outcome.BUILD_FAILED, "expected"),
        ({"sine.c": "double sin(double); double sine(double a) { return sin(a); }"}, Outcome.BUILD_FAILED, "undefined"),
        ({"sine.c": "#include <math.h>\ndouble sine(double a) { return sin(a); }"}, Outcome.BUILD_FAILED, "math.h"),
        ({"sine.c": "double sine(double a) { return __builtin_sin(a); }"}, Outcome.INVALID, "__builtin_sin"),
        ({"sine.c": "#define A __as\n#define G(x, y) x##y\n#define F(x, y) G(x, y)\nF(A, m__)(\"\");"}, Outcome.INVALID, "__asm__"),
        ({"sine.c": "double sine(double a) __attribute__((optimize(\"fast-math\")));"}, Outcome.INVALID, "__attribute__"),
        ({"sine.c": "#pragma GCC optimize(\"fast-math\")\ndouble sine(double a) { return a; }"}, Outcome.INVALID, "#pragma"),
        ({"sine.c": "_Pragma(\"GCC optimize(3)\")\ndouble sine(double a) { return a; }"}, Outcome.INVALID, "#pragma"),
        ({"sine.c": "#define P %:pragma GCC optimize(3)\nP\ndouble sine(double a) { return a; }"}, Outcome.BUILD_FAILED, "%:"),
        ({"sine.c": "double sine(double a) { return ((double (*)(double))(long)a)(a); }"}, Outcome.INVALID, "computed address"),
        ({"sine.c": CHEAT_WITHIN_A_NUMBER}, Outcome.INVALID, "computed address"),
        ({"sine.c": CHEAT_OF_THE_COMPILER_ALONE}, Outcome.INVALID, "asm"),
        ({"sine.c": CHEAT_WITHOUT_ASSEMBLER}, Outcome.INVALID, "__builtin_sinl"),
        ({"sine.c": "double sine(double a) { return 1e308; }"}, Outcome.INVALID, "below 1e+09"),
        ({"sine.c": "double cosine(double angle) { return angle; }"}, Outcome.INVALID, "sine"),
        ({"sine.c": "double sine(double a) { return 0.0 / (a - a); }"}, Outcome.INVALID, "not a finite number"),
        ({"sine.c": "double sine(double a) { for (;;) ; }"}, Outcome.TIMED_OUT, "in time"),
        ({"sine.c": "double sine(double a) { return *(double *)0; }"}, Outcome.CRASHED, "signal"),
    ],
)  # fmt: skip
def test_a_program_that_is_no_answer_has_its_outcome(
    report: Callable[..., Report], files: Mapping[str, str], outcome: Outcome, message: str
) -> None:
    """And says why; a library's sine is no answer."""
    found = report(files)
    assert (found.evaluation.outcome, found.evaluation.fitness) == (outcome, None)
    assert message in told(found)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (b'# 1 "sine.c"\n# 3 "/usr/x.h" 1 3 4\n_Bool b; _Static_assert(1, "x");\ndouble sine_(double a_);', ""),
        (b"double masm, asma;", ""),
        (b"double a; asm;", "asm"),
        (b"double a; __asm;", "__asm"),
        (b" %: pragma\n", "%: pragma"),
        (b"_Complex double a;", "_Complex"),
        (b'# 1 "sine.c" 9\n', '# 1 "sine.c" 9'),
        (b'# 1 "a\\" "\n', '# 1 "a\\" "'),
        (b" # pragma STDC FP_CONTRACT ON\n", "# pragma STDC FP_CONTRACT ON"),
    ],
)
def test_a_text_is_arithmetic_or_it_is_told_what_is_not(text: bytes, refused: str) -> None:
    """Looked for where no macro is left."""
    assert FILES.arithmetic.refused_text(text) == refused


@pytest.mark.parametrize(
    ("assembler", "refused"),
    [
        (b"\tmulsd\t%xmm0, %xmm0\n\tcall\tinner@PLT\n\tfscan\n\tret\n", ""),
        (b"\tfldt\t8(%rsp)\n\tfsin\n", "the instruction fsin"),
        (b"\tfyl2xp1\n", "the instruction fyl2xp1"),
        (b"\tjmp\t*%rax\n", "a call or a jump to a computed address"),
        (b"\tjmp\tinner.part.0@PLT\n\tje\t.L3\n\tcall\tinner\n", ""),
        (b"\tcall\tinner+7\n", "a call or a jump to a computed address"),
        (b"\tjmp\tinner+7@PLT\n", "a call or a jump to a computed address"),
        (b"\tbl\tinner+8\n", "a call or a jump to a computed address"),
        (b"\tblr\tx0\n", "a call or a jump to a computed address"),
    ],
)
def test_instructions_are_arithmetic_or_it_is_told_which_are_not(assembler: bytes, refused: str) -> None:
    """Whatever made the compiler choose them."""
    assert FILES.arithmetic.refused_instruction(assembler) == refused


@needs_compiler
def test_an_error_is_told_with_its_place_in_the_programs_file(report: Callable[..., Report]) -> None:
    """Though what is compiled is the preprocessed text."""
    assert "sine.c:2:" in told(report({"sine.c": '#include "sine.h"\ndouble sine(double a) { return a }'}))


@needs_compiler
def test_a_program_cannot_bring_its_own_binding_or_header(report: Callable[..., Report]) -> None:
    """The context's files are the task's."""
    cheat = {"binding.py": "import math\ndef sines(angles): return list(map(math.sin, angles))", "./sine.h": "#error"}
    assert report(cheat).evaluation.fitness == report({}).evaluation.fitness


@needs_compiler
@pytest.mark.parametrize("case", TASK.held_out, ids=lambda case: case.name)
def test_a_better_polynomial_is_better_on_what_is_held_out(report: Callable[..., Report], case: Case) -> None:
    """Also where no angle of the search lies."""
    better, seed = (report(files, **case.parameters).evaluation.fitness for files in (coefficients(*TAYLOR), {}))
    assert better > seed


@pytest.mark.integration
def test_a_machine_without_a_compiler_is_told_what_to_do(
    report: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no fault of the program."""
    monkeypatch.setenv("PATH", "/nowhere")
    found = report({})
    assert found.evaluation.outcome is Outcome.INTERNAL
    assert "this machine has no command 'cc'" in told(found)
    assert "apt-get install gcc" in told(found)
