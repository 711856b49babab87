"""Facts about what may be published, and about the index."""

import pytest
from exported_here import Found

from evolve.types import ConfigError, Ruled
from evolve_publish.archive import check_index, find_published, format_index, publish, renew_pages, write_index
from evolve_publish.files import MANIFEST, add_manifest, check_files, read, write


@pytest.fixture
def found(tmp_path):
    return Found(tmp_path)


def refused(found, record=2):
    with pytest.raises(ConfigError) as error:
        publish(found.export(record), found.task, found.campaign.log.path.parent)
    return str(error.value)


def test_a_promoted_program_is_published_once(found, tmp_path):
    made = found.promoted().export()
    folder, new = publish(made, found.task, tmp_path / "archive")
    assert (new, publish(made, found.task, tmp_path / "archive")) == (True, (folder, False))
    assert folder.name == made.claims.program[:12]
    assert find_published(tmp_path / "archive") == (folder,)
    assert check_files(read(folder)) == {}


def test_a_later_export_of_it_replaces_the_first_when_asked(found, tmp_path):
    publish(found.promoted().export(), found.task, tmp_path)
    found.again(2, 6.5)
    with pytest.raises(ConfigError, match="--force"):
        publish(found.export(), found.task, tmp_path)
    assert publish(found.export(), found.task, tmp_path, force=True)[1]


def test_what_is_not_promoted_is_refused_with_what_brings_it(found):
    assert "is not promoted: only the best program is" in refused(found)
    assert "Try: evolve run --continue number --budget 10m, and publish number/best" in refused(found)


def test_a_task_that_certifies_wants_a_certificate(tmp_path):
    found = Found(tmp_path, promotion="certificate")
    assert "the task has not certified it" in refused(found)
    assert publish(found.certified().export(), found.task, tmp_path / "archive")[1]


def test_what_is_claimed_is_never_published(found):
    found.proposal(7.0, trust="claimed", isolation="strict")
    assert "has a score that its own script claims" in refused(found, 3)


def test_what_is_quarantined_is_never_published(found):
    found.promoted()
    found.ruled(Ruled("quarantine", found.campaign.log.settled(2).record.program, "integrity", "late write"))
    assert "number/2 is quarantined (integrity: late write)" in refused(found)


def test_the_seed_and_what_ran_without_isolation_are_not_published(found):
    assert "is the task's seed" in refused(found, 1)
    found.proposal(7.0, isolation="none: nothing")
    assert "evaluated without isolation" in refused(found, 3)


def test_a_noisy_program_is_confirmed_first(tmp_path):
    found = Found(tmp_path, deterministic=False).promoted()
    assert "number/2 is not confirmed" in refused(found)


def test_the_index_is_rebuilt_to_the_same_bytes(found, tmp_path):
    """The words of a task end no cell, no tag and no code."""
    publish(found.promoted().export(), found.task, tmp_path)
    target = write_index(tmp_path)
    assert target.read_text() == format_index(tmp_path)
    row = target.read_text().splitlines()[-1]
    assert row.startswith("| `number` | [`")
    assert "-1.5 to Later \\| \\`x\\` &lt;b&gt; 2025" in row
    assert row.count(" | ") == 7


def test_an_index_of_nothing_says_so(tmp_path):
    assert "Nothing is published yet." in format_index(tmp_path)


def test_a_folder_that_was_changed_is_no_line_of_the_index(found, tmp_path):
    folder, _ = publish(found.promoted().export(), found.task, tmp_path)
    (folder / "README.md").write_text("better")
    with pytest.raises(ConfigError, match=r"README.md was changed"):
        format_index(tmp_path)


def test_the_index_takes_nothing_that_may_not_be_published(found, tmp_path):
    """Nor what lies in another program's folder."""
    made = found.export()
    place = tmp_path / "published" / "number" / made.claims.program[:12]
    write(made.contents, place)
    with pytest.raises(ConfigError, match="is not promoted"):
        format_index(tmp_path)
    place.rename(place.with_name("0123456789ab"))
    with pytest.raises(ConfigError, match="which belongs elsewhere"):
        format_index(tmp_path)


def test_what_is_no_export_does_not_go_unseen(found, tmp_path):
    """A published folder without its manifest is no longer what was published."""
    folder, _ = publish(found.promoted().export(), found.task, tmp_path)
    (folder / "MANIFEST.json").unlink()
    with pytest.raises(ConfigError, match="there is no MANIFEST"):
        format_index(tmp_path)


def test_an_index_that_was_edited_is_told(found, tmp_path):
    publish(found.promoted().export(), found.task, tmp_path)
    target = write_index(tmp_path)
    check_index(tmp_path)
    target.write_text(target.read_text().replace("6.5", "9.5"))
    with pytest.raises(ConfigError, match="is not what the folders say"):
        check_index(tmp_path)


def test_pages_that_another_version_has_made_are_made_anew(found, tmp_path):
    """And are then what an export of today has, to the byte."""
    made = found.promoted().export()
    older = {path: data for path, data in made.contents.items() if path != MANIFEST} | {"README.md": b"older"}
    place = tmp_path / "published" / "number" / made.claims.program[:12]
    write(add_manifest(older), place)
    renew_pages(tmp_path)
    assert read(place) == dict(made.contents)
