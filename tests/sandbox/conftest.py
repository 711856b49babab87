"""Boxes that the sandbox's tests share; every test leaves its box as it was, which is what is tested."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evolve.sandbox.box import Box
from evolve.types import Limits, Program

Call = Callable[..., Any]
_NOBODY = 65534


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """A box with small limits and nothing preloaded."""
    box = Box(Limits(memory=1 << 30, result=1 << 20, file_size=1 << 20))
    yield box
    box.close()


@pytest.fixture
def call(box: Box) -> Call:
    """Calls `f` of a program's source in a session of its own."""

    def call(source: str, *arguments: Any, seconds: float = 10.0, **keywords: Any) -> Any:
        with box.open(Program({"seed.py": source}), "seed", seconds) as session:
            return session.call("f", *arguments, **keywords)

    return call


@pytest.fixture
def processes() -> Callable[[str], list[int]]:
    """The pids of living processes that were started with a certain TMPDIR."""

    def find(folder: str) -> list[int]:
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"TMPDIR={folder}".encode() in environment.read_bytes().split(b"\0"):
                    found.append(int(environment.parent.name))
            except OSError:
                continue
        return found

    return find


@pytest.fixture
def users_home() -> Iterator[Path]:
    """A folder of an ordinary user, who cannot read what is closed; root would not notice."""
    user = os.geteuid()
    os.seteuid(user or _NOBODY)
    try:
        with tempfile.TemporaryDirectory() as home:
            yield Path(home)
    finally:
        os.seteuid(user)
