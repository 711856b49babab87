"""Facts about the files of an export and their manifest."""

import os
from pathlib import Path

import pytest
from exported_here import Found, task_at

import evolve.task
from evolve.types import ConfigError
from evolve_publish.files import (
    MANIFEST,
    add_manifest,
    check_files,
    check_paths,
    folder_name,
    is_plain,
    load_exported_task,
    name_stored_files,
    place_of_task,
    read,
    task_files,
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
    assert check_files(whole) == {}


def test_each_change_is_told_with_its_file():
    """A changed one, a missing one, and one too many."""
    whole = add_manifest({"a.txt": b"1", "b.txt": b"2"})
    found = check_files({MANIFEST: whole[MANIFEST], "a.txt": b"x", "c.txt": b"3"})
    assert [(path, why.split(":")[0]) for path, why in found.items()] == [
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


def test_what_is_written_is_read_again(tmp_path):
    write(CONTENTS, tmp_path / "below" / "found")
    assert read(tmp_path / "below" / "found") == CONTENTS
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["found"]


def test_nothing_is_replaced_but_an_export_and_that_when_asked(tmp_path):
    target = tmp_path / "found"
    write(CONTENTS, target)
    with pytest.raises(ConfigError, match="is there already"):
        write(CONTENTS, target)
    write(add_manifest({"b": b"2"}), target, force=True)
    assert sorted(read(target)) == ["MANIFEST.json", "b"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "work.txt").write_text("kept")
    with pytest.raises(ConfigError, match="is no export"):
        write(CONTENTS, mine, force=True)
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(ConfigError, match="is no export"):
        write(CONTENTS, tmp_path / "link", force=True)


def test_folders_within_folders_without_end_are_one_line(tmp_path):
    write(CONTENTS, tmp_path / "found")
    (tmp_path / "found" / "/".join("a" * 200)).mkdir(parents=True)
    with pytest.raises(ConfigError, match="plain names"):
        read(tmp_path / "found")


def test_no_link_is_followed(tmp_path):
    """Neither one to a file nor one to a folder."""
    (tmp_path / "secret").write_text("mine")
    for number, aim in enumerate(["secret", "."]):
        folder = tmp_path / f"found{number}"
        write(CONTENTS, folder)
        (folder / "linked").symlink_to(tmp_path / aim)
        with pytest.raises(ConfigError, match="'linked' is no plain file"):
            read(folder)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    write(CONTENTS, tmp_path / "found")
    os.mkfifo(tmp_path / "found" / "pipe")
    with pytest.raises(ConfigError, match="is no plain file"):
        read(tmp_path / "found")


def test_what_is_no_export_is_an_error(tmp_path):
    (tmp_path / "found.zip").write_text("no folder")
    for name in ("found.zip", "nothing"):
        with pytest.raises(ConfigError, match="there is no export"):
            read(tmp_path / name)


def test_hidden_and_compiled_files_stay_behind(tmp_path):
    task = task_at(tmp_path)
    for name in (".env", "__pycache__/evaluator.cpython-311.pyc", "archive/campaigns/x.db"):
        (tmp_path / "number" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "number" / name).write_text("mine")
    assert sorted(path.rpartition("/")[2] for path in task_files(task)) == [
        "README.md",
        "brief.md",
        "evaluator.py",
        "seed.py",
        "table.bin",
        "task.toml",
    ]


def test_a_task_that_is_one_file_is_that_file(tmp_path):
    file = tmp_path / "wave.py"
    (tmp_path / "other.txt").write_text("mine")
    file.write_text(ONE_FILE)
    task = evolve.task.load(file)
    assert place_of_task(task)[1].endswith("/wave.py")
    assert list(task_files(task)) == [place_of_task(task)[1]]


ONE_FILE = '''"""Find a number."""

# /// evolve
# schema = 1
# deterministic = true
# ///

from evolve import Candidate, Evaluation, Trial, evaluator

# EVOLVE-BLOCK-START
def value():
    return 5.0
# EVOLVE-BLOCK-END


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("value"))
'''


def test_what_is_laid_down_is_the_same_version_and_gone_afterwards(tmp_path):
    made = Found(tmp_path).export()
    with load_exported_task(made.contents, made.claims.task.path, made.claims.task.parameters) as task:
        assert task.version == made.claims.task.version
        folder = task.folder
        assert str(tmp_path) not in folder
    with pytest.raises(ConfigError, match="the export has no task"), load_exported_task({}, made.claims.task.path, {}):
        pass
    assert not Path(folder).exists()


@pytest.mark.parametrize(("name", "folder"), [("softmax", "softmax"), ("softmax/triton", "softmax.triton")])
def test_programs_of_a_task_have_one_folder(name, folder):
    assert folder_name(name) == folder
    assert folder_name("../x").startswith("task-")
