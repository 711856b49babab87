"""A campaign that was played by hand, replayed from its cassette: to equal prompts come the old answers, and of them the old archive.

After a change of what prompts say, `python -m tests.played` writes the cassette anew."""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from evolve.campaign import Campaign
from evolve.engine import Ending
from evolve.evaluation import LocalExecutor, decode_report
from evolve.types import Call, Record, Replied, Settled
from tests.played import BY_HAND, RecordedJudge, keyed_anew, opened, replayed, summary, written

ARCHIVE = json.loads((BY_HAND / "archive.json").read_text("utf-8"))
BEST = 16
KEYS = "Try: python -m tests.played"
PLACES = re.compile(r"/(?:home|root|tmp|usr|opt|var|work|Users)/\S*")


@dataclass(frozen=True)
class Played:
    """A replay that has ended."""

    campaign: Campaign
    ending: Ending
    judge: RecordedJudge

    @property
    def calls(self) -> Sequence[Call]:
        stamped = self.campaign.log.events(only=Replied)
        return [found.event.call for found in stamped if isinstance(found.event, Replied)]

    @property
    def proposals(self) -> Sequence[Record]:
        stamped = self.campaign.log.events(only=Settled)
        records = [found.event.record for found in stamped if isinstance(found.event, Settled)]
        return [record for record in records if record.origin.kind == "proposal"]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The campaign, replayed from the cassette and the recorded reports."""
    judge = RecordedJudge(BY_HAND)
    with opened(BY_HAND, tmp_path_factory.mktemp("home")) as campaign:
        yield Played(campaign, replayed(campaign, judge), judge)


def test_every_prompt_is_answered_from_the_cassette(played: Played) -> None:
    assert [call.error for call in played.calls if call.error] == [], KEYS
    assert (played.ending.reason, len(played.calls)) == ("budget", 14)


def test_the_archive_is_the_one_that_was_recorded(played: Played) -> None:
    assert summary(played.campaign) == ARCHIVE, KEYS


def test_another_replay_and_the_fold_of_its_log_have_the_same_digest(played: Played, tmp_path: Path) -> None:
    with opened(BY_HAND, tmp_path) as again:
        replayed(again, RecordedJudge(BY_HAND))
        assert played.campaign.digest() == again.digest()
    with Campaign.open("by_hand", again.plugins, tmp_path) as folded:
        assert (played.campaign.digest(), None) == (folded.digest(), folded.state.difference)


def test_the_best_is_as_much_better_than_the_seed_as_it_was(played: Played) -> None:
    best = played.campaign.state.archive.best
    seed = [row["fitness"] for row in ARCHIVE["records"][:5]]
    assert best is not None
    assert (best.record, round(best.fitness - sum(seed) / len(seed), 4)) == (BEST, 0.1451)


def test_every_operator_had_its_turn_and_one_answer_was_mended(played: Played) -> None:
    operators = Counter(record.origin.operator for record in played.proposals)
    assert dict(operators) == {"diff": 8, "rewrite": 2, "crossover": 2, "fix": 1}
    assert dict(Counter(call.purpose for call in played.calls)) == {"propose": 13, "repair": 1}


def test_every_proposal_says_why(played: Played) -> None:
    assert len({record.thought for record in played.proposals if record.thought.endswith(".")}) == 13


def test_a_cassette_that_is_keyed_anew_is_the_one_that_ships() -> None:
    answers, archive = keyed_anew(BY_HAND)
    lines = (BY_HAND / "cassette.jsonl").read_text("utf-8").splitlines()[1:]
    assert [json.loads(line)["request"] for line in lines] == [answer.request for answer in answers], KEYS
    assert (BY_HAND / "archive.json").read_text("utf-8") == written(archive)


def test_the_transcript_names_no_place_of_a_machine() -> None:
    names = ("archive.json", "campaign.toml", "cassette.jsonl", "judgements.jsonl")
    assert {name: [] for name in names} == {
        path.name: PLACES.findall(path.read_text("utf-8")) for path in BY_HAND.iterdir()
    }


@pytest.mark.slow
def test_the_best_program_is_better_than_the_seed_on_this_machine_too(played: Played) -> None:
    """On another processor the last digit of a sum may differ, and then each of the five packings: how much better is not asked."""
    (record,) = [record for record in played.proposals if record.id == BEST]
    job_id = f"{record.origin.step}.{record.origin.index}"
    with contextlib.closing(LocalExecutor(played.campaign.task, 1)) as executor:
        evaluation = decode_report(executor.submit(job_id, played.judge.jobs[job_id]).result(120)).evaluation
    assert evaluation.fitness > max(row["fitness"] for row in ARCHIVE["records"][:5])
