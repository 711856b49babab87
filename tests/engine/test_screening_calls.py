"""Screening with models, in a whole campaign with many calls in flight."""

from collections import Counter
from collections.abc import Sequence
from threading import Event

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench
from model_fakes import USAGE, FakeModel, members, with_operators
from screening_fakes import LINES, long_task, text

from evolve.engine import run
from evolve.evaluation import Job, Report
from evolve.hookspecs import OperatorEntry
from evolve.plugins import Registered
from evolve.protocols import Context
from evolve.types import Child, Evaluation, Message, Program, Prompt, Replied, Section, Selection, Settled, Usage

MEMBERS = [{"name": name, "kind": "fake", "concurrency": 16} for name in ("large", "small", "embedder")]
PURPOSES = {"novelty": "small", "embed": "embedder"}


class FakeEmbedder(FakeModel):
    """The direction of a text is that of its letters."""

    def embed(self, text: str, *, deadline: float, cancelled: Event) -> tuple[Sequence[float], Usage]:
        counts = Counter(text)
        return [float(counts[letter] ** 2) for letter in "bcdefgh"], USAGE


class Renames:
    """Puts a word that the model says into three lines that chance says."""

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        lines = [int(line) for line in context.rng.integers(0, LINES, 3)]
        asked = Prompt((Message("user", (Section("lines", str(lines)),)),))
        (reply,) = context.model("propose").complete(asked)
        return [Child(Program({"seed.py": text(dict.fromkeys(lines, reply.text))}))]


def evaluated(job: Job) -> Report:
    """All the same, in cells by their text."""
    found = job.files["seed.py"]
    return Report(Evaluation.ok(float(sum(map(ord, found)) % 97), descriptors={"size": float(len(found) % 10)}))


@pytest.fixture
def models(bench: Workbench) -> Workbench:
    """The bench with a task that wants novelty, and an operator that renames."""
    with_operators(bench)
    entry = Registered("fakes", OperatorEntry("renames", lambda _: Renames(), needs_model=True))
    bench.plugins.operators["renames"] = entry  # type: ignore[index]
    bench.task = long_task(distance=0.1)
    return bench


def test_what_screening_costs_is_an_event_and_every_child_has_its_record(models: Workbench) -> None:
    """Two models have the last word; what they let pass is evaluated, and found by its sketch and vector from then on."""
    fakes = (
        FakeModel(lambda number: "cdefgh"[number % 6]),
        FakeModel(lambda number: "yes" if number % 3 else "no"),
        FakeEmbedder(),
    )
    values = {"models": {"members": MEMBERS, "purposes": PURPOSES}, "operators": {"names": ["renames"]}}
    with models.create(**values, budget=["25programs"]) as campaign:
        ending = run(campaign, FakeExecutor(evaluated, hold=2), Seen(), members(campaign, *fakes))
        assert ending.reason == "budget"
        calls = Counter(stamped.event.call.purpose for stamped in campaign.log.events(only=Replied))
        assert (calls["novelty"], calls["propose"]) == (len(fakes[1].prompts), len(fakes[0].prompts))
        assert calls["novelty"] > 5
        records = [stamped.event.record for stamped in campaign.log.events(only=Settled)]
        passed = [record for record in records if record.program is not None]
        refused = [campaign.log.text(record.evaluation.feedback) for record in records if record.program is None]
        near = [reason for reason in refused if reason.startswith("not novel: ")]
        assert near
        assert {reason.rpartition("; ")[2] for reason in near} == {
            "the novelty model small finds no meaningful difference"
        }
        assert len(list(campaign.log.sketches())) == len(passed)
        assert len(list(campaign.log.vectors("embedder"))) == len(passed) - 1
    with models.open(readonly=True) as again:
        assert again.state.difference is None
