"""`evolve compare`: runs or reads the campaigns of a comparison, and shows it. Mistakes in the command are found before anything is run; the same command goes on after an interrupt."""

import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import evolve.task
from evolve.campaign import Campaign, existing_path, workspace
from evolve.commands import (
    INTERRUPTED,
    RunOptions,
    RunRequest,
    atomic_write,
    debug_option,
    devices_option,
    emit,
    grant_devices,
    json_option,
    load_plugins,
    sandbox_option,
    say,
    table,
)
from evolve.types import ConfigError
from evolve_compare import report
from evolve_compare.campaigns import ComparisonRuns, default_base, find_logs, parse_arms, plan_campaigns, run_missing
from evolve_compare.comparison import Comparison, ComparisonQuestion, compare_outcomes
from evolve_compare.fairness import ComparedArm, group_by_settings
from evolve_compare.outcomes import RESOURCES, Resource, read_outcome
from evolve_view.charts import alone

_WORDS = "evolve_compare.words"
_COLUMNS = 100
_GAP = 2


class _RecordedCommand(click.Command):
    """Command that keeps its words: the page says how to make it again."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps the words in `ctx.meta` and parses them."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=_RecordedCommand)
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
    """Compare strategies or settings at equal budget.

    Each arm runs with several seeds on TASK; --campaign and --read compare campaigns that exist. Each arm and seed is an ordinary campaign. Those that are finished are used again and others are continued, so that the same command goes on after a Ctrl-C.
    """
    folder = _check_folder(output)
    question = ComparisonQuestion(words["baseline"], words["per"], words["targets"])
    if words["campaigns"] or words["patterns"]:
        _check_read_alone(task, words)
        arms = _read_arms(words["patterns"], words["campaigns"])
    else:
        arms = _run_arms(task, words)
    found = compare_outcomes(arms, question)
    if folder is not None:
        _write(folder, found, shlex.join(["evolve", "compare", *click.get_current_context().meta[_WORDS]]))
    if as_json:
        emit({"event": "compared", "folder": str(folder or ""), **report.to_plain(found)})
    else:
        say(_format(found))
        if folder is not None:
            say(f"\nwritten: {folder / 'comparison.md'}")


def _check_read_alone(task: str | None, words: dict[str, Any]) -> None:
    """Raises `ConfigError` where campaigns are to be run, too."""
    given = {"TASK": task, "--strategy": words["strategies"], "--arm": words["choices"], "--budget": words["budget"]}
    extra = [name for name, value in given.items() if value]
    if extra:
        raise ConfigError(
            f"--campaign and --read compare campaigns that there are, and run none, got {', '.join(extra)}. Do: leave one of both out"
        )


def _read_arms(patterns: Sequence[str], names: Sequence[str]) -> tuple[ComparedArm, ...]:
    """Returns the arms of `--read`, then those of `--campaign`, grouped by their settings."""
    home, plugins = workspace(), load_plugins()

    def read(logs: Sequence[Path]) -> ComparedArm:
        outcomes = []
        for log in logs:
            with Campaign.open(str(log), plugins, home) as campaign:
                outcomes.append(read_outcome(campaign))
        return ComparedArm("", tuple(outcomes))

    written = [ComparedArm(name, read(logs).outcomes) for name, logs in find_logs(home, patterns).items()]
    single = group_by_settings(read(tuple(dict.fromkeys(existing_path(home, name) for name in names))).outcomes)
    twice = {arm.name for arm in written} & {arm.name for arm in single}
    if twice:
        raise ConfigError(f"each arm has a name of its own, got {min(twice)!r} twice. Do: choose another for --read")
    return (*written, *single)


def _run_arms(task: str | None, words: dict[str, Any]) -> tuple[ComparedArm, ...]:
    """Runs what is missing; ends the command where that was interrupted."""
    if task is None:
        raise ConfigError("there is no TASK. Do: name one (evolve task list), or compare what there is with --read")
    runs = ComparisonRuns(
        arms=parse_arms(words["strategies"], words["choices"]),
        seeds=tuple(range(words["seeds"])),
        common=_common_request(task, words),
        base=words["name"] or default_base(evolve.task.name_of(evolve.task.find(task)), words["budget"]),
        home=workspace(),
        plugins=load_plugins(),
        devices=grant_devices(words["devices"]),
    )
    plans = plan_campaigns(runs)
    _check_spent_by_models(words["per"], plans)
    arms, finished = run_missing(runs, plans)
    if not finished:
        done = sum(len(arm.outcomes) for arm in arms)
        say(
            f"evolve: interrupted at campaign {done} of {len(runs)}; all are kept, and the same command goes on",
            err=True,
        )
        click.get_current_context().exit(INTERRUPTED)
    return arms


def _common_request(task: str, words: dict[str, Any]) -> RunOptions:
    """Returns the settings that all arms have."""
    return RunOptions(
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


def _check_spent_by_models(per: Resource | None, plans: Sequence[RunRequest]) -> None:
    """Raises `ConfigError` where a resource that only models spend is to be equal, and there is no model."""
    if per in ("calls", "tokens", "money") and not any(plan.settings.models.members for plan in plans):
        raise ConfigError(f"--per {per} is for campaigns with a model, got none. Do: --per programs, or name a --model")


def _check_folder(output: str | None) -> Path | None:
    """Returns the folder for files; raises `ConfigError` for what is no folder."""
    if output is None:
        return None
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"-o names a folder, got the file {output!r}. Do: name another")
    return folder


def _write(folder: Path, found: Comparison, command: str) -> None:
    """Writes each file whole; raises `ConfigError`."""
    texts = {
        "comparison.md": report.format_page(found, command),
        report.PICTURE: alone(report.draw_bands(found)),
        "comparison.json": report.format_json(found),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with atomic_write(folder / name, replace=True) as made:
                made.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"the comparison cannot be written to {folder}: {error.strerror}. Do: name another folder with -o; its campaigns are kept"
        ) from error


def _format(found: Comparison) -> str:
    """Returns the comparison for a terminal of 100 columns."""
    parts = [
        _wrap(report.describe_comparison(found)),
        _narrow_table(*report.arm_table(found)),
        _narrow_table(*report.cost_table(found)),
        "\n".join(map(_wrap, report.list_findings(found))),
        _narrow_table(*report.duel_table(found)),
        *([_narrow_table(*report.target_table(found))] if found.reached else []),
        "\n".join(map(_wrap, report.list_explanations(found))),
    ]
    return "\n\n".join(parts)


def _wrap(sentence: str) -> str:
    return textwrap.fill(sentence, _COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _narrow_table(headings: Sequence[str], rows: report.Rows) -> str:
    """Returns a table; one that is too wide in parts, one below the other, each with the first column. Nothing is cut."""
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    parts, used = list[list[Sequence[str]]](), _COLUMNS
    for column, width in zip(columns[1:], widths[1:], strict=True):
        if used + _GAP + width > _COLUMNS:
            parts.append([columns[0]])
            used = widths[0]
        parts[-1].append(column)
        used += _GAP + width
    lines = [list(zip(*part, strict=True)) for part in parts]
    return "\n\n".join(table(head, body) for head, *body in lines)
