"""Runs hostile candidates in a box, and says of each whether it was held.

Invariant: a case meets an untouched host and a box in which the candidate before it has ended; what it broke is replaced, never repaired."""

import contextlib
import json
import platform
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from evolve.sandbox.box import Box
from evolve.sandbox.output import readable
from evolve.sandbox.status import SessionFailed, SessionUsage, Status
from evolve.types import Grants, Level, Limits, Program, SandboxError
from tests.redteam.case import Case
from tests.redteam.descendants import descendants, end_all_but
from tests.redteam.host import Host

LIMITS = Limits(memory=512 << 20, scratch=64 << 20, file_size=32 << 20, tasks=32, preload=("numpy",))
"""Small, so that what multiplies and grows is cheap; the sources of the cases know these numbers."""
GUARD = Path(__file__).with_name("guard.py").read_text("utf-8")
_NEXT = Program({"next.py": "def answer():\n    return 42\n"})
_NEXT_SECONDS = 10.0
_GRACE = 0.5
"""Seconds that the kernel gets to take away processes that were killed."""
_NOT_BOXED = "not boxed"
_PLAIN = {list, dict, str, int, float, bool, type(None)}
_SHOWN = 300
_FOUND = 5

Verdict = Literal["held", "breach", "skipped"]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case. `why` says it in words; `status` is how its session ended, None where there was none."""

    case: Case
    verdict: Verdict
    why: str
    status: Status | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionReport:
    """A session that is over: its answer where it gave one, else the message of its failure."""

    status: Status
    answer: Any
    message: str
    usage: SessionUsage
    seconds: float


class RedTeam:
    """A box and a host that candidates attack; a context manager, used by one thread. `make` gives a box with these limits."""

    def __init__(self, make: Callable[[Limits], Box]) -> None:
        self._new_box = make
        self._stack = contextlib.ExitStack()
        self._private = False

    def __enter__(self) -> "RedTeam":
        self._make()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def isolation(self) -> str:
        """The line of the box: its level and what that is made of."""
        return self._box.isolation

    @property
    def level(self) -> Level:
        """The level that the box has reached."""
        return Level(self.isolation.partition(":")[0])

    def attack(self, case: Case) -> Result:
        """Tries one. Raises `SandboxError` where no box can be made any more."""
        lacking = missing(case)
        if lacking:
            return Result(case, "skipped", f"there is no {', '.join(lacking)} here")
        if case.private != self._private:
            self._private = case.private
            self._make()
        try:
            ended = self._ended(program(case), case.seconds, case.again)
        except SandboxError as error:
            self._make()
            return Result(case, "breach", f"the box broke: {error}", Status.BROKEN)
        found = _of_the_end(case, ended) + self._of_the_rest(case)
        why = "; ".join(found[:_FOUND]) or _held(ended)
        return Result(case, "breach" if found else "held", why, ended.status, ended.seconds)

    def _of_the_rest(self, case: Case) -> list[str]:
        """What the host, the box and the next candidate say, in words; where it is anything, both are replaced."""
        found = []
        try:
            if case.after:
                found += self._found_by(follower(case), case.seconds)
            found += self._next()
        except SandboxError as error:
            found.append(f"the box broke: {error}")
        found = self._host.changes() + found + self._left()
        if found:
            self._make()
        return found

    def _found_by(self, after: Program, seconds: float) -> list[str]:
        """What the program that comes after the first has found of it."""
        ended = self._ended(after, seconds)
        if ended.status is not Status.OK:
            return [f"the program after it ended as {ended.status}: {line(ended.message)}"]
        return [f"the program after it: {claim}" for claim in _claims(ended.answer, "[]")]

    def _next(self) -> list[str]:
        with contextlib.suppress(SessionFailed):
            with self._box.open(_NEXT, "next", _NEXT_SECONDS) as session:
                answer = session.call("answer")
            return [] if answer == 42 else [f"the next candidate got {line(str(answer))}"]
        return ["the next candidate got no answer"]

    def _left(self) -> list[str]:
        """More processes, or more files open here, than while the box was at rest."""
        deadline = time.monotonic() + _GRACE
        while len(descendants()) > self._processes and time.monotonic() < deadline:
            time.sleep(_GRACE / 20)
        more = {
            "processes left": len(descendants()) - self._processes,
            "files left open": _open_files() - self._files,
        }
        return [f"{what}: {count}" for what, count in more.items() if count > 0]

    def _ended(self, attacking: Program, seconds: float, again: int = 0) -> SessionReport:
        begun = time.monotonic()
        session = self._box.open(attacking, "attack", seconds)
        status, answer, message = Status.OK, None, ""
        try:
            with session:
                answer = session.call("attack", asdict(self._host.told))
                if again:
                    answer = answer or session.call("again", "x" * again)
        except SessionFailed as failure:
            status, message = failure.status, failure.message
        return SessionReport(status, answer, message, session.usage, time.monotonic() - begun)

    def _make(self) -> None:
        """A new host and a new box; of the old ones nothing is left, nor of what was started in them."""
        self._stack.close()
        with contextlib.ExitStack() as stack:
            self._host = stack.enter_context(Host())
            stack.callback(end_all_but, descendants())
            self._box = self._new_box(replace(LIMITS, grants=Grants(private=self._private)))
            stack.callback(self._box.close)
            self._next()
            self._processes, self._files = len(descendants()), _open_files()
            self._stack = stack.pop_all()


def _open_files() -> int:
    """How many this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


def program(case: Case) -> Program:
    """The files of a case: its source, what it asks whether it is boxed, and those of its own."""
    return Program({"attack.py": case.source, "guard.py": GUARD, **case.files})


def follower(case: Case) -> Program:
    """The program that comes after it."""
    return Program({"attack.py": case.after, "guard.py": GUARD, **case.after_files})


def missing(case: Case) -> list[str]:
    """What it needs and this machine does not have."""
    here = {sys.platform, platform.machine()}
    return sorted(need for need in case.needs - here if shutil.which(need) is None and find_spec(need) is None)


def _of_the_end(case: Case, ended: SessionReport) -> list[str]:
    """What is wrong with how it ended, in words."""
    if ended.answer == [_NOT_BOXED]:
        return ["it is not boxed, so it was not tried"]
    found = []
    if ended.status not in case.ends:
        found.append(f"it ended as {ended.status}: {line(ended.message)}")
    if ended.status is Status.OK:
        found += _claims(ended.answer, case.answer)
    if ended.seconds > case.within:
        found.append(f"it took {ended.seconds:.1f} s, which is more than {case.within:g}")
    if ended.usage.seconds < case.lasts:
        found.append(f"its {case.lasts:g} s were measured as {ended.usage.seconds:.2f}")
    if len(ended.usage.log) > LIMITS.log:
        found.append(f"{len(ended.usage.log)} characters of its output were kept")
    if any(readable(text) != text for text in (ended.usage.log, ended.message)):
        found.append("its output has control characters")
    return found


def _claims(answer: Any, expected: str) -> list[str]:
    """What it says that it achieved; nothing where exactly what was expected arrived, as plain data."""
    if type(answer) in _PLAIN and json.dumps(answer) == expected:
        return []
    if type(answer) is list and answer and all(type(claim) is str for claim in answer):
        return [line(claim) for claim in answer]
    return [f"its answer arrived as {line(repr(answer))}"]


def _held(ended: SessionReport) -> str:
    return "nothing achieved" if ended.status is Status.OK else line(ended.message)


def line(text: str) -> str:
    """The last line of a text, as it can be shown."""
    lines = readable(text).strip().splitlines()
    return lines[-1][:_SHOWN] if lines else "nothing"
