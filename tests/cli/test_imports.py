"""What `evolve --help` does not import."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

HEAVY = (
    "numpy",
    "openai",
    "pydantic",
    "rich",
    "sqlite_utils",
    "sqlite3",
    "evolve.campaign",
    "evolve.engine",
    "evolve.evaluation",
    "evolve.sandbox",
)
PROGRAM = """
import sys
from evolve.cli import evolve
try:
    evolve(["--help"], prog_name="evolve")
finally:
    print("IMPORTED", *sys.modules)
"""


def test_help_imports_no_heavy_library():
    """So that it answers at once."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    text, _, modules = done.stdout.partition("IMPORTED ")
    assert "Commands:" in text
    assert sorted(set(HEAVY) & set(modules.split())) == []
    assert "evolve.cli" in modules.split()
