"""The threads of a run that make proposals: one that computes, and those that wait for models.

Invariant: there are as many as proposals may wait."""

from concurrent.futures import ThreadPoolExecutor

from evolve.campaign import Campaign
from evolve.cores import Core


class Threads:
    """Pools of threads; made with room for `waiting` proposals. Main thread."""

    def __init__(self, waiting: int) -> None:
        self.computing = ThreadPoolExecutor(1, "evolve-proposer")
        self.waiting = ThreadPoolExecutor(max(1, waiting), "evolve-model")

    def close(self) -> None:
        """Waits until all have ended; what none has begun is cancelled."""
        for pool in (self.computing, self.waiting):
            pool.shutdown(wait=True, cancel_futures=True)


def shared_core(campaign: Campaign) -> Core:
    """The core to which the threads of a run keep, the main one among them. There is none where they run code of other packages, whose libraries
    may start threads that want all cores, nor where a stage of the campaign leases anything: they might keep busy what it has."""
    others = campaign.plugins.third_parties(campaign.settings.strategy.name, campaign.operator_names)
    return Core(kept=not others and not any(stage.needs.leased for stage in campaign.task.stages))
