"""Forked children that confine themselves and then try something; what they found comes back as plain data."""

import contextlib
import errno
import faulthandler
import json
import os
import resource
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import Any

ORDINARY = 60_123
"""A user that owns nothing."""
_SECONDS = 30


def child(act: Callable[[], Any]) -> Any:
    """What `act` returns in a fork of this process, after JSON; a string such as `SIGSYS` where a signal ended it."""
    here, there = os.pipe()
    with warnings.catch_warnings():
        # From 3.12 on Python warns where libraries have threads; the child needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.alarm(_SECONDS)
            faulthandler.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.close(here)
            with os.fdopen(there, "w") as out:
                json.dump(act(), out)
            status = 0
        except Exception:  # noqa: BLE001 the parent's code must not run twice
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(there)
    with os.fdopen(here) as answer:
        found = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:
        return signal.Signals(-code).name
    assert code == 0, "the child raised: see its traceback"
    return json.loads(found)


def become_ordinary() -> None:
    """Where the tests run as root, the child goes on as a user without rights, as candidates do."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)


def outcome(act: Callable[..., Any], *arguments: Any) -> str:
    """`done`, or the name of the error number that it failed with."""
    try:
        result = act(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    with contextlib.suppress(AttributeError):
        result.close()
    return "done"
