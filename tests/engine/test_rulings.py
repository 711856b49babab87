"""A person's rulings: which programs, and what they change."""

import pytest

from evolve.campaign.inbox import Ruling
from evolve.engine.steering import rule
from evolve.types import ConfigError, Ruled
from tests.written import Written, short_campaign


@pytest.fixture
def campaign(tmp_path):
    """Records: 1 the seed 5, 2 a better 6, 3 a worse 4, 4 a crash, 5 screened, 6 a child of 2 and the best, 6.5."""
    with short_campaign(tmp_path) as campaign:
        yield campaign


def ruled(campaign, wish, request="00000001"):
    """The answer to a wish, durable."""
    with campaign.log.transaction():
        return rule(campaign, wish, request)


def test_a_quarantined_program_is_the_best_no_more(campaign):
    """The answer says who was and who is; a release brings it back."""
    answer = ruled(campaign, Ruling("quarantine", 6, why="a cheat"))
    assert (answer.accepted, answer.told) == (True, "quarantined: number/6")
    assert (answer.former, answer.best, answer.fitness) == (6, 2, 6.0)
    assert campaign.state.archive.best.record == 2
    answer = ruled(campaign, Ruling("release", 6), "00000002")
    assert (answer.told, answer.former, answer.best) == ("released: number/6", 2, 6)
    assert {"00000001", "00000002"} <= campaign.state.requests.keys()


def test_the_log_says_who_ruled_and_why(campaign):
    """And for which request."""
    ruled(campaign, Ruling("quarantine", 6, why="a cheat"))
    (ruling,) = [stamped.event for stamped in campaign.log.events(only=Ruled)]
    program = campaign.state.columns.programs[5]
    assert ruling == Ruled("quarantine", program, "person", "a cheat", "00000001")


def test_descendants_are_all_that_came_of_a_program(campaign):
    """Over any number of generations, failures too; what was screened has no program."""
    assert ruled(campaign, Ruling("quarantine", 2, descendants=True)).records == (2, 6)
    assert ruled(campaign, Ruling("release", 2, descendants=True), "00000002").records == (2, 6)


def test_a_ruling_that_changes_nothing_is_not_written(campaign):
    """It says so."""
    ruled(campaign, Ruling("quarantine", 6))
    again = ruled(campaign, Ruling("quarantine", 6), "00000002")
    assert (again.accepted, again.told, again.records) == (True, "number/6 is quarantined already", ())
    assert ruled(campaign, Ruling("release", 2), "00000003").told == "number/2 is not quarantined"
    assert len(list(campaign.log.events(only=Ruled))) == 1


def test_the_last_program_that_could_be_a_parent_stays(campaign):
    """Else the campaign could not go on."""
    with pytest.raises(ConfigError, match=r"nothing would be left .* Try: add another program first"):
        ruled(campaign, Ruling("quarantine", 1, descendants=True))
    assert campaign.state.quarantined == {}


@pytest.mark.parametrize(("record", "message"), [(0, "has no record 0"), (7, "has no record 7"), (5, "was screened")])
def test_a_record_without_a_program_cannot_be_ruled_about(campaign, record, message):
    """What, got, do this."""
    with pytest.raises(ConfigError, match=rf"{message}.* Try: "):
        ruled(campaign, Ruling("quarantine", record))


def test_many_rulings_are_told_in_short(tmp_path):
    """The first ten, and how many more."""
    written = Written(tmp_path)
    written.seed(5.0)
    for number in range(15):
        written.proposal(6.0 + number / 100, parents=(1,) if number == 0 else (number + 1,))
    with written.campaign as campaign:
        answer = ruled(campaign, Ruling("quarantine", 2, descendants=True))
        assert len(answer.records) == 15
        assert answer.told.endswith("number/11 and 5 more")


def test_a_program_is_named_by_its_first_record(campaign):
    """A measurement of it is a later one."""
    programs = campaign.state.columns.programs
    assert list(campaign.state.columns.first_records().values()) == [1, 2, 3, 4, 6]
    assert campaign.state.columns.first_records()[programs[5]] == 6
