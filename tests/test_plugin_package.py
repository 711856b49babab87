"""A third party's package, built and installed by pip, and used from the command line."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

PACKAGE = Path(__file__).parent / "plugin_package"
TASK = {
    "task.toml": """schema = 1
deterministic = true
evaluator = { plugin = "near", target = 7.0 }
""",
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 50\n",
}
PLUGIN = ("--strategy", "climb", "--set", 'operators.names=["count"]')


@dataclass(frozen=True)
class Place:
    """A folder with a task, a workspace, and a site folder for packages that only the commands run here see."""

    folder: Path

    @property
    def site(self) -> Path:
        """Where pip installs."""
        return self.folder / "site"

    @property
    def environment(self) -> dict[str, str]:
        """That of every command."""
        inherited = {key: value for key, value in os.environ.items() if key != "EVOLVE_DEBUG"}
        return {**inherited, "PYTHONPATH": str(self.site), "EVOLVE_HOME": str(self.folder / "home")}

    def evolve(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """The command line on some words."""
        return self._run([sys.executable, "-m", "evolve", *words])

    def install(self, package: Path) -> None:
        """Builds and installs a package without a network."""
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        offline = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(self.site), str(package)]
        done = self._run([*pip, *offline])
        assert done.returncode == 0, done.stderr

    def uninstall(self) -> None:
        """Takes the package away, as `pip uninstall` does."""
        shutil.rmtree(self.site)

    def task(self, settings: str) -> None:
        """Writes the task `near` with these settings of its evaluator."""
        folder = self.folder / "tasks" / "near"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in TASK.items():
            (folder / name).write_text(text.replace("target = 7.0", settings))

    def _run(self, command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """With the package installed, and the task."""
    made = Place(tmp_path_factory.mktemp("plugin"))
    copy = made.folder / "source"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    made.task("target = 7.0")
    made.install(copy)
    return made


def error_of(done: "subprocess.CompletedProcess[str]") -> str:
    """The one message of a command that failed."""
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith("evolve: error: ")
    assert "Try: " in done.stderr
    return done.stderr


def test_it_is_listed(place: Place) -> None:
    """With all that it provides."""
    lines = [json.loads(line) for line in place.evolve("plugin", "list", "--json").stdout.splitlines()]
    (line,) = [line for line in lines if line["name"] == "example"]
    assert not line["bundled"]
    expected = {"evaluators": ["near"], "operators": ["count"], "strategies": ["climb"]}
    assert {kind: line["provides"][kind] for kind in expected} == expected


def test_it_keeps_the_contract(place: Place) -> None:
    """Every check passes."""
    done = place.evolve("plugin", "check", "example", "--json")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, {finding["verdict"] for finding in found}) == (0, {"passed"}), done.stdout


def test_its_commands_are_those_of_the_command_line(place: Place) -> None:
    """One by itself, and one in a group."""
    assert "Greet the user." in place.evolve("--help").stdout
    assert place.evolve("greet").stdout == "hello\n"
    assert "Greet a campaign." in place.evolve("campaign", "--help").stdout
    assert place.evolve("campaign", "greet", "near").stdout == "hello near\n"


def test_it_is_known_to_nobody_else(place: Place) -> None:
    """The environment of the engine is as it was."""
    command = [sys.executable, "-m", "evolve", "plugin", "list"]
    listed = subprocess.run(command, cwd=place.folder, capture_output=True, text=True, timeout=60)
    assert (listed.returncode, "example" in listed.stdout) == (0, False)


def test_its_campaign_improves_and_replays(place: Place) -> None:
    """Its evaluator judges, its operator proposes, its strategy selects."""
    done = place.evolve("run", "near", *PLUGIN, "--budget", "30programs", "--workers", "1", "--json")
    assert done.returncode == 0, done.stderr
    *records, end = map(json.loads, done.stdout.splitlines())
    assert (records[0]["fitness"], end["programs"], end["reason"]) == (-43.0, 30, "budget")
    assert end["best"]["fitness"] > -43.0
    assert {record["operator"] for record in records[1:]} == {"count"}
    assert place.evolve("campaign", "replay", "near").returncode == 0


@pytest.mark.slow
def test_equal_seeds_are_equal_campaigns(place: Place) -> None:
    """With --deterministic, for its operator and strategy keep the contract."""
    digests = set()
    for name in ("one", "two"):
        words = ("--deterministic", "--seed", "3", "--budget", "10programs", "--name", name)
        assert place.evolve("run", "near", *PLUGIN, *words).returncode == 0
        digests.add(json.loads(place.evolve("campaign", "replay", name, "--json").stdout)["digest"])
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('target = "seven"', "the settings of 'near' are not usable: target: "),
        ('function = "value"', "the settings of 'near' are not usable: target: Field required"),
        ("target = 7.0, tagret = 8.0", "'near' has no setting 'tagret'. Did you mean 'target'?"),
    ],
)
def test_wrong_settings_are_one_message(place: Place, settings: str, message: str) -> None:
    """That names the key; no campaign is made."""
    place.task(settings)
    try:
        done = place.evolve("run", "near", *PLUGIN, "--budget", "3programs", "--workers", "1", "--name", "wrong")
    finally:
        place.task("target = 7.0")
    assert message in error_of(done)
    assert not (place.folder / "home" / "archive" / "campaigns" / "wrong.db").exists()


@pytest.mark.parametrize("setting", ["operators.settings.count.step=3", "strategy.settings.step=3"])
def test_settings_for_what_has_none_are_one_message(place: Place, setting: str) -> None:
    """Neither its operator nor its strategy has any."""
    done = place.evolve("run", "near", *PLUGIN, "--set", setting, "--budget", "3programs")
    assert "has no settings, got step" in error_of(done)


@pytest.mark.slow
def test_without_it_its_campaigns_say_what_is_missing(place: Place) -> None:
    """And go on as soon as it is there again, from where they were; a newer version is noted."""
    done = place.evolve("run", "near", *PLUGIN, "--budget", "5programs", "--workers", "1", "--name", "waits")
    assert done.returncode == 0, done.stderr
    place.uninstall()
    try:
        message = error_of(place.evolve("run", "--continue", "waits", "--budget", "9programs"))
        assert "is called 'climb'" in message
        assert "a package that is not installed" in message
        plain = place.evolve("run", "near", "--budget", "3programs", "--name", "plain")
        assert "no evaluator is called 'near'" in error_of(plain)
    finally:
        project = place.folder / "source" / "pyproject.toml"
        project.write_text(re.sub(r"(?m)^version = .*$", 'version = "9.1"', project.read_text()))
        place.install(place.folder / "source")
    more = place.evolve("run", "--continue", "waits", "--budget", "9programs", "--workers", "1", "--json")
    assert json.loads(more.stdout.splitlines()[-1])["programs"] == 9
    assert re.search(
        r"note: versions have changed since campaign waits began: evolve-example \S+ -> 9\.1; ", more.stderr
    )
    decided = place.evolve("campaign", "replay", "waits", "--decisions")
    assert (decided.returncode, " compared, all equal\n" in decided.stdout) == (0, True), decided.stdout
