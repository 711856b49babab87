"""The recorded model that `make demo` shows: each prompt of today has its answer, programs are evaluated here and now, and the score rises."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.types import Replied
from tests.played import ARCHIVE, CASSETTE, FOLDER, play, summarize, write

AGAIN = "Try: python -m tests.played, or make demo-recording MODEL=..."
CALLS = 3
"""Calls of the beginning that every run of the tests plays; the slow tests play the whole."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """The beginning of the campaign, opened again after its end."""
    home = tmp_path_factory.mktemp("home")
    play(home, budget=f"{CALLS}calls")
    with Campaign.open("recorded", plugins.load(), home) as campaign:
        yield campaign


def recorded_requests() -> list[str]:
    """The requests that the cassette answers, in their order."""
    return [json.loads(line)["request"] for line in CASSETTE.read_text("utf-8").splitlines()[1:]]


@pytest.mark.integration
def test_prompts_of_today_have_recorded_answers(begun: Campaign) -> None:
    calls = [found.event.call for found in begun.log.events(only=Replied) if isinstance(found.event, Replied)]
    assert [call.error for call in calls] == [""] * CALLS, AGAIN
    assert [call.request for call in calls] == recorded_requests()[:CALLS], AGAIN


@pytest.mark.integration
def test_programs_are_worth_on_this_machine_what_they_were(begun: Campaign) -> None:
    assert summarize(begun) == json.loads(ARCHIVE.read_text("utf-8"))[:CALLS], AGAIN


@pytest.mark.integration
def test_the_fold_of_its_log_is_the_campaign(begun: Campaign) -> None:
    assert begun.state.difference is None


@pytest.mark.slow
def test_the_whole_recording_is_replayed(tmp_path: Path) -> None:
    answers, archive = play(tmp_path)
    assert [answer.request for answer in answers] == recorded_requests(), AGAIN
    assert write(archive) == ARCHIVE.read_text("utf-8"), AGAIN


def test_the_score_rises_more_than_once() -> None:
    best, steps = 0.0, 0
    for proposal in json.loads(ARCHIVE.read_text("utf-8")):
        if (proposal["score"] or 0.0) > best:
            best, steps = proposal["score"], steps + 1
    assert steps >= 3


def test_the_recording_names_no_place_of_a_machine() -> None:
    texts = [path.read_text("utf-8") for path in FOLDER.iterdir()]
    places = ("/home/", "/root/", "/tmp/", "/work/", "/Users/")
    assert [place for place in places for text in texts if place in text] == []
