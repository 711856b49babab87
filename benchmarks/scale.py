"""What a log of 100,000 records costs: replay, memory, disk, and whether a step is as cheap at the end as at the beginning.

Records are settled through the campaign's own fold and log, without judges: programs of 6 kB, two events a record."""

import argparse
import json as json_module
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from figures import report

from evolve import novelty, plugins
from evolve import task as tasks
from evolve.campaign import Campaign, stream
from evolve.config import settings_from
from evolve.types import Asked, Evaluation, Origin, Program, Propose, Record

EARLY, WINDOW = 1000, 1000
WANTED = {"replay_seconds": "<= 10", "resident_mb": "<= 600", "cost_ratio": "<= 1.5"}
_SEED = "def f(x):\n    return x\n" + "\n".join(f"# {number:04d} {'evolution ' * 9}" for number in range(58)) + "\n"
_FILES = {
    "task.toml": 'schema = 1\nevaluator = "evaluator.py"\nprogram = { files = ["seed.py"], entry = "seed" }\ndeterministic = true\n',
    "seed.py": _SEED,
    "evaluator.py": "",
    "README.md": "No candidate of this task is ever judged.\n",
}
T = TypeVar("T")


class Timed:
    """Seconds of each call, by what was called."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def __call__(self, name: str, call: Callable[[], T]) -> T:
        begun = time.perf_counter()
        value = call()
        self.seconds.setdefault(name, []).append(time.perf_counter() - begun)
        return value

    def ratio(self, name: str) -> float:
        """The median of the last calls over the median around the thousandth."""
        seconds = self.seconds[name]
        early = seconds[EARLY - WINDOW // 2 : EARLY + WINDOW // 2]
        return statistics.median(seconds[-WINDOW:]) / statistics.median(early)


def settled(campaign: Campaign, records: int) -> Timed:
    """Fills a campaign with records, and times the three parts of a step that could grow."""
    timed, rng = Timed(), np.random.default_rng(0)
    sketch = novelty.minhash(campaign.task.seed)
    descriptors = dict(novelty.describe(campaign.task.seed, sketch))
    for origin, program in _origins(campaign, records, timed):
        fitness = float(rng.normal() + len(campaign.state.history) ** 0.2)
        spread = {name: value + float(rng.normal()) * 0.3 for name, value in descriptors.items()}
        evaluation = Evaluation.ok(fitness, descriptors=spread, metrics={"a": fitness, "b": -fitness})
        record = Record(len(campaign.state.history) + 1, origin, program.id, evaluation)
        event = timed("insert", lambda record=record: campaign.state.settle(record))

        def append(event: object = event, program: Program = program) -> None:
            with campaign.log.transaction():
                campaign.log.put_program(program, program.id[:32])
                campaign.record(event)

        timed("append", append)
    return timed


def _origins(campaign: Campaign, records: int, timed: Timed) -> Iterator[tuple[Origin, Program]]:
    """The seed, then what the strategy asks for, each with a program of its own."""
    yield Origin("seed", step=0), campaign.task.seed
    for step in range(1, records):
        rng = stream(0, step, "ask")
        action = timed("ask", lambda rng=rng: campaign.strategy.ask(campaign.view(0.5), rng))
        assert isinstance(action, Propose), action
        with campaign.log.transaction():
            campaign.write(Asked(step, action, after=len(campaign.state.history)))
        selection = action.selection
        origin = Origin(
            "proposal", step, island=selection.island, operator=selection.operator, parents=selection.parents
        )
        yield origin, Program({"seed.py": f"{_SEED}# {step}\n"})


def replayed(path: Path) -> dict[str, float]:
    """Replays a log in this process: seconds, and the most memory that the process has held."""
    begun = time.perf_counter()
    with Campaign.open(str(path), plugins.load(), path.parent) as campaign:
        seconds = time.perf_counter() - begun
        assert campaign.state.difference is None, campaign.state.difference
        records = len(campaign.state.history)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"replay_seconds": seconds, "resident_mb": peak / 1024, "replayed_records": records}


def measure(folder: Path, records: int) -> dict[str, float]:
    """All figures, of a log that is made in `folder`."""
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    settings = settings_from({"task": str(folder), "budget": ["1000000programs"]})
    with Campaign.create(settings, tasks.load(folder), plugins.load(), folder, "scale") as campaign:
        timed = settled(campaign, records)
        path = campaign.log.path
    ratios = {f"cost_ratio_{name}": timed.ratio(name) for name in ("ask", "insert", "append")}
    answer = subprocess.run(
        [sys.executable, __file__, "--replay", str(path)], check=True, capture_output=True, text=True
    )
    medians = {
        f"{name}_us": statistics.median(timed.seconds[name][-WINDOW:]) * 1e6 for name in ("ask", "insert", "append")
    }
    return {
        **json_module.loads(answer.stdout),
        "cost_ratio": max(ratios.values()),
        **ratios,
        **medians,
        "disk_bytes_per_record": path.stat().st_size / records,
    }


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
