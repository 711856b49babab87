"""The conformance suites find what they are there to find."""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from numpy.random import Generator

from evolve.protocols import Context, View
from evolve.testing import (
    Rehearsal,
    RehearsedCandidate,
    RehearsedHistory,
    ScriptedModel,
    check_evaluator,
    check_model,
    check_model_operator,
    check_operator,
    check_strategy,
    rehearse_proposal,
)
from evolve.types import (
    Child,
    EditError,
    Event,
    Measure,
    Message,
    ModelError,
    Program,
    Prompt,
    Propose,
    Reply,
    Section,
    Selection,
    Settled,
    Stage,
    Traits,
    Usage,
    Wait,
    canonical,
)
from tests.written import number_task

FIRST = Propose(Selection("first", parents=(1,)))


class Steady:
    """A strategy that does what it should, or what `ask` says instead."""

    def __init__(self, ask: "Callable[[Steady, View, Generator], Propose | Measure | Wait]") -> None:
        self.answer, self.asked, self.told = ask, 0, 0

    def ask(self, view: View, rng: Generator) -> Propose | Measure | Wait:
        self.asked += 1
        return self.answer(self, view, rng)

    def tell(self, event: Event) -> None:
        self.told += 1


def measuring(strategy: Steady, view: View, rng: Generator) -> Propose | Measure | Wait:
    program = view.history.program_id(1)
    assert program is not None
    if view.pending:
        return Wait()
    return Measure(1, program) if strategy.told % 2 else FIRST


def best(strategy: Steady, view: View, rng: Generator) -> Propose:
    elite = view.archive.best
    return FIRST if elite is None else Propose(Selection("first", parents=(elite.record,)))


def other_program(strategy: Steady, view: View, rng: Generator) -> Measure:
    return Measure(1, Program({"other": ""}).id)


def everything(strategy: Steady, view: View, rng: Generator) -> Propose:
    return Propose(Selection("first", parents=tuple(range(1, len(view.history) + 1))))


@pytest.mark.parametrize("ask", [measuring, best])
def test_a_strategy_that_keeps_its_promises_passes(
    ask: Callable[[Steady, View, Generator], Propose | Measure | Wait],
) -> None:
    check_strategy(lambda operators: Steady(ask), steps=60)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda s, view, rng: Propose(Selection("first", parents=(1,) * s.asked)), "another action"),
        (lambda s, view, rng: Propose(Selection("first", parents=(999,))), r"records \[999\]"),
        (lambda s, view, rng: Propose(Selection("first", inspirations=(0,))), r"records \[0\]"),
        (lambda s, view, rng: Propose(Selection("fourth")), "operator 'fourth'"),
        (lambda s, view, rng: Propose(Selection("first", island=99)), "island 99"),
        (lambda s, view, rng: Propose(Selection("first", parents=(1,), model="rehearsed")), "model 'rehearsed'"),
        (lambda s, view, rng: Wait(), "waits while nothing is pending"),
        (lambda s, view, rng: Measure(7, Program({}).id), "measures record 7"),
        (other_program, "does not hold the program"),
        (everything, "quarantined"),
    ],
)
def test_a_strategy_that_breaks_a_promise_is_told_which(
    ask: Callable[[Steady, View, Generator], Propose | Measure | Wait], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_strategy(lambda operators: Steady(ask), steps=60)


def careless(strategy: Steady, view: View, rng: Generator) -> Propose:
    """An elite for every operator that may be used, whatever it wants."""
    elite = view.archive.best_elite(0)
    return Propose(Selection(str(rng.choice(list(view.operators))), parents=(elite.record if elite else 1,)))


def paired(strategy: Steady, view: View, rng: Generator) -> Propose:
    """One and the same program twice for the operator that wants two."""
    return Propose(Selection("third" if view.traits("third").parents > 1 else "first", parents=(1, 1)))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (careless, r"operator '(second|third)' wants"),
        (paired, "operator 'third' wants 2 parents with programs of their own, got 1"),
    ],
)
def test_a_strategy_that_gives_an_operator_parents_that_it_cannot_use_is_told_which(
    ask: Callable[[Steady, View, Generator], Propose | Measure | Wait], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_strategy(lambda operators: Steady(ask), steps=60)


def test_a_strategy_may_want_operators_of_its_own() -> None:
    """It is rehearsed with these, and with their traits."""
    made: list[tuple[str, ...]] = []

    def make(operators: Sequence[str]) -> Steady:
        made.append(tuple(operators))
        return Steady(lambda strategy, view, rng: Propose(Selection("plan", parents=(1,))))

    check_strategy(make, steps=20, operators={"plan": Traits(needs_model=True), "act": Traits()})
    assert set(made) == {("plan", "act")}
    with pytest.raises(AssertionError, match="operator 'plan' wants 2 parents"):
        check_strategy(make, steps=20, operators={"plan": Traits(parents=2)})


def test_a_strategy_names_models_that_answer() -> None:
    """One that it named before is gone later."""
    operators = {"write": Traits(needs_model=True)}

    def choose(which: int) -> Callable[[Steady, View, Generator], Propose]:
        return lambda strategy, view, rng: Propose(Selection("write", parents=(1,), model=view.models[which]))

    check_strategy(lambda names: Steady(choose(-1)), steps=20, operators=operators)
    stubborn = Propose(Selection("write", parents=(1,), model="other"))
    with pytest.raises(AssertionError, match="it names the model 'other' for 'write', and may name rehearsed"):
        check_strategy(lambda names: Steady(lambda strategy, view, rng: stubborn), steps=20, operators=operators)


def gate(view: View, *cases: str) -> Propose:
    """A proposal with a gate by the first operator that is free to take the best elite."""
    elite = next(elite for island in range(3) if (elite := view.archive.best_elite(island)))
    operator = next(name for name in view.operators if view.traits(name).takes_one_elite)
    return Propose(Selection(operator, parents=(elite.record,)), gate=cases)


def test_a_gate_names_cases_that_the_task_has() -> None:
    """It has three in one of the campaigns, and every program that succeeded has a result on each."""
    seen = set[tuple[str, ...]]()

    def ask_well(strategy: Steady, view: View, rng: Generator) -> Propose:
        action = gate(view, *(case.name for case in view.task.cases[:2]))
        seen.add(tuple(view.history.cases(action.selection.parents[0])))
        return action

    check_strategy(lambda operators: Steady(ask_well), steps=60)
    assert seen == {(), ("left", "middle", "right")}
    with pytest.raises(AssertionError, match="its gate names nonsense, and the task has no cases"):
        check_strategy(lambda operators: Steady(lambda strategy, view, rng: gate(view, "nonsense")), steps=60)


def test_a_note_may_be_about_a_failure() -> None:
    """As well as about a success."""

    def about_failures(strategy: Steady, view: View, rng: Generator) -> Propose:
        failed = view.history.failures(1) if len(view.history) < 20 else ()
        return Propose(Selection("note", parents=tuple(failed))) if failed else Propose(Selection("act", parents=(1,)))

    operators = {"act": Traits(), "note": Traits(makes_notes=True)}
    check_strategy(lambda names: Steady(about_failures), steps=60, operators=operators)
    with pytest.raises(AssertionError, match="wants a program that succeeded"):
        check_strategy(lambda names: Steady(about_failures), steps=60, operators={**operators, "note": Traits()})


def test_a_strategy_that_does_not_survive_a_newer_version_of_the_task_is_found() -> None:
    """Here it keeps the first program that settled, and expects it to have been a proposal's for ever."""

    class Stuck(Steady):
        def tell(self, event: Event) -> None:
            super().tell(event)
            if isinstance(event, Settled) and event.record.origin.kind == "measurement":
                raise KeyError(event.record.origin.about)

    with pytest.raises(KeyError):
        check_strategy(lambda operators: Stuck(lambda strategy, view, rng: FIRST), steps=40)


def test_children_of_a_step_settle_in_any_order() -> None:
    """Each with its place among those that were wanted."""
    rehearsal = Rehearsal()
    rehearsal.open()
    orders = set()
    for _ in range(20):
        rehearsal.start(Propose(Selection("first", parents=(1,), samples=3)))
        before = len(rehearsal.history)
        rehearsal.finish()
        origins = [record.origin for record in rehearsal.history.records[before:]]
        orders.add(tuple(origin.index for origin in origins))
        assert [origin.count for origin in origins] == [3, 3, 3]
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2)}
    assert len(orders) > 1


def test_an_operator_without_a_model_may_want_several_parents() -> None:
    class Join:
        def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
            first, second = selection.parents
            program = context.history.program(context.history.program_id(second) or "")
            return [Child(Program({"seed.py": program.files["seed.py"] + f"# {first}\n"}))]

    programs = [Program({"seed.py": "x = 1\n"})]
    check_operator(Join, programs, Traits(parents=2))
    with pytest.raises(ValueError, match="unpack"):
        check_operator(Join, programs)


def test_a_strategy_that_a_replay_does_not_rebuild_is_found() -> None:
    islands = iter(range(3))

    def make(operators: Sequence[str]) -> Steady:
        island = next(islands)
        return Steady(lambda strategy, view, rng: Propose(Selection("first", island=island, parents=(1,))))

    with pytest.raises(AssertionError, match="a replay of the same events asks otherwise at step 10"):
        check_strategy(make)


class Editing:
    """An operator that appends what `edit` returns."""

    def __init__(self, edit: Callable[[Context], str | None]) -> None:
        self.edit = edit

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        identity = context.history.program_id(selection.parents[0])
        assert identity is not None
        files, added = dict(context.history.program(identity).files), self.edit(context)
        if added is None:
            raise EditError("nothing to change")
        if added == "childless":
            return []
        files["seed.py"] += added
        return [Child(Program(files), extras={"added": added})]


PROGRAMS = [Program({"seed.py": "x = 1\n"}), Program({"seed.py": "y = 2\n"})]


def test_an_operator_that_keeps_its_promises_passes() -> None:
    check_operator(lambda: Editing(lambda context: f"# {context.rng.integers(100)}\n"), PROGRAMS)


def test_an_operator_may_find_nothing_to_change_in_some_programs() -> None:
    check_operator(
        lambda: Editing(lambda context: "#" if "x" in context.task.seed.files["seed.py"] else None), PROGRAMS
    )


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda context: "", "equal to its parent"),
        (lambda context: None, "none of the 2 programs has a child"),
        (lambda context: "childless", "a proposal has a child"),
    ],
)
def test_an_operator_that_breaks_a_promise_is_told_which(edit: Callable[[Context], str | None], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_operator(lambda: Editing(edit), PROGRAMS)


def test_an_operator_that_is_not_a_function_of_its_inputs_is_found() -> None:
    made = iter(range(100))
    with pytest.raises(AssertionError, match="equal inputs give other children"):
        check_operator(lambda: Editing(lambda context: f"# {next(made)}"), PROGRAMS)


class Asking:
    """An operator that takes the model's words for the program, or does with them what `make` does."""

    def __init__(self, make: Callable[["Asking", Program, str], Sequence[Child]], purpose: str = "propose") -> None:
        self.make, self.purpose, self.asked = make, purpose, 0

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        identity = context.history.program_id(selection.parents[0])
        assert identity is not None
        parent = context.history.program(identity)
        prompt = Prompt((Message("user", (Section("parent", canonical(dict(parent.files))),)),))
        self.asked += 1
        return self.make(self, parent, context.model(self.purpose).complete(prompt)[0].text)


def appended(operator: Asking, parent: Program, text: str) -> Sequence[Child]:
    if not text.startswith("#"):
        return [Child(None, "it is no comment")]
    return [Child(Program({**parent.files, "seed.py": f"{parent.files['seed.py']}{text}\n"}), thought=text)]


def test_an_operator_that_needs_a_model_and_keeps_its_promises_passes() -> None:
    check_model_operator(lambda: Asking(appended), PROGRAMS, ["# a comment"])


@pytest.mark.parametrize(
    ("make", "purpose", "replies", "words"),
    [
        (appended, "chat", (), r"calls a model for \['chat'\]"),
        (appended, "propose", ("no comment",), "gives no program of any of the 2 programs"),
        (lambda operator, parent, text: [Child(parent)], "propose", (), "a child is equal to its parent"),
        (lambda operator, parent, text: [Child(None)], "propose", (), "neither a program nor the reason"),
        (lambda operator, parent, text: [], "propose", (), "a proposal has a child"),
        (
            lambda operator, parent, text: [Child(None, f"asked {operator.asked} times")],
            "propose",
            (),
            "the same operator makes something else of equal replies",
        ),
        (
            lambda operator, parent, text: [Child(None, text or "no", call=1)],
            "propose",
            (),
            "names call .*there were 1",
        ),
    ],
)
def test_an_operator_that_needs_a_model_and_breaks_a_promise_is_told_which(
    make: Callable[[Asking, Program, str], Sequence[Child]], purpose: str, replies: Sequence[str], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_model_operator(lambda: Asking(make, purpose), PROGRAMS, replies)


def test_an_operator_that_keeps_a_spent_budget_for_itself_is_found() -> None:
    class Silent(Asking):
        def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
            try:
                return super().propose(selection, context)
            except ModelError as error:
                return [Child(None, str(error))]

    with pytest.raises(AssertionError, match="a ModelGone of the first call must reach the engine, got None"):
        check_model_operator(lambda: Silent(appended), PROGRAMS)


def test_a_proposal_with_a_model_can_be_rehearsed_alone() -> None:
    (child,) = rehearse_proposal(Asking(appended), PROGRAMS[0], model=ScriptedModel("# more"))
    assert child.program == Program({"seed.py": "x = 1\n# more\n"})


def test_a_rehearsed_history_answers_as_the_engines_does() -> None:
    campaign = Rehearsal()
    campaign.open()
    campaign.start(FIRST)
    campaign.finish()
    history = campaign.history
    assert len(history) == 2
    assert [history.fitness(1), history.operator(1), history.parents(1)] == [-9.0, "", ()]
    assert [history.operator(2), history.parents(2)] == ["first", (1,)]
    assert history.outcome(1) == history.record(1).evaluation.outcome
    assert history.extras("first") == []
    program = history.program_id(1)
    assert program is not None
    assert history.program(program).files == {"seed.py": "x = 0.0"}
    with pytest.raises(AssertionError, match=r"a record of 1\.\.2 is asked for, got 3"):
        history.record(3)
    with pytest.raises(KeyError, match="stores no such text"):
        RehearsedHistory().text("abc")


def test_a_proposal_can_be_rehearsed_alone() -> None:
    (child,) = rehearse_proposal(Editing(lambda context: "# more\n"), PROGRAMS[0])
    assert child.program == Program({"seed.py": "x = 1\n# more\n"})
    with pytest.raises(EditError):
        rehearse_proposal(Editing(lambda context: None), PROGRAMS[0])


def judge(candidate: Any, trial: Any) -> None:
    """A stage's function."""


class Judging:
    """An evaluator that has what it is given."""

    def __init__(self, stages: Sequence[tuple[Stage, Any]], functions: Mapping[str, Any] | None = None) -> None:
        self._stages, self._functions = stages, functions or {}

    def stages(self, task: Any) -> Sequence[tuple[Stage, Any]]:
        return self._stages

    def functions(self, task: Any) -> Mapping[str, Any]:
        return self._functions


ONE = [(Stage("one"), judge)]


@pytest.mark.parametrize(
    ("stages", "functions"),
    [
        (ONE, {}),
        ([(Stage("one", threshold=0.5), judge), (Stage("two", limit=0.5), lambda *given: None)], {"draw": judge}),
        (ONE, {"certify": judge, "fingerprint": judge, "draw": print}),
    ],
)
def test_an_evaluator_that_keeps_its_promises_passes(stages: Any, functions: Mapping[str, Any]) -> None:
    check_evaluator(lambda: Judging(stages, functions))


@pytest.mark.parametrize(
    ("stages", "functions", "words"),
    [
        ([], {}, "it has no stage"),
        ([(Stage(""), judge)], {}, "a stage has no name"),
        ([*ONE, *ONE], {}, "two stages have one name"),
        ([(Stage("one", limit=0.0), judge)], {}, "the limit of stage 'one' is 0.0 seconds"),
        ([(Stage("one", limit=math.inf), judge)], {}, "the limit of stage 'one' is inf seconds"),
        ([(Stage("one", threshold=1.0), judge)], {}, "'one' is the last, and nothing reads its threshold"),
        ([(Stage("one", top=0.3), judge)], {}, "'one' is the last, and nothing reads its threshold"),
        ([(Stage("one"), None)], {}, "'one' is no function of two arguments, got None"),
        ([(Stage("one"), lambda candidate: None)], {}, "'one' is no function of two arguments"),
        (ONE, {"paint": judge}, r"the functions \['paint'\], of which the engine calls none"),
        (ONE, {"draw": lambda: None}, "'draw' is no function of two arguments"),
    ],
)
def test_an_evaluator_that_breaks_a_promise_is_told_which(
    stages: Any, functions: Mapping[str, Any], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check_evaluator(lambda: Judging(stages, functions))


def test_a_task_with_certificates_needs_an_evaluator_that_certifies() -> None:
    task = number_task(promotion="certificate")
    check_evaluator(lambda: Judging(ONE, {"certify": judge}), task)
    with pytest.raises(AssertionError, match="wants certificates"):
        check_evaluator(lambda: Judging(ONE), task)


@pytest.mark.parametrize("part", ["stages", "functions"])
def test_an_evaluator_that_answers_otherwise_when_made_afresh_is_found(part: str) -> None:
    names = iter("abcdef")
    with pytest.raises(AssertionError, match=f"the same task has other {part}"):
        check_evaluator(
            lambda: Judging(
                [(Stage(next(names)), judge)] if part == "stages" else ONE, {"draw": judge} if next(names) < "b" else {}
            )
        )


def test_a_candidate_can_be_rehearsed() -> None:
    candidate = RehearsedCandidate({"add": lambda x, y=1: x + y}, {"seed.py": "..."})
    assert (candidate.call("add", 2), candidate.program.files) == (3, {"seed.py": "..."})
    with candidate.session(seconds=1.0) as session:
        assert session.call("add", 2, y=3, seconds=1.0) == 5
        assert session.map("add", [(2,), (3, 4)], seconds=1.0) == [3, 7]


class Parrot:
    """A model that gives the same replies to everything; a cancelled call raises, or not."""

    def __init__(self, replies: Sequence[Any], usage: Any = None, heeds: bool = True) -> None:
        self.replies = replies
        self.usage = Usage() if usage is None else usage
        self.heeds = heeds
        self.closed = False

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        return self.usage

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        if cancelled.is_set():
            if self.heeds:
                raise ModelError("cancelled")
            time.sleep(0.2)
        return self.replies

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("replies", [[Reply("one")], [Reply("one"), Reply("", usage=Usage(4, 2, 4))]])
def test_a_model_that_keeps_its_promises_passes_and_is_closed(replies: Sequence[Reply]) -> None:
    model = Parrot(replies)
    check_model(lambda: model)
    assert model.closed


@pytest.mark.integration
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Parrot([]), "two samples are wanted, and at least one, got 0"),
        (Parrot([Reply("a")] * 3), "two samples are wanted, and at least one, got 3"),
        (Parrot([Reply(None)]), "an answer is a text, got None"),
        (Parrot([Reply("a", attempts=0)]), "an answer takes a try and time"),
        (Parrot([Reply("a", seconds=-1.0)]), "an answer takes a try and time"),
        (Parrot([Reply("a", usage=Usage(1, 1, 2))]), "cached ones are among those of the prompt"),
        (Parrot([Reply("a")], usage=7), "what a call has used is a Usage, got 7"),
        (Parrot([Reply("a")], heeds=False), "a call that was cancelled goes on"),
    ],
)
def test_a_model_that_breaks_a_promise_is_told_which(model: Parrot, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_model(lambda: model, seconds=0.2)
