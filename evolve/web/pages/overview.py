"""One campaign at a glance, and its charts.

Invariant: no text of a program is read."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.campaign.campaign import confirmed_best
from evolve.report import Best, Slice
from evolve.report.held_out import kept
from evolve.types import FROM_SCRATCH, Fitness, Progress
from evolve.web.drawn import Chart, Series, axis, curve_chart
from evolve.web.rendering import page
from evolve.web.shelf import Shelf


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One of the single budgets: as it was written, the share that is used, and what is left."""

    said: str
    used: float
    left: str


@dataclass(frozen=True, slots=True)
class Part:
    """An outcome's share of all records; `begin` is where it stands in the bar, in per mille."""

    name: str
    count: int
    begin: float
    size: float


def overview(request: Request) -> Response:
    """One campaign."""
    shelf: Shelf = request.app.state.shelf
    name = request.path_params["name"]
    with shelf.campaign(name) as campaign:
        seen = report.overview(campaign)
        request.app.state.glances.keep(campaign)
        spent = _spent(campaign, running=shelf.runs(name))
        return page(
            request,
            "overview.html",
            seen=seen,
            spent=spent,
            task=campaign.task,
            fitness=campaign.task.fitness,
            budget=budget_lines(campaign, spent),
            parts_of=_parts(seen.outcomes),
            certificate=_certificate(campaign, seen.best),
            held_out=campaign.state.cases.held_out,
            from_scratch=FROM_SCRATCH,
            warnings=(*_warnings(seen), *_unheld(seen.best, campaign.state.cases.held_out, campaign.task.fitness)),
        )


def curve(request: Request) -> Response:
    """The best so far, against what the query says."""
    shelf: Shelf = request.app.state.shelf
    against = axis(request.query_params.get("x", ""))
    with shelf.campaign(request.path_params["name"]) as campaign:
        return curve_chart(campaign, against).response()


def throughput(request: Request) -> Response:
    """How many programs were judged in a minute, and when."""
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(request.path_params["name"]) as campaign:
        found = report.slices(campaign)
    return Chart("seconds", "programs per minute", (_rates(found),)).response()


def _rates(found: tuple[Slice, ...]) -> Series:
    ends = [0.0, *(one.seconds for one in found)]
    spans = [(one, later - sooner) for one, (sooner, later) in zip(found, pairwise(ends), strict=True)]
    lines = [(one.seconds, 60.0 * one.programs / span) for one, span in spans if span > 0.0]
    return Series("programs per minute", tuple(x for x, _ in lines), tuple(y for _, y in lines))


def _spent(campaign: Campaign, *, running: bool) -> Progress:
    """While nobody writes, no time passes for the campaign."""
    return campaign.progress if running else campaign.state.progress


def budget_lines(campaign: Campaign, spent: Progress) -> tuple[BudgetLine, ...]:
    """What may be spent, budget by budget."""
    best, now = confirmed_best(campaign), time.time()
    return tuple(
        BudgetLine(str(leaf), leaf.used(spent, best, now), leaf.remaining(spent, best, now))
        for leaf in campaign.budget.leaves()
    )


def _parts(outcomes: object) -> tuple[Part, ...]:
    assert isinstance(outcomes, dict), outcomes
    total, begin, parts = sum(outcomes.values()), 0.0, list[Part]()
    for name, count in outcomes.items():
        size = 1000.0 * count / total
        parts.append(Part(name, count, begin, size))
        begin += size
    return tuple(parts)


def _certificate(campaign: Campaign, best: Best | None) -> str:
    """The record that proves the best value, by its number; empty where none does."""
    name = report.certificate(campaign, best.record) if best is not None and best.certified else ""
    return name.rpartition("/")[2]


def _warnings(seen: report.Overview) -> list[str]:
    """What a person must know before believing the figures."""
    found = []
    if seen.difference:
        found.append(f"A replay gives another archive than the log says, first at {seen.difference}")
    if seen.best is None and seen.records:
        found.append(
            "No program has passed yet, not even the seed"
            if seen.closest is None
            else "No program meets the constraints yet"
        )
    if seen.former_records:
        found.append(
            f"{seen.former_records:,} records were judged by an earlier version of the task; "
            f"{seen.former_elites:,} of its elites are not judged by this one"
        )
    if seen.best is not None and seen.best.weaker:
        found.append("The best program was judged under less isolation than the campaign has reached")
    if seen.quarantined:
        found.append(f"{len(seen.quarantined):,} programs are in quarantine: they are evidence, and never the best")
    return found


def _unheld(best: Best | None, held_out: Sequence[str], fitness: Fitness) -> list[str]:
    """That what was found in the search is not found, or not all of it, where the search did not look."""
    if best is None or not best.improved or not held_out:
        return []
    found = kept(best, held_out, fitness)
    if len(found.lines) < found.wanted:
        return []
    if best.promoted:
        lost = wording.lost(found)
        return [f"The best program is promoted{lost}"] if lost else []
    worse = ", ".join(line.case.case for line in found.lines if not line.case.agrees)
    return [f"The best program is not promoted: on held-out cases it is worse than the seed ({worse})"] if worse else []


ROUTES = (
    Route("/c/{name}", overview),
    Route("/c/{name}/curve.json", curve),
    Route("/c/{name}/throughput.json", throughput),
)
