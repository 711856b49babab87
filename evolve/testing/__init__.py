"""Conformance suites for authors of strategies, operators, evaluators, kinds of models and trackers.

A suite checks what the engine relies on by the promises of `evolve.protocols`, such as that equal inputs give equal answers. A broken promise is
an `AssertionError` that says which."""

from evolve.testing.evaluators import check_evaluator
from evolve.testing.executors import check_executor
from evolve.testing.models import check_model
from evolve.testing.operators import check_model_operator, check_operator, rehearse_proposal
from evolve.testing.rehearsal import (
    OPERATORS,
    OPTIMUM,
    Answer,
    Heard,
    Rehearsal,
    RehearsedCaller,
    RehearsedCandidate,
    RehearsedHistory,
    ScriptedModel,
    rehearsed_step,
    rehearsed_task,
)
from evolve.testing.strategies import check_strategy
from evolve.testing.trackers import check_tracker, rehearse_tracking

__all__ = [
    "OPERATORS",
    "OPTIMUM",
    "Answer",
    "Heard",
    "Rehearsal",
    "RehearsedCaller",
    "RehearsedCandidate",
    "RehearsedHistory",
    "ScriptedModel",
    "check_evaluator",
    "check_executor",
    "check_model",
    "check_model_operator",
    "check_operator",
    "check_strategy",
    "check_tracker",
    "rehearse_proposal",
    "rehearse_tracking",
    "rehearsed_step",
    "rehearsed_task",
]
