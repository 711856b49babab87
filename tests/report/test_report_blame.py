"""Differences of programs, and who wrote each line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from evolve import report
from evolve.campaign import Campaign
from evolve.report.blame import BlameLine
from evolve.types import ConfigError, Evaluation, Origin, Outcome, Program, Record
from tests.written import Written, number_task, short_campaign

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
        (found,) = report.differences(report.program_of(campaign, 1), report.program_of(campaign, 6), "ab")
        assert (found.path, "-    return 5" in found.text, "+    return 6.5" in found.text) == ("seed.py", True, True)
        with pytest.raises(ConfigError, match="number/5 has no program: its proposal was screened"):
            report.program_of(campaign, 5)


def campaign_of(home: Path, *versions: Mapping[str, str]) -> Campaign:
    """Each program is the child of the one before, by `diff` of `alpha`; fitness grows by 1."""
    task = number_task(seed=Program(dict(versions[0])))
    written = Written(home, task)
    for number, files in enumerate(versions, 1):
        program = Program(dict(files))
        parents = (number - 1,) if number > 1 else ()
        origin = (
            Origin("proposal", number, operator="diff", model="alpha", parents=parents)
            if parents
            else Origin("seed", 0)
        )
        evaluation = Evaluation(Outcome.OK, fitness=float(number), descriptors={"size": 1.0}, isolation="reduced")
        with written.campaign.log.transaction():
            written.campaign.log.put_program(program, program.id)
            written.campaign.append(written.campaign.state.settle(Record(number, origin, program.id, evaluation)))
    return written.campaign


def told(campaign: Campaign, record: int) -> list[tuple[str, int, str, int]]:
    """What matters of each line."""
    return [(line.path, line.number, line.text, line.record) for line in report.blame(campaign, record)]


def test_each_line_is_the_step_s_that_brought_it(tmp_path: Path) -> None:
    """With what that step gained; the seed's lines have gained nothing."""
    versions = [
        {"s.py": "first\nsecond\nthird\n"},
        {"s.py": "first\n2\nthird\n"},
        {"s.py": "new\nfirst\n2\nthird\nlast"},
    ]
    with campaign_of(tmp_path, *versions) as campaign:
        lines = report.blame(campaign, 3)
        assert [(line.number, line.text, line.record) for line in lines] == [
            (1, "new", 3),
            (2, "first", 1),
            (3, "2", 2),
            (4, "third", 1),
            (5, "last", 3),
        ]
        assert lines[0] == BlameLine("s.py", 1, "new", 3, "diff", "alpha", 1.0, "proposal")
        assert lines[1] == BlameLine("s.py", 2, "first", 1, "", "", None, "seed")
        assert [record for *_, record in told(campaign, 2)] == [1, 2, 1]


def test_a_line_that_is_copied_is_the_copys(tmp_path: Path) -> None:
    """For the one that it was copied from is still there."""
    with campaign_of(tmp_path, {"a.py": "a line\n"}, {"a.py": "a line\na line\n"}) as campaign:
        assert sorted(record for *_, record in told(campaign, 2)) == [1, 2]


def test_a_measurement_is_blamed_as_what_it_measures_and_a_screened_one_not_at_all(tmp_path: Path) -> None:
    """It has no program."""
    with short_campaign(tmp_path) as campaign:
        assert [line.record for line in report.blame(campaign, 6)] == [1, 6]
        with pytest.raises(ConfigError, match="number/5 has no program"):
            report.blame(campaign, 5)
    written = Written(tmp_path, name="again")
    written.seed(5.0)
    written.proposal(6.0)
    written.again(2, 6.0)
    with written.campaign as campaign:
        assert [line.record for line in report.blame(campaign, 3)] == [1, 2]
