"""Suites for operators, with a scripted model and without: proposals of given programs, again and again."""

from collections.abc import Callable, Sequence, Set

from evolve.protocols import Operator
from evolve.testing.rehearsal import Answer, Heard, ScriptedModel, rehearsed_step
from evolve.types import (
    PURPOSES,
    Child,
    EditError,
    Evaluation,
    ModelDown,
    ModelError,
    ModelGone,
    Program,
    Reply,
    Traits,
    Unaffordable,
    canonical,
)

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
"""Replies of models that answer nothing."""


def check_operator(make: Callable[[], Operator], programs: Sequence[Program], traits: Traits | None = None) -> None:
    """Lets the operators that `make()` returns propose children of each of `programs`, with what `traits` ask for besides.

    Checked: equal selections, histories and generators give equal children, also from an operator made afresh; a child
    differs from its parent; its extras are plain JSON; nothing but `EditError` is raised; at least one of `programs`
    has children."""
    fruitful, reason = 0, ""
    for number, program in enumerate(programs):
        first, second = (_propose(make(), program, number, traits=traits)[0] for _ in range(2))
        reason = reason or _find_refusal(make(), program, number, traits)
        assert first == second, f"equal inputs give other children: {first} != {second}"
        fruitful += first is not None
        _check_children(first, program)
    assert fruitful, (
        f"none of the {len(programs)} programs has a child: every proposal ended with EditError, the first one with {reason!r}"
    )


def _find_refusal(operator: Operator, program: Program, seed: int, traits: Traits | None) -> str:
    try:
        operator.propose(*rehearsed_step(program, seed, traits))
    except EditError as error:
        return str(error)
    return ""


def rehearse_proposal(
    operator: Operator,
    program: Program,
    seed: int = 0,
    model: ScriptedModel | None = None,
    traits: Traits | None = None,
    evaluate: Callable[..., Evaluation] | None = None,
) -> Sequence[Child]:
    """Returns the proposals of an operator in a campaign that has nothing but `program`, and what its traits ask for; raises what it raises. `evaluate` answers
    `Context.evaluate`, as in `rehearsed_step`."""
    return list(operator.propose(*rehearsed_step(program, seed, traits, model, evaluate)))


def check_model_operator(
    make: Callable[[], Operator],
    programs: Sequence[Program],
    replies: Sequence[str] = (),
    traits: Traits | None = None,
    purposes: Sequence[str] = (),
) -> None:
    """Lets an operator that needs a model propose children of each of `programs`, with `NONSENSE` for replies, with `replies`, and with calls that
    fail.

    Checked: equal replies give equal prompts and children, also from an operator made afresh and after another proposal; every proposal has
    a child, with a reason where it has no program, or ends with `EditError` or `ModelError`; a model that is gone and a budget that is
    spent are not kept from the engine; its calls have a purpose of the engine's or one of `purposes`; and each of `replies`, if there are any, gives a program or a lesson for at least one of `programs`."""
    wanted = traits or Traits(needs_model=True)
    for number, program in enumerate(programs):
        for answer in (*NONSENSE, *replies):
            _check_answer(make, program, number, answer, wanted, PURPOSES.union(purposes))
        _check_failed_calls(make, program, wanted)
    for reply in replies:
        proposals = [_propose(make(), program, 0, reply, wanted)[0] for program in programs]
        fruits = [child for children in proposals for child in children or () if child.program or child.lessons]
        assert fruits, f"the reply {reply[:60]!r} gives no program of any of the {len(programs)} programs"


def _check_answer(
    make: Callable[[], Operator], program: Program, seed: int, answer: Answer, traits: Traits, purposes: Set[str]
) -> None:
    used = make()
    first = _propose(used, program, seed, answer, traits)
    for operator, where in ((used, "the same operator"), (make(), "an operator made afresh")):
        again = _propose(operator, program, seed, answer, traits)
        assert again == first, f"{where} makes something else of equal replies: {again} != {first}"
    children, heard = first
    unknown = {call.purpose for call in heard} - purposes
    assert not unknown, (
        f"it calls a model for {sorted(unknown)}, wanted one of {sorted(purposes)}. Try: name it in `purposes` of its entry, and here"
    )
    _check_children(children, program)
    answers = sum(call.samples for call in heard)
    wrong = [child.call for child in children or () if child.call >= answers]
    assert not wrong, f"a child names call {wrong}, and there were {answers}. Try: take `Reply.call`"


def _check_children(children: Sequence[Child] | None, program: Program) -> None:
    for child in children or ():
        assert child.program is None or child.program.files != program.files, "a child is equal to its parent"
        assert child.program or child.thought, "a child has neither a program nor the reason why there is none"
        canonical(dict(child.extras))


def _propose(
    operator: Operator, program: Program, seed: int, answer: Answer | None = None, traits: Traits | None = None
) -> tuple[Sequence[Child] | None, Sequence[Heard]]:
    """Returns the children, None where it ended with an error that it may end with; and the questions to the model, which there is where it has an answer."""
    # More answers than a proposal asks for, with repairs and samples: one too few would end it with an error of the script.
    model = None if answer is None else ScriptedModel(*[answer] * 8)
    try:
        children = rehearse_proposal(operator, program, seed, model, traits)
    except (EditError, ModelError):
        return None, model.heard if model else ()
    assert children, "a proposal has a child, or ends with EditError or ModelError"
    return children, model.heard if model else ()


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
                f"a {type(error).__name__} of the first call must reach the engine, got {ended!r}. Try: let it pass"
            )
