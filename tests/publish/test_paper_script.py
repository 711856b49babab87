"""The exported `verify.py`, run as a stranger runs it, against what the judge says of the same construction."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evolve.publish.paper.script import verified
from evolve.task import load
from evolve.task.verify_script import CONSTRUCTION, SCRIPT, script
from evolve.types import ConfigError, Task

TWO = {"centres": [["1/4", "1/2"], ["3/4", "1/2"]], "radii": ["1/4", "1/4"], "sum": "1/2"}
STEPS = {"kind": "c2", "scale": "1", "steps": ["1", "1"], "value": "2/3"}
A_HAIR = "1000000000000001/4000000000000000"
"""A quarter and 2.5e-16."""


def packing() -> Task:
    """Two circles."""
    return replace(load("circle_packing"), parameters={"n": 2})


def steps(**parameters: Any) -> Task:
    """Two steps."""
    return load("step_functions", {"n": 2, **parameters})


def judged(task: Task, construction: Any) -> str:
    """What the file that the judge imports says of a construction: its value, or the kind of error."""
    module = ModuleType("judged")
    exec(compile(task.verifier, "judged", "exec"), module.__dict__)
    try:
        return str(module.__dict__["proven"](construction, dict(task.parameters)))
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        return type(error).__name__


def written(folder: Path, task: Task, text: str, value: float) -> Path:
    """A folder with a script that claims a value, and a construction."""
    folder.mkdir(exist_ok=True)
    (folder / CONSTRUCTION).write_text(text, "utf-8")
    (folder / SCRIPT).write_text(script(task, task.verifier, value, "number/2"), "utf-8")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As the page says, from elsewhere."""
    command = [sys.executable, "-I", "-S", str(folder / SCRIPT), *words]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, check=False)


def test_a_construction_that_holds_is_verified(tmp_path: Path) -> None:
    """And what it proves is said, exactly."""
    found = run(written(tmp_path, packing(), json.dumps(TWO), 0.5))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines() == [
        "task       circle_packing (n = 2)",
        "proven     so many circles as the parameter n says lie in the unit square, no two of them overlap, and their radii add up to the value",
        "value      sum of radii 0.5",
        "exactly    1/2",
        "claimed    at least 0.5: holds",
        "verified",
    ]


CIRCLES: list[tuple[str, Any, str]] = [
    (
        "overlaps by a hair",
        TWO | {"centres": [["1/4", "1/2"], ["2999999999999997/4000000000000000", "1/2"]]},
        "circles 0 and 1 overlap",
    ),
    ("leaves the square by a hair", TWO | {"radii": ["1/4", A_HAIR]}, "circle 1 is not in the unit square"),
    (
        "is outside the square",
        TWO | {"centres": [["1/4", "1/2"], ["5/4", "1/2"]]},
        "circle 1 is not in the unit square",
    ),
    ("has a negative radius", TWO | {"radii": ["1/4", "-1/4"]}, "circle 1 is not in the unit square"),
    ("has a wrong sum", TWO | {"sum": "2/3"}, "the radii add up to 1/2, not to 2/3"),
    (
        "has one circle more",
        {"centres": [*TWO["centres"], ["0", "0"]], "radii": [*TWO["radii"], "0"], "sum": "1/2"},
        "3 circles, wanted 2",
    ),
    ("has one radius less", TWO | {"radii": ["1/4"]}, "2 centres and 1 radii"),
    ("has a NaN as a text", TWO | {"radii": ["1/4", "nan"]}, "no exact number"),
    ("has a float", TWO | {"radii": [0.25, 0.25]}, "no exact number"),
    ("has a truth value", TWO | {"radii": [True, "1/4"]}, "no exact number"),
    ("divides by zero", TWO | {"radii": ["1/4", "1/0"]}, "no exact number"),
    ("has an exponent that fills the memory", TWO | {"sum": "1e999999999"}, "no exact number"),
    ("has a number of 5,000 digits", TWO | {"sum": "9" * 5000}, "no exact number"),
    ("has digits of another alphabet", TWO | {"radii": ["1/4", "\u0661/4"]}, "no exact number"),
    ("has an empty text", TWO | {"sum": ""}, "no exact number"),
    ("has a line break after the number", TWO | {"sum": "1/2\n"}, "no exact number"),
    ("has three coordinates", TWO | {"centres": [["1/4", "1/2", "0"], ["3/4", "1/2"]]}, "too many values"),
    ("has no radii", {"centres": TWO["centres"], "sum": "1/2"}, "KeyError: 'radii'"),
    ("has a text for a list", TWO | {"radii": "11"}, "circle 0 is not in the unit square"),
    ("has nothing for a list", TWO | {"centres": None}, "TypeError"),
    ("names a class", TWO | {"__class__": "dict", "radii": {"__class__": "list"}}, "no exact number"),
    ("is empty", {}, "KeyError"),
]


@pytest.mark.parametrize(("construction", "reason"), [case[1:] for case in CIRCLES], ids=[case[0] for case in CIRCLES])
def test_a_tampered_packing_fails_with_the_reason(tmp_path: Path, construction: Any, reason: str) -> None:
    """The judge's own file refuses it, too."""
    found = run(written(tmp_path, packing(), json.dumps(construction), 0.5))
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("not verified: ")
    assert reason in found.stderr
    assert judged(packing(), construction) in ("ValueError", "TypeError", "KeyError")


FUNCTIONS: list[tuple[str, Any, str]] = [
    ("has a wrong ratio", STEPS | {"value": "3/4"}, "the ratio is 2/3, not 3/4"),
    ("is another kind", STEPS | {"kind": "c1", "value": "2"}, "the kind is 'c1', wanted 'c2'"),
    ("has another number of steps", STEPS | {"steps": ["1"]}, "there are 1 steps, wanted 2"),
    ("is negative somewhere", STEPS | {"steps": ["3", "-1"]}, "a step of kind c2 is negative"),
    ("is nothing", STEPS | {"steps": ["0", "0"]}, "the steps add up to 0"),
    ("has a float", STEPS | {"steps": [1.0, 1.0]}, "no whole number"),
    ("has an underscore", STEPS | {"steps": ["1_0", "1_0"]}, "no whole number"),
    ("has no scale", STEPS | {"scale": "0"}, "the scale is 0"),
]


@pytest.mark.parametrize(
    ("construction", "reason"), [case[1:] for case in FUNCTIONS], ids=[case[0] for case in FUNCTIONS]
)
def test_a_tampered_step_function_fails_with_the_reason(tmp_path: Path, construction: Any, reason: str) -> None:
    """The judge's own file refuses it, too."""
    found = run(written(tmp_path, steps(), json.dumps(construction), 2 / 3))
    assert (found.returncode, found.stdout) == (1, "")
    assert reason in found.stderr
    assert judged(steps(), construction) == "ValueError"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"centres": [], "radii": [], "sum": "0", "sum": "1/2"}', "the key 'sum' is there twice"),
        ('{"centres": [["1/4", NaN]]}', "NaN is no number"),
        ('{"radii": [-Infinity]}', "-Infinity is no number"),
        ("[" * 100_000, "RecursionError"),
        ("[]", "the construction is no object"),
        ('"text"', "the construction is no object"),
        ("", "construction.json is no JSON: Expecting value"),
        ('{"sum": ' + "9" * 5000 + "}", "Exceeds the limit"),
        ('{"\\u001b[2J": 1, "\\u001b[2J": 2}', "the key '\\x1b[2J' is there twice"),
    ],
)
def test_what_is_no_plain_json_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    """Nothing that could be read in two ways; and nothing that a terminal would obey is printed."""
    found = run(written(tmp_path, packing(), text, 0.5))
    assert (found.returncode, found.stdout) == (1, "")
    assert reason in found.stderr
    assert found.stderr.isascii()
    assert "\x1b" not in found.stderr


def test_more_may_not_be_claimed_than_is_proven(tmp_path: Path) -> None:
    """By one unit in the last place of a float."""
    found = run(written(tmp_path, packing(), json.dumps(TWO), 0.5000000000000001))
    assert found.returncode == 1
    assert found.stderr == "not verified: ValueError: it proves 0.5, and 0.5000000000000001 is claimed\n"


def test_less_may_be_claimed_than_is_proven(tmp_path: Path) -> None:
    """A certified value is rounded down."""
    found = run(written(tmp_path, steps(), json.dumps(STEPS), 0.6666666666666665))
    assert found.returncode == 0
    assert "value      ratio 0.666666666666666666666666666666" in found.stdout


def test_a_minimised_kind_is_shown_as_the_task_shows_it(tmp_path: Path) -> None:
    """With a minus; the bound goes the other way by itself."""
    halves = {"kind": "erdos", "scale": "2", "steps": ["1", "1"], "value": "1/2"}
    assert "value      ratio -0.5" in run(written(tmp_path, steps(kind="erdos"), json.dumps(halves), -0.5)).stdout
    assert run(written(tmp_path, steps(kind="erdos"), json.dumps(halves), -0.4999)).returncode == 1


def test_a_fitness_to_minimise_is_at_most_what_is_claimed(tmp_path: Path) -> None:
    """Of a task whose direction is that."""
    task = replace(packing(), fitness=replace(packing().fitness, direction="min"))
    assert "claimed    at most 0.6: holds" in run(written(tmp_path, task, json.dumps(TWO), 0.6)).stdout
    assert run(written(tmp_path, task, json.dumps(TWO), 0.4)).returncode == 1


def test_another_construction_can_be_named(tmp_path: Path) -> None:
    """As the first argument."""
    folder = written(tmp_path / "one", packing(), "{}", 0.5)
    other = tmp_path / "other.json"
    other.write_text(json.dumps(TWO), "utf-8")
    assert run(folder, str(other)).returncode == 0
    missing = run(folder, str(tmp_path / "missing.json"))
    assert (missing.returncode, "missing.json cannot be read: No such file" in missing.stderr) == (1, True)


def test_the_script_needs_nothing_beside_it(tmp_path: Path) -> None:
    """A file in the same folder with the name of a library's module is not imported."""
    folder = written(tmp_path, packing(), json.dumps(TWO), 0.5)
    (folder / "fractions.py").write_text("raise SystemExit(0)\n", "utf-8")
    assert run(folder).stdout.endswith("verified\n")


def test_the_task_s_part_of_the_script_is_its_file_to_the_byte() -> None:
    """One truth: the judge imports the same text."""
    for task in (packing(), steps()):
        text = script(task, task.verifier, 0.5, "number/2")
        assert text.startswith(task.verifier.rstrip())


def test_a_verifier_that_finds_a_float_proves_nothing(tmp_path: Path) -> None:
    """Only whole numbers and fractions are exact."""
    task = replace(packing(), verifier='PROVES = "it"\n\n\ndef proven(certificate, parameters):\n    return 0.5\n')
    assert "the verifier found no exact number, but 0.5" in run(written(tmp_path, task, json.dumps(TWO), 0.5)).stderr


def test_a_hostile_name_of_a_task_is_data_in_the_script(tmp_path: Path) -> None:
    """Neither a quote nor a line break ends the claim."""
    name = 'x"""\nraise SystemExit(3)\n\u202e#'
    task = replace(packing(), name=name, fitness=replace(packing().fitness, name=name))
    folder = written(tmp_path, task, json.dumps(TWO), 0.5)
    assert (folder / SCRIPT).read_text("utf-8").isascii()
    found = run(folder)
    assert (found.returncode, found.stdout.endswith("verified\n"), found.stdout.isascii()) == (0, True, True)


def test_a_large_fraction_is_told_by_its_size(tmp_path: Path) -> None:
    """Denominators of more than a thousand bits."""
    small = Fraction(1, 2**1100)
    construction = {"centres": [["0", "0"], ["1", "1"]], "radii": ["0", "0"], "sum": "0"}
    assert run(written(tmp_path, packing(), json.dumps(construction), 0.0)).returncode == 0
    construction = {"centres": [[str(small), str(small)], ["1", "1"]], "radii": [str(small), "0"], "sum": str(small)}
    assert (
        "exactly    a fraction of 1102 bits" in run(written(tmp_path, packing(), json.dumps(construction), 0.0)).stdout
    )


def test_an_export_runs_what_it_has_written(tmp_path: Path) -> None:
    """A certificate that the verifier refuses is never written as proven."""
    assert verified(written(tmp_path / "good", packing(), json.dumps(TWO), 0.5), "number/1").endswith("verified\n")
    shutil.copytree(tmp_path / "good", tmp_path / "bad")
    (tmp_path / "bad" / CONSTRUCTION).write_text(json.dumps(TWO | {"sum": "1"}), "utf-8")
    with pytest.raises(
        ConfigError,
        match=r"the certificate of number/1 does not hold by the task's own verifier: not verified: .* not to 1\.",
    ):
        verified(tmp_path / "bad", "number/1")
