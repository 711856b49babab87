"""Judges a variant of CFR: plays games with it, and computes exactly what its average policies lose to best responses.

Every game is played in a session of its own, so that nothing goes over from one to the next. Payoffs are disguised: a program that recognises a game and
knows an equilibrium of the published one has one of another game.

Invariant: a score is the NashConv of policies that the judge has averaged itself, in whole numbers; nothing that a candidate says is believed but policies and weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import exact
import numpy as np
from playing import Played, Unusable, played
from tree import Tree, disguised, tree

from evolve import Candidate, Evaluation, EvolveError, Trial, evaluator

UNITS = 100.0
"""Where units are drawn, regrets are multiplied by a number between this and its reciprocal."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one game: NashConv's logarithm after each horizon, and that of the last policies."""

    name: str
    of_averages: dict[int, float]
    of_last: float
    played: Played


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The mean over two games that cost little."""
    return _judged(candidate, trial, trial.parameters.screen, trial.parameters.screen_horizons)


@evaluate.stage("full", threshold="top 30%", limit=120.0)
def full(candidate: Candidate, trial: Trial) -> Evaluation:
    """The mean over all games and horizons."""
    return _judged(candidate, trial, trial.parameters.games, trial.parameters.horizons)


def _judged(candidate: Candidate, trial: Trial, games: str, horizons: str) -> Evaluation:
    wanted = iterations(horizons)
    try:
        results = [_result(candidate, trial, number, name, wanted) for number, name in enumerate(games.split())]
    except Unusable as error:
        return Evaluation.invalid(str(error))
    if not results:
        raise EvolveError("there is no game to play. Do: --set task.games='kuhn3 goof4'")
    values = [value for result in results for value in result.of_averages.values()]
    return Evaluation.ok(
        fitness=math.fsum(values) / len(values),
        descriptors={
            "recency": math.fsum(result.played.recency for result in results) / len(results),
            "restlessness": math.fsum(result.played.restlessness for result in results) / len(results),
        },
        cases={
            f"{result.name} after {horizon}": value
            for result in results
            for horizon, value in result.of_averages.items()
        },
        feedback=_told(results),
    )


def _result(candidate: Candidate, trial: Trial, number: int, name: str, horizons: Sequence[int]) -> Result:
    parameters = trial.parameters
    if not 0.0 <= parameters.disguise < 1.0:
        raise EvolveError(
            f"disguise is {parameters.disguise!r}, wanted a share from 0 to less than 1. Do: --set task.disguise=0.1"
        )
    rng = np.random.default_rng(trial.entropy(number))
    game = disguised(tree(name), parameters.disguise, rng)
    units = UNITS ** rng.uniform(-1.0, 1.0) if parameters.draw_units else 1.0
    with candidate.session() as session:
        found = played(session, game, horizons, alternating=parameters.alternating, units=units, rng=rng)
    averages = {horizon: _lost(game, policies) for horizon, policies in found.averages.items()}
    return Result(name, averages, _lost(game, found.last), found)


def _lost(game: Tree, policies: Sequence[np.ndarray]) -> float:
    counts = [exact.quantised(decisions, policy) for decisions, policy in zip(game.decisions, policies, strict=True)]
    return exact.log10(exact.nash_conv(game, counts))


def iterations(horizons: str) -> list[int]:
    """The horizons that a text names; raises `EvolveError`."""
    words = horizons.split()
    if not words or not all(word.isdecimal() and 0 < int(word) <= 100_000 for word in words):
        raise EvolveError(f"horizons is {horizons!r}, wanted numbers of iterations. Do: --set task.horizons='300 1000'")
    return sorted({int(word) for word in words})


def _told(results: Sequence[Result]) -> str:
    """A line for each game, the worst first."""
    horizons = list(results[0].of_averages)
    lines = [
        "log10 NashConv of the average policy "
        + ", ".join(f"after {horizon}" for horizon in horizons)
        + " iterations, and of the last policy:"
    ]
    for result in sorted(results, key=lambda one: -one.of_averages[horizons[-1]]):
        values = ", ".join(f"{value:.3f}" for value in result.of_averages.values())
        lines.append(
            f"{result.name}: {values}; last policy {result.of_last:.3f}, which changed by "
            f"{10**result.played.restlessness:.1e} per iteration and action at the end"
        )
    return "\n".join(lines)
