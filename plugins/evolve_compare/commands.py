"""`evolve compare`: runs or reads the campaigns of a comparison, and shows it. Mistakes in the command are found before anything is run; the same command goes on after an interrupt."""

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import evolve.task
from evolve.campaign import Campaign, workspace
from evolve.commands import (
    INTERRUPTED,
    RunOptions,
    RunRequest,
    atomic_write,
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
from evolve_compare.comparison import Comparison, compare_outcomes
from evolve_compare.fairness import ComparedArm
from evolve_compare.outcomes import RESOURCES, Resource, read_outcome
from evolve_view.charts import alone


@click.command()
@click.argument("names", metavar="[TASK | CAMPAIGN CAMPAIGN...]", nargs=-1)
@click.option("--strategy", "strategies", multiple=True, metavar="NAME", help="An arm: a strategy as it is.")
@click.option(
    "--arm", "choices", multiple=True, metavar="'NAME: KEY=VALUE ...'", help="An arm: settings, also strategy=, model=."
)
@click.option("--seeds", type=click.IntRange(1, 200), default=10, show_default=True, help="Campaigns of each arm.")
@click.option("--budget", multiple=True, help="What each campaign may spend: 500programs, 10m, 2usd.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="A setting of all arms.")
@click.option("--model", "models", multiple=True, metavar="SPEC", help="A language model for all arms.")
@click.option("--workers", type=int, help="Candidates evaluated side by side.  [default: one per core]")
@click.option("--name", help="What the names of the campaigns begin with.  [default: the task's, with the budget]")
@click.option(
    "--read",
    "patterns",
    multiple=True,
    metavar="'ARM=GLOB'",
    help="An arm: campaigns that exist, by their names; none is run.",
)
@click.option(
    "--baseline", default="", metavar="ARM", help="Compare with this arm.  [default: best_of_n, or the first]"
)
@click.option("--per", type=click.Choice(RESOURCES), help="What is held equal.  [default: what the budget counts]")
@click.option("-o", "--output", metavar="FOLDER", help="Write comparison.md, .svg and .json there.")
@sandbox_option
@devices_option
@json_option
def compare(names: tuple[str, ...], output: str | None, as_json: bool, **words: Any) -> None:
    """Compare strategies or settings at equal budget.

    Each arm runs with several seeds on TASK. Two names or more are CAMPAIGNs that exist, each an arm of its own; with --read an arm is several. Each arm and seed is an ordinary campaign. Those that are finished are used again and others are continued, so that the same command goes on after a Ctrl-C.
    """
    folder = _check_folder(output)
    task = names[0] if len(names) == 1 else None
    if len(names) > 1:
        if len({*names}) < len(names):
            raise ConfigError(f"a campaign is compared with itself, got {' '.join(names)}. Try: name each once")
        words["patterns"] = (*words["patterns"], *(f"{name}={glob.escape(name)}" for name in names))
    if words["patterns"]:
        _check_read_alone(task, words)
        arms = _read_arms(words["patterns"])
    else:
        arms = _run_arms(task, words)
    found = compare_outcomes(arms, words["baseline"], words["per"])
    if folder is not None:
        _write(folder, found)
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
            f"campaigns that exist are compared as they are, and none is run, got {', '.join(extra)}. Try: leave that out, or name one task and no campaign"
        )


def _read_arms(patterns: Sequence[str]) -> tuple[ComparedArm, ...]:
    """Reads the arms of `--read`, one campaign after the other, so that no two logs are held at a time."""
    home, plugins, arms = workspace(), load_plugins(), []
    for name, logs in find_logs(home, patterns).items():
        outcomes = []
        for log in logs:
            with Campaign.open(str(log), plugins, home) as campaign:
                outcomes.append(read_outcome(campaign))
        arms.append(ComparedArm(name, tuple(outcomes)))
    return tuple(arms)


def _run_arms(task: str | None, words: dict[str, Any]) -> tuple[ComparedArm, ...]:
    """Runs what is missing; ends the command where that was interrupted."""
    if task is None:
        raise ConfigError("there is no TASK. Try: name one (evolve task list), or compare what there is with --read")
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
        workers=words["workers"],
        assignments=words["assignments"],
        deterministic=False,
        sandbox=words["sandbox"],
        models=words["models"],
        devices=words["devices"],
    )


def _check_spent_by_models(per: Resource | None, plans: Sequence[RunRequest]) -> None:
    """Raises `ConfigError` where a resource that only models spend is to be equal, and there is no model."""
    if per in ("calls", "tokens", "money") and not any(plan.settings.models.members for plan in plans):
        raise ConfigError(
            f"--per {per} is for campaigns with a model, got none. Try: --per programs, or name a --model"
        )


def _check_folder(output: str | None) -> Path | None:
    """Returns the folder for files; raises `ConfigError` for what is no folder."""
    if output is None:
        return None
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"-o names a folder, got the file {output!r}. Try: name another")
    return folder


def _write(folder: Path, found: Comparison) -> None:
    """Writes each file whole; raises `ConfigError`."""
    texts = {
        "comparison.md": report.format_page(found),
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
            f"the comparison cannot be written to {folder}: {error.strerror}. Try: name another folder with -o; its campaigns are kept"
        ) from error


def _format(found: Comparison) -> str:
    """Returns the comparison for a terminal."""
    parts = [
        report.describe_comparison(found),
        table(*report.arm_table(found)),
        "\n".join(report.list_findings(found)),
        table(*report.duel_table(found)),
        "\n".join(report.list_explanations(found)),
    ]
    return "\n\n".join(parts)
