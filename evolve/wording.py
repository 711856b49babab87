"""Facts in words: numbers with the task's digits, differences, outcomes, isolation levels.

The same fact reads the same in the live table, at the end of a run, in `show` and on pages."""

from collections.abc import Mapping, Sequence

from evolve import report
from evolve.campaign import Campaign, ModelFailures
from evolve.log import writer
from evolve.report import (
    AnchorGap,
    Best,
    CaseScore,
    Closest,
    FrontLine,
    LineageStep,
    MissedLine,
    ObjectiveLine,
    RecordLine,
    Yield,
    nearest,
)
from evolve.report.best import Kept, KeptLine, Ratio
from evolve.report.best import kept as what_is_kept
from evolve.sandbox.output import brief, format_place, one_line
from evolve.stop import duration, spelled
from evolve.types import Fitness, Measure, Outcome, Task, Trust

Facts = list[tuple[str, str]]
"""Labels and texts."""
_FAULTS = 3
"""Kinds of faults of an evaluator, or of the machine, that are told."""
_REASON = 200
"""Characters of why a call failed."""


def number(value: float | None, fitness: Fitness) -> str:
    """Formats a fitness, which is in the user's direction, with the task's digits."""
    return "-" if value is None else f"{value:.{fitness.digits}g}"


def difference(value: float, fitness: Fitness) -> str:
    """Formats a difference of two fitness values with its sign; what is beyond the task's digits is no difference."""
    return f"{round(value, fitness.digits) + 0.0:+.4g}"


def share(part: float, whole: float = 1.0) -> str:
    """Formats a share, such as `12%`; less than a half percent that is not nothing says so."""
    if not whole:
        return "-"
    found = part / whole
    return "less than 1%" if 0.0 < found < 0.005 else f"{found:.0%}"


def seconds(value: float) -> str:
    """Formats a short time."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def long_time(value: float) -> str:
    """Formats a time that may be long: `25 min 3 s`, or `1.5 s`."""
    return duration(value) if value >= 60 else seconds(value)


def level(isolation: str, *, weaker: bool = False) -> str:
    """Returns the isolation level alone of an executor's line, `reduced: a process of its own, ...`; marked where it is weaker than the
    campaign's best."""
    return (isolation.partition(":")[0] or "unknown") + (" (weaker)" if weaker else "")


def outcome(line: RecordLine) -> str:
    """Returns how a record ended, a screened one with the code of the reason: `screened: duplicate`."""
    return f"{line.outcome}: {line.refusal}" if line.refusal else line.outcome


def evidence(line: RecordLine | LineageStep) -> tuple[str, str]:
    """Returns who computed a score, and its isolation level; dashes where a proposal was screened, so that nothing was evaluated."""
    if line.outcome == Outcome.SCREENED:
        return "-", "-"
    return line.trust, level(line.isolation, weaker=line.weaker)


def score(best: Best, fitness: Fitness) -> str:
    """Formats a score: `sum of radii 2.5523 +- 0.001 of 4 measurements (+0.0109 to the seed)`; with a mark where it was evaluated under less isolation than
    the campaign's best, and one where the evaluator has not seen what the score rests on."""
    count = f"{best.measurements} measurement{'s' if best.measurements != 1 else ''}"
    error = f" +- {best.standard_error:.2g} of {count}" if best.standard_error else ""
    mark = f" [evaluated at {level(best.isolation, weaker=True)}]" if best.weaker else ""
    return f"{fitness.name} {number(best.fitness, fitness)}{error}{_gain(best, fitness)}{mark}{trusted(best.trust)}"


def ratio(found: Ratio) -> str:
    """Formats a ratio: `1.47 (1.42 to 1.52), by what was measured after it won`, and a line for the seed against itself."""
    between = "" if found.low is None or found.high is None else f" ({found.low:.3g} to {found.high:.3g})"
    rests = "by what was measured after it won" if found.confirmed else "by what made it win; not confirmed yet"
    lines = [f"{found.factor:.4g}{between}, {rests}"]
    if found.floor is not None:
        beyond = "beyond that" if found.clears_the_floor else "within that, so no gain"
        lines.append(
            f"the seed against itself: off by {found.floor:.1%} at most ({found.seed_runs} runs); this is {beyond}"
        )
    return "\n".join(lines)


def trusted(trust: Trust) -> str:
    """Formats ` [claimed]`; nothing where the evaluator has witnessed what it scored."""
    return "" if trust == "witnessed" else f" [{trust}]"


def _gain(best: Best, fitness: Fitness) -> str:
    if best.gain is None:
        return ""
    return f" ({difference(best.gain, fitness)} to the seed)" if best.gain else " (the seed's)"


def anchors(gaps: Sequence[AnchorGap], fitness: Fitness) -> str:
    """Formats the nearest anchors, one per line: `-0.0631 to AlphaEvolve 2025 (2.63586)`; where smaller is better, a sign needs a word."""
    return "\n".join(_anchor(gap, fitness) for gap in nearest(gaps))


def _anchor(gap: AnchorGap, fitness: Fitness) -> str:
    year = f" {gap.year}" if gap.year else ""
    sign = "" if fitness.direction == "max" or not gap.difference else " (better)" if gap.difference < 0 else " (worse)"
    return f"{difference(gap.difference, fitness)}{sign} to {gap.by}{year} ({gap.value:.6g})"


def objective(line: ObjectiveLine) -> str:
    """Formats an objective: `length 2.552 (max)`."""
    return f"{line.name} {objective_number(line)} ({line.direction})"


def objective_number(line: ObjectiveLine) -> str:
    """Formats the value of an objective with its digits."""
    return f"{line.value:.{line.digits}g}"


def front(line: FrontLine) -> str:
    """Formats a front: `14 programs, hypervolume 3.21 beyond length 2.5, seconds 0.3`."""
    size = f"{line.members:,} program{'s' if line.members != 1 else ''}"
    if line.hypervolume is None or line.reference is None:
        return f"{size}, no hypervolume before the seed has passed"
    beyond = ", ".join(f"{name} {value:.6g}" for name, value in line.reference.items())
    return f"{size}, hypervolume {line.hypervolume:.6g} beyond {beyond}"


def closest(found: Closest) -> str:
    """Returns the words in the place of a best program while none meets the constraints."""
    told = "".join(f"\n{missed(line)}" for line in found.missed)
    return f"none meets the constraints yet\nleast violation {found.violation:.4g}, by {found.name}{told}"


def missed(line: MissedLine) -> str:
    """Formats a constraint that is missed: `memory 300, wanted at most 200`."""
    bounds = [f"at least {line.at_least:g}"] if line.at_least is not None else []
    bounds += [f"at most {line.at_most:g}"] if line.at_most is not None else []
    return f"{line.metric} {line.value:.6g}, wanted {' and '.join(bounds)}"


def promotion(task: Task, *, certified: bool, better: bool, promoted: bool) -> str:
    """Returns whether a program is promoted: by its held-out cases, or where the task's answer is one proven object, by a proof of a value better than
    the seed's."""
    if task.promotion == "certificate":
        return "yes, by its certificate" if certified and better else "no"
    return "yes" if promoted else "no"


def held_out(best: Best, wanted: Sequence[str], fitness: Fitness) -> str:
    """Formats a line for each case that was measured, and what follows from them."""
    found = [line for line in best.cases if line.case in wanted]
    lines = [f"{line.case}: {case(line, fitness)}" for line in found]
    if best.promoted:
        verdict = f"promoted: no worse than the seed on any of them{lost(what_is_kept(best, wanted, fitness))}"
    elif best.trust == "claimed":
        verdict = "not promoted: the scores are claimed by the program's own script, and nobody has computed them"
    elif not all(line.agrees for line in found):
        verdict = "not promoted: what was found in the search does not hold there"
    elif not best.improved:
        verdict = "nothing to promote: the seed is the best"
    else:
        verdict = f"not promoted yet: {len(found)} of {len(wanted)} cases measured"
    return "\n".join([*lines, verdict])


def lost(found: Kept) -> str:
    """Returns the words to add to a promotion, which asks for no loss alone: empty where each case keeps at least half of the gain."""
    if found.verdict is None or (found.verdict == "holds" and not found.lost):
        return ""
    return f"; {'' if found.verdict == 'holds' else 'but '}{kept(found)}"


def kept(found: Kept) -> str:
    """Formats what is kept: `held-out cases keep 63% of the gain on average, but less than half of it is left on 2 of 5: n=29 (15%); n=32 (equal to the seed)`."""
    left = share(found.share or 0.0)
    told = {
        "holds": f"held-out cases keep {left} of the gain on average",
        "shrinks": f"most of the gain is gone on held-out cases: {left} of it is left on average",
        "gone": "all of the gain is gone on held-out cases: on average the program is no better than the seed there",
        None: f"{len(found.lines)} of {counted(found.wanted, 'held-out case')} measured",
    }
    # Where most of the gain is gone, naming the cases that lost it would name nearly all.
    return told[found.verdict] + (_lost_cases(found) if found.verdict == "holds" else "")


def kept_on_average(found: Kept) -> str:
    """Formats what is kept without the cases, where these stand beside it."""
    left = share(found.share or 0.0)
    told = {
        "holds": f"held-out cases keep {left} of the gain on average",
        "shrinks": f"most of the gain is gone on held-out cases: {left} of it is left on average",
        "gone": "all of the gain is gone on held-out cases: on average the program is no better than the seed there",
        None: f"{len(found.lines)} of {counted(found.wanted, 'held-out case')} measured",
    }
    return told[found.verdict]


def _lost_cases(found: Kept) -> str:
    if not found.lost:
        return ""
    told = "; ".join(f"{line.case.case} ({_left(line)})" for line in found.lost)
    return f", but less than half of it is left on {len(found.lost)} of {found.wanted}: {told}"


def _left(line: KeptLine) -> str:
    """Formats what is left of the gain on one case."""
    if line.share is None:
        return line.case.outcome
    if not line.share:
        return "equal to the seed"
    return share(line.share) if line.share > 0.0 else "worse than the seed"


def case(line: CaseScore, fitness: Fitness) -> str:
    """Formats a case: `2.71 (+0.11 to the seed)`, or how it failed."""
    if line.fitness is None:
        return f"{line.outcome}  {line.name}"
    if line.seed is None:
        return f"{number(line.fitness, fitness)}  {line.name}"
    gain = difference(line.fitness - line.seed, fitness)
    return f"{number(line.fitness, fitness)} ({gain} to the seed)  {line.name}"


def from_scratch(line: CaseScore, fitness: Fitness) -> str:
    """Formats what the best program finds without what its parents left."""
    return f"{case(line, fitness)}: without what its parents left"


def waiting(steps: int) -> str:
    """Formats a number of steps that were asked and have not settled."""
    return f"{steps} begun step{'s go' if steps > 1 else ' goes'} on with --continue"


def outcomes(counts: Mapping[str, int]) -> str:
    """Formats counts of outcomes: `ok 1,990, screened 31`."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "none yet"


def _yield(line: Yield) -> str:
    screened = line.proposals - line.evaluated
    # A share of nothing is none.
    share = [f"{line.share:.0%} better than their parents"] if line.evaluated else []
    tail = [f"{screened:,} screened"] if screened else []
    return f"{line.name}: {', '.join([f'{line.evaluated:,} evaluated', *share, *tail])}"


def yields(lines: Sequence[Yield], notes: int = 0, lessons: int = 0) -> str:
    """Formats a line for each operator or model, `tune_literals: 1,990 evaluated, 12% better than their parents, 2 screened`, and one for the steps
    that make notes."""
    told = [f"{counted(notes, 'note')}, {counted(lessons, 'lesson')}"] if notes else []
    return "\n".join([*map(_yield, lines), *told]) or "none yet"


def counted(count: int, noun: str) -> str:
    """Formats a number of things: `1 cell`, `2,000 cells`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def failures(lines: Sequence[ModelFailures]) -> str:
    """Formats a line for each model: `small: 12 of 40 calls failed, the last one because it exited with 3`."""
    return "\n".join(map(_failures, lines))


def failed_requests(retries: Mapping[str, Mapping[str, int]]) -> str:
    """Formats a line for each model: `small: 95 requests failed: 60 x 503, 35 x 429 (rate limited)`."""
    lines = [
        f"{one_line(model)}: {counted(sum(causes.values()), 'request')} failed: {format_causes(causes)}"
        for model, causes in retries.items()
    ]
    return "\n".join(lines)


def format_causes(causes: Mapping[str, int]) -> str:
    """Formats causes with their counts, the most frequent first: `2 x 503, 1 x time was up`."""
    ordered = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} x {one_line(cause)}" for cause, count in ordered)


def _failures(line: ModelFailures) -> str:
    why = brief(one_line(" | ".join(line.error.splitlines())), _REASON)
    return f"{one_line(line.model)}: {line.failed:,} of {counted(line.calls, 'call')} failed, at last: {why}"


def format_yields(campaign: Campaign, tally: report.Tally) -> Facts:
    """Returns how programs ended, and a line for each operator with what it brought."""
    operators = yields(tally.operators, tally.notes, report.lessons_learnt(campaign))
    return [("outcomes", outcomes(tally.outcomes)), *_format_faults(campaign, tally), ("operators", operators)]


def _format_faults(campaign: Campaign, tally: report.Tally) -> Facts:
    """Returns the last failures of which no program is the cause; nothing where there are none."""
    if not tally.outcomes.get(Outcome.INTERNAL):
        return []
    faults = [one for one in report.failures(campaign) if one.outcome == Outcome.INTERNAL][:_FAULTS]
    rows = [
        f"{one.count:,} by no fault of a program, such as {campaign.name}/{one.examples[0]}: {one_line(one.message)[:_REASON]}{_find_place(campaign, one)}"
        for one in faults
    ]
    return [("faults", "\n".join(rows))] if rows else []


def _find_place(campaign: Campaign, fault: report.FailureClass) -> str:
    """Returns where the newest of these failures was; empty where it has no traceback."""
    (feedback,) = campaign.log.feedback_of(fault.examples[:1]).values()
    place = one_line(format_place(campaign.log.text(feedback))) if feedback else ""
    return f" {place}" if place else ""


def format_left_out(left_out: Mapping[str, str]) -> Facts:
    """Returns the operators that are not asked, with the reason of each; nothing where all are."""
    rows = [f"{name}: {one_line(why)}" for name, why in left_out.items()]
    return [("left out", "\n".join(rows))] if rows else []


def format_costs(campaign: Campaign, tally: report.Tally) -> Facts:
    """Returns what models brought, how many of their calls failed and why, and what all have cost; nothing where a campaign has none."""
    models, calls = tally.models, campaign.state.calls
    rows = [("models", yields(models))] if models else []
    rows += [("failed", failures(calls.failures()))] if calls.failed else []
    rows += [("retries", failed_requests(calls.retries))] if calls.retries else []
    called = campaign.state.progress.calls or campaign.settings.models.members
    return [*rows, ("spent", format_spent(campaign))] if called else rows


def format_saved_cases(campaign: Campaign) -> Facts:
    """Returns what stopping programs on the way has saved, in cases; nothing where no program was stopped."""
    progress = campaign.state.progress
    share = progress.saved_cases / max(1, progress.saved_cases + progress.cases)
    text = f"{progress.cases:,} evaluated; {share:.0%} of all saved, by stopping programs that are worse than their parents"
    return [("cases", text)] if progress.saved_cases else []


def format_spent(campaign: Campaign) -> str:
    """Formats what models have spent, without what they have not: `214 calls (3 failed, 12 requests failed), 512,300 tokens, 1.23 usd`."""
    progress, calls = campaign.state.progress, campaign.state.calls
    failures = [f"{calls.failed:,} failed"] if calls.failed else []
    failures += [f"{counted(calls.failed_requests, 'request')} failed"] if calls.failed_requests else []
    made = spelled("calls", progress.calls) + (f" ({', '.join(failures)})" if failures else "")
    return ", ".join([made, spelled("tokens", progress.tokens), *format_money(progress.money, progress.gpu_seconds)])


def format_money(money: float, gpu_seconds: float) -> list[str]:
    """Returns the texts of the amounts that are not zero."""
    parts = [spelled("money", money)] if money else []
    return [*parts, spelled("gpu_seconds", gpu_seconds)] if gpu_seconds else parts


def format_waiting(campaign: Campaign) -> Facts:
    """Returns how many calls are in flight, and how many wait for their turn; or, where nothing but measurements is under way, how many."""
    calls = report.pending_calls(campaign)
    if calls.in_flight:
        queued = f", {calls.queued:,} waiting" if calls.queued else ""
        return [("calls", f"{counted(calls.in_flight, 'call')} in flight{queued}")]
    steps = campaign.state.open_steps()
    if steps and all(isinstance(step.asked.action, Measure) for step in steps):
        return [("measuring", f"{counted(len(steps), 'measurement')} under way")]
    return []


def format_paused(campaign: Campaign) -> Facts:
    """Returns that a person has paused the campaign, and how it goes on; nothing where nobody has."""
    if not campaign.state.paused:
        return []
    if writer(campaign.log.path) is None:
        go_on = f"evolve run --continue {campaign.name} goes on"
        return [("state", f"no run is under way: the last one ended while it was paused; {go_on}")]
    return [("state", f"paused: nothing new is started until evolve campaign unpause {campaign.name}")]
