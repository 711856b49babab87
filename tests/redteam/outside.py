"""Runs harmless candidates outside any box, to show that the corpus bites: what is held in a box succeeds here.

Invariant: nothing but cases that are marked `harmless` is ever run here; each has a time limit, and all that it started is ended."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from evolve.sandbox.jail import PATH
from evolve.sandbox.status import Status
from evolve.types import Program
from tests.redteam.case import Case
from tests.redteam.descendants import descendants, end_all_but
from tests.redteam.host import Host
from tests.redteam.runner import Result, line, missing
from tests.redteam.runner import follower as following
from tests.redteam.runner import program as attacking

ENOUGH = 20
"""So many must succeed."""
_PROGRAM = """
import json, sys
from attack import attack
print()
print(json.dumps(attack(json.loads(sys.argv[1]))))
"""


def bite(cases: Iterable[Case]) -> Iterator[Result]:
    """Those that are harmless, one by one: a `breach` is one that succeeded."""
    for case in cases:
        if not case.harmless:
            continue
        lacking = missing(case)
        if lacking:
            yield Result(case, "skipped", f"there is no {', '.join(lacking)} here")
            continue
        begun = time.monotonic()
        achieved = _achieved(case)
        why = "; ".join(achieved) or "nothing achieved"
        yield Result(case, "breach" if achieved else "held", why, Status.OK, time.monotonic() - begun)


def _achieved(case: Case) -> list[str]:
    with Host() as host, tempfile.TemporaryDirectory(prefix="evolve-outside-") as folder:
        before = descendants()
        told = json.dumps(asdict(host.told))
        variables = {"PATH": os.environ.get("PATH", PATH), "HOME": folder, "TMPDIR": folder}
        variables[host.told.key] = os.environ[host.told.key]
        found = _claims(attacking(case), told, variables, case.seconds) + host.changes()
        if case.after:
            found += _claims(following(case), told, variables, case.seconds)
        left = len(descendants() - before)
        end_all_but(before)
        return found + ([f"processes left: {left}"] if left else [])


def _claims(program: Program, told: str, variables: dict[str, str], seconds: float) -> list[str]:
    """What a program says that it has achieved; nothing where it fails, or does not end in time."""
    with tempfile.TemporaryDirectory(prefix="evolve-outside-") as folder:
        for name, text in program.files.items():
            Path(folder, name).write_text(text, "utf-8")
        try:
            ran = subprocess.run(
                [sys.executable, "-c", _PROGRAM, told],
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=True,
            )
        except subprocess.SubprocessError:
            return []
    return [line(str(claim)) for claim in json.loads(ran.stdout.splitlines()[-1])]
