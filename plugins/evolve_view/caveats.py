"""Reasons for less trust in what a campaign found: at the head of its page, and in its report."""

from collections.abc import Iterator
from dataclasses import dataclass

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.report import Best, Overview
from evolve.types import Level


@dataclass(frozen=True, slots=True)
class Caveat:
    """A reason for less trust. A `severe` one stands beside the score itself, so that nobody reads one without the other."""

    text: str
    severe: bool = False


def list_caveats(campaign: Campaign, seen: Overview) -> tuple[Caveat, ...]:
    """Returns what speaks against the best program of a campaign, the severe reasons first."""
    found = [*_doubt_campaign(campaign, seen)]
    if seen.best is not None:
        for doubt in (_doubt_score, _doubt_held_out, _doubt_isolation):
            found += doubt(campaign, seen.best)
    return tuple(sorted(found, key=lambda one: not one.severe))


def _doubt_campaign(campaign: Campaign, seen: Overview) -> Iterator[Caveat]:
    if seen.difference:
        yield Caveat(f"A replay gives another archive than the log says, first at {seen.difference}.", severe=True)
    if seen.former_records:
        told = f"{wording.counted(seen.former_records, 'record')} of an earlier version of the task are history, and no part of the curve"
        yield Caveat(f"{told}; {seen.former_elites:,} of their elites are not evaluated by this version.", severe=True)
    yield Caveat(
        "This is one campaign with one random seed: only several campaigns show how often a result comes (evolve compare)."
    )
    if seen.quarantined:
        yield Caveat(
            f"{wording.counted(len(seen.quarantined), 'program')} in quarantine: evidence, and never the best."
        )
    if seen.costs is not None and seen.costs.total.exact < 1.0:
        yield Caveat(
            f"Tokens and money are exact for {seen.costs.total.exact:.0%} of the calls, estimated for the others."
        )
    if campaign.task.anchors:
        yield Caveat("Anchors are values that the task's author wrote down; the campaign has not measured them.")


def _doubt_score(campaign: Campaign, best: Best) -> Iterator[Caveat]:
    if best.trust == "claimed":
        yield Caveat("The score is claimed: the program itself computed it, and nobody else.", severe=True)
    if best.trust == "rescored":
        yield Caveat("The score was computed from files that the program saved, not from what it was seen to do.")
    if best.certified:
        return
    if campaign.task.deterministic:
        yield Caveat("The task declares itself deterministic, so that the best program was not measured again.")
        return
    yield from _doubt_noise(campaign, best)


def _doubt_noise(campaign: Campaign, best: Best) -> Iterator[Caveat]:
    limits, elite = report.limits(best), campaign.state.archive.best
    if elite is None or elite.reported is None:
        # The largest of many noisy values is too large on average: the winner's curse.
        programs = wording.counted(campaign.state.progress.programs, "program")
        yield Caveat(f"The best score is not confirmed: it is the largest of {programs}, and some of that is luck.")
    if limits is not None and best.seed is not None and best.improved and limits.low <= best.seed <= limits.high:
        yield Caveat("The seed's score lies within the limits of the best one: the gain may be luck.", severe=True)
    elif best.ratio is not None and not best.ratio.clears_the_floor and best.improved:
        yield Caveat(f"The gain is within the noise: {_flat(wording.ratio(best.ratio))}.", severe=True)


def _flat(text: str) -> str:
    return text.replace("\n", "; ")


def _doubt_held_out(campaign: Campaign, best: Best) -> Iterator[Caveat]:
    held_out = campaign.state.cases.held_out
    if not held_out:
        if campaign.task.promotion != "certificate":
            yield Caveat("No case is held out: the gain may hold on nothing but what the search has seen.")
        return
    kept = report.kept(best, held_out, campaign.task.fitness)
    if not best.improved:
        return
    if kept.verdict is None:
        yield Caveat(f"{wording.kept(kept)}: what the gain is worth elsewhere is not known.", severe=True)
    elif kept.verdict != "holds" or kept.lost:
        yield Caveat(f"{wording.kept(kept)}.", severe=True)
    elif not best.promoted:
        yield Caveat("The gain does not hold on every held-out case: the program is not promoted.", severe=True)


def _doubt_isolation(campaign: Campaign, best: Best) -> Iterator[Caveat]:
    level = Level.of(best.isolation)
    if level in (Level.REDUCED, Level.NONE):
        yield Caveat(
            f"Candidates were isolated at the level {level} only: a hostile program could have reached its evaluator.",
            severe=True,
        )
    elif level is not Level.STRICT:
        yield Caveat(f"Candidates were isolated at the level {level or 'unknown'}, and not at strict.")
    if best.weaker:
        yield Caveat("The best program was evaluated under less isolation than the campaign has reached.", severe=True)
