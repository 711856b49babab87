"""The loop: replayed state in, one settled record after another out, until the budget is spent.

Invariant: only this thread writes to the log, in one transaction per turn; what a turn asked is started after it is durable."""

from collections.abc import Sequence
from typing import Protocol

from evolve.campaign import Campaign
from evolve.engine.ending import Ending
from evolve.engine.members import NOBODY, Members
from evolve.engine.workshop import Workshop
from evolve.evaluation import Description
from evolve.protocols import Executor
from evolve.types import Asked, Settled


class Watch(Protocol):
    """What looks on while a campaign runs: it is called on the loop's thread, and must be quick."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """A record has settled and is durable."""

    def turned(self, campaign: Campaign) -> None:
        """A turn of the loop is over."""


class Unwatched:
    """A watch that does nothing."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """Does nothing."""

    def turned(self, campaign: Campaign) -> None:
        """Does nothing."""


def run(campaign: Campaign, executor: Executor, judges: Description, watch: Watch, members: Members = NOBODY) -> Ending:
    """Runs until the budget is spent, nothing new is proposed, or the first interrupt; raises on what makes going on useless. `members` are
    the campaign's models."""
    with Workshop(campaign, executor, judges, members) as shop:
        with campaign.log.transaction():
            shop.arrive()
        shop.resume()
        return _turns(campaign, shop, watch)


def finish(campaign: Campaign, executor: Executor, judges: Description, watch: Watch, steps: Sequence[Asked]) -> Ending:
    """Runs these steps, which are in the log, and what the archive then needs to know of its best. The seed is judged first where this
    version of the task has not judged it."""
    with Workshop(campaign, executor, judges, NOBODY) as shop:
        with campaign.log.transaction():
            shop.arrive()
        shop.only(steps)
        return _turns(campaign, shop, watch)


def _turns(campaign: Campaign, shop: Workshop, watch: Watch) -> Ending:
    while True:
        done = shop.wait() if shop.busy else ()
        with campaign.log.transaction(), shop.turn():
            settled = [event for item in done for event in shop.take(item)]
            asked = [*shop.requested(), *shop.ask()]
        shop.start(asked)
        shop.remember()
        for event in settled:
            watch.settled(campaign, event)
        watch.turned(campaign)
        shop.stop_on_failure()
        if not shop.busy:
            return shop.ending()
