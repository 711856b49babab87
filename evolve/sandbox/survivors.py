"""What a template leaves that was killed itself: its candidates then belong to strangers.

Judge side. Invariant: only processes that came from this template are ended, by the user that no other process on the machine has, or by the
folder in their environment. A candidate can give itself another environment; where it has no user of its own, it is the spawner of
the judges that ends it, as the next who inherits it."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from evolve.sandbox.walls.tasks import every

_PASSES = 200
_PAUSE = 0.01


def end(scratch: str, user: int | None) -> None:
    """Ends what has `scratch` for its folder of temporary files, or is of this `user`; again until there is none, for a second or two."""
    for _ in range(_PASSES):
        left = set(_marked(scratch))
        if user is not None:
            left |= {process.pid for process in every() if process.user == user and process.lives}
        if not left:
            return
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _marked(scratch: str) -> Iterator[int]:
    mark = f"\0TMPDIR={scratch}\0".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or is not ours to see
            if mark in b"\0" + environment.read_bytes():
                yield int(environment.parent.name)
