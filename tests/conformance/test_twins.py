"""Facts about the programs that a task brings for its check."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import evolve.task
from evolve import plugins
from evolve.conformance import Finding
from evolve.conformance.twins import check_twins, read_twins
from evolve.evaluation import LocalExecutor
from evolve.types import Check, EvaluatorSource, Program, Task, TaskError, Twin

FILE = EvaluatorSource("evaluator.py")
FILES = {"a.c": "int a;", "b.c": "int b;", "main.py": "pass\n"}


def task(folder: Path, source: EvaluatorSource = FILE, **patterns: tuple[str, ...]) -> Task:
    return Task("made", str(folder), "1", "Be.", Program(FILES), "", source, check=Check(**patterns))


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"// {name}\n")


def found(of: Task) -> list[Twin]:
    return read_twins(of, plugins.load())


def test_a_file_stands_for_the_one_with_its_name_or_of_its_kind(tmp_path: Path) -> None:
    """The others are the seed's. Honest ones come first."""
    write(tmp_path, "twins/b.c", "cheats/one.py")
    honest, other = found(task(tmp_path, honest=("twins/*",), dishonest=("cheats/*.py",)))
    assert (honest, other.honest) == (Twin("twins/b", {"b.c": "// twins/b.c\n"}), False)
    assert other.files == {"main.py": "// cheats/one.py\n"}


def test_a_folder_is_a_program_of_many_files(tmp_path: Path) -> None:
    """By their paths in it; what Python leaves, and hidden files, are none."""
    write(
        tmp_path,
        "twins/fast/a.c",
        "twins/fast/inner/b.c",
        "twins/fast/__pycache__/x.pyc",
        "twins/fast/.hidden",
        "twins/__pycache__/y",
    )
    (one,) = found(task(tmp_path, honest=("twins/*",)))
    assert (one.name, set(one.files)) == ("twins/fast", {"a.c", "inner/b.c"})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "check.honest: nothing matches 'twins/\\*'. Try: write such a program, or correct the pattern"),
        (
            ("twins/other.c",),
            "which file of the program it stands for cannot be told; the program has a.c, b.c, main.py. Try: put it",
        ),
        (("twins/other.f90",), "cannot be told"),
    ],
)
def test_what_is_no_program_is_an_error(tmp_path: Path, names: Sequence[str], message: str) -> None:
    """With the remedy."""
    write(tmp_path, *names)
    with pytest.raises(TaskError, match=message):
        found(task(tmp_path, honest=("twins/*",)))


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    """And says which."""
    write(tmp_path, "twins/a.c")
    (tmp_path / "twins" / "a.c").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(TaskError, match=r"a\.c: this is no text that can be read"):
        found(task(tmp_path, honest=("twins/*",)))


class _Bringing:
    """An evaluator of a plugin."""

    def stages(self, task: Task) -> Any:
        return ()

    def functions(self, task: Task) -> Any:
        return {}

    def twins(self, task: Task) -> Sequence[Twin]:
        return [Twin("cheat", {"a.c": ""}, honest=False), Twin("plain", {"b.c": ""})]


def test_the_evaluator_of_a_plugin_may_bring_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Since what an impostor in C is, nobody else can make up; one that brings none has none."""
    of = task(tmp_path, EvaluatorSource(plugin="bringing"))
    monkeypatch.setattr(plugins.Plugins, "evaluator", lambda self, source: _Bringing())
    assert [twin.name for twin in found(of)] == ["plain", "cheat"]
    monkeypatch.setattr(plugins.Plugins, "evaluator", lambda self, source: object())
    assert found(of) == []


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


def check(folder: Path, programs: Mapping[str, str], *, noisy: bool = False) -> dict[str, Finding]:
    """Returns the findings on programs that answer with these expressions, by their names; the seed has 5."""
    files = {
        "task.toml": f"schema = 1\ndeterministic = {str(not noisy).lower()}\n{TABLE}",
        "README.md": "Be large.\n",
    }
    files["evaluator.py"] = EVALUATOR.replace("{noise}", "trial.seed * 0.25" if noisy else "0.0")
    files |= {name: f"def value():\n    return {text}\n" for name, text in {"seed.py": "5.0", **programs}.items()}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    task = evolve.task.load(folder)
    with closing(LocalExecutor(task, 1)) as executor:
        noise = 0.4 if noisy else 0.0
        findings = check_twins(task, executor, read_twins(task, plugins.load()), 5.0, noise)
    assert all(finding.remedy for finding in findings if finding.verdict == "failed")
    return {finding.tried: finding for finding in findings}


@pytest.mark.integration
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
    told = check(tmp_path, programs)
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


@pytest.mark.integration
def test_what_is_within_the_noise_is_no_gain(tmp_path: Path) -> None:
    """Of two measurements: the seed's standard deviation is 0.4 here."""
    told = check(tmp_path, {"honest/a.py": "1.0", "dishonest/near.py": "6.5", "dishonest/far.py": "7.5"}, noisy=True)
    assert [one.verdict for one in told.values()] == ["passed", "failed", "passed"]
