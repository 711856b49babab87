"""The campaigns of a comparison: what there is of each is used again, and what is missing is run.

Invariant: the arms of one seed run one after the other before the next seed begins, so that a machine that slows down is slow for all alike;
a campaign of this name that was made otherwise is never continued."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from evolve.campaign import Campaign
from evolve.campaign.fitting import budget_of
from evolve.cli.arms import Contestant, check_equal, name_of, path_of
from evolve.cli.output import flat, say
from evolve.cli.progress import print_warnings
from evolve.cli.request import Plan, Request, new_plan
from evolve.cli.run import open_models, run_request
from evolve.compare import Course, beside, course
from evolve.devices import Grant
from evolve.engine import Unwatched, open_run
from evolve.plugins import Plugins
from evolve.types import ConfigError, TaskError


@dataclass(frozen=True, slots=True)
class Contest:
    """All that is to be run: `arms` x `seeds`, with campaigns whose names begin with `base`."""

    arms: tuple[Contestant, ...]
    seeds: tuple[int, ...]
    common: Request
    base: str

    def __len__(self) -> int:
        return len(self.arms) * len(self.seeds)

    def entries(self) -> Iterator[tuple[Contestant, int, str]]:
        """Arm, seed and name of each campaign, in the order in which they run."""
        return ((arm, seed, name_of(self.base, arm, seed)) for seed in self.seeds for arm in self.arms)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where campaigns are run: the workspace, and what may be leased there."""

    home: Path
    plugins: Plugins
    devices: Grant


def plans(contest: Contest, stage: Stage) -> tuple[Plan, ...]:
    """What each campaign is to be, as its entry's place; raises `ConfigError` or `TaskError` for what is wrong with any, before
    anything is run: also where a campaign of the name was made otherwise."""
    found = []
    for arm, seed, name in contest.entries():
        log = path_of(stage.home, name)
        plan = new_plan(arm.request(contest.common, seed, "" if log else name), stage.plugins, stage.home)
        check_equal(budget_of(plan.settings, plan.task))
        if log is not None:
            with Campaign.open(name, stage.plugins, stage.home) as campaign:
                _check_same(campaign, plan)
        found.append(plan)
    return tuple(found)


def _check_same(campaign: Campaign, plan: Plan) -> None:
    """Raises `ConfigError` where the campaign is another one than what is planned."""
    wanted, given = (_told(settings.model_dump(mode="json")) for settings in (plan.settings, campaign.settings))
    different = sorted(key for key in wanted.keys() | given.keys() if wanted.get(key) != given.get(key))
    if campaign.task.version != plan.task.version:
        different = ["the task's version"]
    if different:
        raise ConfigError(
            f"there is a campaign {campaign.name!r} that was made otherwise: it differs in {', '.join(different[:3])}. "
            "Do: --name for a comparison of its own, or compare what there is with --read"
        )


def _told(values: dict[str, object]) -> dict[str, str]:
    """All that changes the search, or says which one it is; what follows from anything else is told with the result."""
    return {key: value for key, value in flat(values) if not beside(key)}


def run(contest: Contest, ready: Sequence[Plan], stage: Stage) -> tuple[dict[str, list[Course]], bool]:
    """The courses of each arm, and whether all campaigns are finished: an interrupt ends it before. What is found is told on stderr, one
    line for each campaign."""
    found: dict[str, list[Course]] = {arm.name: [] for arm in contest.arms}
    for place, ((arm, seed, name), plan) in enumerate(zip(contest.entries(), ready, strict=True), 1):
        how, went_on = _one(name, plan, stage)
        with Campaign.open(name, stage.plugins, stage.home) as campaign:
            result = course(campaign)
        found[arm.name].append(result)
        say(f"{place:4}/{len(contest)}  {arm.name}, seed {seed}: {result.told()}{how}  {name}", err=True)
        if not went_on:
            return found, False
    return found, True


def _one(name: str, plan: Plan, stage: Stage) -> tuple[str, bool]:
    """Runs what is missing of a campaign; what there was before, and whether to go on."""
    if path_of(stage.home, name) is None:
        return "", _search(plan, stage, name)
    with Campaign.open(name, stage.plugins, stage.home) as campaign:
        before = course(campaign)
    if before.ended:
        return " (there already)", True
    return f" (went on after {before.spent.programs})", _search(plan, stage, name)


def _search(plan: Plan, stage: Stage, name: str) -> bool:
    """Begins a campaign or goes on with it; False where it was interrupted. A seed that fails is a result, which its course tells."""
    with ExitStack() as resources:
        campaign = None
        if path_of(stage.home, name) is not None:
            campaign = resources.enter_context(Campaign.open(name, stage.plugins, stage.home, readonly=False))
        request = replace(run_request(plan, stage.home, campaign, stage.devices), name=name, changes={})
        run = resources.enter_context(open_run(request, open_models))
        campaign = run.campaign
        try:
            with print_warnings():
                ending = run.search(Unwatched())
        except TaskError:
            if campaign.state.seed_record and not campaign.state.seed_values:
                return True
            raise
    return ending.reason not in ("interrupted", "stopped")
