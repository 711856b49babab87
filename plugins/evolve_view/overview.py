"""One campaign at a glance, with its charts, and its settings. No text of a program is read for either."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.report import Best, Slice
from evolve.types import (
    FROM_SCRATCH,
    Fitness,
    MachineMeasured,
    Opened,
    SettingsChanged,
    Stamped,
    TaskChanged,
    canonical,
)
from evolve_view.charts import Series
from evolve_view.documents import ChartFigure
from evolve_view.figures import AXES, draw_curve
from evolve_view.requests import query_choice, render_page


@dataclass(frozen=True, slots=True)
class OutcomeShare:
    """An outcome's share of all records; `begin` is where it stands in the bar, in per mille."""

    name: str
    count: int
    begin: float
    size: float


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about the whole campaign, and its time in seconds since 1970."""

    at: float
    says: str


def show_overview(request: Request) -> Response:
    """Answers with one campaign; its curve is drawn against the query's `x`."""
    campaigns, name = request.app.state.campaigns, request.path_params["name"]
    axis = query_choice(request, "x", tuple(AXES))
    with campaigns.campaign(name) as campaign:
        seen, task, held_out = report.overview(campaign), campaign.task, campaign.state.cases.held_out
        request.app.state.list.keep(campaign)
        # While nobody writes, no time passes for the campaign.
        spent = campaign.progress if campaigns.runs(name) else campaign.state.progress
        certificate = report.certificate(campaign, seen.best.record) if seen.best and seen.best.certified else ""
        return render_page(
            request,
            "overview.html",
            seen=seen,
            spent=spent,
            task=task,
            fitness=task.fitness,
            budget=report.budget_lines(campaign, spent, time.time()),
            parts_of=_share_outcomes(seen.outcomes),
            certificate=certificate.rpartition("/")[2],
            held_out=held_out,
            from_scratch=FROM_SCRATCH,
            warnings=(*_warn(seen), *_warn_of_held_out(seen.best, held_out, task.fitness)),
            curve=draw_curve(report.curve(campaign), seen.best, task, axis),
            axis=axis,
            throughput=_draw_throughput(report.slices(campaign)),
        )


def _draw_throughput(slices: Sequence[Slice]) -> ChartFigure:
    """Draws how many programs were judged in a minute, and when."""
    ends = [0.0, *(one.seconds for one in slices)]
    spans = [(one, later - sooner) for one, (sooner, later) in zip(slices, pairwise(ends), strict=True)]
    rates = [(one.seconds, 60.0 * one.programs / span) for one, span in spans if span > 0.0]
    series = Series("programs per minute", [x for x, _ in rates], [y for _, y in rates])
    return ChartFigure((series,), "seconds", "programs per minute", size="small")


def _share_outcomes(outcomes: Mapping[str, int]) -> tuple[OutcomeShare, ...]:
    total, begin, parts = sum(outcomes.values()), 0.0, list[OutcomeShare]()
    for name, count in outcomes.items():
        size = 1000.0 * count / total
        parts.append(OutcomeShare(name, count, begin, size))
        begin += size
    return tuple(parts)


def _warn(seen: report.Overview) -> Iterator[str]:
    """Yields what a person must know before believing the figures."""
    if seen.difference:
        yield f"A replay gives another archive than the log says, first at {seen.difference}"
    if seen.best is None and seen.records:
        nothing = "No program has passed yet, not even the seed"
        yield nothing if seen.closest is None else "No program meets the constraints yet"
    if seen.former_records:
        yield (
            f"{seen.former_records:,} records were judged by an earlier version of the task; "
            f"{seen.former_elites:,} of its elites are not judged by this one"
        )
    if seen.best is not None and seen.best.weaker:
        yield "The best program was judged under less isolation than the campaign has reached"
    if seen.quarantined:
        yield f"{len(seen.quarantined):,} programs are in quarantine: they are evidence, and never the best"


def _warn_of_held_out(best: Best | None, held_out: Sequence[str], fitness: Fitness) -> list[str]:
    """Returns a warning where the gain of the search is not found, or not all of it, where the search did not look."""
    if best is None or not best.improved or not held_out:
        return []
    found = report.kept(best, held_out, fitness)
    if len(found.lines) < found.wanted:
        return []
    if best.promoted:
        lost = wording.lost(found)
        return [f"The best program is promoted{lost}"] if lost else []
    worse = ", ".join(line.case.case for line in found.lines if not line.case.agrees)
    return [f"The best program is not promoted: on held-out cases it is worse than the seed ({worse})"] if worse else []


def show_settings(request: Request) -> Response:
    """Answers with the settings by their dotted names; no setting holds what its name says is secret."""
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        settings = report.flatten_settings(campaign.settings.model_dump(mode="json"))
        return render_page(
            request,
            "settings.html",
            lines=[(key, value if isinstance(value, str) else canonical(value)) for key, value in settings],
            task=campaign.task,
            versions=report.versions(campaign),
            history=_list_decisions(campaign),
        )


def _list_decisions(campaign: Campaign) -> tuple[Decision, ...]:
    kinds = (Opened, SettingsChanged, TaskChanged, MachineMeasured)
    events = [one for kind in kinds for one in campaign.log.events(only=kind)]
    return tuple(Decision(one.at, _describe(one)) for one in sorted(events, key=lambda one: one.number))


def _describe(one: Stamped) -> str:
    match one.event:
        case Opened(forked_from=former):
            return f"begun as a fork of {former}" if former else "begun"
        case SettingsChanged(changes=changes):
            return "changed: " + ", ".join(f"{key} = {canonical(value)}" for key, value in changes.items())
        case TaskChanged(task_version=version):
            return f"another version of the task: {version[:16]}"
        case MachineMeasured(hardware=hardware, isolation=isolation):
            return f"a run on {hardware}, isolation {isolation or 'unknown'}"
        case _:
            raise AssertionError(one)


ROUTES = (Route("/c/{name}", show_overview), Route("/c/{name}/settings", show_settings))
