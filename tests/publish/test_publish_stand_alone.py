"""Facts about `verify.py` of an export."""

import subprocess
import sys

import pytest
from exported_here import Found

from evolve.publish import write


@pytest.fixture
def folder(tmp_path):
    write(Found(tmp_path).promoted().export().contents, tmp_path / "found", top="")
    return tmp_path / "found"


def run(folder, *options):
    return subprocess.run(
        [sys.executable, *options, str(folder / "verify.py")], capture_output=True, text=True, timeout=60
    )


def test_without_the_package_it_refuses_clearly(folder):
    """And verifies nothing."""
    ended = run(folder, "-I", "-S")
    assert ended.returncode == 1
    assert "the package `evolve` is not installed for this Python, and nothing was verified" in ended.stderr


def test_with_the_package_it_verifies_its_own_folder(folder):
    """No file beside it is imported, whatever it is called."""
    (folder / "json.py").write_text("raise SystemExit('imported')")
    (folder / "click.py").write_text("raise SystemExit('imported')")
    ended = run(folder)
    assert ended.returncode == 1
    assert "click.py is not in the manifest" in ended.stdout
