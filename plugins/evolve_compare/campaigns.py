"""Campaigns of a comparison: which there are, which are missing, and running those.

All arms of one seed run before the next seed begins, so that a machine that slows down is slow for all alike; a campaign of the same name that was made otherwise is never continued."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from evolve.campaign import Campaign, campaigns, log_path
from evolve.commands import Grant, Plugins, RunOptions, RunRequest, budget_of, flat, plan_campaign, run_campaign, say
from evolve.stop import Amount, Budget
from evolve.types import ConfigError
from evolve.types.errors import did_you_mean
from evolve_compare.fairness import ComparedArm
from evolve_compare.outcomes import CampaignOutcome, changes_search, read_outcome

_LONGEST = 40
"""Characters of an arm's name in the names of its campaigns."""


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """Arm to run: its settings beside those that all arms have. `label` stands for it in the names of its campaigns."""

    name: str
    label: str
    preset: str | None = None
    strategy: str | None = None
    models: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonRuns:
    """Campaigns to run: `arms` x `seeds`, with names that begin with `base`, in the workspace `home`."""

    arms: tuple[ArmSettings, ...]
    seeds: tuple[int, ...]
    common: RunOptions
    base: str
    home: Path
    plugins: Plugins
    devices: Grant

    def __len__(self) -> int:
        return len(self.arms) * len(self.seeds)

    def entries(self) -> Iterator[tuple[ArmSettings, int, str]]:
        """Yields arm, seed and name of each campaign, in the order in which they run."""
        return ((arm, seed, f"{self.base}-{arm.label}-s{seed}") for seed in self.seeds for arm in self.arms)

    def exists(self, name: str) -> bool:
        """Returns whether there is a campaign of this name; raises `ConfigError` for what cannot be one."""
        return log_path(self.home, name).is_file()

    def read(self, name: str) -> CampaignOutcome:
        """Returns the outcome of a campaign until now."""
        with Campaign.open(name, self.plugins, self.home) as campaign:
            return read_outcome(campaign)


def parse_arms(strategies: Sequence[str], arms: Sequence[str]) -> tuple[ArmSettings, ...]:
    """Returns the arms: strategies by their names, then those written `NAME: key=value key=value`. Raises `ConfigError` for fewer than two, and for two of one name."""
    found = [*(ArmSettings(name, _label(name), strategy=name) for name in strategies), *map(_parse_arm, arms)]
    if len(found) < 2:
        raise ConfigError(
            f"a comparison has at least two arms, got {len(found)}. Try: name them, such as --strategy islands --strategy random"
        )
    for what, names in (("name", [one.name for one in found]), ("name in file names", [one.label for one in found])):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ConfigError(f"each arm has a {what} of its own, got {twice[0]!r} twice. Try: choose another")
    return tuple(found)


def _parse_arm(text: str) -> ArmSettings:
    name, colon, rest = text.partition(":")
    name = " ".join(name.split())
    if not name or not colon:
        raise ConfigError(
            f"an arm is written 'NAME: key=value key=value', got {text!r}. Try: --arm 'two islands: archive.islands=2'"
        )
    given: dict[str, str | None] = {"preset": None, "strategy": None}
    models, others = [], []
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise ConfigError(f"the arm {name!r} cannot be read: {error}. Try: close its quotes") from error
    for word in words:
        key, _, value = word.partition("=")
        if key in given:
            given[key] = value
        elif key == "model":
            models.append(value)
        else:
            others.append(word)
    return ArmSettings(name, _label(name), given["preset"], given["strategy"], tuple(models), tuple(others))


def _label(name: str) -> str:
    """Returns a name as a part of a file's name."""
    label = re.sub(r"[^A-Za-z0-9.]+", "_", name).strip("_.")[:_LONGEST]
    if not label:
        raise ConfigError(f"an arm's name has a letter or a digit, got {name!r}. Try: choose another")
    return label


def default_base(task: str, budget: Sequence[str]) -> str:
    """Returns the beginning of the campaigns' names where nobody gives it."""
    amounts = "-".join(re.sub(r"[^A-Za-z0-9.]+", "", text) for text in budget)
    return f"{task.replace('/', '-')}-{amounts}"


def plan_campaigns(runs: ComparisonRuns) -> tuple[RunRequest, ...]:
    """Returns the plan of each entry; raises `ConfigError` or `TaskError` for what is wrong with any before one is run, such as a campaign of the name that was made otherwise."""
    plans = []
    for arm, seed, name in runs.entries():
        exists = runs.exists(name)
        request = replace(
            runs.common,
            name="" if exists else name,
            seed=seed,
            preset=arm.preset or runs.common.preset,
            strategy=arm.strategy,
            models=arm.models or runs.common.models,
            # An evaluation that an earlier arm has paid for would cost the next one nothing.
            assignments=(*runs.common.assignments, *arm.assignments),
        )
        plan = plan_campaign(request, runs.plugins, runs.home, runs.devices)
        check_equal(budget_of(plan.settings, plan.task))
        if exists:
            with Campaign.open(name, runs.plugins, runs.home) as campaign:
                _check_same(campaign, plan)
        plans.append(plan)
    return tuple(plans)


def check_equal(budget: Budget) -> None:
    """Raises `ConfigError` for no budget, and for one that not all arms spend alike."""
    leaves = budget.leaves()
    other = [str(leaf) for leaf in leaves if not isinstance(leaf, Amount)]
    if other or not leaves:
        got = repr(other[0]) if other else "none"
        raise ConfigError(
            f"a comparison needs a budget that all arms spend alike, got {got}. "
            "Try: give an amount, such as --budget 500programs; when a value was reached is told by --target"
        )


def _check_same(campaign: Campaign, plan: RunRequest) -> None:
    """Raises `ConfigError` where the campaign is another one than the one that is planned."""
    wanted, given = (
        {key: value for key, value in flat(settings.model_dump(mode="json")) if changes_search(key)}
        for settings in (plan.settings, campaign.settings)
    )
    different = sorted(key for key in wanted.keys() | given.keys() if wanted.get(key) != given.get(key))
    if campaign.task.version != plan.task.version:
        different = ["the task's version"]
    if different:
        raise ConfigError(
            f"there is a campaign {campaign.name!r} that was made otherwise: it differs in {', '.join(different[:3])}. "
            "Try: --name for a comparison of its own, or compare what there is with --read"
        )


def run_missing(runs: ComparisonRuns, plans: Sequence[RunRequest]) -> tuple[tuple[ComparedArm, ...], bool]:
    """Runs what is missing, with a line on stderr for each campaign. Returns the arms, and False where an interrupt ended it before the last campaign."""
    outcomes: dict[str, list[CampaignOutcome]] = {arm.name: [] for arm in runs.arms}
    finished = True
    for place, ((arm, seed, name), plan) in enumerate(zip(runs.entries(), plans, strict=True), 1):
        note, finished = _run_rest(runs, name, plan)
        outcome = runs.read(name)
        outcomes[arm.name].append(outcome)
        say(f"{place:4}/{len(runs)}  {arm.name}, seed {seed}: {outcome.describe()}{note}  {name}", err=True)
        if not finished:
            break
    return tuple(ComparedArm(name, tuple(found)) for name, found in outcomes.items()), finished


def _run_rest(runs: ComparisonRuns, name: str, plan: RunRequest) -> tuple[str, bool]:
    """Returns a note on what there was before, and False where an interrupt ended the campaign."""
    before = runs.read(name) if runs.exists(name) else None
    if before is not None and before.has_ended:
        return " (there already)", True
    note = "" if before is None else f" (went on after {before.spent.programs})"
    return note, run_campaign(plan, name)


def find_logs(home: Path, patterns: Sequence[str]) -> dict[str, tuple[Path, ...]]:
    """Returns the logs of each arm that was written `ARM=glob*`, by the names of the workspace's campaigns; raises `ConfigError` for an arm without one, and for a campaign of two arms."""
    logs = sorted(campaigns(home), key=lambda log: log.stem)
    found: dict[str, tuple[Path, ...]] = {}
    owners: dict[Path, str] = {}
    for text in patterns:
        name, sign, pattern = text.partition("=")
        name = " ".join(name.split())
        if not name or not sign or not pattern:
            raise ConfigError(
                f"campaigns to read are written 'ARM=glob*', got {text!r}. Try: --read 'islands=*-islands-*'"
            )
        matching = [log for log in logs if fnmatchcase(log.stem, pattern)]
        if not matching:
            near = did_you_mean(pattern, [log.stem for log in logs])
            raise ConfigError(
                f"no campaign in {home} is called {pattern!r}.{near} Try: `evolve campaign list` shows them"
            )
        for log in matching:
            if owners.setdefault(log, name) != name:
                raise ConfigError(
                    f"campaign {log.stem!r} is in two arms, {owners[log]!r} and {name!r}. Try: write patterns that have none in common"
                )
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *matching)))
    return found
