"""Commands, run here as they are in a candidate's process."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from evolve.sandbox.inner.candidate import run_command
from evolve.sandbox.inner.folder import Missing


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(line: str, text: str = "", most: int = 100, log: int = 100) -> list[Any]:
    """What a line of shell gives, without its processor time."""
    return run_command(["sh", "-c", line], text, most, log)[:4]


def test_a_command_gets_its_input_and_gives_what_it_prints(here: Path) -> None:
    """In the folder where it stands, and no file is left there."""
    assert shell("cat; pwd; echo größe >&2; exit 3", "in\n") == [3, f"in\n{here}\n", "größe\n", len(f"in\n{here}\n")]
    assert list(here.iterdir()) == []


def test_input_that_nobody_reads_holds_nothing_up() -> None:
    """However much it is."""
    assert shell("exit 0", "x" * 5_000_000) == [0, "", "", 0]


def test_of_a_flood_the_beginning_and_the_size_are_known_and_of_errors_the_end() -> None:
    """What was held is bounded."""
    code, output, errors, size = shell("seq 1 100000; seq 1 100000 >&2", most=4, log=7)
    assert (code, output, errors, size) == (0, "1\n2\n", "100000\n", 588895)


def test_the_signal_that_ended_it_is_a_negative_code() -> None:
    """Those that Python ignores end it, too."""
    assert [shell(f"kill -{signal} $$")[0] for signal in ("SEGV", "PIPE", "XFSZ")] == [-11, -13, -25]


def test_processor_time_is_counted() -> None:
    """That of the command alone."""
    busy = "import time\nwhile time.process_time() < 0.1: pass"
    assert 0.1 <= run_command([sys.executable, "-c", busy], "", 1, 1)[4] < 5


def test_a_process_that_is_left_behind_does_not_hold_up_the_end() -> None:
    """It has the command's output open; the session ends it."""
    code, output, _, _ = shell("sleep 60 & echo $!")
    os.kill(int(output), 9)
    assert code == 0


def test_bytes_that_are_no_text_are_replaced() -> None:
    """A command's output is text."""
    assert shell(r"printf 'a\377b'")[1] == "a\N{REPLACEMENT CHARACTER}b"


def test_no_descriptor_is_left_open_here_or_there() -> None:
    """The candidate's pipes are not the command's."""
    number = os.open("/dev/null", os.O_RDONLY)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    listed = shell(f"test -e /proc/$$/fd/{number} && echo open")[1]
    with pytest.raises(Missing):
        run_command(["./none"], "", 1, 1)
    assert (listed, os.listdir("/proc/self/fd")) == ("", before)  # noqa: PTH208
    os.close(number)


@pytest.mark.parametrize(
    ("mode", "text", "message"),
    [
        (0o644, "no program", "the command './program' cannot be started: Exec format error"),
        (0o755, "no program", "the command './program' cannot be started: Exec format error"),
        (None, "", "the command './program' cannot be started: No such file or directory"),
    ],
)
def test_a_command_that_cannot_be_started_is_told_so(here: Path, mode: int | None, text: str, message: str) -> None:
    """It is one that should lie in the program's folder."""
    if mode is not None:
        (here / "program").write_text(text)
        (here / "program").chmod(mode)
    with pytest.raises(Missing, match=message):
        run_command(["./program"], "", 1, 1)


def test_a_program_that_nobody_marked_as_executable_is_run(here: Path) -> None:
    """As a linker leaves it in a box where modes are not changed."""
    (here / "program").write_text("#!/bin/sh\necho 42\n")
    (here / "program").chmod(0o644)
    assert [run_command(["./program"], "", 10, 10)[1] for _ in range(2)] == ["42\n", "42\n"]
    assert [path.name for path in here.iterdir()] == ["program"]


def test_a_folder_is_no_command(here: Path) -> None:
    """Nothing is made of it."""
    (here / "program").mkdir()
    with pytest.raises(Missing, match="Permission denied"):
        run_command(["./program"], "", 1, 1)
