"""Recordings: a question that was answered once is answered again, and a missing answer is explained."""

import json
import threading
from collections.abc import Sequence

import pytest

from evolve.models.cassette import Cassette, RecordedAnswer, add_answers, read_recording
from evolve.testing import check_model
from evolve.types import Message, ModelError, ModelGone, Prompt, Reply, Section, Usage

NEVER = threading.Event()
LATER = float("inf")


def prompt(text: str = "Find the number.", rules: str = "You write programs.", **how: object) -> Prompt:
    messages = (Message("system", (Section("rules", rules),)), Message("user", (Section("task", text),)))
    return Prompt(messages, **{"max_tokens": 100, **how})


def answer(asked: Prompt, sample: int = 0, **more: object) -> RecordedAnswer:
    fields = {"reply": f"{sample}", "thinking": "hm", "finish": "stop", "usage": Usage(10, sample, 4, True)}
    return RecordedAnswer(asked.request, sample, **{**fields, "revision": "r1", **more})


def ask(model: Cassette, asked: Prompt, *samples: int) -> Sequence[Reply]:
    return model.complete(asked, samples=samples or (0,), deadline=LATER, cancelled=NEVER)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


def test_recorded_answers_are_replayed_up_to_the_first_that_is_missing(path):
    add_answers(path, [answer(prompt(), sample) for sample in (0, 1, 3)])
    assert ask(Cassette(path), prompt(), 0, 1, 2, 3) == [
        Reply("0", "hm", "stop", Usage(10, 0, 4, True), "r1"),
        Reply("1", "hm", "stop", Usage(10, 1, 4, True), "r1"),
    ]


def test_the_file_is_a_line_per_answer(path):
    """After a head; empty fields are left out."""
    asked = prompt("Wörter")
    add_answers(path, [answer(asked)])
    head, line = path.read_text("utf-8").splitlines()
    assert json.loads(head) == {"cassette": 1, "evolve": "0.1.0"}
    assert line == (
        f'{{"request": "{asked.request}", "sample": 0, "reply": "0", "thinking": "hm", '
        '"finish": "stop", "usage": {"prompt_tokens": 10, "cached_tokens": 4, "exact": true}, "revision": "r1"}'
    )


def test_of_two_answers_to_one_question_the_first_holds(path):
    assert add_answers(path, [answer(prompt(), reply="first"), answer(prompt(), reply="late")]) == 1
    assert add_answers(path, [answer(prompt(), reply="later"), answer(prompt("Another."))]) == 1
    assert ask(Cassette(path), prompt())[0].text == "first"
    assert len(path.read_text().splitlines()) == 3


def test_a_line_that_was_left_unfinished_is_written_over(path):
    add_answers(path, [answer(prompt())])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"request": "123", "sam')
    assert list(read_recording(path)) == [(prompt().request, 0)]
    add_answers(path, [answer(prompt("Another."))])
    assert path.read_bytes().startswith(whole + b'{"request": "')
    assert len(path.read_text().splitlines()) == 3


def test_a_missing_answer_is_an_error_with_its_remedy(path):
    add_answers(path, [answer(prompt())])
    for asked, sample in ((prompt(), 1), (prompt("Another."), 0)):
        with pytest.raises(
            ModelError, match=f"no answer {sample} to request {asked.request}. Try: replay with"
        ) as caught:
            ask(Cassette(path), asked, sample)
        assert type(caught.value) is ModelError


def test_a_call_that_failed_fails_again_with_its_cost(path):
    add_answers(path, [answer(prompt(), error="it refused", usage=Usage(7, exact=True))])
    with pytest.raises(ModelError, match="it refused") as caught:
        ask(Cassette(path), prompt())
    assert caught.value.usage == Usage(7, exact=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no answer in it. Try: `evolve model calls NAME --cassette FILE` writes one"),
        ('{"cassette": 1}\n{"request": "1", "sam', "has no answer in it"),
        ('{"schema": 1}\n', "line 1: this is no line of a cassette: the first line is"),
        ("[]\n", "line 1: this is no line of a cassette"),
        ('{"cassette": 1}\nnonsense\n', "line 2: this is no line of a cassette: Expecting value"),
        ('{"cassette": 1}\n{"request": "1"}\n', "line 2: this is no line of a cassette"),
        ('{"cassette": 1}\n{"request": "1", "sample": 0, "word": "x"}\n', "line 2: this is no line of a cassette"),
    ],
)
def test_a_file_that_is_no_cassette_is_an_error_with_its_line(path, text, message):
    """And so is one without answers, which would fail every call."""
    path.write_text(text)
    with pytest.raises(ModelGone) as caught:
        Cassette(path).check(LATER, NEVER)
    assert message in str(caught.value)


def test_a_file_that_is_missing_is_an_error_with_its_remedy(path):
    with pytest.raises(ModelGone, match=r"cannot be used: No such file or directory. Try: check the path"):
        Cassette(path).check(LATER, NEVER)


def test_it_keeps_the_promises_of_a_model(path):
    prompts = [Prompt((Message("user", (Section("task", f"Say {number}."),)),), max_tokens=64) for number in range(3)]
    add_answers(path, [answer(asked) for asked in prompts])
    check_model(lambda: Cassette(path))
