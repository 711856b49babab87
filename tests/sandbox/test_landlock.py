"""A process holds itself to rules in a fork, tries what they deny, and the host looks at what came of it."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evolve.sandbox import kernel
from evolve.sandbox.walls import landlock
from evolve.sandbox.walls.confinement import drop_capabilities
from evolve.sandbox.walls.landlock import CHANGE, LOOK, NODE, READ, WRITE, PathRule, Right
from tests.confined import child, outcome

pytestmark = pytest.mark.integration

HERE = landlock.version()
NEEDED = pytest.mark.skipif(HERE == 0, reason="this kernel has no Landlock")
SYSTEM = [PathRule(path, READ, needed=False) for path in ("/usr", "/lib", "/lib64", "/bin")]


def needs(abi: int) -> pytest.MarkDecorator:
    """Skips where the kernel's interface is older."""
    return pytest.mark.skipif(abi > HERE, reason=f"this kernel has Landlock {HERE}, not {abi}")


ABIS = [pytest.param(abi, marks=needs(abi)) for abi in range(1, landlock.NEWEST + 1)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder `work`, and beside it a file and a folder that no rule names."""
    (tmp_path / "work" / "inner").mkdir(parents=True)
    (tmp_path / "work" / "file").write_text("mine")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)  # nothing but Landlock is in the way
    return tmp_path


def confined(rules: list[PathRule], act: Callable[[], Any], abi: int = HERE, **more: bool) -> Any:
    """What `act` returns under these rules and the system's."""
    ruleset = landlock.prepare([*SYSTEM, *rules], abi, **more)

    def inside() -> Any:
        landlock.enter(ruleset, abi)
        return act()

    try:
        return child(inside)
    finally:
        os.close(ruleset)


def test_the_version_is_one_that_is_known() -> None:
    assert 0 <= HERE <= landlock.NEWEST


def test_elsewhere_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "LINUX", False)
    assert landlock.version() == 0


def test_an_interface_knows_all_rights_of_the_ones_before() -> None:
    new = [landlock.rights_of(abi) & ~landlock.rights_of(abi - 1) for abi in range(2, 8)]
    assert new == [Right.REFER, Right.TRUNCATE, Right(0), Right.IOCTL_DEV, Right(0), Right(0)]


def test_a_working_folder_has_all_rights_but_device_files() -> None:
    devices = Right.MAKE_CHAR | Right.MAKE_BLOCK | Right.IOCTL_DEV
    assert landlock.rights_of(7) & ~devices == WRITE


@NEEDED
@pytest.mark.parametrize("abi", [0, 8])
def test_an_unknown_interface_is_an_error(abi: int) -> None:
    with pytest.raises(ValueError, match="1 to 7"):
        landlock.prepare([], abi)


@NEEDED
def test_a_needed_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    before = os.dup(0)
    os.close(before)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        landlock.prepare([PathRule(str(tmp_path / "nowhere"), READ)], HERE)
    after = os.dup(0)
    os.close(after)
    assert before == after


@NEEDED
def test_a_path_that_is_not_needed_is_left_out(tmp_path: Path) -> None:
    rules = [PathRule(str(tmp_path / "nowhere"), READ, needed=False), PathRule("/dev/null/below", READ, needed=False)]
    assert confined(rules, lambda: outcome(os.listdir, "/usr")) == "done"


@pytest.mark.parametrize("abi", ABIS)
def test_what_no_rule_names_is_closed(abi: int, place: Path) -> None:
    work, secret, outside = place / "work", place / "outside" / "secret", place / "outside"

    def act() -> object:
        return {
            "read": outcome(secret.read_text),
            "write": outcome(secret.open, "r+"),
            "append": outcome(secret.open, "a"),
            "list": outcome(os.listdir, outside),
            "make": outcome((outside / "new").mkdir),
            "remove": outcome(secret.unlink),
            "link": outcome(os.symlink, "x", outside / "link"),
            "move in": outcome(os.rename, secret, work / "stolen"),
            "move out": outcome(os.rename, work / "file", outside / "planted"),
            "hard link": outcome(os.link, secret, work / "hard"),
            "over": outcome(lambda: (work / ".." / "outside" / "secret").read_text()),
        }

    found = confined([PathRule(str(work), WRITE)], act, abi)
    assert {"EACCES", "EXDEV"} >= set(found.values())
    assert [path.read_text() for path in outside.iterdir()] == ["secret"]


@pytest.mark.parametrize("abi", ABIS)
def test_a_working_folder_is_whole(abi: int, place: Path) -> None:
    work = place / "work"

    def act() -> object:
        (work / "new").write_text("new")
        (work / "new").write_text("again")
        (work / "new").rename(work / "renamed")
        (work / "file").unlink()
        (work / "inner").rmdir()
        os.mkfifo(work / "pipe")
        (work / "link").symlink_to("renamed")
        (work / "program").write_text("#!/bin/sh\nexit 7\n")
        (work / "program").chmod(0o755)
        return [
            sorted(path.name for path in work.iterdir()),
            os.waitstatus_to_exitcode(os.system(str(work / "program"))),
        ]

    assert confined([PathRule(str(work), WRITE)], act, abi) == [["link", "pipe", "program", "renamed"], 7]
    assert (work / "renamed").read_text() == "again"


@pytest.mark.parametrize(
    ("abi", "result"), [pytest.param(1, "EXDEV", marks=needs(1)), pytest.param(2, "done", marks=needs(2))]
)
def test_moving_between_folders_came_with_interface_2(abi: int, result: str, place: Path) -> None:
    work = place / "work"
    act = lambda: outcome(os.rename, work / "file", work / "inner" / "file")  # noqa: E731
    assert confined([PathRule(str(work), WRITE)], act, abi) == result


@pytest.mark.parametrize(
    ("abi", "result", "left"),
    [pytest.param(2, "done", "", marks=needs(2)), pytest.param(3, "EACCES", "secret", marks=needs(3))],
)
def test_truncating_came_with_interface_3(abi: int, result: str, left: str, place: Path) -> None:
    """Below it the filter of system calls has to close this: a breach that is known and simulated."""
    secret = place / "outside" / "secret"
    assert confined([], lambda: outcome(os.truncate, secret, 0), abi) == result
    assert secret.read_text() == left


@needs(3)
def test_reading_does_not_truncate(place: Path) -> None:
    secret = place / "outside" / "secret"
    rules = [PathRule(str(place / "outside"), READ)]
    assert confined(rules, lambda: outcome(os.open, secret, os.O_RDONLY | os.O_TRUNC)) == "EACCES"
    assert secret.read_text() == "secret"


@NEEDED
def test_looking_is_not_executing(place: Path) -> None:
    program = place / "work" / "program"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    act = lambda: [outcome(program.read_text), outcome(os.execv, program, ["program"])]  # noqa: E731
    assert confined([PathRule(str(place / "work"), LOOK)], act) == ["done", "EACCES"]


@NEEDED
def test_changing_is_not_making(place: Path) -> None:
    work = place / "work"

    def act() -> object:
        return [
            outcome((work / "file").write_text, "x"),
            outcome((work / "new").open, "w"),
            outcome((work / "file").unlink),
        ]

    assert confined([PathRule(str(work), CHANGE)], act) == ["done", "EACCES", "EACCES"]


@NEEDED
def test_a_rule_on_a_file_grants_no_more_than_the_file(place: Path) -> None:
    work = place / "work"
    act = lambda: [outcome((work / "file").open, "r+"), outcome(os.listdir, work)]  # noqa: E731
    assert confined([PathRule(str(work / "file"), WRITE)], act) == ["done", "EACCES"]


@NEEDED
def test_a_device_is_used_where_it_is_granted() -> None:
    def act() -> object:
        return [outcome(open, "/dev/null", "r+b", 0), outcome(open, "/dev/zero", "r+b", 0)]

    assert confined([PathRule("/dev/null", NODE)], act) == ["done", "EACCES"]


@NEEDED
def test_every_child_of_one_ruleset_is_alike(place: Path) -> None:
    ruleset = landlock.prepare([*SYSTEM, PathRule(str(place / "work"), WRITE)], HERE)

    def inside() -> object:
        landlock.enter(ruleset, HERE)
        return [outcome((place / "work" / "file").read_text), outcome((place / "outside" / "secret").read_text)]

    assert [child(inside) for _ in range(3)] == [["done", "EACCES"]] * 3
    os.close(ruleset)


@NEEDED
def test_the_rules_of_those_who_come_later_are_out_of_reach(place: Path) -> None:
    ruleset = landlock.prepare(SYSTEM, HERE)

    def inside() -> object:
        landlock.enter(ruleset, HERE)
        return outcome(os.fstat, ruleset)

    assert child(inside) == "EBADF"
    os.close(ruleset)


@NEEDED
def test_privileges_cannot_be_gained_any_more() -> None:
    get_no_new_privileges = 39
    assert confined([], lambda: kernel.prctl(get_no_new_privileges)) == 1


@needs(4)
@pytest.mark.parametrize(("loopback", "results"), [(False, ["EACCES", "EACCES"]), (True, ["done", "done"])])
def test_tcp_is_closed_from_interface_4_on(loopback: bool, results: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def act() -> object:
            with socket.socket() as ours, socket.socket() as another:
                return [outcome(ours.connect, address), outcome(another.bind, ("127.0.0.1", 0))]

        assert confined([], act, loopback=loopback) == results


@pytest.mark.parametrize(
    ("abi", "results"),
    [pytest.param(5, ["done", "done"], marks=needs(5)), pytest.param(6, ["EPERM", "EPERM"], marks=needs(6))],
)
def test_others_are_out_of_reach_from_interface_6_on(abi: int, results: list[str]) -> None:
    """Signal 0 only asks whether one could be sent."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(b"\0evolve-test-" + os.urandom(8).hex().encode())
        server.listen(1)
        parent = os.getpid()

        def act() -> object:
            with socket.socket(socket.AF_UNIX) as ours:
                return [outcome(ours.connect, server.getsockname()), outcome(os.kill, parent, 0)]

        assert confined([], act, abi) == results


@needs(6)
def test_own_children_can_be_ended() -> None:
    def act() -> object:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert confined([], act) == -signal.SIGKILL


@NEEDED
def test_the_parent_cannot_be_looked_into() -> None:
    """Without capabilities: with CAP_PERFMON, Linux 6.18 lets its environment be read in spite of Landlock."""
    environment = f"/proc/{os.getpid()}/environ"

    def act() -> object:
        drop_capabilities()
        return outcome(open, environment, "rb")

    assert confined([PathRule("/proc", READ)], act) == "EACCES"
