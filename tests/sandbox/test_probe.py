"""The best means that hold."""

import contextlib
import os
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.machine import attempts
from evolve.sandbox.machine import probe as module
from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.identity import can_choose
from evolve.sandbox.machine.offer import offer
from evolve.sandbox.machine.probe import attempts_at, find_best, find_failure, probe, weaken
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Level, SandboxError

pytestmark = pytest.mark.integration

BEST = Means(namespaces=True, landlock=7, seccomp=True, cgroup="v1")
OFFERED = offer(Host("linux", "x86_64", landlock=7, seccomp=True, cgroup="v1"))


def missing(found: module.ProbeResult) -> dict[str, str]:
    return {finding.mean: finding.cause for finding in found.findings if not finding.had}


def test_the_parts_of_the_best_means_begin_with_the_best_and_end_with_the_plain_ones() -> None:
    """The level never rises on the way, and no part that comes to a level is left out."""
    parts = list(weaken(BEST))
    assert (parts[0], parts[1:4], parts[-1]) == (
        BEST,
        [
            Means(namespaces=True, landlock=7, seccomp=True),
            Means(namespaces=True, seccomp=True, cgroup="v1"),
            Means(namespaces=True, seccomp=True),
        ],
        PLAIN,
    )
    assert [means.level for means in parts] == [Level.STRICT] * 4 + [Level.STANDARD] * 2 + [Level.REDUCED]


def test_what_holds_at_once_is_tried_once() -> None:
    """Nothing is missing."""
    asked: list[Means] = []
    found = find_best("python", OFFERED, lambda means: asked.append(means) or "")  # type: ignore[func-returns-value]
    assert (found.means, found.missing, asked) == (BEST, (), [BEST])


@pytest.mark.parametrize(
    ("bad", "left"),
    [
        ("namespaces", Means(landlock=7, seccomp=True, cgroup="v1")),
        ("landlock", Means(namespaces=True, seccomp=True, cgroup="v1")),
        ("cgroup", Means(namespaces=True, landlock=7, seccomp=True)),
        ("seccomp", PLAIN),
    ],
)
def test_a_mean_that_fails_is_left_out_with_the_reason(bad: str, left: Means) -> None:
    """And no other mean is."""
    found = find_best("python", OFFERED, lambda means: "the box does not start" if vars_of(means)[bad] else "")
    assert found.means == left
    assert missing(found)[bad] == "with it, the box does not start"
    assert found.level is left.level


def vars_of(means: Means) -> dict[str, object]:
    return {name: getattr(means, name) for name in ("namespaces", "landlock", "seccomp", "cgroup")}


def test_what_was_not_tried_for_want_of_another_is_still_had() -> None:
    """Landlock alone promises nothing, and that is not its fault."""
    offered = offer(Host("linux", "aarch64", landlock=7))
    found = find_best("python", offered, lambda means: "")
    assert (found.means, set(missing(found))) == (PLAIN, {"seccomp", "cgroup"})
    assert [finding.mean for finding in found.missing] == ["seccomp"]


def test_an_interpreter_in_which_nothing_runs_is_an_error() -> None:
    """With its name and the reason."""
    with pytest.raises(SandboxError, match=r"no candidate runs in python, not even a harmless one: it broke\. Try: "):
        find_best("python", OFFERED, lambda means: "it broke")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], list[Means]]:
    """Has a machine of these facts, and tells which means were tried by candidates that end like this."""

    def count(ending: str) -> list[Means]:
        asked: list[Means] = []
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setattr(module, "offer", lambda facts, python: OFFERED)
        failing = lambda means, python: asked.append(means) or (ending if means.namespaces else "")  # noqa: E731
        monkeypatch.setattr(module, "find_failure", failing)
        return asked

    return count


def test_what_held_is_not_tried_again(counted: Callable[[str], list[Means]]) -> None:
    """Unless that is asked for, or it is another interpreter."""
    asked = counted("")
    assert [probe().means, probe().means] == [BEST, BEST]
    assert len(asked) == 1
    probe(fresh=True)
    probe("/usr/bin/python3")
    assert len(asked) == 3


def test_a_key_is_known_once_it_is_kept(tmp_path: Path) -> None:
    """The file is this user's alone, and holds the latest."""
    file = module.memo_file("python", {"XDG_CACHE_HOME": str(tmp_path)})
    before = module.read_memo(file)
    for key in ("a", "b"):
        module.write_memo(file, key)
    assert (before, module.read_memo(file), file.stat().st_mode & 0o777) == ("", "b", 0o600)


@pytest.mark.parametrize("mode", [0o660, 0o606])
def test_a_file_that_others_may_write_counts_for_nothing(tmp_path: Path, mode: int) -> None:
    module.write_memo(tmp_path / "memo", "a")
    (tmp_path / "memo").chmod(mode)
    assert module.read_memo(tmp_path / "memo") == ""


def test_a_file_of_another_user_and_a_link_count_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module.write_memo(tmp_path / "memo", "a")
    (tmp_path / "link").symlink_to(tmp_path / "memo")
    assert module.read_memo(tmp_path / "link") == ""
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "memo").stat().st_uid + 1)
    assert module.read_memo(tmp_path / "memo") == ""


def test_where_nothing_can_be_kept_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    module.write_memo(tmp_path / "file" / "memo", "a")
    assert module.read_memo(tmp_path / "file" / "memo") == ""


def test_the_key_is_another_for_whatever_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreter, facts, means and kernel; but not the name of a control group that could not be made."""
    host, key = Host("linux", "x86_64"), module.memo_key
    keys = {
        key("python", host, PLAIN),
        key("python", replace(host, cgroup_error="no evolve-1-1"), PLAIN),
        key("other", host, PLAIN),
        key("python", replace(host, chooses_user=True), PLAIN),
        key("python", host, Means(seccomp=True)),
    }
    monkeypatch.setattr(module.platform, "release", lambda: "another")
    keys.add(key("python", host, PLAIN))
    assert len(keys) == 5


def test_what_failed_is_tried_again(counted: Callable[[str], list[Means]]) -> None:
    """Somebody may have mended the machine."""
    asked = counted("it broke")
    assert probe().level is Level.STANDARD
    before = len(asked)
    probe()
    assert len(asked) == 2 * before


def test_this_machine_is_probed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is found holds in this interpreter, and the level is that of the means."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = probe()
    assert (found.python, found.level) == (sys.executable, found.means.level)
    assert find_failure(found.means) == ""
    assert (found.missing == ()) == (found.level is Level.STRICT)


@pytest.mark.skipif(not can_choose(), reason="candidates are who the engine is")
def test_an_interpreter_that_others_may_not_read_is_told(tmp_path: Path) -> None:
    """No means hold with it, so that nobody takes its closed files for a fault of programs."""
    venv.create(tmp_path / "env", symlinks=True, with_pip=False)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (site / "installed").mkdir(mode=0o700)
    found = probe(str(tmp_path / "env" / "bin" / "python"), fresh=True)
    causes = [finding.cause for finding in found.findings if not finding.had]
    assert found.level is Level.REDUCED
    assert causes
    assert all(f"may not read {site}/installed" in cause for cause in causes)
    assert probe(str(tmp_path / "env" / "bin" / "python")) == found  # and nothing was kept that says otherwise


def test_the_plain_box_answers_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Below `standard` an end in time is all that is promised."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert find_failure(PLAIN) == ""
    assert list(tmp_path.iterdir()) == []
    assert attempts_at(Level.REDUCED) == attempts.AT_EVERY_LEVEL


def test_an_interpreter_that_there_is_not_is_a_failure() -> None:
    """With the box's own words, but for its remedy."""
    failed = find_failure(PLAIN, "/nowhere/python")
    assert failed.startswith("the box does not start: no candidate process")
    assert "Try:" not in failed


def test_a_plain_box_that_claims_to_be_strict_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim does not count."""
    monkeypatch.setattr(module, "Box", lambda limits, python, means: Box(limits, python))
    assert find_failure(BEST) == "a program could read a file of the host"


@pytest.mark.parametrize(
    "attempt",
    [
        attempts.read_file,
        attempts.write_file,
        attempts.change_mode,
        attempts.signal_process,
        attempts.connect,
        attempts.shed_filter,
    ],
)
def test_an_attempt_succeeds_where_nothing_holds_it(attempt: attempts.Attempt) -> None:
    """What is held in a box is therefore held by the box."""
    with module._target() as target, contextlib.closing(Box(module._LIMITS)) as box:
        assert module._attempt(box, attempt, target) == f"a program could {attempt.__doc__}"


def test_a_program_that_ends_otherwise_could_not_try() -> None:
    """A refusal is an answer, a signal or want of memory."""
    with contextlib.closing(Box(module._LIMITS)) as box:
        failed = module._attempt(box, attempts.read_file, {})
    assert failed.startswith("a program could not try to read a file of the host: error: ")
