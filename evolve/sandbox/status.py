"""End of a session, and what it used. Standard library only: the candidate's side imports this too.

A session ends in exactly one of these; `evolve.sandbox.session` says what each means for the program."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Outcome of a call. `docs/tasks.md` explains them one by one."""

    OK = "ok"
    TIMEOUT = "timeout"
    MEMORY_LIMIT = "memory_limit"
    SIGNAL = "signal"
    ERROR = "error"
    BAD_FRAME = "bad_frame"
    BAD_JSON = "bad_json"
    RESULT_TOO_LARGE = "result_too_large"
    NO_RESULT = "no_result"
    NO_ENTRY = "no_entry"
    BUILD_FAILED = "build_failed"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """Resources that a session used. `seconds` is wall time as the worker saw it; `cpu_seconds` and `peak_bytes` (resident memory, with what
    the template had loaded) are the kernel's word; `strays` counts the processes that the candidate left behind; `log` is the
    end of its output as readable text."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    strays: int = 0
    log: str = ""


@dataclass(slots=True)
class SessionReport:
    """The template's report of a session: the exit code (negative: the signal), whether the process had to be ended, and what it
    and all that it started have used. `exceeded`: what it had too much of, in words. `problem`: why it could not be confined,
    and so never ran a line of the program. `late`: seconds from the worker's word to its beginning."""

    code: int
    killed: bool
    cpu_seconds: float
    peak_bytes: int
    strays: int
    exceeded: str = ""
    problem: str = ""
    late: float = 0.0


@dataclass(frozen=True, slots=True)
class Completed:
    """Result of a command: its exit code, and the texts that it printed. All of it is the command's own word."""

    code: int
    stdout: str
    stderr: str


class SessionFailed(Exception):
    """A call that gave no answer. `message` is the candidate's traceback where its code raised, else one line; `session` is whose call it was."""

    def __init__(self, status: Status, message: str, signal: int | None = None, session: object = None) -> None:
        super().__init__(status, message, signal)
        self.status = status
        self.message = message
        self.signal = signal
        self.session = session

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"


class TemplateLost(Exception):
    """The template does not answer, or not as it should."""


class TemplateLate(TemplateLost):
    """The template is there and does not answer in time, though nothing has stopped it."""
