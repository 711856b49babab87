"""Best means that this machine has for candidates in one interpreter: those that it offers, tried by real candidates that attempt what their level
forbids."""

import contextlib
import hashlib
import json
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from evolve.sandbox.box import Box
from evolve.sandbox.machine import attempts, host
from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.offer import PAGE, MeanFinding, ProbeResult, offer
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.status import SessionFailed, Status
from evolve.types import Level, Limits, Program, SandboxError

_LIMITS = Limits(memory=512 << 20, scratch=64 << 20, tasks=32, preload=())
"""Without anything to preload: the interpreter may have nothing but the standard library."""
_PROGRAM = Program({"attempts.py": Path(attempts.__file__).read_text("utf-8")})
_SECONDS, _SECONDS_FOR_EVER = 10.0, 0.3
_HELD = {Status.SIGNAL, Status.MEMORY_LIMIT}


def probe(task_python: str = "", *, fresh: bool = False) -> ProbeResult:
    """Returns the means for the interpreter that a task names (empty: the engine's own). `fresh` tries all of it anew. Call it before any thread
    is started. Raises `SandboxError` where not even a harmless candidate runs."""
    python = shutil.which(task_python) or task_python or sys.executable
    facts = host.read()
    offered = offer(facts, python)
    memo, key = memo_file(python, os.environ), memo_key(python, facts, offered.means)
    if not fresh and read_memo(memo) == key:
        return offered
    found = find_best(python, offered, lambda means: find_failure(means, python))
    # Success alone is kept, so that a machine that was mended is tried anew.
    if found.means == offered.means:
        write_memo(memo, key)
    return found


def memo_key(python: str, facts: Host, means: Means) -> str:
    """Returns a digest of what the answer depends on: this boot of this kernel, this user, the interpreter, the facts, the means and this package's files."""
    files = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].glob("**/*.py")):
        files.update(path.name.encode() + path.read_bytes())
    told = asdict(replace(facts, cgroup_error=""))  # that names a group, each time another
    boot = Path("/proc/sys/kernel/random/boot_id")
    start = boot.read_text("ascii") if boot.exists() else ""
    parts = [start, platform.release(), python, os.path.realpath(python), told, asdict(means), files.hexdigest()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def memo_file(python: str, environment: Mapping[str, str]) -> Path:
    """Returns the file, in this user's cache folder, that holds the key of what was tried and held for an interpreter."""
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME", ""), ".cache")
    return Path(cache, "evolve", f"sandbox-probe-{hashlib.sha256(python.encode()).hexdigest()[:16]}")


def read_memo(file: Path) -> str:
    """Returns the key in a file of this user's, through no link, that nobody else may write; empty where there is none."""
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    with open(number, encoding="utf-8", errors="replace") as text:
        status = os.fstat(number)
        return text.read() if status.st_uid == os.geteuid() and not status.st_mode & 0o022 else ""


def write_memo(file: Path, key: str) -> None:
    """Keeps a key; where nothing can be written, it is tried again the next time."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A link or a file with other rights that somebody has put there is not written through.
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_text(key, "utf-8")


def find_best(python: str, offered: ProbeResult, find_failure: Callable[[Means], str]) -> ProbeResult:
    """Returns the best part of the offered means that does not fail; a mean that has to be left out gets the failure for its cause."""
    failures: dict[Means, str] = {}
    for means in weaken(offered.means):
        failures[means] = find_failure(means)
        if not failures[means]:
            findings = tuple(_correct(finding, means, offered, failures) for finding in offered.findings)
            return ProbeResult(python, means, findings)
    raise SandboxError(
        f"no candidate runs in {python}, not even a harmless one: {failures[PLAIN]}. Try: try that Python by hand"
    )


def weaken(best: Means) -> Iterator[Means]:
    """Yields every part of these means, the highest level first and the most means first within one. All parts that come to `reduced` are the
    plain one: that level promises no more."""
    had = {name: value for name, value in asdict(best).items() if value and name != "limits"}
    parts = [Means(**dict(chosen)) for count in range(len(had), 0, -1) for chosen in combinations(had.items(), count)]
    for level in (Level.STRICT, Level.STANDARD):
        yield from (means for means in parts if means.level is level)
    yield PLAIN


def attempts_at(level: Level) -> tuple[attempts.Attempt, ...]:
    """Attempts that fail at this level."""
    return attempts.AT_EVERY_LEVEL + (attempts.FROM_STANDARD if level.reaches(Level.STANDARD) else ())


def find_failure(means: Means, python: str = sys.executable) -> str:
    """Returns why these means do not hold what their level promises for candidates in the interpreter `python`, without a remedy; empty where
    they do."""
    try:
        # The variable is set before the box is made: a template that inherited the worker's environment would show it.
        with _target() as target, contextlib.closing(Box(_LIMITS, python, means=means)) as box:
            failures = (_attempt(box, attempt, target) for attempt in attempts_at(means.level))
            return next(filter(None, failures), "")
    except SandboxError as error:
        cause, _, _ = str(error).partition(". Try: ")
        return f"the box does not start: {cause}"


def _attempt(box: Box, attempt: attempts.Attempt, target: Mapping[str, Any]) -> str:
    """Returns what a candidate could do, or why it could not try; empty where it was held."""
    for_ever = attempt in attempts.AT_EVERY_LEVEL
    try:
        with box.open(_PROGRAM, "attempts", _SECONDS_FOR_EVER if for_ever else _SECONDS) as session:
            succeeded = session.call("attack", attempt.__name__, target) is not False
            return f"a program could {attempt.__doc__}" if succeeded else ""
    except SessionFailed as failure:
        held = {Status.TIMEOUT} if for_ever else _HELD
        return "" if failure.status in held else f"a program could not try to {attempt.__doc__}: {failure}"


@contextlib.contextmanager
def _target() -> Iterator[Mapping[str, Any]]:
    """Makes what is attacked: a file that everybody may read, a variable, a process and a server; all of them are gone afterwards."""
    variable = f"EVOLVE_PROBE_{secrets.token_hex(8).upper()}"
    waits = [sys.executable, "-I", "-S", "-c", "input()"]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evolve-probe-")))
        folder.chmod(0o755)
        file = folder / "file"
        file.write_text("word\n", "utf-8")
        file.chmod(0o644)
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        process = stack.enter_context(subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL))
        os.environ[variable] = "word"
        stack.callback(os.environ.pop, variable, None)
        port = server.getsockname()[1]
        yield {"file": str(file), "variable": variable, "process": process.pid, "port": port, "memory": _LIMITS.memory}


def _correct(finding: MeanFinding, means: Means, offered: ProbeResult, failures: Mapping[Means, str]) -> MeanFinding:
    """Returns the finding on a mean now that `means` hold: one that was offered and is left out has failed, or was not tried for want of
    another."""
    used, offers = asdict(means), asdict(offered.means)
    if not finding.had or finding.mean not in used or used[finding.mean]:
        return finding
    failure = failures.get(Means(**{**used, finding.mean: offers[finding.mean]})) or failures.get(offered.means)
    if not failure:
        return finding
    return MeanFinding(finding.mean, False, cause=f"with it, {failure}", remedy=f"see {PAGE} for what it needs")
