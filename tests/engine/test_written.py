"""Campaigns with the operators whose children a model writes."""

from collections import Counter
from collections.abc import Callable

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven, number_of
from model_fakes import FakeModel, members

from evolve.engine import run
from evolve.evaluation import Job, Report
from evolve.types import Evaluation, Outcome, Propose, Record, Replied, Settled, text_id

OPERATORS = {"names": ["tune_literals", "diff", "rewrite", "crossover", "fix"]}
FAST = {"members": [{"name": "fast", "kind": "fake", "concurrency": 4}]}


def answered(number: int) -> str:
    """A file with another number; each fourth is none that may be evaluated, and each fourth fails."""
    if number % 4 == 3:
        return "Let me think about numbers."
    value = 900.5 + number if number % 4 == 1 else 1.5 + 0.11 * number
    return f"Hypothesis: try {number}.\n\n```seed.py\ndef value():\n    return {value!r}\n```"


def evaluated(job: Job) -> Report:
    """Large numbers crash."""
    if job.files and number_of(dict(job.files)) > 500.0:
        why = "OverflowError: too large"
        return Report(Evaluation.failed(Outcome.CRASHED, text_id(why), seconds=0.1), {text_id(why): why})
    return near_seven(job)


def played(
    bench: Workbench, answer: Callable[[int], str] = answered, programs: int = 60, **values: object
) -> tuple[list[Record], list[Replied], str]:
    """The proposals and the calls of a campaign with a model that answers so, and the digest of its log."""
    budget, judges = [f"{programs}programs"], values.pop("workers", 1)
    with bench.create(models=FAST, budget=budget, workers=judges, **{"operators": OPERATORS, **values}) as campaign:
        run(campaign, FakeExecutor(evaluated), Seen(), members(campaign, FakeModel(answer)))
        settled = [stamped.event.record for stamped in campaign.log.events(only=Settled)]
        proposals = [record for record in settled if record.origin.kind == "proposal"]
        return proposals, [stamped.event for stamped in campaign.log.events(only=Replied)], campaign.digest()


def test_a_campaign_with_a_model_uses_all_of_its_operators_and_those_that_need_none(bench: Workbench) -> None:
    proposals, _, _ = played(bench)
    counts = Counter(record.origin.operator for record in proposals)
    assert set(counts) == set(OPERATORS["names"])


def test_a_failure_is_mended_by_its_error_and_keeps_its_history(bench: Workbench) -> None:
    proposals, _, _ = played(bench)
    failed = {record.id for record in proposals if record.evaluation.outcome is Outcome.CRASHED}
    mended = [record for record in proposals if record.origin.operator == "fix"]
    assert mended
    assert all(set(record.origin.parents) <= failed for record in mended)
    assert all(record.origin.inspirations for record in mended)
    assert max(Counter(record.origin.parents for record in mended).values()) <= 2


def test_the_hypothesis_is_the_thought_and_an_answer_that_is_none_is_a_screened_record(bench: Workbench) -> None:
    proposals, calls, _ = played(bench)
    written = [record for record in proposals if record.origin.model]
    thoughts = [record.thought for record in written if record.program is not None]
    assert all(thought.startswith("try ") for thought in thoughts)
    purposes = Counter(event.call.purpose for event in calls)
    assert set(purposes) == {"propose", "repair"}
    assert len(written) == purposes["propose"]


def test_several_samples_of_one_prompt_are_several_children_of_one_step(bench: Workbench) -> None:
    operators = {"names": ["rewrite"], "settings": {"rewrite": {"samples": 3, "repair": 0}}}
    proposals, calls, _ = played(bench, programs=12, operators=operators)
    steps = Counter(record.origin.step for record in proposals)
    assert max(steps.values()) == 3
    assert {event.call.purpose for event in calls} == {"propose"}
    first = [event.call for event in calls if event.step == calls[0].step]
    assert len({call.request for call in first}) == 1
    assert len({call.sample for call in first}) == 3


def test_a_budget_in_programs_is_exact_where_a_call_has_several_children_and_the_rest_wait_for_the_next_run(
    bench: Workbench,
) -> None:
    """They are evaluated then, and their calls are not made again."""

    def answer(number: int) -> str:
        return f"```seed.py\ndef value():\n    return {1.5 + 0.01 * number!r}\n```"

    def judged_programs() -> int:
        settled = [stamped.event.record for stamped in campaign.log.events(only=Settled)]
        done = [record for record in settled if record.origin.kind == "proposal"]
        return sum(record.evaluation.outcome is not Outcome.SCREENED for record in done)

    operators = {"names": ["rewrite"], "settings": {"rewrite": {"samples": 5, "repair": 0}}}
    with bench.create(models=FAST, budget=["12programs"], workers=1, operators=operators) as campaign:
        run(campaign, FakeExecutor(evaluated), Seen(), members(campaign, FakeModel(answer)))
        assert judged_programs() == 12
        left = {step.asked.step for step in campaign.state.open_steps()}
        paid = Counter(stamped.event.step for stamped in campaign.log.events(only=Replied))
        assert left & set(paid)
        campaign.change({"budget": ["16programs"]})
        run(campaign, FakeExecutor(evaluated), Seen(), members(campaign, FakeModel(lambda n: answer(1_000 + n))))
        assert judged_programs() == 16
        again = Counter(stamped.event.step for stamped in campaign.log.events(only=Replied))
        assert {step: again[step] for step in paid} == dict(paid)


@pytest.mark.parametrize("resource", ["programs", "tokens"])
def test_two_deterministic_campaigns_with_equal_answers_are_equal(bench: Workbench, resource: str) -> None:
    strategy = {"name": "islands", "settings": {"resource": resource}}
    first, second = (played(bench, programs=30, deterministic=True, strategy=strategy)[2] for _ in range(2))
    assert first == second


def test_lessons_are_written_and_later_prompts_show_them(bench: Workbench) -> None:
    def answer(number: int) -> str:
        return f"- Lesson {number}." if number >= 8 else answered(number)

    with bench.create(
        models=FAST, budget=["40programs"], workers=1, operators=OPERATORS, lessons={"every": 10}
    ) as campaign:
        run(campaign, FakeExecutor(evaluated), Seen(), members(campaign, FakeModel(answer)))
        assert campaign.state.lessons
        first = campaign.state.lessons[0]
        assert (first.text.startswith("Lesson "), first.by) == (True, "reflect")
        prompts = [
            campaign.log.text(part.text)
            for stamped in campaign.log.events(only=Replied)
            for part in stamped.event.call.prompt
            if part.name == "lessons"
        ]
        assert any(first.text in text for text in prompts)
        asked = [stamped.event.action for stamped in campaign.log.events() if hasattr(stamped.event, "action")]
        assert any(isinstance(action, Propose) and action.selection.operator == "reflect" for action in asked)
