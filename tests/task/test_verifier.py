"""A task's verifier, read and checked before it may be handed on."""

from pathlib import Path

import pytest

from evolve.task import load, read_sentence
from evolve.task.verifier import PROOF_SCRIPT, Proof, check_verifier, run_proof
from evolve.types import TaskError

GOOD = """\
\"\"\"Sums.\"\"\"

import math
from fractions import Fraction

PROVES = "the numbers add up to the value"


def proven(certificate, parameters):
    return Fraction(math.fsum(certificate["numbers"]))
"""
TASK = """\
schema = 1
verifier = "verifier.py"
"""


def task(folder: Path, text: str, keys: str = TASK) -> Path:
    """A task's folder with a verifier."""
    for name, content in {
        "task.toml": keys,
        "README.md": "Sum.",
        "seed.py": "def value():\n    return 1\n",
        "evaluator.py": "",
        "verifier.py": text,
    }.items():
        (folder / name).write_text(content, "utf-8")
    return folder


def test_a_task_has_the_text_of_its_verifier(tmp_path: Path) -> None:
    """It stays in the log with the task, so that an export needs no folder."""
    assert load(task(tmp_path, GOOD)).verifier == GOOD


def test_a_task_without_the_key_has_no_verifier(tmp_path: Path) -> None:
    """Nothing is guessed from a file's name."""
    assert load(task(tmp_path, GOOD, "schema = 1\n")).verifier == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def proven(:\n", "the verifier is not Python"),
        (GOOD.replace("import math", "import numpy"), "line 3 imports 'numpy'"),
        (GOOD.replace("import math", "from os import path\nfrom . import exact"), "imports 'a neighbour'"),
        (GOOD.replace("    return", "    import exact\n    return"), "line 10 imports 'exact'"),
        (GOOD.replace("def proven", "def verify"), "no function proven"),
        (GOOD.replace("PROVES", "SAYS"), "a verifier says what it proves"),
        (GOOD.replace('"the numbers add up to the value"', "3"), "a verifier says what it proves"),
        (GOOD + "print(proven)\n", "line 11 does something when the file is read"),
        (GOOD + "for number in [1]:\n    pass\n", "line 11 does something when the file is read"),
        ("\0", "the verifier is not Python"),
    ],
)
def test_a_verifier_that_cannot_stand_alone_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """When the task is loaded, with the line."""
    with pytest.raises(TaskError, match=message):
        load(task(tmp_path, text))


def test_a_verifier_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With what to do."""
    keys = TASK.replace("verifier.py", "verify.py")
    with pytest.raises(TaskError, match=r"verifier: there is no file 'verify.py'. Did you mean 'verifier.py'\?"):
        load(task(tmp_path, GOOD, keys))


def test_a_task_in_one_file_has_none(tmp_path: Path) -> None:
    """Its version covers that file alone."""
    path = tmp_path / "problem.py"
    path.write_text(
        '"""Sum."""\n\n# /// evolve\n# verifier = "verifier.py"\n# ///\n\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n',
        "utf-8",
    )
    with pytest.raises(TaskError, match="has no key 'verifier'"):
        load(path)


@pytest.mark.parametrize("name", ["circle_packing", "step_functions"])
def test_the_bundled_tasks_that_certify_bring_a_verifier(name: str) -> None:
    """It is a file that their evaluators use, so that there is one truth."""
    found = load(name)
    check_verifier(Path(name), found.verifier)
    assert found.promotion == "certificate"
    assert found.verifier in [path.read_text("utf-8") for path in Path(found.folder).glob("*.py")]


def test_a_verifier_says_what_it_proves() -> None:
    assert read_sentence(GOOD) == "the numbers add up to the value"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sys.stdout.buffer.write(b'\\xff holds')", Proof("\ufffd holds")),
        (
            "sys.stderr.buffer.write(b'\\xff'); sys.exit(1)",
            Proof("", "does not hold by the task's own verifier: \ufffd"),
        ),
        ("sys.exit(3)", Proof("", "does not hold by the task's own verifier: exit status 3")),
        ("import time; time.sleep(60)", Proof("", "was not verified within 0.5 s")),
    ],
    ids=["holds", "refused", "silent", "late"],
)
def test_what_a_script_says_is_a_text(tmp_path: Path, code: str, expected: Proof) -> None:
    """Bytes that are no UTF-8 are marked as such."""
    (tmp_path / PROOF_SCRIPT).write_text(f"import sys; {code}\n")
    assert run_proof(tmp_path, 0.5 if "sleep" in code else 60.0) == expected
