"""Settled records as columns: 100,000 fit in memory because texts and whole records stay in the log.

Columns only grow, and only on the main thread; a `Past` of n records is the same for ever, on any thread."""

import json
import math
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from evolve.bounded_cache import BoundedCache
from evolve.log import Log
from evolve.types import (
    FAILURES,
    Evaluation,
    Insertion,
    OriginKind,
    Outcome,
    Program,
    ProgramId,
    Progress,
    Record,
    RecordId,
    Settled,
    Task,
    TextId,
    Trust,
)
from evolve.types.codec import decode

RECENT = 200
"""Number of the latest values of a stage that a relative threshold is taken from."""
FEW = 50
"""With fewer values than these a relative threshold lets everything pass: a campaign of thirty calls of a model shall lose none of them to a
share of what few programs have set."""
OUTCOMES = tuple(Outcome)
_CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}
_NOTHING = Progress()
KINDS: tuple[OriginKind, ...] = ("seed", "proposal", "measurement", "import", "note")


class Columns:
    """The growing columns. Record n is at index n - 1. The first `since` records were evaluated by earlier versions of the task."""

    def __init__(self) -> None:
        self.since: RecordId = 0
        self.moved: RecordId = 0
        """Number of records at the moment when a task whose scores depend on the machine came to another hardware class."""
        self.fitness = array("d")
        self.violations: dict[RecordId, float] = {}
        """Violations of the records that miss a constraint."""
        self.outcomes = bytearray()
        self.steps = array("q")
        """Step that made each."""
        self.kinds = bytearray()
        """Kinds of the origins, as places in `KINDS`."""
        self.insertions = bytearray()
        """Decision of the archive about each, as `Insertion`."""
        self.seconds = array("d")
        """Seconds of each evaluation."""
        self.isolations: list[str] = []
        self.trusts: list[Trust] = []
        """Source of each score, beside the isolation of each evaluation; one text for each name."""
        self.calls = array("Q")
        self.tokens = array("Q")
        self.money = array("d")
        """Sums over all calls of models at the moment when each settled."""
        self.evaluations = array("Q")
        self.cases_seen = array("Q")
        """Evaluations, and cases that they looked at, up to each and with it."""
        self.operators: list[str] = []
        self.models: list[str] = []
        """One text for each name, however many records have it."""
        self.islands = array("H")
        """Island that each was proposed on."""
        self.parents: list[tuple[RecordId, ...]] = []
        self.children: dict[RecordId, list[RecordId]] = {}
        self.failed: list[RecordId] = []
        """Proposals whose program failed when it was evaluated."""
        self.programs: list[ProgramId | None] = []
        self.proposed: list[RecordId] = []
        """Proposals whose operator called a model."""
        self.cases: dict[str, tuple[list[RecordId], list[float]]] = defaultdict(lambda: ([], []))
        """By case, the records that were better there than all before them, and their results."""
        self.passed: dict[str, tuple[list[RecordId], list[float]]] = defaultdict(lambda: ([], []))
        self.noted: dict[str, tuple[list[RecordId], list[Any]]] = defaultdict(lambda: ([], []))

    def append(self, record: Record, insertion: Insertion = Insertion.NOT_ADDED, spent: Progress = _NOTHING) -> None:
        """Adds the next record. The last column grows last: its length is what readers may rely on. What was found on a case that
        the search must not see is no fitness here."""
        # Strategies read these columns, and a held-out result must not guide them.
        fitness = None if record.origin.case else record.evaluation.fitness
        self.fitness.append(math.nan if fitness is None else fitness)
        if fitness is not None and record.evaluation.violation:
            self.violations[record.id] = record.evaluation.violation
        self.outcomes.append(_CODES[record.evaluation.outcome])
        self.steps.append(record.origin.step)
        self.kinds.append(KINDS.index(record.origin.kind))
        self.insertions.append(insertion)
        self.seconds.append(record.evaluation.seconds)
        self.isolations.append(sys.intern(record.evaluation.isolation))
        self.trusts.append(record.evaluation.trust)
        self.calls.append(spent.calls)
        self.evaluations.append(spent.evaluations)
        self.cases_seen.append(spent.cases)
        self.tokens.append(spent.tokens)
        self.money.append(spent.money)
        self.operators.append(record.origin.operator)
        self.models.append(sys.intern(record.origin.model))
        self.islands.append(record.origin.island)
        self.parents.append(record.origin.parents)
        for plugin, extras in record.extras.items():
            ids, values = self.noted[plugin]
            values.append(extras)
            ids.append(record.id)
        if not record.origin.case:
            self._note_cases(record)
        if record.origin.kind == "proposal":
            if record.origin.model:
                self.proposed.append(record.id)
            for parent in dict.fromkeys(record.origin.parents):
                self.children.setdefault(parent, []).append(record.id)
            failed = record.evaluation.outcome in FAILURES and not record.evaluation.limit
            if failed and record.program is not None:
                self.failed.append(record.id)
            for stage, value in record.evaluation.passed.items():
                ids, values = self.passed[stage]
                values.append(value)
                ids.append(record.id)
        # Last: readers on other threads take the length of this column as the number of records.
        self.programs.append(record.program)

    def _note_cases(self, record: Record) -> None:
        # What failed elsewhere is no mark to reach.
        if record.evaluation.outcome is not Outcome.OK:
            return
        for case, result in record.evaluation.cases.items():
            ids, values = self.cases[case]
            if not values or result > values[-1]:
                values.append(result)
                ids.append(record.id)

    def first_records(self) -> dict[ProgramId, RecordId]:
        """Each program with the first record that has it, in the order of these records; one pass over all of them."""
        found: dict[ProgramId, RecordId] = {}
        for record, program in enumerate(self.programs, 1):
            if program is not None:
                found.setdefault(program, record)
        return found


class Reader:
    """Programs, texts and records of a log, with the programs and records that were asked for last kept in memory, and records that
    have just settled: prompts of many steps tell of the same ones."""

    def __init__(self, log: Log) -> None:
        self.program = lru_cache(maxsize=1024)(log.program)
        self.text = log.text
        self._read = log.settled
        self._records = BoundedCache(2048)

    def settled(self, record: RecordId) -> Settled:
        """Returns the event that settled a record."""
        return self._records.get_or_create(record, lambda: self._read(record))

    def keep(self, settled: Settled) -> None:
        """Keeps an event that is about to be in the log, so that it is not read there."""
        self._records.get_or_create(settled.record.id, lambda: settled)

    def task(self, definition: str) -> Task:
        """Returns the whole task that an event names by the id of its text."""
        return decode(Task, json.loads(self.text(TextId(definition))))


def without_result(record: Record) -> Record:
    """Returns the record; one on a case without its evaluation, for a result that the search must not see must not guide it."""
    if not record.origin.case:
        return record
    return replace(record, evaluation=Evaluation.failed(Outcome.SCREENED, "", stage=record.evaluation.stage))


@dataclass(frozen=True, slots=True)
class Past:
    """The first `length` records; implements `protocols.History`."""

    columns: Columns
    reader: Reader
    length: int

    def __len__(self) -> int:
        return self.length

    def _at(self, record: RecordId) -> int:
        if not 0 < record <= self.length:
            raise IndexError(f"no record {record} here; there are 1 to {self.length}")
        return record - 1

    def fitness(self, record: RecordId) -> float | None:
        """Returns the fitness as measured, larger is better; None for a failure."""
        value = self.columns.fitness[self._at(record)]
        return None if math.isnan(value) else value

    def is_current(self, record: RecordId) -> bool:
        """Returns whether it settled under the present version of the task."""
        return self._at(record) >= self.columns.since

    def violation(self, record: RecordId) -> float:
        """Returns how far it misses the task's constraints, as measured; 0 where it meets them, and for a failure."""
        self._at(record)
        return self.columns.violations.get(record, 0.0)

    def outcome(self, record: RecordId) -> Outcome:
        """Returns the outcome of its evaluation."""
        return OUTCOMES[self.columns.outcomes[self._at(record)]]

    def operator(self, record: RecordId) -> str:
        """Returns the operator's name; empty for seeds, measurements and imports."""
        return self.columns.operators[self._at(record)]

    def model(self, record: RecordId) -> str:
        """Returns the name of the model that its operator called; empty where it called none."""
        return self.columns.models[self._at(record)]

    def parents(self, record: RecordId) -> tuple[RecordId, ...]:
        """Returns the records that it was made from."""
        return self.columns.parents[self._at(record)]

    def children(self, record: RecordId) -> Sequence[RecordId]:
        """Returns the proposals that had it as a parent, in the order in which they settled."""
        self._at(record)
        found = self.columns.children.get(record, ())
        return found[: bisect_right(found, self.length)]

    def failures(self, count: int) -> Sequence[RecordId]:
        """Returns the last `count` proposals whose program failed when this version of the task evaluated it, the newest first."""
        failed = self.columns.failed
        low, high = bisect_right(failed, self.columns.since), bisect_right(failed, self.length)
        return failed[max(low, high - count) : high][::-1]

    def model_proposals(self, count: int) -> Sequence[RecordId]:
        """Returns the last `count` proposals whose operator called a model, the newest first."""
        high = bisect_right(self.columns.proposed, self.length)
        return self.columns.proposed[max(0, high - count) : high][::-1]

    def best_on_case(self, case: str, quarantined: Set[ProgramId] = frozenset()) -> tuple[RecordId, float] | None:
        """Returns the first record with the best result on a case, larger is better, and that result; None where there is none."""
        if case not in self.columns.cases:
            return None
        ids, values = self.columns.cases[case]
        for place in range(bisect_right(ids, self.length) - 1, -1, -1):
            if self.columns.programs[ids[place] - 1] not in quarantined:
                return ids[place], values[place]
        return None

    def cases(self, record: RecordId) -> Mapping[str, float]:
        """Returns the results on the task's cases, larger is better, of those that its evaluation came to."""
        return self.record(record).evaluation.cases

    def program_id(self, record: RecordId) -> ProgramId | None:
        """Returns its program; None where there was none to evaluate."""
        return self.columns.programs[self._at(record)]

    def extras(self, plugin: str, after: RecordId = 0) -> Sequence[tuple[RecordId, Any]]:
        """Returns what `plugin` stored with the records later than `after`, in their order; what an earlier version of the task evaluated
        is left out."""
        if plugin not in self.columns.noted:
            return ()
        ids, values = self.columns.noted[plugin]
        low, high = bisect_right(ids, max(after, self.columns.since)), bisect_left(ids, self.length + 1)
        return list(zip(ids[low:high], values[low:high], strict=True))

    def least_of_top(self, stage: str, share: float) -> float | None:
        """Returns the fitness that `share` of the proposals which this stage evaluated last on this hardware class (at most `RECENT`) have reached; None while
        there are fewer than `FEW` of them."""
        if stage not in self.columns.passed:
            return None
        ids, values = self.columns.passed[stage]
        low = bisect_right(ids, max(self.columns.since, self.columns.moved))
        high = bisect_left(ids, self.length + 1)
        recent = sorted(values[max(low, high - RECENT) : high], reverse=True)
        return recent[math.ceil(share * len(recent)) - 1] if len(recent) >= FEW else None

    def record(self, record: RecordId) -> Record:
        """Returns the whole record, read from the log; one on a case without its result."""
        self._at(record)
        return without_result(self.reader.settled(record).record)

    def program(self, program: ProgramId) -> Program:
        """Returns a stored program."""
        return self.reader.program(program)

    def text(self, text: str) -> str:
        """Returns a stored text by its id."""
        return self.reader.text(TextId(text))
