"""Results of earlier judgings, which need not be found again: of a whole cascade, and of the stages that a program has passed.

Invariant: what is kept names records that are durable, and what an earlier judging found is used only where it went as far as this one would go."""

from dataclasses import replace

from evolve.campaign import Campaign
from evolve.engine.jobs import Work
from evolve.evaluation import Report, decode_report
from evolve.log import EvaluationCache
from evolve.types import REPEATABLE, Evaluation

_MUCH_SLOWER = 20
"""No child is taken for so many times as slow as the seed."""
WORTH_CACHING = 0.1
"""Seconds; a shorter evaluation is repeated for less than a look-up and a write cost."""


class Results:
    """Of a campaign, in the cache beside the campaigns; none for noisy tasks and where two runs must be equal."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._state = campaign.state
        self._cache = _cache(campaign)
        self._worth_caching: list[tuple[str, bytes]] = []

    def close(self) -> None:
        """Ends using the cache."""
        if self._cache is not None:
            self._cache.close()

    def note(self, work: Work, evaluation: Evaluation, result: bytes) -> None:
        """What has just settled is worth keeping, perhaps: all of it, or what the stages before its end have found."""
        if self._cache is None or evaluation.seconds < WORTH_CACHING or not self._is_worth_it():
            return
        if work.key and evaluation.outcome in REPEATABLE:
            name = f"{self._campaign.name}/{len(self._state.columns.programs)}"
            self._worth_caching.append((work.key, name.encode() + b"\n" + result))
            return
        self._worth_caching += [
            (work.stage_keys[stage], repr(fitness).encode())
            for stage, fitness in evaluation.passed.items()
            if stage in work.stage_keys
        ]

    def keep(self) -> None:
        """Writes what was noted, when the records that it names are durable."""
        for key, value in self._worth_caching:
            assert self._cache is not None, "nothing is worth caching where there is no cache"
            self._cache.put(key, value)
        self._worth_caching.clear()

    def of(self, work: Work) -> Report | None:
        """What an earlier judging has found, where that went as far as this one would go."""
        found = self._cache.get(work.key) if self._cache and self._is_worth_it() else None
        if found is None:
            return None
        name, _, result = found.partition(b"\n")
        report = decode_report(result)
        passed = report.evaluation.passed
        if any(passed.get(stage, least) < least for stage, least in work.job.wanted.items()):
            return None
        return replace(
            report, evaluation=replace(report.evaluation, seconds=0.0, cpu_seconds=0.0, cached_from=name.decode())
        )

    def informed(self, work: Work) -> Work:
        """The work with what is known of its early stages."""
        if not (self._cache and work.stage_keys and self._is_worth_it()):
            return work
        found = {stage: self._cache.get(key) for stage, key in work.stage_keys.items()}
        passed = {stage: float(fitness) for stage, fitness in found.items() if fitness is not None}
        return replace(work, job=replace(work.job, passed=passed))

    def _is_worth_it(self) -> bool:
        """Where the seed is judged in no time, so is what is made of it, and nothing is kept or looked for."""
        seconds = self._state.seed_seconds
        return seconds is None or seconds * _MUCH_SLOWER >= WORTH_CACHING


def _cache(campaign: Campaign) -> EvaluationCache | None:
    settings = campaign.settings
    if not settings.cache or settings.deterministic or not campaign.task.deterministic:
        return None
    return EvaluationCache(campaign.log.path.parent.parent / "cache.db")
