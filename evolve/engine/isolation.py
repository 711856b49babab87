"""Isolation of a command's candidates: from the wanted level to the means of this machine that reach it.

Every command that evaluates programs gets its means here. Below `standard` run only programs for which a person asked for that level, and programs that
ship with the engine and that no model wrote."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evolve.campaign import Campaign
from evolve.evaluation.spawner import check_python
from evolve.plugins import Plugins
from evolve.protocols import SessionOpener
from evolve.sandbox.box import Box
from evolve.sandbox.machine.offer import NOT_MORE, choose_means, describe_causes, describe_means
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import NOTHING, Means
from evolve.sandbox.session import Session
from evolve.task import is_bundled
from evolve.types import ConfigError, Level, Limits, Program, Task
from evolve.types.errors import did_you_mean

VARIABLE = "EVOLVE_SANDBOX"
LEVELS = [level.value for level in reversed(Level)]


@dataclass(frozen=True, slots=True)
class WantedLevel:
    """The least level that is wanted (`none`: exactly that), and whether a person asked for it."""

    level: Level = Level.STANDARD
    said: bool = False


@dataclass(frozen=True, slots=True)
class Confinement:
    """The means that confine candidates, and the line that describes them: what is missing for `strict`, why, and the remedy; `lacking` is the
    first part of that. `unasked`: nobody asked for a level this low, and the programs are harmless."""

    means: Means
    line: str
    unasked: bool = False
    lacking: str = ""


def wanted_level(
    option: str | None, setting: Level = Level.STANDARD, environment: Mapping[str, str] = os.environ
) -> WantedLevel:
    """Returns the level of the option, else of the variable, else of the campaign. Raises `ConfigError` for a variable that names no level."""
    if option:
        return WantedLevel(Level(option), said=True)
    word = environment.get(VARIABLE, "")
    if not word:
        return WantedLevel(setting, said=setting is not Level.STANDARD)
    if word not in LEVELS:
        raise ConfigError(
            f"{VARIABLE} is {word!r}, which is no level of isolation.{did_you_mean(word, LEVELS)} Try: set it to one of {', '.join(LEVELS)}"
        )
    return WantedLevel(Level(word), said=True)


def confine(task: Task, wanted: WantedLevel, *, harmless: bool = False) -> Confinement:
    """Returns the best means for a task's candidates. `harmless`: no model wrote the programs, so they run at `reduced` where the machine reaches no more
    and nobody asked for more. Raises `SandboxError` where the wanted level is not reached, and `TaskError`. Call before any thread is started."""
    if wanted.level is Level.NONE:
        return Confinement(NOTHING, NOTHING.line)
    if task.python:
        check_python(task.python)
    found = probe(task.python)
    # Programs that ship with the engine attack nothing: a first try on a machine without namespaces must not end here.
    accepted = harmless and not wanted.said and found.level is Level.REDUCED
    means = choose_means(Level.REDUCED if accepted else wanted.level, found)
    told = describe_means(found, means)
    return Confinement(means, f"{told}. {NOT_MORE}" if accepted else told, accepted, describe_causes(found))


def confine_campaign(
    campaign: Campaign, wanted: WantedLevel, task: Task | None = None, *, brought: bool = False
) -> Confinement:
    """Returns the means for more of a campaign, never below the level that its earlier runs reached. `task` is its newer version; `brought`:
    programs from elsewhere are evaluated. Raises `SandboxError`."""
    task = campaign.task if task is None else task
    harmless = not brought and is_harmless(task, campaign.operator_names, campaign.plugins)
    found = confine(task, wanted, harmless=harmless)
    # Scores of one campaign are compared with each other, so that none may be evaluated under less than those before.
    why = f"--sandbox {wanted.level}" if found.means.level is Level.NONE else found.lacking
    campaign.state.reached.check(campaign.name, found.means.level, why)
    return found


def make_opener(means: Means, hidden: Sequence[str]) -> SessionOpener:
    """Returns what opens sessions, each in a box of its own that these means confine, from which the paths `hidden` are not seen."""

    @contextmanager
    def open_session(program: Program, entry: str, seconds: float, limits: Limits, python: str) -> Iterator[Session]:
        made = closing(Box(limits, python or sys.executable, means=means, hidden=hidden))
        with made as box, box.open(program, entry, seconds) as session:
            yield session

    return open_session


def is_harmless(task: Task, operators: tuple[str, ...], plugins: Plugins) -> bool:
    """Returns whether everything that will run ships with the engine, or derives from it without a model."""
    return is_bundled(Path(task.folder)) and not any(plugins.operators[name].entry.needs_model for name in operators)
