import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.answer import MOST_CHOICES, TEXT_LIMIT, Choice, Nonsense, completion
from evolve.models.stream import EventBody
from evolve.types import Usage
from tests.models.test_answer import HOSTILE_NAME, VALUES


def event(text: str, index: int = 0, **more: object) -> str:
    return json.dumps({"choices": [{"index": index, "delta": {"content": text}, **more}]})


USAGE = json.dumps({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}, "model": "m"})


def fed(text: str) -> EventBody:
    body = EventBody()
    body.feed(text.encode())
    return body


def lines(*data: str) -> str:
    return "".join(f"data: {one}\n\n" for one in data)


@given(st.lists(st.text(), min_size=1), st.integers(1, 20), st.sampled_from(["\n", "\r\n"]))
def test_an_answer_is_the_same_however_its_bytes_are_cut(pieces: list[str], size: int, newline: str):
    data = [json.loads(event(piece)) for piece in ["x", *pieces]]
    text = lines(*(json.dumps(one, ensure_ascii=False) for one in data), USAGE, "[DONE]").replace("\n", newline)
    content, body = text.encode("utf-8", "replace"), EventBody()
    for at in range(0, len(content), size):
        body.feed(content[at : at + size])
    answer = body.answer()
    whole = "x" + "".join(pieces)
    assert answer.choices[0].text in (whole, whole.encode("utf-8", "replace").decode())
    assert (answer.usage, answer.revision) == (Usage(5, 2, 0, exact=True), "m")


def test_a_streamed_answer_names_its_model_on_one_harmless_bounded_line():
    text = lines(event("a", finish_reason="stop"), json.dumps({"choices": [], "model": HOSTILE_NAME}), "[DONE]")
    assert fed(text).answer().revision == ("m evolve: error: x [2J " + "z" * 999)[:300]


def test_choices_are_put_together_by_their_index():
    answer = fed(
        lines(event("b", 1), event("a", 0), event("d", 1), event("c", 0, finish_reason="length"), "[DONE]")
    ).answer()
    assert answer.choices == (Choice("ac", "", "length"), Choice("bd"))


def test_nothing_is_said_after_the_end():
    body = fed(lines(event("a")))
    assert not body.is_done
    assert body.feed(lines("[DONE]", event("b")).encode())
    assert body.is_done
    assert body.answer().choices == (Choice("a"),)


def test_comments_and_other_fields_are_passed_over():
    text = ": ping\n\nevent: message\nid: 7\nretry: 10\n" + lines(event("a"), "[DONE]")
    assert fed(text).answer().choices == (Choice("a"),)


def test_an_answer_that_has_its_finish_needs_no_last_word():
    assert fed(lines(event("a", finish_reason="stop"))).answer().choices == (Choice("a", "", "stop"),)


def test_a_server_that_does_not_stream_is_heard_too():
    answer = fed(json.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})).answer()
    assert answer.choices == (Choice("a", "", "stop"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("<html></html>", "a web page"),
        (lines(event("a")), "ended before the answer"),
        (lines(event("a"), "{"), "no JSON"),
        (lines("[]"), "no object"),
        (lines(event("a"), '{"error": {"message": "m"}}'), "reports an error"),
        (lines(USAGE, "[DONE]"), "no answer in the stream"),
        (lines(event(""), "[DONE]"), "empty"),
        (lines('{"choices": 3}', "[DONE]"), "no answer in the stream"),
    ],
)
def test_what_is_no_answer_is_nonsense(text: str, words: str):
    with pytest.raises(Nonsense, match=words):
        fed(text).answer()


@given(VALUES)
def test_any_event_is_an_answer_or_nonsense(value: object):
    with suppress(Nonsense):
        assert fed(lines(json.dumps(value), "[DONE]")).answer().choices


def test_what_came_before_a_break_is_known():
    with pytest.raises(Nonsense) as raised:
        fed(lines(event("abc"), event("def"))).answer()
    assert raised.value.text == "abcdef"


def test_reading_ends_where_an_answer_is_too_long():
    body = EventBody()
    assert not body.feed(lines(event("a" * TEXT_LIMIT), event("b"), event("c")).encode())
    (choice,) = body.answer().choices
    assert (len(choice.text), choice.finish) == (TEXT_LIMIT, "length")


@pytest.mark.parametrize("piece", [b"\n" * (1 << 20), b"x" * 1023 + b"\n" * 1025])
def test_what_a_server_says_that_does_not_stream_is_bounded_as_any_other_body(piece: bytes):
    """Also where it is nothing but ends of lines, which take eight bytes each."""
    with pytest.raises(Nonsense, match="it is longer than 8388608 bytes"):
        EventBody().feed(piece * ((9 << 20) // len(piece)))


def test_no_more_choices_are_kept_than_anybody_asks_for():
    """A draft of each takes twenty times the bytes of its event."""
    body = EventBody()
    body.feed(lines(*[event("a", index, finish_reason="stop") for index in range(MOST_CHOICES + 5)], "[DONE]").encode())
    assert len(body.answer().choices) == MOST_CHOICES
    whole = json.dumps({"choices": [{"message": {"content": "a"}}] * (MOST_CHOICES + 5)})
    assert len(completion(whole.encode()).choices) == MOST_CHOICES


def test_a_line_without_end_is_no_event():
    """It is not put together for as long as it comes."""
    body = EventBody()
    for _ in range(8):
        body.feed(b"x" * (1 << 20))
    with pytest.raises(Nonsense, match="an event of the stream is longer than 8388608 bytes"):
        body.feed(b"x")
