"""Facts about the files of an export and their manifest."""

import pytest

from evolve.publish.contents import MANIFEST, check_files, check_paths, is_plain, stored_names, with_manifest
from evolve.types import ConfigError

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
    assert stored_names("program", ["seed.py", "a/b.py"]) == {"seed.py": "program/seed.py", "a/b.py": "program/a/b.py"}
    stored = stored_names("program", ["seed.py", "../../out.py"])
    assert list(map(is_plain, stored.values())) == [True, True]
    assert all(path.startswith("program/") and path.count("/") == 1 for path in stored.values())


def test_the_manifest_has_every_file_and_equal_files_have_equal_manifests():
    files = {"b.txt": b"2", "a.txt": b"1"}
    whole = with_manifest(files)
    assert list(whole) == [MANIFEST, "a.txt", "b.txt"]
    assert whole == with_manifest(dict(reversed(files.items())))
    assert check_files(whole) == ()


def test_each_change_is_told_with_its_file():
    """A changed one, a missing one, and one too many."""
    whole = with_manifest({"a.txt": b"1", "b.txt": b"2"})
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
        with_manifest({"a.bin": bytes((64 << 20) + 1)})
