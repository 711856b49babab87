"""Every judging of one program in a campaign, as claims, with the texts that they name.

Invariant: what was found on cases that the search must not see is told with the case's name, and none of its artifacts."""

from collections.abc import Mapping
from datetime import UTC, datetime

from evolve.campaign import Campaign
from evolve.engine.jobs import trial_seed
from evolve.publish.claims import Judging, Part
from evolve.publish.contents import stored_names
from evolve.types import FROM_SCRATCH, MachineMeasured, ProgramId, Record, RecordId, Settled, Stamped, TextId

CERTIFICATE = "certificate"
"""The folder of what proves the value."""


class Gathering:
    """Reads the judgings of a program; `files` grows with what they name."""

    def __init__(self, campaign: Campaign, program: ProgramId) -> None:
        self.files: dict[str, bytes] = {}
        self._campaign = campaign
        self.program = program
        self._machines = [(0, ""), *((one.number, _hardware(one)) for one in campaign.log.events(only=MachineMeasured))]
        self._stamps = [campaign.log.settling(number) for number in self._numbers(program)]

    @property
    def records(self) -> tuple[Record, ...]:
        """The program's records since the task is what it is, the earliest first."""
        return tuple(map(record_of, self._stamps))

    @property
    def first(self) -> RecordId:
        """The record of the judging that all others are compared with."""
        return next(record.id for record in self.records if not record.origin.case)

    def judgings(self) -> tuple[Judging, ...]:
        """Those of the program, and then those of the task's seed on held-out cases."""
        return (*map(self._judging, self._stamps), *self._of_seed())

    def _numbers(self, program: ProgramId) -> list[RecordId]:
        """The records of a program since the task is what it is."""
        since, programs = self._campaign.state.columns.since, self._campaign.state.columns.programs
        return [number for number, other in enumerate(programs[since:], since + 1) if other == program]

    def _of_seed(self) -> list[Judging]:
        """The seed on held-out cases, with which the program is compared there."""
        task = self._campaign.task
        if self.program == task.seed.id:
            return []
        found = [self._campaign.log.settling(number) for number in self._numbers(task.seed.id)]
        return [self._judging(one, of_seed=True) for one in found if record_of(one).origin.case]

    def _judging(self, stamped: Stamped, *, of_seed: bool = False) -> Judging:
        record, task = record_of(stamped), self._campaign.task
        origin, evaluation, part = record.origin, record.evaluation, self._part(record)
        shown = {
            each.name: each.shown(evaluation.objectives[each.name])
            for each in task.objectives
            if each.name in evaluation.objectives
        }
        return Judging(
            record=record.id,
            part=part,
            outcome=evaluation.outcome.value,
            fitness=None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness),
            seed=0 if part == "certificate" else trial_seed(self._campaign.settings.seed, task, origin),
            case=origin.case,
            of_seed=of_seed,
            standard_error=evaluation.standard_error,
            measurements=evaluation.measurements,
            violation=evaluation.violation,
            objectives=shown,
            metrics=dict(evaluation.metrics),
            descriptors=dict(evaluation.descriptors),
            fingerprint=evaluation.fingerprint,
            artifacts={} if of_seed or origin.case else self._kept(part, record),
            carried=self._texts("carried", evaluation.carried) if part == "search" else {},
            at=time_of(stamped),
            seconds=evaluation.seconds,
            cpu_seconds=evaluation.cpu_seconds,
            device=evaluation.device,
            hardware=next(name for number, name in reversed(self._machines) if number < stamped.number),
            environment=evaluation.environment,
            isolation=evaluation.isolation,
            trust=evaluation.trust,
        )

    def _part(self, record: Record) -> Part:
        if record.origin.case:
            return "from scratch" if record.origin.case == FROM_SCRATCH else "case"
        if record.evaluation.certified or record.evaluation.stage == "certify":
            return "certificate"
        return "search" if record.id == self.first else "again"

    def _kept(self, part: Part, record: Record) -> dict[str, str]:
        """What the first judging and the latest certificate left; of the others nobody needs it."""
        if part == "certificate":
            last = [one for one in self._stamps if record_of(one).evaluation.certified][-1:]
            return (
                self._texts(CERTIFICATE, record.evaluation.artifacts)
                if [record_of(one).id for one in last] == [record.id]
                else {}
            )
        return self._texts("artifacts", record.evaluation.artifacts) if part == "search" else {}

    def _texts(self, folder: str, ids: Mapping[str, str]) -> dict[str, str]:
        """Stores artifacts, which are JSON; gives their files by their names."""
        stored = stored_names(folder, ids, ".json")
        self.files |= {stored[name]: text_bytes(self._campaign.log.text(TextId(text))) for name, text in ids.items()}
        return stored


def record_of(stamped: Stamped) -> Record:
    """The record that an event settled."""
    assert isinstance(stamped.event, Settled), "a record is settled by nothing else"
    return stamped.event.record


def time_of(stamped: Stamped) -> str:
    """When an event happened, in UTC."""
    return datetime.fromtimestamp(stamped.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def text_bytes(text: str) -> bytes:
    """A text as it is stored; a program may hold what is no letter."""
    return text.encode("utf-8", "surrogatepass")


def _hardware(stamped: Stamped) -> str:
    assert isinstance(stamped.event, MachineMeasured), "only such events were asked for"
    return stamped.event.hardware
