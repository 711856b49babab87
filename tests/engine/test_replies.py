"""Which answer of a model made which child: what the log says of it, however the answers were wrong, repaired, repeated or never came."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, cut
from model_fakes import FakeModel, Writes, members, with_operators

from evolve.campaign import Campaign
from evolve.engine import run
from evolve.protocols import Context
from evolve.types import Child, ModelError, Outcome, PluginError, Record, Replied, Selection, Settled

SEVERAL = {
    "models": {"members": [{"name": "fast", "kind": "fake", "concurrency": 4}]},
    "operators": {"names": ["writes"]},
}


def answer(number: int) -> str | Exception:
    """Of eleven calls two have no number in them, one fails, and two repeat what others said."""
    match number % 11:
        case 2 | 7:
            return f"I do not know {number}"
        case 4:
            return ModelError(f"no answer {number}")
        case 9 | 10:
            return "x = 6.5"
    return f"x = {number}.25"


@pytest.fixture
def several(bench: Workbench) -> Workbench:
    """Each step asks for four answers."""
    with_operators(bench, samples=4)
    return bench


def played(campaign: Campaign, fake: FakeModel | None = None) -> None:
    """Evaluations end in another order than they began."""
    run(campaign, FakeExecutor(hold=3), Seen(), members(campaign, fake or FakeModel(answer)))


def proposals(campaign: Campaign) -> list[Record]:
    records = [stamped.event.record for stamped in campaign.log.events(only=Settled)]
    return [record for record in records if record.origin.kind == "proposal"]


def reply_of(campaign: Campaign, record: Record) -> str:
    """The answer that a record names."""
    (call,) = [
        stamped.event.call
        for stamped in campaign.log.events(only=Replied)
        if (stamped.event.step, stamped.event.index) == (record.origin.step, record.origin.call)
    ]
    return campaign.log.text(call.reply)


def check_pairs(campaign: Campaign) -> int:
    """Each record that a model wrote has the answer which its thought, that the operator took from it, quotes; returns how many."""
    written = [record for record in proposals(campaign) if record.refusal != "model_failed"]
    for record in written:
        said = reply_of(campaign, record)
        assert record.thought == (f"no number in {said!r}" if record.refusal == "no_number" else said)
    return len(written)


def test_each_record_names_the_answer_that_it_was_made_of(several: Workbench) -> None:
    with several.create(**SEVERAL, budget=["60programs"], workers=4) as campaign:
        played(campaign)
        assert check_pairs(campaign) >= 60
        found = proposals(campaign)
        assert {record.refusal for record in found} >= {"", "duplicate"}
        repaired = [record for record in found if record.origin.call >= 4]
        assert repaired, "no answer of a repair"
        by_step = [(record.origin.step, record.origin.index) for record in found]
        assert by_step != sorted(by_step), "they settled in order"


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_an_answer_is_found_again_after_a_kill(several: Workbench, tmp_path: Path, part: float) -> None:
    with several.create(**SEVERAL, budget=["40programs"], workers=4) as campaign:
        played(campaign)
        path, events = campaign.log.path, campaign.events
    with several.open(str(cut(path, int(part * events)))) as again:
        played(again, FakeModel(lambda number: answer(number + 1_000)))
        assert check_pairs(again) >= 40


def test_a_child_that_names_no_answer_of_its_step_is_refused(
    several: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def propose(self: Writes, selection: Selection, context: Context) -> Sequence[Child]:
        return [Child(None, "made up", call=7)]

    monkeypatch.setattr(Writes, "propose", propose)
    with several.create(**SEVERAL) as campaign:
        with pytest.raises(PluginError, match=r"names call 7, of which its step has no answer.*Reply.call"):
            played(campaign)
        assert {(record.refusal, record.origin.call) for record in proposals(campaign)} == {("plugin_failed", -1)}


def test_a_record_that_no_model_wrote_names_no_answer(bench: Workbench) -> None:
    with bench.create(budget=["5programs"]) as campaign:
        bench.run(campaign)
        assert {record.origin.call for record in proposals(campaign)} == {-1}


def test_a_duplicate_names_the_program_that_it_equals(several: Workbench) -> None:
    with several.create(**SEVERAL, budget=["12programs"]) as campaign:
        played(campaign, FakeModel(lambda number: f"x = {number // 2}.5"))
        repeated = [record for record in proposals(campaign) if record.refusal == "duplicate"]
        assert {record.evaluation.outcome for record in repeated} == {Outcome.SCREENED}
        firsts = {record.id: campaign.log.first_record(record.resembles or "") for record in repeated}
        # The end of the budget leaves some of the first ones to the next run.
        pairs = [(record.thought, firsts[record.id]) for record in repeated if firsts[record.id]]
        assert pairs
        assert all(campaign.log.settled(first).record.thought == thought for thought, first in pairs)
