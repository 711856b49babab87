"""Pictures that a task draws of results: drawn when somebody looks, one at a time, and kept in memory.

A picture is drawn by an evaluation process of the task's own evaluator from stored artifacts: no program runs, and whatever goes wrong is a sentence in the
picture's place."""

import os
import threading
from collections import OrderedDict
from collections.abc import Collection
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve.pictures import PLAIN, Job, drawable, drawing_of, picture
from evolve.report import settled
from evolve.types import EvolveError, Task
from evolve_view.requests import path_record, render_page

_KEPT = 200
_LARGEST = 4 << 20
"""Characters of a picture that is shown."""
_WAIT_SECONDS = 60.0
"""How long a picture waits for those before it."""
_HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


class Gallery:
    """Pictures by what they are of. Any thread; a picture that failed is tried again when it is next asked for."""

    def __init__(self, owners: Collection[int] | None = None) -> None:
        """Runs task folders of these users (by default this person and the system) and no others: a log from anywhere may name one."""
        self._owners = (os.geteuid(), 0) if owners is None else owners
        self._drawing = threading.Lock()
        self._pictures: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._draws: dict[str, bool] = {}

    def draws(self, task: Task) -> bool:
        """Asks the evaluator, once, whether this version of a task draws pictures; false also where it cannot be asked."""
        if not self._is_ours(task.folder):
            return False
        with self._drawing:
            if task.version not in self._draws:
                try:
                    self._draws[task.version] = drawable(task, PLAIN)
                except EvolveError:
                    return False
            return self._draws[task.version]

    def draw(self, task: Task, place: str, job: Job) -> str:
        """Returns the picture of the result that lies in `place`, as SVG."""
        if not self._is_ours(task.folder):
            return draw_sentence(
                f"the task's folder {task.folder} is another person's, and what lies there would be run"
            )
        key = (task.version, place)
        if key in self._pictures:
            return self._pictures[key]
        if not self._drawing.acquire(timeout=_WAIT_SECONDS):
            return draw_sentence("others are being drawn: look again in a while")
        try:
            return self._draw(task, key, job)
        finally:
            self._drawing.release()

    def _is_ours(self, folder: str) -> bool:
        try:
            return Path(folder).stat().st_uid in self._owners
        except OSError:  # gone, so that nothing there is run
            return True

    def _draw(self, task: Task, key: tuple[str, str], job: Job) -> str:
        if key in self._pictures:
            return self._pictures[key]
        try:
            found = picture(task, job, PLAIN)
        except EvolveError as error:
            return draw_sentence(str(error))
        if len(found) > _LARGEST:
            return draw_sentence(f"the picture has {len(found):,} characters, which is too many to show")
        self._pictures[key] = found
        while len(self._pictures) > _KEPT:
            self._pictures.popitem(last=False)
        return found


def draw_sentence(why: str) -> str:
    """Returns a sentence as a picture."""
    words, lines = why.split(), [""]
    for word in words[:60]:
        if len(lines[-1]) + len(word) > 44:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word[:44]}".strip()
    rows = "".join(
        f'<text x="200" y="{90 + 22 * at}" text-anchor="middle">{escape(line)}</text>' for at, line in enumerate(lines)
    )
    height = 130 + 22 * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 {height}" font-family="sans-serif" font-size="15" fill="#80838d">'
        f'<text x="200" y="56" text-anchor="middle" font-weight="bold">no picture</text>{rows}</svg>'
    )


def picture_frame(request: Request) -> Response:
    """Answers with the place of the picture on a program's page; empty where its task draws none.

    The picture is drawn before it answers, so that the page goes on saying that it is being drawn, and no blank card stands there meanwhile."""
    name, number = request.path_params["name"], path_record(request)
    with request.app.state.campaigns.campaign(name) as campaign:
        task, has_result = campaign.task, bool(settled(campaign, number).record.evaluation.artifacts)
    draws = has_result and request.app.state.gallery.draws(task)
    if draws:
        _draw_record(request, name, number)
    return render_page(request, "picture.html", number=number, draws=draws)


def show_picture(request: Request) -> Response:
    """Answers with the picture itself, a file of its own that can do nothing: what it brings runs nowhere."""
    text = _draw_record(request, request.path_params["name"], path_record(request))
    return Response(text.encode("utf-8", "replace"), media_type="image/svg+xml", headers=_HEADERS)


def _draw_record(request: Request, name: str, number: int) -> str:
    """Draws a record; its campaign is free for others meanwhile."""
    campaigns = request.app.state.campaigns
    with campaigns.campaign(name) as campaign:
        task, job = campaign.task, drawing_of(campaign, number)
    gallery: Gallery = request.app.state.gallery
    return gallery.draw(task, f"{campaigns.path(name)} {number}", job)


ROUTES = (
    Route("/c/{name}/programs/{record}/picture", picture_frame),
    Route("/c/{name}/programs/{record}/picture.svg", show_picture),
)
