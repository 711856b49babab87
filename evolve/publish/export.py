"""One program of a campaign with everything that its score rests on, as files.

Invariant: equal records make equal bytes: nothing here asks for the time, the machine or the user, and no file of the task is taken that is not the one that has judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evolve.campaign import Campaign
from evolve.campaign.campaign import opened_of
from evolve.publish.claims import RECORD, Claims, Judging, Promotion, Spent, TaskClaim, Used, claims_bytes
from evolve.publish.coherence import pages
from evolve.publish.contents import Contents, stored_names, with_manifest
from evolve.publish.gathering import Gathering, text_bytes, time_of
from evolve.publish.lineage import Step, steps_of
from evolve.publish.task_files import is_timed, place_of, task_files
from evolve.publish.worth import worth
from evolve.report import record_name, settled
from evolve.report.records import made_by
from evolve.types import ConfigError, ProgramId, RecordId, Replied, Ruled, Stamped, Task, TaskError


@dataclass(frozen=True, slots=True)
class Export:
    """An export before it is written. `top` is what its folder is called in a zip file."""

    claims: Claims
    contents: Contents
    top: str


def export(campaign: Campaign, record: RecordId, task: Task) -> Export:
    """A program of a campaign with all that is known of it; `task` is the campaign's as it lies on the disk now. Raises `ConfigError` for a record without a program, `TaskError` where the task
    is not the one that has judged it."""
    name = _program(campaign, record)
    _check_version(campaign, record, task)
    gathered = Gathering(campaign, name)
    first = gathered.first
    steps, told = steps_of(campaign, first)
    program = campaign.state.history.program(name)
    stored = stored_names("program", program.files)
    claims = _claims(campaign, first, task, gathered, steps, stored)
    files = {
        **{stored[path]: text_bytes(text) for path, text in program.files.items()},
        **task_files(task),
        **told,
        **gathered.files,
        **pages(claims, gathered.files, task, steps),
        RECORD: claims_bytes(claims),
    }
    return Export(claims, with_manifest(files), f"{campaign.name}-{first}")


def _program(campaign: Campaign, record: RecordId) -> ProgramId:
    settled(campaign, record)
    found = campaign.state.history.program_id(record)
    if found is None:
        name = record_name(campaign, record)
        raise ConfigError(
            f"{name} has no program: its proposal was screened. Do: evolve program show {name} --feedback"
        )
    return found


def _check_version(campaign: Campaign, record: RecordId, task: Task) -> None:
    name = record_name(campaign, record)
    if record <= campaign.state.columns.since:
        raise TaskError(
            f"{name} was judged by an earlier version of task {task.name!r}, which nobody has kept. Do: evolve campaign rejudge {campaign.name}, "
            "and export what it finds"
        )
    if task.version != campaign.task.version:
        raise TaskError(
            f"task {task.name!r} is not what has judged {name}: its version is {task.version[:16]}, then it was {campaign.task.version[:16]}. "
            f"Do: put its files back, or evolve campaign rejudge {campaign.name}"
        )


def _claims(
    campaign: Campaign,
    first: RecordId,
    task: Task,
    gathered: Gathering,
    steps: Sequence[Step],
    stored: Mapping[str, str],
) -> Claims:
    judged, judgings = campaign.log.settled(first).record, gathered.judgings()
    origin, stamped = made_by(campaign, judged), campaign.log.settling(judged.origin.about or first)
    quarantine = campaign.state.quarantined.get(gathered.program)
    return Claims(
        name=record_name(campaign, first),
        program=gathered.program,
        files=stored,
        task=_task_claim(campaign, task),
        judgings=judgings,
        value=worth(campaign, gathered.program, gathered.records),
        kind=origin.kind,
        versions=dict(opened_of(campaign.log).versions),
        operator=origin.operator,
        models=_models(campaign, steps),
        seed_fitness=_seed_fitness(campaign),
        promotion=_promotion(campaign, gathered.program, judgings),
        quarantined="" if quarantine is None else f"{quarantine.by}: {quarantine.why}",
        found=time_of(stamped),
        found_after=stamped.active,
        campaign_seed=campaign.settings.seed,
        secret=campaign.secret,
        steps=len(steps),
        spent=_spent(campaign),
    )


def _task_claim(campaign: Campaign, task: Task) -> TaskClaim:
    folder, path = place_of(task)
    return TaskClaim(
        name=campaign.task.name,
        version=task.version,
        folder=folder,
        path=path,
        parameters=dict(task.parameters),
        fitness=task.fitness.name,
        direction=task.fitness.direction,
        digits=task.fitness.digits,
        deterministic=task.deterministic,
        promotion=task.promotion,
        plugin=task.evaluator.plugin or "",
        release=campaign.plugins.evaluator_release(task.evaluator) or "",
        log_ratio=task.fitness.log_ratio,
        timed=is_timed(task),
    )


def _models(campaign: Campaign, steps: Sequence[Step]) -> tuple[Used, ...]:
    """The models of the lineage."""
    names = sorted({step.model for step in steps if step.model})
    if not names:
        return ()
    revisions: dict[str, set[str]] = {name: set() for name in names}
    for stamped in campaign.log.events(only=Replied):
        assert isinstance(stamped.event, Replied), "only such events were asked for"
        call = stamped.event.call
        if call.model in revisions and call.revision:
            revisions[call.model].add(call.revision)
    members = {member.name: str(member.settings.get("model", "")) for member in campaign.settings.models.members}
    return tuple(Used(name, Path(members.get(name, "")).name, tuple(sorted(revisions[name]))) for name in names)


def _seed_fitness(campaign: Campaign) -> float | None:
    values = campaign.state.seed_values
    return campaign.task.fitness.shown(sum(values) / len(values)) if values else None


def _promotion(campaign: Campaign, program: ProgramId, judgings: Sequence[Judging]) -> Promotion | None:
    """The ruling in the log; of a task whose answer is one certified object, the certificate."""
    if campaign.task.promotion == "certificate":
        proofs = [one for one in judgings if one.part == "certificate" and one.fitness is not None]
        return Promotion("certificate", "its value is proven in exact arithmetic", proofs[-1].at) if proofs else None
    if program not in campaign.state.archive.promoted:
        return None
    rulings = [one for one in campaign.log.events(only=Ruled) if _promotes(one, program)]
    assert rulings, "what is promoted was ruled so"
    ruling = rulings[-1].event
    assert isinstance(ruling, Ruled), "only such events were asked for"
    return Promotion("held_out", ruling.why, time_of(rulings[-1]))


def _promotes(stamped: Stamped, program: ProgramId) -> bool:
    event = stamped.event
    return isinstance(event, Ruled) and event.what == "promote" and event.about == program


def _spent(campaign: Campaign) -> Spent:
    progress = campaign.state.progress
    return Spent(
        programs=progress.programs,
        seconds=progress.seconds,
        judge_seconds=progress.judge_seconds,
        calls=progress.calls,
        tokens=progress.tokens,
        money=progress.money,
        gpu_seconds=progress.gpu_seconds,
    )
