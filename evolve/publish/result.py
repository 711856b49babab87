"""What a campaign knows of one program's score, for what is written about it elsewhere.

Invariant: a value comes with what it rests on: a certificate, measurements with their interval, or the program's own word."""

from collections.abc import Mapping
from dataclasses import dataclass

from evolve import report
from evolve.archive import Estimate
from evolve.campaign import Campaign
from evolve.publish.claims import Value
from evolve.publish.gathering import Gathering
from evolve.publish.worth import worth
from evolve.task.verifier import CERTIFICATE
from evolve.types import ConfigError, Evaluation, Program, ProgramId, RecordId, TextId, Trust
from evolve.wording import promotion


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proven value: `name` is the record of it, `text` the JSON of what proves it, empty where the task stored none."""

    name: str
    fitness: float
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """A program's score, in the user's direction; `certificate` is there where the value is certified. `files` are the program's."""

    name: str
    record: RecordId
    program: Program
    value: Value
    promotion: str
    certificate: Certificate | None
    evaluation: Evaluation
    isolation: str
    weaker: bool
    trust: Trust
    cases: tuple[report.CaseLine, ...]

    @property
    def files(self) -> Mapping[str, str]:
        """The program's files."""
        return self.program.files


def result(campaign: Campaign, record: RecordId) -> Result:
    """The score of a record's program; of a measurement, that of what it measures. Raises `ConfigError` for what has none that could be told."""
    about = report.settled(campaign, record).record.origin.about
    settled = report.settled(campaign, about or record).record
    program, evaluation = settled.program, settled.evaluation
    _refuse(campaign, about or record)
    assert program is not None, "what has a fitness has a program"
    value = worth(campaign, program, Gathering(campaign, program).records)
    assert value is not None, "it has passed once"
    return Result(
        name=report.record_name(campaign, settled.id),
        record=settled.id,
        program=campaign.state.history.program(program),
        value=value,
        promotion=_promotion(campaign, program, value),
        certificate=_certificate(campaign, settled.id),
        evaluation=evaluation,
        isolation=evaluation.isolation,
        weaker=campaign.state.reached.weaker(evaluation.isolation),
        trust="claimed" if program in campaign.state.claimed else evaluation.trust,
        cases=report.cases(campaign, program),
    )


def _promotion(campaign: Campaign, program: ProgramId, value: Value) -> str:
    fitness, seed = campaign.task.fitness, seed_estimate(campaign)
    better = seed is not None and fitness.inside(value.fitness) > seed.mean
    return promotion(
        campaign.task, certified=value.certified, better=better, promoted=program in campaign.state.archive.promoted
    )


def seed_estimate(campaign: Campaign) -> Estimate | None:
    """What the measurements of the task's seed say together, larger is better; None before the first."""
    values = campaign.state.seed_values
    if not values:
        return None
    mean = sum(values) / len(values)
    if len(values) < 2:
        return Estimate(mean, None, len(values))
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return Estimate(mean, (variance / len(values)) ** 0.5, len(values))


def _refuse(campaign: Campaign, record: RecordId) -> None:
    history, name = campaign.state.history, report.record_name(campaign, record)
    program = history.program_id(record)
    if program is None or history.fitness(record) is None:
        raise ConfigError(
            f"{name} has no score: it ended as {history.outcome(record).value}. Do: name one whose outcome is ok, such as {campaign.name}/best"
        )
    if program in campaign.state.quarantined:
        raise ConfigError(
            f"{name} is quarantined, and what is quarantined is no result. Do: evolve program show {name} tells why; name another one"
        )
    if not history.is_current(record):
        raise ConfigError(
            f"{name} was judged by an earlier version of the task. Do: evolve campaign rejudge {campaign.name}, then name the newer record"
        )


def _certificate(campaign: Campaign, record: RecordId) -> Certificate | None:
    """The latest proof of a record's program by this version of the task."""
    since = campaign.state.columns.since
    lines = [line for line in report.measurements(campaign, record) if line.certified and line.id > since]
    if not lines:
        return None
    evaluation = campaign.log.settled(lines[-1].id).record.evaluation
    stored = evaluation.artifacts.get(CERTIFICATE)
    assert evaluation.fitness is not None, "a certified record has a fitness"
    return Certificate(
        lines[-1].name,
        campaign.task.fitness.shown(evaluation.fitness),
        campaign.log.text(TextId(stored)) if stored else "",
    )
