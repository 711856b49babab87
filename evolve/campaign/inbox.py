"""Inbox: requests of persons to a campaign, running or not, in the folder `NAME.inbox/` beside its log, of its owner alone.

A request is one JSON file, which appears under its name only when it is whole, and is removed only after its result is durable. Whoever takes a request stores its id with
the result, so that it is done once however often it is read. A file that is no request is set aside under another name, with a warning."""

import errno
import json
import logging
import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evolve.types import RecordId, StoreError, canonical
from evolve.types.codec import decode, encode, tag_union_member

PERSON = "person"
"""Author of a ruling or a lesson that a request asked for."""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Ruling:
    """The program of `record`, and with `descendants` all that came of it, is to be never parent, inspiration or best; or is to be again."""

    what: Literal["quarantine", "release"]
    record: RecordId
    descendants: bool = False
    why: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Hint:
    """A lesson that a person writes."""

    text: str


@tag_union_member
@dataclass(frozen=True, slots=True)
class Add:
    """A person's program, to be evaluated and to become a parent; as a child of `parent`, where that is no 0."""

    files: Mapping[str, str]
    thought: str = ""
    parent: RecordId = 0


@tag_union_member
@dataclass(frozen=True, slots=True)
class RunControl:
    """The run of the engine `process` is to end as at Ctrl-C, to start nothing, or to go on; another run is not meant."""

    what: Literal["stop", "pause", "unpause"]
    process: int


@tag_union_member
@dataclass(frozen=True, slots=True)
class Configure:
    """Other settings: `assignments` are written as for `--set`."""

    assignments: tuple[str, ...]


Wish = Ruling | Hint | Add | RunControl | Configure


@dataclass(frozen=True, slots=True)
class Request:
    """A wish with a name of its own: hexadecimal digits that no other request has."""

    id: str
    wish: Wish


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a request; `told` says it to a person, with the remedy where it was refused. `records` are those that were ruled
    about; `step` is the one that evaluates what was added. `former` was the best record before and
    `best` is it now, with the fitness as the user writes it."""

    request: str
    accepted: bool
    told: str
    records: tuple[RecordId, ...] = ()
    step: int = 0
    former: RecordId = 0
    best: RecordId = 0
    fitness: float | None = None


LARGEST = 64 << 20
"""Bytes; no request is larger, for no program is."""
FORGOTTEN_SECONDS = 3600.0
"""An answer that nobody has read for so long is removed."""
_NAME = re.compile(r"[0-9a-f]{8,64}")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Letter:
    """A request with the file that it lies in."""

    path: Path
    request: Request


class Inbox:
    """The inbox of one log. Nothing is made before something is put into it."""

    def __init__(self, log: Path) -> None:
        self.folder = log.with_name(f"{log.stem}.inbox")

    def put(self, request: Request, now: float) -> None:
        """Adds a request after all that lie there; `now` in seconds since 1970. Raises `StoreError`."""
        name = f"{int(now * 1e6):020d}-{request.id}.json"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._check_owner()
            self._write(name, canonical(encode(request)))
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot take a request: {error.strerror}. Try: check that it is a folder that you may write to"
            ) from error

    def _check_owner(self) -> None:
        """Raises `PermissionError` where another user could put and replace what lies there; a folder of one's own is closed to others."""
        status = self.folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "it belongs to another user, or is no folder")
        if status.st_mode & 0o077:
            self.folder.chmod(0o700)

    def letters(self) -> Sequence[Letter]:
        """Returns the requests, in the order in which they were put; a file that is none is set aside."""
        try:
            self._check_owner()
            paths = sorted(
                path for path in self.folder.iterdir() if path.name.endswith(".json") and path.name[0] != "."
            )
        except OSError:
            return ()
        found = []
        for path in paths:
            try:
                found.append(Letter(path, _request(path)))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, RecursionError) as error:
                self._set_aside(path, str(error))
        return found

    def answer(self, letter: Letter, answer: Answer) -> None:
        """Answers a request and removes it; a folder that takes no answer is a warning, for what was asked is done."""
        try:
            self._write(f"{answer.request}.answer", canonical(encode(answer)))
        except OSError as error:
            _logger.warning("%s takes no answer: %s", self.folder, error.strerror)
        with suppress(OSError):
            letter.path.unlink()

    def take_answer(self, request: str) -> Answer | None:
        """Returns the answer to a request and removes it; None as long as there is none."""
        path = self.folder / f"{request}.answer"
        try:
            found: Answer = decode(Answer, json.loads(path.read_text("utf-8")))
        except (OSError, ValueError):
            return None
        path.unlink(missing_ok=True)
        return found

    def withdraw(self, request: str) -> None:
        """Takes a request back that nobody has taken."""
        for path in self.folder.glob(f"*-{request}.json"):
            path.unlink(missing_ok=True)

    def tidy(self, now: float) -> None:
        """Removes answers that nobody came for, and the folder where nothing lies in it."""
        with suppress(OSError):
            for path in self.folder.glob("*.answer"):
                if now - path.stat().st_mtime > FORGOTTEN_SECONDS:
                    path.unlink(missing_ok=True)
            self.folder.rmdir()

    def _write(self, name: str, text: str) -> None:
        # A reader that comes in between sees no half of a request.
        draft = self.folder / f".{name}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        draft.rename(self.folder / name)

    def _set_aside(self, path: Path, why: str) -> None:
        kept = path.with_name(f"{path.name}.refused")
        with suppress(OSError):
            path.rename(kept)
            _logger.warning("no request, and set aside: %s (%s)", kept, why)


def _request(path: Path) -> Request:
    """Reads a request from a file; raises `OSError`, and `ValueError` for what is no request of this user."""
    # Neither a link to a file of another user nor a pipe that never answers.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size > LARGEST:
            raise ValueError("it is no file of this user, or too large")
        data = json.loads(file.read().decode("utf-8", "surrogatepass"))
    request: Request = decode(Request, data)
    if not _NAME.fullmatch(request.id):
        raise ValueError(f"{request.id!r} is no name of a request")
    return request
