"""What persons ask of a campaign, taken by whoever writes its log: in order, each once, and answered when it is durable."""

import os

import pytest
from loop_fakes import FakeExecutor, Seen

from evolve.campaign.inbox import Add, Hint, Inbox, Request, Ruling, RunControl
from evolve.engine import Requests, read_signatures, run
from evolve.evaluation import Report
from evolve.types import (
    Asked,
    Evaluation,
    Import,
    LessonWritten,
    Outcome,
    Ruled,
    Settled,
    text_id,
)


def program(number: float) -> dict[str, str]:
    """A program of the task by its number."""
    return {"seed.py": f"def value():\n    return {number}\n"}


def put(campaign, *wishes) -> list[str]:
    """Puts wishes into the campaign's inbox; returns their ids."""
    ids = [f"{number:08x}" for number in range(1, len(wishes) + 1)]
    for number, (name, wish) in enumerate(zip(ids, wishes, strict=True)):
        Inbox(campaign.log.path).put(Request(name, wish), float(number))
    return ids


def answers(campaign, ids):
    """What was answered, None where nothing was."""
    inbox = Inbox(campaign.log.path)
    return [inbox.take_answer(name) for name in ids]


def taken(campaign, *, adding=True, process=None):
    """Takes what lies in the inbox as a command does; returns the steps."""
    requests = Requests(campaign, read_signatures(campaign), process or os.getpid())
    with campaign.log.transaction():
        steps = requests.take(adding=adding)
    requests.answer()
    return steps


def events(campaign, kind):
    return [stamped.event for stamped in campaign.log.events(only=kind)]


class Asking(Seen):
    """Puts wishes into the inbox when so many records have settled."""

    def __init__(self, *wishes, when=5):
        super().__init__()
        self.wishes, self.when, self.ids = wishes, when, []

    def settled(self, campaign, event):
        super().settled(campaign, event)
        if len(self.events) == self.when:
            self.ids = put(campaign, *self.wishes)


@pytest.fixture
def impatient(monkeypatch):
    """An engine that looks into its inbox at every turn."""
    monkeypatch.setattr("evolve.engine.steering.INTERVAL", 0.0)


def test_a_running_campaign_takes_what_is_asked_in_its_order(bench, impatient):
    """A program that is ruled out and in again, a hint, and a program that is evaluated by the campaign's judges."""
    watch = Asking(Ruling("quarantine", 1), Ruling("release", 1), Hint(" near 7 "), Add(program(6.9), "mine", parent=1))
    with bench.create() as campaign:
        bench.run(campaign, watch=watch)
        assert [(event.what, event.by) for event in events(campaign, Ruled)] == [
            ("quarantine", "person"),
            ("release", "person"),
        ]
        assert [event.lesson.text for event in events(campaign, LessonWritten)] == ["near 7"]
        (record,) = [event.record for event in events(campaign, Settled) if event.record.origin.kind == "import"]
        assert (record.thought, record.origin.parents, record.evaluation.fitness) == ("mine", (1,), pytest.approx(-0.1))
        assert [answer.accepted for answer in answers(campaign, watch.ids)] == [True] * 4
        assert (campaign.state.progress.programs, campaign.state.steps) == (30, {})
    with bench.open(readonly=True) as again:
        assert again.state.difference is None
        assert set(watch.ids) == set(again.state.requests)


def test_a_program_that_was_added_becomes_a_parent(bench, impatient):
    """It is the best by far."""
    with bench.create() as campaign:
        bench.run(campaign, watch=Asking(Add(program(6.99999)), when=2))
        (mine,) = [event.record for event in events(campaign, Settled) if event.record.origin.kind == "import"]
        parents = {parent for event in events(campaign, Settled) for parent in event.record.origin.parents}
        assert mine.id in parents


def test_a_stop_drains_as_an_interrupt_does(bench, impatient):
    """The run says that somebody asked for it, and what was asked waits."""
    watch = Asking(RunControl("stop", os.getpid()))
    with bench.create() as campaign:
        ending = bench.run(campaign, FakeExecutor(hold=1), watch)
        assert ending.reason == "stopped"
        assert 0 < campaign.state.progress.programs < 30
        assert answers(campaign, watch.ids)[0].told == "it ends as soon as what is being evaluated is done"
    with bench.open() as campaign:
        assert bench.run(campaign).reason == "budget"


def test_a_stop_of_a_run_that_has_ended_stops_no_other(bench, impatient):
    """It is refused, and says why."""
    watch = Asking(RunControl("stop", 1))
    with bench.create() as campaign:
        assert bench.run(campaign, watch=watch).reason == "budget"
        (answer,) = answers(campaign, watch.ids)
        assert (answer.accepted, "has ended" in answer.told) == (False, True)


def test_what_lies_there_when_a_run_begins_is_taken(bench):
    """Somebody asked while nobody ran."""
    with bench.create() as campaign:
        ids = put(campaign, Hint("early"))
        bench.run(campaign)
        assert [lesson.text for lesson in campaign.state.lessons] == ["early"]
        assert answers(campaign, ids)[0].accepted


def test_a_request_that_is_read_again_is_done_once(bench):
    """The process that did it died before it could remove it."""
    wishes = (Ruling("quarantine", 2), Hint("once"), Add(program(6.5)))
    with bench.create() as campaign:
        bench.run(campaign)
        put(campaign, *wishes)
        (first,) = taken(campaign)
        before = campaign.log.count()
        ids = put(campaign, *wishes)
        assert taken(campaign) == []
        assert campaign.log.count() == before
        assert [answer.accepted for answer in answers(campaign, ids)] == [True] * 3
        put(campaign, *wishes)
    with bench.open() as campaign:
        assert taken(campaign) == []
        assert campaign.log.count() == before
        assert answers(campaign, ids)[2].step == first.step


def test_what_is_refused_says_why_and_the_rest_is_done(bench):
    """Nothing of it is in the log."""
    with bench.create() as campaign:
        bench.run(campaign)
        before = campaign.log.count()
        ids = put(
            campaign, Ruling("quarantine", 99), Hint("  "), Add({"other.py": ""}), Add(program(5.0)), Hint("kept")
        )
        taken(campaign)
        found = answers(campaign, ids)
        assert [answer.accepted for answer in found] == [False, False, False, False, True]
        assert "has no record 99" in found[0].told
        assert "got an empty one" in found[1].told
        assert "may not be evaluated: it adds a file 'other.py', and the task allows no new one. Try: " in found[2].told
        assert found[3].told == "the program is known: it is one_number/1. Try: add another one"
        assert campaign.log.count() == before + 1


def test_a_program_that_differs_in_spacing_alone_is_known(bench):
    """As for a proposal."""
    with bench.create() as campaign:
        bench.run(campaign)
        ids = put(campaign, Add({"seed.py": "def value():\n    return   5.0  # the same\n"}))
        taken(campaign)
        (answer,) = answers(campaign, ids)
        assert "but for spacing and comments it is one_number/1" in answer.told


def test_a_program_that_waits_to_be_judged_is_known(bench):
    """Two persons may have the same idea."""
    with bench.create() as campaign:
        bench.run(campaign)
        ids = put(campaign, Add(program(6.5)), Add(program(6.5)))
        assert len(taken(campaign)) == 1
        assert "it is one that is being evaluated" in answers(campaign, ids)[1].told


def test_without_adding_a_program_and_all_after_it_stay(bench):
    """A run that ends takes no new work, and keeps the order."""
    with bench.create() as campaign:
        bench.run(campaign)
        ids = put(campaign, Hint("first"), Add(program(6.5)), Hint("last"))
        assert taken(campaign, adding=False) == []
        assert [answer is None for answer in answers(campaign, ids)] == [False, True, True]
        assert len(taken(campaign)) == 1
        assert [lesson.text for lesson in campaign.state.lessons] == ["first", "last"]


def test_an_import_that_was_asked_is_finished_by_any_later_run(bench):
    """Its text is in the log, and it counts as no program of the budget."""
    with bench.create() as campaign:
        bench.run(campaign)
        put(campaign, Add(program(6.5), "mine"))
        (asked,) = taken(campaign)
    with bench.open() as campaign:
        assert [step.asked for step in campaign.state.open_steps()] == [asked]
        campaign.change({"budget": ["31programs"]})
        bench.run(campaign)
        assert campaign.state.progress.programs == 31
        assert [
            event.record.thought for event in events(campaign, Settled) if event.record.origin.kind == "import"
        ] == ["mine"]


def test_certain_steps_can_be_finished_alone(bench):
    """Others wait, and nothing is asked."""
    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(hold=2), Asking(RunControl("stop", os.getpid()), when=4))
        bench.run(campaign)
    with bench.open() as campaign:
        put(campaign, Add(program(6.5)), Add(program(6.6)))
        first, second = taken(campaign)
        executor = FakeExecutor()
        ending = run(campaign, executor, Seen(), only=[second])
        assert (ending.reason, ending.left) == ("finished", 1)
        assert [job.id for job in executor.jobs] == [f"{second.step}.0"]
        assert list(campaign.state.steps) == [first.step]


def test_steps_are_finished_after_a_seed_that_nobody_has_judged(bench):
    """A campaign that was killed at its beginning."""
    with bench.create() as campaign:
        put(campaign, Add(program(6.5)))
        steps = taken(campaign)
        run(campaign, FakeExecutor(), Seen(), only=steps)
        assert [event.record.origin.kind for event in events(campaign, Settled)] == ["seed", "import"]


def test_an_import_goes_to_its_parents_island_else_where_there_are_fewest(bench):
    """A function of the log; it is stored with the step."""
    with bench.create() as campaign:
        bench.run(campaign)
        archive = campaign.state.archive
        fewest = min(range(4), key=lambda number: (archive.stats(number).elites, number))
        child = next(record for record in range(2, 32) if campaign.log.settled(record).record.origin.island == 3)
        put(campaign, Add(program(6.5)), Add(program(6.6), parent=child))
        taken(campaign)
        actions = [asked.action for asked in events(campaign, Asked) if isinstance(asked.action, Import)]
        assert [action.island for action in actions] == [fewest, 3]


def test_a_failed_import_is_a_record_like_others(bench):
    """With its outcome."""
    with bench.create() as campaign:
        bench.run(campaign)
        put(campaign, Add(program(6.5)))
        no = Report(Evaluation.failed(Outcome.WRONG, text_id("no")), {text_id("no"): "no"})
        run(campaign, FakeExecutor(lambda job: no), Seen(), only=taken(campaign))
        record = events(campaign, Settled)[-1].record
        assert (record.origin.kind, record.evaluation.outcome) == ("import", Outcome.WRONG)


def test_a_lost_turn_answers_nobody(bench, impatient):
    """What it had taken lies there still, and the next run takes it."""
    with bench.create() as campaign:
        ids = put(campaign, Hint("kept"))
        record = campaign.append

        def dying(event):
            if isinstance(event, LessonWritten):
                raise KeyboardInterrupt
            record(event)

        campaign.append = dying
        with pytest.raises(KeyboardInterrupt):
            bench.run(campaign)
        assert answers(campaign, ids) == [None]
    with bench.open() as campaign:
        bench.run(campaign)
        assert [lesson.text for lesson in campaign.state.lessons] == ["kept"]
