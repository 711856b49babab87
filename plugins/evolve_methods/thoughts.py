"""EoH, Evolution of Heuristics (Liu et al., ICML 2024, https://arxiv.org/abs/2401.02051): an individual is a thought, one sentence that says how the
algorithm works, and its code; a model changes both together.

*Operators.* `eoh_i1` writes an algorithm from nothing; `eoh_e1` one that is totally different from its parents; `eoh_e2` one that has the parents' common idea in
a new form; `eoh_m1` modifies a parent, `eoh_m2` changes its parameters, and `eoh_m3` leaves out parts of it that fit too closely.

*Strategy.* Twice as many first algorithms as the population holds. Then the operators in turn, with parents that are drawn in
proportion to 1 / (rank + N) among the N best programs, rank 1 first, each with a score of its own.

*Faithful:* the individual, the six requests, the law of parents, the two parents of e1 and e2, one population, equal scores as duplicates.

*Not faithful.* No generations: a child competes as soon as it has settled, so that no worker waits. The population is drawn from the engine's elites, of which a cell keeps few. The parents of one request differ,
where the paper's may repeat. Hints, lessons and the evaluator's words on the parent are in the requests, and a reply that cannot be used goes back once. The first request shows the seed, since it has the names and arguments of the functions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.archive import Elite
from evolve.hookspecs import OperatorEntry, PresetEntry, StrategyEntry
from evolve.prompts import quote_inline
from evolve.protocols import Context, View
from evolve.types import Asked, Child, Event, Propose, RecordId, Selection, Settled, TaskChanged, Wait
from evolve_methods.asking import PARENT, Asker, Request, make_entry, make_request, tell_rivals
from evolve_methods.choices import list_usable, wait_or_refuse

FIRST = "eoh_i1"
_FORM = """## Form of the answer

The first line is `Hypothesis:` and one sentence of at most 60 words that tells the idea of your algorithm and its main steps. Then each file that changes, whole, in a fence that begins with its path:

~~~
Hypothesis: Start from a coarse answer, refine its worst part, and stop when a round gains nothing.

```{{path}}
the whole file
```
~~~

Leave nothing out and abbreviate nothing. Of a file with one EVOLVE block, the lines inside the block are enough. A file that you do not write stays as it is. Where a file contains lines of backticks, use a longer fence around it."""


def _request(kind: str, what: str) -> Request:
    partners = ["partners"] if kind == "crossover" else []
    shown = ["lessons", *partners, "parent", "feedback"]
    return make_request(kind, shown, "{{advice}}", what, "{{files}}", files=_FORM, parent=PARENT)


REQUESTS: Mapping[str, Request] = {
    FIRST: _request(
        "sample",
        "Program {{number}} shows what is to be defined, and is only a start. Design an algorithm of your own for the task, and write it in its place.",
    ),
    "eoh_e1": _request(
        "crossover",
        "Design an algorithm that has a totally different form from program {{number}} and {{others_names}}: share no idea with them. Write it in the place of program {{number}}.",
    ),
    "eoh_e2": _request(
        "crossover",
        "First find the idea that program {{number}} and {{others_names}} have in common. Then design an algorithm on that idea that has another form than all of them. Write it in the place of program {{number}}.",
    ),
    "eoh_m1": _request(
        "rewrite",
        "Design an algorithm that differs from program {{number}} in its form, and is a modified version of it.",
    ),
    "eoh_m2": _request(
        "rewrite",
        "Find the main parameters of program {{number}}: constants, weights, limits and the terms of its formulas. Keep the algorithm, and choose other parameters for it.",
    ),
    "eoh_m3": _request(
        "rewrite",
        "Find the parts of program {{number}} that may fit the known instances too closely, or do little. Make the program simpler by leaving them out, so that it does well on instances that nobody has seen.",
    ),
}
"""The requests by their operators."""


class ThoughtsSettings(BaseModel):
    """Settings of `thoughts`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    population: int = Field(default=5, ge=2, le=200)
    """Programs that may be parents, the best."""


def write_algorithm(name: str, asker: Asker, selection: Selection, context: Context) -> Sequence[Child]:
    """Returns a program for each answer to an operator's request; its thought is the sentence about the algorithm."""
    words = {} if name == FIRST else {"advice": _tell_thought(selection, context)}
    return asker.write_programs(REQUESTS[name], selection, context, words)


def _tell_thought(selection: Selection, context: Context) -> str:
    """Returns the thought of the first parent in words, and what tells this request from others; the other parents stand with theirs."""
    if not selection.parents:
        return ""
    parent = selection.parents[0]
    # A program that a newer version of the task has evaluated again keeps the thought of its proposal.
    proposal = context.history.record(parent).origin.about or parent
    thought = quote_inline(context.history.record(proposal).thought, 500)
    told = f"The algorithm of program {parent}: {thought}" if thought else ""
    return "\n\n".join(filter(None, (told, tell_rivals(context))))


class Thoughts:
    """Strategy of one population. The state is how often each operator was asked, and the seed: a fold over the events."""

    def __init__(self, settings: ThoughtsSettings, operators: Sequence[str]) -> None:
        self._size = settings.population
        self._operators = tuple(operators)
        self._asked = Counter[str]()
        self._seed: RecordId = 0

    def ask(self, view: View, rng: Generator) -> Propose | Wait:
        """Returns a first algorithm until there are enough of them, then a proposal by the operator that was asked least; Wait while there is
        no program. Raises `ConfigError` where no operator could ever be used."""
        population = list_population(view, self._size)
        if not population:
            return Wait()
        others = [name for name in list_usable(view, len(population)) if name != FIRST]
        if FIRST in view.operators and self._seed and (self._asked[FIRST] < 2 * self._size or not others):
            return Propose(Selection(FIRST, parents=(self._seed,)))
        if not others:
            return wait_or_refuse(view, self._operators)
        # The first of the least asked: the operators take turns.
        operator = min(others, key=lambda name: self._asked[name])
        parents = draw_parents(population, max(1, view.traits(operator).parents), rng)
        return Propose(Selection(operator, parents=parents))

    def tell(self, event: Event) -> None:
        """Folds an event at constant cost."""
        match event:
            case Asked(action=Propose(selection=selection)) if selection.operator in self._operators:
                self._asked[selection.operator] += 1
            case Settled(record=record) if record.origin.kind == "seed" and record.evaluation.fitness is not None:
                self._seed = self._seed or record.id
            case TaskChanged():
                self._seed = 0


def list_population(view: View, size: int) -> Sequence[Elite]:
    """Returns the best elites, the best first, each with a score of its own: equal ones are taken for duplicates."""
    best: dict[tuple[float, float], Elite] = {}
    for elite in sorted(view.archive.elites(), key=lambda elite: (elite.violation, -elite.fitness, elite.record)):
        best.setdefault((elite.violation, elite.fitness), elite)
    return list(best.values())[:size]


def draw_parents(population: Sequence[Elite], count: int, rng: Generator) -> tuple[RecordId, ...]:
    """Draws so many different programs, that of rank r in proportion to 1 / (r + N)."""
    weights = [1 / (rank + len(population)) for rank in range(1, 1 + len(population))]
    total = sum(weights)
    places = rng.choice(len(population), count, replace=False, p=[weight / total for weight in weights])
    return tuple(population[int(place)].record for place in places)


def _make(settings: Mapping[str, Any], operators: Sequence[str]) -> Thoughts:
    return Thoughts(ThoughtsSettings(**settings), operators)


def _operator(name: str, request: Request) -> OperatorEntry:
    return make_entry(name, partial(write_algorithm, name), parents=2 if request.kind == "crossover" else 1)


ENTRIES = (
    StrategyEntry("thoughts", _make, ThoughtsSettings, operators=tuple(REQUESTS)),
    *(_operator(*each) for each in REQUESTS.items()),
    PresetEntry(
        "thoughts",
        {"strategy": {"name": "thoughts"}, "archive": {"islands": 1}},
        "a thought and its code change together, by six requests in turn",
        "Evolution of Heuristics, https://arxiv.org/abs/2401.02051",
    ),
)
