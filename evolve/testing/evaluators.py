"""Suite for evaluators: their stages and functions for a task. No candidate runs."""

import inspect
import math
from collections.abc import Callable, Sequence

from evolve.protocols import Evaluator
from evolve.testing.rehearsal import rehearsed_task
from evolve.types import Stage, Task

FUNCTIONS = frozenset({"certify", "fingerprint", "draw"})
"""Functions of an evaluator that the engine calls with the artifacts of an evaluation."""


def check_evaluator(make: Callable[[], Evaluator], task: Task | None = None) -> None:
    """Asks the evaluators that `make()` returns for what they have for `task` (without it, for a task of the rehearsal's).

    Checked: there are stages, with names of their own, limits above zero and no threshold on the last; every stage's function takes a
    candidate and a trial; it has no function but `certify`, `fingerprint` and `draw`, and `certify` where the task asks for it; an
    evaluator made afresh answers the same."""
    wanted = task or rehearsed_task()
    evaluator, again = make(), make()
    stages = [stage for stage, _ in evaluator.stages(wanted)]
    _check_stages(stages)
    functions = evaluator.functions(wanted)
    unknown = sorted(set(functions) - FUNCTIONS)
    assert not unknown, f"it has the functions {unknown}, of which the engine calls none"
    assert wanted.promotion != "certificate" or "certify" in functions, (
        "the task wants certificates, and it certifies nothing"
    )
    called = {stage.name: function for stage, function in evaluator.stages(wanted)} | dict(functions)
    for name, function in called.items():
        assert _takes_two(function), f"{name!r} is no function of two arguments, got {function!r}"
    for other in (evaluator, again):
        answer = [stage for stage, _ in other.stages(wanted)]
        assert answer == stages, f"the same task has other stages: {answer} != {stages}"
        assert set(other.functions(wanted)) == set(functions), "the same task has other functions"


def _check_stages(stages: Sequence[Stage]) -> None:
    names = [stage.name for stage in stages]
    assert stages, "it has no stage"
    assert all(names), "a stage has no name"
    assert len(set(names)) == len(names), f"two stages have one name: {names}"
    for stage in stages:
        assert 0 < stage.limit < math.inf, f"the limit of stage {stage.name!r} is {stage.limit} seconds"
    last = stages[-1]
    assert last.threshold is last.top is None, f"stage {last.name!r} is the last, and nothing reads its threshold"


def _takes_two(function: object) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True
