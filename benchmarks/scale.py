"""What a log of 100,000 records costs: replay, memory, disk, and whether a step is as cheap then as it is with 1,000.

Records are settled through the campaign's own fold and log, without workers: programs of 6 kB, two events a record."""

import argparse
import json as json_module
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from figures import report

from evolve import novelty, plugins
from evolve import task as tasks
from evolve.campaign import Campaign, stream
from evolve.config import settings_from
from evolve.types import Asked, Evaluation, Origin, Program, Propose, Record, Settled

EARLY, WINDOW = 1000, 1000
PARTS = ("ask", "insert", "append")
WANTED = {"replay_seconds": "<= 10", "resident_mb": "<= 600", "cost_ratio": "<= 1.5"}
_SEED = "def f(x):\n    return x\n" + "\n".join(f"# {number:04d} {'evolution ' * 9}" for number in range(58)) + "\n"
_FILES = {
    "task.toml": 'schema = 1\nevaluator = "evaluator.py"\nprogram = { files = ["seed.py"], entry = "seed" }\ndeterministic = true\n',
    "seed.py": _SEED,
    "evaluator.py": "",
    "README.md": "No candidate of this task is ever evaluated.\n",
}
T = TypeVar("T")


class Filler:
    """Settles records in a campaign one by one, and keeps the seconds of the three parts of a step that could grow."""

    def __init__(self, campaign: Campaign) -> None:
        self.seconds: dict[str, list[float]] = {name: [] for name in PARTS}
        self._campaign = campaign
        self._rng = np.random.default_rng(0)
        self._axes = dict(novelty.describe(campaign.task.seed, novelty.minhash(campaign.task.seed)))
        self._settle(Origin("seed", step=0), campaign.task.seed)

    def step(self) -> None:
        """One proposal of the strategy, with a program of its own."""
        campaign, number = self._campaign, len(self._campaign.state.history)
        rng = stream(0, number, "ask")
        action = self._timed("ask", lambda: campaign.strategy.ask(campaign.view(0.5), rng))
        assert isinstance(action, Propose), action
        with campaign.log.transaction():
            campaign.write(Asked(number, action, after=number))
        drawn = action.selection
        origin = Origin("proposal", number, island=drawn.island, operator=drawn.operator, parents=drawn.parents)
        self._settle(origin, Program({"seed.py": f"{_SEED}# {number}\n"}))

    def _settle(self, origin: Origin, program: Program) -> None:
        number = len(self._campaign.state.history) + 1
        fitness = float(self._rng.normal() + number**0.2)
        place = {name: value + float(self._rng.normal()) * 0.3 for name, value in self._axes.items()}
        evaluation = Evaluation.ok(fitness, descriptors=place, metrics={"a": fitness, "b": -fitness})
        record = Record(number, origin, program.id, evaluation)
        event = self._timed("insert", lambda: self._campaign.state.settle(record))
        self._timed("append", lambda: self._append(event, program))

    def _append(self, event: Settled, program: Program) -> None:
        with self._campaign.log.transaction():
            self._campaign.log.put_program(program, program.id[:32])
            self._campaign.append(event)

    def _timed(self, part: str, call: Callable[[], T]) -> T:
        begun = time.perf_counter()
        value = call()
        self.seconds[part].append(time.perf_counter() - begun)
        return value


def compared(old: Filler, young: Filler) -> dict[str, float]:
    """The last steps of a large campaign in turn with those of a small one, so that both meet the same machine; medians."""
    for _ in range(WINDOW):
        old.step()
        young.step()
    last = {name: statistics.median(old.seconds[name][-WINDOW:]) for name in PARTS}
    first = {name: statistics.median(young.seconds[name][-WINDOW:]) for name in PARTS}
    ratios = {f"cost_ratio_{name}": last[name] / first[name] for name in PARTS}
    return {"cost_ratio": max(ratios.values()), **ratios, **{f"{name}_us": last[name] * 1e6 for name in PARTS}}


def replayed(path: Path) -> dict[str, float]:
    """Replays a log in this process: seconds, and the most memory that the process has held."""
    begun, cpu = time.perf_counter(), time.process_time()
    with Campaign.open(str(path), plugins.load(), path.parent) as campaign:
        seconds = time.perf_counter() - begun
        assert campaign.state.difference is None, campaign.state.difference
        records = len(campaign.state.history)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "replay_seconds": seconds,
        "replay_cpu_seconds": time.process_time() - cpu,
        "resident_mb": peak / 1024,
        "replayed_records": records,
    }


def measure(folder: Path, records: int) -> dict[str, float]:
    """All figures, of two logs that are made in `folder`: one of `records` records, one of about a thousand."""
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    settings = settings_from({"task": str(folder), "budget": ["1000000programs"]})
    task, loaded = tasks.load(folder), plugins.load()
    with (
        Campaign.create(settings, task, loaded, folder, "large") as large,
        Campaign.create(settings, task, loaded, folder, "small") as small,
    ):
        old, young = Filler(large), Filler(small)
        for _ in range(records - WINDOW - 1):
            old.step()
        for _ in range(EARLY - WINDOW // 2):
            young.step()
        costs = compared(old, young)
        path = large.log.path
    answer = subprocess.run(
        [sys.executable, __file__, "--replay", str(path)], check=True, capture_output=True, text=True
    )
    return {**json_module.loads(answer.stdout), **costs, "disk_bytes_per_record": path.stat().st_size / records}


def main() -> None:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--replay", type=Path, metavar="LOG", help="only replay this log, and print its figures as JSON"
    )
    given = parser.parse_args()
    if given.replay:
        print(json_module.dumps(replayed(given.replay)))
        return
    with tempfile.TemporaryDirectory(prefix="evolve-scale-") as folder:
        report("scale", measure(Path(folder), given.records), WANTED, given.json)


if __name__ == "__main__":
    main()
