"""`evolve campaign rejudge`: a campaign's programs by a newer version of its task.

The cost is said before anything is evaluated, and the workers are known to start before anything is written."""

from collections import Counter

import click

import evolve.task
from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.campaign.rejudging import Rejudging, begin, plan_rejudging
from evolve.cli import summary
from evolve.cli.errors import INTERRUPTED
from evolve.cli.machine import devices_option, grant_devices, note_isolation, sandbox_option
from evolve.cli.output import emit, facts, json_option, say
from evolve.cli.progress import RecordWatch, watch_campaign
from evolve.engine import Ending, RunRequest, open_run
from evolve.engine.isolation import wanted_level
from evolve.plugins import load
from evolve.run_options import find_task
from evolve.types import REJUDGED, EvolveError, Outcome, SandboxError


@click.command("rejudge")
@click.argument("name", required=False)
@click.option(
    "--elites/--all", "elites", default=True, help="The archive's programs (default), or every one that was evaluated."
)
@click.option("--task", "moved", help="Where the task is, if it has moved.")
@click.option("--dry-run", is_flag=True, help="Say what it would cost, and do nothing.")
@sandbox_option
@devices_option
@json_option
def rejudge_campaign(
    name: str | None,
    elites: bool,
    moved: str | None,
    dry_run: bool,
    sandbox: str | None,
    devices: tuple[str, ...],
    as_json: bool,
) -> None:
    """Evaluate a campaign's programs again by the newer version of its task; the history is kept."""
    grant = grant_devices(devices)
    with Campaign.open(name, load(), workspace(), readonly=dry_run) as campaign:
        task = evolve.task.load(find_task(campaign, moved), campaign.settings.parameters)
        plan = plan_rejudging(campaign, task, everything=not elites)
        _print_cost(campaign, plan, as_json=as_json)
        if not (plan.programs or plan.others) or dry_run:
            return
        wanted, former = wanted_level(sandbox, campaign.settings.sandbox), report.best(campaign)
        settings, home = campaign.settings, workspace()
        request = RunRequest(settings, task, campaign.plugins, home, campaign=campaign, wanted=wanted, devices=grant)
        ending = _evaluate(campaign, plan, request, as_json=as_json)
        _print_end(campaign, ending, former.name if former else "", as_json=as_json)


def _print_cost(campaign: Campaign, plan: Rejudging, *, as_json: bool) -> None:
    old, new, each = campaign.task.version, plan.task.version, plan.seconds
    if as_json:
        versions = {"old_version": old, "new_version": new}
        emit(
            {
                "event": "estimate",
                "campaign": campaign.name,
                **versions,
                "programs": plan.programs,
                "seconds_each": each,
            }
        )
        return
    until_now = "" if new == old else f", until now {old[:16]}"
    rows = [("campaign", campaign.name), ("task", f"{plan.task.name}, version {new[:16]}{until_now}")]
    if not plan.programs:
        left = f"; {plan.others} measurements wait" if plan.others else ""
        rows.append(("to evaluate", f"nothing: this version has evaluated all of it already{left}"))
    else:
        rows.append(("to evaluate", wording.counted(plan.programs, "program")))
        workers, slots = wording.counted(campaign.settings.workers, "worker"), campaign.settings.workers
        cost = "not known" if each is None else f"about {wording.long_time(plan.programs * each / slots)} on {workers}"
        rows.append(("cost", cost))
    say(facts(rows))


def _evaluate(campaign: Campaign, plan: Rejudging, request: RunRequest, *, as_json: bool) -> Ending:
    with open_run(request, open_models=None) as run:
        note_isolation(run.confinement)
        # Workers are known to start by now, so that a log is never changed for nothing.
        with campaign.log.transaction():
            steps = begin(campaign, plan)
        try:
            with watch_campaign(campaign, err=as_json) as watch:
                return run.finish(RecordWatch(watch, emit) if as_json else watch, steps)
        except EvolveError as error:
            again = f"The history of campaign {campaign.name!r} is kept; the same command goes on with what is missing"
            raise type(error)(f"{str(error).rstrip('.')}. {again}") from error


def _print_end(campaign: Campaign, ending: Ending, former_best: str, *, as_json: bool) -> None:
    """Prints the result; exits by 130 where it was interrupted, and raises `SandboxError` where workers failed."""
    best, outcomes = report.best(campaign), _outcomes(campaign)
    if as_json:
        emit(
            {
                "event": "ended",
                "campaign": campaign.name,
                "reason": ending.reason,
                "left": ending.left,
                "rejudged": campaign.state.progress.rejudged,
                "outcomes": outcomes,
                "former_best": former_best,
                "best": best,
            }
        )
    else:
        waiting = f", {wording.waiting(ending.left)}" if ending.left else ""
        rows = [
            ("evaluated", f"{wording.outcomes(outcomes)}{waiting}"),
            ("best before", former_best or "none"),
            *summary.format_best_program(campaign, best, report.front_line(campaign)),
            ("next", summary.next_commands(campaign, best)[-2]),
        ]
        say(facts(rows))
    if ending.reason != "finished":
        click.get_current_context().exit(INTERRUPTED)
    failed = outcomes.get(Outcome.INTERNAL.value, 0)
    if failed:
        raise SandboxError(
            f"the workers failed on {failed} of the programs, which hold no place before they are evaluated. "
            f"Try: `evolve program list {campaign.name} --all` names them, and then the same command evaluates what is missing"
        )


def _outcomes(campaign: Campaign) -> dict[str, int]:
    """Returns how many evaluations by the newer version ended in which outcome, the seed included."""
    history, since = campaign.state.history, campaign.state.columns.since
    records = [campaign.log.settled(number).record for number in range(since + 1, len(history) + 1)]
    again = [record for record in records if record.origin.why == REJUDGED or record.origin.kind == "seed"]
    return {outcome.value: count for outcome, count in Counter(one.evaluation.outcome for one in again).most_common()}
