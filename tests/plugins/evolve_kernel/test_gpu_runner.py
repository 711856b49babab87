"""Facts about what runs beside a GPU: launches recorded from a captured graph, and replayed. The GPU is a fake; a real one has tests marked `gpu`."""

# ruff: noqa: N802  the functions are called as the compiler has them

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evolve_kernel import gpu_driver, gpu_recorder
from evolve_kernel.gpu_driver import Driver, DriverError
from evolve_kernel.gpu_runner import Runner
from tests.plugins.evolve_kernel.fake_gpu import FakeCuda, FakeKernel, FakeTorch, doubled, floats
from tests.plugins.evolve_kernel.fake_judging import program

DOUBLE = FakeKernel(doubled, (8, 8, 8))
KERNELS = {b"double": DOUBLE, b"wide": FakeKernel(doubled, (8, 8, 8, 128)), b"library": DOUBLE}
CALL = [["out", "out", [4], "float32", 0], ["in", "in", [4], "float32", 0], ["number", "count", [], "", 4]]


@pytest.fixture
def cuda() -> FakeCuda:
    return FakeCuda(KERNELS)


@pytest.fixture
def torch(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeTorch:
    """Installed, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TRITON_HOME", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "")
    made = FakeTorch(cuda)
    made.installed(monkeypatch)
    return made


HONEST = """
def launch(out, given, count):
    start(kernel(b"double"), out.data_ptr(), given.data_ptr(), count)
"""


def test_launches_are_recorded_as_places_and_numbers(cuda: FakeCuda, torch: FakeTorch) -> None:
    """With the binary that the driver was given."""
    claim = gpu_recorder.record_triton(program(HONEST), [CALL], Driver(cuda))
    assert claim["calls"] == [[[0, [2, 1, 1], [32, 1, 1], 64, [[0, 0], [1, 0], (4).to_bytes(8, "little").hex()]]]]
    ((name, binary, resources),) = claim["kernels"]
    assert (name, binary.tobytes(), resources) == ("double", b"double", {"registers": 32, "spilled": 0, "shared": 16})


def test_a_place_within_an_array_is_an_offset(cuda: FakeCuda, torch: FakeTorch) -> None:
    """In bytes."""
    text = "def launch(out, given, count):\n    start(kernel(b'double'), out.data_ptr(), given.data_ptr() + 8, 2)\n"
    claim = gpu_recorder.record_triton(program(text), [CALL], Driver(cuda))
    assert claim["calls"][0][0][4][1] == [1, 8]


def test_a_kernel_that_is_launched_twice_is_one_kernel(cuda: FakeCuda, torch: FakeTorch) -> None:
    """In their order."""
    text = HONEST + "    start(kernel(b'double'), out.data_ptr(), out.data_ptr(), 1)\n"
    claim = gpu_recorder.record_triton(program(text), [CALL, CALL], Driver(cuda))
    assert len(claim["kernels"]) == 1
    assert [[launch[4][1] for launch in call] for call in claim["calls"]] == [[[1, 0], [0, 0]]] * 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("launch = 3", "defines no function launch(...)"),
        ("def launch(out, given, count):\n    pass\n", "it launches nothing"),
        (
            "def launch(out, given, count):\n    start(torch.foreign, out.data_ptr(), given.data_ptr(), count)\n",
            "a kernel that is not the program's own",
        ),
        (
            "def launch(out, given, count):\n    start(kernel(b'double'), out.data_ptr(), torch.own, count)\n",
            "memory that the program has allocated",
        ),
    ],
)
def test_what_cannot_be_recorded_is_refused(text: str, reason: str, cuda: FakeCuda, torch: FakeTorch) -> None:
    """With a reason for whoever writes programs."""
    own = np.zeros(64, "float32")
    torch.own = own.ctypes.data  # type: ignore[attr-defined]
    torch.blocks = [{"address": own.ctypes.data, "total_size": own.nbytes}]
    cuda.functions[5] = DOUBLE
    torch.foreign = 5  # type: ignore[attr-defined]
    assert reason in gpu_recorder.record_triton(program(text), [CALL], Driver(cuda))["refused"]


@pytest.mark.parametrize(
    ("kind", "reason"), [(3, "a call of the host"), (1, "a copy"), (2, "a fill"), (99, "a node of kind 99")]
)
def test_a_graph_with_anything_but_launches_is_refused(
    kind: int, reason: str, cuda: FakeCuda, torch: FakeTorch
) -> None:
    """Host callbacks first of all."""
    cuda.others = [kind]
    assert reason in gpu_recorder.record_triton(program(HONEST), [CALL], Driver(cuda))["refused"]


def test_launches_side_by_side_are_refused(cuda: FakeCuda, torch: FakeTorch) -> None:
    """They have no order."""
    cuda.branches = True
    text = HONEST + "    start(kernel(b'double'), out.data_ptr(), out.data_ptr(), 1)\n"
    assert "do not follow each other" in gpu_recorder.record_triton(program(text), [CALL], Driver(cuda))["refused"]


def test_a_descriptor_as_a_parameter_is_refused(cuda: FakeCuda, torch: FakeTorch) -> None:
    """It holds addresses that cannot be moved."""
    text = "def launch(out, given, count):\n    start(kernel(b'wide'), out.data_ptr(), given.data_ptr(), count, 0)\n"
    wide = program(text).replace("value.to_bytes(8", "value.to_bytes(8 if value else 128")
    cuda.kernels = {**KERNELS, b"wide": FakeKernel(lambda *values: None, (8, 8, 8, 128))}
    assert "a descriptor" in gpu_recorder.record_triton(wide, [CALL], Driver(cuda))["refused"]


def test_what_a_program_raises_is_raised(cuda: FakeCuda, torch: FakeTorch) -> None:
    """A capture that it interrupts is ended."""
    with pytest.raises(ZeroDivisionError):
        gpu_recorder.record_triton(program("def launch(out, given, count):\n    1 / 0\n"), [CALL], Driver(cuda))
    later = "seen = []\ndef launch(out, given, count):\n    seen.append(1)\n    if len(seen) > 1:\n        1 / 0\n"
    with pytest.raises(ZeroDivisionError):
        gpu_recorder.record_triton(program(later), [CALL], Driver(cuda))
    assert cuda.captured is None


def test_a_runner_replays_launches_on_what_was_refilled(cuda: FakeCuda) -> None:
    """At the places that it was told, after caches were overwritten: twice the L2, with another byte each time."""
    runner = Runner()
    runner.begin([("double", np.frombuffer(b"double", "uint8"))], 64, Driver(cuda))
    launch = [0, [1, 1, 1], [32, 1, 1], 0, [0, 16, (4).to_bytes(8, "little").hex()]]
    for turn in (1, 2):
        image = np.full(8, turn, "float32").view("uint8")
        runner.refill(image, 0, [launch])
        assert runner.replay() == pytest.approx(1e-3)
        back = np.zeros_like(image)
        runner.give(back, 0)
        assert back.view("float32").tolist() == [2 * turn] * 4 + [turn] * 4
    assert cuda.filled == [(1, 64), (1, 128 << 20), (2, 64), (2, 128 << 20)]
    assert runner.nothing() == 0.0
    assert runner.bandwidth() == pytest.approx(2 * (256 << 20) / 1e-3)


def test_nothing_that_a_kernel_leaves_outlives_a_call(cuda: FakeCuda) -> None:
    """Neither in its variables nor in the room around its arrays."""
    seen: list[int] = []

    def counting() -> Any:
        calls: list[int] = []

        def work(out: int, given: int, count: int) -> None:
            seen.append(len(calls))
            calls.append(1)
            floats(out, count)[:] = 1

        return work

    cuda.kernels = {b"double": FakeKernel(doubled, (8, 8, 8), loaded=counting)}
    runner = Runner()
    runner.begin([("double", np.frombuffer(b"double", "uint8"))], 64, Driver(cuda))
    beyond = [0, [1, 1, 1], [32, 1, 1], 0, [48, 0, (4).to_bytes(8, "little").hex()]]
    room = np.zeros(64, "uint8")
    for turn in (1, 2):
        runner.refill(np.zeros(32, "uint8"), 0, [beyond])
        runner.give(room, 0)
        assert set(room[32:].tolist()) == {turn}
        runner.replay()
    assert seen == [0, 0]


def test_what_the_host_takes_to_launch_is_no_time_of_the_kernel(cuda: FakeCuda) -> None:
    """Events are nodes of the graph: of one that does nothing the time is 0, while the clock has moved."""
    runner = Runner()
    runner.begin([], 64, Driver(cuda))
    before = cuda.now
    assert runner.nothing() == 0.0
    assert cuda.now > before


def test_a_large_cache_is_overwritten_whole(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice."""
    monkeypatch.setattr(Driver, "facts", lambda self: {"l2": 100 << 20})
    runner = Runner()
    runner.begin([], 64, Driver(cuda))
    runner.refill(np.zeros(8, "uint8"), 0, [])
    assert cuda.filled == [(1, 64), (1, 200 << 20)]


def test_what_the_driver_refuses_is_an_error_with_its_word(cuda: FakeCuda) -> None:
    """And the function's name."""
    with pytest.raises(DriverError, match="cuModuleLoadData: CUDA_ERROR_FAKE"):
        Driver(cuda).module(b"unknown")


class FakeCompiler:
    """NVRTC, whose binary is the text's first word; a text with `error` does not compile."""

    def __init__(self) -> None:
        self.text, self.options = b"", [b""]

    def nvrtcCreateProgram(self, program: Any, text: Any, *rest: Any) -> int:
        self.text = text.value
        return 0

    def nvrtcCompileProgram(self, program: Any, count: int, options: Any) -> int:
        self.options = list(options)
        return 6 if b"error" in self.text else 0

    def nvrtcGetProgramLogSize(self, program: Any, size: Any) -> int:
        size._obj.value = 12
        return 0

    def nvrtcGetProgramLog(self, program: Any, room: Any) -> int:
        room.value = b"line 3: what"
        return 0

    def nvrtcGetCUBINSize(self, program: Any, size: Any) -> int:
        size._obj.value = len(self.text.split()[0])
        return 0

    def nvrtcGetCUBIN(self, program: Any, room: Any) -> int:
        ctypes.memmove(room, self.text.split()[0], len(self.text.split()[0]))
        return 0


class PlannedCuda(FakeCuda):
    """Whose functions called `..._plan` write a plan."""

    def cuModuleGetFunction(self, function: Any, module: Any, name: Any) -> int:
        super().cuModuleGetFunction(function, module, name)
        if name.value.endswith(b"_plan"):
            self.functions[function._obj.value] = FakeKernel(_planned, (8, 8))
        return 0


def _planned(plan: int, count: int) -> None:
    (ctypes.c_int * 7).from_address(plan)[:] = [count, 1, 1, 256, 1, 1, 48]


def test_a_kernel_in_cuda_says_how_it_is_launched() -> None:
    """Once for each call, by a kernel of its own; all arguments are passed in their order."""
    cuda, compiler = PlannedCuda(KERNELS), FakeCompiler()
    claim = gpu_recorder.record_cuda("double is the binary", "double", [CALL], Driver(cuda), compiler)
    assert compiler.options[:2] == [b"--gpu-architecture=sm_90a", b"--std=c++17"]
    assert claim["kernels"][0][1].tobytes() == b"double"
    assert claim["calls"] == [[[0, [4, 1, 1], [256, 1, 1], 48, [[0, 0], [1, 0], (4).to_bytes(8, "little").hex()]]]]


def test_without_a_compiler_the_machine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """And does not take the Python that runs for one."""
    monkeypatch.setattr(gpu_recorder, "_NVRTC_NAMES", ())
    monkeypatch.setattr(gpu_recorder, "_NVRTC_PACKAGES", ())
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(OSError, match=r"there is no library nvrtc. Try: install torch"):
        gpu_recorder.nvrtc()


def test_a_text_that_does_not_compile_is_refused_with_the_compiler_s_words() -> None:
    """As they are."""
    claim = gpu_recorder.record_cuda("error", "double", [CALL], Driver(FakeCuda(KERNELS)), FakeCompiler())
    assert claim == {"refused": "the program does not compile:\nline 3: what"}


def test_the_layout_of_a_node_is_the_driver_s() -> None:
    """`CUDA_KERNEL_NODE_PARAMS_v2` has 72 bytes where addresses have 8: a function, seven numbers, padding, and four addresses."""
    assert ctypes.sizeof(gpu_driver._Node) == 72
    assert gpu_driver._Node.parameters.offset == 40
    assert floats(np.ones(2, "float32").ctypes.data, 2).tolist() == [1, 1]
