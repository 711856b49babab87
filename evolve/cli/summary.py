"""What `evolve run` says at its end: what came of it, where it is, and the command to type next.

Invariant: a campaign without an improvement says so; the isolation level stands beside every score."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli import costs
from evolve.cli.beginning import folder_of
from evolve.cli.output import CELL, brief, facts, one_line
from evolve.engine import Ending
from evolve.engine.trackers import TrackerThread
from evolve.log import writer
from evolve.stop import Amount, Budget, duration
from evolve.types import FROM_SCRATCH, ConfigError, EvolveError, ModelError, Progress
from evolve.types.errors import without_remedy

_REASONS = {
    "budget": "its budget is spent",
    "interrupted": "it was interrupted; everything that had settled is kept",
    "stopped": "it was stopped by request (evolve campaign stop); everything that had settled is kept",
    "exhausted": "its operators propose nothing new any more, so going on is useless: try another strategy or seed",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """The last line of `evolve run --json`. `calls` (`failed_calls` are among them), `tokens`, `money` (US dollars) and `gpu_seconds` are what models have taken. `certificate` names the record that proves the best value, where there is one;
    `closest` is there while no program meets the constraints, `front` where the task has objectives; `refusal` says why the last proposal was not judged, where a campaign is exhausted,
    and `unpaid` which call its budget did not pay for, where that ended it; `answered` and `failed` count the run's calls, `failure` is why the last of the failed ones did.
    `next_budget` is a larger one. `trackers` says of each what it was told of, and why no more."""

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


def ended(campaign: Campaign, ending: Ending, trackers: Sequence[TrackerThread] = ()) -> Ended:
    """How a run ended, as a value."""
    state, best = campaign.state, report.best(campaign)
    return Ended(
        event="ended",
        campaign=campaign.name,
        reason=ending.reason,
        left=ending.left,
        log=str(campaign.log.path),
        programs=state.progress.programs,
        records=state.progress.records,
        seconds=campaign.seconds,
        calls=state.progress.calls,
        failed_calls=state.calls.failed,
        tokens=state.progress.tokens,
        money=state.progress.money,
        gpu_seconds=state.progress.gpu_seconds,
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
        next_budget=tuple(larger(campaign.budget, ending.wanted, campaign.progress)),
        trackers=tuple(one_line(tracking.describe()) for tracking in trackers),
    )


def failure_of(campaign: Campaign, end: Ended) -> EvolveError | None:
    """Returns the error of a run that ended without one answer of a model, or because there was nothing to propose; None for another."""
    unanswered = no_answer(campaign, end)
    if unanswered:
        return ModelError(unanswered)
    if end.reason == "exhausted" and end.programs == 0:
        return ConfigError(nothing_to_try(campaign, end))
    return None


def no_answer(campaign: Campaign, end: Ended) -> str:
    """What to say of a run that ended without one answer of a model, although calls were wanted; empty for another, and where a campaign
    may do without."""
    if (
        campaign.settings.outage.then == "offline"
        or end.answered
        or end.reason not in ("budget", "exhausted")
        or not (end.failed or end.unpaid)
    ):
        return ""
    kept = f"Its log is kept: {end.log}"
    if not end.failed:
        return f"campaign {end.campaign!r} made no call of a model in this run: {_unpaid(end)} {kept}"
    calls = "its only call of a model" if end.failed == 1 else f"all {end.failed:,} calls of models"
    what, _, remedy = end.failure.partition(" Do: ")
    remedy = (
        remedy or f"evolve model calls {end.campaign} shows them; see to the model, then continue with a larger budget"
    )
    return (
        f"campaign {end.campaign!r} got no answer: {calls} failed, the last one: {_brief(what)}. Do: {remedy}. {kept}"
    )


def _unpaid(end: Ended) -> str:
    """The call that was not paid, and a budget that pays for it."""
    what = without_remedy(end.unpaid)
    budget = " ".join(f"--budget {shlex.quote(text)}" for text in end.next_budget)
    return f"{what}. Do: evolve run --continue {end.campaign} {budget}, or lower the max_tokens of the model in a new campaign."


def _brief(text: str) -> str:
    return brief(one_line(text), CELL).rstrip(".")


def nothing_to_try(campaign: Campaign, end: Ended) -> str:
    """What to say of such a campaign; more budget would not help it."""
    last = f" (the last one: {_refusal(end)})" if end.refusal else ""
    if campaign.state.refusals.heard:
        return (
            f"campaign {end.campaign!r} found nothing to try: {', '.join(campaign.operator_names)} proposed nothing that could be "
            f"judged{last}. Do: read what the models wrote, evolve model calls {end.campaign}; then use another model or seed. "
            f"Its log is kept: {end.log}"
        )
    unanswered = ", and no model answered" if campaign.settings.models.members else ""
    return (
        f"campaign {end.campaign!r} found nothing to try: {', '.join(campaign.state.refusals.tired())} proposed nothing that could be "
        f"judged{last}{unanswered}. Do: give the seed numbers to tune or Python that may change, or name other operators with "
        f"--set 'operators.names=[...]'. Its log is kept: {end.log}"
    )


def _refusal(end: Ended) -> str:
    return brief(one_line(end.refusal), CELL)


def closing_words(campaign: Campaign, end: Ended) -> str:
    """The end of a run, for a person."""
    programs = wording.counted(end.programs, "program")
    spent = f"{programs} judged in {_time(end)}"
    waiting = f", {wording.waiting(end.left)}" if end.left else ""
    why = "what is left of its budget pays for no call of a model" if end.unpaid else _REASONS[end.reason]
    head = f"campaign {end.campaign} ended: {why} ({spent}{waiting})."
    if end.unpaid:
        head = f"{head}\n{_unpaid(end)}"
    if end.refusal:
        head = f"{head}\nThe last proposal was not judged: {_refusal(end)}"
    tally = report.Tally.of(campaign.state.history)
    rows = [
        *best_facts(campaign, end.best, end.front),
        ("outcomes", wording.outcomes(tally.counts())),
        ("operators", operators_told(campaign, tally)),
        *left_out_facts(report.left_out(campaign)),
        *cost_facts(campaign, tally),
        *_overshot(campaign),
        ("isolation", end.isolation),
        *([("trackers", "\n".join(end.trackers))] if end.trackers else []),
        ("log", end.log),
    ]
    commands = next_commands(campaign, end.best, end)
    rows += [("next" if place == 0 else "", command) for place, command in enumerate(commands)]
    return f"\n{head}\n{facts(rows)}"


def _overshot(campaign: Campaign) -> list[tuple[str, str]]:
    """By how much models have overshot the budget; nothing where they have not."""
    amounts = [leaf for leaf in campaign.budget.leaves() if isinstance(leaf, Amount)]
    over = [excess for amount in amounts if (excess := amount.over(campaign.state.progress))]
    if not over:
        return []
    return [
        (
            "over budget",
            f"{', '.join(over)} over it: the budget was lowered, or a model used more than its max_tokens, or says that it did",
        )
    ]


def _time(end: Ended) -> str:
    """`1 min, 173/s`; of less than a second no speed is worth telling."""
    if end.seconds < 1.0:
        return "less than 1 s"
    return f"{duration(end.seconds)}, {end.programs / end.seconds:.0f}/s"


def operators_told(campaign: Campaign, tally: report.Tally) -> str:
    """What each operator brought."""
    return wording.yields(tally.yields(), tally.reflections, report.lessons_learnt(campaign))


def left_out_facts(left_out: Mapping[str, str]) -> list[tuple[str, str]]:
    """The operators that are not asked, with the reason of each; nothing where all are."""
    rows = [f"{name}: {one_line(why)}" for name, why in left_out.items()]
    return [("left out", "\n".join(rows))] if rows else []


def cost_facts(campaign: Campaign, tally: report.Tally) -> list[tuple[str, str]]:
    """What models brought, how many of their calls failed and why, and what all have cost; nothing where a campaign has none."""
    progress, yields, calls = campaign.state.progress, tally.model_yields(), campaign.state.calls
    rows = [("models", wording.yields(yields))] if yields else []
    rows += [("failed", wording.failures(calls.failures()))] if calls.failed else []
    rows += [("retries", wording.failed_requests(calls.retries))] if calls.retries else []
    shown = progress.calls or campaign.settings.models.members
    return [*rows, ("spent", costs.spent(progress, calls.failed, calls.failed_requests))] if shown else rows


def waiting_facts(campaign: Campaign) -> list[tuple[str, str]]:
    """How many proposals wait for a model, and where its answers are awaited; nothing where none does."""
    waiting = report.waiting(campaign)
    return [("waiting", f"{wording.counted(waiting, 'call')} in flight{_awaited(campaign)}")] if waiting else []


def paused_facts(campaign: Campaign) -> list[tuple[str, str]]:
    """That a person has paused it, and how it goes on; nothing where nobody has."""
    if not campaign.state.paused:
        return []
    if writer(campaign.log.path) is None:
        return [
            (
                "state",
                f"no run is under way: the last one ended while it was paused; evolve run --continue {campaign.name} goes on",
            )
        ]
    return [("state", f"paused: nothing new is started until evolve campaign unpause {campaign.name}")]


def _awaited(campaign: Campaign) -> str:
    """The folders that people answer in."""
    folders = [text for member in campaign.settings.models.members if (text := folder_of(member))]
    return f" (answers awaited in {', '.join(folders)})" if folders else ""


def best_facts(campaign: Campaign, best: report.Best | None, front: report.FrontLine | None) -> list[tuple[str, str]]:
    """The best program, what it is compared to, and whether its value is proven; the front beside it."""
    fronts = [("front", wording.front(front))] if front else []
    if best is None:
        closest, none = report.closest(campaign), "none: no program has passed, not even the seed"
        return [("best", wording.closest(closest) if closest else none), *fronts]
    fitness = campaign.task.fitness
    told = f"{best.name}  {wording.score(best, fitness)}"
    rows = [("best", told if best.improved else f"{told}\nno improvement: no program was better than the seed")]
    if best.ratio:
        rows.append(("ratio", wording.ratio(best.ratio)))
    if best.objectives:
        rows.append(("objectives", ", ".join(map(wording.objective, best.objectives))))
    rows += fronts
    if best.anchors:
        rows.append(("anchors", wording.anchors(best.anchors, fitness)))
    rows.append(("certified", _certificate(campaign, best)))
    held_out = campaign.state.cases.held_out
    if held_out:
        rows.append(("held out", wording.held_out(best, held_out, fitness)))
    scratch = [line for line in best.cases if line.case == FROM_SCRATCH]
    return [*rows, *((FROM_SCRATCH, wording.from_scratch(line, fitness)) for line in scratch)]


def _certificate(campaign: Campaign, best: report.Best) -> str:
    if best.certified:
        return f"yes, the task proved this value: evolve program show {report.certificate(campaign, best.record)}"
    if campaign.task.promotion == "certificate":
        return "no, the campaign ended before the task proved this value; more budget does"
    return "no, this task has no certificates"


def next_commands(campaign: Campaign, best: report.Best | None, end: Ended | None = None) -> Sequence[str]:
    """What a person would type next, after a run that ended so. What proposes nothing new is not continued."""
    look = [f"evolve program show {best.name} --code"] if best else []
    texts = larger(campaign.budget, spent=campaign.progress) if end is None else end.next_budget
    budget = " ".join(f"--budget {shlex.quote(text)}" for text in texts)
    go_on = f"evolve run --continue {campaign.name} {budget}".rstrip()
    if end is not None and end.reason == "exhausted":
        go_on = f"evolve campaign fork {campaign.name} --seed {campaign.settings.seed + 1}"
        if campaign.settings.models.members:
            look = [*look, f"evolve model calls {campaign.name}"]
    return [*look, go_on, f"evolve report {campaign.name}"]


def larger(budget: Budget, wanted: Progress | None = None, spent: Progress | None = None) -> list[str]:
    """Twice the amounts of a budget, as they are written, or more where `wanted` is to be paid from it, or so much is `spent`."""
    amounts = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount)]
    return [str(Amount(_enough(amount, wanted, spent), amount.unit)) for amount in amounts]


def _enough(amount: Amount, wanted: Progress | None, spent: Progress | None) -> float:
    paid, gone = (amount.counted(each) / amount.unit.size if each else 0.0 for each in (wanted, spent))
    needed = max(paid, 1.1 * gone)
    # Rounded up to two digits: what is paid once is not enough for a campaign.
    step = 10.0 ** (math.floor(math.log10(needed)) - 1) if needed else 1.0
    return max(2 * amount.number, round(math.ceil(needed / step) * step, 9))
