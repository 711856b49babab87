"""`evolve run`: searches for better programs. Everything wrong with the command is found before anything is made."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from evolve.campaign import Campaign, workspace
from evolve.cli import dry_run, summary
from evolve.cli.devices import devices_option, grant_devices
from evolve.cli.errors import INTERRUPTED
from evolve.cli.isolation import sandbox_option
from evolve.cli.model_specs import announce_calls, name_model
from evolve.cli.output import debug_option, emit, json_option, say
from evolve.cli.progress import print_warnings, watch_campaign
from evolve.cli.request import Plan, Request, continued_plan, new_plan
from evolve.config import Settings
from evolve.devices import Grant
from evolve.engine import OpenRun, RunRequest, open_run
from evolve.engine.metering import Members
from evolve.plugins import Plugins, load
from evolve.types import EvolveError


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
        _start(new_plan(request, load(), workspace()), None, devices, rehearse=rehearse, as_json=as_json)
        return
    with Campaign.open(request.resume or None, load(), workspace(), readonly=rehearse) as campaign:
        plan = continued_plan(request, campaign)
        if campaign.state.difference is not None:
            say(f"evolve: warning: the replayed archive differs at {campaign.state.difference}", err=True)
        _start(plan, campaign, devices, rehearse=rehearse, as_json=as_json)


def _start(plan: Plan, campaign: Campaign | None, devices: Grant, *, rehearse: bool, as_json: bool) -> None:
    request = run_request(plan, workspace(), campaign, devices)
    if rehearse:
        _rehearse(plan, request, as_json=as_json)
        return
    with open_run(request, open_models) as opened:
        _search(opened, as_json=as_json)


def run_request(plan: Plan, home: Path, campaign: Campaign | None, devices: Grant) -> RunRequest:
    """Returns the run of a plan: of an open campaign, or of a new one in the workspace `home`."""
    name, changes = plan.name, plan.changes
    return RunRequest(plan.settings, plan.task, plan.plugins, home, name, campaign, changes, plan.wanted, devices)


def open_models(settings: Settings, plugins: Plugins, resources: ExitStack) -> Members:
    """Returns the models, each of which has answered; raises the error of the first that does not."""
    sections = settings.models.members
    try:
        with announce_calls([section.name for section in sections]):
            return Members.open(settings, plugins, resources)
    except EvolveError as error:
        section = next((one for one in sections if str(error).startswith(f"model {one.name!r}")), None)
        if section is None:
            raise
        raise name_model(section, error, plugins) from error


def _rehearse(plan: Plan, request: RunRequest, *, as_json: bool) -> None:
    preview = dry_run.preview_cost(plan, request.campaign)
    means = request.confine().means
    with request.start_executor(means, 1) as executor:
        judge = executor.describe()
    if as_json:
        emit(dry_run.describe_plan(plan, judge, preview))
    else:
        say(dry_run.format_plan(plan, judge, preview))


def _search(opened: OpenRun, *, as_json: bool) -> None:
    campaign = opened.campaign
    say(summary.format_beginning(campaign, opened.confinement.line), err=as_json)
    with watch_campaign(campaign, as_json=as_json) as watch, print_warnings():
        ending = opened.search(watch)
    end = summary.describe_end(campaign, ending, opened.trackers)
    if as_json:
        emit(end)
    failure = summary.failure_of(campaign, end)
    if failure is None or end.programs:
        say(summary.format_end(campaign, end), err=as_json)
    if failure is not None:
        raise failure
    if end.reason in ("interrupted", "stopped"):
        click.get_current_context().exit(INTERRUPTED)
