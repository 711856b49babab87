"""Model of one step: answers of the log first, then paid calls, all of them numbered."""

import json
import threading
from collections.abc import Sequence

import pytest

from evolve.config import ModelSection
from evolve.engine.members import Member
from evolve.engine.metering import ABANDONED, Answered, MeteredCaller, StepCalls, format_vector
from evolve.models.ledger import Ledger
from evolve.models.prices import ModelRates, Prices
from evolve.models.retries import CircuitBreaker, ModelClock
from evolve.stop import parse
from evolve.types import (
    Call,
    Message,
    ModelDown,
    ModelError,
    ModelGone,
    Progress,
    Prompt,
    Reply,
    Section,
    Unaffordable,
    Usage,
    text_id,
)

PROMPT = Prompt((Message("user", (Section("task", "Pack."), Section("parent", "x = 1"))),), temperature=0.5)


class ScriptedModel:
    """Answers from a script, and keeps its prompts and samples; embeds every text alike."""

    def __init__(self, *script: list[Reply] | ModelError) -> None:
        self.script = list(script)
        self.prompts: list[Prompt] = []
        self.samples: list[list[int]] = []

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        self.prompts.append(prompt)
        self.samples.append(list(samples))
        outcome = self.script.pop(0)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    def embed(self, text: str, *, deadline: float, cancelled: threading.Event) -> tuple[Sequence[float], Usage]:
        self.prompts.append(Prompt((Message("user", (Section("text", text),)),)))
        return [3.0, 4.0], Usage(1)


class FakeMeteredModels:
    """What a caller needs of `MeteredModels`, without a campaign."""

    def __init__(self, budget: str = "1000calls") -> None:
        self.cancelled = threading.Event()
        self.ledger = Ledger(parse(budget, 0.0), Progress())
        self.texts: dict[str, str] = {}
        self.told: list[Answered] = []
        self.tell = self.told.append
        self.prices = {"fast": Prices(ModelRates(prompt=1e6))}

    def read_text(self, name: str) -> str:
        return self.texts[name] if name else ""

    def next_samples(self, request: str, count: int) -> Sequence[int]:
        return range(7, 7 + count)

    def note_failure(self, member: Member, error: ModelError) -> None:
        member.note_failure(error)


def member(model: ScriptedModel, wait_seconds: float = 0.0, **section: object) -> Member:
    clock = ModelClock(pause=lambda seconds, cancelled: cancelled.is_set())
    return Member(
        ModelSection(name="fast", **section),
        model,
        threading.BoundedSemaphore(1),
        breaker=CircuitBreaker(wait_seconds, clock),
    )  # type: ignore[arg-type]


def caller(
    model: ScriptedModel,
    known: dict[int, Call] | None = None,
    models: FakeMeteredModels | None = None,
    **section: object,
) -> MeteredCaller:
    return MeteredCaller(models or FakeMeteredModels(), member(model, **section), "propose", StepCalls(3, known or {}))  # type: ignore[arg-type]


def test_the_models_own_bound_is_in_the_prompt() -> None:
    model = ScriptedModel([Reply("a")])
    assert [reply.text for reply in caller(model, max_tokens=500).complete(PROMPT)] == ["a"]
    assert (model.prompts[0].max_tokens, model.samples) == (500, [[7]])


def test_a_prompts_own_bound_counts_where_it_is_smaller() -> None:
    model = ScriptedModel([Reply("a")])
    caller(model, max_tokens=500).complete(Prompt(PROMPT.messages, max_tokens=100))
    assert model.prompts[0].max_tokens == 100


def test_a_caller_that_gets_fewer_answers_asks_again_for_the_rest() -> None:
    model = ScriptedModel([Reply("a"), Reply("b")], [Reply("c")])
    assert [reply.text for reply in caller(model).complete(PROMPT, 3)] == ["a", "b", "c"]
    assert model.samples == [[7, 8, 9], [9]]


def test_some_answers_are_better_than_none() -> None:
    model = ScriptedModel([Reply("a")], ModelError("cut off"))
    assert [reply.text for reply in caller(model).complete(PROMPT, 3)] == ["a"]


def test_no_answer_is_an_error() -> None:
    with pytest.raises(ModelError, match="cut off"):
        caller(ScriptedModel(ModelError("cut off"))).complete(PROMPT, 2)


@pytest.mark.parametrize("error", [ModelGone("gone"), Unaffordable("too dear")])
def test_answers_that_were_paid_for_are_used_whatever_ends_the_others(error: ModelError) -> None:
    """Without any, the engine is told."""
    assert caller(ScriptedModel([Reply("a")], error)).complete(PROMPT, 2) == [Reply("a", call=0)]
    with pytest.raises(type(error)):
        caller(ScriptedModel(error)).complete(PROMPT, 2)


def test_answers_of_the_log_come_first() -> None:
    model, models = ScriptedModel([Reply("new")]), FakeMeteredModels()
    models.texts = {"one": "old", "two": "hm"}
    known = {0: Call("fast", reply="one", thinking="two", finish="stop", prompt_tokens=9, exact=True, seconds=2.0)}
    assert caller(model, known, models).complete(PROMPT, 2) == [
        Reply("old", "hm", "stop", Usage(9, exact=True), seconds=2.0, call=0),
        Reply("new", call=1),
    ]
    assert len(model.prompts) == 1


def test_an_empty_answer_of_the_log_is_empty_again() -> None:
    """A refusal without a word names no text, for none is stored."""
    models = FakeMeteredModels()
    caller(ScriptedModel([Reply("", finish="refused")]), models=models).complete(PROMPT)
    (told,) = models.told
    assert told.event.call.reply not in told.texts
    assert caller(ScriptedModel(), {0: told.event.call}).complete(PROMPT) == [Reply("", finish="refused", call=0)]


def test_a_failure_of_the_log_is_a_failure_again() -> None:
    model = ScriptedModel()
    with pytest.raises(ModelError, match=r"^model 'fast': was cut$"):
        caller(model, {0: Call("fast", error="was cut")}).complete(PROMPT)
    assert model.prompts == []


def test_a_repair_has_the_number_after_its_proposal() -> None:
    calls, models = StepCalls(3, {0: Call("fast", reply="one")}), FakeMeteredModels()
    models.texts = {"one": "old"}
    shared = member(ScriptedModel([Reply("b")], [Reply("c")]))
    MeteredCaller(models, shared, "propose", calls).complete(PROMPT)  # type: ignore[arg-type]
    MeteredCaller(models, shared, "repair", calls).complete(PROMPT, 2)  # type: ignore[arg-type]
    assert [(told.event.index, told.event.call.purpose) for told in models.told] == [(1, "repair"), (2, "repair")]


def test_an_event_names_every_text_by_its_id() -> None:
    models = FakeMeteredModels()
    retries = {"503": 1}
    reply = Reply("x = 2", "thinks", "stop", Usage(10, 5, 2, exact=True), "fast-1", 1.5, 2, retries)
    caller(ScriptedModel([reply]), models=models).complete(PROMPT)
    (told,) = models.told
    call = told.event.call
    assert (told.event.step, told.event.index) == (3, 0)
    assert [(part.role, part.name, part.text) for part in call.prompt] == [
        ("user", "task", text_id("Pack.")),
        ("user", "parent", text_id("x = 1")),
    ]
    assert (call.reply, call.thinking) == (text_id("x = 2"), text_id("thinks"))
    assert (call.sample, call.parameters) == (7, {"temperature": 0.5, "max_tokens": 16_384})
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.exact) == (10, 5, 2, True)
    assert (call.cost, call.seconds, call.attempts, call.retries) == (8.0, 1.5, 2, retries)
    assert set(told.texts.values()) == {"Pack.", "x = 1", "x = 2", "thinks"}
    assert models.ledger.spent.money == 8.0


def test_a_call_that_failed_is_told_with_its_retries_and_answers_nothing_when_it_was_given_up() -> None:
    models = FakeMeteredModels()
    failed, gone = ModelError("cut", Usage(10, 0), attempts=3), ModelGone("no key", Usage(10, 0))
    failed.retries = {"503": 3}
    model = ScriptedModel(failed, gone)
    for _ in range(2):
        with pytest.raises(ModelError):
            caller(model, models=models).complete(PROMPT)
    first, second = (told.event for told in models.told)
    assert (first.index, first.call.error, first.call.attempts, first.call.retries) == (0, "cut", 3, {"503": 3})
    assert (second.index, second.call.error) == (ABANDONED, "no key")


def test_tries_that_a_breaker_outlasted_are_in_the_first_answer() -> None:
    models, down = FakeMeteredModels(), ModelDown("hang", Usage(2), 4)
    down.retries = {"503": 4}
    replies = [Reply("a", usage=Usage(2, 3, exact=True)), Reply("b", usage=Usage(0, 3, exact=True))]
    shared = member(ScriptedModel(down, replies), wait_seconds=60.0)
    first, second = MeteredCaller(models, shared, "propose", StepCalls(3, {})).complete(PROMPT, 2)  # type: ignore[arg-type]
    assert (first.usage, first.attempts, first.retries) == (Usage(4, 3), 5, {"503": 4})
    assert (second.usage, second.attempts, second.retries) == (Usage(0, 3, exact=True), 5, {})


def test_an_embedding_has_length_one_and_is_kept_as_a_text() -> None:
    model, models = ScriptedModel(), FakeMeteredModels()
    assert caller(model).embed("x = 1") == [0.6, 0.8]
    assert model.prompts[0].messages[0].text == "x = 1"
    models.texts = {"vector": format_vector([0.0, 2.0])}
    assert caller(model, {0: Call("fast", reply="vector")}, models).embed("x = 1") == [0.0, 1.0]


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [float("nan")], [float("inf"), 1.0]])
def test_a_vector_without_a_direction_is_none(vector: list[float]) -> None:
    with pytest.raises(ModelError, match="finite numbers"):
        format_vector(vector)


def test_a_vector_keeps_single_precision() -> None:
    assert json.loads(format_vector([1.0, 2.0, 2.0])) == [0.33333333, 0.66666667, 0.66666667]


def test_a_screening_that_asks_something_else_gets_no_answer_to_what_it_asked_before() -> None:
    """A step that runs again may have other neighbours than at first; its operator gets what it got, in its order."""
    model, models = ScriptedModel([Reply("no")]), FakeMeteredModels()
    models.texts = {"p0": "first", "p1": "second", "n": "yes", "e": format_vector([0.0, 1.0])}
    same = Prompt((Message("user", (Section("difference", "a to b"),)),), max_tokens=16_384)
    other = Prompt((Message("user", (Section("difference", "a to c"),)),), max_tokens=16_384)
    text = Prompt((Message("user", (Section("text", "x = 1"),)),))
    known = {
        0: Call("fast", reply="p0"),
        1: Call("fast", "novelty", reply="n", request=same.request),
        2: Call("fast", "embed", reply="e", request=text.request),
        3: Call("fast", reply="p1"),
    }
    calls, shared = StepCalls(3, known), member(model)
    propose, novelty, embed = (
        MeteredCaller(models, shared, purpose, calls)  # type: ignore[arg-type]
        for purpose in ("propose", "novelty", "embed")
    )
    assert [reply.text for reply in propose.complete(PROMPT, 2)] == ["first", "second"]
    assert novelty.complete(other)[0].text == "no"
    assert novelty.complete(same)[0].text == "yes"
    assert embed.embed("x = 1") == [0.0, 1.0]
    assert embed.embed("x = 2") == [0.6, 0.8]
    assert [told.event.call.purpose for told in models.told] == ["novelty", "embed"]


def test_new_calls_are_numbered_after_all_that_are_known() -> None:
    """Whichever of these are asked for again."""
    calls = StepCalls(3, {0: Call("fast"), 1: Call("fast", "novelty")})
    assert (calls.next_index(), calls.next_index()) == (2, 3)
