import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.types import (
    Asked,
    Call,
    Evaluation,
    Event,
    Lesson,
    LessonWritten,
    MachineMeasured,
    Measure,
    Opened,
    Origin,
    Outcome,
    Parameters,
    Paused,
    Previewed,
    Program,
    ProgramId,
    Propose,
    Replied,
    Ruled,
    Selection,
    SettingsChanged,
    Settled,
    Stage,
    Task,
    TaskChanged,
    Trial,
)
from evolve.types.codec import decode, encode
from evolve.types.task import EvaluatorSource

texts = st.text(max_size=8)
counts = st.integers(0, 2**40)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | counts | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def open_mapping() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts, plain, max_size=3)


st.register_type_strategy(ProgramId, texts)
st.register_type_strategy(float, numbers)
st.register_type_strategy(str, texts)
successes = st.builds(Evaluation, outcome=st.just(Outcome.OK), fitness=numbers, artifacts=open_mapping())
failures = st.builds(
    Evaluation,
    outcome=st.sampled_from(sorted(set(Outcome) - {Outcome.OK})),
    fitness=st.none(),
    artifacts=open_mapping(),
)
records = st.builds(
    Settled,
    record=st.builds(
        Settled.__annotations__["record"],
        origin=st.builds(Origin, notes=open_mapping()),
        evaluation=successes | failures,
        extras=open_mapping(),
    ),
)
proposals = st.builds(Propose, selection=st.builds(Selection, notes=open_mapping()))
calls = st.builds(Call, parameters=open_mapping())
EVENTS = {
    Opened: st.builds(Opened, settings=open_mapping()),
    TaskChanged: st.builds(TaskChanged),
    SettingsChanged: st.builds(SettingsChanged, changes=open_mapping()),
    Paused: st.builds(Paused),
    MachineMeasured: st.builds(MachineMeasured),
    Asked: st.builds(Asked, action=proposals | st.builds(Measure)),
    Replied: st.builds(Replied, call=calls),
    Previewed: st.builds(Previewed, evaluation=successes | failures),
    Settled: records,
    LessonWritten: st.builds(LessonWritten, lesson=st.builds(Lesson)),
    Ruled: st.builds(Ruled),
}


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_an_event_comes_back_from_its_json(kind: type[Event], data: st.DataObject) -> None:
    """Every event type survives encode, JSON and decode, for any values of its fields."""
    event = data.draw(EVENTS[kind])
    stored = json.dumps(encode(event), allow_nan=False)
    assert decode(Event, json.loads(stored)) == event


def test_every_event_type_is_tried() -> None:
    """The property above covers the whole closed set."""
    assert set(EVENTS) == set(Event.__args__)


def test_defaults_are_left_out() -> None:
    """A field that has its default value costs nothing; a field without a default is always there."""
    assert encode(Asked(3, Propose(Selection("tune")), 0)) == {
        "type": "Asked",
        "step": 3,
        "action": {"type": "Propose", "selection": {"operator": "tune"}},
        "after": 0,
    }


def test_a_task_comes_back() -> None:
    """A value with a program, nested tuples and open settings survives too; the program's id is computed, not stored."""
    task = Task(
        name="t",
        folder="/t",
        version="1",
        brief="",
        seed=Program({"seed.py": "x = 1\n"}),
        entry="seed",
        evaluator=EvaluatorSource(plugin="p", settings={"a": [1, {"b": None}]}),
        parameters={"n": 26, "exact": True},
        stages=(Stage("screen", threshold=1.5), Stage("full")),
    )
    data = encode(task)
    assert "id" not in data["seed"]
    assert decode(Task, json.loads(json.dumps(data))) == task


def test_parameters_stay_readable_as_attributes() -> None:
    """A dict subclass is rebuilt as itself."""
    trial = decode(Trial, encode(Trial(parameters=Parameters(n=5))))
    assert trial.parameters.n == 5


def test_whole_numbers_are_floats_where_floats_are_meant() -> None:
    """An int or a bool in a field of floats comes back as an equal float, for evaluators write both."""
    evaluation = decode(Evaluation, encode(Evaluation.ok(3, metrics={"passed": True, "walls": 4})))
    assert (type(evaluation.fitness), evaluation.metrics) == (float, {"passed": 1.0, "walls": 4.0})


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({"type": "Teleported"}, "Teleported"),
        ({"step": 1}, "type"),
        (None, "NoneType"),
        ([], "list"),
        ({"type": "Asked", "step": 1, "action": {"type": "Wait"}, "after": 0}, "Wait"),
        ({"type": "Asked", "step": 1, "action": {"type": "Wish"}, "after": 0}, "Wish"),
        ({"type": "SettingsChanged", "changes": {}, "why": "x"}, "why"),
        ({"type": "SettingsChanged"}, "changes"),
        ({"type": "SettingsChanged", "changes": [1]}, "list"),
        ({"type": "MachineMeasured", "hardware": "x", "noise_floor": "0.1", "isolation": ""}, "'0.1' is no number"),
        ({"type": "MachineMeasured", "hardware": 1, "noise_floor": 0.1, "isolation": ""}, "1 is no str"),
        ({"type": "Ruled", "what": "pardon", "about": "p", "by": "me"}, "pardon"),
    ],
)
def test_what_is_unknown_or_wrong_is_refused(data: Any, part: str) -> None:
    """Data of a newer version, or damaged data, is a `ValueError` that names the part; it is never misread."""
    with pytest.raises(ValueError, match=part):
        decode(Event, data)


@pytest.mark.parametrize("outcome", ["fine", 1, None])
def test_an_unknown_member_of_an_enumeration_is_refused(outcome: object) -> None:
    """An outcome that this version does not know is a `ValueError`."""
    with pytest.raises(ValueError, match="Evaluation"):
        decode(Evaluation, {"outcome": outcome})


def test_a_field_that_json_cannot_hold_is_refused() -> None:
    """A type that the codec does not know is found when it is first used, not read as something else."""

    @dataclass(frozen=True, slots=True)
    class Odd:
        when: complex

    with pytest.raises(ValueError, match="complex"):
        decode(Odd, {"when": 1})
