"""One campaign at a glance, with its charts, and its settings. No text of a program is read for either."""

import time
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.types import (
    FROM_SCRATCH,
    MachineMeasured,
    Opened,
    Progress,
    SettingsChanged,
    Stamped,
    TaskChanged,
    canonical,
)
from evolve_view.caveats import list_caveats
from evolve_view.dots import read_choices
from evolve_view.figures import AXES, draw_curve
from evolve_view.letters import list_letters
from evolve_view.requests import query_choice, render_page


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
        spent = _read_spent(campaign, running=campaigns.is_running(name))
        certificate = report.certificate(campaign, seen.best.record) if seen.best and seen.best.certified else ""
        return render_page(
            request,
            "overview.html",
            seen=seen,
            waiting=len(list_letters(campaign)),
            spent=spent,
            task=task,
            fitness=task.fitness,
            budget=report.budget_lines(campaign, spent, time.time()),
            certificate=certificate.rpartition("/")[2],
            held_out=held_out,
            from_scratch=FROM_SCRATCH,
            caveats=list_caveats(campaign, seen),
            curve=draw_curve(report.curve(campaign), seen.best, task, campaign.budget, axis),
            axis=axis,
            dots=read_choices(request),
        )


def _read_spent(campaign: Campaign, *, running: bool) -> Progress:
    """Returns what was spent. While nobody writes, or a person has paused the run, no time passes for a campaign; in a run it has passed since the last event, too."""
    spent = campaign.state.progress
    if not running or campaign.state.paused:
        return spent
    (last,) = campaign.log.events_at([campaign.log.count()])
    return replace(spent, seconds=last.active + max(0.0, time.time() - last.at))


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
