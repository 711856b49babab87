"""The line of first parents from the seed to a program, with what each step changed in its text.

Invariant: of a long line the steps that mattered most are told with their diffs, and the others are counted."""

from dataclasses import dataclass

from evolve import report
from evolve.campaign import Campaign
from evolve.types import RecordId

TOLD = 24
"""Steps with diffs."""
LAST = 4
"""Of these, the ones before the end, whatever they gained."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the line. `thought` is what its operator or model said; `others` are the parents but the first, by their names. `differences` is
    empty for a step that is not `told`, and for one that changed nothing."""

    line: report.LineageStep
    model: str
    step: int
    thought: str
    others: tuple[str, ...]
    told: bool
    differences: tuple[report.Difference, ...]


def steps(campaign: Campaign, record: RecordId) -> tuple[Step, ...]:
    """The whole line, the seed first."""
    line = report.lineage(campaign, record)
    told = _told(line)
    return tuple(_step(campaign, each, told=each.record in told) for each in line)


def _told(line: tuple[report.LineageStep, ...]) -> set[RecordId]:
    """Whose diffs are shown: all of a short line, of a longer one those that changed the fitness most, and the last ones."""
    made = [step for step in line if step.parents]
    if len(made) <= TOLD:
        return {step.record for step in made}
    most = sorted(made[:-LAST], key=lambda step: -abs(step.change or 0.0))[: TOLD - LAST]
    return {step.record for step in [*most, *made[-LAST:]]}


def _step(campaign: Campaign, line: report.LineageStep, *, told: bool) -> Step:
    record = campaign.log.settled(line.record).record
    made = campaign.log.settled(record.origin.about).record if record.origin.about else record
    differences = report.difference(campaign, line.parents[0], line.record) if told else ()
    return Step(
        line=line,
        model=made.origin.model,
        step=made.origin.step,
        thought=made.thought,
        others=tuple(report.record_name(campaign, parent) for parent in line.parents[1:]),
        told=told,
        differences=differences,
    )
