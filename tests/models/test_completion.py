import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.completion import (
    MOST_CHOICES,
    BadAnswer,
    Choice,
    read_completion,
    read_embedding,
    read_error,
    read_usage,
    split_thinking,
)
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
    revision = read_completion(body({"content": "a"}, model=HOSTILE_NAME)).revision
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
    assert read_completion(body(message, finish)).choices == (choice,)


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
    assert read_usage({"usage": said}) == usage


@given(VALUES)
def test_any_json_is_an_answer_or_a_bad_answer(value: object):
    with suppress(BadAnswer):
        assert read_completion(json.dumps(value).encode()).choices


@given(st.binary())
def test_any_bytes_are_an_answer_or_a_bad_answer(content: bytes):
    with suppress(BadAnswer):
        assert read_completion(content).choices


@pytest.mark.parametrize("code", [502, "502"])
def test_an_error_with_status_200_keeps_its_own_status(code: object):
    with pytest.raises(BadAnswer) as raised:
        read_completion(json.dumps({"error": {"code": code}}).encode())
    assert raised.value.error is not None
    assert raised.value.error[0] == 502


@pytest.mark.parametrize("code", [None, 7, "²²²", "9" * 5000, "overloaded", [502]])
def test_an_error_with_status_200_and_no_other_has_none(code: object):
    with pytest.raises(BadAnswer) as raised:
        read_completion(json.dumps({"error": {"code": code}}).encode())
    assert raised.value.error is not None
    assert raised.value.error[0] == 0


def test_json_that_is_nested_too_deeply_is_a_bad_answer():
    with pytest.raises(BadAnswer, match="no JSON"):
        read_completion(b"[" * 100_000)


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
    assert read_error(content) == told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("<html></html>", "a web page"),
        ('data: {"choices": []}', "a stream of events"),
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ('{"choices": 3}', "no choice"),
        ('{"choices": [{}]}', "no message"),
        ('{"choices": [{"message": {"content": ""}}]}', "the answer is empty"),
    ],
)
def test_what_is_no_answer_is_a_bad_answer(text: str, words: str):
    with pytest.raises(BadAnswer, match=words):
        read_completion(text.encode())


def test_no_more_choices_are_kept_than_anybody_asks_for():
    whole = json.dumps({"choices": [{"message": {"content": "a"}}] * (MOST_CHOICES + 5)})
    assert len(read_completion(whole.encode()).choices) == MOST_CHOICES


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("<think>\na\n</think>\n\nb", "a", "b"),
        ("  <think>a</think>b", "a", "b"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("<think>a", "a", ""),
        ("a\n</think>\nb", "a", "b"),
        ("a</think><think>c</think>b", "a\n\nc", "b"),
        ("<think></think>b", "", "b"),
        ("a\n```\nx\n```\n</think>b", "a\n```\nx\n```", "b"),
        ("b", "", "b"),
        ("", "", ""),
    ],
)
def test_thinking_is_split_from_the_answer(text: str, thinking: str, answer: str):
    assert split_thinking(text) == (thinking, answer)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nTAG = '<think>'\n```",
        "```python\n<think>\nx\n</think>\n```\n",
        "<<<<<<< SEARCH\n<think>\n=======\n</think>\n>>>>>>> REPLACE",
        "```\nprint('</think>')\n```",
        "Sure.\n<think>a</think>\nb",
        "It prints <think> and then </think>.",
    ],
)
def test_a_program_that_speaks_of_tags_is_left_whole(text: str):
    assert split_thinking(text) == ("", text)


@given(st.text().filter(lambda text: "think" not in text and "reasoning" not in text))
def test_a_text_without_tags_is_the_answer(text: str):
    assert split_thinking(text) == ("", text)


@given(st.text(alphabet="ab \n", min_size=1), st.text(alphabet="cd \n"))
def test_what_stands_before_the_closing_tag_is_never_in_the_answer(thought: str, answer: str):
    assert split_thinking(f"<think>{thought}</think>{answer}") == (thought.strip(), answer.strip())


def test_many_blocks_are_split_in_one_pass():
    """Its text would be gone through once for each of a hundred thousand thoughts."""
    thinking, answer = split_thinking("<think>\na\n</think>\n" * 100_000 + "b")
    assert (len(thinking.split()), answer) == (100_000, "b")


def test_a_vector_is_read_with_its_usage():
    body = {"data": [{"embedding": [1, -0.5]}], "usage": {"prompt_tokens": 3, "total_tokens": 3}}
    assert read_embedding(json.dumps(body).encode()) == ((1.0, -0.5), Usage(3, exact=True))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": []},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": [0, 0]}]},
        {"data": [{"embedding": ["1"]}]},
        {"data": [{"embedding": [True]}]},
        {"data": [{"embedding": [float("nan")]}]},
        {"data": [{"embedding": "AAAA"}]},
        {"data": "x"},
        {"error": {"message": "no"}},
    ],
)
def test_what_is_no_vector_is_a_bad_answer(body: object):
    with pytest.raises(BadAnswer):
        read_embedding(json.dumps(body).encode())
