"""`evolve run`: composes plugins, task, judges, campaign and loop.

Invariant: what is wrong with the command is found before anything is made; judges start before any thread does, and a campaign's log
is made after the task's evaluator has loaded."""

from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import click

import evolve.engine
from evolve.campaign import Campaign, logs, workspace
from evolve.campaign.fitting import operators_of
from evolve.cli import dry_run, foreseeing, summary
from evolve.cli.announcing import announced
from evolve.cli.beginning import beginning
from evolve.cli.display import watching
from evolve.cli.errors import INTERRUPTED
from evolve.cli.granting import devices_option, granted
from evolve.cli.isolation import Confined, confined, for_campaign, is_harmless, sandbox_option
from evolve.cli.models import told_of
from evolve.cli.notices import noticed
from evolve.cli.output import debug_option, emit, json_option
from evolve.cli.request import Plan, Request, continued_plan, new_plan
from evolve.cli.say import say
from evolve.devices import Grant
from evolve.engine.members import Members
from evolve.engine.tracker import Tracking
from evolve.engine.tracking import tracked, trackers_of
from evolve.evaluation import Description
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
@click.option("--judges", type=int, help="Candidates judged side by side.  [default: one per core]")
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
    devices = granted(request.devices)
    if request.resume is None:
        _begin(new_plan(request, load(), workspace()), devices, rehearse=rehearse, as_json=as_json)
    else:
        with Campaign.open(request.resume or None, load(), workspace(), readonly=rehearse) as campaign:
            _go_on(continued_plan(request, campaign), campaign, devices, rehearse=rehearse, as_json=as_json)


def _begin(plan: Plan, devices: Grant, *, rehearse: bool, as_json: bool) -> None:
    if rehearse:
        _show(plan, confined_for(plan), None, devices, as_json=as_json)
        return
    found = confined_for(plan)
    home = workspace()
    with ExitStack() as resources:
        executor = LocalExecutor(plan.task, plan.settings.judges, means=found.means, hidden=logs(home), devices=devices)
        resources.callback(executor.close)
        judges = executor.describe()
        trackers = trackers_of(plan.settings.trackers, plan.plugins)
        members = opened_models(plan, resources)
        campaign = resources.enter_context(Campaign.create(plan.settings, plan.task, plan.plugins, home, plan.name))
        company = Company(members, trackers)
        _search(campaign, executor, Judges(judges, found.line), company, as_json=as_json)


def _go_on(plan: Plan, campaign: Campaign, devices: Grant, *, rehearse: bool, as_json: bool) -> None:
    if campaign.state.difference is not None:
        say(f"evolve: warning: the replayed archive differs at {campaign.state.difference}", err=True)
    found = for_campaign(campaign, plan.wish, plan.task)
    if rehearse:
        _show(plan, found, campaign, devices, as_json=as_json)
        return
    hidden = logs(workspace(), campaign.log.path)
    with ExitStack() as resources:
        executor = LocalExecutor(plan.task, plan.settings.judges, means=found.means, hidden=hidden, devices=devices)
        resources.callback(executor.close)
        judges = executor.describe()
        company = Company(opened_models(plan, resources), trackers_of(plan.settings.trackers, plan.plugins))
        if plan.changes:
            campaign.change(dict(plan.changes))
        _search(campaign, executor, Judges(judges, found.line), company, as_json=as_json)


def opened_models(plan: Plan, resources: ExitStack) -> Members:
    """The models, which answer; else the error of the first that does not."""
    names = [section.name for section in plan.settings.models.members]
    try:
        with announced(names):
            return Members.opened(plan.settings, plan.plugins, resources)
    except EvolveError as error:
        sections = plan.settings.models.members
        section = next((one for one in sections if str(error).startswith(f"model {one.name!r}")), None)
        if section is None:
            raise
        raise told_of(section, error, plan.plugins) from error


def confined_for(plan: Plan) -> Confined:
    """The means for the candidates of a new campaign."""
    settings, plugins = plan.settings, plan.plugins
    operators = operators_of(settings, plugins)
    return confined(plan.task, plan.wish, harmless=is_harmless(plan.task, operators, plugins))


def _show(plan: Plan, found: Confined, campaign: Campaign | None, devices: Grant, *, as_json: bool) -> None:
    foreseen = foreseeing.foreseen(plan, campaign)
    executor = LocalExecutor(plan.task, 1, means=found.means, hidden=logs(workspace()), devices=devices)
    with closing(executor):
        judge = executor.describe()
    if as_json:
        emit(dry_run.rehearsed(plan, judge, foreseen))
    else:
        say(dry_run.told(plan, judge, foreseen))


@dataclass(frozen=True, slots=True)
class Judges:
    """What the judges say of themselves, and the line that tells how well they isolate."""

    description: Description
    isolation: str


@dataclass(frozen=True, slots=True)
class Company:
    """Who takes part beside the judges: the models that propose, and the trackers that are told."""

    members: Members
    trackers: tuple[Tracking, ...] = ()


def _search(campaign: Campaign, executor: LocalExecutor, judges: Judges, company: Company, *, as_json: bool) -> None:
    say(beginning(campaign, judges.isolation), err=as_json)
    try:
        with (
            watching(campaign, as_json=as_json) as watch,
            noticed(),
            tracked(campaign, watch, company.trackers) as told,
        ):
            ending = evolve.engine.run(campaign, executor, judges.description, told.watch, company.members)
            told.ending = ending
    except EvolveError as error:
        message = str(error).rstrip(".")
        raise type(error)(f"{message}. The log of campaign {campaign.name!r} is kept: {campaign.log.path}") from error
    end = summary.ended(campaign, ending, company.trackers)
    if as_json:
        emit(end)
    unanswered = summary.no_answer(campaign, end)
    if unanswered:
        if end.programs:
            say(summary.closing_words(campaign, end), err=as_json)
        raise ModelError(unanswered)
    if summary.found_nothing(end):
        raise ConfigError(summary.nothing_to_try(campaign, end))
    say(summary.closing_words(campaign, end), err=as_json)
    if ending.reason in ("interrupted", "stopped"):
        click.get_current_context().exit(INTERRUPTED)
