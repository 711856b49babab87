"""Facts about how a kernel is evaluated, in real processes by the system's compiler; no time is asserted."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from kernel_problems import COUNT, DOUBLING, KERNEL, SETTINGS, doubling, needs_compiler, needs_linux, written

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.testing import check_evaluator
from evolve.types import Outcome, Parameters, TextId, Trial
from evolve_kernel.evaluator import NEUTRAL, Kernel, format_feedback
from evolve_kernel.rounds import Measured, Timings
from evolve_kernel.settings import KernelSettings

pytestmark = [pytest.mark.integration, needs_compiler, needs_linux]
Judge = Callable[..., Report]
CPP = """#include "doubled.h"
#include <algorithm>
template <class T> static void copied(T *to, const float *from, long count) { std::copy(from, from + count, to); }
void doubled(float *out, const float *given, double *room, long count)
{
    for (int again = 0; again < 20; again++) {
        copied(room, given, count);
        __asm__ volatile("" ::: "memory");
    }
    std::transform(room, room + count, out, [](double one) { return float(one + one); });
}
"""


def judging(folder: Path, stack: ExitStack, **fields: str) -> Judge:
    """By one judge, until the stack is left."""
    task = written(folder, **fields)
    executor = stack.enter_context(closing(LocalExecutor(task, 1)))

    def evaluated(files: dict[str, str] | None = None, split: str = "search", **parameters: int) -> Report:
        given = Parameters({**task.parameters, **parameters})
        job = Job("1.0", "evaluate", Trial(7, split, parameters=given, limit=60.0), files or dict(task.seed.files))
        return decode_report(executor.submit(job.id, encode_job(job)).result(90))

    return evaluated


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """Of the small problem in C."""
    with ExitStack() as stack:
        yield judging(tmp_path_factory.mktemp("doubling"), stack)


def told(report: Report) -> str:
    return report.texts[TextId(report.evaluation.feedback)]


def test_it_passes_the_suite_for_evaluators(tmp_path: Path) -> None:
    """With a task that has its module."""
    check_evaluator(lambda: Kernel(KernelSettings(**SETTINGS)), doubling(tmp_path))


def test_the_seed_is_judged_against_itself(judge: Judge) -> None:
    """With all that stands beside a score."""
    report = judge()
    found = report.evaluation
    assert (found.outcome, found.tag, found.trust) == (Outcome.OK, "", "witnessed")
    assert found.standard_error is not None
    assert (found.metrics["rounds"], found.metrics["processes"]) == (2.0, 1.0)
    assert found.metrics["speedup_low"] <= found.metrics["speedup"] <= found.metrics["speedup_high"]
    assert set(found.descriptors) == {"log2_code", "simd", "of_floor", "precision"}
    assert found.descriptors["precision"] == 53.0  # twice a number is exact
    assert 0 < found.descriptors["simd"] < 1
    assert found.descriptors["of_floor"] > 0
    assert f"| count {COUNT} |" in told(report)


def test_a_confirmation_is_measured_like_any_other(judge: Judge) -> None:
    """By all rounds, here as many as a race begins with."""
    assert judge(split="confirm").evaluation.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("old", "new", "outcome", "tag", "said"),
    [
        ("out[i] = (float)(room[i] + given[i])", "out[i] = 2", Outcome.WRONG, "", "out is off by"),
        ("out[i] = (float)", "room[i + 200] = out[i] = (float)", Outcome.WRONG, "wrote outside of its arrays", NEUTRAL),
        ("out[i] = (float)", "((float *)given)[i] = out[i] = (float)", Outcome.WRONG, "modified its inputs", NEUTRAL),
        ("{\n", "{\n    static int calls; calls++; if (calls > 5) return;\n", Outcome.INVALID, "", "live longer than a call"),
        ("{\n", "{\n    no C at all\n", Outcome.BUILD_FAILED, "", "doubled.c:"),
        ("{\n", "{\n    __builtin_trap();\n", Outcome.CRASHED, "", "SIGILL"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_no_speed(judge: Judge, old: str, new: str, outcome: Outcome, tag: str, said: str) -> None:
    """It says why, but for what only a cheat does."""
    report = judge({"doubled.c": KERNEL.replace(old, new, 1)})
    assert (report.evaluation.outcome, report.evaluation.tag) == (outcome, tag)
    assert said in told(report)


def test_a_judge_goes_on_after_all_that(judge: Judge) -> None:
    """With the seed that it has built before."""
    assert judge().evaluation.outcome is Outcome.OK


def test_shapes_that_are_too_small_are_the_tasks_fault(judge: Judge) -> None:
    """No program's."""
    report = judge(count=64)
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert "Try: give larger shapes" in told(report)


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_a_kernel_may_be_written_in_cpp(tmp_path: Path) -> None:
    """With the same header."""
    with ExitStack() as stack:
        report = judging(tmp_path, stack, kernel=CPP, file="doubled.cpp", language="c++")()
    assert report.evaluation.outcome is Outcome.OK, told(report)


def test_an_oracle_that_the_seed_misses_is_the_tasks_fault(tmp_path: Path) -> None:
    """It says on which shape."""
    text = DOUBLING.replace("2.0 * inputs", "3.0 * inputs")
    with ExitStack() as stack:
        report = judging(tmp_path, stack, text=text)()
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert "the seed, which all others are compared with, fails on count" in told(report)


def test_a_header_that_declares_something_else_is_the_tasks_fault(tmp_path: Path) -> None:
    """Both are the task's."""
    text = DOUBLING.replace('("number", "count", shape["count"])', '("number", "count", 3), ("number", "more", 4)')
    with ExitStack() as stack:
        report = judging(tmp_path, stack, text=text)()
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert "doubled.h does not declare doubled with the parameters that arguments() gives" in told(report)


def test_the_feedback_has_a_row_for_each_shape_and_no_secret():
    """Speed-ups with their intervals, times, the least that is possible."""
    timings = (
        Timings({"count": 5}, 1e-4, [1e-3, 1.1e-3], [2e-3, 2.2e-3]),
        Timings({"count": 9}, 2e-4, [1e-3, 1e-3], [1e-3, 1e-3]),
    )
    said = format_feedback(Measured(timings, ((0.3, 0.4),)))
    assert "| count 5 | 2 | 2 to 2 | 1.05 | 2.1 | 0.1 |" in said
    assert "| count 9 | 1 | 1 to 1 | 1 | 1 | 0.2 |" in said
    assert said.startswith("Speed-up against the seed: 1.42 (")
    assert "From 2 rounds in 1 process of each program" in said
