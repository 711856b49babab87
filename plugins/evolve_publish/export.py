"""Export of one program of a campaign: its evaluations, lineage and value as claims, with all files that they rest on.

Equal records make equal bytes: nothing here asks for the time, the machine or the user. A task whose files have changed since is refused. Of held-out cases an export has the scores, and none of the artifacts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from evolve import report
from evolve.campaign import Campaign, first_event
from evolve.commands import trial_seed
from evolve.statistics import Pool
from evolve.types import (
    FROM_SCRATCH,
    ConfigError,
    MachineMeasured,
    Program,
    ProgramId,
    Record,
    RecordId,
    Settled,
    Stamped,
    Task,
    TaskError,
    TextId,
)
from evolve.types.codec import encode
from evolve_publish.claims import (
    RECORD,
    STEPS,
    Claims,
    EvaluationClaim,
    EvaluationPart,
    LineageClaim,
    ModelClaim,
    PromotionClaim,
    ValueClaim,
    claim_task,
    encode_claims,
    value_limits,
)
from evolve_publish.files import Contents, add_manifest, encode_text, json_bytes, name_stored_files, task_files
from evolve_publish.pages import make_pages


@dataclass(frozen=True, slots=True)
class Export:
    """Export before it is written. `name` is that of its folder where nobody gives another."""

    claims: Claims
    contents: Contents
    name: str


def export_program(campaign: Campaign, record: RecordId, task: Task) -> Export:
    """Exports a program; `task` is the campaign's as it lies on the disk now. Raises `ConfigError` for a record without a program, `TaskError` where the task is not the one that evaluated it."""
    program = _find_program(campaign, record)
    _check_version(campaign, record, task)
    reader = _EvaluationReader(campaign, program)
    steps, lineage_files = read_lineage(campaign, reader.first)
    files = campaign.state.history.program(program).files
    stored = name_stored_files("program", files)
    claims = _collect_claims(reader, task, steps, stored)
    contents = {
        **{stored[path]: encode_text(text) for path, text in files.items()},
        **task_files(task),
        **lineage_files,
        **reader.files,
        **make_pages(claims, task),
        RECORD: encode_claims(claims),
    }
    return Export(claims, add_manifest(contents), f"{campaign.name}-{reader.first}")


def _find_program(campaign: Campaign, record: RecordId) -> ProgramId:
    report.settled(campaign, record)
    program = campaign.state.history.program_id(record)
    if program is None:
        name = report.record_name(campaign, record)
        raise ConfigError(
            f"{name} has no program: its proposal was screened. Try: evolve program show {name} --feedback"
        )
    return program


def _check_version(campaign: Campaign, record: RecordId, task: Task) -> None:
    name = report.record_name(campaign, record)
    if record <= campaign.state.columns.since:
        raise TaskError(
            f"{name} was evaluated by an earlier version of task {task.name!r}, which nobody has kept. Try: evolve campaign rejudge {campaign.name}, "
            "and export what it finds"
        )
    if task.version != campaign.task.version:
        raise TaskError(
            f"task {task.name!r} is not what has evaluated {name}: its version is {task.version[:16]}, then it was {campaign.task.version[:16]}. "
            f"Try: put its files back, or evolve campaign rejudge {campaign.name}"
        )


def _collect_claims(
    reader: "_EvaluationReader", task: Task, steps: Sequence[LineageClaim], stored: Mapping[str, str]
) -> Claims:
    campaign, seeds = reader.campaign, reader.campaign.state.seed_values
    shown = report.whole(campaign, reader.first)
    stamped = campaign.log.settling(shown.record.about or reader.first)
    release = campaign.plugins.evaluator_release(task.evaluator) or ""
    claims = Claims(
        name=shown.record.name,
        program=reader.program,
        files=stored,
        task=claim_task(task, campaign.task.name, release),
        judgings=reader.judgings(),
        kind=shown.made.kind,
        versions=dict(first_event(campaign.log).versions),
        operator=shown.made.operator,
        models=_read_models(campaign, steps),
        seed_fitness=campaign.task.fitness.shown(sum(seeds) / len(seeds)) if seeds else None,
        quarantined="" if shown.ruling is None else f"{shown.ruling.by}: {shown.ruling.why}",
        found=_format_time(stamped),
        found_after=stamped.active,
        campaign_seed=campaign.settings.seed,
        # The secret travels with the export, for without it nobody could draw the same instances.
        secret=campaign.secret,
        steps=len(steps),
        # Costs are those of the whole campaign: a program cannot be had without those that failed on the way.
        spent=encode(campaign.state.progress),
    )
    return replace(claims, value=_claim_value(campaign, shown, claims), promotion=_claim_promotion(shown, claims))


def _claim_value(campaign: Campaign, shown: report.Shown, claims: Claims) -> ValueClaim | None:
    """Returns the value by all evaluations; None where the program never passed. A certified value is exact; a noisy one has its limits."""
    proof, passed = claims.certificate, claims.passed
    if proof is not None and proof.fitness is not None:
        return ValueClaim(proof.fitness, certified=True)
    if not passed:
        return None
    if claims.task.deterministic:
        return ValueClaim(passed[0][0])
    known = shown.reported or shown.estimate
    if known is not None:
        mean, error, count = known.fitness, known.standard_error, known.measurements
    else:
        pool = Pool()
        for fitness, own_error in passed:
            pool = pool.add(fitness, own_error)
        mean, error, count = pool.mean, pool.standard_error(campaign.state.noise_floor), pool.count
    low, high = (None, None) if error is None else value_limits(mean, error, count)
    return ValueClaim(mean, False, error, count, low, high, confirmed=shown.reported is not None)


def _claim_promotion(shown: report.Shown, claims: Claims) -> PromotionClaim | None:
    if claims.task.promotion == "certificate":
        proof = claims.certificate
        return PromotionClaim("certificate", "its value is proven in exact arithmetic", proof.at) if proof else None
    held_out = PromotionClaim("held_out", "it is no worse than the seed on every held-out case")
    return held_out if shown.promoted else None


def _read_models(campaign: Campaign, steps: Sequence[LineageClaim]) -> tuple[ModelClaim, ...]:
    """Returns the models of the lineage."""
    # A local model is named by its path, which is a path of this machine.
    servers = {one.name: Path(str(one.settings.get("model", ""))).name for one in campaign.settings.models.members}
    return tuple(ModelClaim(name, servers.get(name, "")) for name in sorted({step.model for step in steps} - {""}))


class _EvaluationReader:
    """Evaluations of one program since the task is what it is; `files` grows with the texts that they name."""

    def __init__(self, campaign: Campaign, program: ProgramId) -> None:
        self.campaign = campaign
        self.program = program
        self.files: dict[str, bytes] = {}
        self._machines = [(0, ""), *_read_machines(campaign)]
        self._stamps = [campaign.log.settling(number) for number in self._numbers(program)]
        self.records = tuple(map(_record_of, self._stamps))
        self.first = next(record.id for record in self.records if not record.origin.case)

    def judgings(self) -> tuple[EvaluationClaim, ...]:
        """Returns those of the program, then those of the task's seed on held-out cases, where the program is compared with it."""
        seed = self.campaign.task.seed.id
        numbers = [] if self.program == seed else self._numbers(seed)
        others = [self.campaign.log.settling(number) for number in numbers]
        return (
            *(self._claim(stamped) for stamped in self._stamps),
            *(self._claim(stamped, of_seed=True) for stamped in others if _record_of(stamped).origin.case),
        )

    def _numbers(self, program: ProgramId) -> list[RecordId]:
        columns = self.campaign.state.columns
        return [
            number
            for number, other in enumerate(columns.programs[columns.since :], columns.since + 1)
            if other == program
        ]

    def _claim(self, stamped: Stamped, *, of_seed: bool = False) -> EvaluationClaim:
        record, task = _record_of(stamped), self.campaign.task
        origin, evaluation, part = record.origin, record.evaluation, self._part(record)
        return EvaluationClaim(
            record=record.id,
            part=part,
            outcome=evaluation.outcome.value,
            fitness=None if evaluation.fitness is None else task.fitness.shown(evaluation.fitness),
            seed=0 if part == "certificate" else trial_seed(self.campaign.settings.seed, task, origin),
            case=origin.case,
            of_seed=of_seed,
            standard_error=evaluation.standard_error,
            measurements=evaluation.measurements,
            violation=evaluation.violation,
            objectives={
                each.name: each.shown(evaluation.objectives[each.name])
                for each in task.objectives
                if each.name in evaluation.objectives
            },
            metrics=dict(evaluation.metrics),
            descriptors=dict(evaluation.descriptors),
            fingerprint=evaluation.fingerprint,
            artifacts={} if of_seed or origin.case else self._store_artifacts(part, record),
            carried=self._store("carried", evaluation.carried) if part == "search" else {},
            at=_format_time(stamped),
            seconds=evaluation.seconds,
            cpu_seconds=evaluation.cpu_seconds,
            device=evaluation.device,
            hardware=next(name for number, name in reversed(self._machines) if number < stamped.number),
            environment=evaluation.environment,
            isolation=evaluation.isolation,
            trust=evaluation.trust,
        )

    def _part(self, record: Record) -> EvaluationPart:
        if record.origin.case:
            return "from scratch" if record.origin.case == FROM_SCRATCH else "case"
        if record.evaluation.certified or record.evaluation.stage == "certify":
            return "certificate"
        return "search" if record.id == self.first else "again"

    def _store_artifacts(self, part: EvaluationPart, record: Record) -> dict[str, str]:
        """Stores the artifacts of the first evaluation and of the latest certificate, which a verification needs."""
        if part == "search":
            return self._store("artifacts", record.evaluation.artifacts)
        certified = [one.id for one in self.records if one.evaluation.certified]
        if part == "certificate" and certified[-1:] == [record.id]:
            return self._store("certificate", record.evaluation.artifacts)
        return {}

    def _store(self, folder: str, ids: Mapping[str, str]) -> dict[str, str]:
        """Stores artifacts, which are JSON; returns their files by their names."""
        stored = name_stored_files(folder, ids, ".json")
        self.files |= {stored[name]: encode_text(self.campaign.log.text(TextId(text))) for name, text in ids.items()}
        return stored


def _record_of(stamped: Stamped) -> Record:
    assert isinstance(stamped.event, Settled), "a record is settled by nothing else"
    return stamped.event.record


def _read_machines(campaign: Campaign) -> Iterator[tuple[int, str]]:
    """Yields the number of each event that names a machine, and its hardware."""
    for stamped in campaign.log.events(only=MachineMeasured):
        assert isinstance(stamped.event, MachineMeasured), "only such events were asked for"
        yield stamped.number, stamped.event.hardware


def _format_time(stamped: Stamped) -> str:
    """Returns the time of an event in UTC."""
    return datetime.fromtimestamp(stamped.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- the line of first parents; words of operators and models stand in JSON or in a diff, never in a page


def read_lineage(campaign: Campaign, record: RecordId) -> tuple[tuple[LineageClaim, ...], dict[str, bytes]]:
    """Returns the steps from the seed on, and their files."""
    steps: list[LineageClaim] = []
    files: dict[str, bytes] = {}
    former: Program | None = None
    for number, line in enumerate(report.lineage(campaign, record)):
        name = campaign.state.history.program_id(line.record)
        program = campaign.state.history.program(name) if name else Program({})
        diff = ""
        if former is not None:
            diff = f"lineage/{number:04d}.diff"
            files[diff] = encode_text("".join(one.text for one in report.differences(former, program, "ab")))
        steps.append(_claim_step(campaign, line, name or "", diff))
        former = program
    files[STEPS] = json_bytes([encode(step) for step in steps])
    return tuple(steps), files


def _claim_step(campaign: Campaign, line: report.LineageStep, program: str, diff: str) -> LineageClaim:
    record = campaign.log.settled(line.record).record
    return LineageClaim(
        record=line.record,
        program=program,
        kind=line.kind,
        outcome=line.outcome,
        parents=line.parents,
        operator=line.operator,
        model=report.made_by(campaign, record).model,
        fitness=line.fitness,
        change=line.change,
        thought=record.thought,
        trust=line.trust,
        isolation=line.isolation,
        diff=diff,
    )
