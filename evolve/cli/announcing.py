"""Who is being called before a campaign begins, where that takes long: a server that loads a model may need minutes.

Invariant: what is quick says nothing; an interrupt meanwhile says that no campaign has begun."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from evolve.cli.output import one_line
from evolve.cli.say import say

SOON = 1.0
"""Seconds until a person is told."""
UNBEGUN = "stopped while models were called: nothing was asked, and no log was made or changed."


@contextmanager
def announced(names: Sequence[str], after: float = SOON) -> Iterator[None]:
    """Models of these names are called meanwhile: stderr says so when it takes longer than `after` seconds."""
    told = threading.Timer(after, say, [f"evolve: calling {one_line(', '.join(names))} ..."], {"err": True})
    told.daemon = True
    if names:
        told.start()
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(UNBEGUN) from None
    finally:
        told.cancel()
