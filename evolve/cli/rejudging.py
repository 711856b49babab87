"""`evolve campaign rejudge`: a campaign's programs by a newer version of its task.

Invariant: what it costs is said before anything is judged, and the judges are known to start before anything is written."""

from collections import Counter
from dataclasses import dataclass

import click

import evolve.task
from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.campaign.rejudging import Rejudging, begin, planned
from evolve.cli import summary
from evolve.cli.display import watching
from evolve.cli.errors import INTERRUPTED
from evolve.cli.granting import devices_option, granted
from evolve.cli.isolation import note_isolation, sandbox_option
from evolve.cli.output import debug_option, emit, facts, json_option
from evolve.cli.request import place_of_task
from evolve.cli.say import say
from evolve.engine import RunRequest, open_run
from evolve.engine.isolation import wanted_level
from evolve.plugins import load
from evolve.stop import duration
from evolve.types import REJUDGED, EvolveError, Outcome, SandboxError


@dataclass(frozen=True, slots=True)
class Estimate:
    """What judging again takes, before it is done: `programs` times the mean seconds that judging one of them took before (None: not
    known)."""

    event: str
    campaign: str
    old_version: str
    new_version: str
    programs: int
    seconds_each: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What came of it: outcomes of the programs that were judged again since the task changed, and the best before and after. `left`
    counts the steps that wait for another run."""

    event: str
    campaign: str
    reason: str
    left: int
    rejudged: int
    outcomes: dict[str, int]
    former_best: str
    best: report.Best | None


@click.command("rejudge")
@click.argument("name", required=False)
@click.option(
    "--elites/--all", "elites", default=True, help="The archive's programs (default), or every one that was judged."
)
@click.option("--task", "moved", help="Where the task is, if it has moved.")
@click.option("--dry-run", is_flag=True, help="Say what it would cost, and do nothing.")
@sandbox_option
@devices_option
@json_option
@debug_option
def rejudge_campaign(
    name: str | None,
    elites: bool,
    moved: str | None,
    dry_run: bool,
    sandbox: str | None,
    devices: tuple[str, ...],
    as_json: bool,
) -> None:
    """Judge a campaign's programs again by the newer version of its task; the history is kept."""
    grant = granted(devices)
    with Campaign.open(name, load(), workspace(), readonly=dry_run) as campaign:
        task = evolve.task.load(place_of_task(campaign, moved), campaign.settings.parameters)
        plan = planned(campaign, task, everything=not elites)
        _say_cost(campaign, plan, as_json=as_json)
        if (plan.programs or plan.others) and not dry_run:
            wanted = wanted_level(sandbox, campaign.settings.sandbox)
            request = RunRequest(
                campaign.settings, task, campaign.plugins, workspace(), campaign=campaign, wanted=wanted, devices=grant
            )
            _judge(campaign, plan, request, as_json=as_json)


def _say_cost(campaign: Campaign, plan: Rejudging, *, as_json: bool) -> None:
    total = None if plan.seconds is None else plan.programs * plan.seconds
    found = Estimate(
        event="estimate",
        campaign=campaign.name,
        old_version=campaign.task.version,
        new_version=plan.task.version,
        programs=plan.programs,
        seconds_each=plan.seconds,
        seconds=total,
    )
    if as_json:
        emit(found)
    else:
        say(facts(_cost(campaign, plan, total)))


def _cost(campaign: Campaign, plan: Rejudging, total: float | None) -> list[tuple[str, str]]:
    same = plan.task.version == campaign.task.version
    versions = f"version {plan.task.version[:16]}" + ("" if same else f", until now {campaign.task.version[:16]}")
    rows = [("campaign", campaign.name), ("task", f"{plan.task.name}, {versions}")]
    if not plan.programs:
        left = f"; {plan.others} measurements wait" if plan.others else ""
        return [*rows, ("to judge", f"nothing: this version has judged all of it already{left}")]
    parts = [f"{len(plan.records) + len(plan.waiting):,} programs", *(["the seed"] if plan.seed else [])]
    rows.append(("to judge", " and ".join(parts)))
    if total is None or plan.seconds is None:
        return [*rows, ("cost", "not known: none of them was judged before")]
    slots = campaign.settings.judges
    cost = f"about {plan.programs:,} x {wording.seconds(plan.seconds)} = {_time(total)} of judge time"
    return [*rows, ("cost", f"{cost}, on {slots} judge slot{'s' if slots > 1 else ''} {_time(total / slots)}")]


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 60 else wording.seconds(seconds)


def _judge(campaign: Campaign, plan: Rejudging, request: RunRequest, *, as_json: bool) -> None:
    former = report.best(campaign)
    with open_run(request, open_models=None) as run:
        note_isolation(run.confinement)
        with campaign.log.transaction():
            steps = begin(campaign, plan)
        try:
            with watching(campaign, as_json=as_json) as watch:
                ending = run.finish(watch, steps)
        except EvolveError as error:
            again = f"The history of campaign {campaign.name!r} is kept; the same command goes on with what is missing"
            raise type(error)(f"{str(error).rstrip('.')}. {again}") from error
    found = Rejudged(
        event="ended",
        campaign=campaign.name,
        reason=ending.reason,
        left=ending.left,
        rejudged=campaign.state.progress.rejudged,
        outcomes=_outcomes(campaign),
        former_best=former.name if former else "",
        best=report.best(campaign),
    )
    if as_json:
        emit(found)
    else:
        say(facts(_told(campaign, found)))
    if ending.reason != "finished":
        click.get_current_context().exit(INTERRUPTED)
    unjudged = found.outcomes.get(Outcome.INTERNAL.value, 0)
    if unjudged:
        raise SandboxError(
            f"the judges failed on {unjudged} of the programs, which hold no place before they are judged. "
            f"Do: `evolve program list {campaign.name} --all` names them, and then the same command judges what is missing"
        )


def _outcomes(campaign: Campaign) -> dict[str, int]:
    """Of what the newer version has judged, the seed included."""
    history, since = campaign.state.history, campaign.state.columns.since
    records = [campaign.log.settled(number).record for number in range(since + 1, len(history) + 1)]
    again = [record for record in records if record.origin.why == REJUDGED or record.origin.kind == "seed"]
    return {outcome.value: count for outcome, count in Counter(one.evaluation.outcome for one in again).most_common()}


def _told(campaign: Campaign, found: Rejudged) -> list[tuple[str, str]]:
    waiting = f", {wording.waiting(found.left)}" if found.left else ""
    rows = [
        ("judged again", f"{wording.outcomes(found.outcomes)}{waiting}"),
        ("best before", found.former_best or "none"),
        *summary.best_facts(campaign, found.best, report.front_line(campaign)),
    ]
    return [*rows, ("next", summary.next_commands(campaign, found.best)[-2])]
