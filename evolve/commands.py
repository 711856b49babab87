"""Parts of a plugin's command: options, output, programs by their names, campaigns to run and programs to evaluate.

A package that adds to the command line (entry-point group `evolve.commands`) imports this module and nothing of `evolve.cli`."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import evolve.task
from evolve.atomic_write import atomic_write
from evolve.campaign import Campaign, log_path, logs, workspace
from evolve.campaign.settings import budget_of
from evolve.cli.errors import INTERRUPTED
from evolve.cli.machine import devices_option, grant_devices, sandbox_option
from evolve.cli.output import CELL, brief, debug_option, emit, facts, flat, json_option, one_line, say, table
from evolve.cli.progress import print_warnings
from evolve.cli.record import open_program
from evolve.cli.run import open_models
from evolve.devices.leases import EVERYTHING, Grant
from evolve.engine import RunRequest, Unwatched, open_executor, open_run
from evolve.engine.dispatcher import trial_seed
from evolve.engine.isolation import WantedLevel, confine
from evolve.engine.isolation import wanted_level as choose_isolation
from evolve.evaluation import Description, Job, Report, decode_report, encode_job
from evolve.hookspecs import ExecutorRequest
from evolve.measuring import Submits
from evolve.plugins import Plugins
from evolve.plugins import load as load_plugins
from evolve.run_options import RunOptions, find_task
from evolve.run_options import plan_new as plan_campaign
from evolve.types import Parameters, Program, Task, TaskError, Trial

__all__ = [
    "CELL",
    "INTERRUPTED",
    "Description",
    "Grant",
    "Plugins",
    "Report",
    "RunOptions",
    "RunRequest",
    "Worker",
    "atomic_write",
    "brief",
    "budget_of",
    "confine",
    "debug_option",
    "devices_option",
    "emit",
    "facts",
    "flat",
    "grant_devices",
    "json_option",
    "load_plugins",
    "load_task",
    "plan_campaign",
    "one_line",
    "open_worker",
    "open_program",
    "run_campaign",
    "sandbox_option",
    "say",
    "table",
    "trial_seed",
    "choose_isolation",
]


def load_task(campaign: Campaign, moved: str | None = None) -> Task:
    """Returns a campaign's task as it lies on the disk, at `moved` where it is elsewhere now; raises `TaskError`."""
    return evolve.task.load(find_task(campaign, moved), campaign.task.parameters)


def run_campaign(request: RunRequest, name: str) -> bool:
    """Begins a campaign, or goes on with one that exists, without a word; returns False where it was interrupted. A seed program that fails ends the campaign, and is no error."""
    with ExitStack() as resources:
        campaign = None
        if log_path(request.home, name).is_file():
            campaign = resources.enter_context(Campaign.open(name, request.plugins, request.home, readonly=False))
        run = resources.enter_context(open_run(replace(request, campaign=campaign, name=name), open_models))
        try:
            with print_warnings():
                ending = run.search(Unwatched())
        except TaskError:
            if run.campaign.state.seed_record and not run.campaign.state.seed_values:
                return True
            raise
    return ending.reason not in ("interrupted", "stopped")


@dataclass(frozen=True, slots=True)
class Worker:
    """Process that evaluates programs of one task in a sandbox, one at a time, outside any campaign."""

    executor: Submits
    description: Description

    def evaluate(self, program: Program, trial: Trial, *, ungated: bool = False) -> Report:
        """Returns the evaluation of a program and the texts that it names; `ungated`: thresholds of stages do not end it early, as on a held-out case."""
        return self._report(Job("evaluate", "evaluate", trial, files=program.files, ungated=ungated))

    def certify(self, artifacts: Mapping[str, str], parameters: Parameters) -> Report:
        """Returns the exact value that the task's `certify` finds in artifacts, which are JSON."""
        return self._report(
            Job("certify", "certify", Trial(stage="certify", parameters=parameters), artifacts=artifacts)
        )

    def _report(self, job: Job) -> Report:
        return decode_report(self.executor.submit(job.id, encode_job(job)).result())


@contextmanager
def open_worker(task: Task, wish: WantedLevel) -> Iterator[Worker]:
    """Starts a worker that is isolated as `--sandbox` wishes, and closes it afterwards; raises `SandboxError`, `TaskError`."""
    wanted = ExecutorRequest(task, 1, confine(task, wish).means, logs(workspace()), EVERYTHING)
    with open_executor(load_plugins(), wanted) as executor:
        yield Worker(executor, executor.describe())
