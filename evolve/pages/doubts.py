"""What is uncertain about a result, as sentences.

Invariant: what is not known is said, and nothing is left out because it looks bad."""

from collections.abc import Iterator

from evolve import wording
from evolve.campaign import Campaign
from evolve.pages.document import Bullets, Section
from evolve.pages.findings import Findings
from evolve.pages.numbers import signed
from evolve.report import Best
from evolve.types import Level, Task


def uncertain(campaign: Campaign, found: Findings) -> Section:
    """The chapter."""
    lines = tuple(doubts(campaign, found))
    return Section("uncertain", "What is uncertain", (Bullets(lines),))


def doubts(campaign: Campaign, found: Findings) -> Iterator[str]:
    """A sentence or two for each."""
    page, best = found.overview, found.overview.best
    if found.writer or page.unfinished:
        yield "The campaign is not at its end: another report may say something else."
    yield (
        "This is one campaign with one seed. How often another one would find as much is not known from it; "
        "several with other seeds tell (evolve compare)."
    )
    if best is not None:
        yield from _score(found, best, campaign.task)
        yield from _elsewhere(found, best, campaign.task)
        yield from _isolation(best)
    yield from _campaign(campaign, found)
    if campaign.task.anchors:
        yield "Anchors are values from the literature, as the task's author wrote them down; nobody has measured them here."


def _score(found: Findings, best: Best, task: Task) -> Iterator[str]:
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
        yield f"The gain to the seed ({signed(best.gain, task.fitness.digits)}) is no more than two standard deviations of one measurement ({floor:.3g} each)."


def _elsewhere(found: Findings, best: Best, task: Task) -> Iterator[str]:
    if found.kept is None:
        if task.promotion != "certificate":
            yield "No case is held out: whether the gain holds on anything but what the search has seen is not known."
        return
    if found.kept.share is None and best.improved:
        yield "Not every held-out case is measured, so that what the gain is worth elsewhere is not known."
    elif found.kept.verdict == "holds" and best.promoted:
        yield "Held-out cases were measured once the program had won; cases of other kinds than these may behave otherwise."


def _isolation(best: Best) -> Iterator[str]:
    level = Level.of(best.isolation)
    if best.trust == "claimed":
        yield "The score is claimed by the program itself."
    if best.trust == "rescored":
        yield "The score was computed from files that the program saved, and not from what it was seen to do."
    if level is not Level.STRICT:
        yield f"Candidates were isolated at the level {level or 'unknown'}, and not at strict; docs/sandbox.md tells what that does not promise."
    if best.weaker:
        yield "The best program was judged under less isolation than other programs of the campaign."


def _campaign(campaign: Campaign, found: Findings) -> Iterator[str]:
    page = found.overview
    if page.former_records:
        yield f"{page.former_records:,} records were judged by an earlier version of the task: they are history, and no part of the curve or of the best."
    classes = len({machine.hardware for machine in found.machines})
    if classes > 1 and not campaign.task.deterministic:
        yield f"The campaign ran on {classes} hardware classes; scores of one are not compared with those of another, and the noise of each is its own."
    if page.quarantined:
        yield f"{wording.counted(len(page.quarantined), 'program')} quarantined: a ruling by a rule or a person, which another person may see otherwise."
    if page.costs is not None and page.costs.total.exact < 1.0:
        yield f"Tokens and money are counted exactly for {page.costs.total.exact:.0%} of the calls, and estimated for the others."
