"""Facts about the scripts of an export: `verify.py`, and `proof.py` of a certified value."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

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


PROVEN = sorted((Path(__file__).parents[2] / "archive" / "published").glob("*/*/proof.py"))


@pytest.mark.parametrize("script", PROVEN, ids=[script.parents[1].name for script in PROVEN])
def test_a_certified_value_is_proven_by_the_standard_library_alone(script, tmp_path):
    """And a certificate in which one number is another is refused."""
    moved = shutil.copytree(script.parent, tmp_path / "export")
    command = [sys.executable, "-I", "-S", str(moved / "proof.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (0, ["verified"]), ended.stderr
    certificate = moved / "certificate" / "certificate.json"
    certificate.write_text(re.sub(r"(\d)(\D*)$", lambda digit: f"x{digit[2]}", certificate.read_text()))
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("not verified: ")


def test_a_task_without_a_verifier_has_no_proof(folder):
    """Of its export nothing says that it has one."""
    assert not (folder / "proof.py").exists()
    assert "proof.py" not in (folder / "README.md").read_text()


def test_there_are_published_proofs():
    """So that the test of them is one."""
    assert {script.parents[1].name for script in PROVEN} == {"circle_packing", "step_functions"}
