"""Kills the processes of an engine at random: itself, its spawner, a judge's worker, or a template.

Invariant: only descendants of the engine are killed, and no candidate's process: what ends it is the program's own end."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evolve.sandbox.processes import children

SECONDS = 60.0
"""In which something is evaluated."""
ROLES = ("engine", "spawner", "worker", "template")


def family(engine: int) -> Mapping[str, Sequence[int]]:
    """The pids that live, by their role. Of a template in namespaces of its own both processes may be killed: the outer one, and the first inside."""
    spawners = [pid for pid in children(engine) if b"evolve.evaluation.spawner" in content(pid, "cmdline")]
    workers = [
        pid
        for spawner in spawners
        for pid in children(spawner)
        if b"evolve.evaluation.worker" in content(pid, "cmdline")
    ]
    outer = [pid for worker in workers for pid in children(worker)]
    inner = [
        pid for each in outer for pid in children(each) if b"\t1\n" in content(pid, "status").partition(b"NSpid:")[2]
    ]
    return dict(zip(ROLES, ([engine], spawners, workers, [*outer, *inner]), strict=True))


def order(kills: int, rng: random.Random) -> list[str]:
    """So many roles in any order, each as often as the others; the first is no engine."""
    roles = [*ROLES] * (kills // len(ROLES))
    rng.shuffle(roles)
    return sorted(roles[:2], key=ROLES.index, reverse=True) + roles[2:]


def kill_some(engine: int, roles: list[str], rng: random.Random, progress: Callable[[], int]) -> None:
    """Kills who has the next role, until that was the engine or nothing is left to do: each within a second after `progress` has grown again, which
    it does after the last one, too. An engine that is killed together with its spawner leaves a folder that nobody removes."""
    while roles:
        _wait_for(progress)
        time.sleep(rng.uniform(0.0, 1.0))
        if living := family(engine)[roles[0]]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(living), signal.SIGKILL)
            if roles.pop(0) == "engine":
                return
    _wait_for(progress)


def _wait_for(progress: Callable[[], int]) -> None:
    """Until it has grown."""
    before, deadline = progress(), time.monotonic() + SECONDS
    while progress() == before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert progress() > before, "something is evaluated after each kill"


def content(pid: int, name: str) -> bytes:
    """What the system says of a process; nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
