"""Words of a run at its beginning and at its end: what came of it, what it cost, where it is, and the command to type next.

A campaign without an improvement says so; the isolation level stands beside every score."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli.output import CELL, brief, facts, one_line
from evolve.config import ModelSection
from evolve.engine.loop import HASTY, Ending
from evolve.engine.trackers import TrackerThread
from evolve.stop import Amount, Budget, duration
from evolve.types import FROM_SCRATCH, ConfigError, EvolveError, ModelError, Progress, SandboxError
from evolve.types.errors import without_remedy

_REASONS = {
    "budget": "its budget is spent",
    "interrupted": "it was interrupted; everything that had settled is kept",
    "stopped": "it was stopped by request (evolve campaign stop); everything that had settled is kept",
    "exhausted": "its operators propose nothing new any more, so going on is useless: try another strategy or seed",
}


_REASONS_SHOWN = 3


def format_beginning(campaign: Campaign, isolation: str) -> str:
    """Returns the words before the first record; `isolation` is one line with what is missing for a better level."""
    settings, records, members = campaign.settings, campaign.state.progress.records, campaign.settings.models.members
    verb = f"goes on after {wording.counted(records, 'record')}" if records else "begins"
    workers = wording.counted(settings.workers, "worker")
    limit = f"budget {campaign.budget}" if settings.budget else "no budget: Ctrl-C ends it"
    paused = "; it was paused, and is not any more" if campaign.state.paused else ""
    names = [name for name in campaign.usable_operators if not (members and campaign.traits(name).needs_model)]
    propose = f"{', '.join(names)} propose{'s' if len(names) == 1 else ''}"
    if members:
        beside = f"; {propose} beside {'it' if len(members) == 1 else 'them'}, without calls" if names else ""
        models = f"models {', '.join(map(_format_member, members))}{beside}"
    else:
        models = f"no model: {propose} without one (--model NAME lets a language model propose, too)"
    return (
        f"campaign {campaign.name} {verb}: {settings.strategy.name}, {workers}, seed {settings.seed}, {limit}{paused}\n"
        f"{models}\nisolation {isolation}\nlog {campaign.log.path}"
    )


def _format_member(member: ModelSection) -> str:
    waits = ""
    if member.kind == "mailbox":
        folder = Path(str(member.settings["folder"]))
        shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
        waits = f", answers awaited in {one_line(str(shown))}/"
    return f"{member.name} ({member.kind}, {member.concurrency} at once{waits})"


def describe_end(campaign: Campaign, ending: Ending, trackers: Sequence[TrackerThread] = ()) -> dict[str, Any]:
    """Returns the last line of `evolve run --json`: how the run ended and what the campaign has spent, with its best program, the record that proves its
    value (`certificate`), the program that is `closest` while none meets the constraints, the front of a task with objectives, a larger budget,
    and the closing words of the trackers."""
    state, best = campaign.state, report.best(campaign)
    return {
        "event": "ended",
        "campaign": campaign.name,
        "log": str(campaign.log.path),
        **asdict(ending),
        **asdict(state.progress),
        "seconds": campaign.seconds,
        "failed_calls": state.calls.failed,
        "isolation": state.machine.isolation if state.machine else "",
        "best": best,
        "closest": report.closest(campaign),
        "front": report.front_line(campaign),
        "certificate": report.certificate(campaign, best.record) if best and best.certified else "",
        "next_budget": enlarge(campaign.budget, ending.wanted, campaign.progress),
        "trackers": [one_line(tracking.describe()) for tracking in trackers],
    }


def failure_of(campaign: Campaign, ending: Ending) -> EvolveError | None:
    """Returns the error of a run whose evaluations all failed by no fault of a program, that ended without one answer of a model, or because there was nothing to propose; None for another."""
    if ending.reason == "budget" and ending.faults and ending.faults == ending.evaluated:
        name = campaign.name
        what = f"campaign {name!r} evaluated no program in this run: {wording.counted(ending.faults, 'evaluation')} failed, and no program was to blame"
        remedy = f"`evolve campaign show {name}` tells the faults; mend what they name, and go on with --continue"
        return SandboxError(f"{what}. Try: {remedy}. Its log is kept: {campaign.log.path}")
    unanswered, nothing = _without_answer(campaign, ending), _without_proposal(campaign, ending)
    return ModelError(unanswered) if unanswered else ConfigError(nothing) if nothing else None


def _without_answer(campaign: Campaign, ending: Ending) -> str:
    """Returns the error of a run that wanted calls of models and got no answer; empty for another, and where a campaign may do without."""
    # Whoever interrupts a run early knows why there is no answer.
    wanted = ending.reason in ("budget", "exhausted") and (ending.failed or ending.unpaid)
    if not wanted or ending.answered or campaign.settings.outage.then == "offline":
        return ""
    name, kept = campaign.name, f"Its log is kept: {campaign.log.path}"
    if not ending.failed:
        return f"campaign {name!r} made no call of a model in this run: {_format_unpaid(campaign, ending)} {kept}"
    calls = "its only call of a model" if ending.failed == 1 else f"all {ending.failed:,} calls of models"
    what, _, remedy = ending.failure.partition(" Try: ")
    remedy = remedy or f"evolve model calls {name} shows them; see to the model, then continue with a larger budget"
    return f"campaign {name!r} got no answer: {calls} failed, the last one: {_shorten(what).rstrip('.')}. Try: {remedy}. {kept}"


def _without_proposal(campaign: Campaign, ending: Ending) -> str:
    """Returns the error of a campaign that ended before any proposal was evaluated, because there was none; empty for another."""
    if ending.reason != "exhausted" or campaign.state.progress.programs:
        return ""
    last = f" (the last one: {_shorten(ending.refusal)})" if ending.refusal else ""
    if campaign.state.refusals.heard:
        names, unanswered = tuple(campaign.operator_names), ""
        remedy = f"read what the models wrote, evolve model calls {campaign.name}; then use another model or seed"
    else:
        names = tuple(campaign.state.refusals.list_tired())
        unanswered = ", and no model answered" if campaign.settings.models.members else ""
        remedy = (
            "give the seed numbers to tune or Python that may change, or name other operators with "
            "--set 'operators.names=[...]'"
        )
        remedy += "" if campaign.settings.models.members else ", or let a model propose with --model"
    unused = {name: why for name, why in report.left_out(campaign).items() if name not in names}
    left = "; ".join(f"{name} was left out: {one_line(why)}" for name, why in unused.items())
    unanswered += f"; {left.rstrip('.')}" if left else ""
    return (
        f"campaign {campaign.name!r} found nothing to try: {', '.join(names)} proposed nothing that could be evaluated{last}{unanswered}. "
        f"Try: {remedy}. Its log is kept: {campaign.log.path}"
    )


def _format_unpaid(campaign: Campaign, ending: Ending) -> str:
    budget = _format_options(enlarge(campaign.budget, ending.wanted, campaign.progress))
    return f"{without_remedy(ending.unpaid)}. Try: evolve run --continue {campaign.name} {budget}, or lower the max_tokens of the model in a new campaign."


def _format_unusable(campaign: Campaign, ending: Ending) -> str:
    reasons = [f"{count:,} x {_shorten(reason)}" for reason, count in ending.unusable.items()]
    more = f"; and {len(reasons) - _REASONS_SHOWN} more reasons" if len(reasons) > _REASONS_SHOWN else ""
    return (
        f"No proposal of a model could be evaluated: {'; '.join(reasons[:_REASONS_SHOWN])}{more}. "
        f"Try: read the replies, evolve model calls {campaign.name}; then use another model"
    )


def _format_options(budget: Sequence[str]) -> str:
    return " ".join(f"--budget {shlex.quote(text)}" for text in budget)


def _shorten(text: str) -> str:
    return brief(one_line(text), CELL)


def format_end(campaign: Campaign, ending: Ending, trackers: Sequence[TrackerThread] = ()) -> str:
    """Returns the end of a run for a person."""
    waiting = f", {wording.waiting(ending.left)}" if ending.left else ""
    why = "what is left of its budget pays for no call of a model" if ending.unpaid else _REASONS[ending.reason]
    progress = campaign.state.progress
    programs = wording.counted(progress.programs, "program")
    programs += f" and {wording.counted(progress.previews, 'preview')}" if progress.previews else ""
    lines = [f"campaign {campaign.name} ended: {why} ({programs} evaluated in {duration(campaign.seconds)}{waiting})."]
    lines += [_format_unpaid(campaign, ending)] if ending.unpaid else []
    lines += [f"The last proposal was not evaluated: {_shorten(ending.refusal)}"] if ending.refusal else []
    lines += [_format_unusable(campaign, ending)] if ending.unusable and ending.answered else []
    lines += (
        ["At the end evaluations failed by no fault of a program, and nothing else was evaluated."]
        if ending.suspended
        else []
    )
    tally, best = report.tally(campaign), report.best(campaign)
    rows = [
        *format_best_program(campaign, best, report.front_line(campaign)),
        *wording.format_yields(campaign, tally),
        *wording.format_left_out(report.left_out(campaign)),
        *wording.format_saved_cases(campaign),
        *wording.format_costs(campaign, tally),
        ("isolation", campaign.state.machine.isolation if campaign.state.machine else ""),
        *([("trackers", "\n".join(one_line(each.describe()) for each in trackers))] if trackers else []),
        ("log", str(campaign.log.path)),
        ("next", "\n".join(next_commands(campaign, best, ending))),
    ]
    return "\n".join(["", *lines, facts(rows)])


def format_best_program(campaign: Campaign, best: report.Best | None, front: report.FrontLine | None) -> wording.Facts:
    """Returns the best program, what it is compared to, and whether its value is proven; the front beside it."""
    fronts = [("front", wording.front(front))] if front else []
    if best is None:
        closest, none = report.closest(campaign), "none: no program has passed, not even the seed"
        return [("best", wording.closest(closest) if closest else none), *fronts]
    fitness, held_out = campaign.task.fitness, campaign.state.cases.held_out
    score = f"{best.name}  {wording.score(best, fitness)}"
    scratch = [line for line in best.cases if line.case == FROM_SCRATCH]
    rows = [
        ("best", score if best.improved else f"{score}\nno improvement: no program was better than the seed"),
        ("ratio", wording.ratio(best.ratio) if best.ratio else ""),
        ("objectives", ", ".join(map(wording.objective, best.objectives))),
        *fronts,
        ("anchors", wording.anchors(best.anchors, fitness)),
        ("certified", _certificate(campaign, best)),
        ("held out", wording.held_out(best, held_out, fitness) if held_out else ""),
        *((FROM_SCRATCH, wording.from_scratch(line, fitness)) for line in scratch),
    ]
    return [(label, text) for label, text in rows if text]


def _certificate(campaign: Campaign, best: report.Best) -> str:
    if best.certified:
        return f"yes, the task proved this value: evolve program show {report.certificate(campaign, best.record)}"
    if campaign.task.promotion == "certificate":
        return "no, the campaign ended before the task proved this value; more budget does"
    return "no, this task has no certificates"


def next_commands(campaign: Campaign, best: report.Best | None, ending: Ending | None = None) -> Sequence[str]:
    """Returns the commands that a person would type next: to look at the best program, to go on, and to write the report."""
    look = [f"evolve program show {best.name} --code"] if best else []
    if ending is not None and ending.reason == "exhausted":
        go_on = f"evolve campaign fork {campaign.name} --seed {campaign.settings.seed + 1}"
        look += [f"evolve model calls {campaign.name}"] if campaign.settings.models.members else []
    elif ending is not None and ending.reason in HASTY:
        go_on = f"evolve run --continue {campaign.name}"
    else:
        budget = enlarge(campaign.budget, ending.wanted if ending else None, campaign.progress)
        go_on = f"evolve run --continue {campaign.name} {_format_options(budget)}".rstrip()
    return [*look, go_on, f"evolve report {campaign.name}"]


def enlarge(budget: Budget, wanted: Progress | None = None, spent: Progress | None = None) -> list[str]:
    """Returns twice the amounts of a budget, as they are written, or more where `wanted` is to be paid from it, or so much is `spent`."""
    amounts = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount)]
    return [str(Amount(_enlarge_amount(amount, wanted, spent), amount.unit)) for amount in amounts]


def _enlarge_amount(amount: Amount, wanted: Progress | None, spent: Progress | None) -> float:
    paid, gone = (amount.counted(each) / amount.unit.size if each else 0.0 for each in (wanted, spent))
    needed = max(paid, 1.1 * gone)
    # Rounded up to two digits: what is paid once is not enough for a campaign.
    step = 10.0 ** (math.floor(math.log10(needed)) - 1) if needed else 1.0
    step = max(1.0, step) if amount.unit.whole else step
    return max(2 * amount.number, round(math.ceil(needed / step) * step, 9))
