"""Evaluates a program: asks it for throws in a process of its own, checks what comes back, and lets the balls fly here."""

import math

from evolve import Candidate, Evaluation, Trial, evaluator

GRAVITY = 9.81
DRAG = 0.006
STEP = 0.02
"""Metres per second squared, per metre, and seconds."""


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The mean miss in metres. Sizes and cases come from the task; the score is computed here and never read from the program."""
    targets = targets_of(trial)
    with candidate.session() as session:
        answers = [session.call("throw", target) for target in targets]
    for target, answer in zip(targets, answers, strict=True):
        if not is_throw(answer):
            return Evaluation.invalid(f"throw({target:g}) must return two finite numbers, got {answer!r:.80}")
    throws = [(min(max(angle, 1.0), 89.0), min(max(speed, 0.0), 100.0)) for angle, speed in answers]
    landings = [landing(angle, speed, trial.parameters.wind) for angle, speed in throws]
    misses = [place - target for place, target in zip(landings, targets, strict=True)]
    return Evaluation.ok(
        fitness=math.fsum(map(abs, misses)) / len(misses),
        descriptors={"angle": math.fsum(angle for angle, _ in throws) / len(throws)},
        metrics={"largest_miss": max(map(abs, misses))},
        artifacts={"targets": targets, "landings": landings},
        feedback="\n".join(f"target {t:6.2f} m: {m:+.2f} m" for t, m in zip(targets, misses, strict=True)),
    )


@evaluate.draw
def draw(artifacts, trial: Trial) -> str:
    """Targets as circles, landing places as crosses, on a line."""
    targets = "".join(f'<circle cx="{x:.2f}" cy="5" r="1" fill="none" stroke="black"/>' for x in artifacts["targets"])
    crosses = "".join(f'<text x="{x:.2f}" y="6" font-size="4">x</text>' for x in artifacts["landings"])
    width = max(*artifacts["targets"], *artifacts["landings"]) + 5
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} 10">{targets}{crosses}</svg>'


def targets_of(trial: Trial) -> list[float]:
    """Distances in metres, evenly spread."""
    count, near, far = trial.parameters.targets, trial.parameters.nearest, trial.parameters.farthest
    return [near + (far - near) * index / (count - 1) for index in range(count)]


def is_throw(answer: object) -> bool:
    """Exactly two finite numbers: `True` is none, and neither is NaN."""
    if not isinstance(answer, list) or len(answer) != 2:
        return False
    return all(type(value) in (int, float) and -math.inf < value < math.inf for value in answer)


def landing(angle: float, speed: float, wind: float) -> float:
    """Where a ball comes down, in metres."""
    x = y = 0.0
    u, v = speed * math.cos(math.radians(angle)), speed * math.sin(math.radians(angle))
    while True:
        drag = DRAG * math.hypot(u - wind, v)
        u, v = u - STEP * drag * (u - wind), v - STEP * (GRAVITY + drag * v)
        if y + STEP * v <= 0.0:
            return x + u * (y / -v if v < 0.0 else 0.0)
        x, y = x + STEP * u, y + STEP * v
