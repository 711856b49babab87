"""How often models failed, and why at last: counted from the log's `Replied` events as they come.

Invariant: counted live or from the whole log, it is the same, and one more call costs the same however many there are."""

from collections import Counter
from dataclasses import dataclass, field

from evolve.campaign import Campaign
from evolve.types import Call, Propose, Replied


def has_failed(event: Replied) -> bool:
    """It ended without an answer, and not because the run did."""
    return event.index >= 0 and bool(event.call.error)


@dataclass(frozen=True, slots=True)
class ModelFailures:
    """Calls of a model, whatever they were for, and how many of them failed; `error` is why the last one did. Those that were given up because
    the run ended have not failed."""

    model: str
    calls: int
    failed: int
    error: str


@dataclass(slots=True)
class Failures:
    """The failed calls of a campaign, by its models."""

    _calls: Counter[str] = field(default_factory=Counter)
    _failed: Counter[str] = field(default_factory=Counter)
    _errors: dict[str, str] = field(default_factory=dict)
    _seen: int = 0
    _counted: int = 0

    @classmethod
    def of(cls, campaign: Campaign) -> "Failures":
        """Those of a whole campaign."""
        found = cls()
        found.follow(campaign)
        return found

    def follow(self, campaign: Campaign) -> None:
        """Reads the events that are new since it was called last."""
        calls = campaign.state.progress.calls
        if calls == self._counted:
            return
        self._counted = calls
        for stamped in campaign.log.events(self._seen, only=Replied):
            if stamped.number > campaign.events:
                break
            assert isinstance(stamped.event, Replied), "only such events were asked for"
            if stamped.event.index >= 0:
                self._add(stamped.event.call, failed=has_failed(stamped.event))
        self._seen = campaign.events

    def _add(self, call: Call, *, failed: bool) -> None:
        self._calls[call.model] += 1
        if failed:
            self._failed[call.model] += 1
            self._errors[call.model] = call.error

    def lines(self) -> tuple[ModelFailures, ...]:
        """One line per model that failed, the one that failed most often first."""
        return tuple(
            ModelFailures(model, self._calls[model], failed, self._errors[model])
            for model, failed in self._failed.most_common()
        )


def waiting(campaign: Campaign) -> int:
    """How many proposals wait for the first answer of their model."""
    return sum(
        isinstance(step.asked.action, Propose)
        and bool(step.asked.action.selection.model)
        and not step.replies
        and not step.settled
        for step in campaign.state.steps.values()
    )
