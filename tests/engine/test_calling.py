"""A model as one step's operator has it: answers of the log first, then paid calls, all of them numbered."""

from collections.abc import Sequence

import pytest

from evolve.config import ModelSection
from evolve.engine import calling
from evolve.engine.calling import ABANDONED, Counter, Order, StepCaller, as_json, vector_of
from evolve.engine.members import Member
from evolve.models.cost import Cost
from evolve.types import (
    Call,
    Message,
    ModelDown,
    ModelError,
    ModelGone,
    Prompt,
    Reply,
    Section,
    Unaffordable,
    Usage,
    text_id,
)

PROMPT = Prompt((Message("user", (Section("task", "Pack."), Section("parent", "x = 1"))),), temperature=0.5)


class FakeDesk:
    """Answers orders from a script, and keeps them."""

    def __init__(self, *script: list[Reply] | ModelError) -> None:
        self.script = list(script)
        self.orders: list[Order] = []
        self.texts: dict[str, str] = {}

    def completed(self, order: Order) -> Sequence[Reply]:
        self.orders.append(order)
        found = self.script.pop(0)
        if isinstance(found, ModelError):
            raise found
        for reply in found:
            order.answered(order.samples[0], reply, Cost())
        return found

    def embedded(self, order: Order, text: str) -> str:
        self.orders.append(order)
        return as_json([3.0, 4.0])

    def numbers(self, request: str, samples: int) -> Sequence[int]:
        return range(7, 7 + samples)

    def text(self, name: str) -> str:
        return self.texts[name]


def caller(desk: FakeDesk, known: dict[int, Call] | None = None, **section: object) -> StepCaller:
    member = Member(ModelSection(name="fast", **section), None, None, None, Usage())  # type: ignore[arg-type]
    return StepCaller(desk, member, "propose", Counter(3, known or {}))


def test_an_answer_is_ordered_with_the_models_own_bound() -> None:
    desk = FakeDesk([Reply("a")])
    assert [reply.text for reply in caller(desk, max_tokens=500).complete(PROMPT)] == ["a"]
    assert (desk.orders[0].prompt.max_tokens, list(desk.orders[0].samples)) == (500, [7])


def test_a_prompts_own_bound_counts_where_it_is_smaller() -> None:
    desk = FakeDesk([Reply("a")])
    caller(desk, max_tokens=500).complete(Prompt(PROMPT.messages, max_tokens=100))
    assert desk.orders[0].prompt.max_tokens == 100


def test_who_gets_fewer_answers_asks_again_for_the_rest() -> None:
    desk = FakeDesk([Reply("a"), Reply("b")], [Reply("c")])
    assert [reply.text for reply in caller(desk).complete(PROMPT, 3)] == ["a", "b", "c"]
    assert [list(order.samples) for order in desk.orders] == [[7, 8, 9], [9]]


@pytest.mark.parametrize(("seconds", "steps_back"), [(0.09, 0), (0.11, 1)])
def test_after_long_calls_others_go_first(monkeypatch: pytest.MonkeyPatch, seconds: float, steps_back: int) -> None:
    """When the last of a prompt's calls has been sent, and not between them."""
    desk = FakeDesk(*([Reply(text, seconds=seconds)] for text in "abc"))
    asked = list[int]()
    monkeypatch.setattr(calling, "step_back", lambda: asked.append(len(desk.orders)))
    caller(desk).complete(PROMPT, 3)
    assert asked == [3] * steps_back


def test_some_answers_are_better_than_none() -> None:
    desk = FakeDesk([Reply("a")], ModelError("cut off"))
    assert [reply.text for reply in caller(desk).complete(PROMPT, 3)] == ["a"]


def test_no_answer_is_an_error() -> None:
    with pytest.raises(ModelError, match="cut off"):
        caller(FakeDesk(ModelError("cut off"))).complete(PROMPT, 2)


@pytest.mark.parametrize("error", [ModelGone("gone"), Unaffordable("too dear")])
def test_answers_that_were_paid_for_are_used_whatever_ends_the_others(error: ModelError) -> None:
    """Without any, the engine is told."""
    assert caller(FakeDesk([Reply("a")], error)).complete(PROMPT, 2) == [Reply("a")]
    with pytest.raises(type(error)):
        caller(FakeDesk(error)).complete(PROMPT, 2)


def test_answers_of_the_log_come_first() -> None:
    desk = FakeDesk([Reply("new")])
    desk.texts = {"one": "old", "two": "hm"}
    known = {0: Call("fast", reply="one", thinking="two", finish="stop", prompt_tokens=9, exact=True, seconds=2.0)}
    assert caller(desk, known).complete(PROMPT, 2) == [
        Reply("old", "hm", "stop", Usage(9, exact=True), seconds=2.0),
        Reply("new"),
    ]
    assert len(desk.orders) == 1


def test_an_empty_answer_of_the_log_is_empty_again() -> None:
    """A refusal without a word names no text, for none is stored."""
    told = Order(
        Member(ModelSection(name="fast"), None, None, None, Usage()), "propose", Counter(3, {}), PROMPT
    ).answered(  # type: ignore[arg-type]
        0, Reply("", finish="refused"), Cost()
    )
    assert told.event.call.reply not in told.texts
    assert caller(FakeDesk(), {0: told.event.call}).complete(PROMPT) == [Reply("", finish="refused")]


def test_a_failure_of_the_log_is_a_failure_again() -> None:
    desk = FakeDesk()
    with pytest.raises(ModelError, match=r"^model 'fast': was cut$"):
        caller(desk, {0: Call("fast", error="was cut")}).complete(PROMPT)
    assert desk.orders == []


def test_a_repair_has_the_number_after_its_proposal() -> None:
    counter, desk = Counter(3, {0: Call("fast", reply="one")}), FakeDesk()
    desk.texts = {"one": "old"}
    member = Member(ModelSection(name="fast"), None, None, None, Usage())  # type: ignore[arg-type]
    StepCaller(desk, member, "propose", counter).complete(PROMPT)
    repair = Order(member, "repair", counter, PROMPT, (0,))
    assert [repair.answered(0, Reply("b"), Cost()).event.index for _ in range(2)] == [1, 2]


def test_an_event_names_every_text_by_its_id() -> None:
    member = Member(ModelSection(name="fast"), None, None, None, Usage())  # type: ignore[arg-type]
    order = Order(member, "propose", Counter(3, {}), PROMPT, (4,))
    reply = Reply("x = 2", "thinks", "stop", Usage(10, 5, 2, exact=True), "fast-1", 1.5, 2)
    told = order.answered(4, reply, Cost(1, 15, 0.25, 3.0))
    call = told.event.call
    assert (told.event.step, told.event.index) == (3, 0)
    assert [(part.role, part.name, part.text) for part in call.prompt] == [
        ("user", "task", text_id("Pack.")),
        ("user", "parent", text_id("x = 1")),
    ]
    assert (call.reply, call.thinking) == (text_id("x = 2"), text_id("thinks"))
    assert (call.request, call.sample, call.parameters) == (PROMPT.request, 4, {"temperature": 0.5})
    assert (call.prompt_tokens, call.completion_tokens, call.cached_tokens, call.exact) == (10, 5, 2, True)
    assert (call.cost, call.gpu_seconds, call.seconds, call.attempts) == (0.25, 3.0, 1.5, 2)
    assert set(told.texts.values()) == {"Pack.", "x = 1", "x = 2", "thinks"}


def test_a_call_that_was_given_up_answers_nothing_later() -> None:
    member = Member(ModelSection(name="fast"), None, None, None, Usage())  # type: ignore[arg-type]
    order = Order(member, "propose", Counter(3, {}), PROMPT, (4,))
    error = ModelDown("down", Usage(10, 0), attempts=3)
    assert order.failed(error, Cost(), given_up=True).event.index == ABANDONED
    kept = order.failed(error, Cost(), given_up=False).event
    assert (kept.index, kept.call.error, kept.call.attempts) == (0, "down", 3)


def test_an_embedding_has_length_one_and_is_kept_as_a_text() -> None:
    desk = FakeDesk()
    assert caller(desk).embed("x = 1") == [0.6, 0.8]
    assert desk.orders[0].prompt.messages[0].text == "x = 1"
    desk.texts = {"vector": as_json([0.0, 2.0])}
    assert caller(desk, {0: Call("fast", reply="vector")}).embed("x = 1") == [0.0, 1.0]


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [float("nan")], [float("inf"), 1.0]])
def test_a_vector_without_a_direction_is_none(vector: list[float]) -> None:
    with pytest.raises(ModelError, match="finite numbers"):
        as_json(vector)


def test_a_vector_keeps_single_precision() -> None:
    assert vector_of(as_json([1.0, 2.0, 2.0])) == [0.33333333, 0.66666667, 0.66666667]


def asked_for(desk: FakeDesk, counter: Counter, purpose: str) -> StepCaller:
    """A caller for a purpose that shares a step's calls."""
    return StepCaller(desk, Member(ModelSection(name="fast"), None, None, None, Usage()), purpose, counter)  # type: ignore[arg-type]


def test_a_screening_that_asks_something_else_gets_no_answer_to_what_it_asked_before() -> None:
    """A step that runs again may have other neighbours than at first; its operator gets what it got, in its order."""
    desk = FakeDesk([Reply("no")])
    desk.texts = {"p0": "first", "p1": "second", "n": "yes", "e": as_json([0.0, 1.0])}
    same = Prompt((Message("user", (Section("difference", "a to b"),)),), max_tokens=16_384)
    other = Prompt((Message("user", (Section("difference", "a to c"),)),), max_tokens=16_384)
    text = Prompt((Message("user", (Section("text", "x = 1"),)),))
    known = {
        0: Call("fast", reply="p0"),
        1: Call("fast", "novelty", reply="n", request=same.request),
        2: Call("fast", "embed", reply="e", request=text.request),
        3: Call("fast", reply="p1"),
    }
    counter = Counter(3, known)
    propose, novelty, embed = (asked_for(desk, counter, purpose) for purpose in ("propose", "novelty", "embed"))
    assert [reply.text for reply in propose.complete(PROMPT, 2)] == ["first", "second"]
    assert novelty.complete(other)[0].text == "no"
    assert novelty.complete(same)[0].text == "yes"
    assert embed.embed("x = 1") == [0.0, 1.0]
    assert embed.embed("x = 2") == [0.6, 0.8]
    assert [order.purpose for order in desk.orders] == ["novelty", "embed"]


def test_new_calls_are_numbered_after_all_that_are_known() -> None:
    """Whichever of these are asked for again."""
    counter = Counter(3, {0: Call("fast"), 1: Call("fast", "novelty")})
    assert (counter.take(), counter.take()) == (2, 3)
