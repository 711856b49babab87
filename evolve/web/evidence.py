"""Everything that the page of one record says of it.

Invariant: what it costs does not grow with the campaign: a few reads of the log by index, and one look along the column of programs; long
texts are cut, and said to be."""

from dataclasses import dataclass
from itertools import islice

from evolve import report
from evolve.archive import Elite
from evolve.campaign import Campaign
from evolve.types import Origin, Record, RecordId

TEXT = 20_000
"""Characters of a text that are on the page."""
NUMBERS = 200
ARTIFACTS = 50
"""Metrics and artifacts that are on the page."""


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
class Evidence:
    """One record, as the log has it and as a page shows it. `made` is the origin of its program, which for a measurement is that of what it measures;
    `first` is the first record of the program; `places` are those that the program holds in the archive."""

    shown: report.Shown
    record: Record
    made: Origin
    first: RecordId
    best: bool
    places: tuple[Elite, ...]
    feedback: Excerpt
    metrics: tuple[tuple[str, float], ...]
    artifacts: tuple[Artifact, ...]


def evidence(campaign: Campaign, number: RecordId) -> Evidence:
    """Of one record; raises `StoreError` for one that there is not."""
    record, archive = report.settled(campaign, number).record, campaign.state.archive
    shown = report.whole(campaign, number)
    return Evidence(
        shown=shown,
        record=record,
        made=report.made_by(campaign, record),
        first=campaign.log.first_record(record.program) if record.program else number,
        best=archive.best is not None and archive.best.program == record.program,
        places=tuple(elite for elite in archive.elites() if elite.program == record.program),
        feedback=Excerpt(shown.feedback[:TEXT], len(shown.feedback)),
        metrics=tuple(islice(shown.metrics.items(), NUMBERS)),
        artifacts=tuple(
            Artifact(place, name, _excerpt(campaign, text))
            for place, (name, text) in enumerate(islice(record.evaluation.artifacts.items(), ARTIFACTS))
        ),
    )


def _excerpt(campaign: Campaign, text: str) -> Excerpt:
    whole = campaign.state.history.text(text)
    return Excerpt(whole[:TEXT], len(whole))
