"""Suite for strategies: rehearsed campaigns, in which the outcome of an action follows from its step alone."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType

from evolve.protocols import Strategy
from evolve.testing.rehearsal import OPERATORS, Rehearsal, RehearsedHistory
from evolve.types import FAILURES, Action, Case, Event, Measure, ProgramId, Propose, Selection, Traits, Wait

IN_FLIGHT = 3
NEEDS: Mapping[str, Traits] = MappingProxyType({"second": Traits(takes_failures=True), "third": Traits(parents=2)})
"""Traits of two of the operators in a second rehearsal."""
CASES = (Case("left"), Case("middle"), Case("right"))
"""Cases of the task of that rehearsal."""


def check_strategy(
    make: Callable[[Sequence[str]], Strategy], steps: int = 120, operators: Mapping[str, Traits] = MappingProxyType({})
) -> None:
    """Rehearses two campaigns of `steps` actions, up to `IN_FLIGHT` at a time, with the strategy of `make(operators)`. In the second one, some
    operators have the traits of `NEEDS`, and the task has the cases of `CASES`. A strategy that works with certain operators is given these, by their names, with their traits, and in one campaign.

    Checked: the same view and generator give the same action, asking changes no state, a fresh strategy that is told
    the same events asks the same, only known records and operators are named, a quarantined program is left alone, an
    operator gets the parents that its `view.traits` ask for or is not used, one that `view.operators` lacks from the middle on is not used, nor is a model that `view.models` lacks,
    a gate names cases of the task, it never waits while nothing is pending, and it goes on with a newer version of the task."""
    if operators:
        _check_campaign(make, steps, operators)
        return
    usual = dict.fromkeys(OPERATORS, Traits())
    _check_campaign(make, steps, usual)
    _check_campaign(make, steps, {**usual, **NEEDS}, CASES)


def _check_campaign(
    make: Callable[[Sequence[str]], Strategy], steps: int, operators: Mapping[str, Traits], cases: Sequence[Case] = ()
) -> None:
    rehearsal, strategy, told = Rehearsal(), make(tuple(operators)), 0
    rehearsal.task = replace(rehearsal.task, cases=tuple(cases))
    rehearsal.operators = tuple(operators)
    rehearsal.needs.update(operators)
    rehearsal.open()
    quarantined: Set[ProgramId] = frozenset()
    for step in range(1, steps + 1):
        if step == max(1, steps * 3 // 4):
            rehearsal.rejudge()
        for event in rehearsal.events[told:]:
            strategy.tell(event)
        told = len(rehearsal.events)
        action = _ask(strategy, rehearsal, step)
        if step % 10 == 0:
            replayed = _replay(make(tuple(operators)), rehearsal.events).ask(rehearsal, rehearsal.rng(step))
            assert replayed == action, (
                f"a replay of the same events asks otherwise at step {step}: {replayed} != {action}"
            )
        _check_action(action, rehearsal, quarantined)
        _act(rehearsal, action)
        if not quarantined and step >= steps // 2:
            quarantined = _quarantine(rehearsal)
            rehearsal.operators = tuple(operators)[: max(1, len(operators) - 1)]
            rehearsal.models = rehearsal.models[:1]


def _quarantine(rehearsal: Rehearsal) -> Set[ProgramId]:
    """Quarantines the best program and the last that failed, and returns them; none while the best is the seed."""
    best, failed = rehearsal.quarantine_best(), rehearsal.history.failures(1)
    if best is None:
        return frozenset()
    programs = (rehearsal.history.program_id(record) for record in failed)
    return {best, *(rehearsal.quarantine(program) for program in programs if program is not None)}


def _ask(strategy: Strategy, rehearsal: Rehearsal, step: int) -> Action:
    action = strategy.ask(rehearsal, rehearsal.rng(step))
    for other in range(3):
        strategy.ask(rehearsal, rehearsal.rng(step, 2 + other))
    again = strategy.ask(rehearsal, rehearsal.rng(step))
    assert again == action, f"the same view and generator give another action at step {step}: {again} != {action}"
    return action


def _replay(strategy: Strategy, events: Sequence[Event]) -> Strategy:
    for event in events:
        strategy.tell(event)
    return strategy


def _act(rehearsal: Rehearsal, action: Action) -> None:
    if not isinstance(action, Wait):
        rehearsal.start(action)
    if isinstance(action, Wait) or len(rehearsal.pending) >= IN_FLIGHT:
        rehearsal.finish()


def _check_action(action: Action, rehearsal: Rehearsal, quarantined: Set[ProgramId]) -> None:
    known = range(1, len(rehearsal.history) + 1)
    match action:
        case Wait():
            assert rehearsal.pending, "it waits while nothing is pending: the campaign would stand still"
        case Measure(about=about, program=program):
            assert about in known, f"it measures record {about}, but there are {len(known)}"
            assert rehearsal.history.program_id(about) == program, f"record {about} does not hold the program {program}"
        case Propose(selection=selection, gate=gate):
            _check_selection(selection, rehearsal, quarantined)
            cases = [case.name for case in rehearsal.task.cases]
            strange = sorted(set(gate) - set(cases))
            assert not strange, (
                f"its gate names {', '.join(strange)}, and the task has {', '.join(cases) or 'no cases'}"
            )


def _check_selection(selection: Selection, rehearsal: Rehearsal, quarantined: Set[ProgramId]) -> None:
    history, named = rehearsal.history, (*selection.parents, *selection.inspirations)
    unknown = [record for record in named if not 0 < record <= len(history)]
    assert not unknown, f"it names records {unknown}, but there are {len(history)}"
    assert selection.operator in rehearsal.operators, (
        f"it names the operator {selection.operator!r}, and may use {', '.join(rehearsal.operators)}"
    )
    models = rehearsal.models if rehearsal.traits(selection.operator).needs_model else ()
    assert selection.model in ("", *models), (
        f"it names the model {selection.model!r} for {selection.operator!r}, and may name {', '.join(models) or 'none'}"
    )
    islands = rehearsal.archive.settings.islands
    assert 0 <= selection.island < islands, f"it names island {selection.island}, but there are {islands}"
    assert quarantined.isdisjoint(history.program_id(record) or "" for record in named), (
        "it names a quarantined program"
    )
    _check_parents(selection, rehearsal.history, rehearsal.traits(selection.operator))


def _check_parents(selection: Selection, history: RehearsedHistory, traits: Traits) -> None:
    operator, wanted = selection.operator, max(1, traits.parents)
    programs = {history.program_id(record) for record in selection.parents}
    assert len(programs) >= wanted, (
        f"operator {operator!r} wants {wanted} parents with programs of their own, got {len(programs)}. "
        "Try: use it only where `view.traits` are met"
    )
    failed = history.outcome(selection.parents[0]) in FAILURES
    # A note may be about either.
    assert traits.makes_notes or failed == traits.takes_failures, (
        f"operator {operator!r} wants a program that {'failed' if traits.takes_failures else 'succeeded'} as its parent, got record "
        f"{selection.parents[0]}. Try: use it only where `view.traits` are met"
    )
