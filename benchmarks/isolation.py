"""What it costs to judge a trivial candidate in a process of its own, at the best level of isolation that this machine has.

Beside it, in turns of a tenth of a second, in the same run: level `reduced`, a fresh interpreter, a bare fork of a process that has imported the same, and
bubblewrap where it is installed. What follows itself, as in a campaign, finds the processor's caches warm. `--soak N`
runs N evaluations instead and counts what is left of them. Ends with exit code 1 where what is wanted of level `strict` was
measured at that level and missed, or where something was left."""

import argparse
import contextlib
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from figures import missed, report
from soak import soak

from evolve import task as tasks
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Level, Limits, Program

WANTED = {"numpy_ms": "<= 5", "torch_ms": "<= 13", "two_slots_per_second": ">= 300"}
"""At level `strict`."""
CLEAN = dict.fromkeys(("processes", "files", "mounts", "groups", "descriptors"), "<= 0") | {"memory": "<= 1048576"}
SLOTS, WARM = 2, 20
_ROUNDS = {"numpy": 30, "torch": 10}
_TURN_SECONDS = 0.1
_PROGRAM = Program({"seed.py": "def value():\n    return 42.0\n"})
_TASK = {
    "task.toml": 'schema = 1\nprogram = { files = ["seed.py"], entry = "seed" }\n[sandbox]\npreload = ["numpy"]\n',
    "README.md": "Say a number.\n",
    "seed.py": _PROGRAM.files["seed.py"],
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("value"))
""",
}
_FORKS = """
import gc, os, sys
import MODULE
gc.freeze()
while sys.stdin.buffer.read(1):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    os.write(1, b".")
"""
_BUBBLE = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
Contender = Callable[[], object]


@contextlib.contextmanager
def contenders(module: str, means: Means) -> Iterator[dict[str, Contender]]:
    """The ways to get at a process that has imported a module, by the names of their figures; the first is ours."""
    fresh = [sys.executable, "-I", "-c", f"import {module}"]
    with contextlib.ExitStack() as opened:
        box = opened.enter_context(contextlib.closing(Box(Limits(preload=(module,)), means=means)))
        plain = opened.enter_context(contextlib.closing(Box(Limits(preload=(module,)), means=PLAIN)))
        found: dict[str, Contender] = {
            f"{module}_ms": lambda: _judge(box),
            f"{module}_reduced_ms": lambda: _judge(plain),
            f"{module}_fork_ms": opened.enter_context(_forks(module)),
            f"{module}_fresh_ms": lambda: subprocess.run(fresh, check=True),
        }
        if shutil.which("bwrap"):
            found[f"{module}_bwrap_ms"] = lambda: subprocess.run([*_BUBBLE, *fresh], check=True)
        yield found


@contextlib.contextmanager
def _forks(module: str) -> Iterator[Contender]:
    """A process that forks, and waits for the fork, when it is told to."""
    command = [sys.executable, "-I", "-c", _FORKS.replace("MODULE", module)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asks, hears = process.stdin, process.stdout
        yield lambda: (asks.write(b"."), hears.read(1))


def _judge(box: Box) -> None:
    with box.open(_PROGRAM, "seed", 10.0) as session:
        answer = session.call("value")
    if answer != 42.0:
        raise RuntimeError(f"the candidate answered {answer!r}, not 42")


def milliseconds(module: str, means: Means) -> dict[str, float]:
    """The median of every contender."""
    with contenders(module, means) as ways:
        for _ in range(WARM):
            next(iter(ways.values()))()
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(_ROUNDS[module]):
            for name, way in ways.items():
                times[name] += _turn(way)
    return {name: 1000 * statistics.median(seconds) for name, seconds in times.items()}


def _turn(way: Contender) -> list[float]:
    """How many seconds it takes, again and again for one turn, once at least."""
    seconds: list[float] = []
    while sum(seconds) < _TURN_SECONDS:
        began = time.perf_counter()
        way()
        seconds.append(time.perf_counter() - began)
    return seconds


def per_second(folder: Path, evaluations: int, means: Means) -> float:
    """How many evaluations a second two slots make, from job to report, with numpy preloaded."""
    for name, text in _TASK.items():
        (folder / name).write_text(text)
    with contextlib.closing(LocalExecutor(tasks.load(folder), SLOTS, means=means)) as executor:
        executor.describe()
        _evaluated(executor, SLOTS * WARM)
        began = time.perf_counter()
        _evaluated(executor, evaluations)
        return evaluations / (time.perf_counter() - began)


def _evaluated(executor: LocalExecutor, evaluations: int) -> None:
    jobs = [Job(str(number), "evaluate", files=_PROGRAM.files) for number in range(evaluations)]
    futures = [executor.submit(job.id, encode_job(job)) for job in jobs]
    for future in futures:
        fitness = decode_report(future.result()).evaluation.fitness
        if fitness != 42.0:
            raise RuntimeError(f"the evaluation gave {fitness!r}, not 42")


def speed(evaluations: int, means: Means) -> tuple[dict[str, float], dict[str, str]]:
    """The figures, and what is to be known beside."""
    notes = {"isolation": means.line}
    figures = milliseconds("numpy", means)
    if importlib.util.find_spec("torch"):
        figures |= milliseconds("torch", means)
    else:
        notes["torch"] = "is not installed, and was not measured"
    if not shutil.which("bwrap"):
        notes["bubblewrap"] = "is not installed, and was not measured"
    with tempfile.TemporaryDirectory(prefix="evolve-isolation-") as folder:
        figures["two_slots_per_second"] = per_second(Path(folder), evaluations, means)
    return figures, notes


def left_behind(evaluations: int, means: Means) -> dict[str, float]:
    """What a soak leaves."""
    began = time.perf_counter()
    left = soak(evaluations, means)
    seconds = time.perf_counter() - began
    return {"evaluations": evaluations, "seconds": seconds, **{name: getattr(left, name) for name in CLEAN}}


def main() -> None:
    """Runs the benchmark, prints its figures, and ends with 1 where they are not what they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=2000, help="through two slots")
    parser.add_argument("--soak", type=int, metavar="N", help="count what N evaluations leave behind, and nothing else")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    means = probe().means
    wanted: Mapping[str, str] = CLEAN
    if given.soak:
        figures, notes = left_behind(given.soak, means), {"isolation": means.line}
    else:
        figures, notes = speed(given.evaluations, means)
        wanted = WANTED if means.level is Level.STRICT else {}
    report("isolation", figures, wanted, given.json, notes)
    if missed(figures, wanted):
        sys.exit(1)


if __name__ == "__main__":
    main()
