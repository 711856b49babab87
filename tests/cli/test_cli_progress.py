"""What a person sees while a campaign runs."""

import io
import json
import logging
import sys

import pytest
from rich.console import Console
from rich.live import Live

from evolve.cli import progress
from evolve.cli.output import emit
from evolve.cli.progress import print_warnings
from evolve.types import Asked, Call, Measure, Paused, Propose, Selection
from tests.written import Written, number_program


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """At 100 s."""
    return Clock()


@pytest.fixture
def written(tmp_path):
    """A campaign with its seed."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign:
        yield written


def test_a_new_best_is_one_line(written, clock):
    """With its fitness and its gain, and not again."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    clock.now += progress.NEWS_SECONDS
    for fitness in (6.0, 4.0):
        watch.settled(written.campaign, written.proposal(fitness))
        watch.turned(written.campaign)
        clock.now += progress.NEWS_SECONDS
    watch.turned(written.campaign)
    lines = out.getvalue().splitlines()
    assert len(lines) == 1
    assert "1 program, 1/s  best nearness 6 (+1 to the seed)  number/2" in lines[0]


def test_many_new_bests_at_once_are_one_line(written, clock):
    """At most one a second."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    clock.now += progress.NEWS_SECONDS
    for fitness in (6.0, 7.0, 8.0):
        watch.settled(written.campaign, written.proposal(fitness))
        watch.turned(written.campaign)
    assert out.getvalue().count("\n") == 1
    clock.now += progress.NEWS_SECONDS
    watch.turned(written.campaign)
    assert "nearness 8" in out.getvalue().splitlines()[1]


def test_a_quiet_campaign_shows_that_it_lives(written, clock):
    """One line every ten seconds."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    for _ in range(25):
        clock.now += 1
        watch.turned(written.campaign)
    assert out.getvalue().count("(the seed's)") == 2


def test_a_campaign_without_a_best_says_so(tmp_path, clock):
    """Not a number."""
    out = io.StringIO()
    with Written(tmp_path).campaign as campaign:
        watch = progress.PlainLines(campaign, out, clock)
        clock.now += progress.QUIET_SECONDS
        watch.turned(campaign)
    assert "best none yet" in out.getvalue()


def test_the_scoreboard_tells_everything_about_a_run(written, clock):
    """Best, anchors, cells, speed, outcomes, yield, isolation, what is left."""
    board = progress.Scoreboard(written.campaign, clock)
    written.proposal(6.0)
    clock.now += 2.0
    rows = board.rows(written.campaign)
    assert [label for label, _ in rows] == [
        "best",
        "",
        "archive",
        "speed",
        "outcomes",
        "operators",
        "isolation",
        "left",
    ]
    told = dict(rows)
    assert told["best"] == "nearness 6 (+1 to the seed)  number/2"
    assert told[""] == "+3 to Early (3)\n-2 to Later 2025 (8)"
    assert told["speed"] == "0 programs/s, 1 evaluated"
    assert told["outcomes"] == "ok 2"
    assert told["operators"] == "tune_literals: 1 evaluated, 100% better than their parents"
    assert (told["isolation"], told["left"]) == ("reduced", "29 programs")


def test_where_models_are_called_the_scoreboard_tells_what_that_costs(written, clock):
    """After the operators, with what each model brought."""
    board = progress.Scoreboard(written.campaign, clock)
    written.called(Call("small", prompt_tokens=1000, completion_tokens=200, cost=0.5))
    written.proposal(6.0, operator="diff", model="small")
    rows = board.rows(written.campaign)
    assert rows[5:8] == [
        ("operators", "diff: 1 evaluated, 100% better than their parents"),
        ("models", "small: 1 evaluated, 100% better than their parents"),
        ("spent", "1 call, 1,200 tokens, 0.50 usd"),
    ]


def test_where_models_are_called_plain_lines_tell_what_that_costs(written, clock):
    """And what is left."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    written.called(Call("small", prompt_tokens=1000, cost=0.5))
    clock.now += progress.QUIET_SECONDS
    watch.turned(written.campaign)
    assert " s  0 programs  1 call, 1,000 tokens, 0.50 usd, left 30 programs  best" in out.getvalue()


def test_plain_lines_tell_what_a_run_waits_for(home, clock):
    """The seed, at first; and measurements, when nothing else is under way. A speed below one a second is left out."""
    out = io.StringIO()
    found = Written(home)
    watch = progress.PlainLines(found.campaign, out, clock)
    clock.now += progress.QUIET_SECONDS
    watch.turned(found.campaign)
    assert out.getvalue() == "     0 s  the seed is being evaluated  best none yet\n"
    found.seed()
    found.called(Call("small", prompt_tokens=1000))
    found.proposal(6.0, operator="diff", model="small")
    with found.campaign.log.transaction():
        found.campaign.write(Asked(3, Measure(2, number_program(6).id, case="other"), 2))
    clock.now += progress.QUIET_SECONDS
    watch.turned(found.campaign)
    assert "1 program  1 call, 1,000 tokens, 1 measurement under way, left" in out.getvalue()
    found.campaign.close()


def test_the_speed_is_that_of_this_run(written, clock):
    """Programs of earlier runs do not count."""
    written.proposal(5.5)
    board = progress.Scoreboard(written.campaign, clock)
    assert board.speed(written.campaign) == 0.0
    written.proposal(6.0)
    clock.now += 0.5
    assert board.speed(written.campaign) == 2.0


def test_the_live_table_is_drawn_a_few_times_a_second(written, clock):
    """However often the loop turns."""
    out = io.StringIO()
    with Live(console=Console(file=out, width=80, force_terminal=True), auto_refresh=False) as live:
        watch = progress.LiveTable(written.campaign, live, clock)
        watch.settled(written.campaign, written.proposal(6.0))
        for _ in range(50):
            clock.now += 0.01
            watch.turned(written.campaign)
        drawn = out.getvalue().count("number/2")
    assert drawn == 2


def test_json_is_one_line_per_record_and_people_read_stderr(written, capsys):
    """stdout holds records only."""
    with progress.watch_campaign(written.campaign, err=True) as lines:
        watch = progress.RecordWatch(lines, emit)
        watch.settled(written.campaign, written.proposal(6.0))
        watch.turned(written.campaign)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["name"], line["fitness"], line["outcome"]) for line in lines] == [("number/2", 6.0, "ok")]


def test_a_pipe_gets_plain_lines(written):
    """It cannot be redrawn."""
    with progress.watch_campaign(written.campaign) as watch:
        assert isinstance(watch, progress.PlainLines)


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({}, False),
    ],
)
def test_a_table_is_drawn_on_a_terminal_that_can(monkeypatch, environment, expected):
    """And for a person who did not ask for plain text."""
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert progress.can_redraw(Terminal()) is expected
    assert progress.can_redraw(io.StringIO()) is False


def test_a_terminal_gets_the_live_table(written, monkeypatch):
    """Which goes when the run ends: the summary follows."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    monkeypatch.setattr("sys.stdout", out)
    with progress.watch_campaign(written.campaign) as watch:
        assert isinstance(watch, progress.LiveTable)
        watch.turned(written.campaign)
    assert "the seed's" in out.getvalue()


def test_plain_lines_tell_the_first_failed_call_of_a_model_and_why(written, clock):
    """Once; the count is in the other lines."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    for _ in range(12):
        written.called(Call("bad", error="it exited with 3\nevolve: error: no"), Call("good"))
        watch.turned(written.campaign)
    assert out.getvalue() == "     0 s  model bad: 1 of 1 call failed, at last: it exited with 3 | evolve: error: no\n"
    clock.now += progress.QUIET_SECONDS
    watch.turned(written.campaign)
    assert "24 calls (12 failed), 0 tokens" in out.getvalue().splitlines()[-1]


def test_the_scoreboard_tells_failed_calls_with_their_reason(written, clock):
    """Beside a model that brought nothing."""
    board = progress.Scoreboard(written.campaign, clock)
    written.called(Call("bad", error="it exited with 3"))
    rows = dict(board.rows(written.campaign))
    assert rows["failed"] == "bad: 1 of 1 call failed, at last: it exited with 3"
    assert rows["spent"] == "1 call (1 failed), 0 tokens"


def test_requests_that_failed_are_told_with_their_causes(written, clock):
    """At once, and in the table with their sum."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    for _ in range(5):
        written.called(Call("fast", attempts=3, retries={"503": 1, "429 (rate limited)": 1}))
        watch.turned(written.campaign)
    assert out.getvalue() == "     0 s  model fast: 2 requests failed: 1 x 429 (rate limited), 1 x 503\n"
    rows = dict(progress.Scoreboard(written.campaign, clock).rows(written.campaign))
    assert rows["retries"] == "fast: 10 requests failed: 5 x 429 (rate limited), 5 x 503"
    assert rows["spent"] == "5 calls (10 requests failed), 0 tokens"


def test_calls_in_flight_are_counted_apart_from_those_that_wait(tmp_path, clock):
    """The model takes one at a time."""
    mail = {"name": "mail", "kind": "mailbox", "settings": {"folder": str(tmp_path / "mbp")}, "concurrency": 1}
    written, out = Written(tmp_path, models={"members": [mail]}), io.StringIO()
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            for step in (2, 3, 4):
                campaign.write(Asked(step, Propose(Selection("diff", parents=(1,), model="mail")), 1))
        watch = progress.PlainLines(campaign, out, clock)
        clock.now += progress.QUIET_SECONDS
        watch.turned(campaign)
        rows = dict(progress.Scoreboard(campaign, clock).rows(campaign))
    assert "0 calls, 0 tokens, 1 call in flight, 2 waiting, left 30 programs" in out.getvalue()
    assert rows["calls"] == "1 call in flight, 2 waiting"


def pause(written, on):
    with written.campaign.log.transaction():
        written.campaign.write(Paused(on))


def test_a_pause_is_told_once_and_its_end_too(written, clock):
    """No sign of life in between: nothing happens."""
    out = io.StringIO()
    watch = progress.PlainLines(written.campaign, out, clock)
    for on in (True, True, False):
        if on != written.campaign.state.paused:
            pause(written, on)
        watch.turned(written.campaign)
        clock.now += 0.5 * progress.QUIET_SECONDS
        watch.turned(written.campaign)
        clock.now += 0.6 * progress.QUIET_SECONDS
    first, second = (line.partition(" s  ")[2] for line in out.getvalue().splitlines())
    assert first == "paused: nothing new is started until evolve campaign unpause number"
    assert second == "goes on"


def test_the_table_says_that_a_campaign_is_paused(written):
    """In its first row."""
    board = progress.Scoreboard(written.campaign)
    assert board.rows(written.campaign)[0][0] == "best"
    pause(written, True)
    assert board.rows(written.campaign)[0] == (
        "state",
        "paused: nothing new is started until evolve campaign unpause number",
    )


def test_a_warning_is_one_line_that_no_terminal_obeys(capsys: pytest.CaptureFixture[str]):
    """On stderr, once, for as long as somebody watches."""
    with print_warnings():
        logging.getLogger("evolve.models.patience").warning("model %r is down:\n\x1b[2Jno route", "m")
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("evolve: warning: model 'm' is down:")
    assert "\x1b" not in told.err
    assert logging.getLogger("evolve").handlers == []


def test_it_goes_where_stderr_is_when_it_is_told(monkeypatch: pytest.MonkeyPatch):
    """A table that is redrawn puts itself there."""
    with print_warnings():
        above = io.StringIO()
        monkeypatch.setattr(sys, "stderr", above)
        logging.getLogger("evolve.engine").warning("model 'm' is back after 3 s")
    assert above.getvalue() == "evolve: warning: model 'm' is back after 3 s\n"
