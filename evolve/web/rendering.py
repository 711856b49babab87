"""Values to HTML.

Invariant: what is no template is escaped, and a name that a template misspells is an error."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from evolve import wording
from evolve.sandbox.output import one_line, readable

FOLDER = Path(__file__).parent
_environment = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update(
    number=wording.number,
    difference=wording.difference,
    seconds=wording.seconds,
    level=wording.level,
    outcomes=wording.outcomes,
    one_line=one_line,
    readable=readable,
)


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template of `evolve/web/templates` with these values; `path`, and whether `editing` is allowed, are there always."""
    text = _environment.get_template(template).render(
        path=request.url.path, editing=request.app.state.access.editing, **values
    )
    return HTMLResponse(text, status)
