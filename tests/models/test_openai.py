"""The faults that a call survives, and what the others are called; each with its requests and its usage counted."""

import gzip
import logging
import threading
import time
import traceback
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from evolve.models.completion import TEXT_LIMIT
from evolve.models.endpoint import OpenAISettings
from evolve.models.faults import SYSTEM
from evolve.models.openai import RequestFields
from evolve.types import Message, ModelDown, ModelError, ModelGone, Prompt, Section, Usage
from tests.models.asking import PROMPT, PROMPT_ESTIMATE, FakeTime, ask, asked_of, replies
from tests.models.fault_server import (
    CUT,
    DROP,
    EMPTY,
    HANG,
    HANG_MIDWAY,
    HTML,
    HUGE,
    KEY,
    MODEL,
    NO_CHOICES,
    NO_USAGE,
    NULL_CONTENT,
    OK,
    TRUNCATED,
    FaultServer,
    Step,
    failure,
)

pytestmark = pytest.mark.integration

EXACT = Usage(11, 7, 3, exact=True)


def test_a_reply_carries_its_text_its_finish_its_usage_and_who_answered():
    (reply,), requests = replies(OK)
    assert (reply.text, reply.thinking, reply.finish, reply.usage) == ("hello", "", "stop", EXACT)
    assert (reply.revision, reply.attempts, requests) == (MODEL, 1, 1)
    assert reply.seconds > 0


def test_the_request_holds_what_was_asked_and_nothing_else():
    turns = (
        Message("system", (Section("a", "one"), Section("b", "two"))),
        Message("user", (Section("c", "grüße\ud800"),)),
    )
    prompt = Prompt(turns, temperature=0.5, effort="low", max_tokens=50)
    with FaultServer() as server, asked_of(server, extra={"top_k": 5}) as model:
        model.complete(prompt, samples=[4, 5], deadline=time.monotonic() + 9, cancelled=threading.Event())
        sent = server.asked[0].body
    assert sent == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "one\n\ntwo"}, {"role": "user", "content": "grüße?"}],
        "n": 2,
        "temperature": 0.5,
        "reasoning_effort": "low",
        "max_tokens": 50,
        "top_k": 5,
    }


def test_several_answers_share_the_usage_of_their_request():
    said, requests = replies(OK, samples=3)
    assert [reply.text for reply in said] == ["hello"] * 3
    assert [reply.usage for reply in said] == [EXACT, Usage(0, 7, 0, exact=True), Usage(0, 7, 0, exact=True)]
    assert requests == 1


@pytest.mark.parametrize(("sent", "wanted", "got"), [(5, 2, 2), (1, 3, 1)])
def test_of_too_many_answers_the_first_are_taken_and_of_too_few_all(sent: int, wanted: int, got: int):
    said, requests = replies(replace(OK, choices=sent), samples=wanted)
    assert (len(said), requests) == (got, 1)
    assert sum(reply.usage.completion_tokens for reply in said) == 7 * sent


def test_without_usage_it_is_estimated_and_marked_so():
    (reply,), requests = replies(NO_USAGE)
    assert (reply.usage, requests) == (Usage(PROMPT_ESTIMATE, 2), 1)


@pytest.mark.parametrize(
    "fault", [HTML, TRUNCATED, NO_CHOICES, NULL_CONTENT, EMPTY, CUT], ids=lambda step: step.body or ""
)
def test_nonsense_is_asked_again_once_and_what_it_may_have_cost_is_counted(fault: Step):
    (reply,), requests = replies(fault, OK)
    assert (reply.text, reply.attempts, requests) == ("hello", 2, 2)
    assert reply.usage.prompt_tokens >= 11 + PROMPT_ESTIMATE


def test_nonsense_twice_is_an_error_of_this_call_alone():
    with FaultServer([HTML, HTML]) as server, asked_of(server) as model:
        with pytest.raises(ModelError, match="a web page") as raised:
            ask(model)
        assert (type(raised.value), server.count) == (ModelError, 2)
        assert raised.value.usage == Usage(2 * PROMPT_ESTIMATE, 2 * 12)
        assert raised.value.attempts == 2


def test_usage_of_an_empty_answer_is_exact_where_the_server_counts():
    (reply,), _ = replies(EMPTY, OK)
    assert reply.usage == Usage(22, 14, 6, exact=True)


def test_a_long_answer_is_cut_and_says_so():
    (reply,), requests = replies(HUGE)
    assert (len(reply.text), reply.finish, requests) == (TEXT_LIMIT, "length", 1)


def test_a_body_without_end_is_cut_off():
    endless = Step(body='{"x": "' + "a" * (9 << 20))
    with FaultServer([endless, endless]) as server, asked_of(server) as model:
        with pytest.raises(ModelError, match="longer than 8388608 bytes"):
            ask(model)
        assert server.count == 2


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (200, ModelError, r"its body is compressed \(gzip\), which nobody asked for. Try: switch compression off"),
        (400, ModelError, r"it refused the call \(status 400\)"),
    ],
)
def test_a_compressed_body_is_refused_and_never_unpacked(status: int, kind: type[ModelError], words: str):
    """130 kB here, and 128 MB then; the first request of a connection goes another way than the second."""
    bomb = Step(status=status, body=gzip.compress(bytes(128 << 20), 1), headers={"Content-Encoding": "gzip"})
    with FaultServer([bomb] * 4) as server, asked_of(server) as model:
        tracemalloc.start()
        try:
            for _ in range(2):
                with pytest.raises(kind, match=words):
                    ask(model)
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()


def test_an_estimate_is_never_more_than_the_answer_may_have_been():
    """So that what was reserved for a call holds, whatever its server sends."""
    (reply,), _ = replies(replace(HUGE, usage=False))
    assert reply.usage == Usage(PROMPT_ESTIMATE, PROMPT.max_tokens)
    with FaultServer([replace(HUGE, usage=False, cut_at=1 << 20)] * 2) as server, asked_of(server) as model:
        with pytest.raises(ModelError, match="broke in the middle") as raised:
            ask(model)
        assert raised.value.usage == Usage(2 * PROMPT_ESTIMATE, 2 * PROMPT.max_tokens)


def test_thinking_is_kept_apart_from_the_answer():
    (tagged,), _ = replies(Step("<think>\nhm\n</think>\n\nyes"))
    (fielded,), _ = replies(Step("yes", message={"reasoning_content": "hm"}))
    assert (tagged.thinking, tagged.text) == (fielded.thinking, fielded.text) == ("hm", "yes")


def test_an_answer_that_was_all_thinking_is_a_reply_that_was_cut_off():
    (reply,), requests = replies(Step("<think>hm", finish="length"))
    assert (reply.text, reply.thinking, reply.finish, requests) == ("", "hm", "length", 1)


def test_a_model_that_thinks_all_the_while_that_it_is_checked_answers():
    thought = Step("", message={"content": None, "reasoning_content": "The user wants"}, finish="length")
    with FaultServer([thought]) as server, asked_of(server) as model:
        assert (model.check(time.monotonic() + 9, threading.Event()), server.count) == (EXACT, 1)


def test_an_error_for_an_answer_that_was_all_thinking_is_a_reply_that_was_cut_off():
    """As OpenAI sends it for some of its models; all that it may write was perhaps paid."""
    words = "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens."
    (reply,), requests = replies(failure(400, words))
    assert (reply.text, reply.finish, requests) == ("", "length", 1)
    assert reply.usage == Usage(PROMPT_ESTIMATE, PROMPT.max_tokens)


def test_all_requests_have_the_headers_of_the_first_and_a_body_of_their_own():
    with FaultServer() as server, asked_of(server, headers={"X-Title": "evolve"}) as model:
        ask(model)
        ask(model, samples=2)
        first, second = server.asked
    lengths = int(first.headers.pop("content-length")), int(second.headers.pop("content-length"))
    assert (first.path, first.headers) == (second.path, second.headers)
    assert (second.headers["x-title"], second.body["n"]) == ("evolve", 2)
    assert lengths[1] > lengths[0]


def test_a_server_gets_its_cookies_back_and_one_that_it_changes():
    steps = [Step(headers={"Set-Cookie": f"seat={seat}"}) for seat in (1, 2)]
    with FaultServer(steps) as server, asked_of(server) as model:
        for _ in range(3):
            ask(model)
        assert [asked.headers.get("cookie") for asked in server.asked] == [None, "seat=1", "seat=2"]


def test_a_refusal_is_a_reply_that_says_so():
    (reply,), requests = replies(Step("", message={"content": None, "refusal": "I will not."}))
    assert (reply.text, reply.finish, requests) == ("I will not.", "refused", 1)


def test_a_refused_key_ends_the_run_and_no_error_and_no_log_repeats_it(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    echo = failure(401, f"Incorrect API key provided: {KEY}; it begins with {KEY[:10]}***")
    with FaultServer([echo]) as server, asked_of(server, environment={"THEIRS": KEY}, key_env="THEIRS") as model:
        with pytest.raises(ModelGone, match=r"the key was refused.*Try: set \$THEIRS to a key that it takes") as raised:
            ask(model)
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.count == 1
        told = "".join(traceback.format_exception(raised.value)) + repr(vars(model)) + caplog.text
        assert KEY[:10] not in told


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (failure(404, f"The model `{MODEL}` does not exist", "model_not_found"), "does not know the model"),
        (failure(404, "Not Found"), "there is no such page"),
        (failure(400, "foo/bar is not a valid model ID"), "does not know the model"),
        (failure(403, "Forbidden"), "access was denied"),
        (failure(402, "Payment Required"), "wants to be paid"),
        (failure(429, "You exceeded your current quota", "insufficient_quota"), "quota is used up"),
        (failure(307, "", Location="http://127.0.0.1:9/"), "to another address"),
    ],
)
def test_what_no_call_survives_is_gone_at_once_with_its_remedy(step: Step, words: str):
    with FaultServer([step]) as server, asked_of(server) as model:
        with pytest.raises(ModelGone, match=f"{words}.*Try: ") as raised:
            ask(model)
        assert (server.count, raised.value.usage) == (1, Usage(exact=True))


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "the request exceeds the available context size",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_a_prompt_that_is_too_long_is_an_error_that_names_it(message: str):
    with FaultServer([failure(400, message)]) as server, asked_of(server) as model:
        with pytest.raises(ModelError, match="longer than the model's context length") as raised:
            ask(model)
        assert (type(raised.value), server.count, raised.value.usage) == (ModelError, 1, Usage(exact=True))


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408])
def test_a_burst_of_failures_is_outlasted_with_growing_pauses(status: int):
    times = FakeTime()
    with FaultServer([failure(status)] * 4) as server, asked_of(server, times) as model:
        (reply,) = ask(model)
        assert (reply.usage, reply.attempts, server.count) == (EXACT, 5, 5)
    assert times.pauses == [0.5, 1.0, 2.0, 4.0]


def test_a_server_that_goes_on_failing_is_down():
    with FaultServer(last=failure(503, "loading model")) as server, asked_of(server) as model:
        with pytest.raises(ModelDown, match=r"status 503: loading model") as raised:
            ask(model)
        assert (server.count, raised.value.attempts, raised.value.usage) == (5, 5, Usage(exact=True))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({}, 0.5),
        ({"retry_after": "soon"}, 0.5),
    ],
)
def test_a_server_that_wants_fewer_calls_is_left_alone_as_long_as_it_says(headers: dict[str, str], seconds: float):
    times = FakeTime(chance=1.0)
    with FaultServer([failure(429, "slow down", **headers)]) as server, asked_of(server, times) as model:
        (reply,) = ask(model)
        assert (reply.usage, reply.attempts, server.count) == (EXACT, 2, 2)
    assert times.pauses[0] == seconds


@pytest.mark.parametrize("seconds", ["86400", "1e308"])
def test_a_hold_beyond_the_deadline_is_down_with_what_is_left_of_it_and_holds_back_every_call(seconds: str):
    """However long: what the outage policy makes of it is another test."""
    with FaultServer([failure(429, "tomorrow", retry_after=seconds)]) as server, asked_of(server) as model:
        for _ in range(2):
            with pytest.raises(ModelDown) as raised:
                ask(model)
            assert float(seconds) - 400 <= raised.value.retry_after <= float(seconds)
        assert server.count == 1


def test_an_empty_encoding_is_none():
    with (
        FaultServer([Step(text="here", headers={"Content-Encoding": ""})]) as server,
        asked_of(server) as model,
    ):
        assert ask(model)[0].text == "here"


def test_a_refused_connection_is_down_and_free_and_the_model_answers_when_the_server_is_back():
    with FaultServer() as server, asked_of(server) as model:
        ask(model)
        server.stop()
        with pytest.raises(ModelDown, match=r"cannot be reached: .*refused\. Try: start it, or ") as raised:
            ask(model)
        assert (raised.value.usage, raised.value.attempts) == (Usage(exact=True), 5)
        server.start()
        assert ask(model)[0].usage == EXACT


def test_a_connection_that_ended_while_nobody_called_is_no_failure():
    times = FakeTime()
    with FaultServer() as server, asked_of(server, times) as model:
        ask(model)
        server.stop()
        server.start()
        (reply,) = ask(model)
        assert (reply.attempts, reply.usage, server.connections) == (1, EXACT, 2)
    assert times.pauses == []


def test_a_kept_connection_that_ends_as_it_is_used_is_replaced():
    with FaultServer([OK, DROP]) as server, asked_of(server) as model:
        ask(model)
        (reply,) = ask(model)
        assert (reply.attempts, reply.usage, server.connections) == (2, EXACT, 2)
        assert reply.retries == {"connection closed": 1}


def test_silence_until_the_deadline_is_down_and_may_have_cost_the_prompt():
    with FaultServer([HANG]) as server, asked_of(server) as model:
        with pytest.raises(ModelDown, match="nothing came") as raised:
            ask(model, seconds=0.3)
        assert (server.count, raised.value.usage) == (1, Usage(PROMPT_ESTIMATE))


def test_a_hang_in_the_middle_of_an_answer_is_an_error_of_this_call_at_its_deadline():
    with FaultServer([HANG_MIDWAY]) as server, asked_of(server) as model:
        with pytest.raises(ModelError, match="in the middle") as raised:
            ask(model, seconds=0.3)
        assert (type(raised.value), server.count) == (ModelError, 1)
        assert raised.value.usage.prompt_tokens == PROMPT_ESTIMATE
        assert not raised.value.usage.exact


@pytest.mark.parametrize("step", [HANG, HANG_MIDWAY], ids=["before headers", "in the middle"])
def test_a_cancelled_call_ends_at_once_and_leaves_no_thread_and_no_connection(step: Step):
    cancelled = threading.Event()
    with FaultServer([step]) as server, asked_of(server) as model:
        threads = threading.active_count()
        timer = threading.Timer(0.1, cancelled.set)
        timer.start()
        with pytest.raises(ModelError, match="cancelled") as raised:
            ask(model, seconds=600, cancelled=cancelled)
        timer.join()
        assert type(raised.value) is ModelError
        assert raised.value.usage.prompt_tokens == PROMPT_ESTIMATE
        _until(lambda: server.connected == 0)
        _until(lambda: threading.active_count() == threads)


def test_a_call_that_is_cancelled_before_it_begins_sends_nothing():
    cancelled = threading.Event()
    cancelled.set()
    with FaultServer() as server, asked_of(server) as model:
        with pytest.raises(ModelError, match="cancelled"):
            ask(model, cancelled=cancelled)
        assert server.count == 0


@pytest.mark.parametrize("field", ["n", "temperature", "reasoning_effort"])
def test_a_field_that_the_endpoint_refuses_is_left_out_from_then_on(field: str):
    strict = replace(OK, wants_no=(field,))
    settings = {"temperature": 0.5, "effort": "low"}
    with FaultServer(last=strict) as server, asked_of(server, **settings) as model:
        first, second = ask(model, samples=2), ask(model, samples=2)
        assert [field in asked.body for asked in server.asked] == [True, False, False]
        assert (first[0].attempts, second[0].attempts) == (2, 1)


@pytest.mark.parametrize(
    ("refused", "sent"),
    [(("max_tokens",), "max_completion_tokens"), (("max_tokens", "max_completion_tokens"), None)],
)
def test_the_length_is_bounded_by_the_name_that_the_endpoint_knows(refused: tuple[str, ...], sent: str | None):
    with FaultServer(last=replace(OK, wants_no=refused)) as server, asked_of(server) as model:
        ask(model)
        lengths = [name for name in server.asked[-1].body if name.startswith("max")]
    assert lengths == ([sent] if sent else [])


def test_a_field_that_the_user_has_set_is_never_left_out():
    with FaultServer(last=replace(OK, wants_no=("top_k",))) as server, asked_of(server, extra={"top_k": 5}) as model:
        with pytest.raises(ModelError, match="top_k"):
            ask(model)
        assert server.count == 1


def test_an_error_in_disguise_is_the_error_that_it_is():
    disguised = Step(body='{"error": {"code": 502, "message": "the provider is down"}}')
    (reply,), requests = replies(disguised, OK)
    assert (reply.attempts, reply.usage, requests) == (2, EXACT, 2)


def test_sixty_four_calls_are_in_flight_at_once():
    """None is answered before all have arrived."""
    with FaultServer(last=replace(OK, together=64)) as server, asked_of(server) as model:
        with ThreadPoolExecutor(64) as pool:
            said = list(pool.map(lambda _: ask(model)[0].text, range(128)))
        assert (said, server.count, server.connections) == (["hello"] * 128, 128, 64)


def test_check_is_one_small_call():
    with FaultServer() as server, asked_of(server) as model:
        usage = model.check(time.monotonic() + 9, threading.Event())
        assert (usage, server.count, server.asked[0].body["max_tokens"]) == (EXACT, 1, 16)


def test_a_check_of_a_server_that_wants_no_call_at_all_ends_soon():
    """Who starts a campaign is told, instead of waiting for ten minutes in silence."""
    with FaultServer(last=failure(429, "slow down")) as server, asked_of(server) as model:
        with pytest.raises(ModelDown, match=r"it wants fewer calls.*slow down.*Try: try later"):
            model.check(time.monotonic() + 600, threading.Event())
        assert server.count == 4


def test_embed_gives_the_vector_as_it_comes():
    with FaultServer([failure(503)]) as server, asked_of(server) as model:
        vector, usage = model.embed("text", deadline=time.monotonic() + 9, cancelled=threading.Event())
        assert (tuple(vector), usage, server.count) == ((3.0, 4.0), Usage(5, exact=True), 2)
        assert server.asked[-1].body == {"model": MODEL, "input": "text"}


def _until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + 5
    while not is_so() and time.monotonic() < ends:
        time.sleep(0.01)
    assert is_so()


def test_the_prompt_is_estimated_as_the_tests_have_it():
    assert sum((len(message.text) + 3) // 4 for message in PROMPT.messages) == PROMPT_ESTIMATE


DIALOGUE = Prompt((Message("system", (Section("a", "rules"),)), *PROMPT.messages))


def fields(host: str = "127.0.0.1", **settings: object) -> RequestFields:
    return RequestFields(OpenAISettings.model_validate({"model": "m", **settings}), host)


def test_a_plain_call_says_no_more_than_it_must():
    assert fields().body(PROMPT, [0]) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 100,
    }


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "max_completion_tokens"),
        ("me.openai.azure.com", "max_completion_tokens"),
        ("notopenai.com", "max_tokens"),
        ("gpu7", "max_tokens"),
    ],
)
def test_the_length_has_the_name_that_the_host_prefers(host: str, name: str):
    assert fields(host).body(PROMPT, [0])[name] == 100


def test_what_the_prompt_says_comes_before_the_settings():
    told = Prompt(PROMPT.messages, temperature=0.2, effort="high")
    model = fields(temperature=0.9, effort="low")
    assert [model.body(prompt, [0])["temperature"] for prompt in (PROMPT, told)] == [0.9, 0.2]
    assert [model.body(prompt, [0])["reasoning_effort"] for prompt in (PROMPT, told)] == ["low", "high"]


def test_where_no_system_speaks_its_text_begins_the_users():
    model = fields()
    assert SYSTEM in model.optional(model.body(DIALOGUE, [0]))
    model.refuse(SYSTEM)
    body = model.body(DIALOGUE, [0])
    assert body["messages"] == [{"role": "user", "content": "rules\n\nSay hello."}]
    assert SYSTEM not in model.optional(body)


def test_what_must_be_there_and_what_the_user_wrote_is_not_optional():
    model = fields(extra={"top_k": 3}, temperature=1.0)
    assert model.optional(model.body(PROMPT, [0])) == ("temperature", "max_tokens")
