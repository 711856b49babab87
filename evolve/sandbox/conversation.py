"""What may be asked of one candidate process, in which order, and what becomes of a request.

Invariant: a request that comes too late in the order reaches nobody; when a conversation is closed, the candidate and everything that it started are gone."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, TypeAlias

from evolve.sandbox.argv import checked
from evolve.sandbox.channel import Channel
from evolve.sandbox.dialogue import Dialogue, signalled
from evolve.sandbox.output import readable
from evolve.sandbox.process import Ended, TemplateLost
from evolve.sandbox.status import Completed, SessionFailed, Status, Usage, failing
from evolve.sandbox.timing import ProcessClock, ProcessEnded, Segment, Stopwatch, TimingUnavailable
from evolve.sandbox.wire import pieces
from evolve.types import Limits, SandboxError

JobKind: TypeAlias = Literal["build", "run", "timed"]
"""What a session is for. A build may start programs, whatever the task grants, and does nothing else; a run may do what is granted; one that is timed
starts no processes."""
_ORDER = ("build", "run", "call", "native call")
_OUTPUT_SHARE = 8
"""A command's output may have this part of the bytes that an answer may have: in JSON some characters take more than one."""
_SHOWN = 2000
"""Characters of a command's words that a failure shows, of their beginning and of their end."""


def _untimed() -> ProcessClock:
    raise TimingUnavailable("this session has no clock. Do: open it by a box, with the job `timed`")


class Conversation:
    """With one candidate process, used by one thread. After a failure of the dialogue itself every further request fails the same way."""

    def __init__(
        self,
        channel: Channel,
        end: Callable[[float], Ended],
        seconds: float,
        limits: Limits,
        job: JobKind = "run",
        clock: Callable[[], ProcessClock] = _untimed,
    ) -> None:
        self.usage = Usage()
        self._dialogue = Dialogue(channel, end, seconds)
        self._limits = limits
        self._seconds = seconds
        self._job = job
        self._clock = clock
        self._watch: Stopwatch | None = None
        self._reached = "build"
        self._segments: list[Segment] = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        failure = self.close()
        if failure is not None and kind is None:
            failure.session = self
            raise failure

    def close(self) -> SessionFailed | None:
        """Ends the candidate and all that it started; `usage` is valid afterwards. Gives what was wrong that no call has said."""
        if self._dialogue.closed:
            return None
        woken = None if self._watch is None else self._watch.close()
        self.usage, failure = self._dialogue.close()
        return failure or woken

    def _commanded(self, kind: str, argv: Sequence[str], text: str, seconds: float | None) -> Completed:
        if self._job != "build" and (self._job == "timed" or not self._limits.grants.execute):
            why = "the task grants it none" if self._job == "run" else "it is timed"
            raise SandboxError(
                f"a {kind} in a session whose program may start no other: {why}. "
                "Do: compile with `candidate.build`, and call what it made"
            )
        most = self._limits.result // _OUTPUT_SHARE
        words = checked(argv, text, self._limits.file_size)
        answer = self._asked(kind, words[0], ["run", words, text, most, self._limits.log], seconds)
        if not _is_completed(answer):
            raise SessionFailed(Status.BAD_JSON, f"what came of {words[0]} is not of the form in which that comes")
        code, output, errors, size, cpu_seconds = answer
        if size > most:
            raise SessionFailed(Status.RESULT_TOO_LARGE, f"{words[0]} printed {size} bytes; {most} are allowed")
        if code < 0:
            failure = signalled(-code, cpu_seconds, self._seconds)
            raise SessionFailed(
                failure.status, f"{words[0]}: {failure.message}{said(readable(errors))}", failure.signal
            )
        return Completed(code, readable(output), readable(errors))

    def _asked(self, kind: str, what: str, request: list[Any], seconds: float | None, file: int = -1) -> Any:
        """The answer to a request, of which `what` is the name in a failure's message. Raises where the session cannot do this any more."""
        if self._dialogue.closed:
            raise SandboxError(f"a {kind} in a session that is over. Do: {kind} inside its `with` block")
        if _ORDER.index(kind) < _ORDER.index(self._reached):
            raise SandboxError(
                f"a {kind} after a {self._reached}, which the program's own code may have influenced. Do: {kind} first, or in another session"
            )
        if self._job == "build" and kind != "build":
            raise SandboxError(f"a {kind} in a session that is for a build alone. Do: {kind} in another session")
        try:
            self._dialogue.check()
            payload = pieces(request, binary=request[0] == "place")
            self._reached = kind
            return self._dialogue.ask(payload, what, seconds, binary=request[0] == "keep", file=file)
        except SessionFailed as failure:
            failure.session = self
            raise

    def _timed(self, what: str) -> Stopwatch:
        """The session's stopwatch, which is made when it is first needed."""
        if self._job != "timed":
            raise SandboxError(
                "a timed call in a session that is not for that: the program may start processes, whose time nobody would count. "
                "Do: open it with candidate.session(timed=True)"
            )
        if self._dialogue.closed:
            raise SandboxError("a timed call in a session that is over. Do: call inside its `with` block")
        with failing(self):
            self._dialogue.check()
            if self._watch is None:
                try:
                    self._watch = Stopwatch(self, self._dialogue, self._clock())
                except (ProcessEnded, TemplateLost):
                    self._dialogue.miss(what)
        return self._watch


def _is_completed(value: Any) -> bool:
    """Whether it is an exit code, two texts, the size of the output and seconds of processor time."""
    return type(value) is list and list(map(type, value)) == [int, str, str, int, float]


def said(words: str) -> str:
    """A command's words below the line that says how it ended: the first errors explain the most, the last say how it gave up."""
    words = words.strip()
    if len(words) > 2 * _SHOWN:
        words = f"{words[:_SHOWN]}\n...\n{words[-_SHOWN:]}"
    return f":\n{words}" if words else ""
