"""Answers of models as training data: each with its prompt, and with what the child that was made of it was evaluated to.

A record names the call of its step whose answer it was made of (`Origin.call`), so that no answer gets the reward of another. A reward is the fitness as
the log has it: larger is better, whatever the task's direction. What nobody has found out has no row: an answer that made no child (the first of a
repaired one, say), one whose operator does not name it, a failure of the machinery, and a score of an earlier version of the task."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from evolve import report
from evolve.campaign import Campaign
from evolve.types import ConfigError, Outcome, Record, RecordId, Replied, Settled

QUARANTINED, CONSTRAINTS_MISSED = "quarantined", "constraints_missed"
"""Outcomes of programs that have a fitness and earn none."""
FAILED = "failed or not evaluated"
"""Reason of an answer that has no row where nobody said what a failure is worth."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and what came of it. `outcome` is that of the evaluation, or why its fitness does not count; `refusal` the code of a screened one;
    `reward` is the fitness, or what a program that failed or was not evaluated is worth."""

    campaign: str
    record: RecordId
    step: int
    call: int
    model: str
    outcome: str
    refusal: str
    reward: float

    @property
    def succeeded(self) -> bool:
        """True where the reward is a fitness."""
        return self.outcome == Outcome.OK


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of a campaign by their requests: those of one group were given by one model to equal prompts. `left_out` counts the records without a row by
    their reasons."""

    groups: Sequence[Sequence[tuple[Answer, Replied]]]
    left_out: Mapping[str, int]


def collect_answers(campaign: Campaign, failed: float | None = None) -> Answers:
    """Returns the answers that have a reward: the fitness of their programs, and `failed`, where it is given, for all others. Raises `ConfigError` where there is none."""
    replies, left_out = _read_replies(campaign), Counter[str]()
    groups = defaultdict[tuple[str, str], list[tuple[Answer, Replied]]](list)
    for stamped in campaign.log.events(only=Settled):
        assert isinstance(stamped.event, Settled), "the index of types says so"
        record = stamped.event.record
        if record.origin.kind != "proposal" or not record.origin.model:
            continue
        replied = replies.get((record.origin.step, record.origin.call))
        answer = _judge(campaign, record, replied, failed)
        if isinstance(answer, str):
            left_out[answer] += 1
        elif replied is not None:
            groups[replied.call.model, replied.call.request].append((answer, replied))
    if not groups:
        told = format_left_out(left_out) or "no model proposed anything"
        remedy = "--failed VALUE gives failures a reward" if FAILED in left_out else "name another one"
        raise ConfigError(f"campaign {campaign.name!r} has no answer of a model with a reward: {told}. Try: {remedy}")
    return Answers(list(groups.values()), dict(left_out.most_common()))


def format_left_out(left_out: Mapping[str, int]) -> str:
    """Formats how many records have no row, by their reasons."""
    return ", ".join(f"{count:,} {why}" for why, count in left_out.items())


def _read_replies(campaign: Campaign) -> dict[tuple[int, int], Replied]:
    """Returns the answers by step and index; those that were given up (-1) are none."""
    events = (stamped.event for stamped in campaign.log.events(only=Replied))
    return {(event.step, event.index): event for event in events if isinstance(event, Replied) and event.index >= 0}


def _judge(campaign: Campaign, record: Record, replied: Replied | None, failed: float | None) -> Answer | str:
    """Returns the answer of a record with its reward, or why it has no row."""
    evaluation, outcome = record.evaluation, record.evaluation.outcome.value
    if replied is None:
        return "name no answer"
    if evaluation.outcome is Outcome.INTERNAL:
        return "failed by the machinery"
    if record.program and not campaign.state.history.is_current(record.id):
        return "of an earlier version of the task"
    if record.program in campaign.state.quarantined:
        outcome = QUARANTINED
    elif evaluation.violation:
        outcome = CONSTRAINTS_MISSED
    reward = evaluation.fitness if outcome == Outcome.OK else failed
    if reward is None:
        return FAILED
    return Answer(
        campaign.name, record.id, replied.step, replied.index, replied.call.model, outcome, record.refusal, reward
    )


def format_sft(campaign: Campaign, answers: Answers) -> Iterator[Row]:
    """Yields a row for each answer: `prompt` and `completion` as messages, and the fields of `Answer`."""
    for answer, replied in (one for group in answers.groups for one in group):
        yield {
            "prompt": _read_prompt(campaign, replied),
            "completion": _read_reply(campaign, replied),
            **asdict(answer),
        }


def format_preference(campaign: Campaign, answers: Answers) -> Iterator[Row]:
    """Yields a row for each answer that is worse than the best of its group, which is `chosen`: a success is better than what failed, whatever that is
    worth. `answers` are the chosen and the rejected one."""
    for group in answers.groups:
        chosen, best = max(group, key=lambda one: _rank(one[0]))
        for rejected, replied in group if chosen.succeeded else ():
            if _rank(rejected) < _rank(chosen):
                yield {
                    "prompt": _read_prompt(campaign, best),
                    "chosen": _read_reply(campaign, best),
                    "rejected": _read_reply(campaign, replied),
                    "answers": [asdict(chosen), asdict(rejected)],
                }


def _rank(answer: Answer) -> tuple[bool, float]:
    return answer.succeeded, answer.reward if answer.succeeded else 0.0


def format_groups(campaign: Campaign, answers: Answers) -> Iterator[Row]:
    """Yields a row for each group: `prompt`, and equally long `completions`, `rewards` and `answers`."""
    for group in answers.groups:
        yield {
            "prompt": _read_prompt(campaign, group[0][1]),
            "completions": [_read_reply(campaign, replied) for _, replied in group],
            "rewards": [answer.reward for answer, _ in group],
            "answers": [asdict(answer) for answer, _ in group],
        }


FORMATS: Mapping[str, Callable[[Campaign, Answers], Iterator[Row]]] = {
    "groups": format_groups,
    "preference": format_preference,
    "sft": format_sft,
}
"""Makers of rows by the name of their format."""


def _read_prompt(campaign: Campaign, replied: Replied) -> list[Row]:
    """Returns the messages of a prompt; sections of one message stand next to each other."""
    parts = groupby(report.whole_call(campaign.log, replied).prompt, key=lambda part: part.role)
    return [{"role": role, "content": "\n\n".join(part.text for part in said)} for role, said in parts]


def _read_reply(campaign: Campaign, replied: Replied) -> list[Row]:
    return [{"role": "assistant", "content": report.whole_call(campaign.log, replied).reply}]
