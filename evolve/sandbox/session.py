"""What an evaluator does with one candidate process: builds, then commands, then calls.

Invariant: when the `with` block of a session is left, the candidate and everything that it started are gone."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeGuard, TypeVar

from evolve.sandbox.argv import checked, checked_names
from evolve.sandbox.channel import Channel
from evolve.sandbox.dialogue import Dialogue, signalled
from evolve.sandbox.output import readable
from evolve.sandbox.process import Ended
from evolve.sandbox.status import Completed, SessionFailed, Status, Usage
from evolve.sandbox.wire import pieces
from evolve.types import Limits, SandboxError

T = TypeVar("T")
JobKind: TypeAlias = Literal["build", "run"]
"""What a session is for. A build may start programs, whatever the task grants, and does nothing else; a run may do what is granted."""
_ORDER = ("build", "run", "call")
_OUTPUT_SHARE = 8
"""A command's output may have this part of the bytes that an answer may have: in JSON some characters take more than one."""
_SHOWN = 2000
"""Characters of a command's words that a failure shows, of their beginning and of their end."""
_FAILED_BUILD = {Status.SIGNAL, Status.RESULT_TOO_LARGE, Status.NO_ENTRY, Status.MEMORY_LIMIT}


class Session:
    """One candidate process; made by `Box.open`, used by one thread. After a failure of the dialogue itself every further request
    fails the same way; after an exception in the candidate's code, or a command that failed, it may go on.

    Commands come before calls, and builds before all: `build` runs before a line of the program's own code has, so that the program
    decides what comes of it by its sources alone; `run` runs in a process into which no Python of the program was imported."""

    def __init__(
        self, channel: Channel, end: Callable[[float], Ended], seconds: float, limits: Limits, job: JobKind = "run"
    ) -> None:
        self.usage = Usage()
        self._dialogue = Dialogue(channel, end, seconds)
        self._limits = limits
        self._seconds = seconds
        self._job = job
        self._reached = "build"

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        failure = self.close()
        if failure is not None and kind is None:
            raise failure

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """The answer of a function of the entry module, as plain data and arrays. `seconds` limits this call's wall time; the
        session's limit holds anyhow. Raises `SessionFailed`; arguments that are no plain data raise `WireError`."""
        return self._asked("call", f"{function}()", ["call", function, arguments, keywords], seconds)

    def map(self, function: str, calls: Sequence[Sequence[Any]], /, seconds: float | None = None) -> list[Any]:
        """The answers of one function to many calls, each given by its arguments. All cross together, so a hundred cost little more
        than one; the program has all the arguments at once. Raises as `call` does; one call that fails is the failure of all."""
        answers = self._asked("call", f"{function}()", ["map", function, list(calls)], seconds)
        if type(answers) is not list or len(answers) != len(calls):
            raise SessionFailed(Status.BAD_JSON, f"what came of {function}() is not of the form in which that comes")
        return answers

    def run(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command in the candidate's folder, where all files of the program and the context lie, with `input` for its standard
        input. Any exit code is an answer; an end by a signal, too much output or too much time raise `SessionFailed`. A command
        that this machine does not have raises `SandboxError`."""
        return self._commanded("run", argv, input, seconds)

    def build(self, argv: Sequence[str], *, input: str = "", seconds: float | None = None) -> Completed:
        """Runs a command that must succeed, such as a compiler: whatever else comes of it is BUILD_FAILED, with its last words. Only
        time is counted as always."""
        completed = _build_of(lambda: self._commanded("build", argv, input, seconds))
        if completed.code == 0:
            return completed
        words = f"{completed.stderr.strip()}\n{completed.stdout.strip()}".strip()
        raise SessionFailed(Status.BUILD_FAILED, f"{argv[0]} failed with exit code {completed.code}{_said(words)}")

    def keep(self, names: Sequence[str], *, claimed: bool = False) -> dict[str, bytes]:
        """What these files hold that builds have left in the candidate's folder, together no more than an answer may have. One that is not
        there, or is no ordinary file, is BUILD_FAILED. `claimed`: what commands have left, too, which is the program's word; then one that is
        not there is left out, and one that is no ordinary file is NO_ENTRY."""
        wanted = checked_names(names)
        request = ["keep", wanted, self._limits.result, claimed]
        if claimed:
            found = self._asked("run", "keeping files", request, None)
        else:
            found = _build_of(lambda: self._asked("build", "keeping files", request, None))
        if not _is_kept(found, wanted, claimed):
            raise SessionFailed(Status.BAD_JSON, "what was kept is not of the form in which that comes")
        return found

    def place(self, files: Mapping[str, bytes]) -> None:
        """More files for the candidate's folder, before anything else: they go before the program's and the context's, also where
        those import them."""
        checked_names(list(files))
        self._asked("build", "placing files", ["place", dict(files)], None)

    def close(self) -> SessionFailed | None:
        """Ends the candidate and all that it started; `usage` is valid afterwards. Gives what was wrong that no call has said."""
        if self._dialogue.closed:
            return None
        self.usage, failure = self._dialogue.close()
        return failure

    def _commanded(self, kind: str, argv: Sequence[str], text: str, seconds: float | None) -> Completed:
        if self._job == "run" and not self._limits.grants.execute:
            raise SandboxError(
                f"a {kind} in a session whose program may start no other: the task grants it none. "
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
                failure.status, f"{words[0]}: {failure.message}{_said(readable(errors))}", failure.signal
            )
        return Completed(code, readable(output), readable(errors))

    def _asked(self, kind: str, what: str, request: list[Any], seconds: float | None) -> Any:
        """The answer to a request, of which `what` is the name in a failure's message. Raises where the session cannot do this any more."""
        if self._dialogue.closed:
            raise SandboxError(f"a {kind} in a session that is over. Do: {kind} inside its `with` block")
        if _ORDER.index(kind) < _ORDER.index(self._reached):
            raise SandboxError(
                f"a {kind} after a {self._reached}, which the program's own code may have influenced. Do: {kind} first, or in another session"
            )
        if self._job == "build" and kind != "build":
            raise SandboxError(f"a {kind} in a session that is for a build alone. Do: {kind} in another session")
        self._dialogue.check()
        payload = pieces(request, binary=request[0] == "place")
        self._reached = kind
        return self._dialogue.ask(payload, what, seconds, binary=request[0] == "keep")


def _build_of(act: Callable[[], T]) -> T:
    """What comes of a part of a build; what a program may end in elsewhere is BUILD_FAILED here."""
    try:
        return act()
    except SessionFailed as failure:
        if failure.status not in _FAILED_BUILD:
            raise
        raise SessionFailed(Status.BUILD_FAILED, failure.message, failure.signal) from None


def _is_kept(value: Any, wanted: Sequence[str], claimed: bool) -> TypeGuard[dict[str, bytes]]:
    """Whether it is the content of each file, in their order; some of those that are `claimed` may be missing."""
    if type(value) is not dict or any(type(content) is not bytes for content in value.values()):
        return False
    return list(value) == [name for name in wanted if name in value or not claimed]


def _is_completed(value: Any) -> bool:
    """Whether it is an exit code, two texts, the size of the output and seconds of processor time."""
    return type(value) is list and list(map(type, value)) == [int, str, str, int, float]


def _said(words: str) -> str:
    """A command's words below the line that says how it ended: the first errors explain the most, the last say how it gave up."""
    words = words.strip()
    if len(words) > 2 * _SHOWN:
        words = f"{words[:_SHOWN]}\n...\n{words[-_SHOWN:]}"
    return f":\n{words}" if words else ""
