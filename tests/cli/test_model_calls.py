"""`evolve model calls`."""

import json
import threading

import pytest

from evolve.log import Log
from evolve.models.cassette import Cassette
from evolve.types import Call, Message, ModelError, Outcome, Part, Prompt, Replied, Section, Usage
from tests.written import Written

PROMPT = Prompt(
    (
        Message("system", (Section("rules", "Be brief."),)),
        Message("user", (Section("task", "Find it."), Section("parent", "def f():\n    return 1"))),
    ),
    temperature=0.5,
    max_tokens=100,
)
FULL = {"temperature": 0.5, "max_tokens": 100}


class Told:
    """A campaign that has called models."""

    def __init__(self, home, name=None):
        self.campaign = Written(home, name=name).campaign

    def call(self, step, index, reply="", *, prompt=PROMPT, sample=0, **fields):
        log = self.campaign.log
        with log.transaction():
            parts = tuple(
                Part(message.role, section.name, log.put_text(section.text))
                for message in prompt.messages
                for section in message.sections
            )
            stored = log.put_text(reply) if reply else ""
            values = {"parameters": FULL, "seconds": 1.5, "finish": "stop" if reply else "", **fields}
            call = Call("me", prompt=parts, request=prompt.request, sample=sample, reply=stored, **values)
            self.campaign.append(Replied(step, index, call))


@pytest.fixture
def told(home):
    """Three steps; one call failed, and one was given up."""
    found = Told(home)
    found.call(1, 0, "x = 1", prompt_tokens=1200, completion_tokens=30, exact=True, cost=0.0125, revision="r7")
    found.call(2, -1, sample=1, error="the run was stopped")
    found.call(2, 0, "x = 2\n  │ not evolve's", sample=2, purpose="repair", prompt_tokens=7, completion_tokens=2)
    found.call(3, 0, sample=3, error="it has answered nothing.\nsecond line", attempts=3)
    found.campaign.close()
    return found


def test_calls_are_listed_the_newest_first(call, told):
    """What was estimated is marked."""
    head, *rows = call("model", "calls").stdout.splitlines()
    lines = [head, *reversed(rows)]
    assert [line.split() for line in lines[:2]] == [
        ["step", "call", "purpose", "model", "tokens", "cost", "took", "ended", "records", "of", "the", "step"],
        ["1", "0", "propose", "me", "1,200", "+", "30", "0.0125", "1.5", "s", "stop", "-"],
    ]
    assert lines[2].split()[:3] == ["2", "given", "up"]
    assert lines[3].split() == ["2", "0", "repair", "me", "~7", "+", "2", "-", "1.5", "s", "stop", "-"]
    assert lines[4].endswith("error: it has answered nothing. second line  -")
    assert [line.split() for line in call("model", "calls", "number", "--limit", "1").stdout.splitlines()[1:]] == [
        lines[4].split()
    ]
    found = [json.loads(line) for line in call("model", "calls", "--limit", "0", "--json").stdout.splitlines()]
    assert [(line["step"], line["index"], line["sample"], line["attempts"]) for line in found] == [
        (3, 0, 3, 3),
        (2, 0, 2, 1),
        (2, -1, 1, 1),
        (1, 0, 0, 1),
    ]


def test_a_step_is_shown_with_its_texts(call, told):
    """Each line of a prompt and of a reply behind the mark that no line of ours has."""
    shown = call("model", "calls", "--step", "1").stdout
    assert shown.splitlines()[0] == "call        0 of step 1, to propose"
    assert shown.endswith(
        "--- system: rules (about 3 tokens)\n  │ Be brief.\n\n--- user: task (about 2 tokens)\n  │ Find it.\n\n"
        "--- user: parent (about 6 tokens)\n  │ def f():\n  │     return 1\n\n--- reply (about 2 tokens)\n  │ x = 1\n"
    )
    both = call("model", "calls", "--step", "2").stdout
    assert both.count("--- user: task") == 2
    assert "  │   │ not evolve's\n" in both
    (found,) = map(json.loads, call("model", "calls", "--step", "3", "--json").stdout.splitlines())
    assert (found["parameters"], found["reply"], found["call"]["error"]) == (
        FULL,
        "",
        "it has answered nothing.\nsecond line",
    )
    assert found["prompt"][0] == {"role": "system", "name": "rules", "text": "Be brief."}


def test_requests_that_failed_are_told_with_their_causes(call, home):
    found = Told(home)
    found.call(1, 0, "x = 1", attempts=4, retries={"503": 1, "time was up": 2})
    found.campaign.close()
    assert call("model", "calls").stdout.endswith("stop (failed requests: 2 x time was up, 1 x 503)  -\n")
    shown = call("model", "calls", "--step", "1").stdout
    assert "failed requests  2 x time was up, 1 x 503\n" in shown
    assert json.loads(call("model", "calls", "--json").stdout)["retries"] == {"503": 1, "time was up": 2}


def test_the_name_that_a_server_gives_its_model_is_one_short_line(call, home):
    """It may claim anything."""
    found = Told(home)
    found.call(1, 0, "x = 1", revision="xevil\nevolve: error: no" + "x" * 1000)
    found.campaign.close()
    line = call("model", "calls", "--step", "1").stdout.splitlines()[1]
    assert line.startswith("model       me xevil evolve: error: noxxx")
    assert line.endswith("x... (923 more characters)")


def test_a_long_answer_is_cut_with_a_note(call, home):
    """JSON has all of it."""
    found = Told(home)
    found.call(1, 0, "x" * 200_000)
    found.campaign.close()
    shown = call("model", "calls", "--step", "1").stdout
    assert len(shown) < 100_000
    assert shown.endswith("(134,464 more characters)\n")
    assert json.loads(call("model", "calls", "--step", "1", "--json").stdout)["reply"] == "x" * 200_000


def test_a_call_is_listed_with_the_records_of_its_step(call, home):
    """A program and its outcome, or what was screened."""
    written = Written(home)
    written.seed()
    written.called(Call("me", "propose"))
    written.proposal(6.0, operator="diff", model="me")
    written.called(Call("me", "propose"))
    written.failure(Outcome.SCREENED, "a duplicate")
    written.campaign.close()
    assert [line.split()[-2:] for line in call("model", "calls").stdout.splitlines()[1:]] == [
        ["3", "screened"],
        ["2", "ok"],
    ]


def test_the_check_of_a_model_is_none_of_a_step(call, home):
    """It was not given up, and asked nothing of a program."""
    found = Told(home)
    with found.campaign.log.transaction():
        found.campaign.append(Replied(0, -1, Call("me", "check", prompt_tokens=1000, completion_tokens=60)))
    found.campaign.close()
    # The log has no duration of it.
    assert " ".join(call("model", "calls").stdout.splitlines()[1].split()) == "0 - check me ~1,000 + 60 - - - -"
    shown = call("model", "calls", "--step", "0").stdout.splitlines()
    assert shown[0] == "call    - of step 0, to check"
    assert not [line for line in shown if line.startswith(("request", "---"))]


def test_a_folder_that_there_is_not_is_not_made_for_a_cassette(call, home, told):
    """It may be misspelt."""
    result = call("model", "calls", "--cassette", home / "nowhere" / "x")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No such file or directory. Try: name another place" in result.stderr
    assert not (home / "nowhere").exists()


def test_a_step_without_calls_is_an_error(call, told):
    """It says where to look."""
    result = call("model", "calls", "--step", "9")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "step 9 of campaign 'number' has called no model" in result.stderr


def test_a_campaign_becomes_a_cassette(call, home, told):
    """A run that nobody stops finds each answer under the number under which it asks; what failed fails again."""
    path = home / "answers.jsonl"
    result = call("model", "calls", "number", "--cassette", path)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"3 of 3 answers are new in {path}; to replay them:",
        "evolve campaign config number > search.toml",
        f"evolve run -c search.toml --model me=cassette:{path}",
    ]

    def ask(sample):
        return Cassette(path).complete(PROMPT, samples=[sample], deadline=0.0, cancelled=threading.Event())[0]

    assert (ask(0).text, ask(0).usage, ask(0).revision) == ("x = 1", Usage(1200, 30, exact=True), "r7")
    assert ask(1).text == "x = 2\n  │ not evolve's"
    with pytest.raises(ModelError, match="it has answered nothing"):
        ask(2)


def test_what_a_cassette_has_is_kept(call, home, told):
    """Several campaigns may go into one; nothing is written twice."""
    path = home / "answers.jsonl"
    call("model", "calls", "number", "--cassette", path)
    written = path.read_bytes()
    more = Told(home, "more")
    more.call(1, 0, "x = 5", prompt=Prompt(PROMPT.messages))
    more.call(2, 0, "another", sample=0)
    more.campaign.close()
    found = json.loads(call("model", "calls", "more", "--cassette", path, "--json").stdout)
    assert found == {"cassette": str(path), "answers": 1, "known": 1}
    assert path.read_bytes().startswith(written)
    assert len(path.read_text().splitlines()) == 5


def test_what_completes_no_prompt_is_not_recorded(call, home):
    """Embeddings, and the check of a model."""
    found = Told(home)
    found.call(0, -1, purpose="check", prompt=Prompt(()))
    found.call(1, 0, "[0.6, 0.8]", purpose="embed")
    found.campaign.close()
    result = call("model", "calls", "--cassette", home / "answers.jsonl")
    assert result.exit_code == 1
    assert "campaign 'number' has called no model, so there is nothing to record" in result.stderr
    assert not (home / "answers.jsonl").exists()


def test_a_campaign_without_calls_says_so(call, home):
    """It is no error."""
    Told(home).campaign.close()
    assert call("model", "calls").stdout == "campaign number has called no model\n"


def test_a_file_that_is_no_cassette_is_left_alone(call, home, told):
    """So is a place that cannot be written."""
    (home / "notes.txt").write_text("notes\n")
    result = call("model", "calls", "--cassette", home / "notes.txt")
    assert "line 1: this is no line of a cassette" in result.stderr
    assert (home / "notes.txt").read_text() == "notes\n"
    result = call("model", "calls", "--cassette", home / "notes.txt" / "x")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "evolve: error: the cassette" in result.stderr


def test_the_log_is_only_read(call, home, told):
    """Whatever is shown."""
    path = home / "archive" / "campaigns" / "number.db"
    before = path.read_bytes()
    call("model", "calls")
    assert path.read_bytes() == before
    with Log.open(path, readonly=True) as log:
        assert log.count() > 4
