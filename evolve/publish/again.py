"""An export on the bench: what of it is judged again, and by whom.

Invariant: no result is taken from anywhere else, and what a judge is handed comes from the export alone."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from evolve.evaluation import Description, Job, Report, decode_report, encode_job
from evolve.measuring import Submits
from evolve.publish.claims import Claims, Judging
from evolve.publish.contents import Contents
from evolve.types import Carried, Case, Parameters, Program, Split, Task, TextId, Trial

_BRIEF = 300


def _drawn() -> int:
    """A random seed that nobody can have prepared for."""
    return secrets.randbelow(1 << 31)


@dataclass(frozen=True, slots=True)
class Judges:
    """Who judges again: on this machine, in the usual isolation."""

    executor: Submits
    description: Description


@dataclass(frozen=True, slots=True)
class Again:
    """One export to judge again; `contents` are its files, `program` what they hold, `task` theirs. `draw` gives the random seed of one more judging."""

    claims: Claims
    contents: Contents
    program: Program
    task: Task
    judges: Judges
    draw: Callable[[], int] = field(default=_drawn)

    @property
    def elsewhere(self) -> str:
        """How the machine is another than where it was found; empty where nothing is known to be."""
        first, here = self.claims.first, self.judges.description
        if first is None or first.hardware == here.hardware:
            return ""
        return f"this is another machine ({here.hardware}; it was found on {first.hardware or 'an unknown one'})"

    @property
    def otherwise(self) -> str:
        """The same, or how the libraries are others."""
        first, now = self.claims.first, self.judges.description.environment
        then = first.environment.partition(";")[0] if first else ""
        return self.elsewhere or ("" if now == then else f"the environment is another ({now}; it was {then})")

    @property
    def untimable(self) -> bool:
        """Whether seconds decide the fitness, and those of this machine are others."""
        return self.claims.task.timed and bool(self.elsewhere)

    def search_trial(self, first: Judging, seed: int, *, carried: bool = True) -> Trial:
        """What the program was told in the search, with another random seed; and what its parent had left for it, unless not `carried`."""
        kept = first.carried.items() if carried else ()
        left = Carried({name: json.loads(self.text(path)) for name, path in kept})
        split: Split = "search" if self.task.deterministic else "confirm"
        parameters = Parameters(self.task.parameters)
        return Trial(seed, split=split, parameters=parameters, carried=left, secret=self.claims.secret)

    def case_trial(self, case: Case, seed: int) -> Trial:
        """What the program was told on a held-out case."""
        parameters = Parameters(case.parameters)
        return Trial(seed, split="held_out", parameters=parameters, secret=self.claims.secret)

    def judged(self, trial: Trial, *, on_case: bool = False, program: Program | None = None) -> Report:
        """The program, or another one, judged; on a case without thresholds, as in a campaign."""
        job = Job("again", "evaluate", trial, files=(program or self.program).files, ungated=on_case)
        return decode_report(self.judges.executor.submit(job.id, encode_job(job)).result())

    def certified(self, artifacts: Mapping[str, str]) -> Report:
        """The exact value of what artifacts, which are JSON, hold."""
        trial = Trial(stage="certify", parameters=Parameters(self.task.parameters))
        job = Job("certify", "certify", trial, artifacts=artifacts)
        return decode_report(self.judges.executor.submit(job.id, encode_job(job)).result())

    def shown(self, report: Report) -> float | None:
        """The fitness of a report in the task's own direction; None for a failure."""
        fitness = report.evaluation.fitness
        return None if fitness is None else self.task.fitness.shown(fitness)

    def text(self, path: str) -> str:
        """A file of the export."""
        return self.contents[path].decode("utf-8", "surrogatepass")


def texts_of(report: Report) -> dict[str, str]:
    """The artifacts of a report as JSON, by their names."""
    return {name: report.texts[TextId(text)] for name, text in report.evaluation.artifacts.items()}


def feedback(report: Report) -> str:
    """The first line of why a judging failed."""
    text = report.texts.get(TextId(report.evaluation.feedback), "")
    return next(iter(text.strip().splitlines()), "")[:_BRIEF]
