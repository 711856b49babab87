"""`tune_literals`: a program's numbers, searched by CMA-ES over the records that earlier proposals of the same skeleton became.

A proposal is a function of selection, history and the step's random numbers. The operator's state between proposals is a
cache: an operator made fresh reads the same from the history, because every child notes the point that it is."""

import base64
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.operators.cma_es import Descent, DescentPlan, Vector
from evolve.operators.literals import LiteralTemplate, require_template
from evolve.operators.parents import parent_program
from evolve.protocols import Context, History
from evolve.types import NOBODYS_FAULT, Child, RecordId, Selection

NAME = "tune_literals"
_TRIES = 8
_CYCLE = (1.0, 2.0, 0.5)
_SMALL_INTEGER_STEP = 0.3


class TuneSettings(BaseModel):
    """Settings of `tune_literals`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    population: int = Field(default=0, ge=0, le=10_000)
    """Results per generation; 0: from the number of literals."""
    sigma: float = Field(default=1.0, gt=0.0, le=100.0)
    """The standard deviation of the first steps, in the literals' scales."""


class Note(NamedTuple):
    """Note in a child's extras: the number of its descent among those of its skeleton, the record whose program that descent
    started from, and the point, in scales from there, as float32 in base64."""

    number: int
    start: RecordId
    point: str


@dataclass(frozen=True, slots=True)
class Search:
    """The newest descent of one skeleton: `form` is the program that it started from."""

    number: int
    start: RecordId
    form: LiteralTemplate
    descent: Descent


class TuneLiterals:
    """One descent at a time per skeleton; when it is over, the next proposal starts another, from the fittest that it was given."""

    def __init__(self, settings: TuneSettings) -> None:
        self._settings = settings
        self._forget()

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns `selection.samples` children; raises `EditError` where there is nothing to tune."""
        history = context.history
        parent = require_template(parent_program(selection, history))
        self._fold(history)
        search = self._searches.get(parent.skeleton)
        if search is None or search.descent.finished:
            start = _find_start(selection, parent.skeleton, history)
            search = self._start_search(1 + (search.number if search else 0), start, _read_form(history, start))
        return [_make_child(search, parent, context.rng) for _ in range(selection.samples)]

    def _forget(self) -> None:
        self._folded = 0
        self._skeletons: dict[RecordId, str] = {}
        self._searches: dict[str, Search] = {}

    def _fold(self, history: History) -> None:
        """Tells the descents what has settled. A history shorter than the last (a step that runs again) is read from its beginning."""
        # A step that runs again sees the history of its time, which may be shorter than what was folded since.
        if len(history) < self._folded:
            self._forget()
        noted = [(record, Note(*note)) for record, note in history.extras(NAME, after=self._folded)]
        self._folded = len(history)
        self._advance(noted, history)
        for record, note in noted:
            search = self._searches[self._skeletons[note.start]]
            if (note.number, note.start) == (search.number, search.start):
                _tell_result(search.descent, history, record, note)

    def _advance(self, noted: Iterable[tuple[RecordId, Note]], history: History) -> None:
        """Starts the descents that the notes know of. The first to settle decides where a descent starts; proposals that were in
        flight with another start, and those of older descents, do not count."""
        for _, note in noted:
            if note.start not in self._skeletons:
                self._skeletons[note.start] = _read_form(history, note.start).skeleton
            skeleton = self._skeletons[note.start]
            known = self._searches.get(skeleton)
            if known is None or note.number > known.number:
                self._searches[skeleton] = self._start_search(note.number, note.start, _read_form(history, note.start))

    def _start_search(self, number: int, start: RecordId, form: LiteralTemplate) -> Search:
        return Search(
            number, start, form, Descent(len(form.values), plan_descent(number, len(form.values), self._settings))
        )


def plan_descent(number: int, dimension: int, settings: TuneSettings) -> DescentPlan:
    """Returns the plan of descent `number` (from 1) of a skeleton: first steps as set, then twice and half as long, in turn. The population is
    twice the tutorial's, because results are told late and a landscape of literals has many tops."""
    population = settings.population or 2 * (4 + int(3 * math.log(dimension)))
    return DescentPlan(settings.sigma * _CYCLE[(number - 1) % len(_CYCLE)], population)


def _find_start(selection: Selection, skeleton: str, history: History) -> RecordId:
    """Returns the start of a new descent: the fittest of the parent and those inspirations that have its skeleton. A descent takes thousands
    of evaluations, so that a weak start costs more than it does for an operator that makes one child."""
    alike = [record for record in selection.inspirations if _read_form(history, record).skeleton == skeleton]
    return min([selection.parents[0], *alike], key=lambda record: _rank(history, record))


def _rank(history: History, record: RecordId) -> tuple[float, float]:
    """Ranks a record, the smaller the better: programs that meet the constraints first, failures last."""
    fitness = history.fitness(record)
    return (math.inf, 0.0) if fitness is None else (history.violation(record), -fitness)


def _read_form(history: History, record: RecordId) -> LiteralTemplate:
    program = history.program_id(record)
    assert program is not None, f"record {record} was a parent and has no program"
    return require_template(history.program(program))


def _tell_result(descent: Descent, history: History, record: RecordId, note: Note) -> None:
    """Tells a descent a result. A duplicate or a refused program says nothing about its point, nor does a failure of the infrastructure."""
    if history.outcome(record) in NOBODYS_FAULT:
        descent.skip()
    else:
        descent.tell(_decode(note.point), history.fitness(record), history.violation(record))


def _make_child(search: Search, parent: LiteralTemplate, rng: Generator) -> Child:
    """Returns a child that differs from the start and the parent, if a few tries find one."""
    # Rounded integers make equal programs of different points, and a duplicate would be screened.
    for _ in range(_TRIES):
        point = _move_integers(search, search.descent.ask(rng), rng)
        values = search.form.nearest(_place_values(search.form, point))
        if values not in (search.form.values, parent.values):
            break
    note = Note(search.number, search.start, _encode(point))
    return Child(search.form.fill(values), extras={NAME: list(note)})


def _place_values(form: LiteralTemplate, point: Vector) -> list[float]:
    return list((np.array(form.values, np.float64) + np.array(form.scales) * point).tolist())


def _move_integers(search: Search, point: Vector, rng: Generator) -> Vector:
    """Returns the point, with a step of 1 up or down for each integer that would hardly move any more, one time in as many as there are
    literals; as it will be noted."""
    kinds = np.array([isinstance(value, int) for value in search.form.values])
    if kinds.any():
        scales = np.array(search.form.scales)
        still = (
            kinds
            & (search.descent.deviations() * scales < _SMALL_INTEGER_STEP)
            & (rng.random(len(kinds)) * len(kinds) < 1)
        )
        point = point + np.where(still, rng.choice((-1.0, 1.0), len(kinds)) / scales, 0.0)
    # Rounded as the note will hold it: a fresh operator reads the same point from the history.
    return point.astype(np.float32).astype(np.float64)


def _encode(point: Vector) -> str:
    return base64.b64encode(point.astype("<f4").tobytes()).decode("ascii")


def _decode(text: str) -> Vector:
    return np.frombuffer(base64.b64decode(text), "<f4").astype(np.float64)
