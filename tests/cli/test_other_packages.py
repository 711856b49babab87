"""A campaign whose strategy and operator come from another package: its version is in the log, and reading needs no package."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from evolve.campaign import Campaign, first_event
from evolve.campaign.fork import fork, settings_of_fork
from evolve.cli.run import print_changed_versions
from evolve.plugins import load
from evolve.types import Outcome
from tests.written import Written, short_campaign

Call = Callable[..., Result]
SOURCE = """
from evolve import hookimpl
from evolve.hookspecs import OperatorEntry, StrategyEntry
from evolve.types import Propose, Selection

class Theirs:
    def ask(self, view, rng):
        return Propose(Selection("theirs", parents=(1,)))

    def tell(self, event):
        pass

@hookimpl
def register_strategies():
    return [StrategyEntry("theirs", lambda settings, operators: Theirs(), operators=("theirs",))]

@hookimpl
def register_operators():
    return [OperatorEntry("theirs", lambda settings: None)]
"""
THEIRS = {"strategy": {"name": "theirs"}}


@contextmanager
def package(folder: Path, version: str) -> Iterator[None]:
    """The package `evolve-theirs` in one version, installed in the body alone."""
    site = folder / f"site-{version}"
    about = site / f"evolve_theirs-{version}.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: evolve-theirs\nVersion: {version}\n")
    (about / "entry_points.txt").write_text("[evolve]\ntheirs = plugin_of_theirs\n")
    (site / "plugin_of_theirs.py").write_text(SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        yield
    sys.modules.pop("plugin_of_theirs", None)


@pytest.fixture
def theirs(home: Path) -> Path:
    """A workspace with the campaign `number`, which version 0.1 began and which is not installed any more."""
    with package(home, "0.1"):
        written = Written(home, **THEIRS)
        written.seed()
        written.called(operator="theirs")
        written.proposal(6.0, operator="theirs")
        written.failure(Outcome.CRASHED, "it divided by zero")
        written.called(operator="theirs")
        written.campaign.close()
    return home


@pytest.mark.parametrize(
    "words",
    [
        "campaign show",
        "campaign replay",
        "campaign list",
        "campaign config",
        "program list --all",
        "program show number/2",
        "program diff number/2",
        "program lineage number/2",
        "program show best",
    ],
)
def test_a_campaign_is_read_without_the_packages_that_it_ran_with(call: Call, theirs: Path, words: str) -> None:
    """For people and for programs."""
    for options in ((), ("--json",)):
        done = call(*words.split(), *options)
        assert (done.exit_code, done.exception) == (0, None), done.stderr
        assert done.stdout


@pytest.mark.integration
def test_its_report_is_written(call: Call, theirs: Path) -> None:
    """It needs the task's evaluator for pictures alone."""
    done = call("report", "number")
    assert done.exit_code == 0, done.stderr
    (page,) = Path.cwd().glob("*.html")
    assert "theirs" in page.read_text()


def test_it_is_compared_and_is_not_said_to_be_exhausted(call: Call, theirs: Path) -> None:
    """Whether its operators have anything left to do, nobody knows without them."""
    short_campaign(theirs, "plain").close()
    done = call("compare", "--read", "theirs=number", "--read", "plain=plain")
    assert done.exit_code == 0, done.stderr
    assert "nothing new was proposed" not in done.stdout


@pytest.mark.parametrize("words", ["campaign replay --decisions", "campaign fork"])
def test_what_asks_its_strategy_names_what_is_missing(call: Call, theirs: Path, words: str) -> None:
    """In one line."""
    done = call(*words.split())
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "no strategy is called 'theirs'" in done.stderr
    assert "a package that is not installed" in done.stderr


def test_the_versions_of_its_packages_are_in_the_log(theirs: Path) -> None:
    """Bundled plugins have evolve's; a fork has those that it begins with."""
    with package(theirs, "0.2"), Campaign.open("number", load(), theirs) as campaign:
        assert first_event(campaign.log).versions["evolve-theirs"] == "0.1"
        assert sorted(first_event(campaign.log).versions) == ["evolve", "evolve-theirs", "numpy", "python"]
        path = fork(campaign, settings_of_fork(campaign, {}, ()), theirs)
        with Campaign.open(str(path), load(), theirs) as forked:
            assert first_event(forked.log).versions["evolve-theirs"] == "0.2"


def test_going_on_notes_what_has_changed(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line on stderr, and nothing where all is as it was."""
    for version in ("0.2", "0.1"):
        with package(theirs, version), Campaign.open("number", load(), theirs) as campaign:
            print_changed_versions(campaign)
    shown = capsys.readouterr()
    note = "evolve: note: versions have changed since campaign number began: evolve-theirs 0.1 -> 0.2; "
    assert (shown.out, shown.err.count("\n"), shown.err.startswith(note)) == ("", 1, True)
