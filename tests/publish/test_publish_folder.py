"""Facts about exports as folders and as zip files."""

import os
import stat
import zipfile

import pytest

from evolve.publish.contents import with_manifest
from evolve.publish.folder import read, write
from evolve.types import ConfigError

CONTENTS = with_manifest({"README.md": b"x", "task/a/task.toml": b"schema = 1\n"})


@pytest.mark.parametrize("name", ["found", "found.zip"])
def test_what_is_written_is_read_again(tmp_path, name):
    write(CONTENTS, tmp_path / "below" / name, top="top")
    assert read(tmp_path / "below" / name) == CONTENTS
    assert [path.name for path in (tmp_path / "below").iterdir()] == [name]


def test_two_zip_files_of_one_export_are_equal(tmp_path):
    """Entries lie in one folder, have one time, and one mode."""
    write(CONTENTS, tmp_path / "a.zip", top="top")
    write(dict(reversed(CONTENTS.items())), tmp_path / "b.zip", top="top")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        found = [(entry.filename, entry.date_time, entry.external_attr >> 16) for entry in archive.infolist()]
    assert found[0] == ("top/MANIFEST.json", (1980, 1, 1, 0, 0, 0), stat.S_IFREG | 0o644)


def test_nothing_is_replaced_but_an_export_and_that_when_asked(tmp_path):
    target = tmp_path / "found"
    write(CONTENTS, target, top="")
    with pytest.raises(ConfigError, match="is there already"):
        write(CONTENTS, target, top="")
    write(with_manifest({"b": b"2"}), target, top="", force=True)
    assert sorted(read(target)) == ["MANIFEST.json", "b"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "work.txt").write_text("kept")
    with pytest.raises(ConfigError, match="is no export"):
        write(CONTENTS, mine, top="", force=True)
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(ConfigError, match="is no export"):
        write(CONTENTS, tmp_path / "link", top="", force=True)


def test_a_zip_file_that_is_no_export_is_never_replaced(tmp_path):
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("photo", b"kept")
    with pytest.raises(ConfigError, match="is no export"):
        write(CONTENTS, tmp_path / "photos.zip", top="top", force=True)


def test_folders_within_folders_without_end_are_one_line(tmp_path):
    write(CONTENTS, tmp_path / "found", top="")
    (tmp_path / "found" / "/".join("a" * 120)).mkdir(parents=True)
    with pytest.raises(ConfigError, match="100 deep"):
        read(tmp_path / "found")


@pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_file_that_is_broken_anywhere_is_one_line_or_what_it_was(tmp_path, way):
    """Each byte in turn is another one."""
    target = tmp_path / "found.zip"
    with zipfile.ZipFile(target, "w", way) as archive:
        for path, data in CONTENTS.items():
            archive.writestr(zipfile.ZipInfo(f"top/{path}"), data, way)
    whole = target.read_bytes()
    for place in range(0, len(whole), 3):
        target.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            found = read(target)
        except ConfigError:
            continue
        assert set(found.values()) <= set(CONTENTS.values())


def test_no_link_is_followed(tmp_path):
    """Neither one to a file nor one to a folder."""
    (tmp_path / "secret").write_text("mine")
    for number, aim in enumerate(["secret", "."]):
        folder = tmp_path / f"found{number}"
        write(CONTENTS, folder, top="")
        (folder / "linked").symlink_to(tmp_path / aim)
        with pytest.raises(ConfigError, match="'linked' is no plain file"):
            read(folder)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    write(CONTENTS, tmp_path / "found", top="")
    os.mkfifo(tmp_path / "found" / "pipe")
    with pytest.raises(ConfigError, match="is no plain file"):
        read(tmp_path / "found")


@pytest.mark.parametrize("name", ["../out", "/out", "top/../../out", "top/.hidden", "a\\..\\out"])
def test_an_entry_that_leads_out_is_refused(tmp_path, name):
    """And nothing is ever unpacked."""
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("top/MANIFEST.json", CONTENTS["MANIFEST.json"])
        archive.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(ConfigError, match="plain names"):
        read(tmp_path / "evil.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["evil.zip"]


def test_a_link_in_a_zip_file_is_refused(tmp_path):
    entry = zipfile.ZipInfo("top/link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(ConfigError, match="is no plain file"):
        read(tmp_path / "evil.zip")


def test_two_entries_of_one_name_are_refused(tmp_path):
    """Which of them counts would be another one for the next who reads it."""
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("top/a", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("top/a", b"2")
    with pytest.raises(ConfigError, match="twice"):
        read(tmp_path / "evil.zip")


def test_a_bomb_is_refused_by_what_it_says_and_by_what_it_is(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("top/a", bytes((64 << 20) + 1))
    assert (tmp_path / "bomb.zip").stat().st_size < 1 << 20
    with pytest.raises(ConfigError, match="at most 2,000 files and 64 MiB"):
        read(tmp_path / "bomb.zip")


def test_what_is_no_export_is_an_error(tmp_path):
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(ConfigError, match="is no zip file"):
        read(tmp_path / "text.zip")
    with pytest.raises(ConfigError, match="there is no export"):
        read(tmp_path / "nothing")
