"""The real `vllm serve` on a real GPU, with a tiny model whose weights are random."""

import os
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evolve import plugins
from evolve.types import Message, Prompt, Section

pytestmark = [pytest.mark.gpu, pytest.mark.slow]
MAKE_MODEL = Path(__file__).parents[2] / "server" / "make_tiny_model.py"
START_SECONDS = 400.0
_ARGS = ("--load-format", "dummy", "--max-model-len", "2048", "--enforce-eager", "--gpu-memory-utilization", "0.2")


@pytest.fixture
def tiny_model(tmp_path: Path) -> str:
    """The folder of a model, made by the environment of vLLM, which has transformers."""
    program = shutil.which("vllm")
    if program is None:
        pytest.skip("there is no program vllm: pip install vllm")
    if not list(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("there is no GPU of NVIDIA's")
    folder = tmp_path / "tiny"
    python = Path(program).resolve().with_name("python")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    subprocess.run([python, MAKE_MODEL, folder], check=True, env=environment, timeout=START_SECONDS)
    return str(folder)


def test_a_server_starts_answers_and_ends(tiny_model, tmp_path):
    """Calls with exact usage, many at once; and nothing is left that holds the GPU."""
    settings = {"model": tiny_model, "args": _ARGS, "start_seconds": START_SECONDS}
    model = plugins.load([]).model("vllm", settings)
    prompt = Prompt((Message("user", (Section("task", "def area(radius):"),)),), max_tokens=16)
    try:
        model.check(time.monotonic() + START_SECONDS, threading.Event())

        def call(number: int) -> int:
            replies = model.complete(
                prompt, samples=[number], deadline=time.monotonic() + 60, cancelled=threading.Event()
            )
            assert replies[0].usage.exact
            return replies[0].usage.completion_tokens

        with ThreadPoolExecutor(16) as pool:
            assert all(0 < tokens <= 16 for tokens in pool.map(call, range(64)))
    finally:
        model.close()
    assert [line for line in Path("/proc").glob("[0-9]*/cmdline") if tiny_model.encode() in _words(line)] == []


def _words(path: Path) -> bytes:
    """The command line of a process; empty for one that has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
