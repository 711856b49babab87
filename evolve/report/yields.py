"""Outcomes, and the yields of operators and models."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evolve.campaign import Past
from evolve.campaign.folds import REFLECTION
from evolve.campaign.history import OUTCOMES
from evolve.report.frame import Flags, Numbers, encode, flag_improved, make_frame
from evolve.types import Outcome, RecordId


@dataclass(frozen=True, slots=True)
class Yield:
    """Yield of an operator, or a model by whatever operator: its records, those that were evaluated, and those that were better than each of their
    parents."""

    name: str
    proposals: int
    evaluated: int
    improved: int

    @property
    def share(self) -> float:
        """Share of the evaluated programs: of what was evaluated, how much was better than its parents."""
        return self.improved / self.evaluated if self.evaluated else 0.0


@dataclass(slots=True)
class _Counts:
    proposals: int = 0
    evaluated: int = 0
    improved: int = 0

    def add(self, *, evaluated: bool, improved: bool) -> None:
        self.proposals += 1
        self.evaluated += evaluated
        self.improved += improved


@dataclass(slots=True)
class Tally:
    """Outcomes and yields, counted as records settle; adding one costs the same however many there are. A reflection makes no program: it is
    counted by itself."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    reflections: int = 0
    _operators: dict[str, _Counts] = field(default_factory=dict)
    _models: dict[str, _Counts] = field(default_factory=dict)

    @classmethod
    def of(cls, history: Past) -> "Tally":
        """Returns the tally of a whole history."""
        columns, tally = make_frame(history), cls()
        codes, names = encode(history.columns.operators[: len(columns)])
        reflected = np.array([name == REFLECTION for name in names], np.bool_)[codes]
        made = np.array([name not in ("", REFLECTION) for name in names], np.bool_)[codes]
        tally.reflections = int(np.count_nonzero(reflected))
        found = np.bincount(columns.outcomes[~reflected], minlength=len(OUTCOMES)).tolist()
        tally.outcomes.update({outcome: count for outcome, count in zip(OUTCOMES, found, strict=True) if count})
        evaluated, better = ~columns.outcome(Outcome.SCREENED), flag_improved(history, columns)
        tally._operators = _count(codes, names, made, evaluated, better)
        models = encode(history.columns.models[: len(columns)])
        tally._models = _count(
            *models, made & np.array([bool(name) for name in models[1]], np.bool_)[models[0]], evaluated, better
        )
        return tally

    def add(self, history: Past, record: RecordId) -> None:
        """Counts one record."""
        outcome, operator, model = history.outcome(record), history.operator(record), history.model(record)
        if operator == REFLECTION:
            self.reflections += 1
            return
        self.outcomes[outcome] += 1
        if not operator:
            return
        evaluated, improved = outcome is not Outcome.SCREENED, _is_improved(history, record)
        self._operators.setdefault(operator, _Counts()).add(evaluated=evaluated, improved=improved)
        if model:
            self._models.setdefault(model, _Counts()).add(evaluated=evaluated, improved=improved)

    def counts(self) -> dict[str, int]:
        """Returns records by the outcome's name, the most frequent first."""
        return {outcome.value: count for outcome, count in self.outcomes.most_common()}

    def yields(self) -> tuple[Yield, ...]:
        """Returns one line per operator, the busiest first."""
        return _lines(self._operators)

    def model_yields(self) -> tuple[Yield, ...]:
        """Returns one line per model, the busiest first; none where no model was called."""
        return _lines(self._models)


def _lines(found: Mapping[str, _Counts]) -> tuple[Yield, ...]:
    lines = [Yield(name, counts.proposals, counts.evaluated, counts.improved) for name, counts in found.items()]
    return tuple(sorted(lines, key=lambda line: (-line.evaluated, line.name)))


def _count(codes: Numbers, names: Sequence[str], made: Flags, evaluated: Flags, better: Flags) -> dict[str, _Counts]:
    """By name, of what operators have made."""
    lines = zip(
        names,
        *(
            np.bincount(codes[chosen], minlength=len(names)).tolist()
            for chosen in (made, made & evaluated, made & better)
        ),
        strict=True,
    )
    return {name: _Counts(*counts) for name, *counts in lines if counts[0]}


def _is_improved(history: Past, record: RecordId) -> bool:
    worth = _worth(history, record)
    parents = [_worth(history, parent) for parent in history.parents(record)]
    return worth is not None and all(parent is None or worth > parent for parent in parents)


def _worth(history: Past, record: RecordId) -> tuple[float, float] | None:
    """Returns a rank, the larger the better; who meets the constraints first. None for a failure."""
    fitness = history.fitness(record)
    return None if fitness is None else (-history.violation(record), fitness)
