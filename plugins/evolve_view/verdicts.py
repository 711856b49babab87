"""Sentences on what a campaign found and how far it may be trusted: the beginning of a report, and its last chapter.

No score stands without what it rests on, and what speaks against a result stands in the same place as what speaks for it."""

from collections.abc import Iterator

from evolve import wording
from evolve.campaign import Campaign
from evolve.report import Best
from evolve.stop import duration
from evolve.types import Level, Task
from evolve_view.documents import Block, Line, Mono, Paragraph, Strong
from evolve_view.findings import Findings


def format_time(seconds: float) -> str:
    """Formats a time: `2 min 3 s`; less than a second in milliseconds."""
    return duration(seconds) if seconds >= 1.0 else f"{seconds * 1000:.3g} ms"


def format_signed(value: float | None, digits: int) -> str:
    """Formats a difference with its sign, `-` where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:+.4g}"


def summarize(found: Findings, task: Task) -> Iterator[Block]:
    """Yields the paragraphs that a reader must know first."""
    overview = found.overview
    if found.writer:
        told = f"The campaign is running (process {found.writer}). This is what it had found when the report was made; what is left of its budget: {found.left}."
        yield Paragraph(told, "bad")
    elif overview.unfinished:
        yield Paragraph(f"The campaign has ended for now: {wording.waiting(overview.unfinished)}.")
    if overview.difference:
        told = f"This version of evolve makes another archive of the log than the log says: {overview.difference}. What follows is what this version makes of it."
        yield _warn("Careful", told)
    yield _state_result(found, task)
    if overview.best is not None:
        yield from _state_reservations(found, overview.best, task)


def _warn(word: str, told: str) -> Paragraph:
    return Paragraph((Strong(f"{word}:"), f" {told}"), "bad")


def _state_result(found: Findings, task: Task) -> Block:
    best = found.overview.best
    if best is None:
        return Paragraph(_state_nothing(found), "bad")
    if not best.improved:
        told = f"the search found no program that is better than the seed, which has {wording.score(best, task.fitness)}. {_state_effort(found)}"
        return _warn("No improvement", told + _state_basis(best))
    score = Strong(wording.score(best, task.fitness))
    proof = f" reaches{_state_proof(found, best, task)}. {_state_effort(found)}"
    return Paragraph((score, " is what ", Mono(best.name), proof, _state_basis(best)), "good")


def _state_nothing(found: Findings) -> Line:
    overview = found.overview
    if overview.closest is not None:
        least = "; ".join(wording.closest(overview.closest).split("\n")[1:])
        return (Strong("No program meets the constraints:"), f" the {least}. {_state_effort(found)}")
    if not overview.records:
        return (Strong("Nothing was judged yet."), " There is nothing to report.")
    why = f" the seed has failed, and so has every program after it. {_state_effort(found)} Why is told below, in what did not work."
    return (Strong("There is no best program:"), why)


def _state_effort(found: Findings) -> str:
    overview = found.overview
    return (
        f"The campaign has judged {wording.counted(overview.programs, 'program')} in {format_time(overview.seconds)}."
    )


def _state_proof(found: Findings, best: Best, task: Task) -> str:
    if best.certified:
        return f", a value that the task has proven in exact arithmetic (record {found.certificate})"
    parts = [f"which is {best.ratio.factor:.4g} times the seed"] if best.ratio is not None else []
    if not task.deterministic and not found.confirmed:
        parts.append("by the measurements that made it win, luck included")
    if found.limits is not None:
        limits = found.limits
        parts.append(f"with {limits.level:.0%} probability between {limits.low:.6g} and {limits.high:.6g}")
    return "".join(f", {part}" for part in parts)


def _state_basis(best: Best) -> str:
    level = wording.level(best.isolation, weaker=best.weaker)
    promoted = " It is promoted: on no held-out case is it worse than the seed." if best.promoted else ""
    return f" Its score is {best.trust}, judged at the isolation level {level}.{promoted}"


def _state_reservations(found: Findings, best: Best, task: Task) -> Iterator[Block]:
    if best.trust == "claimed":
        told = "the program itself has computed this score, and nobody else has. It is worth as much as the program's word."
        yield _warn("Claimed", told)
    held_out = _judge_held_out(found, best)
    if held_out:
        yield _warn("Held out", held_out)
    level = Level.of(best.isolation)
    if level in (Level.REDUCED, Level.NONE):
        told = f"candidates were isolated at the level {level} only, so that a hostile program could have reached its judge."
        yield _warn("Weak isolation", told)
    limits = found.limits
    if limits is not None and best.seed is not None and best.improved and limits.low <= best.seed <= limits.high:
        told = f"the seed's {wording.number(best.seed, task.fitness)} lies between the same limits, so that the gain may be luck."
        yield _warn("Within the noise", told)
    if best.ratio is not None and not best.ratio.clears_the_floor and best.improved:
        yield _warn("Within the noise", wording.ratio(best.ratio).replace("\n", "; "))


def _judge_held_out(found: Findings, best: Best) -> str:
    """Returns what speaks against a gain on held-out cases; empty where nothing does."""
    kept = found.kept
    if not best.improved or kept is None:
        return ""
    if kept.verdict is None:
        return f"{wording.kept(kept)}: what the gain is worth elsewhere is not known."
    if kept.verdict == "holds" and not best.promoted:
        return "the gain does not hold on every held-out case, so that the program is not promoted."
    return f"{wording.kept(kept)}." if kept.verdict != "holds" or kept.lost else ""


def list_doubts(campaign: Campaign, found: Findings) -> Iterator[str]:
    """Yields what is uncertain about a result, a sentence or two for each doubt."""
    best, task = found.overview.best, campaign.task
    if found.writer:
        yield "The campaign is running: a later report may say something else."
    yield (
        "This is one campaign with one seed. How often another one would find as much is not known from it; "
        "several with other seeds tell (evolve compare)."
    )
    if best is not None:
        yield from _doubt_score(found, best, task)
        yield from _doubt_generality(found, best, task)
        yield from _doubt_isolation(best)
    yield from _doubt_campaign(found, task)
    if task.anchors:
        yield "Anchors are values that the task's author wrote down; the campaign has not measured them."


def _doubt_score(found: Findings, best: Best, task: Task) -> Iterator[str]:
    if best.certified:
        return
    if task.deterministic:
        yield "The task declares itself deterministic, so that the best program was not measured again; if that is wrong, its score is what one judging found."
        return
    if not found.confirmed:
        programs = wording.counted(found.overview.programs, "program")
        yield f"The best score is not confirmed: it is the largest of {programs}, and some of that is luck. Measured again, it is probably less good."
    if found.limits is not None:
        limits = found.limits
        yield f"The fitness lies between {limits.low:.6g} and {limits.high:.6g} with {limits.level:.0%} probability, if the measurements are independent."
    floor = found.overview.noise_floor
    if floor and best.gain is not None and abs(best.gain) <= 2 * floor:
        yield f"The gain to the seed ({format_signed(best.gain, task.fitness.digits)}) is no more than two standard deviations of one measurement ({floor:.3g} each)."


def _doubt_generality(found: Findings, best: Best, task: Task) -> Iterator[str]:
    if found.kept is None:
        if task.promotion != "certificate":
            yield "No case is held out: whether the gain holds on anything but what the search has seen is not known."
    elif found.kept.share is None and best.improved:
        yield "Not every held-out case is measured, so that what the gain is worth elsewhere is not known."
    elif found.kept.verdict == "holds" and best.promoted:
        yield "Held-out cases were measured once the program had won; cases of other kinds than these may behave otherwise."


def _doubt_isolation(best: Best) -> Iterator[str]:
    level = Level.of(best.isolation)
    if best.trust == "claimed":
        yield "The score is claimed by the program itself."
    if best.trust == "rescored":
        yield "The score was computed from files that the program saved, and not from what it was seen to do."
    if level is not Level.STRICT:
        yield f"Candidates were isolated at the level {level or 'unknown'}, and not at strict; docs/sandbox.md tells what that does not promise."
    if best.weaker:
        yield "The best program was judged under less isolation than other programs of the campaign."


def _doubt_campaign(found: Findings, task: Task) -> Iterator[str]:
    overview = found.overview
    if overview.former_records:
        yield f"{overview.former_records:,} records were judged by an earlier version of the task: they are history, and no part of the curve or of the best."
    classes = len({machine.hardware for machine in found.machines})
    if classes > 1 and not task.deterministic:
        yield f"The campaign ran on {classes} hardware classes; scores of one are not compared with those of another, and the noise of each is its own."
    if overview.quarantined:
        yield f"{wording.counted(len(overview.quarantined), 'program')} quarantined: a ruling by a rule or a person, which another person may see otherwise."
    if overview.costs is not None and overview.costs.total.exact < 1.0:
        yield f"Tokens and money are counted exactly for {overview.costs.total.exact:.0%} of the calls, and estimated for the others."
