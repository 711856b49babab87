"""Answers as training data: no row has the words or the reward of another answer."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven
from model_fakes import FakeModel, members, with_operators

from evolve.campaign import Campaign
from evolve.engine import run
from evolve.evaluation import Job, Report
from evolve.types import ConfigError, Evaluation, ModelError, Outcome, Replied, Ruled, Settled
from evolve_publish.answers import FAILED, collect_answers, format_groups, format_preference, format_sft
from evolve_publish.commands import export_answers

ONE = {"models": {"members": [{"name": "fast", "kind": "fake", "concurrency": 4}]}, "operators": {"names": ["writes"]}}
WORST = -1000.0


def answer(number: int) -> str | Exception:
    """Of thirteen calls two have no number in them, one fails, two repeat what others said, and one crashes when it is evaluated."""
    match number % 13:
        case 2 | 7:
            return f"I do not know {number}"
        case 4:
            return ModelError(f"no answer {number}")
        case 9 | 10:
            return "x = 6.5"
        case 11:
            return f"x = {900 + number}.25"
    return f"x = {number}.25"


def judge(job: Job) -> Report:
    """Crashes for large numbers."""
    report = near_seven(job)
    if report.evaluation.fitness is not None and report.evaluation.fitness < -800:
        return Report(Evaluation.failed(Outcome.CRASHED, ""), {})
    return report


def expected(reply: str) -> float | None:
    """What the program that an answer describes is evaluated to; None where it fails, or there is none."""
    if not reply.startswith("x = "):
        return None
    value = float(reply.removeprefix("x = "))
    return None if value > 807 else -abs(value - 7.0)


@pytest.fixture
def campaign(bench: Workbench) -> Any:
    """A campaign whose steps ask for four answers each, and settle out of order."""
    with_operators(bench, samples=4)
    with bench.create(**ONE, budget=["60programs"], workers=4) as made:
        run(made, FakeExecutor(judge, hold=3), Seen(), members(made, FakeModel(answer)))
        yield made


def said(messages: Sequence[dict[str, str]]) -> str:
    (message,) = messages
    assert message["role"] == "assistant"
    return message["content"]


def check_answer(campaign: Campaign, told: dict[str, Any], prompt: Sequence[dict[str, str]], reply: str) -> None:
    """One answer of a row against the log, and against what its words are worth."""
    (call,) = [
        stamped.event.call
        for stamped in campaign.log.events(only=Replied)
        if (stamped.event.step, stamped.event.index) == (told["step"], told["call"])
    ]
    record = campaign.log.settled(told["record"]).record
    assert (record.origin.step, record.thought.removeprefix("no number in ").strip("'")) == (told["step"], reply)
    assert (campaign.log.text(call.reply), call.model, campaign.name) == (reply, told["model"], told["campaign"])
    assert [message["role"] for message in prompt] == ["user", "assistant", "user"][: len(prompt)]
    assert "\n\n".join(message["content"] for message in prompt) == "\n\n".join(
        campaign.log.text(part.text) for part in call.prompt
    )
    value = expected(reply)
    if told["refusal"]:
        assert (told["outcome"], told["reward"]) == ("screened", WORST)
    else:
        assert told["reward"] == (WORST if value is None else value)


def test_each_row_has_its_own_answer_and_reward(campaign: Campaign) -> None:
    answers = collect_answers(campaign, WORST)
    rows = list(format_sft(campaign, answers))
    for row in rows:
        check_answer(campaign, row, row["prompt"], said(row["completion"]))
    records = [stamped.event.record for stamped in campaign.log.events(only=Settled)]
    written = [record.id for record in records if record.origin.call >= 0]
    assert sorted(row["record"] for row in rows) == written
    assert {row["outcome"] for row in rows} == {"ok", "screened", "crashed"}
    assert {row["refusal"] for row in rows} >= {"", "duplicate"}
    assert any(row["call"] >= 4 and len(row["prompt"]) == 3 for row in rows), "no repair"


def test_a_group_is_the_answers_to_one_prompt(campaign: Campaign) -> None:
    answers = collect_answers(campaign, WORST)
    rows = list(format_groups(campaign, answers))
    assert len({json.dumps(row["prompt"]) for row in rows}) == len(rows)
    assert max(len(row["completions"]) for row in rows) >= 3
    for row in rows:
        assert row["rewards"] == [told["reward"] for told in row["answers"]]
        for told, completion in zip(row["answers"], row["completions"], strict=True):
            check_answer(campaign, told, row["prompt"], said(completion))
    assert sum(len(row["answers"]) for row in rows) == len(list(format_sft(campaign, answers)))


@pytest.mark.parametrize("failed", [None, WORST, 1000.0])
def test_what_is_chosen_is_better_than_what_is_rejected(campaign: Campaign, failed: float | None) -> None:
    """A failure is never chosen, whatever a person says that it is worth."""
    rows = list(format_preference(campaign, collect_answers(campaign, failed)))
    assert rows
    for row in rows:
        chosen, rejected = (expected(said(row[name])) for name in ("chosen", "rejected"))
        first, second = row["answers"]
        assert first["outcome"] == "ok"
        assert chosen is not None
        assert second["outcome"] != "ok" or (rejected is not None and chosen > rejected)
        assert (campaign.log.settled(first["record"]).record.thought, first["step"]) == (
            said(row["chosen"]),
            second["step"],
        )


def test_what_has_no_reward_has_no_row(campaign: Campaign) -> None:
    """The summary counts it."""
    answers = collect_answers(campaign)
    rows = list(format_sft(campaign, answers))
    assert {row["outcome"] for row in rows} == {"ok"}
    told = len(list(format_sft(campaign, collect_answers(campaign, WORST))))
    assert answers.left_out[FAILED] == told - len(rows)


def test_a_program_that_was_ruled_out_earns_nothing(campaign: Campaign) -> None:
    """Its fitness is no evidence of anything that a model should learn."""
    first = collect_answers(campaign).groups[0][0][0]
    program = campaign.state.history.program_id(first.record)
    assert program is not None
    with campaign.log.transaction():
        campaign.write(Ruled("quarantine", program, "me"))
    rows = {row["record"]: row for row in format_sft(campaign, collect_answers(campaign, WORST))}
    assert (rows[first.record]["outcome"], rows[first.record]["reward"]) == ("quarantined", WORST)


@pytest.fixture
def command(campaign: Campaign, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the command in the folder of the campaign."""
    monkeypatch.setenv("EVOLVE_HOME", str(bench.home))
    monkeypatch.setattr("evolve_publish.commands.load_plugins", lambda: bench.plugins)
    return lambda *words: CliRunner().invoke(export_answers, [str(word) for word in words])


@pytest.mark.parametrize("form", ["groups", "preference", "sft"])
def test_the_command_writes_a_line_of_json_for_each_row(command: Callable[..., Any], tmp_path: Path, form: str) -> None:
    ended = command("one_number", "--rl", tmp_path / "rows.jsonl", "--format", form, "--json")
    assert ended.exit_code == 0, ended.output
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert json.loads(ended.stdout)["rows"] == len(rows) > 1
    assert all(row["prompt"][0]["role"] == "user" for row in rows)


def test_a_reward_that_is_no_number_is_refused(command: Callable[..., Any], tmp_path: Path) -> None:
    ended = command("one_number", "--rl", tmp_path / "rows.jsonl", "--failed", "nan")
    assert "a reward is a finite number" in str(ended.exception)
    assert not (tmp_path / "rows.jsonl").exists()


def test_a_campaign_without_models_has_nothing_to_export(bench: Workbench) -> None:
    with bench.create(budget=["3programs"]) as made:
        bench.run(made)
        with pytest.raises(ConfigError, match="no model proposed anything"):
            collect_answers(made)
