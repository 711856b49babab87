"""What a person sees while a campaign runs: a live table on a terminal, plain lines elsewhere, JSON for programs.

Invariant: a settled record costs the same however long the campaign is; everything is drawn on the loop's thread, a few times a
second. rich is loaded for the live table alone."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli import costs, summary
from evolve.cli.output import emit, harmless
from evolve.cli.say import say
from evolve.engine import Watch
from evolve.types import Insertion, Settled

if TYPE_CHECKING:
    from rich.live import Live

REFRESH = 0.25
"""Seconds between two drawings of the live table."""
NEWS = 1.0
"""Seconds between two plain lines about a new best, at least."""
SIGN_OF_LIFE = 10.0
"""Seconds between two plain lines when there is nothing new."""
_SAMPLES = 40

Clock = Callable[[], float]


class Scoreboard:
    """The figures of a run: a tally that grows with each record, and the programs per second of the last seconds."""

    def __init__(self, campaign: Campaign, clock: Clock = time.monotonic) -> None:
        self._tally = report.Tally.of(campaign.state.history)
        self._clock = clock
        self._samples = deque([(clock(), campaign.state.progress.programs)], maxlen=_SAMPLES)

    def count(self, campaign: Campaign, event: Settled) -> None:
        """Takes a settled record."""
        self._tally.add(campaign.state.history, event.record.id)

    def speed(self, campaign: Campaign) -> float:
        """Judged programs per second since the oldest sample; takes a sample."""
        then, before = self._samples[0]
        now, programs = self._clock(), campaign.state.progress.programs
        self._samples.append((now, programs))
        return (programs - before) / (now - then) if now > then else 0.0

    def rows(self, campaign: Campaign) -> list[tuple[str, str]]:
        """The table: a label and what there is to say."""
        state, stats = campaign.state, campaign.state.archive.stats()
        best = report.best(campaign)
        return [
            *summary.paused_facts(campaign),
            ("best", best_line(campaign, best)),
            ("", wording.anchors(best.anchors, campaign.task.fitness) if best else ""),
            (
                "archive",
                f"{wording.counted(stats.cells, 'cell')} ({stats.coverage:.0%}), {wording.counted(stats.elites, 'elite')}",
            ),
            ("speed", f"{self.speed(campaign):.0f} programs/s, {state.progress.programs:,} judged"),
            ("outcomes", wording.outcomes(self._tally.counts())),
            ("operators", summary.operators_told(campaign, self._tally)),
            *summary.cost_facts(campaign, self._tally),
            *summary.waiting_facts(campaign),
            ("isolation", state.machine.isolation if state.machine else "unknown"),
            ("left", report.budget_left(campaign, time.time())),
        ]


def best_line(campaign: Campaign, best: report.Best | None) -> str:
    """The best program in one line."""
    if best is None:
        found = report.closest(campaign)
        return f"none meets the constraints yet, least violation {found.violation:.4g}" if found else "none yet"
    proof = ", certified" if best.certified else ""
    return f"{wording.score(best, campaign.task.fitness)}{proof}  {best.name}"


class PlainLines:
    """A line for a new best and a sign of life; implements `loop.Watch`."""

    def __init__(self, campaign: Campaign, out: TextIO, clock: Clock = time.monotonic) -> None:
        self._board = Scoreboard(campaign, clock)
        self._out, self._clock = out, clock
        best = campaign.state.archive.best
        self._told = best.record if best else 0
        self._last = clock()
        self._news = False
        self._due = {line.model: 10 * line.failed for line in campaign.state.calls.failures()}
        """How many failed calls of a model are news."""
        self._due_requests = {model: 10 * causes.total() for model, causes in campaign.state.calls.retries.items()}
        self._paused = campaign.state.paused

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """A record that may have changed the best is news."""
        self._board.count(campaign, event)
        self._news |= event.placement.insertion >= Insertion.IMPROVED or event.record.origin.kind == "measurement"

    def turned(self, campaign: Campaign) -> None:
        """Prints when there is something to say, and not too often."""
        now = self._clock()
        quiet = now - self._last
        if self._news and quiet >= NEWS:
            self._news = False
            best = campaign.state.archive.best
            if best is not None and best.record != self._told:
                self._told = best.record
                self._say(campaign, now)
        if campaign.state.paused != self._paused:
            self._paused = campaign.state.paused
            self._last = now
            say(f"{campaign.seconds:6.0f} s  {_pause_told(campaign)}", file=self._out)
        if quiet >= SIGN_OF_LIFE and now > self._last and not self._paused:
            self._say(campaign, now)
        self._tell_failures(campaign)

    def _say(self, campaign: Campaign, now: float) -> None:
        self._last = now
        programs, speed = campaign.state.progress.programs, self._board.speed(campaign)
        line = best_line(campaign, report.best(campaign))
        told = wording.counted(programs, "program")
        say(
            f"{campaign.seconds:6.0f} s  {told}, {speed:.0f}/s{_costs(campaign)}  best {line}",
            file=self._out,
        )

    def _tell_failures(self, campaign: Campaign) -> None:
        """Prints a line for each model at its first failed call or request, and whenever they have become ten times as many."""
        for line in campaign.state.calls.failures():
            if line.failed >= self._due.get(line.model, 1):
                self._due[line.model] = 10 * line.failed
                say(f"{campaign.seconds:6.0f} s  model {wording.failures([line])}", file=self._out)
        for model, causes in campaign.state.calls.retries.items():
            if causes.total() >= self._due_requests.get(model, 1):
                self._due_requests[model] = 10 * causes.total()
                told = wording.failed_requests({model: causes})
                say(f"{campaign.seconds:6.0f} s  model {told}", file=self._out)


def _pause_told(campaign: Campaign) -> str:
    """That a run is paused, with what to do, or that it goes on."""
    return "".join(text for _, text in summary.paused_facts(campaign)) or "goes on"


def _costs(campaign: Campaign) -> str:
    """What was spent, what is left and who is waited for, in a line; nothing where there is no model."""
    progress, calls = campaign.state.progress, campaign.state.calls
    if not progress.calls and not campaign.settings.models.members:
        return ""
    waiting = "".join(f", {text}" for _, text in summary.waiting_facts(campaign))
    return f"  {costs.spent(progress, calls.failed, calls.failed_requests)}{waiting}, left {report.budget_left(campaign, time.time())}"


class LiveTable:
    """The scoreboard, redrawn in place; implements `loop.Watch`."""

    def __init__(self, campaign: Campaign, live: "Live", clock: Clock = time.monotonic) -> None:
        self._board = Scoreboard(campaign, clock)
        self._live, self._clock = live, clock
        self._last = float("-inf")

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Counts."""
        self._board.count(campaign, event)

    def turned(self, campaign: Campaign) -> None:
        """Redraws, a few times a second."""
        now = self._clock()
        if now - self._last >= REFRESH:
            self._last = now
            self._draw(campaign)

    def _draw(self, campaign: Campaign) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for label, text in self._board.rows(campaign):
            table.add_row(Text(label, style="bold"), Text(harmless(text)))
        self._live.update(table, refresh=True)


class JsonLines:
    """Every settled record as a line of JSON; implements `loop.Watch`."""

    def __init__(self, then: Watch) -> None:
        self._then = then

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Prints the record."""
        emit(report.record_line(campaign, event))
        self._then.settled(campaign, event)

    def turned(self, campaign: Campaign) -> None:
        """Leaves it to the next watch."""
        self._then.turned(campaign)


@contextmanager
def watching(campaign: Campaign, *, as_json: bool) -> Iterator[Watch]:
    """The watch for where stdout goes; with JSON there, people read stderr."""
    if as_json:
        yield JsonLines(PlainLines(campaign, sys.stderr))
    elif draws(sys.stdout):
        with _live() as live:
            yield LiveTable(campaign, live)
    else:
        yield PlainLines(campaign, sys.stdout)


def draws(out: TextIO | None) -> bool:
    """Whether a table can be redrawn there: a terminal that can, and a person who did not ask for plain text. A program that was
    started without an output has None."""
    return (
        out is not None and out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    )


def _live() -> "Live":
    from rich.console import Console
    from rich.live import Live

    return Live(console=Console(), auto_refresh=False, transient=True)
