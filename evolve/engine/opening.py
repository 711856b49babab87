"""The composition root: makes everything that one run of a campaign needs, for every command, for tests and for Python."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolve.campaign import Campaign, logs
from evolve.campaign.settings import operators_of
from evolve.config import ExecutorSection, Settings
from evolve.devices.leases import EVERYTHING, Grant
from evolve.engine.isolation import Confinement, WantedLevel, confine, confine_campaign, is_harmless, make_opener
from evolve.engine.loop import Ending, run
from evolve.engine.members import NOBODY, Members
from evolve.engine.trackers import TrackerThread, Watch, make_trackers, track
from evolve.hookspecs import ExecutorRequest
from evolve.plugins import Plugins
from evolve.protocols import Executor, SessionOpener
from evolve.sandbox.means import Means
from evolve.types import Asked, EvolveError, Level, SandboxError, Task

LOCAL = ExecutorSection()
"""Workers on this machine."""
OpenModels = Callable[[Settings, Plugins, ExitStack], Members]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run that is wanted: of `campaign`, open for writing, with `changes` of its settings, or of a new one in the workspace `home`. `settings` and `task` are
    those of the run. `slots` is the number of evaluation workers where it is not that of the settings; `brought`: programs from elsewhere are evaluated.
    `sources` are the keys of the settings that each source gave, such as a campaign file; the later ones win.
    """

    settings: Settings
    task: Task
    plugins: Plugins
    home: Path
    name: str | None = None
    campaign: Campaign | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    wanted: WantedLevel = field(default_factory=WantedLevel)
    devices: Grant = EVERYTHING
    slots: int = 0
    brought: bool = False
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def confine(self) -> Confinement:
        """Returns the means that confine the run's candidates. Raises `SandboxError` or `TaskError`. Call before any thread is started."""
        if self.campaign is not None:
            return confine_campaign(self.campaign, self.wanted, self.task, brought=self.brought)
        operators = operators_of(self.settings, self.plugins)
        return confine(self.task, self.wanted, harmless=is_harmless(self.task, operators, self.plugins))

    @property
    def hidden(self) -> Sequence[str]:
        """Paths of which no candidate sees anything: the workspace, and the log where that lies elsewhere."""
        return logs(self.home, None if self.campaign is None else self.campaign.log.path)

    def start_executor(self, means: Means, slots: int) -> closing[Executor]:
        """Returns a context manager of the executor that the settings name."""
        wanted = ExecutorRequest(self.task, slots, means, self.hidden, self.devices)
        return open_executor(self.plugins, wanted, self.settings.executor)


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A campaign with everything that a run of it needs. Main thread."""

    campaign: Campaign
    executor: Executor
    confinement: Confinement
    models: Members
    trackers: tuple[TrackerThread, ...]
    open_session: SessionOpener

    def search(self, watch: Watch) -> Ending:
        """Runs the campaign until its budget is spent, it is exhausted, or a person stops it. Raises `EvolveError` that names the log, which is kept."""
        campaign = self.campaign
        try:
            with track(campaign, watch, self.trackers) as tracking:
                ending = run(campaign, self.executor, tracking, self.models, open_session=self.open_session)
                tracking.reason = ending.reason
                return ending
        except EvolveError as error:
            message = str(error).rstrip(".")
            raise type(error)(
                f"{message}. The log of campaign {campaign.name!r} is kept: {campaign.log.path}"
            ) from error

    def finish(self, watch: Watch, steps: Sequence[Asked]) -> Ending:
        """Runs these steps, which are in the log, and the measurements that their results call for."""
        return run(self.campaign, self.executor, watch, only=steps)


def open_executor(plugins: Plugins, wanted: ExecutorRequest, section: ExecutorSection = LOCAL) -> closing[Executor]:
    """Returns a context manager of the executor that a section of settings names: without one, workers on this machine, for commands outside
    any campaign."""
    return closing(plugins.executor(section.name, section.settings, wanted))


def _check_isolation(executor: Executor, confinement: Confinement) -> None:
    # An executor of a plugin may have workers elsewhere; scores must not rest on less than the run says.
    wanted, described = confinement.means.level, executor.describe().isolation
    level = Level.of(described)
    if level is None or not level.reaches(wanted):
        raise SandboxError(
            f"the run isolates candidates at {str(wanted)!r}, and its executor does so by {described!r}. Try: mend the executor, which gets the means in "
            f"its request, or ask for less (--sandbox {level or Level.NONE})"
        )


@contextmanager
def open_run(request: RunRequest, open_models: OpenModels | None = Members.open) -> Iterator[OpenRun]:
    """Opens everything that a run needs, and closes it in the opposite order; without `open_models` the run calls no model and no tracker. A new
    campaign's log is made last, when the evaluator has loaded and every model has answered. Raises `EvolveError`."""
    campaign, settings, slots = request.campaign, request.settings, request.slots or request.settings.workers
    # Before any thread is started: workers inherit a process without locks that another thread holds.
    confinement = request.confine()
    with ExitStack() as resources:
        executor = resources.enter_context(request.start_executor(confinement.means, slots))
        _check_isolation(executor, confinement)
        trackers: tuple[TrackerThread, ...] = ()
        models = NOBODY
        if open_models is not None:
            trackers = make_trackers(settings.trackers, request.plugins)
            models = open_models(settings, request.plugins, resources)
        if campaign is None:
            campaign = resources.enter_context(
                Campaign.create(settings, request.task, request.plugins, request.home, request.name)
            )
        elif request.changes:
            campaign.change(request.changes)
        open_session = make_opener(confinement.means, (request.task.folder, *request.hidden))
        yield OpenRun(campaign, executor, confinement, models, trackers, open_session)
