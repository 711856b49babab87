"""Jobs for the evaluation workers.

A job is a function of its step's `Asked` and of the log, so that a step that runs again submits the same job."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evolve import novelty
from evolve.campaign import Campaign, stream
from evolve.engine.proposals import Draft
from evolve.evaluation import Job
from evolve.types import (
    REJUDGED,
    Asked,
    Carried,
    Child,
    Description,
    Import,
    Measure,
    Origin,
    OriginKind,
    Parameters,
    Program,
    Propose,
    RecordId,
    Split,
    Task,
    TextId,
    Trial,
)

_PURPOSES: Mapping[OriginKind, str] = {"seed": "seed", "proposal": "trial", "import": "trial", "measurement": "measure"}
"""Stream from which the seed of a trial is drawn."""
_LIMIT_TIMES, _LEAST_LIMIT = 20, 1.0
"""Wall limit of a free operator's children: so many times the seed's seconds, and at least so many seconds."""


@dataclass(frozen=True, slots=True)
class Work:
    """A job with its origin, its program, and the ids of the artifacts that its parent left. `tries` counts how often the machinery failed it."""

    origin: Origin
    program: Program
    job: Job
    draft: Draft | None = None
    carried: Mapping[str, str] = field(default_factory=dict)
    tries: int = 0


class Jobs:
    """Makes the jobs of one campaign. `description`, of the evaluator, tells which stages have a relative threshold."""

    def __init__(self, campaign: Campaign, description: Description) -> None:
        self._state = campaign.state
        self._task = campaign.task
        self._seed = campaign.settings.seed
        self._secret = campaign.secret
        self._deterministic = campaign.settings.deterministic
        self._plugins = campaign.plugins
        self._tops = description.tops
        self._cases = {case.name: case for case in campaign.task.held_out}

    def seed(self) -> Work:
        """Returns the evaluation of the task's seed program, before anything else."""
        return self._work(Origin("seed", step=0), self._task.seed)

    def measurement(self, asked: Asked, measure: Measure) -> Work:
        """Returns the evaluation that a `Measure` asks for: the program again with what it was given before, a case, or its certificate."""
        origin = Origin("measurement", asked.step, about=measure.about, why=measure.why, case=measure.case)
        if measure.why == REJUDGED:
            first = self._state.reader.settled(measure.about).record.origin
            origin = replace(origin, island=first.island, parents=first.parents)
        program = self._state.reader.program(measure.program)
        if measure.case:
            return self._on_case(origin, program)
        about = self._state.reader.settled(measure.about).record.evaluation
        if measure.stage != "certify":
            return self._work(origin, program, stage=measure.stage, carried=about.carried)
        artifacts = {name: self._state.reader.text(TextId(text)) for name, text in about.artifacts.items()}
        trial = Trial(stage="certify", parameters=Parameters(self._task.parameters))
        return Work(origin, program, Job(f"{asked.step}.0", "certify", trial, artifacts=artifacts))

    def proposal(self, asked: Asked, draft: Draft) -> Work:
        """Returns the evaluation of a draft, with the relative thresholds as they were when it was asked for."""
        assert draft.child.program is not None, "a draft without a program is refused"
        origin = proposal_origin(asked, draft)
        past = self._state.past(asked.after)
        wanted = {stage: past.least_of_top(stage, share) for stage, share in self._tops.items()}
        work = self._work(origin, draft.child.program, carried=self._find_carried(origin.parents))
        known = {stage: least for stage, least in wanted.items() if least is not None}
        limit = self._limit(origin.operator)
        return replace(work, draft=draft, job=replace(work.job, wanted=known, limit=limit))

    def _limit(self, operator: str) -> float:
        """Returns the wall limit in seconds for the children of an operator; 0 for the stages' own limits. Children that cost no call are many, and
        two that loop would hold every worker for as long as a stage may take. Where two runs must agree, seconds decide nothing."""
        seconds = None if self._deterministic else self._state.seed_seconds
        if seconds is None or self._plugins.operators[operator].entry.needs_model:
            return 0.0
        return max(_LEAST_LIMIT, _LIMIT_TIMES * seconds)

    def addition(self, asked: Asked, action: Import) -> Work:
        """Returns the evaluation of a program that a person brought."""
        origin = Origin("import", asked.step, island=action.island, parents=action.parents)
        program = self._state.reader.program(action.program)
        work = self._work(origin, program, carried=self._find_carried(action.parents))
        return replace(work, draft=Draft(0, 1, Child(program, action.thought), novelty.signature(program)))

    def _find_carried(self, parents: Sequence[RecordId]) -> Mapping[str, str]:
        """Returns the ids of the artifacts that the first parent leaves to its children."""
        if not parents or not self._state.carries:
            return {}
        artifacts = self._state.reader.settled(parents[0]).record.evaluation.artifacts
        return {name: artifacts[name] for name in self._task.carry if name in artifacts}

    def _on_case(self, origin: Origin, program: Program) -> Work:
        # The search sees nothing of a case. Its seed is always the same, and it has no thresholds: what differs is the program.
        held_out = self._cases.get(origin.case)
        seed = trial_seed(self._seed, self._task, origin)
        parameters = Parameters(held_out.parameters if held_out else self._task.parameters)
        split: Split = "held_out" if held_out else "search"
        trial = Trial(seed, split=split, parameters=parameters, secret=self._secret)
        job = Job(f"{origin.step}.{origin.index}", "evaluate", trial, files=program.files, ungated=True)
        return Work(origin, program, job)

    def _work(
        self,
        origin: Origin,
        program: Program,
        *,
        stage: str = "",
        carried: Mapping[str, str] | None = None,
    ) -> Work:
        """Returns the evaluation by the whole cascade, or by one stage of it."""
        seed = trial_seed(self._seed, self._task, origin)
        split: Split = "confirm" if origin.kind == "measurement" else "search"
        left = Carried(
            {name: json.loads(self._state.reader.text(TextId(text))) for name, text in (carried or {}).items()}
        )
        parameters = Parameters(self._task.parameters)
        trial = Trial(seed, split=split, parameters=parameters, carried=left, secret=self._secret)
        job = Job(f"{origin.step}.{origin.index}", "evaluate", trial, files=program.files, stage=stage)
        return Work(origin, program, job, carried=carried or {})


def trial_seed(seed: int, task: Task, origin: Origin) -> int:
    """Returns the seed of a trial: the same for every program on a case, and 0 for a deterministic task."""
    if origin.case:
        return int(stream(seed, 0, f"case {origin.case}").integers(1 << 31))
    if task.deterministic:
        return 0
    return origin.index + int(stream(seed, origin.step, _PURPOSES[origin.kind]).integers(1 << 31))


def proposal_origin(asked: Asked, draft: Draft) -> Origin:
    """Returns the origin of a draft."""
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
