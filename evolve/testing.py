"""Conformance suites for authors of strategies, operators, evaluators and kinds of models: what the engine relies on, as checks for a test.

Invariant: what passes here was seen to keep the promises of `evolve.protocols`: it is deterministic, `ask` changes no
state, a replay rebuilds it, and it names only what exists. A broken promise is an `AssertionError` that says which."""

import inspect
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import MappingProxyType

from evolve.protocols import Evaluator, Model, Operator, Strategy
from evolve.rehearsal import (
    OPERATORS,
    OPTIMUM,
    Answer,
    Heard,
    Rehearsal,
    RehearsedCaller,
    RehearsedCandidate,
    RehearsedHistory,
    ScriptedModel,
    rehearsed_step,
    rehearsed_task,
)
from evolve.types import (
    FAILURES,
    PURPOSES,
    Action,
    Child,
    EditError,
    Event,
    Measure,
    Message,
    ModelDown,
    ModelError,
    ModelGone,
    Program,
    ProgramId,
    Prompt,
    Propose,
    Rearrange,
    Reply,
    Section,
    Selection,
    Stage,
    Task,
    Traits,
    Unaffordable,
    Usage,
    Wait,
    canonical,
)

__all__ = [
    "OPERATORS",
    "OPTIMUM",
    "Answer",
    "Heard",
    "Rehearsal",
    "RehearsedCaller",
    "RehearsedCandidate",
    "RehearsedHistory",
    "ScriptedModel",
    "check_evaluator",
    "check_model",
    "check_model_operator",
    "check_operator",
    "check_strategy",
    "rehearse_proposal",
    "rehearsed_step",
    "rehearsed_task",
]

IN_FLIGHT = 3
NEEDS: Mapping[str, Traits] = MappingProxyType({"second": Traits(takes_failures=True), "third": Traits(parents=2)})
"""What two of the operators of a second rehearsal want of their selections."""
FUNCTIONS = frozenset({"certify", "fingerprint", "draw"})
"""What the engine may ask of an evaluator about the artifacts of an evaluation."""
NONSENSE: tuple[Answer, ...] = (
    "",
    "I cannot help with that.",
    "The program looks good to me. I would sort first, then search.",
    "```python\ndef",
    "<<<<<<< SEARCH\nno such line\n=======\nanother\n>>>>>>> REPLACE",
    "```\n```\n" * 50,
    Reply("Hypothesis: it was cut\n\n```seed.py\nx = ", finish="length"),
    Reply("", thinking="It thought until it was cut.", finish="length"),
    Reply("No.", finish="refused"),
    "x" * 100_000,
)
"""Answers of models that are none."""


def check_strategy(make: Callable[[Sequence[str]], Strategy], steps: int = 120) -> None:
    """Rehearses two campaigns of `steps` actions, up to `IN_FLIGHT` at a time, with the strategy of `make(operators)`. In the second one, some
    operators have the traits of `NEEDS`.

    Checked: the same view and generator give the same action, asking changes no state, a fresh strategy that is told
    the same events asks the same, only known records and operators are named, a quarantined program is left alone, an
    operator gets the parents that its `view.traits` ask for or is not used, one that `view.operators` lacks from the middle on is not used,
    and it never waits while nothing is pending."""
    _check_campaign(make, steps, {})
    _check_campaign(make, steps, NEEDS)


def _check_campaign(make: Callable[[Sequence[str]], Strategy], steps: int, needs: Mapping[str, Traits]) -> None:
    rehearsal, strategy, told = Rehearsal(), make(OPERATORS), 0
    rehearsal.needs.update(needs)
    rehearsal.open()
    quarantined: Set[ProgramId] = frozenset()
    for step in range(1, steps + 1):
        for event in rehearsal.events[told:]:
            strategy.tell(event)
        told = len(rehearsal.events)
        action = _ask(strategy, rehearsal, step)
        if step % 10 == 0:
            replayed = _replayed(make, rehearsal.events).ask(rehearsal, rehearsal.rng(step))
            assert replayed == action, (
                f"a replay of the same events asks otherwise at step {step}: {replayed} != {action}"
            )
        _check_action(action, rehearsal, quarantined)
        _act(rehearsal, action)
        if not quarantined and step >= steps // 2:
            quarantined = _ruled_out(rehearsal)
            rehearsal.operators = OPERATORS[:-1]


def _ruled_out(rehearsal: Rehearsal) -> Set[ProgramId]:
    """The best program, and the last that failed, which are quarantined from now on; none while the best is the seed."""
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


def _replayed(make: Callable[[Sequence[str]], Strategy], events: Sequence[Event]) -> Strategy:
    strategy = make(OPERATORS)
    for event in events:
        strategy.tell(event)
    return strategy


def _act(rehearsal: Rehearsal, action: Action) -> None:
    if isinstance(action, Rearrange):
        rehearsal.rearrange(action)
    elif not isinstance(action, Wait):
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
        case Rearrange(island=island, records=records):
            islands = rehearsal.archive.settings.islands
            assert 0 <= island < islands, f"it names island {island}, but there are {islands}"
            assert set(records) <= set(known), f"it arranges records {records}, but there are {len(known)}"
            assert len(set(records)) == len(records), f"it arranges a record twice: {records}"
            assert all(map(rehearsal.archive.accepts, records)), (
                f"it arranges records {records}, of which some failed or are quarantined"
            )
        case Propose(selection=selection):
            _check_selection(selection, rehearsal, quarantined)


def _check_selection(selection: Selection, rehearsal: Rehearsal, quarantined: Set[ProgramId]) -> None:
    history, named = rehearsal.history, (*selection.parents, *selection.inspirations)
    unknown = [record for record in named if not 0 < record <= len(history)]
    assert not unknown, f"it names records {unknown}, but there are {len(history)}"
    assert selection.operator in rehearsal.operators, (
        f"it names the operator {selection.operator!r}, and may use {', '.join(rehearsal.operators)}"
    )
    islands = rehearsal.archive.settings.islands
    assert 0 <= selection.island < islands, f"it names island {selection.island}, but there are {islands}"
    assert quarantined.isdisjoint(history.program_id(record) or "" for record in named), (
        "it names a quarantined program"
    )
    if selection.operator in rehearsal.needs:
        _check_parents(selection, rehearsal.history, rehearsal.needs[selection.operator])


def _check_parents(selection: Selection, history: RehearsedHistory, traits: Traits) -> None:
    operator, wanted = selection.operator, max(1, traits.parents)
    programs = {history.program_id(record) for record in selection.parents}
    assert len(programs) >= wanted, (
        f"operator {operator!r} wants {wanted} parents with programs of their own, got {len(programs)}. "
        "Do: use it only where `view.traits` are met"
    )
    failed = history.outcome(selection.parents[0]) in FAILURES
    assert failed == traits.takes_failures, (
        f"operator {operator!r} wants a program that {'failed' if traits.takes_failures else 'succeeded'} as its parent, got record "
        f"{selection.parents[0]}. Do: use it only where `view.traits` are met"
    )


def check_operator(make: Callable[[], Operator], programs: Sequence[Program]) -> None:
    """Lets the operators that `make()` returns propose children of each of `programs`.

    Checked: equal selections, histories and generators give equal children, also from an operator made afresh; a child
    differs from its parent; its extras are plain JSON; nothing but `EditError` is raised; at least one of `programs`
    has children."""
    fruitful = 0
    for number, program in enumerate(programs):
        first, second = (_children(make(), program, number) for _ in range(2))
        assert first == second, f"equal inputs give other children: {first} != {second}"
        fruitful += first is not None
        for child in first or ():
            assert child.program is None or child.program.files != program.files, "a child is equal to its parent"
            canonical(dict(child.extras))
    assert fruitful, f"none of the {len(programs)} programs has a child: every proposal ended with EditError"


def _children(operator: Operator, program: Program, number: int) -> Sequence[Child] | None:
    try:
        children = rehearse_proposal(operator, program, number)
    except EditError:
        return None
    assert children, "a proposal has a child, or ends with EditError"
    return children


def rehearse_proposal(
    operator: Operator,
    program: Program,
    seed: int = 0,
    model: ScriptedModel | None = None,
    traits: Traits | None = None,
) -> Sequence[Child]:
    """What an operator proposes in a campaign that has nothing but `program`, and what its traits ask for; raises what it raises."""
    return list(operator.propose(*rehearsed_step(program, seed, traits, model)))


def check_model_operator(
    make: Callable[[], Operator],
    programs: Sequence[Program],
    replies: Sequence[str] = (),
    traits: Traits | None = None,
) -> None:
    """Lets an operator that needs a model propose children of each of `programs`, with `NONSENSE` for replies, with `replies`, and with calls that
    fail.

    Checked: equal replies give equal prompts and children, also from an operator made afresh and after another proposal; every proposal has
    a child, with a reason where it has no program, or ends with `EditError` or `ModelError`; a model that is gone and a budget that is
    spent are not kept from the engine; its calls have a known purpose; and each of `replies`, if there are any, gives a program or a lesson for at least one of `programs`."""
    wanted = traits or Traits(needs_model=True)
    for number, program in enumerate(programs):
        for answer in (*NONSENSE, *replies):
            _check_answer(make, program, number, answer, wanted)
        _check_failed_calls(make, program, wanted)
    for reply in replies:
        made = [_answered(make(), program, 0, reply, wanted)[0] for program in programs]
        fruits = [child for children in made for child in children or () if child.program or child.lessons]
        assert fruits, f"the reply {reply[:60]!r} gives no program of any of the {len(programs)} programs"


def _check_answer(make: Callable[[], Operator], program: Program, seed: int, answer: Answer, traits: Traits) -> None:
    used = make()
    first = _answered(used, program, seed, answer, traits)
    for operator, where in ((used, "the same operator"), (make(), "an operator made afresh")):
        again = _answered(operator, program, seed, answer, traits)
        assert again == first, f"{where} makes something else of equal replies: {again} != {first}"
    children, heard = first
    unknown = {call.purpose for call in heard} - PURPOSES
    assert not unknown, f"it calls a model for {sorted(unknown)}, wanted one of {sorted(PURPOSES)}"
    for child in children or ():
        assert child.program is None or child.program.files != program.files, "a child is equal to its parent"
        assert child.program or child.thought, "a child has neither a program nor the reason why there is none"
        canonical(dict(child.extras))


def _answered(
    operator: Operator, program: Program, seed: int, answer: Answer, traits: Traits
) -> tuple[Sequence[Child] | None, Sequence[Heard]]:
    """The children, None where it ended with an error that it may end with; and what the model was asked."""
    model = ScriptedModel(*[answer] * 8)
    try:
        children = rehearse_proposal(operator, program, seed, model, traits)
    except (EditError, ModelError):
        return None, model.heard
    assert children, "a proposal has a child, or ends with EditError or ModelError"
    return children, model.heard


def _check_failed_calls(make: Callable[[], Operator], program: Program, traits: Traits) -> None:
    for error in (ModelGone("its key was refused"), Unaffordable("the budget is spent"), ModelDown("no route to it")):
        try:
            rehearse_proposal(make(), program, 0, ScriptedModel(error, error, error), traits)
        except (EditError, ModelError) as found:
            ended: Exception | None = found
        else:
            ended = None
        if not isinstance(error, ModelDown):
            assert type(ended) is type(error), (
                f"a {type(error).__name__} of the first call must reach the engine, got {ended!r}. Do: let it pass"
            )


def check_evaluator(make: Callable[[], Evaluator], task: Task | None = None) -> None:
    """Asks the evaluators that `make()` returns for what they have for `task` (without it, for a task of the rehearsal's).

    Checked: there are stages, with names of their own, limits above zero and no threshold on the last; every stage's function takes a
    candidate and a trial; it has no function but `certify`, `fingerprint` and `draw`, and `certify` where the task asks for it; an
    evaluator made afresh answers the same."""
    wanted = task or rehearsed_task()
    evaluator, again = make(), make()
    stages = [stage for stage, _ in evaluator.stages(wanted)]
    _check_stages(stages)
    functions = evaluator.functions(wanted)
    unknown = sorted(set(functions) - FUNCTIONS)
    assert not unknown, f"it has the functions {unknown}, of which the engine calls none"
    assert wanted.promotion != "certificate" or "certify" in functions, (
        "the task wants certificates, and it certifies nothing"
    )
    called = {stage.name: function for stage, function in evaluator.stages(wanted)} | dict(functions)
    for name, function in called.items():
        assert _takes_two(function), f"{name!r} is no function of two arguments, got {function!r}"
    for other in (evaluator, again):
        answer = [stage for stage, _ in other.stages(wanted)]
        assert answer == stages, f"the same task has other stages: {answer} != {stages}"
        assert set(other.functions(wanted)) == set(functions), "the same task has other functions"


def _check_stages(stages: Sequence[Stage]) -> None:
    names = [stage.name for stage in stages]
    assert stages, "it has no stage"
    assert all(names), "a stage has no name"
    assert len(set(names)) == len(names), f"two stages have one name: {names}"
    for stage in stages:
        assert 0 < stage.limit < math.inf, f"the limit of stage {stage.name!r} is {stage.limit} seconds"
    last = stages[-1]
    assert last.threshold is last.top is None, f"stage {last.name!r} is the last, and nothing reads its threshold"


def _takes_two(function: object) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True


def check_model(make: Callable[[], Model], seconds: float = 60.0) -> None:
    """Calls the model of `make()`, one that answers within `seconds`, on several threads. Checked: a call gives an answer at least, and at most
    one for each sample; usage is counted; a call that was cancelled raises `ModelError` or answers, and does not go on."""
    deadline, never, over = time.monotonic() + seconds, threading.Event(), threading.Event()
    over.set()

    def ask(number: int, cancelled: threading.Event) -> Sequence[Reply]:
        prompt = Prompt((Message("user", (Section("task", f"Say {number}."),)),), max_tokens=64)
        return model.complete(prompt, samples=(0, 1), deadline=deadline, cancelled=cancelled)

    with closing(make()) as model:
        _check_usage(model.check(deadline, never))
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            for replies in pool.map(lambda number: ask(number, never), range(IN_FLIGHT)):
                _check_replies(replies)
        began = time.monotonic()
        try:
            _check_replies(ask(IN_FLIGHT, over))
        except ModelError:
            pass
        assert time.monotonic() - began < seconds / 2, "a call that was cancelled goes on"


def _check_replies(replies: Sequence[Reply]) -> None:
    assert 1 <= len(replies) <= 2, f"two samples are wanted, and at least one, got {len(replies)}"
    for reply in replies:
        assert isinstance(reply.text, str), f"an answer is a text, got {reply.text!r}"
        took = reply.attempts >= 1 and 0 <= reply.seconds < math.inf
        assert took, f"an answer takes a try and time, got {reply}"
        _check_usage(reply.usage)


def _check_usage(usage: Usage) -> None:
    assert isinstance(usage, Usage), f"what a call has used is a Usage, got {usage!r}"
    is_possible = 0 <= usage.cached_tokens <= usage.prompt_tokens and usage.completion_tokens >= 0
    assert is_possible, f"tokens are counted from 0, and cached ones are among those of the prompt, got {usage}"
