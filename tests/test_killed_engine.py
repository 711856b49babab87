"""An engine that is killed while it judges leaves nothing behind: no process, no folder, no mount, no control group."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import busy_engine
import pytest

from evolve.sandbox.machine.host import try_cgroup
from evolve.sandbox.processes import descendants
from evolve.sandbox.walls.cgroup import places

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

SECONDS_TO_BE_GONE = 10
ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(("level", "instant"), [("plain", 0), ("best", 1), ("best", 2)])
def test_nothing_is_left_of_an_engine_that_was_killed_while_it_judged(tmp_path: Path, level: str, instant: int) -> None:
    """At some instant between the tenth and the last of a hundred evaluations in two slots."""
    mark, scratch = f"ev{os.getpid()}i{instant}", tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, busy_engine.__file__, str(busy_engine.written_task(tmp_path / "task")), mark, level]
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as engine:
        assert engine.stdout is not None
        ended = [engine.stdout.readline() for _ in range(10)]
        time.sleep(random.Random(instant).uniform(0.0, 0.5))
        family = descendants(engine.pid)
        before = left(family, mark, scratch)
        engine.kill()
    assert b"" not in ended
    assert len(family) >= 1 + busy_engine.SLOTS
    assert before["processes"], "what runs is found"
    assert before["folders"], "and so is what lies there"
    assert before["groups"] or not try_cgroup()[0], "and a control group"
    deadline = time.monotonic() + SECONDS_TO_BE_GONE
    while any(left(family, mark, scratch).values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left(family, mark, scratch) == {"processes": {}, "folders": [], "mounts": [], "groups": []}


def left(family: list[int], mark: str, scratch: Path) -> dict[str, object]:
    """All that can be found of an engine: its family's processes and those that bear its mark, with what they run; what lies in
    its temporary folder, what is mounted there, and the groups that one of the family made."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    found = [pid for pid in pids if pid != os.getpid() and (pid in family or is_marked(pid, mark, scratch))]
    parents = {parent for place in places() for parent in place.parents}
    return {
        "processes": {pid: content(pid, "cmdline") for pid in found if b"State:\tZ" not in content(pid, "status")},
        "folders": sorted(path.name for path in scratch.iterdir()),
        "mounts": [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(scratch) in line],
        "groups": [folder for parent in parents for pid in family for folder in parent.glob(f"evolve-{pid}-*")],
    }


def is_marked(pid: int, mark: str, scratch: Path) -> bool:
    """By its name or arguments, or because it lives on the temporary folder."""
    named = content(pid, "comm").strip() == mark.encode() or mark.encode() in content(pid, "cmdline").split(b"\0")
    return named or f"TMPDIR={scratch}".encode() in content(pid, "environ")


def content(pid: int, name: str) -> bytes:
    """What the system says of a process; nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
