"""`evolve run`: composes plugins, task, workers, models, campaign and loop.

Everything wrong with the command is found before anything is made; evaluation processes start before any thread does, and a campaign's
log is made after the task's evaluator has loaded."""

from contextlib import ExitStack, closing
from typing import Any

import click

import evolve.engine
from evolve.campaign import Campaign, logs, workspace
from evolve.campaign.fitting import operators_of
from evolve.cli import dry_run, summary
from evolve.cli.devices import devices_option, grant_devices
from evolve.cli.errors import INTERRUPTED
from evolve.cli.isolation import Confined, confined, for_campaign, is_harmless, sandbox_option
from evolve.cli.model_specs import announce_calls, name_model
from evolve.cli.output import debug_option, emit, json_option, say
from evolve.cli.progress import print_warnings, watch_campaign
from evolve.cli.request import Plan, Request, continued_plan, new_plan
from evolve.devices import Grant
from evolve.engine.members import Members
from evolve.engine.tracking import tracked, trackers_of
from evolve.evaluation.executor import LocalExecutor
from evolve.plugins import load
from evolve.types import ConfigError, EvolveError, ModelError


def _only_one(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> str | None:
    """Returns the campaign file, if one is given; a usage error for two, of which the first would silently not count."""
    if len(files) > 1:
        raise click.UsageError(f"-c names one campaign file, got {', '.join(files)}. Do: write what both say into one")
    return files[0] if files else None


@click.command()
@click.argument("task", required=False)
@click.option(
    "--continue", "resume", is_flag=False, flag_value="", metavar="[NAME]", help="Go on with a campaign (the last)."
)
@click.option(
    "-c",
    "--config",
    "file",
    multiple=True,
    callback=_only_one,
    metavar="FILE",
    help="A campaign file: settings that these options change.",
)
@click.option("--name", help="Name of the new campaign.  [default: the task's, with a number]")
@click.option(
    "--budget", multiple=True, help="60s, 2h, 500programs, until=07:30, fitness=2.6; the first one spent ends it."
)
@click.option("--seed", type=int, help="Seed of all random decisions.  [default: 0]")
@click.option("--strategy", help="What decides what is tried next.  [default: islands]")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="SPEC",
    help="A language model: NAME, NAME@URL, mailbox:DIR, cassette:FILE, ...; several are drawn from. See docs/models.md.",
)
@click.option(
    "--tracker",
    "trackers",
    multiple=True,
    metavar="NAME",
    help="Tell a tracker of each record: jsonl, tensorboard, wandb, ...; may be repeated.",
)
@click.option("--workers", "judges", type=int, help="Candidates judged side by side.  [default: one per core]")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting; task.KEY is the task's parameter."
)
@click.option("--dry-run", "rehearse", is_flag=True, help="Load the evaluator, show what would run, and make nothing.")
@click.option("--deterministic", is_flag=True, help="One step at a time: equal seeds give equal logs.")
@sandbox_option
@devices_option
@json_option
@debug_option
def run(rehearse: bool, as_json: bool, **words: Any) -> None:
    """Search for better programs on TASK: a task's name, a folder with a task.toml, or a task in one file.

    A new campaign is opened, unless --continue names one; TASK may be left out where a campaign file or --continue says it. --budget is
    the campaign's total over all its runs; Ctrl-C ends a run and keeps everything.
    """
    request = Request(**words)
    devices = grant_devices(request.devices)
    if request.resume is None:
        plan = new_plan(request, load(), workspace())
        start = _rehearse if rehearse else _search
        start(plan, confine_plan(plan), None, devices, as_json=as_json)
        return
    with Campaign.open(request.resume or None, load(), workspace(), readonly=rehearse) as campaign:
        plan = continued_plan(request, campaign)
        if campaign.state.difference is not None:
            say(f"evolve: warning: the replayed archive differs at {campaign.state.difference}", err=True)
        start = _rehearse if rehearse else _search
        start(plan, for_campaign(campaign, plan.wish, plan.task), campaign, devices, as_json=as_json)


def confine_plan(plan: Plan) -> Confined:
    """Returns the means for the candidates of a new campaign."""
    operators = operators_of(plan.settings, plan.plugins)
    return confined(plan.task, plan.wish, harmless=is_harmless(plan.task, operators, plan.plugins))


def open_models(plan: Plan, resources: ExitStack) -> Members:
    """Returns the models, each of which has answered; raises the error of the first that does not."""
    sections = plan.settings.models.members
    try:
        with announce_calls([section.name for section in sections]):
            return Members.opened(plan.settings, plan.plugins, resources)
    except EvolveError as error:
        section = next((one for one in sections if str(error).startswith(f"model {one.name!r}")), None)
        if section is None:
            raise
        raise name_model(section, error, plan.plugins) from error


def _rehearse(plan: Plan, found: Confined, campaign: Campaign | None, devices: Grant, *, as_json: bool) -> None:
    preview = dry_run.preview_cost(plan, campaign)
    executor = LocalExecutor(plan.task, 1, means=found.means, hidden=logs(workspace()), devices=devices)
    with closing(executor):
        judge = executor.describe()
    if as_json:
        emit(dry_run.describe_plan(plan, judge, preview))
    else:
        say(dry_run.format_plan(plan, judge, preview))


def _search(plan: Plan, found: Confined, campaign: Campaign | None, devices: Grant, *, as_json: bool) -> None:
    """Runs a new campaign, or more of one."""
    home = workspace()
    hidden = logs(home, campaign.log.path if campaign else None)
    with ExitStack() as resources:
        executor = LocalExecutor(plan.task, plan.settings.judges, means=found.means, hidden=hidden, devices=devices)
        resources.callback(executor.close)
        judges = executor.describe()
        trackers = trackers_of(plan.settings.trackers, plan.plugins)
        members = open_models(plan, resources)
        if campaign is None:
            campaign = Campaign.create(plan.settings, plan.task, plan.plugins, home, plan.name)
            resources.enter_context(campaign)
        elif plan.changes:
            campaign.change(dict(plan.changes))
        say(summary.format_beginning(campaign, found.line), err=as_json)
        try:
            with (
                watch_campaign(campaign, as_json=as_json) as watch,
                print_warnings(),
                tracked(campaign, watch, trackers) as tracking,
            ):
                ending = tracking.ending = evolve.engine.run(campaign, executor, judges, tracking.watch, members)
        except EvolveError as error:
            message = str(error).rstrip(".")
            kept = f"The log of campaign {campaign.name!r} is kept: {campaign.log.path}"
            raise type(error)(f"{message}. {kept}") from error
        _print_end(campaign, summary.describe_end(campaign, ending, trackers), as_json=as_json)


def _print_end(campaign: Campaign, end: summary.RunEnd, *, as_json: bool) -> None:
    """Prints what came of a run; raises `ModelError` where no model answered, and `ConfigError` where nothing was proposed."""
    if as_json:
        emit(end)
    unanswered, nothing = summary.without_answer(campaign, end), summary.without_proposal(campaign, end)
    if end.programs or not (unanswered or nothing):
        say(summary.format_end(campaign, end), err=as_json)
    if unanswered:
        raise ModelError(unanswered)
    if nothing:
        raise ConfigError(nothing)
    if end.reason in ("interrupted", "stopped"):
        click.get_current_context().exit(INTERRUPTED)
