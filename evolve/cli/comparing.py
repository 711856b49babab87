"""`evolve compare`: strategies or settings against each other, run or read.

Invariant: what is wrong with the command is found before anything is run; an interrupt keeps every campaign, and the same command goes on."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import evolve.task
from evolve.appearing import appearing
from evolve.campaign import Campaign, workspace
from evolve.cli import arms, contest
from evolve.cli.devices import devices_option, grant_devices
from evolve.cli.errors import INTERRUPTED
from evolve.cli.isolation import sandbox_option
from evolve.cli.output import debug_option, emit, json_option, say, table
from evolve.cli.request import Plan, Request
from evolve.compare import RESOURCES, Comparison, Course, Group, Question, Resource, course, page, telling, weighed
from evolve.compare.picture import picture
from evolve.compare.sorting import by_settings
from evolve.drawing import alone
from evolve.plugins import Plugins, load
from evolve.types import ConfigError

_WORDS = "evolve.compare.words"


class Remembering(click.Command):
    """Keeps what was typed, for the page says how to do it again."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As any command, and the words are in `ctx.meta`."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=Remembering)
@click.argument("task", required=False)
@click.option("--strategy", "strategies", multiple=True, metavar="NAME", help="An arm: a strategy as it is.")
@click.option(
    "--arm", "choices", multiple=True, metavar="'NAME: KEY=VALUE ...'", help="An arm: settings, also strategy=, model=."
)
@click.option("--seeds", type=click.IntRange(1, 200), default=10, show_default=True, help="Campaigns of each arm.")
@click.option("--budget", multiple=True, help="What each campaign may spend: 500programs, 10m, 2usd.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="A setting of all arms.")
@click.option("--model", "models", multiple=True, metavar="SPEC", help="A language model for all arms.")
@click.option("--workers", "judges", type=int, help="Candidates judged side by side.  [default: one per core]")
@click.option("--name", help="What the names of the campaigns begin with.  [default: the task's, with the budget]")
@click.option("--campaign", "campaigns", multiple=True, metavar="NAME", help="Read this campaign, and run nothing.")
@click.option("--read", "patterns", multiple=True, metavar="'ARM=GLOB'", help="Read the campaigns of these names.")
@click.option(
    "--baseline", default="", metavar="ARM", help="Compare with this arm.  [default: best_of_n, or the first]"
)
@click.option("--per", type=click.Choice(RESOURCES), help="What is held equal.  [default: what the budget counts]")
@click.option("--target", "targets", multiple=True, type=float, metavar="VALUE", help="A fitness to reach.")
@click.option("-o", "--output", metavar="FOLDER", help="Write comparison.md, .svg and .json there.")
@sandbox_option
@devices_option
@json_option
@debug_option
def compare(task: str | None, output: str | None, as_json: bool, **words: Any) -> None:
    """Compare strategies or settings at equal budget: each arm with several seeds on TASK, or campaigns that there are.

    Each arm and seed is an ordinary campaign. Those that are finished are used again and others are continued, so that the same command goes on after a Ctrl-C.
    """
    folder = _folder(output)
    question = Question(words["baseline"], words["per"], words["targets"])
    if words["campaigns"] or words["patterns"]:
        _check_read(task, words)
        groups = _read(words["patterns"], words["campaigns"], load(), workspace())
    else:
        groups = _run(task, words)
    found = weighed(groups, question)
    if folder is not None:
        _write(folder, found, shlex.join(["evolve", "compare", *click.get_current_context().meta[_WORDS]]))
    if as_json:
        emit({"event": "compared", "folder": str(folder or ""), **page.values(found)})
    else:
        say(_told(found))
        if folder is not None:
            say(f"\nwritten: {folder / 'comparison.md'}")


def _check_read(task: str | None, words: dict[str, Any]) -> None:
    """Raises `ConfigError` where campaigns are to be run, too."""
    given = {"TASK": task, "--strategy": words["strategies"], "--arm": words["choices"], "--budget": words["budget"]}
    extra = [name for name, value in given.items() if value]
    if extra:
        raise ConfigError(
            f"--campaign and --read compare campaigns that there are, and run none, got {', '.join(extra)}. Do: leave one of both out"
        )


def _read(patterns: Sequence[str], names: Sequence[str], plugins: Plugins, home: Path) -> tuple[Group, ...]:
    """The arms that were written, then those of single campaigns."""
    written = [
        Group(name, tuple(_course(log, plugins, home) for log in logs)) for name, logs in arms.groups(home, patterns)
    ]
    single = by_settings([_course(log, plugins, home) for log in arms.named(home, names)])
    twice = {group.name for group in written} & {group.name for group in single}
    if twice:
        raise ConfigError(f"each arm has a name of its own, got {min(twice)!r} twice. Do: choose another for --read")
    return (*written, *single)


def _course(log: Path, plugins: Plugins, home: Path) -> Course:
    with Campaign.open(str(log), plugins, home) as campaign:
        return course(campaign)


def _run(task: str | None, words: dict[str, Any]) -> tuple[Group, ...]:
    """Runs what is missing; ends the command where that was interrupted."""
    if task is None:
        raise ConfigError("there is no TASK. Do: name one (evolve task list), or compare what there is with --read")
    common = _common(task, words)
    base = words["name"] or arms.base_of(evolve.task.name_of(evolve.task.find(task)), words["budget"])
    wanted = contest.Contest(
        arms.contestants(words["strategies"], words["choices"]), tuple(range(words["seeds"])), common, base
    )
    stage = contest.Stage(workspace(), load(), grant_devices(common.devices))
    plans = contest.plans(wanted, stage)
    _check_per(words["per"], plans)
    found, finished = contest.run(wanted, plans, stage)
    if not finished:
        done = sum(map(len, found.values()))
        say(
            f"evolve: interrupted at campaign {done} of {len(wanted)}; all are kept, and the same command goes on",
            err=True,
        )
        click.get_current_context().exit(INTERRUPTED)
    return tuple(Group(name, tuple(courses)) for name, courses in found.items())


def _common(task: str, words: dict[str, Any]) -> Request:
    """What all arms have."""
    return Request(
        task=task,
        resume=None,
        name=None,
        budget=words["budget"],
        seed=None,
        strategy=None,
        judges=words["judges"],
        assignments=words["assignments"],
        deterministic=False,
        sandbox=words["sandbox"],
        models=words["models"],
        devices=words["devices"],
    )


def _check_per(per: Resource | None, plans: Sequence[Plan]) -> None:
    """Raises `ConfigError` where nothing can be spent of what is to be equal."""
    if per in ("calls", "tokens", "money") and not any(plan.settings.models.members for plan in plans):
        raise ConfigError(f"--per {per} is for campaigns with a model, got none. Do: --per programs, or name a --model")


def _folder(output: str | None) -> Path | None:
    """Where files are to be written; raises `ConfigError` for what is no folder."""
    if output is None:
        return None
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"-o names a folder, got the file {output!r}. Do: name another")
    return folder


def _write(folder: Path, found: Comparison, command: str) -> None:
    """Each file whole; raises `ConfigError`."""
    texts = {
        "comparison.md": page.markdown(found, command),
        page.PICTURE: alone(picture(found)),
        "comparison.json": page.text(found),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with appearing(folder / name, replace=True) as made:
                made.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"the comparison cannot be written to {folder}: {error.strerror}. Do: name another folder with -o; its campaigns are kept"
        ) from error


def _told(found: Comparison) -> str:
    """All of it, for a person."""
    parts = [telling.about(found), table(*telling.arm_table(found)), table(*telling.cost_table(found))]
    parts += [_sentences(telling.findings(found))]
    parts += [table(*telling.duel_table(found)), table(*telling.win_table(found))]
    parts += [table(*telling.target_table(found))] if found.reached else []
    return "\n\n".join([*parts, _sentences(telling.explained(found))])


def _sentences(lines: Sequence[str]) -> str:
    return "\n".join(lines)
