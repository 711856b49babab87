"""Facts about programs that come to other islands."""

import pytest
from archive_makers import Story


def test_an_island_sends_its_best_to_the_next_by_counts() -> None:
    story = Story(islands=3, migrate_every=2, migrants=1)
    story.propose("a", 1.0, island=2)
    story.propose("b", 2.0, at=(1, 0), island=1)
    assert story.names(0) == []
    story.propose("c", None, island=2)
    assert [story.names(island) for island in range(3)] == [["a"], ["b"], ["a"]]


def test_a_copy_is_the_same_record_in_another_role() -> None:
    story = Story(islands=2, migrate_every=1)
    story.propose("a", 1.0)
    assert [(elite.record, elite.island) for elite in story.archive.elites()] == [(1, 0), (1, 1)]


def test_migrants_claim_places_like_anybody_else() -> None:
    story = Story(islands=2, migrate_every=2, migrants=2)
    story.propose("strong", 5.0, island=1)
    story.propose("weak", 1.0)
    story.propose("other", 0.5, at=(1, 0))
    assert story.names(1) == ["strong", "other"]


def test_a_single_island_keeps_its_own() -> None:
    story = Story(islands=1, migrate_every=1)
    story.propose("a", 1.0)
    assert story.names() == ["a"]


def test_the_worse_half_starts_anew_from_the_best_of_the_others() -> None:
    story = Story(islands=4, reset_every=2)
    for island, fitness in enumerate((1.0, 4.0, 3.0, 2.0)):
        story.propose(f"elite{island}", fitness, island=island)
        if island < 3:
            story.propose(f"other{island}", 0.5, at=(1, 0), island=island)
    assert story.names(0) == ["elite0", "other0"]
    story.propose("last", None)
    assert [story.names(island) for island in range(4)] == [
        ["elite2"],
        ["elite1", "other1"],
        ["elite2", "other2"],
        ["elite1"],
    ]


def test_an_empty_archive_resets_to_nothing() -> None:
    story = Story(islands=2, reset_every=1)
    for _ in range(4):
        story.propose("x", None)
    assert story.archive.elites() == []


def test_an_arranged_island_holds_these_programs_and_no_others() -> None:
    story = Story()
    for name, fitness, place in (("a", 1.0, 0), ("b", 2.0, 1), ("c", 3.0, 2)):
        story.propose(name, fitness, at=(place, 0))
    story.archive.rearrange(0, (1, 2, 1))
    assert story.names() == ["b", "a"]
    assert story.best == "c"


def test_a_late_measurement_brings_nobody_back_to_an_arranged_island() -> None:
    story = Story("certifies")
    story.propose("a", 1.0)
    story.propose("b", 2.0, at=(1, 0))
    story.archive.rearrange(0, (1,))
    story.certify("b", 2.0)
    assert (story.names(), story.best) == (["a"], "b")


@pytest.mark.parametrize("record", [0, 2, 99])
def test_a_record_without_a_program_cannot_be_arranged(record: int) -> None:
    story = Story()
    story.propose("a", 1.0)
    story.propose("failed", None)
    with pytest.raises(ValueError, match=f"record {record} has no accepted program"):
        story.archive.rearrange(0, (1, record))
    assert story.names() == ["a"]
