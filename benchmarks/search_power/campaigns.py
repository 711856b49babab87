"""What the arms of the comparison have in common: calls, campaigns, and questions to evolve's command line."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVOLVE = Path(sys.executable).with_name("evolve")
"""The command of this checkout, which judges all arms."""
AT_ONCE = 2
"""Calls in flight."""


@dataclass(frozen=True)
class Call:
    """A call of the model, in the order of answers. `outcome` is that of its program; `score`, in the task's direction, where it has one."""

    call: int
    operator: str
    outcome: str
    score: float | None
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Campaign:
    """What a campaign has found: its calls, and the files of its best program by their paths (the seed's, where nothing was better)."""

    calls: Sequence[Call]
    best: Mapping[str, str]
    version: str


def ask(command: Path, workspace: Path, *words: str) -> list[dict[str, Any]]:
    """Returns what a command of evolve says with --json."""
    done = subprocess.run(
        [str(command), "--workspace", str(workspace), *words, "--json"], stdout=subprocess.PIPE, text=True, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # A program that fails on a held-out case is a result, and makes the exit code 1.
    if done.returncode and not lines:
        raise SystemExit(f"run.py: `evolve {' '.join(words)}` failed with {done.returncode}; its message stands above")
    return lines


def version_of(command: Path) -> str:
    """Returns the commit of the checkout that a command belongs to."""
    for folder in command.resolve().parents:
        if (folder / "pyproject.toml").is_file():
            done = subprocess.run(
                ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
                capture_output=True,
                text=True,
                check=False,
            )
            return done.stdout.strip() or "unknown"
    return "unknown"
