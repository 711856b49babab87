"""What hostile programs find beside their own file does what they rely on."""

import errno
import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.redteam import places, raw
from tests.redteam.corpus import CASES
from tests.redteam.runner import program

pytestmark = pytest.mark.integration

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has these calls")


@linux
def test_a_call_gives_what_the_kernel_says() -> None:
    """Its result, or an error with the name of the call."""
    os.close(raw.call("pidfd_open", os.getpid(), 0))
    with pytest.raises(OSError, match="pidfd_open") as caught:
        raw.call("pidfd_open", -1, 0)
    assert caught.value.errno == errno.EINVAL


def test_a_call_of_an_unknown_machine_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """By another machine's numbers it would be another call."""
    monkeypatch.setattr(raw, "_COLUMN", None)
    with pytest.raises(OSError, match="reboot") as caught:
        raw.call("reboot", 0, 0, 0, 0)
    assert caught.value.errno == errno.ENOSYS


def refused() -> None:
    raise PermissionError


def test_an_attempt_counts_where_it_gives_something() -> None:
    """A refusal and a no are the same: nothing was achieved."""
    assert raw.attempt("done", lambda: b"data") == ["done"]
    assert raw.attempt("done", lambda: b"") == []
    assert raw.attempt("done", refused) == []


def test_a_child_tells_what_it_achieved_and_what_went_wrong() -> None:
    """One that is killed achieved nothing; one that fails by itself is an error of the case."""
    assert raw.in_child(lambda: ["one", "two"]) == ["one", "two"]
    assert raw.in_child(list) == []
    assert raw.in_child(lambda: [str(os.kill(os.getpid(), 9))]) == []


def test_a_child_that_fails_by_itself_is_no_attack_that_was_held() -> None:
    """Else a case with an error in it would pass for ever."""
    source = "import sys\nsys.path.insert(0, sys.argv[1])\nimport raw\nraw.in_child(lambda: 1 / 0)"
    folder = str(Path(raw.__file__).parent)
    done = subprocess.run([sys.executable, "-I", "-c", source, folder], capture_output=True, text=True)
    assert "RuntimeError: what was to be tried in a child could not be tried" in done.stderr


@linux
def test_the_heap_is_searched(tmp_path: Path) -> None:
    """In no box is the key in the memory that a candidate inherits; that it would be found is shown here."""
    (case,) = [case for case in CASES if case.name == "leak.heap"]
    for name, text in program(case).files.items():
        (tmp_path / name).write_text(text)
    main = "import sys\nsys.path.insert(0, sys.argv[1])\nimport attack, hashlib, json\nheld = bytes.fromhex(sys.argv[2])\nprint(json.dumps(attack.attack({'word': sys.argv[3]})))"
    word = b"evolve-canary-" + b"0123456789abcdef" * 2
    for held in (word, word[:-1]):
        arguments = [str(tmp_path), held.hex(), hashlib.sha256(word).hexdigest()]
        done = subprocess.run(
            [sys.executable, "-I", "-c", main, *arguments], capture_output=True, text=True, check=True
        )
        wanted = ["finds the key in the memory that it inherited"] if held == word else []
        assert wanted == json.loads(done.stdout)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of Docker's calls are known for x86_64 alone")
def test_both_lists_of_numbers_agree() -> None:
    """A call has one number, whoever writes it down."""
    common = raw.NUMBERS.keys() & places.DOCKER_DENIED.keys()
    assert {name: raw.NUMBERS[name][0] for name in common} == {name: places.DOCKER_DENIED[name] for name in common}
    assert len(common) > 20


def test_the_way_to_a_folder_is_closed_where_only_its_owner_may_pass(tmp_path: Path) -> None:
    """The first such folder is the one to open."""
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    door = places.closed(inner)
    assert door is not None
    assert door in inner.parents
    assert [bool(way.stat().st_mode & 1) for way in (door, *door.parents)] == [False, *[True] * len(door.parents)]
    assert places.closed(Path("/")) is None
