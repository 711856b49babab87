"""Words of `evolve run` at its beginning and at its end: what came of it, where it is, and the command to type next.

A campaign without an improvement says so; the isolation level stands beside every score."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli import costs
from evolve.cli.output import CELL, brief, facts, one_line
from evolve.config import ModelSection
from evolve.engine import Ending
from evolve.engine.trackers import TrackerThread
from evolve.log import writer
from evolve.stop import Amount, Budget, duration
from evolve.types import FROM_SCRATCH, ConfigError, EvolveError, ModelError, Progress
from evolve.types.errors import without_remedy

MAILBOX = "mailbox"
"""The kind of model whose answers somebody writes into a folder."""
_REASONS = {
    "budget": "its budget is spent",
    "interrupted": "it was interrupted; everything that had settled is kept",
    "stopped": "it was stopped by request (evolve campaign stop); everything that had settled is kept",
    "exhausted": "its operators propose nothing new any more, so going on is useless: try another strategy or seed",
}


def format_beginning(campaign: Campaign, isolation: str) -> str:
    """Returns the words before the first record; `isolation` is one line with what is missing for a better level."""
    settings, records, members = campaign.settings, campaign.state.progress.records, campaign.settings.models.members
    verb = f"goes on after {wording.counted(records, 'record')}" if records else "begins"
    judges = wording.counted(settings.judges, "judge slot")
    limit = f"budget {campaign.budget}" if settings.budget else "no budget: Ctrl-C ends it"
    paused = "; it was paused, and is not any more" if campaign.state.paused else ""
    if members:
        models = f"models {', '.join(map(_format_member, members))}"
    else:
        names = campaign.usable_operators
        propose = f"{', '.join(names)} propose{'s' if len(names) == 1 else ''}"
        models = f"no model: {propose} without one (--model NAME lets a language model propose, too)"
    return (
        f"campaign {campaign.name} {verb}: {settings.strategy.name}, {judges}, seed {settings.seed}, {limit}{paused}\n"
        f"{models}\nisolation {isolation}\nlog {campaign.log.path}"
    )


def _format_member(member: ModelSection) -> str:
    folder = _mailbox_folder(member)
    awaited = f", answers awaited in {folder}" if folder else ""
    return f"{member.name} ({member.kind}, {member.concurrency} at once{awaited})"


def _mailbox_folder(member: ModelSection) -> str:
    """Returns the folder for the answers of a mailbox, from the current one; empty for another kind."""
    if member.kind != MAILBOX:
        return ""
    folder = Path(str(member.settings["folder"]))
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    return f"{one_line(str(shown))}/"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The last line of `evolve run --json`. `calls` (`failed_calls` are among them), `tokens`, `money` (US dollars) and `gpu_seconds` are
    the campaign's; `answered` and `failed` count the calls of this run, and `failure` is the reason of the last failed one.
    `certificate` names the record that proves the best value; `closest` is there while no program meets the constraints, `front` where
    the task has objectives; `refusal` is the reason of the last proposal that was not judged, where a campaign is exhausted, and
    `unpaid` the call that its budget did not pay for. `next_budget` is a larger one. `trackers` are their closing words."""

    event: str
    campaign: str
    reason: str
    left: int
    log: str
    programs: int
    records: int
    seconds: float
    calls: int
    failed_calls: int
    tokens: int
    money: float
    gpu_seconds: float
    isolation: str
    best: report.Best | None
    closest: report.Closest | None
    front: report.FrontLine | None
    certificate: str
    refusal: str
    unpaid: str
    answered: int
    failed: int
    failure: str
    next_budget: tuple[str, ...]
    trackers: tuple[str, ...] = ()


def describe_end(campaign: Campaign, ending: Ending, trackers: Sequence[TrackerThread] = ()) -> RunEnd:
    """Returns the end of a run as a value."""
    state, best, progress = campaign.state, report.best(campaign), campaign.state.progress
    return RunEnd(
        event="ended",
        campaign=campaign.name,
        reason=ending.reason,
        left=ending.left,
        log=str(campaign.log.path),
        programs=progress.programs,
        records=progress.records,
        seconds=campaign.seconds,
        calls=progress.calls,
        failed_calls=state.calls.failed,
        tokens=progress.tokens,
        money=progress.money,
        gpu_seconds=progress.gpu_seconds,
        isolation=state.machine.isolation if state.machine else "",
        best=best,
        closest=report.closest(campaign),
        front=report.front_line(campaign),
        certificate=report.certificate(campaign, best.record) if best and best.certified else "",
        refusal=ending.refusal,
        unpaid=ending.unpaid,
        answered=ending.answered,
        failed=ending.failed,
        failure=ending.failure,
        next_budget=tuple(enlarge(campaign.budget, ending.wanted, campaign.progress)),
        trackers=tuple(one_line(tracking.describe()) for tracking in trackers),
    )


def failure_of(campaign: Campaign, end: RunEnd) -> EvolveError | None:
    """Returns the error of a run that ended without one answer of a model, or because there was nothing to propose; None for another."""
    unanswered, nothing = _without_answer(campaign, end), _without_proposal(campaign, end)
    return ModelError(unanswered) if unanswered else ConfigError(nothing) if nothing else None


def _without_answer(campaign: Campaign, end: RunEnd) -> str:
    """Returns the error of a run that wanted calls of models and got no answer; empty for another, and where a campaign may do without."""
    wanted = end.reason in ("budget", "exhausted") and (end.failed or end.unpaid)
    if not wanted or end.answered or campaign.settings.outage.then == "offline":
        return ""
    kept = f"Its log is kept: {end.log}"
    if not end.failed:
        return f"campaign {end.campaign!r} made no call of a model in this run: {_unpaid(end)} {kept}"
    calls = "its only call of a model" if end.failed == 1 else f"all {end.failed:,} calls of models"
    what, _, remedy = end.failure.partition(" Do: ")
    remedy = (
        remedy or f"evolve model calls {end.campaign} shows them; see to the model, then continue with a larger budget"
    )
    what = _shorten(what).rstrip(".")
    return f"campaign {end.campaign!r} got no answer: {calls} failed, the last one: {what}. Do: {remedy}. {kept}"


def _without_proposal(campaign: Campaign, end: RunEnd) -> str:
    """Returns the error of a campaign that ended before any proposal was judged, because there was none; empty for another."""
    if end.reason != "exhausted" or end.programs:
        return ""
    last = f" (the last one: {_shorten(end.refusal)})" if end.refusal else ""
    if campaign.state.refusals.heard:
        names, unanswered = tuple(campaign.operator_names), ""
        remedy = f"read what the models wrote, evolve model calls {end.campaign}; then use another model or seed"
    else:
        names = tuple(campaign.state.refusals.list_tired())
        unanswered = ", and no model answered" if campaign.settings.models.members else ""
        remedy = (
            "give the seed numbers to tune or Python that may change, or name other operators with "
            "--set 'operators.names=[...]'"
        )
    return (
        f"campaign {end.campaign!r} found nothing to try: {', '.join(names)} proposed nothing that could be judged{last}{unanswered}. "
        f"Do: {remedy}. Its log is kept: {end.log}"
    )


def _unpaid(end: RunEnd) -> str:
    budget = _options(end.next_budget)
    return (
        f"{without_remedy(end.unpaid)}. Do: evolve run --continue {end.campaign} {budget}, or lower the max_tokens of the model in a "
        "new campaign."
    )


def _options(budget: Sequence[str]) -> str:
    return " ".join(f"--budget {shlex.quote(text)}" for text in budget)


def _shorten(text: str) -> str:
    return brief(one_line(text), CELL)


def format_end(campaign: Campaign, end: RunEnd) -> str:
    """Returns the end of a run for a person."""
    waiting = f", {wording.waiting(end.left)}" if end.left else ""
    why = "what is left of its budget pays for no call of a model" if end.unpaid else _REASONS[end.reason]
    programs = wording.counted(end.programs, "program")
    lines = [f"campaign {end.campaign} ended: {why} ({programs} judged in {_format_time(end)}{waiting})."]
    lines += [_unpaid(end)] if end.unpaid else []
    lines += [f"The last proposal was not judged: {_shorten(end.refusal)}"] if end.refusal else []
    tally = report.Tally.of(campaign.state.history)
    rows = [
        *best_facts(campaign, end.best, end.front),
        ("outcomes", wording.outcomes(tally.counts())),
        ("operators", format_operators(campaign, tally)),
        *left_out_facts(report.left_out(campaign)),
        *cost_facts(campaign, tally),
        *_overshoot_facts(campaign),
        ("isolation", end.isolation),
        *([("trackers", "\n".join(end.trackers))] if end.trackers else []),
        ("log", end.log),
        ("next", "\n".join(next_commands(campaign, end.best, end))),
    ]
    return "\n".join(["", *lines, facts(rows)])


def _overshoot_facts(campaign: Campaign) -> list[tuple[str, str]]:
    amounts = [leaf for leaf in campaign.budget.leaves() if isinstance(leaf, Amount)]
    over = [excess for amount in amounts if (excess := amount.over(campaign.state.progress))]
    why = "over it: the budget was lowered, or a model used more than its max_tokens, or says that it did"
    return [("over budget", f"{', '.join(over)} {why}")] if over else []


def _format_time(end: RunEnd) -> str:
    # Of less than a second no speed is worth telling.
    if end.seconds < 1.0:
        return "less than 1 s"
    return f"{duration(end.seconds)}, {end.programs / end.seconds:.0f}/s"


def format_operators(campaign: Campaign, tally: report.Tally) -> str:
    """Returns a line for each operator with what it brought."""
    return wording.yields(tally.yields(), tally.reflections, report.lessons_learnt(campaign))


def left_out_facts(left_out: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the operators that are not asked, with the reason of each; nothing where all are."""
    rows = [f"{name}: {one_line(why)}" for name, why in left_out.items()]
    return [("left out", "\n".join(rows))] if rows else []


def cost_facts(campaign: Campaign, tally: report.Tally) -> list[tuple[str, str]]:
    """Returns what models brought, how many of their calls failed and why, and what all have cost; nothing where a campaign has none."""
    progress, yields, calls = campaign.state.progress, tally.model_yields(), campaign.state.calls
    rows = [("models", wording.yields(yields))] if yields else []
    rows += [("failed", wording.failures(calls.failures()))] if calls.failed else []
    rows += [("retries", wording.failed_requests(calls.retries))] if calls.retries else []
    called = progress.calls or campaign.settings.models.members
    return [*rows, ("spent", costs.spent(progress, calls.failed, calls.failed_requests))] if called else rows


def waiting_facts(campaign: Campaign) -> list[tuple[str, str]]:
    """Returns how many calls are in flight, and the folders where people's answers are awaited; nothing where none is."""
    waiting = report.waiting(campaign)
    folders = [text for member in campaign.settings.models.members if (text := _mailbox_folder(member))]
    awaited = f" (answers awaited in {', '.join(folders)})" if folders else ""
    return [("waiting", f"{wording.counted(waiting, 'call')} in flight{awaited}")] if waiting else []


def paused_facts(campaign: Campaign) -> list[tuple[str, str]]:
    """Returns that a person has paused the campaign, and how it goes on; nothing where nobody has."""
    if not campaign.state.paused:
        return []
    if writer(campaign.log.path) is None:
        go_on = f"evolve run --continue {campaign.name} goes on"
        return [("state", f"no run is under way: the last one ended while it was paused; {go_on}")]
    return [("state", f"paused: nothing new is started until evolve campaign unpause {campaign.name}")]


def best_facts(campaign: Campaign, best: report.Best | None, front: report.FrontLine | None) -> list[tuple[str, str]]:
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


def next_commands(campaign: Campaign, best: report.Best | None, end: RunEnd | None = None) -> Sequence[str]:
    """Returns the commands that a person would type next: to look at the best program, to go on, and to write the report."""
    look = [f"evolve program show {best.name} --code"] if best else []
    budget = enlarge(campaign.budget, spent=campaign.progress) if end is None else end.next_budget
    go_on = f"evolve run --continue {campaign.name} {_options(budget)}".rstrip()
    if end is not None and end.reason == "exhausted":
        go_on = f"evolve campaign fork {campaign.name} --seed {campaign.settings.seed + 1}"
        if campaign.settings.models.members:
            look = [*look, f"evolve model calls {campaign.name}"]
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
    return max(2 * amount.number, round(math.ceil(needed / step) * step, 9))
