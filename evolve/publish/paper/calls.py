"""The calls of models: which models answered, by their exact revisions and when, and every prompt and reply on the way to one program, in Markdown to be read
and in JSON to the letter.

Invariant: the events of calls are read once; what looks like a key is left out of every text."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evolve import report
from evolve.campaign import Campaign
from evolve.publish.markdown import escaped
from evolve.publish.paper.escaping import fenced
from evolve.types import RecordId, Replied, Stamped, TextId
from evolve.types.secrets import without_keys


@dataclass(slots=True)
class ModelUse:
    """One model as it answered under one revision, the name that the server gave it: how often, and from when to when (seconds since 1970)."""

    model: str
    revision: str
    calls: int = 0
    first: float = 0.0
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class Calls:
    """`uses` are of all calls of the campaign, `lineage` those of the steps that led to a program."""

    uses: tuple[ModelUse, ...]
    lineage: tuple[Stamped, ...]


@dataclass(slots=True)
class _Found:
    uses: dict[tuple[str, str], ModelUse] = field(default_factory=dict)
    lineage: list[Stamped] = field(default_factory=list)

    def add(self, stamped: Stamped, event: Replied) -> None:
        call = event.call
        use = self.uses.setdefault((call.model, call.revision), ModelUse(call.model, call.revision, first=stamped.at))
        use.calls += 1
        use.last = stamped.at


def calls(campaign: Campaign, record: RecordId) -> Calls:
    """The calls of a campaign, and those of the lineage of a record."""
    steps = {campaign.log.settled(step.record).record.origin.step for step in report.lineage(campaign, record)} - {0}
    found = _Found()
    if campaign.state.progress.calls:
        for stamped in campaign.log.events(only=Replied):
            if stamped.number > campaign.events:
                break
            assert isinstance(stamped.event, Replied), "only such events were asked for"
            found.add(stamped, stamped.event)
            if stamped.event.step in steps:
                found.lineage.append(stamped)
    return Calls(tuple(found.uses[key] for key in sorted(found.uses)), tuple(found.lineage))


def pages(campaign: Campaign, lineage: tuple[Stamped, ...]) -> Iterator[tuple[str, str]]:
    """A file for each call in Markdown, without what nobody sees; and one with all of them, to the letter. Names and texts."""
    wholes = [_whole(campaign, stamped) for stamped in lineage]
    for number, whole in enumerate(wholes, 1):
        yield f"{number:04}-step-{whole.step}-{whole.purpose}.md", _page(whole)
    if wholes:
        yield "calls.jsonl", "".join(f"{json.dumps(asdict(whole))}\n" for whole in wholes)


@dataclass(frozen=True, slots=True)
class _Said:
    """A section of a prompt."""

    role: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _Whole:
    """A call with its texts, from which keys are left out; `at` in seconds since 1970."""

    step: int
    index: int
    at: float
    purpose: str
    model: str
    revision: str
    parameters: Mapping[str, Any]
    prompt_tokens: int
    completion_tokens: int
    exact: bool
    cost: float
    finish: str
    error: str
    prompt: tuple[_Said, ...]
    thinking: str
    reply: str


def _whole(campaign: Campaign, stamped: Stamped) -> _Whole:
    event = stamped.event
    assert isinstance(event, Replied), "only such events were asked for"
    call = event.call
    return _Whole(
        event.step,
        event.index,
        stamped.at,
        call.purpose,
        call.model,
        call.revision,
        dict(call.parameters),
        call.prompt_tokens,
        call.completion_tokens,
        call.exact,
        call.cost,
        call.finish,
        without_keys(call.error),
        tuple(_Said(part.role, part.name, _text(campaign, part.text)) for part in call.prompt),
        _text(campaign, call.thinking),
        _text(campaign, call.reply),
    )


def _text(campaign: Campaign, text: str) -> str:
    return without_keys(campaign.log.text(TextId(text))) if text else ""


def _page(whole: _Whole) -> str:
    parameters = ", ".join(f"{name} {value}" for name, value in whole.parameters.items())
    told = [
        f"# Step {whole.step}, {'given up' if whole.index < 0 else f'call {whole.index}'}, to {escaped(whole.purpose)}",
        f"Model {escaped(whole.model)}, revision {escaped(whole.revision or 'not told')}; "
        f"{whole.prompt_tokens} + {whole.completion_tokens} tokens ({'counted' if whole.exact else 'estimated'}); "
        f"ended: {escaped(whole.finish or '-')}; parameters: {escaped(parameters or 'those of the model')}",
    ]
    told += [f"## {escaped(said.role)}: {escaped(said.name)}\n\n{fenced(said.text)}" for said in whole.prompt]
    answers = (("thinking", whole.thinking), ("error", whole.error), ("reply", whole.reply))
    told += [f"## {title}\n\n{fenced(text)}" for title, text in answers if text]
    return "\n\n".join(part.rstrip("\n") for part in told) + "\n"
