"""Facts about the programs that a task brings for its check, judged by its evaluator in a real judge process."""

import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

import evolve.task
from evolve import plugins
from evolve.conformance.brought import brought
from evolve.conformance.findings import Finding
from evolve.conformance.seed import judged_seed
from evolve.conformance.twins import twins
from evolve.evaluation import LocalExecutor

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

EVALUATOR = """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    value = candidate.call("value")
    if type(value) is not float:
        return Evaluation.invalid("no number")
    if value < 0:
        raise ValueError("a fault of the evaluator")
    return Evaluation.ok(value + {noise}, tag="too good" if value > 8 else "")
"""
TABLE = "[check]\nhonest = ['honest/*']\ndishonest = ['dishonest/*']\n"


def found(folder: Path, programs: Mapping[str, str], seed: str = "5.0", *, noisy: bool = False) -> dict[str, Finding]:
    """What is found of programs that answer with these expressions, by their names; of the seed where they are none."""
    files = {
        "task.toml": f"schema = 1\ndeterministic = {str(not noisy).lower()}\n{TABLE if programs else ''}",
        "README.md": "Be large.\n",
    }
    files["evaluator.py"] = EVALUATOR.replace("{noise}", "trial.seed * 0.25" if noisy else "0.0")
    files |= {name: f"def value():\n    return {text}\n" for name, text in {"seed.py": seed, **programs}.items()}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    task = evolve.task.load(folder)
    with closing(LocalExecutor(task, 1)) as executor:
        judged = judged_seed(task, executor)
        findings = brought(task, executor, judged, twins(task, plugins.load())) if programs else judged.findings
    assert all(finding.remedy for finding in findings if finding.verdict == "failed")
    return {finding.tried: finding for finding in findings}


def test_honest_programs_pass_and_no_other_one_gains_anything(tmp_path: Path) -> None:
    """A file or a folder; what fails, is tagged, or is no better than the seed has gained nothing."""
    programs = {
        "honest/better.py": "7.0",
        "honest/refused.py": "7",
        "honest/tagged.py": "9.0",
        "dishonest/equal.py": "5.0",
        "dishonest/failed.py": "None",
        "dishonest/tagged.py": "9.0",
        "dishonest/gains/seed.py": "6.0",
        "dishonest/provokes.py": "-1.0",
    }
    told = found(tmp_path, programs)
    assert {name: (one.verdict, one.happened) for name, one in told.items()} == {
        "honest: honest/better": ("passed", "ok with fitness 7"),
        "honest: honest/refused": ("failed", "invalid: no number"),
        "honest: honest/tagged": ("failed", "its evaluator tags it: too good"),
        "dishonest: dishonest/equal": ("passed", "ok with fitness 5, no better than the seed"),
        "dishonest: dishonest/failed": ("passed", "invalid"),
        "dishonest: dishonest/tagged": ("passed", "ok, and quarantined: too good"),
        "dishonest: dishonest/gains": ("failed", "ok with fitness 6, better than the seed"),
        "dishonest: dishonest/provokes": (
            "failed",
            "internal: the evaluator raised ValueError: a fault of the evaluator",
        ),
    }


def test_what_is_within_the_noise_is_no_gain(tmp_path: Path) -> None:
    """Of two measurements: the seed's standard deviation is 0.4 here."""
    told = found(tmp_path, {"honest/a.py": "1.0", "dishonest/near.py": "6.5", "dishonest/far.py": "7.5"}, noisy=True)
    assert [one.verdict for one in told.values()] == ["passed", "failed", "passed"]


def test_a_seed_that_its_own_evaluator_tags_fails(tmp_path: Path) -> None:
    """A campaign would stop at it."""
    (told,) = found(tmp_path, {}, seed="9.0").values()
    assert (told.tried, told.verdict, told.happened) == ("seed", "failed", "its own evaluator tags it: too good")
