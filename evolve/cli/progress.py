"""Progress of a running campaign: a live table on a terminal, plain lines elsewhere, JSON for programs.

A settled record costs nothing; everything is drawn on the loop's thread, a few times a second."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli.output import harmless, one_line, say
from evolve.engine.trackers import Watch
from evolve.types import Insertion, Settled

if TYPE_CHECKING:
    from rich.live import Live

REFRESH_SECONDS = 0.25
"""Seconds between two drawings of the live table."""
NEWS_SECONDS = 1.0
"""Seconds between two plain lines about a new best, at least."""
QUIET_SECONDS = 10.0
"""Seconds between two plain lines when there is nothing new."""
_ENGINE = logging.getLogger("evolve")

Clock = Callable[[], float]


class Scoreboard:
    """Figures of a run, and the programs per second since it began."""

    def __init__(self, campaign: Campaign, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        # The progress counts earlier runs of the campaign, too, whose speed nobody asks for.
        self._began, self._before = clock(), campaign.state.progress.programs

    def speed(self, campaign: Campaign) -> float:
        """Returns evaluated programs per second."""
        seconds = self._clock() - self._began
        return (campaign.state.progress.programs - self._before) / seconds if seconds > 0.0 else 0.0

    def rows(self, campaign: Campaign) -> list[tuple[str, str]]:
        """Returns the labels and texts of the live table."""
        state, stats = campaign.state, campaign.state.archive.stats()
        best, tally = report.best(campaign), report.tally(campaign)
        places = (
            f"{wording.counted(stats.cells, 'cell')} ({stats.coverage:.0%}), {wording.counted(stats.elites, 'elite')}"
        )
        return [
            *wording.format_paused(campaign),
            ("best", format_best(campaign, best)),
            ("", wording.anchors(best.anchors, campaign.task.fitness) if best else ""),
            ("archive", places),
            ("speed", f"{self.speed(campaign):.0f} programs/s, {state.progress.programs:,} evaluated"),
            *wording.format_yields(campaign, tally),
            *wording.format_costs(campaign, tally),
            *wording.format_waiting(campaign),
            ("isolation", state.machine.isolation if state.machine else "unknown"),
            ("left", report.budget_left(campaign, time.time())),
        ]


def format_best(campaign: Campaign, best: report.Best | None) -> str:
    """Returns the best program in one line."""
    if best is None:
        closest = report.closest(campaign)
        return f"none meets the constraints yet, least violation {closest.violation:.4g}" if closest else "none yet"
    proof = ", certified" if best.certified else ""
    return f"{wording.score(best, campaign.task.fitness)}{proof}  {best.name}"


class PlainLines:
    """A line for a new best, a pause and a model's first failure, and a sign of life; implements `engine.Watch`."""

    def __init__(self, campaign: Campaign, out: TextIO, clock: Clock = time.monotonic) -> None:
        self._board = Scoreboard(campaign, clock)
        self._out, self._clock = out, clock
        best = campaign.state.archive.best
        self._best = best.record if best else 0
        self._last = clock()
        self._news = False
        self._failing = {line.model for line in campaign.state.calls.failures()} | set(campaign.state.calls.retries)
        self._paused = campaign.state.paused

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Notes that there is news where a record may have changed the best."""
        self._news |= event.placement.insertion >= Insertion.IMPROVED or event.record.origin.kind == "measurement"

    def turned(self, campaign: Campaign) -> None:
        """Prints when there is something to say, and not too often."""
        now = self._clock()
        quiet = now - self._last
        best = campaign.state.archive.best
        if self._news and quiet >= NEWS_SECONDS:
            self._news = False
            if best is not None and best.record != self._best:
                self._best = best.record
                self._print_state(campaign, now)
        if campaign.state.paused != self._paused:
            self._paused, self._last = campaign.state.paused, now
            self._print(campaign, "".join(text for _, text in wording.format_paused(campaign)) or "goes on")
        # A paused campaign has nothing to show, and says so once.
        if quiet >= QUIET_SECONDS and now > self._last and not self._paused:
            self._print_state(campaign, now)
        self._print_failures(campaign)

    def _print_failures(self, campaign: Campaign) -> None:
        """Prints a line for each model at its first failed call or request; how many there are is in the other lines."""
        calls = campaign.state.calls
        told = {line.model: wording.failures([line]) for line in calls.failures()}
        told |= {model: wording.failed_requests({model: causes}) for model, causes in calls.retries.items()}
        for model in told.keys() - self._failing:
            self._failing.add(model)
            self._print(campaign, f"model {told[model]}")

    def _print_state(self, campaign: Campaign, now: float) -> None:
        self._last = now
        progress = "the seed is being evaluated"
        if campaign.state.seed_record:
            speed = self._board.speed(campaign)
            progress = wording.counted(campaign.state.progress.programs, "program")
            progress += f", {speed:.0f}/s" if speed >= 1.0 else ""
        costs = ""
        if campaign.state.progress.calls or campaign.settings.models.members:
            waiting = "".join(f", {text}" for _, text in wording.format_waiting(campaign))
            costs = f"  {wording.format_spent(campaign)}{waiting}, left {report.budget_left(campaign, time.time())}"
        best = format_best(campaign, report.best(campaign))
        self._print(campaign, f"{progress}{costs}  best {best}")

    def _print(self, campaign: Campaign, text: str) -> None:
        say(f"{campaign.seconds:6.0f} s  {text}", file=self._out)


class LiveTable:
    """The scoreboard, redrawn in place; implements `engine.Watch`."""

    def __init__(self, campaign: Campaign, live: "Live", clock: Clock = time.monotonic) -> None:
        self._board = Scoreboard(campaign, clock)
        self._live, self._clock = live, clock
        self._next = float("-inf")

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Does nothing: a drawing counts what has settled."""

    def turned(self, campaign: Campaign) -> None:
        """Redraws the table, a few times a second."""
        from rich.table import Table
        from rich.text import Text

        now = self._clock()
        if now < self._next:
            return
        grid = Table.grid(padding=(0, 2))
        for label, text in self._board.rows(campaign):
            grid.add_row(Text(label, style="bold"), Text(harmless(text)))
        self._live.update(grid, refresh=True)
        # To count 100,000 records takes a tenth of a second: a drawing never takes more than a twentieth of the time.
        self._next = now + max(REFRESH_SECONDS, 20.0 * (self._clock() - now))


@dataclass(frozen=True, slots=True)
class RecordWatch:
    """Calls a function with each settled record, before another watch is told; implements `engine.Watch`."""

    then: Watch
    on_record: Callable[[report.RecordLine], object]

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Calls the function."""
        self.on_record(report.record_line(campaign, event))
        self.then.settled(campaign, event)

    def turned(self, campaign: Campaign) -> None:
        """Leaves the turn to the next watch."""
        self.then.turned(campaign)


@contextmanager
def watch_campaign(campaign: Campaign, *, err: bool = False) -> Iterator[Watch]:
    """Yields the watch for where stdout goes; `err`: stdout is for programs, and people read stderr."""
    if err:
        yield PlainLines(campaign, sys.stderr)
    elif can_redraw(sys.stdout):
        from rich.console import Console
        from rich.live import Live

        # What the table says is said once more at the end, so that nothing of it stays.
        with Live(console=Console(), auto_refresh=False, transient=True) as live:
            yield LiveTable(campaign, live)
    else:
        yield PlainLines(campaign, sys.stdout)


def can_redraw(out: TextIO | None) -> bool:
    """Returns whether a live table may be drawn: on a capable terminal, unless the person asks for plain text. A program that was
    started without an output has None."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return out is not None and out.isatty() and not plain


class WarningPrinter(logging.Handler):
    """Prints what the engine logs as a line on stderr, so that a live table stays whole below it. Any thread."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a line."""
        say(f"evolve: {record.levelname.lower()}: {one_line(record.getMessage())}", file=sys.stderr)


@contextmanager
def print_warnings() -> Iterator[None]:
    """Prints warnings of the engine during the body."""
    printer = WarningPrinter(logging.WARNING)
    _ENGINE.addHandler(printer)
    try:
        yield
    finally:
        _ENGINE.removeHandler(printer)
