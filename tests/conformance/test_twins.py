"""Facts about the programs that a task brings for its check."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evolve import plugins
from evolve.conformance.twins import program, twins
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
    return twins(of, plugins.load())


def test_a_file_stands_for_the_one_with_its_name_or_of_its_kind(tmp_path: Path) -> None:
    """The others are the seed's. Honest ones come first."""
    write(tmp_path, "twins/b.c", "cheats/one.py")
    honest, other = found(task(tmp_path, honest=("twins/*",), dishonest=("cheats/*.py",)))
    assert (honest, other.honest) == (Twin("twins/b", {"b.c": "// twins/b.c\n"}), False)
    assert other.files == {"main.py": "// cheats/one.py\n"}
    assert program(task(tmp_path), honest).files == {**FILES, "b.c": "// twins/b.c\n"}


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
        ((), "check.honest: nothing matches 'twins/\\*'. Do: write such a program, or correct the pattern"),
        (
            ("twins/other.c",),
            "which file of the program it stands for cannot be told; the program has a.c, b.c, main.py. Do: put it",
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
