"""Facts about the files of an export and their manifest."""

import os
import stat
import zipfile

import pytest

from evolve.types import ConfigError
from evolve_publish.files import (
    MANIFEST,
    add_manifest,
    check_files,
    check_paths,
    is_plain,
    name_stored_files,
    read,
    write,
)

HOSTILE = [
    "../out",
    "/etc/passwd",
    "a/../../b",
    "a//b",
    "./a",
    ".hidden",
    "task/.git/config",
    "task/__pycache__/evaluator.pyc",
    "C:\\x",
    "a\\b",
    "con",
    "nul.txt",
    "a\nb",
    "a\x00b",
    "a\x1b[2J",
    "name.",
    "name ",
    "",
    "é.py",
    "\u202egpj.py",
    "x" * 101,
    "/".join(["deep"] * 60),
]


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_paths_are_refused(path):
    """Those that lead out, hide, stand for devices, or that some system cannot have."""
    assert not is_plain(path)
    with pytest.raises(ConfigError, match="plain names"):
        check_paths([path])


@pytest.mark.parametrize("path", ["seed.py", "task/a b/x-1.toml", "_x/y+z", "a"])
def test_plain_paths_are_taken(path):
    assert is_plain(path)


@pytest.mark.parametrize("paths", [["A.py", "a.py"], ["X/one", "x/two"], ["a", "a/b"]])
def test_no_path_hides_another(paths):
    """On a disk that does not tell capital letters, and as a file and a folder."""
    with pytest.raises(ConfigError, match=r"one file on disks|both a file and a folder"):
        check_paths(paths)


def test_what_a_program_calls_its_files_decides_nothing_outside():
    """Plain names are kept, others are hashed."""
    assert name_stored_files("program", ["seed.py", "a/b.py"]) == {
        "seed.py": "program/seed.py",
        "a/b.py": "program/a/b.py",
    }
    stored = name_stored_files("program", ["seed.py", "../../out.py"])
    assert list(map(is_plain, stored.values())) == [True, True]
    assert all(path.startswith("program/") and path.count("/") == 1 for path in stored.values())


def test_the_manifest_has_every_file_and_equal_files_have_equal_manifests():
    files = {"b.txt": b"2", "a.txt": b"1"}
    whole = add_manifest(files)
    assert list(whole) == [MANIFEST, "a.txt", "b.txt"]
    assert whole == add_manifest(dict(reversed(files.items())))
    assert check_files(whole) == ()


def test_each_change_is_told_with_its_file():
    """A changed one, a missing one, and one too many."""
    whole = add_manifest({"a.txt": b"1", "b.txt": b"2"})
    found = check_files({MANIFEST: whole[MANIFEST], "a.txt": b"x", "c.txt": b"3"})
    assert [(one.path, one.why.split(":")[0]) for one in found] == [
        ("a.txt", "was changed"),
        ("b.txt", "is missing"),
        ("c.txt", "is not in the manifest"),
    ]


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (None, "this is no export"),
        (b"[1", "is no JSON"),
        (b'{"files": {}, "schema": 99}', "has schema '99'"),
        (b'{"schema": 1}', "lists no files"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"schema": NaN}', "is no number"),
    ],
)
def test_a_manifest_that_is_none_is_an_error(manifest, why):
    contents = {} if manifest is None else {MANIFEST: manifest}
    with pytest.raises(ConfigError, match=why):
        check_files(contents)


def test_an_export_has_a_largest_size():
    with pytest.raises(ConfigError, match="64 MiB"):
        add_manifest({"a.bin": bytes((64 << 20) + 1)})


CONTENTS = add_manifest({"README.md": b"x", "task/a/task.toml": b"schema = 1\n"})


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
    write(add_manifest({"b": b"2"}), target, top="", force=True)
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
