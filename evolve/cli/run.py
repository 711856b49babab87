"""`evolve run`: searches for better programs. Everything wrong with the command is found before anything is made."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evolve.campaign import Campaign, campaigns, first_event, workspace
from evolve.campaign.settings import versions_of
from evolve.campaign.workspace import remove_campaign
from evolve.cli import summary
from evolve.cli.dry_run import describe_run, format_run
from evolve.cli.errors import INTERRUPTED
from evolve.cli.machine import devices_option, grant_devices, sandbox_option
from evolve.cli.output import emit, json_option, one_line, say
from evolve.cli.progress import RecordWatch, print_warnings, watch_campaign
from evolve.config import Settings
from evolve.engine import Ending, OpenRun, RunRequest, Unwatched, Watch, open_run
from evolve.engine.members import Members
from evolve.log import writer
from evolve.plugins import Plugins, load
from evolve.report import RecordLine
from evolve.run_options import RunOptions, plan_more, plan_new
from evolve.task import find, is_bundled, is_name, list_bundled
from evolve.types import EvolveError

_SLOW_SECONDS = 1.0
"""Seconds of a check of models until a person is told; a server that loads a model may need minutes."""

_FAILED_BYTES = 1 << 20
"""Size of the log of a campaign whose seed failed, at most."""


@click.command()
@click.argument("task", required=False)
@click.option(
    "--continue", "resume", is_flag=False, flag_value="", metavar="[NAME]", help="Go on with a campaign (the last)."
)
@click.option(
    "-c",
    "--config",
    "files",
    multiple=True,
    metavar="FILE",
    help="A campaign file: settings that these options change; may be repeated, the later wins.",
)
@click.option("--preset", metavar="NAME", help="Settings to begin with, such as a published method's.")
@click.option("--name", help="Name of the new campaign.  [default: the task's, with a number]")
@click.option(
    "--budget",
    multiple=True,
    help="60s, 2h, 500programs, 800evaluations, 4000cases, 100calls, 200000tokens, 5usd, 2gpuh, until=07:30, fitness=2.6; the first one spent ends it.",
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
@click.option("--workers", type=int, help="Candidates evaluated side by side.  [default: one per core]")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting; task.KEY is the task's parameter."
)
@click.option("--dry-run", "dry", is_flag=True, help="Load the evaluator, show what would run, and make nothing.")
@click.option("--deterministic", is_flag=True, help="One step at a time: equal seeds give equal logs.")
@sandbox_option
@devices_option
@json_option
def run(dry: bool, as_json: bool, **words: Any) -> None:
    """Search for better programs on TASK: a task's name, a folder with a task.toml, or a task in one file.

    A new campaign is opened, unless --continue names one; TASK may be left out where a campaign file or --continue says it. --budget is
    the campaign's total over all its runs; Ctrl-C ends a run and keeps everything.
    """
    options = RunOptions(**words)
    with open_request(options, readonly=dry) as request:
        if dry:
            described = describe_run(request)
            if as_json:
                emit(described)
            else:
                say(format_run(request, described))
            return
        with open_run(request, open_models) as opened:
            ending = search(opened, as_json=as_json)
    if ending.reason in ("interrupted", "stopped"):
        click.get_current_context().exit(INTERRUPTED)


@contextmanager
def open_request(options: RunOptions, home: Path | None = None, *, readonly: bool = False) -> Iterator[RunRequest]:
    """Yields the run that the options describe, with its campaign open where it goes on with one. Raises `EvolveError`."""
    home, plugins, devices = home or workspace(), load(), grant_devices(options.devices)
    if options.resume is None:
        request = plan_new(options, plugins, home, devices)
        print_hidden_task(request)
        yield request if readonly else replace_failed(request, named=options.name is not None)
        return
    with Campaign.open(options.resume or None, plugins, home, readonly=readonly) as campaign:
        if campaign.state.difference is not None:
            say(f"evolve: warning: the replayed archive differs at {campaign.state.difference}", err=True)
        request = plan_more(options, campaign, home, devices)
        print_changed_versions(campaign)
        yield request


def print_hidden_task(request: RunRequest) -> None:
    """Notes on stderr that a task of the current folder has the name of a bundled one, and is taken in its place."""
    name = request.settings.task
    # The bundled tasks are listed last: a run of one of them, or of a path, does not look through their folders.
    if is_name(name) and not is_bundled(Path(request.task.folder)) and name in list_bundled():
        say(f"evolve: note: the task {name} is the one in {find(name)}, not the bundled one of this name", err=True)


def print_changed_versions(campaign: Campaign) -> None:
    """Notes on stderr which versions are others than those that the campaign began with, if there are some."""
    before = first_event(campaign.log).versions
    now = versions_of(campaign.settings, campaign.task, campaign.plugins)
    changed = [f"{name} {old} -> {now[name]}" for name, old in before.items() if now.get(name, old) != old]
    if changed:
        say(
            f"evolve: note: versions have changed since campaign {campaign.name} began: {', '.join(changed)}; "
            f"`evolve campaign replay {campaign.name} --decisions` tells whether it decides as before",
            err=True,
        )


def replace_failed(request: RunRequest, *, named: bool) -> RunRequest:
    """Removes the campaign written last where its seed failed on the same task before anything was spent, and gives the new one its name."""
    # Whoever mends a seed runs again after each attempt; the log of the last one alone is of use, until the next begins.
    last = next(iter(campaigns(request.home)), None)
    if named or last is None or writer(last) is not None or not _has_failed(last, request):
        return request
    remove_campaign(last)
    say(f"evolve: note: this run replaces campaign {last.stem}, whose seed failed before anything was spent", err=True)
    return replace(request, name=last.stem)


def _has_failed(path: Path, request: RunRequest) -> bool:
    try:
        # A larger log is not read: a seed that fails ends a campaign within a few events.
        if path.stat().st_size > _FAILED_BYTES:
            return False
        # For writing, since a reader leaves files beside the log.
        with Campaign.open(str(path), request.plugins, request.home, readonly=False) as campaign:
            state, spent = campaign.state, campaign.state.progress
            failed = bool(state.seed_record) and not state.seed_values
            same = campaign.task.name == request.task.name
            return same and failed and not (spent.programs or spent.calls or spent.tokens or spent.money)
    except (EvolveError, OSError):
        # What cannot be read may be of worth to somebody.
        return False


def open_models(settings: Settings, plugins: Plugins, resources: ExitStack) -> Members:
    """Returns the models, each of which has answered; raises the error of the first that does not."""
    with announce_calls([section.name for section in settings.models.members]):
        return Members.open(settings, plugins, resources)


@contextmanager
def announce_calls(names: Sequence[str], after: float = _SLOW_SECONDS) -> Iterator[None]:
    """Tells on stderr which models are being called when the body takes longer than `after` seconds."""
    timer = threading.Timer(after, say, [f"evolve: calling {one_line(', '.join(names))} ..."], {"err": True})
    # A command that fails meanwhile must not wait for it.
    timer.daemon = True
    if names:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def search(
    opened: OpenRun,
    *,
    as_json: bool = False,
    quiet: bool = False,
    on_record: Callable[[RecordLine], object] | None = None,
) -> Ending:
    """Runs a campaign to its end, and prints its beginning, its progress and its end (`quiet`: nothing of these). With JSON, each record and the end are a line on
    stdout, and people read stderr. Raises `EvolveError` for a run that could try nothing."""
    campaign = opened.campaign
    if not quiet:
        say(summary.format_beginning(campaign, opened.confinement.line), err=as_json)
    on_record = emit if as_json else on_record
    shown = nullcontext[Watch](Unwatched()) if quiet else watch_campaign(campaign, err=as_json)
    with shown as watch, print_warnings():
        ending = opened.search(watch if on_record is None else RecordWatch(watch, on_record))
    if as_json:
        emit(summary.describe_end(campaign, ending, opened.trackers))
    failure = summary.failure_of(campaign, ending)
    if not quiet and (failure is None or campaign.state.progress.programs):
        say(summary.format_end(campaign, ending, opened.trackers), err=as_json)
    if failure is not None:
        raise failure
    return ending
