"""Everything that the page of one record says of it.

Invariant: what it costs does not grow with the campaign: a few reads of the log by index, and one look along the column of programs; long
texts are cut, and said to be."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from evolve import report
from evolve.archive import Elite, Estimate
from evolve.campaign import Campaign
from evolve.types import Origin, Record, RecordId, Ruled, Settled

TEXT = 20_000
"""Characters of a text that are on the page."""
_NUMBERS = 200
_ARTIFACTS = 50
_LINES = 25


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text of `size` characters."""

    text: str
    size: int

    @property
    def left_out(self) -> int:
        """Characters that are not here."""
        return self.size - len(self.text)


@dataclass(frozen=True, slots=True)
class Artifact:
    """One that the judging left; `number` is its place, by which it is downloaded."""

    number: int
    name: str
    content: Excerpt


@dataclass(frozen=True, slots=True)
class Standing:
    """What the archive thinks of a program. `proofs` are the records that prove its value; `estimate` is of all its measurements, in the user's
    direction, `reported` of those since it won its place; `places` are those that it holds."""

    best: bool
    promoted: bool
    proofs: tuple[RecordId, ...]
    ruling: Ruled | None
    places: tuple[Elite, ...]
    estimate: Estimate | None
    reported: Estimate | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One record. `made` is the origin of its program, which for a measurement is that of what it measures; `again` are other records of its
    program, `more_again` counts those that are left out."""

    line: report.RecordLine
    record: Record
    made: Origin
    first: RecordId
    standing: Standing
    feedback: Excerpt
    metrics: tuple[tuple[str, float], ...]
    more_metrics: int
    missed: tuple[report.MissedLine, ...]
    artifacts: tuple[Artifact, ...]
    more_artifacts: int
    again: tuple[report.RecordLine, ...]
    more_again: int
    cases: tuple[report.CaseLine, ...]


def evidence(campaign: Campaign, number: RecordId) -> Evidence:
    """Of one record; raises `StoreError` for one that there is not."""
    event = report.settled(campaign, number)
    record, evaluation = event.record, event.record.evaluation
    same = _same(campaign, record)
    others = [other for other in same if other != number]
    return Evidence(
        line=report.record_line(campaign, event),
        record=record,
        made=made_by(campaign, event),
        first=same[0] if same else number,
        standing=_standing(campaign, record, same),
        feedback=excerpt(campaign, evaluation.feedback),
        metrics=_numbers(evaluation.metrics),
        more_metrics=max(0, len(evaluation.metrics) - _NUMBERS),
        missed=report.missed(campaign.task, evaluation.metrics),
        artifacts=tuple(
            Artifact(place, name, excerpt(campaign, text))
            for place, (name, text) in enumerate(islice(evaluation.artifacts.items(), _ARTIFACTS))
        ),
        more_artifacts=max(0, len(evaluation.artifacts) - _ARTIFACTS),
        again=tuple(report.record_line(campaign, campaign.log.settled(other)) for other in others[-_LINES:]),
        more_again=max(0, len(others) - _LINES),
        cases=report.cases(campaign, record.program) if record.program else (),
    )


def made_by(campaign: Campaign, event: Settled) -> Origin:
    """How the program of a record was made."""
    about = event.record.origin.about
    return campaign.log.settled(about).record.origin if about else event.record.origin


def excerpt(campaign: Campaign, text: str) -> Excerpt:
    """The beginning of a stored text by its id; of an empty id nothing."""
    whole = campaign.state.history.text(text) if text else ""
    return Excerpt(whole[:TEXT], len(whole))


def _same(campaign: Campaign, record: Record) -> list[RecordId]:
    """The records of its program, in their order."""
    if record.program is None:
        return []
    return [number for number, other in enumerate(campaign.state.columns.programs, 1) if other == record.program]


def _numbers(values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(islice(values.items(), _NUMBERS))


def _standing(campaign: Campaign, record: Record, same: list[RecordId]) -> Standing:
    archive, program = campaign.state.archive, record.program
    best = archive.best
    places = tuple(elite for elite in archive.elites() if elite.program == program) if program else ()
    is_best = best is not None and best.program == program
    holder = best if is_best else places[0] if places else None
    settled = (campaign.log.settled(number).record for number in same[-_LINES:])
    return Standing(
        best=is_best,
        promoted=program in archive.promoted,
        proofs=tuple(one.id for one in settled if one.evaluation.certified),
        ruling=campaign.state.quarantined.get(program) if program else None,
        places=places,
        estimate=_shown(campaign, holder.estimate) if holder else None,
        reported=_shown(campaign, holder.reported) if holder and holder.reported else None,
    )


def _shown(campaign: Campaign, found: Estimate) -> Estimate:
    return Estimate(campaign.task.fitness.shown(found.mean), found.standard_error, found.count, found.certified)
