"""What is refused of a command before a candidate's process is asked."""

import sys
from pathlib import Path
from typing import Any

import pytest

from evolve.sandbox.session import check_command, check_names
from evolve.types import SandboxError


@pytest.mark.parametrize("argv", [["sh", "-c", "true"], ("sh",), ["./built"], ["build/program", ""], [sys.executable]])
def test_what_can_be_run_passes(argv: Any) -> None:
    """By name, by its place in the program's folder, or by an absolute path."""
    assert check_command(argv, "input", 5) == list(argv)


@pytest.mark.parametrize(
    ("argv", "text", "message"),
    [
        ("cc -O2", "", r"a command is a list of texts, the first its name, got 'cc -O2'. Do: write \["),
        ([], "", "a command is a list of texts"),
        ([""], "", "a command is a list of texts"),
        (["sh", Path("x")], "", "a command is a list of texts"),
        (["sh", "a\0b"], "", "an argument of 'sh' holds a zero character. Do: "),
        (["sh", "a" * 100_000], "", "more than 100000 bytes. Do: give long data as `input`"),
        (["sh"], "größe", "the input of 'sh' has more than 6 bytes. Do: give less"),
    ],
)
def test_a_command_that_is_none_is_the_evaluators_mistake(argv: Any, text: str, message: str) -> None:
    """What, got, do this."""
    with pytest.raises(SandboxError, match=message):
        check_command(argv, text, 6)


@pytest.mark.parametrize("command", ["no-such-compiler-anywhere", "/no/such/compiler", "/"])
def test_a_command_that_the_machine_lacks_is_told_with_its_remedy(command: str) -> None:
    """It is no failure of the program."""
    with pytest.raises(SandboxError, match=f"no command '{command}', which the task's evaluator runs. Do: install it"):
        check_command([command], "", 0)


def test_a_command_is_looked_for_where_candidates_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the judge's PATH; without one, in the usual places."""
    monkeypatch.delenv("PATH")
    assert check_command(["sh"], "", 0) == ["sh"]
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxError, match="no command 'sh'"):
        check_command(["sh"], "", 0)


def test_names_of_files_in_the_candidates_folder_pass() -> None:
    """Of any kind of sequence, and none at all."""
    assert check_names(("kernel.so", "out/x.bin", "./a", "a b\n")) == ["kernel.so", "out/x.bin", "./a", "a b\n"]
    assert check_names([]) == []


@pytest.mark.parametrize("names", ["kernel.so", [b"kernel.so"], ["a", "a"]])
def test_names_that_are_no_list_of_texts_are_the_evaluators_mistake(names: Any) -> None:
    """With an example of one."""
    with pytest.raises(SandboxError, match=r"named by a list of texts, each once, got .* Do: write \["):
        check_names(names)


@pytest.mark.parametrize("name", ["", ".", "/etc/passwd", "../x", "a/../../x", "a\0b"])
def test_a_name_that_leads_out_of_the_folder_is_the_evaluators_mistake(name: str) -> None:
    """And one that names nothing."""
    with pytest.raises(SandboxError, match=r"names no file in the candidate's folder\. Do: "):
        check_names(["fine", name])
