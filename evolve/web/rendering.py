"""Values to HTML.

Invariant: what is no template is escaped and readable, and a name that a template misspells is an error."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from evolve import wording
from evolve.sandbox.output import one_line, readable
from evolve.stop import duration

FOLDER = Path(__file__).parent
_DAY_SECONDS = 86_400


def moment(at: float) -> str:
    """When something happened, in the time of this machine: `2026-11-22 16:40`."""
    return datetime.fromtimestamp(at).isoformat(" ", "minutes")


def ago(seconds: float) -> str:
    """How long ago something was, in one unit."""
    for size, unit in ((_DAY_SECONDS, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "now"


def _seen(value: object) -> object:
    """What nobody sees, or what turns a line around, is left out of every text that a template did not write."""
    return readable(value) if type(value) is str else value


def with_chosen(kept: Mapping[str, object], **values: object) -> str:
    """A query that keeps what was chosen, but for these values."""
    return f"?{urlencode({**kept, **values})}"


_environment = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_seen,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update(
    number=wording.number,
    difference=wording.difference,
    seconds=wording.seconds,
    duration=duration,
    level=wording.level,
    counted=wording.counted,
    outcomes=wording.outcomes,
    one_line=one_line,
    readable=readable,
    moment=moment,
    ago=ago,
    quoted=quote,
    with_chosen=with_chosen,
)


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template of `evolve/web/templates` with these values. There always are `path`, `address` (with the query) and whether `editing` is
    allowed; on a campaign's page its `name`, the `root` of its addresses, whether it is `running`, and whether it is `paused`."""
    around: dict[str, Any] = {
        "path": request.url.path,
        "address": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "editing": request.app.state.access.editing,
    }
    name = request.path_params.get("name")
    if name is not None:
        shelf = request.app.state.shelf
        around |= {"name": name, "root": root(name), "running": shelf.runs(name), "paused": shelf.paused(name)}
    text = _environment.get_template(template).render(around | values)
    # A program may hold half of a surrogate pair, which UTF-8 cannot.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def root(name: str) -> str:
    """Where the addresses of a campaign begin."""
    return f"/c/{quote(name, safe='')}"
