"""`--sandbox` and `EVOLVE_SANDBOX`: from what a person wants to the means by which a command's candidates are confined.

Invariant: every command that judges gets its means here, once; below `standard` runs only what a person asked for at that level, and what ships
with the engine and no model wrote."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from evolve.campaign import Campaign
from evolve.cli.output import say
from evolve.evaluation.interpreter import check
from evolve.evaluation.lifeline import clean_environment
from evolve.plugins import Plugins
from evolve.sandbox.machine.choice import NOT_MORE, causes, chosen, line
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import NOTHING, Means
from evolve.task import is_bundled
from evolve.types import ConfigError, Level, Task
from evolve.types.suggest import did_you_mean

VARIABLE = "EVOLVE_SANDBOX"
LEVELS = [level.value for level in reversed(Level)]

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Wish:
    """The level that is wanted at least (`none`: exactly), and whether a person said so."""

    level: Level = Level.STANDARD
    said: bool = False


@dataclass(frozen=True, slots=True)
class Confined:
    """The means of a command, and the line that tells of them: with what is missing for `strict`, why, and what to do; `lacking` is the
    first part of that. `unasked`: nobody asked for so little, and what runs is harmless."""

    means: Means
    line: str
    unasked: bool = False
    lacking: str = ""

    def noted(self) -> Means:
        """The means; a person is told of a level that nobody asked for."""
        if self.unasked:
            say(f"evolve: note: isolation {self.line}", err=True)
        return self.means


def sandbox_option(command: Command) -> Command:
    """`--sandbox`, given to the command as `sandbox`."""
    told = f"How candidates must be isolated at least; none: not at all.  [default: ${VARIABLE}, else standard]"
    return click.option("--sandbox", type=click.Choice(LEVELS), help=told)(command)


def wished(option: str | None, setting: Level = Level.STANDARD, environment: Mapping[str, str] = os.environ) -> Wish:
    """The option, else the variable, else what the campaign has; raises `ConfigError` for a variable that names no level."""
    if option:
        return Wish(Level(option), said=True)
    word = environment.get(VARIABLE, "")
    if not word:
        return Wish(setting, said=setting is not Level.STANDARD)
    if word not in LEVELS:
        raise ConfigError(
            f"{VARIABLE} is {word!r}, which is no level of isolation.{did_you_mean(word, LEVELS)} Do: set it to one of {', '.join(LEVELS)}"
        )
    return Wish(Level(word), said=True)


def confined(task: Task, wish: Wish, *, harmless: bool = False) -> Confined:
    """The best means that there are for a task's candidates, if they reach the wish. `harmless`: no model wrote what runs, so that it runs at
    `reduced` where a machine has no more and nobody wished for more. Raises `SandboxError` or `TaskError`. Call it before any thread is started."""
    if wish.level is Level.NONE:
        return Confined(NOTHING, NOTHING.line)
    if task.python:
        check(task.python, clean_environment(os.environ))
    found = probe(task.python)
    accepted = harmless and not wish.said and found.level is Level.REDUCED
    means = chosen(Level.REDUCED if accepted else wish.level, found)
    told = line(found, means)
    told = f"{told}. {NOT_MORE}" if accepted else told
    return Confined(means, told, accepted, causes(found))


def for_campaign(campaign: Campaign, wish: Wish, task: Task | None = None, *, brought: bool = False) -> Confined:
    """The means for more of a campaign, which never goes on at less than its runs have reached; `task` is its newer version. `brought`:
    programs from elsewhere are judged. Raises `SandboxError`, also for that."""
    task = campaign.task if task is None else task
    harmless = not brought and is_harmless(task, campaign.operator_names, campaign.plugins)
    found = confined(task, wish, harmless=harmless)
    why = f"--sandbox {wish.level}" if found.means.level is Level.NONE else found.lacking
    campaign.state.reached.check(campaign.name, found.means.level, why)
    return found


def is_harmless(task: Task, operators: tuple[str, ...], plugins: Plugins) -> bool:
    """Whether all that will run ships with the engine, or was made of that without a model."""
    return is_bundled(Path(task.folder)) and not any(plugins.operators[name].entry.needs_model for name in operators)
