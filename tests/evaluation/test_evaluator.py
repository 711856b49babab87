"""The decorator makes an evaluator out of functions."""

import pytest
from judge_fakes import small_task

from evolve.evaluation.evaluator import evaluator
from evolve.types import Evaluation, Needs, Stage, TaskError, Trial


def scored(candidate, trial):
    return Evaluation.ok(1.0)


def also_scored(candidate, trial):
    return Evaluation.ok(2.0)


def test_a_plain_function_is_one_stage():
    """Called `evaluate`, with the default limit and no other function."""
    made = evaluator(scored)
    assert list(made.stages(small_task())) == [(Stage("evaluate"), scored)]
    assert made.functions(small_task()) == {}


def test_the_evaluator_can_be_called_as_the_function_that_it_is():
    """So that a task's own tests need no engine."""
    assert evaluator(scored)(None, Trial()).fitness == 1.0


def test_stages_run_in_the_order_in_which_they_were_added():
    """A threshold belongs to the stage before: what must be reached there."""
    made = evaluator(scored)
    made.stage("full", threshold=0.5, limit=60.0)(also_scored)
    made.stage("slow", threshold=0.75)(scored)
    expected = [Stage("evaluate", threshold=0.5), Stage("full", 60.0, threshold=0.75), Stage("slow")]
    assert [stage for stage, _ in made.stages(small_task())] == expected


def test_a_marked_function_stays_a_function():
    """The decorators give back what they mark."""
    made = evaluator(scored)
    assert made.stage("full")(also_scored) is also_scored
    assert made.certify(scored) is scored
    assert made.fingerprint(str) is str
    assert made.draw(str) is str
    assert made.functions(small_task()) == {"certify": scored, "fingerprint": str, "draw": str}


def test_a_task_file_overrides_a_stage_by_name():
    """Limit, needs and threshold; a threshold that it leaves out stays the code's."""
    made = evaluator(scored)
    made.stage("full", threshold=0.5)(also_scored)
    task = small_task(stages=(Stage("full", 90.0, needs=Needs(cores=2)), Stage("evaluate", 5.0)))
    assert [stage for stage, _ in made.stages(task)] == [
        Stage("evaluate", 5.0, threshold=0.5),
        Stage("full", 90.0, needs=Needs(cores=2)),
    ]
    raised = small_task(stages=(Stage("evaluate", threshold=0.9),))
    assert made.stages(raised)[0][0].threshold == 0.9


def test_a_stage_that_only_the_task_file_knows_is_an_error():
    """With the name that was probably meant."""
    made = evaluator(scored)
    with pytest.raises(TaskError, match=r"'evalute'.*Did you mean 'evaluate'"):
        made.stages(small_task(stages=(Stage("evalute"),)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "evaluate"}, "two stages called 'evaluate'"),
        ({"name": "full", "threshold": "top 300%"}, "is no finite number and no share, got 'top 300%'"),
    ],
)
def test_a_stage_that_cannot_be_is_refused_where_it_is_marked(arguments, message):
    """The module then does not load, which names the line."""
    with pytest.raises(TaskError, match=message):
        evaluator(scored).stage(**arguments)


def test_a_second_certify_is_refused():
    """Else the first would never be called."""
    made = evaluator(scored)
    made.certify(scored)
    with pytest.raises(TaskError, match="two functions marked 'certify'"):
        made.certify(also_scored)
