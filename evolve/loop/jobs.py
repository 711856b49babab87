"""What is handed to the judge: the seed, a draft, or a measurement, as a job with its trial.

Invariant: a job is a function of its step's `Asked` and of the log, so that a step that runs again hands over the same."""

from dataclasses import dataclass, replace

from evolve.campaign import Campaign, stream
from evolve.judge import Job, encode_job
from evolve.loop.proposing import Draft
from evolve.types import Asked, Measure, Origin, Parameters, Program, Propose, Split, Trial, canonical, digest
from evolve.types.codec import encode


@dataclass(frozen=True, slots=True)
class Work:
    """A judging: where it comes from, what is judged, and the cache's key for it."""

    origin: Origin
    program: Program
    job: Job
    draft: Draft | None = None
    key: str = ""

    def encoded(self) -> bytes:
        """The job as bytes for the executor."""
        return encode_job(self.job)


class Jobs:
    """Makes the jobs of one campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self._state = campaign.state
        self._task = campaign.task
        self._seed = campaign.settings.seed

    def seed(self) -> Work:
        """The judging of the task's seed program, before anything else."""
        return self._work(Origin("seed", step=0), self._task.seed, "seed")

    def measurement(self, asked: Asked, measure: Measure) -> Work:
        """The judging that a `Measure` asks for: the program again, or a function of its artifacts."""
        origin = Origin("measurement", asked.step, about=measure.about, why=measure.why)
        program = self._state.reader.program(measure.program)
        if measure.stage != "certify":
            return self._work(origin, program, "measure", stage=measure.stage)
        about = self._state.reader.settled(measure.about).record
        artifacts = {name: self._state.reader.text(text) for name, text in about.evaluation.artifacts.items()}
        trial = Trial(stage="certify", parameters=Parameters(self._task.parameters))
        return Work(origin, program, Job(f"{asked.step}.0", "certify", trial, artifacts=artifacts))

    def proposal(self, origin: Origin, draft: Draft) -> Work:
        """The judging of a draft."""
        assert draft.child.program is not None, "a draft without a program is refused"
        return replace(self._work(origin, draft.child.program, "trial"), draft=draft)

    def _work(self, origin: Origin, program: Program, purpose: str, stage: str = "") -> Work:
        """Judging the whole cascade, or one stage of it. A deterministic task is always told the same seed."""
        seed = 0
        if not self._task.deterministic:
            seed = origin.index + int(stream(self._seed, origin.step, purpose).integers(1 << 31))
        split: Split = "confirm" if origin.kind == "measurement" else "search"
        trial = Trial(seed, split=split, parameters=Parameters(self._task.parameters))
        job = Job(f"{origin.step}.{origin.index}", "evaluate", trial, files=program.files, stage=stage)
        key = digest(canonical([self._task.version, program.id, encode(trial)])) if origin.kind != "measurement" else ""
        return Work(origin, program, job, key=key)


def proposal_origin(asked: Asked, draft: Draft) -> Origin:
    """Where a draft comes from."""
    assert isinstance(asked.action, Propose), "only a proposal has drafts"
    selection = asked.action.selection
    return Origin(
        "proposal",
        asked.step,
        draft.index,
        draft.count,
        island=selection.island,
        operator=selection.operator,
        model=selection.model,
        parents=selection.parents,
        inspirations=selection.inspirations,
    )
