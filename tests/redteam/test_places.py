"""The whole corpus, and a campaign, in every place in which evolve promises something: as root, as another user, in a container, with an old kernel.

Each runs the installed command, as a user would. What a place cannot give here is skipped, with the cause; under `EVOLVE_SANDBOX=strict`
it is a failure that a level is not reached."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from evolve.engine.isolation import VARIABLE
from evolve.sandbox.corpus.all import CASES
from evolve.types import Level
from tests.promised import not_here

pytestmark = pytest.mark.slow

PLACES = Path(__file__).with_name("places.py")
REPOSITORY = PLACES.parents[2]
UNABLE = 77
"""What `places.py` says where it cannot make a place."""
USER = ("--user", "61234")
SECONDS = 400
NOT_TRIED = "it is not boxed, so it was not tried"


@dataclass(frozen=True)
class Found:
    """What `evolve sandbox redteam --json` said, and its exit code."""

    code: int
    level: Level
    isolation: str
    breaches: Mapping[str, str]
    skipped: Mapping[str, str]
    exempt: frozenset[str]

    def reaching(self, wanted: Level) -> "Found":
        """Itself; skips the test where the level was not reached, or fails it where that was promised."""
        if not self.level.reaches(wanted):
            not_here(f"the box reaches no more here than {self.isolation!r}")
        return self


def evolve(place: Sequence[str], *arguments: str, home: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs the installed command in a place, with the workspace `home`; skips the test where the place cannot be made."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    done = subprocess.run(
        [sys.executable, PLACES, *place, "--", sys.executable, "-m", "evolve", *arguments],
        cwd=REPOSITORY,
        env={**environment, "EVOLVE_HOME": home},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode == UNABLE:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return done


def redteam(*place: str, options: tuple[str, ...] = ()) -> Found:
    """Runs the corpus in a place."""
    done = evolve(place, "sandbox", "redteam", "--json", *options)
    assert (done.returncode in (0, 1), done.stdout != "") == (True, True), done.stderr
    told = json.loads(done.stdout)
    assert told["cases"] == len(CASES)
    return Found(
        done.returncode,
        Level(told["level"]),
        told["isolation"],
        {one["name"]: one["why"] for one in told["breaches"]},
        {one["name"]: one["why"] for one in told["skipped"]},
        frozenset(one["name"] for one in told["breaches"] if one["exempt"]),
    )


@pytest.mark.parametrize(
    "place",
    [(), USER, ("--no-landlock",), ("--no-landlock", *USER)],
    ids=["root", "a user", "root without Landlock", "a user without Landlock"],
)
def test_strict_holds_every_program(place: tuple[str, ...]) -> None:
    """With or without Landlock, which is the second wall there; and nothing is left out."""
    found = redteam(*place).reaching(Level.STRICT)
    assert (dict(found.breaches), dict(found.skipped), found.code) == ({}, {}, 0)


@pytest.mark.parametrize("user", [(), USER], ids=["root", "a user"])
@pytest.mark.parametrize("landlock", ["", "4", "2", "1"])
def test_in_a_container_all_is_held_but_what_is_documented(user: tuple[str, ...], landlock: str) -> None:
    """Docker's default limits leave Landlock and the filter of system calls, and an older Landlock is enough."""
    options = ("--pretend", f"landlock={landlock}") if landlock else ()
    found = redteam("--docker", *user, options=options).reaching(Level.STANDARD)
    assert found.level is Level.STANDARD
    assert ({name: why for name, why in found.breaches.items() if name not in found.exempt}, found.code) == ({}, 0)
    assert dict(found.skipped) == {}


@pytest.mark.parametrize("user", [(), USER], ids=["root", "a user"])
def test_without_namespaces_and_landlock_it_is_no_sandbox_and_says_so(user: tuple[str, ...]) -> None:
    """The level is `reduced`, the breaches are named, and what could hurt a machine is not done."""
    found = redteam("--docker", "--no-landlock", *user)
    assert (found.level, found.code) == (Level.REDUCED, 1)
    assert {"fs.write_grader", "leak.listing", "net.tcp"} <= found.breaches.keys()
    dangerous = {case.name for case in CASES if case.dangerous} - found.skipped.keys()
    assert {name for name, why in found.breaches.items() if why == NOT_TRIED} == dangerous


@pytest.fixture
def workspace() -> Iterator[str]:
    """A folder that every user may write."""
    with tempfile.TemporaryDirectory(prefix="evolve-test-") as folder:
        Path(folder).chmod(0o777)
        yield folder


@pytest.mark.parametrize(
    ("place", "level"),
    [
        ((), Level.STRICT),
        (USER, Level.STRICT),
        (("--docker",), Level.STANDARD),
        (("--docker", *USER), Level.STANDARD),
        (("--docker", "--no-landlock"), Level.REDUCED),
        (("--docker", "--no-landlock", *USER), Level.REDUCED),
    ],
    ids=["root", "a user", "root in a container", "a user in a container", "root with nothing", "a user with nothing"],
)
def test_a_campaign_runs_at_the_level_that_is_reached(place: tuple[str, ...], level: Level, workspace: str) -> None:
    """Its judges make their boxes where the engine put them, which a command that makes one box does not try."""
    done = evolve(place, "run", "circle_packing", "--budget", "20programs", "--json", home=workspace)
    assert done.returncode == 0, done.stderr
    *records, told = map(json.loads, done.stdout.splitlines())
    reached = Level(told["isolation"].partition(":")[0])
    if not reached.reaches(level):
        not_here(f"the box reaches no more here than {told['isolation']!r}")
    assert (reached, told["programs"], {record["outcome"] for record in records}) == (level, 20, {"ok"})
