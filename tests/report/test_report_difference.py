"""What one program has that another has not."""

from pathlib import Path

import pytest

from evolve import report
from evolve.types import ConfigError, Program
from tests.written import short_campaign

OLD = Program({"a.py": "one\ntwo\n", "b.py": "same\n", "gone.py": "x\n"})
NEW = Program({"a.py": "one\n2\n", "b.py": "same\n", "new.py": ""})


def test_files_that_differ_are_told_one_by_one() -> None:
    """Those that are gone, and empty ones that came, too."""
    found = report.differences(OLD, NEW, ("n/1", "n/2"))
    assert [(one.path, one.before, one.after) for one in found] == [
        ("a.py", "one\ntwo\n", "one\n2\n"),
        ("gone.py", "x\n", ""),
        ("new.py", "", ""),
    ]
    assert found[0].text == "--- n/1/a.py\n+++ n/2/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert report.differences(OLD, OLD, ("n/1", "n/1")) == ()


def test_a_path_writes_no_line_of_the_heading() -> None:
    """Whatever a program calls its files."""
    (found,) = report.differences(Program({}), Program({"a\n+++ n/2/b\x1b[31m.py": "x\n"}), ("n/1", "n/2"))
    assert found.text == "--- n/1/a +++ n/2/b.py\n+++ n/2/a +++ n/2/b.py\n@@ -0,0 +1 @@\n+x\n"


def test_two_records_are_compared_by_their_programs(tmp_path: Path) -> None:
    """A screened one has none."""
    with short_campaign(tmp_path) as campaign:
        (found,) = report.difference(campaign, 1, 6)
        assert (found.path, "-    return 5" in found.text, "+    return 6.5" in found.text) == ("seed.py", True, True)
        with pytest.raises(ConfigError, match="number/5 has no program: its proposal was screened"):
            report.difference(campaign, 1, 5)
