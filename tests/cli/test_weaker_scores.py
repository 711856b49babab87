"""A score of a weaker isolation level is marked wherever it is shown."""

import json

import pytest

from tests.written import Written


def records(result) -> list[dict]:
    """What stdout holds, which is JSON alone."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def mixed(home):
    """The campaign `number` with a run at `reduced`, whose program is the best, and a later one at `strict`."""
    written = Written(home)
    written.seed(5.0)
    written.proposal(6.5)
    written.run_at("strict: namespaces, seccomp")
    written.proposal(6.0, isolation="strict: namespaces, seccomp")
    written.campaign.close()


@pytest.mark.parametrize("words", [("list",), ("list", "--all"), ("lineage", "2")])
def test_a_score_of_a_weaker_level_is_marked_in_every_table(call, mixed, words):
    """Beside its level."""
    lines = call("program", *words).stdout.splitlines()[1:]
    assert [("reduced (weaker)" in line) != ("strict" in line) for line in lines] == [True] * len(lines)
    assert any("reduced (weaker)" in line for line in lines)


def test_a_score_of_a_weaker_level_is_marked_where_one_program_is_shown(call, mixed):
    """In words, and in JSON."""
    assert "[witnessed, isolation reduced (weaker)]" in call("program", "show", "2").stdout
    assert "[witnessed, isolation strict]" in call("program", "show", "3").stdout
    assert "6.5 (+1.5 to the seed) [judged at reduced (weaker)]" in call("campaign", "show").stdout
    found = {line["id"]: line["weaker"] for line in records(call("program", "list", "--all", "--json"))}
    assert found == {1: True, 2: True, 3: False}
