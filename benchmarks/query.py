"""What questions to a campaign of 100,000 records cost once it is open: every report that a page or a command asks for.

The log is written through the campaign's own fold, without workers: six operators, two models, a tenth screened, a fifth failed. Times are processor
time, the least of three; a question that is asked again finds what memory kept of it, as in a server."""

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from figures import report as told

from evolve import plugins, report
from evolve.campaign import Campaign
from evolve.config import settings_from
from evolve.types import (
    Asked,
    Axis,
    Call,
    Evaluation,
    EvaluatorSource,
    MachineMeasured,
    Origin,
    Outcome,
    Program,
    ProgramId,
    Propose,
    Record,
    Replied,
    Selection,
    Task,
)

MOST_MS = 100
AT_ONCE = 500
"""Records of one transaction."""
_MODELS = {"diff": "alpha", "rewrite": "beta", "crossover": "alpha"}
_OPERATORS = ("tune_literals", "mutate_ast", "perturb_literals", *_MODELS)
_FAILED = (Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.WRONG)
_LINES = [f"    # {number:04d} {'evolution ' * 9}" for number in range(58)]


def _program(number: int) -> Program:
    lines = [*_LINES]
    lines[number % len(lines)] = f"    # step {number} {'evolution ' * 9}"
    return Program({"seed.py": "\n".join(["def f(x):", *lines, "    return x", ""])})


def _task() -> Task:
    axes = (Axis("size", -6, 20, 40), Axis("depth", -6, 20, 40))
    source = EvaluatorSource("evaluator.py")
    return Task("number", "/nowhere", "0" * 64, "", _program(0), "seed", source, deterministic=True, axes=axes)


class Filler:
    """Settles records in a campaign, half of them with a call of a model."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._rng = np.random.default_rng(0)
        self._good: list[int] = []
        with campaign.log.transaction():
            campaign.write(MachineMeasured("one core", 0.0, "reduced"))
            self._settle(Origin("seed", 0), campaign.task.seed, self._success(0.0))

    def fill(self, records: int) -> None:
        """Until there are so many."""
        while (done := len(self._campaign.state.history)) < records:
            with self._campaign.log.transaction():
                for _ in range(min(AT_ONCE, records - done)):
                    self._propose()

    def _propose(self) -> None:
        number, rng = len(self._campaign.state.history) + 1, self._rng
        operator, chance = _OPERATORS[int(rng.integers(len(_OPERATORS)))], rng.random()
        back = min(int(rng.geometric(0.002)), len(self._good))
        origin = Origin(
            "proposal",
            number,
            operator=operator,
            model=_MODELS.get(operator, ""),
            parents=(self._good[-back],),
            island=int(rng.integers(4)),
        )
        self._ask(origin)
        if chance < 0.1:
            self._settle(origin, None, self._failure(Outcome.SCREENED, f"duplicate of record {number // 2}"))
        elif chance < 0.3:
            outcome = _FAILED[int(rng.integers(len(_FAILED)))]
            said = f"circle {number} overlaps {number % 7} by {rng.random():.5f}\nTraceback"
            self._settle(origin, _program(number), self._failure(outcome, said))
        else:
            self._settle(origin, _program(number), self._success(float(rng.normal() + number**0.2)))

    def _ask(self, origin: Origin) -> None:
        selection = Selection(origin.operator, origin.island, origin.parents)
        self._campaign.write(Asked(origin.step, Propose(selection), origin.step - 1))
        if origin.model:
            call = Call(
                origin.model, request=f"{origin.step:032x}", prompt_tokens=1000, completion_tokens=300, cost=0.001
            )
            self._campaign.write(Replied(origin.step, 0, call))

    def _success(self, fitness: float) -> Evaluation:
        place = {"size": fitness, "depth": float(self._rng.normal() * 4 + 5)}
        return Evaluation.ok(fitness, descriptors=place, metrics={"a": fitness})

    def _failure(self, outcome: Outcome, said: str) -> Evaluation:
        return Evaluation.failed(outcome, self._campaign.log.put_text(said))

    def _settle(self, origin: Origin, program: Program | None, evaluation: Evaluation) -> None:
        number = len(self._campaign.state.history) + 1
        name: ProgramId | None = None
        if program is not None:
            name = program.id
            self._campaign.log.put_program(program, name[:32])
        self._campaign.append(self._campaign.state.settle(Record(number, origin, name, evaluation)))
        if evaluation.fitness is not None:
            self._good.append(number)


def questions(campaign: Campaign) -> Mapping[str, Callable[[], object]]:
    """By name what pages and commands ask."""
    best = campaign.state.archive.best
    assert best is not None, "the seed is one"
    wanted = report.Wanted
    return {
        "follow": campaign.follow,
        "overview": lambda: report.overview(campaign),
        "curve": lambda: report.curve(campaign),
        "page": lambda: report.page(campaign, wanted()),
        "page_filtered": lambda: report.page(
            campaign, wanted(operator="diff", outcome="ok", island=1, sort="seconds"), 100
        ),
        "page_by_children": lambda: report.page(campaign, wanted(sort="children")),
        "page_by_text": lambda: report.page(campaign, wanted(text="evolution")),
        "elites": lambda: report.elites(campaign, 20),
        "record": lambda: report.whole(campaign, best.record),
        "children": lambda: report.children(campaign, best.record, 20),
        "failures": lambda: report.failures(campaign),
        "costs": lambda: report.costs(campaign),
        "lineage": lambda: report.lineage(campaign, best.record),
        "blame": lambda: report.blame(campaign, best.record),
    }


def took(question: Callable[[], object]) -> float:
    """Milliseconds of processor time, the least of three."""
    found = []
    for _ in range(3):
        begun = time.process_time()
        question()
        found.append(time.process_time() - begun)
    return 1000 * min(found)


def measure(folder: Path, records: int) -> dict[str, float]:
    """All figures, of a log that is made in `folder`."""
    loaded = plugins.load()
    settings = settings_from({"task": "number", "budget": ["1000000programs"]})
    with Campaign.create(settings, _task(), loaded, folder, "large") as campaign:
        Filler(campaign).fill(records)
    with Campaign.open("large", loaded, folder) as campaign:
        steps = len(report.lineage(campaign, campaign.state.archive.best.record)) if campaign.state.archive.best else 0
        times = {f"{name}_ms": took(question) for name, question in questions(campaign).items()}
        begun = time.process_time()
        report.columnar(campaign)
        return {**times, "all_columns_seconds": time.process_time() - begun, "lineage_steps": steps}


def main() -> None:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evolve-query-") as folder:
        figures = measure(Path(folder), given.records)
    told("query", figures, {name: f"<= {MOST_MS}" for name in figures if name.endswith("_ms")}, given.json)


if __name__ == "__main__":
    main()
