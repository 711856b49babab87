"""From the words of `evolve compare` to its arms: what each of them sets, and which campaigns there are of it.

Invariant: nothing is made here; two arms never have one name, nor campaigns of one name."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from evolve.campaign import campaigns, existing_path
from evolve.campaign.workspace import log_path
from evolve.cli.request import Request
from evolve.stop import Amount, Budget
from evolve.types import ConfigError
from evolve.types.suggest import did_you_mean

_LONGEST = 40
"""Characters of an arm's name in the names of its campaigns."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """An arm that is to be run: what it sets beside what all arms have. `label` stands for it in the names of its campaigns."""

    name: str
    label: str
    strategy: str | None = None
    models: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()

    def request(self, common: Request, seed: int, name: str) -> Request:
        """The campaign of one seed, as `evolve run` would be told it."""
        return replace(
            common,
            name=name,
            seed=seed,
            strategy=self.strategy,
            models=self.models or common.models,
            assignments=(*common.assignments, *self.assignments, "cache=false"),
        )


def contestants(strategies: Sequence[str], arms: Sequence[str]) -> tuple[Contestant, ...]:
    """The arms in their order: strategies by their names, then those that were written `NAME: key=value key=value`. Raises `ConfigError`
    for fewer than two, and for two of one name."""
    found = [*(Contestant(name, _label(name), strategy=name) for name in strategies), *map(_arm, arms)]
    if len(found) < 2:
        raise ConfigError(
            f"a comparison has at least two arms, got {len(found)}. Do: name them, such as --strategy islands --strategy random"
        )
    for what, names in (("name", [one.name for one in found]), ("name in file names", [one.label for one in found])):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ConfigError(f"each arm has a {what} of its own, got {twice[0]!r} twice. Do: choose another")
    return tuple(found)


def _arm(text: str) -> Contestant:
    name, colon, rest = text.partition(":")
    name = " ".join(name.split())
    if not name or not colon:
        raise ConfigError(
            f"an arm is written 'NAME: key=value key=value', got {text!r}. Do: --arm 'two islands: archive.islands=2'"
        )
    try:
        words = shlex.split(rest, posix=False)
    except ValueError as error:
        raise ConfigError(f"the arm {name!r} cannot be read: {error}. Do: close its quotes") from error
    strategy, models, others = None, [], []
    for word in words:
        key, _, value = word.partition("=")
        if key == "strategy":
            strategy = value
        elif key == "model":
            models.append(value)
        else:
            others.append(word)
    return Contestant(name, _label(name), strategy, tuple(models), tuple(others))


def _label(name: str) -> str:
    """A name as a part of a file's name."""
    label = re.sub(r"[^A-Za-z0-9.]+", "_", name).strip("_.")[:_LONGEST]
    if not label:
        raise ConfigError(f"an arm's name has a letter or a digit, got {name!r}. Do: choose another")
    return label


def check_equal(budget: Budget) -> None:
    """Raises `ConfigError` for a budget that is none, or that not all arms spend alike."""
    leaves = budget.leaves()
    other = [str(leaf) for leaf in leaves if not isinstance(leaf, Amount)]
    if other or not leaves:
        got = repr(other[0]) if other else "none"
        raise ConfigError(
            f"a comparison needs a budget that all arms spend alike, got {got}. "
            "Do: give an amount, such as --budget 500programs; when a value was reached is told by --target"
        )


def base_of(task: str, budget: Sequence[str]) -> str:
    """What the names of a comparison's campaigns begin with, where nobody says it."""
    amounts = "-".join(re.sub(r"[^A-Za-z0-9.]+", "", text) for text in budget)
    return f"{task.replace('/', '-')}-{amounts}"


def name_of(base: str, arm: Contestant, seed: int) -> str:
    """The name of the campaign of one arm and seed."""
    return f"{base}-{arm.label}-s{seed}"


def groups(home: Path, patterns: Sequence[str]) -> tuple[tuple[str, tuple[Path, ...]], ...]:
    """The logs of each arm that was written `ARM=glob*`, by the names of campaigns of the workspace; raises `ConfigError` for an arm
    without one, and for a campaign that two arms have."""
    logs = sorted(campaigns(home), key=lambda log: log.stem)
    found: dict[str, list[Path]] = {}
    for text in patterns:
        name, sign, pattern = text.partition("=")
        name = " ".join(name.split())
        if not name or not sign or not pattern:
            raise ConfigError(
                f"campaigns to read are written 'ARM=glob*', got {text!r}. Do: --read 'islands=*-islands-*'"
            )
        matching = [log for log in logs if fnmatchcase(log.stem, pattern)]
        if not matching:
            near = did_you_mean(pattern, [log.stem for log in logs])
            raise ConfigError(
                f"no campaign in {home} is called {pattern!r}.{near} Do: `evolve campaign list` shows them"
            )
        found.setdefault(name, []).extend(log for log in matching if log not in found.get(name, ()))
    _only_once(found)
    return tuple((name, tuple(logs)) for name, logs in found.items())


def _only_once(found: dict[str, list[Path]]) -> None:
    owners: dict[Path, str] = {}
    for name, logs in found.items():
        for log in logs:
            if log in owners:
                raise ConfigError(
                    f"campaign {log.stem!r} is in two arms, {owners[log]!r} and {name!r}. Do: write patterns that have none in common"
                )
            owners[log] = name


def named(home: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """The logs of these campaigns; raises `ConfigError` where there is none of a name."""
    return tuple(dict.fromkeys(existing_path(home, name) for name in names))


def path_of(home: Path, name: str) -> Path | None:
    """The log of a campaign of that name, where there is one; raises `ConfigError` for what cannot be a name."""
    path = log_path(home, name)
    return path if path.is_file() else None
