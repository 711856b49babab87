"""Steps that make notes, and notes from a strategy to an operator."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven
from model_fakes import FakeModel, members, with_operators

from evolve import report
from evolve.campaign import Campaign
from evolve.cli.record import format_record
from evolve.engine import Ending, run
from evolve.hookspecs import OperatorEntry
from evolve.plugins import Registered
from evolve.protocols import Context
from evolve.types import Child, Message, PluginError, Program, Prompt, Propose, Section, Selection

MODELS = {"models": {"members": [{"name": "fast", "kind": "fake", "concurrency": 4}]}}


class Plans:
    """Writes a plan, by a call of a model where it has one; or a program, which it must not."""

    def __init__(self, *, calls: bool, program: bool = False) -> None:
        self.calls, self.program = calls, program

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        if self.calls:
            context.model("propose").complete(Prompt((Message("user", (Section("task", "Plan."),)),)))
        made = Program({"seed.py": "def value():\n    return 1.0\n"}) if self.program else None
        return [Child(made, "sort first", extras={"plans": {"about": list(selection.parents)}})]


def create(bench: Workbench, plans: Plans, budget: str) -> Campaign:
    """A campaign with the operator `plans`, which makes notes, and where it has a model `writes`, which makes programs."""
    with_operators(bench)
    entry = OperatorEntry("plans", lambda settings: plans, needs_model=plans.calls, makes="notes")
    bench.plugins = replace(bench.plugins, operators={**bench.plugins.operators, "plans": Registered("fakes", entry)})
    settings = (
        MODELS | {"operators": {"names": ["plans", "writes"]}} if plans.calls else {"operators": {"names": ["plans"]}}
    )
    return bench.create(**settings, budget=[budget])


def plan_and_act(view, rng):
    """Plans where no plan is newer than the last program, and then asks for the program of the plan."""
    history = view.history
    noted = history.extras("plans")
    done = [note for record in range(1, len(history) + 1) for note in [history.record(record).origin.notes.get("plan")]]
    left = [number for number, _ in noted if number not in done]
    if not left:
        return Propose(Selection("plans", parents=(1,)))
    return Propose(Selection("writes", parents=(1,), notes={"plan": left[0], "kinds": ("a", "b")}))


def played(campaign: Campaign) -> Ending:
    """Runs a campaign with a fake model."""
    return run(campaign, FakeExecutor(near_seven), Seen(), members(campaign, FakeModel()))


def test_a_step_that_makes_notes_is_no_child_and_no_screened_proposal(bench: Workbench) -> None:
    """It is about its parents, and what it wrote is there for the strategy."""
    with create(bench, Plans(calls=True), "8calls") as campaign:
        campaign.strategy.ask = plan_and_act
        played(campaign)
        history, progress = campaign.state.history, campaign.state.progress
        records = [history.record(number) for number in range(1, len(history) + 1)]
        notes = [record for record in records if record.origin.kind == "note"]
        assert len(notes) >= 2
        assert {record.thought for record in notes} == {"sort first"}
        assert all(record.program is None and record.origin.parents == (1,) for record in notes)
        children = history.children(1)
        assert {history.operator(child) for child in children} == {"writes"}
        assert progress.screened == sum(
            record.origin.kind == "proposal" and record.evaluation.outcome == "screened" for record in records
        )
        assert history.extras("plans")[0] == (notes[0].id, {"about": [1]})
        assert report.tally(campaign).notes == len(notes)
        made = [record for record in records if record.origin.operator == "writes"]
        assert made[0].origin.notes == {"plan": notes[0].id, "kinds": ["a", "b"]}
        digest = campaign.digest()
        pages = [dict(format_record(campaign, report.whole(campaign, record.id))) for record in (notes[0], made[0])]
        assert pages[0]["outcome"] == "no program: the step makes notes"
        assert pages[1]["strategy's notes"] == f"kinds ['a', 'b'], plan {notes[0].id}"
    with bench.open(readonly=True) as again:
        assert (again.replay().digest(), again.state.history.record(2).origin.kind) == (digest, "note")


def test_notes_that_cost_nothing_end_a_campaign(bench: Workbench) -> None:
    """No budget would: they spend nothing of it."""
    with create(bench, Plans(calls=False), "8programs") as campaign:
        campaign.strategy.ask = lambda view, rng: Propose(Selection("plans", parents=(1,)))
        assert bench.run(campaign).reason == "exhausted"


def test_an_operator_that_makes_notes_proposes_no_program(bench: Workbench) -> None:
    with create(bench, Plans(calls=True, program=True), "30calls") as campaign:
        campaign.strategy.ask = lambda view, rng: Propose(Selection("plans", parents=(1,)))
        with pytest.raises(PluginError, match="operator 'plans' proposed a program, where it makes notes"):
            played(campaign)


def test_notes_of_a_selection_are_plain_data(bench: Workbench) -> None:
    campaign = bench.create()
    campaign.strategy.ask = lambda view, rng: Propose(
        Selection("tune_literals", parents=(1,), notes={"rate": np.float32(1.0)})
    )
    with campaign, pytest.raises(PluginError, match=r"notes that are no plain data.*Try: mend its `ask`"):
        bench.run(campaign)
