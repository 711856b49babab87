"""`evolve.Campaign`: a campaign to read in Python, from a log that may still grow.

Invariant: nothing is written; every number is what `evolve program` and `evolve campaign` say, for they ask the same questions."""

import operator
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from evolve import plugins
from evolve.campaign import Campaign as Engine
from evolve.campaign import workspace
from evolve.report.best import Best, EliteLine, best, elites, front
from evolve.report.blame import BlameLine, blame, program_of
from evolve.report.calls import Costs, costs
from evolve.report.columnar import columnar, write_csv
from evolve.report.curve import Point, curve
from evolve.report.outcomes import FailureClass, failures
from evolve.report.overview import Overview, overview
from evolve.report.records import LineageStep, RecordLine, Shown, lineage, settled, whole
from evolve.report.table import PROGRAMS, Wanted, page
from evolve.types import ConfigError, RecordId


class Campaign:
    """A campaign that is open for reading, as `Campaign.open` gives it. Fitness is in the task's own direction; a record is named by its number, and
    where none is named the best is meant. One thread at a time."""

    def __init__(self, engine: Engine) -> None:
        """Call `open` instead."""
        self._engine = engine
        self._closed = False

    @classmethod
    def open(cls, name: str | Path | None = None, home: str | Path | None = None) -> Self:
        """Returns a campaign by its name or the path of its log; without one the one written last. `home` is the workspace, where it is not that
        of the command line. Raises `ConfigError` or `StoreError`."""
        place = workspace() if home is None else Path(home)
        return cls(Engine.open(None if name is None else str(name), plugins.load(), place))

    @property
    def engine(self) -> Engine:
        """The folded campaign itself: what `evolve.report` takes. Raises `ConfigError` after `close`."""
        if self._closed:
            raise ConfigError(f"campaign {self.name!r} is closed. Try: open it again, or ask within its `with` block")
        return self._engine

    @property
    def name(self) -> str:
        """Its name; its records are `NAME/1` and on."""
        return self._engine.name

    @property
    def best(self) -> Best | None:
        """The best program against the seed and the anchors; None while there is none."""
        return best(self.engine)

    def overview(self) -> Overview:
        """Returns the campaign at a glance."""
        return overview(self.engine)

    def elites(self, limit: int | None = None) -> tuple[EliteLine, ...]:
        """Returns the programs that hold a place in the archive, the best first."""
        return elites(self.engine, limit)

    def front(self, limit: int | None = None) -> tuple[EliteLine, ...]:
        """The Pareto front over the task's objectives; empty where it has none."""
        return front(self.engine, limit)

    def records(self, limit: int | None = 20) -> tuple[RecordLine, ...]:
        """Records, the fittest first and failures last; None means all, each of which is read."""
        return page(self.engine, Wanted(), limit=limit).lines

    def search(self, text: str, limit: int = 20) -> tuple[RecordLine, ...]:
        """Returns programs whose code holds every word of a text, the fittest first."""
        return page(self.engine, Wanted(text=text, kind=PROGRAMS), limit=limit).lines

    def failures(self) -> tuple[FailureClass, ...]:
        """Returns the last failures, by what went wrong."""
        return failures(self.engine)

    def costs(self) -> Costs | None:
        """Returns what calls of models have cost; None where there was none."""
        return costs(self.engine)

    def curve(self) -> tuple[Point, ...]:
        """Returns how good the best program was when."""
        return curve(self.engine)

    def record(self, number: RecordId | None = None) -> Shown:
        """Returns a record with everything that its score rests on; that of the best program, without a number."""
        return whole(self.engine, self._number(number))

    def program(self, number: RecordId | None = None) -> Mapping[str, str]:
        """Returns the files of a record's program by their paths; of the best program, without a number."""
        return dict(program_of(self.engine, self._number(number)).files)

    def lineage(self, number: RecordId | None = None) -> tuple[LineageStep, ...]:
        """Returns the line of first parents from the seed to a record, or to the best."""
        return lineage(self.engine, self._number(number))

    def blame(self, number: RecordId | None = None) -> tuple[BlameLine, ...]:
        """Returns which record brought each line of a program, or of the best."""
        return blame(self.engine, self._number(number))

    def _number(self, number: RecordId | None) -> RecordId:
        if number is not None:
            return settled(self.engine, _whole(number)).record.id
        holder = self.engine.state.archive.best
        if holder is None:
            failed = bool(self.engine.state.seed_record) and not self.engine.state.seed_values
            why = "no best program: its seed has failed" if failed else "no best program yet"
            raise ConfigError(f"campaign {self.name!r} has {why}. Try: name a record")
        return holder.record

    def to_dataframe(self) -> Any:
        """Returns all records as a data frame of pandas, whose index is the record's number; raises `ConfigError` without pandas."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise ConfigError("pandas is not installed. Try: pip install 'evolve[frames]'") from error
        table = columnar(self.engine)
        frame = pandas.DataFrame(dict(table)).set_index("record")
        return frame.assign(at=pandas.to_datetime(frame["at"], unit="s", utc=True))

    def to_csv(self, path: str | Path) -> None:
        """Writes all records as CSV; raises `ConfigError` where it cannot be written."""
        write_csv(columnar(self.engine), Path(path))

    def refresh(self) -> int:
        """Takes what was appended to the log since, and says how many events that were."""
        return self.engine.follow()

    def close(self) -> None:
        """Closes the log; what was read stays, and nothing more is."""
        self._closed = True
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r}: {self._describe()}>"

    def _describe(self) -> str:
        if self._closed:
            return "closed"
        champion, count = self.best, len(self.engine.state.history)
        records = f"{count:,} record{'' if count == 1 else 's'}"
        if champion is None:
            return f"{records}, no best program yet"
        error = f" ± {champion.standard_error:.2g}" if champion.standard_error else ""
        measured = "certified" if champion.certified else f"{champion.measurements} measured"
        basis = f"{measured}, {champion.trust}, {champion.isolation.partition(':')[0]}"
        return (
            f"{records}, best {champion.name} {champion.fitness:.{self.engine.task.fitness.digits}g}{error} ({basis})"
        )


def _whole(number: RecordId) -> RecordId:
    """Returns a record's number, of numpy's too; raises `ConfigError` for what is none."""
    try:
        return RecordId(operator.index(number))
    except TypeError:
        raise ConfigError(f"a record is named by its whole number, got {number!r:.100}. Try: for example 12") from None
