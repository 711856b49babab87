"""Judges a policy for a cache: the evaluator owns traces, cache and counts; the candidate answers each miss before it hears of the next request.

All traces are played side by side, in an order that is drawn: one call asks for the next decision of each, and tells the hits before it. A call costs 0.1 ms or more on its way, so that one for
each decision would cost seconds. Invariant: when a policy decides, no process of the program has been told a later request of that trace."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import cache
from traces import LAWS, Request, trace

from evolve import Candidate, Evaluation, EvolveError, Trial, evaluator

WORST = -1.0
"""No trace counts less, so that one where LRU is nearly optimal does not outweigh all others."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one trace: the policy's replay, and the hits of LRU and of hindsight."""

    replay: cache.Replay
    lru: int
    optimal: int

    @property
    def score(self) -> float:
        """The share of the gap from LRU to the optimum."""
        return max(WORST, (self.replay.hits - self.lru) / max(1, self.optimal - self.lru))


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """Returns the mean score over all traces."""
    laws = trial.parameters.traces.split()
    if not laws:
        raise EvolveError(f"there is no trace. Try: --set task.traces='{' '.join(LAWS)}'")
    drawn = {law: _drawn(trial, law) for law in laws}
    try:
        results = _played(candidate, trial, drawn)
    except cache.Unusable as error:
        return Evaluation.invalid(str(error))
    replays = [result.replay for result in results.values()]
    ages = [age for replay in replays for age in replay.ages]
    return Evaluation.ok(
        fitness=math.fsum(result.score for result in results.values()) / len(results),
        cases={law: result.score for law, result in results.items()},
        descriptors={
            "not_stored": sum(one.not_stored for one in replays) / max(1, sum(one.decisions for one in replays)),
            "victim_age": math.fsum(ages) / max(1, len(ages)),
        },
        feedback=_table(results),
    )


def _drawn(trial: Trial, law: str) -> list[Request]:
    """Returns the trace of a law; raises `EvolveError`."""
    parameters = trial.parameters
    if parameters.capacity < 8 or parameters.requests < 1:
        raise EvolveError(
            f"got {parameters.requests} requests and a capacity of {parameters.capacity}. Try: at least 1 and 8"
        )
    rng = _generator(trial, list(LAWS).index(law) if law in LAWS else 0)
    return trace(law, parameters.requests, parameters.capacity, parameters.sources, rng)


def _generator(trial: Trial, number: int) -> Random:
    """Returns a stream of random numbers: for cases that the search does not see by the workspace's secret, else the same in every workspace, so
    that scores compare."""
    sample = trial.parameters.sample
    return Random(str(trial.entropy(number, sample)) if trial.parameters.secret else f"{number}/{sample}")


def _played(candidate: Candidate, trial: Trial, drawn: Mapping[str, Sequence[Request]]) -> dict[str, Result]:
    """Plays all traces; raises `cache.Unusable`."""
    capacity = trial.parameters.capacity
    replays = {law: cache.Replay(requests, capacity) for law, requests in drawn.items()}
    order = _generator(trial, len(LAWS)).sample(list(replays), len(replays))
    with candidate.session() as session:
        cache.play(session, [replays[law] for law in order])
    return {
        law: Result(replays[law], cache.lru_hits(requests, capacity), cache.optimal_hits(requests, capacity))
        for law, requests in drawn.items()
    }


def _table(results: Mapping[str, Result]) -> str:
    """Returns a line for each trace, the worst first."""
    lines = [
        "trace: score; hits (LRU's, the optimum's); misses of keys that had been asked for before, of all misses; "
        "new keys that were not stored, of all decisions"
    ]
    for law, result in sorted(results.items(), key=lambda pair: pair[1].score):
        replay = result.replay
        lines.append(
            f"{law}: {result.score:.3f}; {replay.hits} ({result.lru}, {result.optimal}); "
            f"{replay.again} of {replay.misses}; {replay.not_stored} of {replay.decisions}"
        )
    return "\n".join(lines)
