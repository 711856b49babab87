"""The tracker `wandb`, by a fake of its small interface: offline unless a person says otherwise."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evolve.plugins import load
from evolve.testing import check_tracker
from evolve.types import ConfigError
from evolve_trackers.wandb import list_values
from tests.tracked import END, RECORD, a_run


class FakeRun:
    """What `wandb.init` returns."""

    def __init__(self, **words: Any) -> None:
        self.words, self.logged, self.summary, self.finished = words, [], {}, False

    def log(self, values: dict[str, Any], step: int) -> None:
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished = True


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[FakeRun]:
    """The module `wandb` with what the tracker uses of it; the runs that were begun."""
    found: list[FakeRun] = []
    fake: Any = ModuleType("wandb")
    fake.Settings = dict
    fake.init = lambda **words: found.append(FakeRun(**words)) or found[-1]
    monkeypatch.setitem(sys.modules, "wandb", fake)
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    return found


def test_a_run_is_offline_and_tells_no_code(tmp_path: Path, runs: list[FakeRun]) -> None:
    """Its files lie beside the log; nothing of the machine is recorded."""
    tracker = load().tracker("wandb", {})
    tracker.campaign_begun(a_run(tmp_path))
    tracker.record_settled(RECORD)
    tracker.campaign_ended(END)
    (run,) = runs
    assert (run.words["mode"], run.words["save_code"], run.words["dir"]) == (
        "offline",
        False,
        str(tmp_path / "mine.wandb"),
    )
    assert run.words["settings"]["x_disable_stats"] is True
    assert [(step, told["best/fitness"]) for step, told in run.logged] == [(1, 2.5)]
    assert (run.summary["reason"], run.finished) == ("budget", True)


def test_a_campaign_that_goes_on_is_the_same_run(tmp_path: Path, runs: list[FakeRun]) -> None:
    """And another one is another."""
    for folder, records in ((tmp_path, 0), (tmp_path, 4), (tmp_path / "other", 0)):
        load().tracker("wandb", {}).campaign_begun(a_run(folder, records))
    first, again, other = (run.words["id"] for run in runs)
    assert first == again != other
    assert {run.words["resume"] for run in runs} == {"allow"}


def test_online_needs_a_key_from_the_environment(runs: list[FakeRun], monkeypatch: pytest.MonkeyPatch) -> None:
    """Found before a campaign is made."""
    with pytest.raises(
        ConfigError, match=r"mode = 'online', and there is no key. Try: set the environment variable WANDB_API_KEY"
    ):
        load().tracker("wandb", {"mode": "online"})
    monkeypatch.setenv("WANDB_API_KEY", "x")
    load().tracker("wandb", {"mode": "online"})


def test_what_is_missing_is_told_before_a_campaign_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match=r"not installed. Try: pip install 'evolve\[wandb\]'"):
        load().tracker("wandb", {})


def test_it_keeps_the_promises_of_a_tracker(tmp_path: Path, runs: list[FakeRun]) -> None:
    """As a campaign tells it, by the fake: each run is finished."""
    check_tracker(lambda: load().tracker("wandb", {}), tmp_path)
    assert [(len(run.logged), run.finished) for run in runs] == [(5, True), (0, True), (5, True)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_real_one_keeps_the_promises_of_a_tracker(tmp_path: Path) -> None:
    """Offline, where wandb is installed."""
    pytest.importorskip("wandb", reason="wandb is not installed: pip install 'evolve[wandb]'")
    check_tracker(lambda: load().tracker("wandb", {}), tmp_path)


def test_a_failed_program_has_no_fitness() -> None:
    """Its outcome is told."""
    found = list_values(replace(RECORD, fitness=None, outcome="wrong", best=None))
    assert ("fitness" in found, "best/fitness" in found, found["outcome"]) == (False, False, "wrong")
