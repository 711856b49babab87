"""A session in an interpreter of its own, for what must not be forked from a warm one: runtimes that start threads or devices at import.

`command` is what the candidate's process becomes, by `exec`, as its last step, with descriptors 0 to 4 inheritable; `main` is its life then. Standard
library and siblings only, for it lives in the template. The program finds the interpreter as a fork of a template would be: the same
modules, none of evolve's, nothing on its command line or path that a plain Python has not."""

import gc
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from evolve.sandbox.inner import BOOTSTRAP
from evolve.sandbox.inner.candidate import perform
from evolve.sandbox.walls import seccomp

FOLDER = str(Path(__file__).resolve().parents[2])
"""Where the package `evolve` lies, as this process sees it."""
_REQUESTS, _REPLIES = 3, 4
_LAST_PROGRAM = seccomp.Filter(execute=False, memfd=True, loopback=True, gpu=True)
"""On top of the filter with which this process began, and which had to let it begin. All else that one holds back stays held back."""
_PROGRAM = f"""{BOOTSTRAP}
def start():
    import json, sys
    folder, preload, execute = json.loads(sys.argv[1])
    main = load(folder, "evolve.sandbox.inner.fresh").main
    del globals()["load"], globals()["start"]
    main(preload, execute)
start()
"""


def command(python: str, folder: str, preload: Sequence[str], *, execute: bool = True) -> list[str]:
    """The arguments of the interpreter `python`, which finds the package `evolve` in `folder` and imports the modules `preload`. To be given the
    environment of a template, of which it reads Python's own variables: so `-I` would lose the fixed hashes, and the rest of it stands here.
    Without `execute` it is the last program that is started: for a process that has given up new privileges, where seccomp is."""
    return [python, "-s", "-P", "-B", "-c", _PROGRAM, json.dumps([folder, list(preload), execute])]


def main(preload: Sequence[str], execute: bool) -> None:
    """Imports, then answers until the requests end. What cannot be imported ends the process with code 1 and its last words on standard error; so a
    session without a request tells whether all can."""
    del sys.argv[1:]
    if not execute:
        # Before what is imported can start a thread, which a filter of this one would not hold.
        seccomp.enter(seccomp.program(_LAST_PROGRAM))
    for name in preload:
        importlib.import_module(name)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    gc.collect()
    gc.freeze()
    perform(_REQUESTS, _REPLIES)
    os._exit(0)  # as a fork of a template ends: nothing that a library does at its end is waited for
