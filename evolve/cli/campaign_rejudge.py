"""`evolve campaign rejudge`: a campaign's programs by a newer version of its task.

The cost is said before anything is judged, and the judges are known to start before anything is written."""

from collections import Counter
from dataclasses import dataclass

import click

import evolve.task
from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.campaign.rejudging import Rejudging, begin, plan_rejudging
from evolve.cli import summary
from evolve.cli.devices import devices_option, format_time, grant_devices
from evolve.cli.errors import INTERRUPTED
from evolve.cli.isolation import note_isolation, sandbox_option
from evolve.cli.output import debug_option, emit, facts, json_option, say
from evolve.cli.progress import watch_campaign
from evolve.cli.request import find_task
from evolve.engine import Ending, RunRequest, open_run
from evolve.engine.isolation import wanted_level
from evolve.plugins import load
from evolve.types import REJUDGED, EvolveError, Outcome, SandboxError


@dataclass(frozen=True, slots=True)
class RejudgingCost:
    """Cost of judging again, told before it is done: `programs` times the mean seconds that judging one of them took before (None: not
    known)."""

    event: str
    campaign: str
    old_version: str
    new_version: str
    programs: int
    seconds_each: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RejudgingEnd:
    """Outcomes of the programs that were judged again since the task changed, and the best before and after. `left` counts the steps that
    wait for another run."""

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
    grant = grant_devices(devices)
    with Campaign.open(name, load(), workspace(), readonly=dry_run) as campaign:
        task = evolve.task.load(find_task(campaign, moved), campaign.settings.parameters)
        plan = plan_rejudging(campaign, task, everything=not elites)
        _print_cost(campaign, plan, as_json=as_json)
        if (plan.programs or plan.others) and not dry_run:
            wanted, former = wanted_level(sandbox, campaign.settings.sandbox), report.best(campaign)
            request = RunRequest(
                campaign.settings, task, campaign.plugins, workspace(), campaign=campaign, wanted=wanted, devices=grant
            )
            ending = _judge(campaign, plan, request, as_json=as_json)
            _print_end(campaign, ending, former.name if former else "", as_json=as_json)


def _print_cost(campaign: Campaign, plan: Rejudging, *, as_json: bool) -> None:
    total = None if plan.seconds is None else plan.programs * plan.seconds
    cost = RejudgingCost(
        event="estimate",
        campaign=campaign.name,
        old_version=campaign.task.version,
        new_version=plan.task.version,
        programs=plan.programs,
        seconds_each=plan.seconds,
        seconds=total,
    )
    if as_json:
        emit(cost)
    else:
        say(facts(_format_cost(campaign, plan, total)))


def _format_cost(campaign: Campaign, plan: Rejudging, total: float | None) -> list[tuple[str, str]]:
    same = plan.task.version == campaign.task.version
    versions = f"version {plan.task.version[:16]}" + ("" if same else f", until now {campaign.task.version[:16]}")
    rows = [("campaign", campaign.name), ("task", f"{plan.task.name}, {versions}")]
    if not plan.programs:
        left = f"; {plan.others} measurements wait" if plan.others else ""
        return [*rows, ("to judge", f"nothing: this version has judged all of it already{left}")]
    seed = " and the seed" if plan.seed else ""
    rows.append(("to judge", f"{len(plan.records) + len(plan.waiting):,} programs{seed}"))
    if total is None or plan.seconds is None:
        return [*rows, ("cost", "not known: none of them was judged before")]
    slots = wording.counted(campaign.settings.judges, "judge slot")
    cost = f"about {plan.programs:,} x {wording.seconds(plan.seconds)} = {format_time(total)} of judge time"
    return [*rows, ("cost", f"{cost}, on {slots} {format_time(total / campaign.settings.judges)}")]


def _judge(campaign: Campaign, plan: Rejudging, request: RunRequest, *, as_json: bool) -> Ending:
    with open_run(request, open_models=None) as run:
        note_isolation(run.confinement)
        with campaign.log.transaction():
            steps = begin(campaign, plan)
        try:
            with watch_campaign(campaign, as_json=as_json) as watch:
                return run.finish(watch, steps)
        except EvolveError as error:
            again = f"The history of campaign {campaign.name!r} is kept; the same command goes on with what is missing"
            raise type(error)(f"{str(error).rstrip('.')}. {again}") from error


def _print_end(campaign: Campaign, ending: Ending, former_best: str, *, as_json: bool) -> None:
    """Prints the result; exits by 130 where it was interrupted, and raises `SandboxError` where judges failed."""
    end = RejudgingEnd(
        event="ended",
        campaign=campaign.name,
        reason=ending.reason,
        left=ending.left,
        rejudged=campaign.state.progress.rejudged,
        outcomes=_outcomes(campaign),
        former_best=former_best,
        best=report.best(campaign),
    )
    if as_json:
        emit(end)
    else:
        waiting = f", {wording.waiting(end.left)}" if end.left else ""
        rows = [
            ("judged again", f"{wording.outcomes(end.outcomes)}{waiting}"),
            ("best before", former_best or "none"),
            *summary.best_facts(campaign, end.best, report.front_line(campaign)),
            ("next", summary.next_commands(campaign, end.best)[-2]),
        ]
        say(facts(rows))
    if ending.reason != "finished":
        click.get_current_context().exit(INTERRUPTED)
    unjudged = end.outcomes.get(Outcome.INTERNAL.value, 0)
    if unjudged:
        raise SandboxError(
            f"the judges failed on {unjudged} of the programs, which hold no place before they are judged. "
            f"Do: `evolve program list {campaign.name} --all` names them, and then the same command judges what is missing"
        )


def _outcomes(campaign: Campaign) -> dict[str, int]:
    """Returns how many judgings by the newer version ended in which outcome, the seed included."""
    history, since = campaign.state.history, campaign.state.columns.since
    records = [campaign.log.settled(number).record for number in range(since + 1, len(history) + 1)]
    again = [record for record in records if record.origin.why == REJUDGED or record.origin.kind == "seed"]
    return {outcome.value: count for outcome, count in Counter(one.evaluation.outcome for one in again).most_common()}
