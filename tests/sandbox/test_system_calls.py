"""The numbers are the machine's own, where its headers tell them."""

import re
from pathlib import Path

import pytest

from evolve.sandbox.walls.seccomp import NUMBERS

_HEADERS = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")]


def test_the_numbers_are_those_of_the_headers() -> None:
    header = next((path for path in _HEADERS if path.exists()), None)
    if header is None:
        pytest.skip("no headers of x86_64 on this machine")
    told = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read_text()))
    assert {name: int(number) for name, number in told.items() if name in NUMBERS} == {
        name: number for name, number in NUMBERS.items() if name in told
    }
    assert {name for name in told if name not in NUMBERS and int(told[name]) <= 471} <= {"uretprobe", "uprobe"}


@pytest.mark.parametrize(
    ("name", "number"),
    [("read", 0), ("rseq", 334), ("pidfd_send_signal", 424), ("futex_waitv", 449), ("mseal", 462), ("listns", 470)],
)
def test_both_runs_begin_and_end_where_they_should(name: str, number: int) -> None:
    assert NUMBERS[name] == number
