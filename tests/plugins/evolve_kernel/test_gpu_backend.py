"""Facts about the judge's part of kernels on a GPU: claims parsed, two clocks, integrity. The GPU is a fake."""

import copy
import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evolve import Program
from evolve.task import load
from evolve.types import Outcome, Task, TaskError
from evolve_kernel import gpu_backend
from evolve_kernel.backend import Built, Question, RefusedProgram, Side, segment_for
from evolve_kernel.gpu_backend import DISAGREE, DOUBTS, GpuBackend, agree, parse_recording, place_module
from evolve_kernel.problem import Argument
from tests.plugins.evolve_kernel.fake_gpu import FakeCandidate, FakeCuda, FakeKernel, doubled, floats
from tests.plugins.evolve_kernel.fake_judging import KERNEL, LAUNCH, SETTINGS, TOML, double_task, evaluated

CALL = (
    Argument("out", "out", (4,), "float32"),
    Argument("in", "in", (4,), "float32"),
    Argument("number", "count", value=4),
)
CLAIM: dict[str, Any] = {"kernels": [KERNEL], "calls": [[LAUNCH]]}


def doubled_input(out: int, given: int, count: int) -> None:
    doubled(out, given, count)
    floats(given, count)[:] = 0


def beyond(out: int, given: int, count: int) -> None:
    doubled(out, given, count)
    floats(out, count + 1)[count] = 1


def idle(out: int, given: int, count: int) -> None:
    """Leaves what is there."""


WORKS = {b"double": doubled, b"input": doubled_input, b"beyond": beyond, b"idle": idle}


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """With torch and triton, as far as anybody asks."""
    monkeypatch.setattr(gpu_backend, "_IMPORTED", ("numpy",))
    return double_task(tmp_path)


@pytest.fixture
def cuda() -> FakeCuda:
    return FakeCuda({name: FakeKernel(work, (8, 8, 8)) for name, work in WORKS.items()})


def built(candidate: Any, binary: bytes = b"double") -> Built:
    kernel = [KERNEL[0], np.frombuffer(binary, "uint8"), KERNEL[2]]
    recording = parse_recording({**CLAIM, "kernels": [kernel]}, [CALL])
    return Built(candidate, recording, recording.facts)


@contextmanager
def open_both(backend: GpuBackend, mine: Built, anchor: Built) -> Iterator[tuple[Side, Side]]:
    """Processes of both programs, with one segment between them."""
    with (
        segment_for(CALL) as segment,
        backend.open_side(mine, segment) as one,
        backend.open_side(anchor, segment) as other,
    ):
        yield one, other


def questions() -> Iterator[Question]:
    rng = np.random.default_rng(1)
    while True:
        yield Question(CALL, {"in": rng.random(4, "float32")}, int(rng.integers(1 << 30)))


def called(task: Task, cuda: FakeCuda, binary: bytes) -> Any:
    """What a program's second call gave, and the session in which it was."""
    backend, asked = GpuBackend(task, SETTINGS), questions()
    mine = FakeCandidate(Program({"double.py": "hostile"}), cuda)
    anchor = FakeCandidate(task.seed, cuda)
    with open_both(backend, built(mine, binary), built(anchor)) as sides:
        for poison in (0, 1):
            question = next(asked)
            found = [side.call(question, poison) for side in sides]
    return found[0], question, mine


def test_both_programs_answer_a_question(task: Task, cuda: FakeCuda) -> None:
    """Timed by events; outputs are copies."""
    backend = GpuBackend(task, SETTINGS)
    sides = FakeCandidate(task.seed, cuda), FakeCandidate(task.seed, cuda)
    with open_both(backend, built(sides[0]), built(sides[1])) as (one, other):
        for question, poison in zip(questions(), (0, 1, 0), strict=False):
            for side in (one, other):
                found = side.call(question, poison)
                assert found.outputs["out"].tolist() == (2 * question.inputs["in"]).tolist()
                assert (found.seconds, found.tag) == (pytest.approx(1e-3), "")


def test_nothing_of_a_program_but_its_kernels_is_in_a_runner(task: Task, cuda: FakeCuda) -> None:
    """Its files are empty there, its entry is the runner."""
    _, _, mine = called(task, cuda, b"double")
    (files,) = mine.placed
    assert files["double.py"] == b"from evolve_kernel.gpu_runner import *\n"
    assert set(files) == {f"evolve_kernel/{name}.py" for name in ("__init__", "gpu_driver", "gpu_runner")} | {
        "double.py"
    }
    assert b"hostile" not in b"".join(files.values())


@pytest.mark.parametrize(
    ("binary", "tag"), [(b"input", "modified its inputs"), (b"beyond", "wrote outside of its arrays")]
)
def test_what_the_device_wrote_that_it_must_not_is_seen(binary: bytes, tag: str, task: Task, cuda: FakeCuda) -> None:
    """By what came back from it."""
    assert called(task, cuda, binary)[0].tag == tag


def test_what_was_not_written_is_poison(task: Task, cuda: FakeCuda) -> None:
    """Nothing of an earlier call, which the other program has answered rightly."""
    found, _, _ = called(task, cuda, b"idle")
    assert set(found.outputs["out"].tobytes()) == {0xA5}


def test_events_that_tell_less_than_the_judge_saw_are_no_time(task: Task, cuda: FakeCuda) -> None:
    """No call is made twice: the question is known then."""
    cuda.forged = 1e-6
    found, _, mine = called(task, cuda, b"double")
    assert (found.doubtful, found.tag) == (True, "")
    assert mine.sessions[0].asked.count("replay") == 2


def test_a_call_that_the_machine_has_delayed_does_not_count(task: Task, cuda: FakeCuda) -> None:
    """A bounded number of times in the life of a process."""

    def delayed(out: int, given: int, count: int) -> None:
        doubled(out, given, count)
        cuda.delay = 1.0

    cuda.kernels = {**cuda.kernels, b"delayed": FakeKernel(delayed, (8, 8, 8))}
    backend, asked = GpuBackend(task, SETTINGS), questions()
    sides = FakeCandidate(task.seed, cuda), FakeCandidate(task.seed, cuda)
    with open_both(backend, built(sides[0], b"delayed"), built(sides[1])) as (one, _):
        for delays in range(DOUBTS + 1):
            late = one.call(next(asked), 0)
            assert (late.doubtful, late.tag) == (True, DISAGREE if delays == DOUBTS else "")
            assert late.seconds == pytest.approx(1e-3)


def test_a_pair_that_a_busy_machine_has_disturbed_is_made_with_another_question(task: Task, cuda: FakeCuda) -> None:
    """Two more than the rounds have, of two shapes in two orders, and the two of each process that do not count."""
    asked: list[bytes] = []
    delays = itertools.chain([0.0, 0.0, 1.0, 0.0, 0.0, 1.0], itertools.repeat(0.0))

    def sometimes(out: int, given: int, count: int) -> None:
        doubled(out, given, count)
        asked.append(floats(given, count).tobytes())
        cuda.delay = next(delays)

    cuda.kernels = {**cuda.kernels, b"sometimes": FakeKernel(sometimes, (8, 8, 8))}
    found = evaluated(task, cuda, "sometimes")
    assert (found.outcome, found.tag, found.fitness) == (Outcome.OK, "", pytest.approx(0.0))
    assert len(asked) == 4 * found.metrics["rounds"] + 2 * found.metrics["processes"] + 2
    assert len(set(asked)) == len(asked) - found.metrics["processes"]


@pytest.mark.parametrize(
    ("events", "wall", "same"),
    [
        (1e-3, 1e-3, True),
        (1e-3, 1.15e-3, True),
        (1e-3, 1.2e-3, False),
        (1e-5, 6e-5, True),
        (1e-3, 0.5e-3, False),
        (float("nan"), 1e-3, False),
    ],
)
def test_two_clocks_agree_within_a_tenth_and_60_microseconds(events: float, wall: float, same: bool) -> None:
    """Which is more where both are small."""
    assert agree(events, wall) is same


def test_what_the_device_can_do_bounds_a_time(task: Task, cuda: FakeCuda) -> None:
    """Measured once: half of what is moved may not be left out, and arithmetic is that of all multiprocessors."""
    backend, anchor = GpuBackend(task, SETTINGS), FakeCandidate(task.seed, cuda)
    rate = 2 * (256 << 20) / 1e-3
    assert backend.least_seconds(anchor, 400 << 20, 0) == pytest.approx((350 << 20) / rate)  # type: ignore[arg-type]
    assert backend.least_seconds(anchor, 20 << 20, 0) == pytest.approx((10 << 20) / rate)  # type: ignore[arg-type]
    assert backend.least_seconds(anchor, 1, 10**12) == pytest.approx(1e12 / 25.6e12)  # type: ignore[arg-type]
    assert len(anchor.sessions) == 1


def test_a_program_is_recorded_by_the_recorder(task: Task, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which gets its text and the arguments of each call, and no inputs."""
    candidate, seen = FakeCandidate(Program({"double.py": "text"}), cuda), []
    monkeypatch.setattr(
        "tests.plugins.evolve_kernel.fake_gpu.FakeSession.call", lambda self, *told: seen.append(told) or CLAIM
    )
    made = GpuBackend(task, SETTINGS).build(candidate, [CALL])  # type: ignore[arg-type]
    told = [["out", "out", [4], "float32", 0], ["in", "in", [4], "float32", 0], ["number", "count", [], "", 4]]
    assert seen == [("record_triton", "text", [told])]
    assert made.facts == {
        "log2_code": pytest.approx(2.585, abs=1e-3),
        "launches": 1.0,
        "registers": 32.0,
        "spilled": 0.0,
        "shared": 0.0,
    }
    assert b"gpu_recorder" in candidate.placed[0]["double.py"]


def spoilt(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    """A claim with something else at a place."""
    claim = copy.deepcopy(CLAIM)
    place: Any = claim
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return claim


FIRST = ("calls", 0, 0)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"refused": "because"}, "because"),
        (None, "what was recorded is not"),
        ({"kernels": [KERNEL], "calls": []}, "what was recorded is not"),
        ({**CLAIM, "kernels": []}, "launches 0 kernels"),
        (spoilt(("kernels", 0, 1), np.zeros(3, "float32")), "a kernel is not"),
        (spoilt(("kernels", 0, 1), np.zeros((1 << 20) + 1, "uint8")), "have 1,048,577 bytes"),
        (spoilt(("kernels", 0, 0), "a\0b"), "a kernel is not"),
        (spoilt(("kernels", 0, 2), {"registers": 1e9}), "a kernel is not"),
        (spoilt(("calls", 0), []), "each call launches 1 to 256 kernels"),
        (spoilt((*FIRST, 0), 1), "a launch is not"),
        (spoilt((*FIRST, 0), True), "a launch is not"),
        (spoilt((*FIRST, 1), [0, 1, 1]), "which no device takes"),
        (spoilt((*FIRST, 2), [1024, 2, 1]), "which no device takes"),
        (spoilt((*FIRST, 2), ["1", 1, 1]), "which no device takes"),
        (spoilt((*FIRST, 3), 1 << 30), "which no device takes"),
        (spoilt((*FIRST, 4, 0), [2, 0]), "a parameter is not"),
        (spoilt((*FIRST, 4, 0), [0, 16]), "a parameter is not"),
        (spoilt((*FIRST, 4, 0), [0, -1]), "a parameter is not"),
        (spoilt((*FIRST, 4, 2), "00" * 9), "a parameter is not"),
        (spoilt((*FIRST, 4, 2), "xy"), "a parameter is not"),
    ],
)
def test_a_claim_that_cannot_be_is_refused(claim: object, reason: str) -> None:
    """Whatever a program has made of its recorder."""
    with pytest.raises(RefusedProgram) as caught:
        parse_recording(claim, [CALL])
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (TOML.replace("gpu = 1", "gpu = 0"), "is evaluated on a GPU, and has a stage without one. Try: write gpu = 1"),
        (TOML + "[[stages]]\nneeds = { gpus = 0 }\n", "has a stage without one. Try: write gpu = 1"),
        (
            TOML.replace("double.py", "double.pyx").replace('entry = "double"', 'entry = ""'),
            "one file that is compiled, with the suffix .py, got none",
        ),
    ],
)
def test_a_task_that_cannot_be_judged_on_a_gpu_is_refused(toml: str, message: str, task: Task) -> None:
    """When a judge begins."""
    (Path(task.folder) / "double.pyx").write_text("")
    (Path(task.folder) / "task.toml").write_text(toml)
    with pytest.raises(TaskError) as caught:
        GpuBackend(load(task.folder), SETTINGS)
    assert message in str(caught.value)


def test_a_python_without_torch_says_so(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence, without importing anything."""
    monkeypatch.setattr(gpu_backend, "_IMPORTED", ("no_such_torch", "numpy", "no_such_triton"))
    with pytest.raises(
        TaskError,
        match=r"no kernels in triton: this Python has no no_such_torch and no no_such_triton. Try: pip install",
    ):
        GpuBackend(task, SETTINGS)


def test_a_machine_without_nvidia_s_compiler_says_so(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of kernels in CUDA."""

    def none() -> Any:
        raise OSError("there is no library nvrtc. Try: install torch")

    monkeypatch.setattr(gpu_backend, "nvrtc", none)
    cuda_task = replace(task, seed=Program({"double.cu": ""}))
    with pytest.raises(TaskError, match=r"evaluates no kernels in cuda: there is no library nvrtc. Try: install torch"):
        GpuBackend(cuda_task, SETTINGS.model_copy(update={"language": "cuda"}))


def test_a_task_without_an_entry_gets_one() -> None:
    """A file of CUDA is no module; the name of the entry is empty then, and so is that of the file."""
    assert place_module("", "gpu_runner")[".py"] == b"from evolve_kernel.gpu_runner import *\n"


def test_a_program_that_is_twice_as_fast_is_told_so(task: Task, cuda: FakeCuda) -> None:
    """By rounds of pairs, like one in C."""
    cuda.kernels = {**cuda.kernels, b"fast": FakeKernel(doubled, (8, 8, 8), 0.5e-3)}
    found = evaluated(task, cuda, "fast")
    assert (found.outcome, found.fitness) == (Outcome.OK, pytest.approx(math.log(2)))
    assert (found.descriptors["registers"], found.descriptors["launches"]) == (32.0, 1.0)
    assert evaluated(task, cuda, "double").fitness == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("binary", "outcome", "tag"),
    [
        ("idle", Outcome.WRONG, ""),
        ("input", Outcome.WRONG, "modified its inputs"),
        ("beyond", Outcome.WRONG, "wrote outside of its arrays"),
        ("library", Outcome.INVALID, ""),
        ("stale", Outcome.WRONG, ""),
    ],
)
def test_what_a_kernel_may_not_do_has_no_score(
    binary: str, outcome: Outcome, tag: str, task: Task, cuda: FakeCuda
) -> None:
    """Like an answer that was kept from an earlier call, which the device remembers."""
    kept: list[Any] = []

    def stale(out: int, given: int, count: int) -> None:
        kept.append(2 * floats(given, count))
        floats(out, count)[:] = next(one for one in kept if len(one) == count)

    cuda.kernels = {**cuda.kernels, b"stale": FakeKernel(stale, (8, 8, 8))}
    found = evaluated(task, cuda, binary)
    assert (found.outcome, found.tag, found.fitness) == (outcome, tag, None)
