"""What a campaign does next: what is due by the archive's rule, else what its strategy asks for, as long as budget and room last.

Invariant: nothing here starts anything; every decision is an `Asked` in the log before it has an effect."""

import time
from dataclasses import replace

from evolve.campaign import Campaign, stream
from evolve.campaign.campaign import confirmed_best
from evolve.loop.checking import checked
from evolve.loop.infrastructure import Infrastructure
from evolve.plugins import guarded
from evolve.types import Asked, Measure, PluginError, Propose, Rearrange, Rearranged, Wait

WAITING = 2
"""Steps that wait for each judge slot, so that none is ever idle."""
LAST_MEASUREMENTS = 20
"""Measurements that a run may still make of its best when the budget is spent."""


class Asking:
    """The decisions of one run of a campaign. Main thread."""

    def __init__(self, campaign: Campaign, infrastructure: Infrastructure) -> None:
        self._campaign = campaign
        self._infrastructure = infrastructure
        self._state = campaign.state
        self._budget = campaign.budget
        self._room = 1 if campaign.settings.deterministic else campaign.settings.judges * (1 + WAITING)
        self._last = LAST_MEASUREMENTS

    def _best(self) -> float | None:
        return confirmed_best(self._campaign)

    def spent(self) -> bool:
        """The budget is spent."""
        return self._budget.spent(self._campaign.progress, self._best(), time.time())

    def seconds_left(self) -> float | None:
        """How long until a budget in time is spent; None where there is none."""
        return self._budget.seconds_left(self._campaign.progress, time.time())

    def next_steps(self, under_way: int) -> list[Asked]:
        """New steps for the room that is left; appends each to the log. Inside a transaction."""
        asked: list[Asked] = []
        while under_way + len(asked) < self._room:
            action = self._next_action()
            if action is None:
                break
            asked.append(self._append(action))
        if not asked and not under_way and not self._infrastructure.in_doubt:
            raise PluginError(
                f"strategy {self._campaign.settings.strategy.name!r} waits, and nothing is under way that it could wait for. "
                "Do: use another strategy, or mend its `ask`"
            )
        return asked

    def last_measurement(self) -> list[Asked]:
        """One measurement that the campaign's best still lacks, at its end: until it is sure, then the cases. Inside a transaction."""
        measure = self._state.archive.due(best_only=True) or self._state.case_measurement()
        if measure is None or self._last == 0:
            return []
        self._last -= 1
        return [self._append(measure)]

    def _append(self, action: Propose | Measure) -> Asked:
        asked = Asked(self._state.last_step + 1, action, after=len(self._state.columns.programs))
        self._campaign.write(asked)
        return asked

    def _next_action(self) -> Propose | Measure | None:
        if self._infrastructure.in_doubt:
            canary = self._infrastructure.canary()
            return canary and replace(canary, about=self._state.seed_record)
        due = self._due()
        if due is not None:
            return due
        if not self._state.seed_is_measured or not self._allowed():
            return None
        return self._decided()

    def _decided(self) -> Propose | Measure | None:
        """What the strategy asks for; None where it waits. Programs that it moves to an island first are moved at once, before it is asked
        again: each island at most once, so that this ends."""
        campaign, name, arranged = self._campaign, self._campaign.settings.strategy.name, set[int]()
        while True:
            used = self._budget.used(campaign.progress, self._best(), time.time())
            purpose = f"ask {len(arranged)}" if arranged else "ask"
            rng = stream(campaign.settings.seed, self._state.last_step + 1, purpose)
            action = guarded(name, campaign.strategy.ask, campaign.view(used), rng)
            if isinstance(action, Wait):
                return None
            try:
                found = checked(campaign, action)
                if not isinstance(found, Rearrange):
                    return found
                if found.island in arranged:
                    raise ValueError(f"to arrange island {found.island} twice, and for nothing else in between")
            except ValueError as error:
                raise PluginError(f"strategy {name!r} asked {error}. Do: mend its `ask`") from error
            arranged.add(found.island)
            campaign.write(Rearranged(found.island, found.records, found.why))

    def _allowed(self) -> bool:
        """A budget in programs has room for one more, with all that is under way."""
        proposals = sum(isinstance(step.asked.action, Propose) for step in self._state.steps.values())
        return self._budget.allows(self._campaign.progress, proposals, self._best(), time.time())

    def _due(self) -> Measure | None:
        """The seed's repeated measurements first, then what the archive needs, then the best's cases, within their share of the judges'
        time."""
        state = self._state
        noise = state.noise_measurement()
        if noise is not None or not self._within_share():
            return noise
        return state.archive.due() or state.case_measurement()

    def _within_share(self) -> bool:
        """Counted in seconds; in records where two runs must decide alike."""
        share, progress = self._campaign.settings.confirm.share, self._state.progress
        waiting = sum(isinstance(step.asked.action, Measure) for step in self._state.steps.values())
        if self._campaign.settings.deterministic:
            return progress.measurements + waiting <= share * (progress.records + waiting)
        mean = progress.measure_seconds / max(1, progress.measurements)
        return progress.measure_seconds + waiting * mean <= share * progress.judge_seconds
