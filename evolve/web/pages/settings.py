"""A campaign's settings and its task's, as they are now, and when they were changed.

Invariant: no setting holds what its name says is secret, so everything here may be shown to who may read the log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve.campaign import Campaign
from evolve.types import MachineMeasured, Opened, SettingsChanged, Stamped, TaskChanged, canonical
from evolve.web.rendering import page
from evolve.web.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was decided about the whole campaign, and when, in seconds since 1970."""

    at: float
    says: str


def settings(request: Request) -> Response:
    """Settings by their dotted names."""
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(request.path_params["name"]) as campaign:
        return page(
            request,
            "settings.html",
            lines=tuple(_flat(campaign.settings.model_dump(mode="json"))),
            task=campaign.task,
            versions=_versions(campaign),
            history=_history(campaign),
        )


def _flat(values: Mapping[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value if isinstance(value, str) else canonical(value)


def _versions(campaign: Campaign) -> Mapping[str, str]:
    first = next(iter(campaign.log.events(only=Opened))).event
    return first.versions if isinstance(first, Opened) else {}


def _history(campaign: Campaign) -> tuple[Change, ...]:
    kinds = (Opened, SettingsChanged, TaskChanged, MachineMeasured)
    events = [one for kind in kinds for one in campaign.log.events(only=kind)]
    return tuple(Change(one.at, _said(one)) for one in sorted(events, key=lambda one: one.number))


def _said(one: Stamped) -> str:
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


ROUTES = (Route("/c/{name}/settings", settings),)
