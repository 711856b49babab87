"""What `[sandbox]` may say, and how it is told."""

from pathlib import Path

import pytest

from evolve.task import load
from evolve.task.grants import format_grants, list_grants, make_limits
from evolve.task.schema import format_size, parse
from evolve.types import Grants, Limits

WIDE = """
[sandbox]
gpu = 1
memfd = true
exec = false
shm = "1GiB"
read = ["data", "/srv/sets", "../other", "$EVOLVE_TEST_DATA/big"]
threads = 4
network = "loopback"
scratch = "128MiB"
file_size = "512KiB"
tasks = 64
"""
ONE_FILE = '''"""Find the number."""
# /// evolve
# schema = 1
{settings}# ///
from evolve import Candidate, Evaluation, Trial, evaluator


# EVOLVE-BLOCK-START
def value():
    return 5.0
# EVOLVE-BLOCK-END


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(0.0)
'''


def written(folder: Path, sandbox: str = "") -> Path:
    """The smallest task, with this table."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"task.toml": f"schema = 1\n{sandbox}", "README.md": "Do it.", "seed.py": "", "evaluator.py": ""}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_every_grant_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are absolute, from the task's own; variables are replaced."""
    monkeypatch.setenv("EVOLVE_TEST_DATA", "/var/lib/data")
    found = load(written(tmp_path / "wide", WIDE)).limits
    assert found == Limits(
        scratch=128 << 20,
        file_size=512 << 10,
        tasks=64,
        grants=Grants(
            gpu=1,
            execute=False,
            memfd=True,
            shm=1 << 30,
            read=(str(tmp_path / "wide" / "data"), "/srv/sets", str(tmp_path / "other"), "/var/lib/data/big"),
            threads=4,
            network="loopback",
        ),
    )


def test_a_task_that_says_nothing_grants_nothing(tmp_path: Path) -> None:
    """The table's defaults are those of the sandbox."""
    found = load(written(tmp_path / "small")).limits
    assert found == Limits()
    assert (list_grants(found), format_grants(found)) == ({}, "nothing beyond the usual")
    assert make_limits(parse({"schema": 1}).sandbox, tmp_path) == Limits()


def test_what_is_granted_is_told_in_the_words_of_the_file(tmp_path: Path) -> None:
    """And as values, by the same keys; memory and what is preloaded have their own columns."""
    table = '[sandbox]\nmemory = "1GiB"\nread = ["data"]\nshm = "256MiB"\ntemplate = false\nthreads = 2\n'
    found = load(written(tmp_path / "some", table)).limits
    data = str(tmp_path / "some" / "data")
    assert list_grants(found) == {"shm": 256 << 20, "read": (data,), "threads": 2, "template": False}
    assert format_grants(found) == f"shm = 256MiB, read = {data}, threads = 2, template = false"


@pytest.mark.parametrize(("size", "text"), [(1 << 30, "1GiB"), (1536 << 20, "1536MiB"), (512, "0.5KiB"), (0, "0KiB")])
def test_sizes_are_written_with_the_largest_unit_that_fits(size: int, text: str) -> None:
    """As the file has them."""
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"network": "on"}, "sandbox.network: Input should be 'off' or 'loopback', got 'on'"),
        ({"threads": 32}, "sandbox: threads = 32 needs more than tasks = 32, which counts processes and threads"),
        ({"memory": "1MiB", "scratch": "2MiB"}, "sandbox: scratch counts as memory, and is more than memory = 1MiB"),
        ({"memory": "1MiB", "shm": "2MiB"}, "sandbox: shm counts as memory, and is more than memory = 1MiB"),
        ({"gpu": 65}, "sandbox.gpu: Input should be less than or equal to 64, got 65"),
        ({"gpu": True}, "sandbox.gpu: Input should be a valid integer, got True"),
        (
            {"private": True, "gpu": 1},
            "sandbox: private hides what programs leave in the machine's memory, and a GPU's",
        ),
        ({"read": [""]}, "sandbox.read[0]: a folder is named by its path"),
        ({"read": ["a\x1b[2J"]}, "sandbox.read[0]: a folder is named by its path, which has no control character"),
        ({"read": "data"}, "sandbox.read: Input should be a valid list"),
        ({"memfds": True}, "unknown key 'sandbox.memfds'. Did you mean 'memfd'?"),
        ({"shm": 5}, "sandbox.shm: a size is written with its unit"),
        ({"tasks": 1}, "sandbox.tasks: Input should be greater than or equal to 2"),
    ],
)
def test_what_cannot_be_granted_is_refused(table: dict[str, object], reason: str) -> None:
    """With the key, what was got and the remedy."""
    with pytest.raises(ValueError) as caught:
        parse({"schema": 1, "sandbox": table})
    assert reason in str(caught.value)


def test_a_small_memory_alone_is_no_contradiction() -> None:
    """The usual sizes of folders are more than some tasks' memory, and bound nothing there."""
    assert parse({"schema": 1, "sandbox": {"memory": "32MiB"}}).sandbox.memory == 32 << 20


@pytest.mark.parametrize(
    "line",
    [
        "memfd = true",
        'read = ["data"]',
        "exec = false",
        'scratch = "1MiB"',
        "template = false",
        "threads = 2",
        "private = true",
    ],
)
def test_a_grant_is_part_of_the_tasks_version(line: str, tmp_path: Path) -> None:
    """In a folder and in one file: a score under other rules is another score."""
    versions = {load(written(tmp_path / "folder", table)).version for table in ("", f"[sandbox]\n{line}\n")}
    assert len(versions) == 2
    one = tmp_path / "problem.py"
    versions = set()
    for settings in ("", f"# [sandbox]\n# {line}\n"):
        one.write_text(ONE_FILE.replace("{settings}", settings))
        versions.add(load(one).version)
    assert len(versions) == 2


def test_a_task_in_one_file_grants_alike(tmp_path: Path) -> None:
    """By the same table in its comment block."""
    one = tmp_path / "problem.py"
    one.write_text(ONE_FILE.replace("{settings}", '# [sandbox]\n# read = ["data"]\n# memfd = true\n'))
    assert load(one).limits.grants == Grants(memfd=True, read=(str(tmp_path / "data"),))
