"""The recorded model that `make demo` shows: each prompt of today has its answer, programs are evaluated here and now, and the score rises."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.types import Replied
from tests.played import ARCHIVE, CASSETTE, FOLDER, play, write

pytestmark = pytest.mark.integration
AGAIN = "Try: python -m tests.played, or make demo-recording MODEL=..."


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Campaign, Any]]:
    """The campaign, opened again after its end, and its proposals."""
    home = tmp_path_factory.mktemp("home")
    _, archive = play(home)
    with Campaign.open("recorded", plugins.load(), home) as campaign:
        yield campaign, archive


def test_every_prompt_has_a_recorded_answer(played: tuple[Campaign, Any]) -> None:
    calls = [found.event.call for found in played[0].log.events(only=Replied) if isinstance(found.event, Replied)]
    assert [call.error for call in calls if call.error] == [], AGAIN
    recorded = [json.loads(line) for line in CASSETTE.read_text("utf-8").splitlines()[1:]]
    assert [call.request for call in calls] == [line["request"] for line in recorded], AGAIN


def test_the_programs_are_worth_on_this_machine_what_they_were(played: tuple[Campaign, Any]) -> None:
    assert write(played[1]) == ARCHIVE.read_text("utf-8"), AGAIN


def test_the_fold_of_the_log_is_the_campaign(played: tuple[Campaign, Any]) -> None:
    assert played[0].state.difference is None


def test_the_score_rises_more_than_once(played: tuple[Campaign, Any]) -> None:
    best, steps = 0.0, 0
    for proposal in played[1]:
        if proposal["score"] is not None and proposal["score"] > best + 0.01:
            best, steps = proposal["score"], steps + 1
    assert steps >= 3


def test_the_recording_names_no_place_of_a_machine() -> None:
    texts = [path.read_text("utf-8") for path in FOLDER.iterdir()]
    places = ("/home/", "/root/", "/tmp/", "/work/", "/Users/")
    assert [place for place in places for text in texts if place in text] == []


def test_the_files_are_those_that_the_docs_name() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"campaign.toml", "cassette.jsonl", "archive.json", "README.md"}
    assert Path(FOLDER / "README.md").read_text("utf-8").strip()
