"""Facts about the page of an export."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exported_here import Found

from evolve_publish.files import write


def test_the_page_tells_what_is_claimed_and_on_what_it_rests(tmp_path):
    page = Found(tmp_path, promotion="certificate").certified().export().contents["README.md"].decode()
    assert "| nearness | 6.5 (larger is better) |" in page
    assert "| evidence | certified in exact arithmetic |" in page
    assert "| 2 | the search | ok | 6.5 | witnessed | strict |" in page


def test_a_noisy_value_is_never_told_without_how_sure_it_is(tmp_path):
    found = Found(tmp_path, deterministic=False)
    page = found.export().contents["README.md"].decode()
    assert "| nearness | 6.5 ± 0 (95 %: 6.5 to 6.5, n = 1) (larger is better) |" in page
    assert "not confirmed" in page
    found.again(2, 6.4)
    found.again(2, 6.3)
    assert "95 %: " in found.export().contents["README.md"].decode()


def test_what_is_claimed_and_quarantined_says_so(tmp_path):
    found = Found(tmp_path)
    found.proposal(7.0, trust="claimed", isolation="strict")
    assert "**claimed** by the program's own script" in found.export(3).contents["README.md"].decode()


@pytest.fixture
def folder(tmp_path):
    write(Found(tmp_path).promoted().export().contents, tmp_path / "found")
    return tmp_path / "found"


def run(folder, *options):
    return subprocess.run(
        [sys.executable, *options, str(folder / "verify.py")], capture_output=True, text=True, timeout=60
    )


@pytest.mark.integration
def test_without_the_package_it_refuses_clearly(folder):
    """And verifies nothing."""
    ended = run(folder, "-I", "-S")
    assert ended.returncode == 1
    assert "the package `evolve` is not installed for this Python, and nothing was verified" in ended.stderr


@pytest.mark.integration
def test_with_the_package_it_verifies_its_own_folder(folder):
    """No file beside it is imported, whatever it is called."""
    (folder / "json.py").write_text("raise SystemExit('imported')")
    (folder / "click.py").write_text("raise SystemExit('imported')")
    ended = run(folder)
    assert ended.returncode == 1
    assert "click.py is not in the manifest" in ended.stdout


PROVEN = sorted((Path(__file__).parents[3] / "archive" / "published").glob("*/*/proof.py"))


@pytest.mark.integration
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
