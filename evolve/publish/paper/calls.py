"""The calls of models: which models answered, by their exact revisions and when, and every prompt and reply on the way to one program.

Invariant: the events of calls are read once; what looks like a key is left out of every text."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from evolve import report
from evolve.campaign import Campaign
from evolve.publish.paper.escaping import fenced, markdown
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
    """A file for each call: its name, and its text in Markdown, with the prompt and the reply to the letter."""
    for number, stamped in enumerate(lineage, 1):
        event = stamped.event
        assert isinstance(event, Replied), "only such events were asked for"
        yield f"{number:04}-step-{event.step}-{event.call.purpose}.md", _page(campaign, event)


def _page(campaign: Campaign, event: Replied) -> str:
    call = event.call
    told = [
        f"# Step {event.step}, {'given up' if event.index < 0 else f'call {event.index}'}, to {markdown(call.purpose)}",
        f"Model {markdown(call.model)}, revision {markdown(call.revision or 'not told')}; {call.prompt_tokens} + {call.completion_tokens} tokens "
        f"({'counted' if call.exact else 'estimated'}); ended: {markdown(call.finish or '-')}; parameters: "
        + markdown(", ".join(f"{name} {value}" for name, value in call.parameters.items()) or "the model's own"),
    ]
    for part in call.prompt:
        told.append(f"## {markdown(part.role)}: {markdown(part.name)}\n\n{_quoted(campaign, part.text)}")
    if call.thinking:
        told.append(f"## thinking\n\n{_quoted(campaign, call.thinking)}")
    if call.error:
        told.append(f"## error\n\n{fenced(without_keys(call.error))}")
    if call.reply:
        told.append(f"## reply\n\n{_quoted(campaign, call.reply)}")
    return "\n\n".join(part.rstrip("\n") for part in told) + "\n"


def _quoted(campaign: Campaign, text: str) -> str:
    return fenced(without_keys(campaign.log.text(TextId(text))))
