"""Whether a command can be run at all, and a file be named, before a candidate's process is asked: what is wrong here is the evaluator's
or the machine's.

Invariant: what passes is a list of texts that the kernel takes; a command that was named without a path is on this machine, and a file
lies in the candidate's folder."""

import os
import shutil
from collections.abc import Sequence
from pathlib import PurePosixPath

from evolve.sandbox.process import PATH
from evolve.types import SandboxError

_MOST = 100_000
"""Bytes of all arguments together; the kernel takes at least this many."""


def checked(argv: Sequence[str], text: str, most: int) -> list[str]:
    """`argv` as a list; raises `SandboxError` with the remedy. `text` is the input, of which `most` bytes may be given."""
    if isinstance(argv, str) or not argv or not all(isinstance(word, str) for word in argv) or not argv[0]:
        raise SandboxError(
            f'a command is a list of texts, the first its name, got {argv!r:.200}. Do: write ["cc", "-O2", "file.c"]'
        )
    words = list(argv)
    if any("\0" in word for word in words):
        raise SandboxError(f"an argument of {words[0]!r} holds a zero character. Do: take it out")
    if sum(len(word.encode("utf-8", "replace")) + 1 for word in words) > _MOST:
        raise SandboxError(f"the arguments of {words[0]!r} have more than {_MOST} bytes. Do: give long data as `input`")
    if len(text.encode("utf-8", "replace")) > most:
        raise SandboxError(f"the input of {words[0]!r} has more than {most} bytes. Do: give less, or run it in parts")
    _find(words[0])
    return words


def checked_names(names: Sequence[str]) -> list[str]:
    """Names of files in the candidate's folder, as a list; raises `SandboxError` with the remedy."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise SandboxError(
            f'files are named by a list of texts, each once, got {names!r:.200}. Do: write ["kernel.so"]'
        )
    for name in names:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or not place.name or "\0" in name:
            raise SandboxError(f"{name!r:.200} names no file in the candidate's folder. Do: give its path from there")
    return list(names)


def _find(command: str) -> None:
    """Raises where the machine lacks a command. A path within the candidate's folder is the candidate's to have."""
    if os.sep in command and not command.startswith(os.sep):
        return
    if shutil.which(command, path=os.environ.get("PATH", PATH)) is None:
        raise SandboxError(
            f"this machine has no command {command!r}, which the task's evaluator runs. Do: install it (a C compiler: "
            "`apt-get install gcc`), or put its folder on PATH"
        )
