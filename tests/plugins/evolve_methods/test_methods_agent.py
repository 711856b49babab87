"""An agent's turn: what it asks and is answered, and which program it hands in. The box is a script that asks; `test_methods_agent_boxed.py` has real ones."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from evolve import SessionFailed
from evolve.sandbox.status import Status
from evolve.testing import ScriptedModel, rehearsed_step
from evolve.types import (
    Child,
    EditError,
    Evaluation,
    Limits,
    ModelError,
    ModelGone,
    Outcome,
    PluginError,
    Program,
    Unaffordable,
)
from evolve_methods.agent import AGENT, CLIENT, IDEA, TASK, AgentOperator, AgentSettings, Turn

PARENT = Program({"seed.py": "x = 1\n"})
COMPLETE, EVALUATE = "/v1/chat/completions", "/evaluate"


class ScriptedBox:
    """Asks what `asks` say, and ends with `files`; `answers` are what it was told."""

    def __init__(self, *asks: tuple[str, object], files: dict[str, str] | None = None, **end: Any) -> None:
        self.asks = list(asks)
        self.files = files or {}
        self.end = end
        self.limits = Limits()
        self.answers: list[tuple[int, str, Any]] = []
        self.begun: list[Any] = []

    @contextmanager
    def open(
        self, program: Program, entry: str, seconds: float, limits: Limits, python: str
    ) -> Iterator["ScriptedBox"]:
        assert f"{entry}.py" in program.files
        self.limits = limits
        yield self

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        assert seconds == 30.0, "a box that does not answer is not waited for"
        if function == "begin":
            self.begun = list(arguments)
            return self.end.get("begun", ["works"])
        if function == "wait":
            assert not arguments
        else:
            status, kind, text = arguments
            self.answers.append((status, kind, json.loads(text) if kind == "application/json" else text))
        if self.asks:
            path, body = self.asks.pop(0)
            if path == EVALUATE:
                return ["asked", path, "", body]
            return ["asked", path, body if isinstance(body, str) else json.dumps(body), {}]
        if failure := self.end.get("failure"):
            raise failure
        told = ["ended", self.end.get("code", 0), self.end.get("late", False), self.end.get("printed", "bye")]
        return self.end.get("told") or [*told, self.files]


def chat(text: Any = "what now?", **more: object) -> tuple[str, object]:
    return COMPLETE, {"model": "any", "messages": [{"role": "user", "content": text}], **more}


def evaluate(text: str) -> tuple[str, object]:
    return EVALUATE, {"seed.py": text}


def propose(
    box: ScriptedBox,
    *,
    model: ScriptedModel | None = None,
    parent: Program = PARENT,
    found: Callable[..., Evaluation] | None = None,
    **settings: Any,
) -> Sequence[Child]:
    model = model or ScriptedModel("an answer", "another", "a third")
    selection, context = rehearsed_step(parent, model=model, evaluate=found, open_session=box.open)
    return AgentOperator(AgentSettings(**{"argv": ("agent", "{task}"), **settings})).propose(selection, context)


def scores(program: Program, stage: str = "") -> Evaluation:
    number = program.files["seed.py"].partition("=")[2].strip()
    return Evaluation.ok(float(number)) if number else Evaluation.failed(Outcome.CRASHED, "SyntaxError")


def test_its_folder_has_the_program_the_task_and_how_to_evaluate() -> None:
    box = ScriptedBox(files={"seed.py": "x = 2\n", IDEA: "  Two is more.\n"})
    (child,) = propose(box, seconds=90, calls=7, evaluations=3, read=("/usr/bin",), variables={"MODE": "quiet"})
    argv, files, paths, has_more, variables, seconds = box.begun
    assert (paths, has_more) == (["seed.py", IDEA], False)
    assert argv == ["agent", TASK]
    assert set(files) == {"seed.py", TASK, CLIENT, AGENT}
    assert "Find the best number." in files[TASK]
    assert "You have 1.5 minutes and 7 calls of the model." in files[TASK]
    assert "You may do so 3 times." in files[TASK]
    assert variables == {
        "OPENAI_BASE_URL": "{url}/v1",
        "OPENAI_API_KEY": "none",
        "EVOLVE_URL": "{url}",
        "MODE": "quiet",
    }
    assert seconds == pytest.approx(90)
    assert (box.limits.grants.network, box.limits.grants.read) == ("loopback", ("/usr/bin",))
    assert child.program == Program({"seed.py": "x = 2\n"})
    assert child.thought == "Two is more."


def test_its_calls_are_calls_of_the_campaigns_model() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    system = {"role": "developer", "content": "be brief"}
    talk = {"messages": [system, {"role": "user", "content": parts}], "temperature": 0.5, "max_tokens": 99}
    box = ScriptedBox((COMPLETE, talk), chat(stream=True), ("/v1/models", ""), files={"seed.py": "x = 2\n"})
    model = ScriptedModel("first", "second")
    propose(box, model=model)
    prompt = model.heard[0].prompt
    assert [(message.role, message.text) for message in prompt.messages] == [
        ("system", "be brief"),
        ("user", "one\ntwo"),
    ]
    assert (prompt.temperature, prompt.max_tokens) == (0.5, 99)
    (status, _, whole), (_, kind, streamed), (_, _, models) = box.answers
    assert (status, whole["choices"][0]["message"]["content"]) == (200, "first")
    assert whole["usage"]["total_tokens"] == whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"] > 0
    assert kind == "text/event-stream"
    first, last = streamed.strip().split("\n\n")
    assert json.loads(first.removeprefix("data: "))["choices"][0]["delta"]["content"] == "second"
    assert last == "data: [DONE]"
    assert models["data"][0]["id"] == "scripted"


@pytest.mark.parametrize(
    ("request_", "status", "why"),
    [
        (chat(tools=[{"type": "function"}]), 400, "tools are not supported"),
        (chat([{"type": "image_url"}]), 400, "neither a text nor parts of text"),
        (chat("word " * 600_000), 400, "context_length_exceeded"),
        (chat(temperature="warm"), 400, "no request"),
        (chat(temperature=9), 400, "temperature is 9, wanted 0 to 2"),
        ((COMPLETE, '{"messages": [], "temperature": NaN}'), 400, "temperature is nan"),
        (chat(max_tokens=-1), 400, "max_tokens is -1"),
        (chat(max_tokens=True), 400, "max_tokens is True"),
        ((COMPLETE, '{"messages": [], "max_tokens": -Infinity}'), 400, "max_tokens is -inf"),
        ((COMPLETE, "[" * 200_000), 400, "no request"),
        ((COMPLETE, {"messages": [{"role": "tool", "content": "x"}]}), 400, "tool"),
        ((COMPLETE, {"messages": []}), 400, "no request"),
        ((COMPLETE, "{"), 400, "no request"),
        ((COMPLETE, "[]"), 400, "no request"),
        (("/v1/embeddings", "{}"), 404, "there is no '/v1/embeddings' here"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_costs_nothing(
    request_: tuple[str, object], status: int, why: str
) -> None:
    box, model = ScriptedBox(request_, files={"seed.py": "x = 2\n"}), ScriptedModel("unheard")
    propose(box, model=model)
    assert box.answers[0][0] == status
    assert why in box.answers[0][2]["error"]["message"]
    assert model.heard == []


def test_calls_and_evaluations_are_bounded_and_told() -> None:
    asks = [chat(), chat(), evaluate("x = 3\n"), evaluate("x = 4\n")]
    box = ScriptedBox(*asks, files={"seed.py": "x = 2\n"})
    (child,) = propose(box, found=scores, calls=1, evaluations=1)
    assert [status for status, *_ in box.answers] == [200, 429, 200, 429]
    assert "the 1 calls of this task are used" in box.answers[1][2]["error"]["message"]
    assert child.extras["agent"]["calls"] == child.extras["agent"]["evaluations"] == 1


def test_an_evaluation_is_told_as_the_task_counts() -> None:
    failed = Evaluation.failed(Outcome.CRASHED, "ZeroDivisionError")
    known = {"x = 3\n": Evaluation.ok(3.0, metrics={"rounds": 2.0}), "x = 0\n": failed}
    box = ScriptedBox(evaluate("x = 3\n"), evaluate("x = 0\n"), files={"seed.py": "x = 2\n"})
    propose(box, found=lambda program, stage="": known[program.files["seed.py"]])
    good, bad = (text for _, _, text in box.answers)
    assert good == {"outcome": "ok", "fitness": 3.0, "better": "larger is better", "metrics": {"rounds": 2.0}}
    assert bad == {
        "outcome": "crashed",
        "fitness": None,
        "better": "larger is better",
        "feedback": "ZeroDivisionError",
    }


@pytest.mark.parametrize(
    ("evaluated", "last", "end", "handed_in"),
    [
        ([], "x = 2\n", {}, "x = 2\n"),
        (["x = 3\n"], "x = 2\n", {}, "x = 2\n"),
        (["x = 3\n", "x =\n"], "x =\n", {}, "x = 3\n"),
        (["x = 3\n", "x = 2\n"], "x = 2\n", {}, "x = 3\n"),
        (["x = 3\n", "x = 2\n"], "x = 1\n", {}, "x = 3\n"),
        (["x = 3\n"], "x = 9\n", {"code": 1}, "x = 3\n"),
        (["x = 3\n"], "x = 9\n", {"late": True, "code": -9}, "x = 3\n"),
        (["x = 3\n"], "", {"failure": SessionFailed(Status.NO_RESULT, "it is gone")}, "x = 3\n"),
    ],
    ids=[
        "changed",
        "not evaluated",
        "known to fail",
        "better before",
        "took it back",
        "failed",
        "late",
        "killed its box",
    ],
)
def test_what_is_handed_in(evaluated: list[str], last: str, end: dict[str, Any], handed_in: str) -> None:
    box = ScriptedBox(*map(evaluate, evaluated), files={"seed.py": last}, **end)
    (child,) = propose(box, found=scores)
    assert child.program is not None
    assert child.program.files["seed.py"] == handed_in


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (
            {"files": {"seed.py": "x = 1\n"}, "printed": "I give up"},
            "it changed nothing, after 0 calls and 0 evaluations. Its last words: “I give up”",
        ),
        ({"files": {"seed.py": "x = 2\n"}, "code": 3}, "it ended with exit code 3"),
        ({"files": {"seed.py": "x = 2\n"}, "late": True}, "its time was up"),
        ({"files": {"other.py": "x = 2\n"}}, "seed.py is gone, too large, or no text"),
        ({"failure": SessionFailed(Status.MEMORY_LIMIT, "it used too much memory")}, "it used too much memory"),
        ({"told": ["ended", "zero"]}, "has changed what stands between it and the engine"),
        ({"told": 7}, "has changed what stands between it and the engine"),
        ({"begun": ["asked", EVALUATE, "", []]}, "has changed what stands between it and the engine"),
    ],
)
def test_an_agent_that_brings_nothing_says_why(end: dict[str, Any], why: str) -> None:
    with pytest.raises(EditError) as raised:
        propose(ScriptedBox(**end))
    assert why in str(raised.value)


@pytest.mark.parametrize("files", [{}, {"seed.py": 7}, {"other.py": "x = 2"}])
def test_what_lacks_a_file_of_the_program_is_not_evaluated(files: dict[str, Any]) -> None:
    box = ScriptedBox((EVALUATE, files), files={"seed.py": "x = 2\n"})
    (child,) = propose(box)
    assert box.answers[0][0] == 400
    assert "seed.py is gone, too large, or no text" in box.answers[0][2]["error"]["message"]
    assert child.extras["agent"]["evaluations"] == 0


def test_new_files_are_kept_where_the_task_allows_them() -> None:
    """Notes and caches of the agent's are none; the task's context lies in the folder."""
    files = {"seed.py": "x = 2\n", "more.py": "y = 1\n", "notes.md": "none", ".agent.log": "none", IDEA: "More."}
    box = ScriptedBox(files=files)
    selection, context = rehearsed_step(PARENT, model=ScriptedModel(), open_session=box.open)
    task = replace(context.task, new_files=("*.py",), context={"data.txt": "1 2 3"})
    (child,) = AgentOperator(AgentSettings()).propose(selection, replace(context, task=task))
    assert child.program == Program({"seed.py": "x = 2\n", "more.py": "y = 1\n"})
    _, written, paths, has_more, *_ = box.begun
    assert (written["data.txt"], paths, has_more) == ("1 2 3", ["seed.py", IDEA], True)


def test_without_time_for_it_no_agent_is_started() -> None:
    box = ScriptedBox()
    selection, context = rehearsed_step(PARENT, model=ScriptedModel(), open_session=box.open)
    with pytest.raises(EditError, match="no time is left"):
        AgentOperator(AgentSettings()).propose(selection, replace(context, deadline=time.monotonic() + 65))
    assert box.begun == []


def test_what_an_agent_asks_when_its_time_is_up_is_refused() -> None:
    model = ScriptedModel("unheard")
    turn = Turn(AgentSettings(), rehearsed_step(PARENT)[1], model.caller("agent"), PARENT, until=time.monotonic() - 1)
    assert turn.answer(COMPLETE, json.dumps(chat()[1]), {}).status == 429
    assert turn.answer(EVALUATE, "", {"seed.py": "x = 2"}).status == 429
    assert model.heard == []


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"read": ("here",)}, "'here' is no absolute path"),
        ({"python": "venv/bin/python"}, "no absolute path"),
        ({"variables": {"A=B": "x"}}, "'A=B' is no variable"),
        ({"variables": {"A": "\0"}}, "'A' is no variable"),
        ({"argv": ()}, "at least 1 item"),
        ({"seconds": 5}, "greater than or equal to 10"),
    ],
)
def test_settings_that_nothing_can_be_started_with_are_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        AgentSettings(**settings)


def test_calls_that_fail_are_told_and_after_three_no_other_is_made() -> None:
    """Else an agent could have the campaign give its model up."""
    box = ScriptedBox(*[chat()] * 5, files={"seed.py": "x = 2\n"})
    propose(box, model=ScriptedModel(ModelError("busy"), ModelError("busy"), ModelError("busy"), "unheard"))
    assert [status for status, *_ in box.answers] == [502, 502, 502, 429, 429]


def test_a_model_that_is_gone_ends_the_turn() -> None:
    with pytest.raises(ModelGone):
        propose(ScriptedBox(chat()), model=ScriptedModel(ModelGone("no key")))


def test_where_the_budget_is_spent_it_hands_in_what_it_has_or_waits_for_the_next_run() -> None:
    box = ScriptedBox(chat(), chat(), files={"seed.py": "x = 2\n"})
    (child,) = propose(box, model=ScriptedModel(Unaffordable("no calls are left"), "unasked"))
    assert child.program == Program({"seed.py": "x = 2\n"})
    assert box.answers[0][0] == 429
    assert "the budget is spent: no calls are left" in box.answers[0][2]["error"]["message"]
    with pytest.raises(Unaffordable):
        propose(ScriptedBox(chat()), model=ScriptedModel(Unaffordable("no calls are left")))


def test_it_ends_with_the_run() -> None:
    box = ScriptedBox(files={"seed.py": "x = 2\n"})
    selection, context = rehearsed_step(PARENT, model=ScriptedModel(), open_session=box.open)
    context.cancelled.set()
    with pytest.raises(EditError, match="the agent was ended with the run"):
        AgentOperator(AgentSettings(argv=("agent",))).propose(selection, context)


def test_a_command_that_cannot_be_started_is_a_fault_of_the_settings() -> None:
    with pytest.raises(
        PluginError, match=r"cannot be started in its box: no such file\. Try: check operators\.settings\.agent\.argv"
    ):
        propose(ScriptedBox(begun=["not started", "no such file"]))
    with pytest.raises(PluginError, match="there is no /nowhere, which operators"):
        propose(ScriptedBox(), read=("/nowhere",))


def test_a_program_with_a_file_of_its_folder_is_refused() -> None:
    with pytest.raises(EditError, match=r"the program has a file TASK\.md"):
        propose(ScriptedBox(), parent=Program({"seed.py": "x = 1\n", TASK: "mine"}))
