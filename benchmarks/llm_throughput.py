"""How many programs a second a model's replies become, from prompt to settled record, and how close the engine comes to what the model gives.

`evolve run` as a user has it, with the operator `diff` alone, on a program of 6 kB, against a stub on the loopback: without latency, and with a
latency of 500 ms and many calls at once, where the ideal rate is concurrency / latency. Times are those of the log. Memory is that of the
engine and of all that it starts, shared pages divided by those who share them, at its peak; the stub does not count."""

import argparse
import contextlib
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from figures import report
from stub_model import FIRST

from evolve.sandbox.processes import descendants

LATENCY = 0.5
LOOK_SECONDS = 0.5
WANTED = {
    "programs_per_second": ">= 120",
    "last_over_first": ">= 0.9",
    "pss_mb": "<= 250",
    "ideal_share_32": ">= 0.95",
    "ideal_share_64": ">= 0.85",
    "pss_mb_32": "<= 300",
    "pss_mb_64": "<= 300",
}
_TASK = """\
schema = 1
brief = "README.md"
evaluator = "evaluator.py"
program = { files = ["seed.py"], entry = "seed" }
deterministic = true
"""
_EVALUATOR = """\
from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("value"))
"""
_PSS = re.compile(rb"^Pss:\s+(\d+) kB$", re.MULTILINE)


def _seed() -> str:
    """A program of 6 kB: the line that is edited, a fitness that looks like chance, and functions that make it as long as it is."""
    helpers = "".join(
        f"def helper_{number:02d}(values, scale={number}):\n"
        f'    """Weighs the values by their place and by {number}."""\n'
        f"    total = 0.0\n    for place, value in enumerate(values):\n"
        f"        total += value * (place + scale) / {number + 3}\n    return total\n\n\n"
        for number in range(28)
    )
    value = "def value():\n    return (STEP * 2654435761 % 4294967296) / 4294967296\n"
    return f"# EVOLVE-BLOCK-START\nSTEP = {FIRST}\n\n\n{helpers}{value}# EVOLVE-BLOCK-END\n"


@dataclass(frozen=True, slots=True)
class Ran:
    """One campaign: when each of its evaluated proposals settled, how many were not evaluated, and the peak of its memory in MB."""

    times: Sequence[float]
    screened: int
    pss_mb: float

    def rate(self, skipped: int) -> float:
        """Programs a second without the first and the last so many."""
        steady = self.times[skipped : len(self.times) - skipped]
        return (len(steady) - 1) / (steady[-1] - steady[0])

    @property
    def last_over_first(self) -> float:
        """The rate of the last tenth by that of the first."""
        tenth = len(self.times) // 10
        return (self.times[tenth] - self.times[0]) / (self.times[-1] - self.times[-1 - tenth])


def run(folder: Path, programs: int, concurrency: int, latency: float, words: Sequence[str]) -> Ran:
    """A campaign of so many programs; raises `RuntimeError` where it fails."""
    task, name = folder / "task", f"run-{time.time_ns()}"
    with _stub(latency) as port:
        address = f"http://127.0.0.1:{port}/v1"
        member = f'{{name="stub", concurrency={concurrency}, settings={{model="stub", base_url="{address}"}}}}'
        command = [
            sys.executable,
            "-m",
            "evolve",
            "run",
            str(task),
            "--name",
            name,
            "--set",
            f"models.members=[{member}]",
        ]
        command += ["--set", 'operators.names=["diff"]', "--budget", f"{programs}programs", *words]
        environment = {**os.environ, "EVOLVE_HOME": str(folder), "EVOLVE_DEBUG": "attach"}
        with (folder / "output").open("w+b") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
            peak = _peak(process)
            output.seek(0)
            if process.returncode != 0:
                raise RuntimeError(f"the campaign ended with {process.returncode}: {output.read()[-2000:].decode()}")
    return Ran(*_settled(folder / "archive" / "campaigns" / f"{name}.db"), peak)


@contextlib.contextmanager
def _stub(latency: float) -> Iterator[int]:
    """The port of a stub that runs meanwhile."""
    command = [sys.executable, str(Path(__file__).with_name("stub_model.py")), "--latency", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.stdin.close()


def _peak(process: "subprocess.Popen[bytes]") -> float:
    """Waits for the end of a process; the most memory that it and its descendants had, in MB."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_pss(pid) for pid in [process.pid, *descendants(process.pid)]))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_SECONDS)
    return peak / 1000


def _pss(pid: int) -> int:
    """In kB; 0 for a process that has ended."""
    try:
        found = _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_bytes())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def _settled(log: Path) -> tuple[list[float], int]:
    """When each evaluated proposal settled, and how many were not evaluated."""
    with contextlib.closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT at, outcome FROM records WHERE kind = 'proposal' ORDER BY event").fetchall()
    times = [at for at, outcome in rows if outcome != "SCREENED"]
    return times, len(rows) - len(times)


def measure(folder: Path, programs: int, words: Sequence[str]) -> dict[str, float]:
    """All figures; `folder` becomes a workspace."""
    task = folder / "task"
    task.mkdir()
    (folder / "archive").mkdir()
    files = {
        "task.toml": _TASK,
        "seed.py": _seed(),
        "evaluator.py": _EVALUATOR,
        "README.md": "Find a step whose value is high.\n",
    }
    for name, text in files.items():
        (task / name).write_text(text)
    quick = run(folder, programs, 16, 0.0, words)
    figures = {
        "programs_per_second": quick.rate(0),
        "last_over_first": quick.last_over_first,
        "pss_mb": quick.pss_mb,
        "programs": len(quick.times),
        "screened": quick.screened,
    }
    for concurrency in (32, 64):
        ideal = concurrency / LATENCY
        slow = run(folder, int(20 * ideal), concurrency, LATENCY, words)
        figures[f"ideal_share_{concurrency}"] = slow.rate(3 * concurrency) / ideal
        figures[f"pss_mb_{concurrency}"] = slow.pss_mb
    return figures


def main() -> None:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=5_000)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the campaigns")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    words = [word for setting in given.set for word in ("--set", setting)]
    with tempfile.TemporaryDirectory(prefix="evolve-llm-") as folder:
        report("llm_throughput", measure(Path(folder), given.programs, words), WANTED, given.json)


if __name__ == "__main__":
    main()
