import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.answer import Choice, Nonsense, completion, message_of, usage_of
from evolve.types import Usage

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["choices", "message", "content", "usage", "error", "text"]), inner)
    ),
)


def body(message: dict[str, object], finish: object = "stop", **more: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more}).encode()


HOSTILE_NAME = "m\nevolve: error: x\x1b[2J\u202e" + "z" * 999


def test_what_a_server_calls_its_model_is_one_harmless_bounded_line():
    """It is shown among words of ours."""
    revision = completion(body({"content": "a"}, model=HOSTILE_NAME)).revision
    assert revision == ("m evolve: error: x [2J " + "z" * 999)[:300]


@pytest.mark.parametrize(
    ("message", "finish", "choice"),
    [
        ({"content": "a"}, "stop", Choice("a", "", "stop")),
        ({"content": "a"}, "length", Choice("a", "", "length")),
        ({"content": "a"}, "content_filter", Choice("a", "", "refused")),
        ({"content": "a"}, None, Choice("a", "", "")),
        ({"content": "a"}, "tool_calls", Choice("a", "", "")),
        ({"content": None, "refusal": "no"}, "stop", Choice("no", "", "refused")),
        ({"content": "a", "reasoning_content": "b"}, "stop", Choice("a", "b", "stop")),
        ({"content": "a", "reasoning": "b"}, "stop", Choice("a", "b", "stop")),
        ({"content": "x</think>", "reasoning": "b"}, "stop", Choice("x</think>", "b", "stop")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "stop", Choice("ab", "", "stop")),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                    {"type": "text", "text": "a"},
                ]
            },
            "stop",
            Choice("a", "t", "stop"),
        ),
    ],
)
def test_a_message_is_read_as_servers_send_it(message: dict[str, object], finish: object, choice: Choice):
    assert completion(body(message, finish)).choices == (choice,)


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2, 0, exact=True)),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(5, 2, 4, exact=True),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}, Usage(5, 2, 3, exact=True)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 99}}, Usage(5, 0, 5, exact=True)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": -5, "completion_tokens": 2}, None),
        ({"prompt_tokens": "5"}, None),
        (None, None),
        ([], None),
    ],
)
def test_usage_is_what_the_server_says_where_that_makes_sense(said: object, usage: Usage | None):
    assert usage_of({"usage": said}) == usage


@given(VALUES)
def test_any_json_is_an_answer_or_nonsense(value: object):
    with suppress(Nonsense):
        assert completion(json.dumps(value).encode()).choices


@given(st.binary())
def test_any_bytes_are_an_answer_or_nonsense(content: bytes):
    with suppress(Nonsense):
        assert completion(content).choices


@pytest.mark.parametrize("code", [502, "502"])
def test_an_error_with_status_200_keeps_its_own_status(code: object):
    with pytest.raises(Nonsense) as raised:
        completion(json.dumps({"error": {"code": code}}).encode())
    assert raised.value.error is not None
    assert raised.value.error[0] == 502


@pytest.mark.parametrize("code", [None, 7, "²²²", "9" * 5000, "overloaded", [502]])
def test_an_error_with_status_200_and_no_other_has_none(code: object):
    with pytest.raises(Nonsense) as raised:
        completion(json.dumps({"error": {"code": code}}).encode())
    assert raised.value.error is not None
    assert raised.value.error[0] == 0


def test_json_that_is_nested_too_deeply_is_nonsense():
    with pytest.raises(Nonsense, match="no JSON"):
        completion(b"[" * 100_000)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"error": {"message": "m", "code": "c", "param": "p"}}', ("c", "p", "m")),
        (b'{"error": {"message": "m", "type": "t"}}', ("t", "", "m")),
        (b'{"error": "m"}', ("", "", "m")),
        (b'{"object": "error", "message": "m", "type": "t", "param": null, "code": 400}', ("t", "", "m")),
        (b'{"detail": "m"}', ("", "", "m")),
        (b'{"detail": [{"loc": ["body", "n"]}]}', ("", "", '[{"loc": ["body", "n"]}]')),
        (b"<html>\n502</html>", ("", "", "<html> 502</html>")),
        (b"", ("", "", "")),
    ],
)
def test_an_error_is_read_as_servers_word_it(content: bytes, told: tuple[str, str, str]):
    assert message_of(content) == told
