"""The verifier of a task, run on the certificate of its seed as a reader runs it, who has nothing else of the task.

Invariant: the script is the one that goes with an exported program; nothing of it stays."""

from evolve.conformance.findings import Finding
from evolve.evaluation import Report
from evolve.task import verify_script
from evolve.task.verifier import CERTIFICATE
from evolve.types import Outcome, Task, TextId

_TRIED = "verifier"


def verified_again(task: Task, certified: Report | None) -> list[Finding]:
    """What the verifier says of what `certify` has made of the seed; None where the evaluator certifies nothing. Empty where the task brings no verifier."""
    if not task.verifier:
        return []
    if certified is None:
        remedy = "write a function marked @evaluate.certify, or take `verifier` out of task.toml"
        return [Finding(_TRIED, "failed", "the evaluator certifies nothing that it could verify", remedy)]
    evaluation = certified.evaluation
    if evaluation.outcome is not Outcome.OK or evaluation.fitness is None:
        return [Finding(_TRIED, "not tried", "the seed must be certified first")]
    if CERTIFICATE not in evaluation.artifacts:
        remedy = f'return Evaluation.ok(..., artifacts={{"{CERTIFICATE}": proof}}) in @evaluate.certify'
        what = f"the seed is certified, and there is no artifact {CERTIFICATE!r} that it could verify"
        return [Finding(_TRIED, "failed", what, remedy)]
    construction = certified.texts[TextId(evaluation.artifacts[CERTIFICATE])]
    return [_run(task, task.fitness.shown(evaluation.fitness), construction)]


def _run(task: Task, value: float, construction: str) -> Finding:
    found = verify_script.holds(task, construction, value, "the seed")
    if not found.refusal:
        return Finding(_TRIED, "passed", f"the seed's certificate holds: {task.fitness.name} {value!r}")
    remedy = "mend the verifier, or the function marked @evaluate.certify: both must prove the same"
    return Finding(_TRIED, "failed", f"the seed's certificate {found.refusal}", remedy)
