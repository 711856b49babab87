"""Recordings: what was answered once is answered again, and what is missing is asked for or told."""

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel, ConfigDict

from evolve.hookspecs import ModelEntry
from evolve.models.cassette import Cassette, CassetteSettings, opened
from evolve.models.tape import Answer, Tape, question
from evolve.testing import check_model
from evolve.types import ConfigError, Message, ModelDown, ModelError, ModelGone, Prompt, Reply, Section, Usage

NEVER = threading.Event()
LATER = float("inf")


def prompt(text: str = "Find the number.", rules: str = "You write programs.", **how: object) -> Prompt:
    messages = (Message("system", (Section("rules", rules),)), Message("user", (Section("task", text),)))
    return Prompt(messages, **{"max_tokens": 100, **how})


@dataclass
class Oracle:
    """A model that says which prompt it was asked, and by whom; at most `most` answers at once."""

    name: str = "oracle"
    most: int = 9
    asked: list[int] = field(default_factory=list)
    error: ModelError | None = None
    closed: bool = False

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        return Usage(1, 1, exact=True)

    def complete(self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event):
        self.asked += samples
        if self.error is not None:
            raise self.error
        task = prompt.messages[-1].text
        return [
            Reply(f"{self.name}: {task} {sample}", "hm", "stop", Usage(10, sample, 4, True), "r1", 2.0, 3)
            for sample in samples[: self.most]
        ]

    def close(self) -> None:
        self.closed = True


def ask(model: Cassette, asked: Prompt, *samples: int, cancelled: threading.Event = NEVER) -> Sequence[Reply]:
    return model.complete(asked, samples=samples or (0,), deadline=LATER, cancelled=cancelled)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


def test_what_was_recorded_is_replayed(path):
    """Text, thinking, finish, usage and revision; the other model is not asked again."""
    oracle = Oracle()
    recorded = ask(Cassette(path, oracle), prompt(), 0, 1)
    assert [reply.text for reply in recorded] == ["oracle: Find the number. 0", "oracle: Find the number. 1"]
    replayed = ask(Cassette(path), prompt(), 0, 1)
    assert [(reply.text, reply.thinking, reply.finish, reply.usage, reply.revision) for reply in replayed] == [
        ("oracle: Find the number. 0", "hm", "stop", Usage(10, 0, 4, True), "r1"),
        ("oracle: Find the number. 1", "hm", "stop", Usage(10, 1, 4, True), "r1"),
    ]
    ask(Cassette(path, oracle), prompt(), 1)
    assert oracle.asked == [0, 1]


def test_the_file_is_a_line_per_answer(path):
    """After a head; what is empty is left out."""
    ask(Cassette(path, Oracle()), prompt("Wörter"))
    head, line = path.read_text("utf-8").splitlines()
    assert json.loads(head) == {"cassette": 1, "evolve": "0.1.0"}
    asked = question(prompt("Wörter"), 0)
    assert line.startswith(f'{{"request": "{asked.request}", "sample": 0, "words": "{asked.words}", ')
    assert line.endswith(
        '"sampling": {"temperature": null, "effort": "", "max_tokens": 100}, "reply": "oracle: Wörter 0", "thinking": "hm", '
        '"finish": "stop", "usage": {"prompt_tokens": 10, "cached_tokens": 4, "exact": true}, "revision": "r1"}'
    )


def test_what_is_missing_in_the_middle_is_asked_for_in_its_turn(path):
    """Whoever gets fewer answers than wanted asks again for the rest, and gets all in their order."""
    ask(Cassette(path, Oracle("first")), prompt(), 0)
    ask(Cassette(path, Oracle("first")), prompt(), 2)
    model, samples, texts = Cassette(path, Oracle("second", most=1)), [0, 1, 2, 3, 4], []
    while samples:
        replies = ask(model, prompt(), *samples)
        texts += [reply.text[:8] for reply in replies]
        samples = samples[len(replies) :]
    assert texts == ["first: F", "second: ", "first: F", "second: ", "second: "]


def test_many_threads_record_and_none_loses_an_answer(path):
    """Each line is whole."""
    model = Cassette(path, Oracle())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: ask(model, prompt(f"Task {number}."))[0].text, range(60)))
    assert found == [f"oracle: Task {number}. 0" for number in range(60)]
    assert len(path.read_text().splitlines()) == 61
    assert [ask(Cassette(path), prompt(f"Task {number}."))[0].text for number in range(60)] == found


def test_two_engines_record_into_one_file(path):
    """Of two answers to one question the first holds for both, and each has what the other recorded."""
    one, other = Oracle("one"), Oracle("other")
    first, second = Cassette(path, one), Cassette(path, other)
    assert ask(first, prompt())[0].text == "one: Find the number. 0"
    assert ask(second, prompt("Another.")) != []
    assert ask(second, prompt())[0].text == "one: Find the number. 0"
    assert ask(first, prompt("Another."))[0].text == "other: Another. 0"
    assert (one.asked, other.asked) == ([0], [0])
    late = Tape(path)
    late.add([Answer(prompt().request, 0, reply="too late")])
    assert late.answers[prompt().request, 0].reply == "one: Find the number. 0"
    assert len(path.read_text().splitlines()) == 3


def test_a_line_that_a_killed_engine_left_unfinished_is_written_over(path):
    """Nothing before it is lost."""
    ask(Cassette(path, Oracle()), prompt())
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"request": "123", "sam')
    assert ask(Cassette(path), prompt())[0].text == "oracle: Find the number. 0"
    ask(Cassette(path, Oracle()), prompt("Another."))
    assert path.read_bytes().startswith(whole + b'{"request": "')
    assert len(path.read_text().splitlines()) == 3


def test_a_file_that_was_cut_meanwhile_is_an_error(path):
    """Nothing is written to it."""
    model = Cassette(path, Oracle())
    ask(model, prompt())
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(ModelGone, match="was cut while it was used"):
        ask(model, prompt("Another."))
    assert len(path.read_bytes()) == 30


def missing(model: Cassette, asked: Prompt, sample: int = 0) -> str:
    with pytest.raises(ModelError) as caught:
        ask(model, asked, sample)
    assert type(caught.value) is ModelError
    return str(caught.value).partition(f"{asked.request}: ")[2]


def test_a_missing_answer_is_told_with_what_comes_nearest(path):
    """Another sample, other settings, another course of the search, or other templates."""
    ask(Cassette(path, Oracle()), prompt())
    model = Cassette(path)
    assert missing(model, prompt(), 1) == (
        "it has 1 to this prompt, and another one is asked for. Do: record it, with the setting `record`"
    )
    assert missing(model, prompt(max_tokens=200, temperature=0.5)) == (
        "this prompt was recorded with temperature None and is asked with 0.5, max_tokens 100 and is asked with 200. "
        "Do: set what it was recorded with"
    )
    assert missing(model, prompt("Another.")).startswith("a prompt that begins so was recorded, and went on otherwise.")
    assert missing(model, prompt(rules="Be brief.")).startswith(
        "no prompt in it begins like this one. Do: replay with the task, templates and version of the recording (evolve 0.1.0"
    )


def test_a_call_that_failed_fails_again(path):
    """With what it had cost; its error is in the file."""
    oracle = Oracle(error=ModelError("it refused", Usage(7, exact=True)))
    for model in (Cassette(path, oracle), Cassette(path)):
        with pytest.raises(ModelError, match="it refused") as caught:
            ask(model, prompt())
        assert caught.value.usage == Usage(7, exact=True)
    assert oracle.asked == [0]


@pytest.mark.parametrize("error", [ModelDown("away"), ModelGone("no key")])
def test_an_outage_is_not_recorded(path, error):
    """The same question can be answered later."""
    with pytest.raises(type(error)):
        ask(Cassette(path, Oracle(error=error)), prompt())
    assert ask(Cassette(path, Oracle()), prompt())[0].text == "oracle: Find the number. 0"


def test_a_cancelled_call_is_not_recorded(path):
    """It did not fail by itself."""
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(ModelError):
        ask(Cassette(path, Oracle(error=ModelError("cancelled"))), prompt(), cancelled=cancelled)
    assert ask(Cassette(path, Oracle()), prompt())[0].text == "oracle: Find the number. 0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no answer in it. Do: `evolve model calls NAME --cassette FILE` writes one"),
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


def test_a_check_asks_the_model_that_is_recorded(path):
    """And a replay wants its file."""
    assert Cassette(path, Oracle()).check(LATER, NEVER) == Usage(1, 1, exact=True)
    with pytest.raises(ModelGone, match=r"cannot be used: No such file or directory. Do: check the path"):
        Cassette(path.with_name("nowhere")).check(LATER, NEVER)


class Only(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


KINDS = {"oracle": ModelEntry("oracle", lambda settings: Oracle(settings["name"]), Only)}


def test_a_kind_is_recorded_by_its_settings(path):
    """They are checked as those of a member are."""
    settings = CassetteSettings(path=path, record={"kind": "oracle", "settings": {"name": "Delphi"}})
    model = opened(settings, KINDS)
    assert ask(model, prompt())[0].text == "Delphi: Find the number. 0"
    model.close()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"kind": "orakel"}, "cannot record a model of the kind 'orakel'. Did you mean 'oracle'? Do: run the campaign"),
        ({"kind": "oracle", "settings": {}}, "record.settings of a cassette: name: Field required"),
    ],
)
def test_what_cannot_be_recorded_is_one_error(path, record, message):
    """Before anything is made."""
    with pytest.raises(ConfigError) as caught:
        opened(CassetteSettings(path=path, record=record), KINDS)
    assert message in str(caught.value)


def test_it_keeps_the_promises_of_a_model(path):
    """While it records, and while it replays."""
    check_model(lambda: Cassette(path, Oracle()))
    check_model(lambda: Cassette(path))
