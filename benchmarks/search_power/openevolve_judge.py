"""The evaluator that OpenEvolve calls, in its own interpreter: the score is what `evolve program evaluate` says, so that all arms have one judge.

The file that $SEARCH_POWER_JUDGE names holds, as JSON: `evaluate`, the command; `file`, the program's name in the task; `direction` and
`failed`, the combined score of a failure; `ledger`, the file that each evaluation is noted in."""

import hashlib
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from openevolve.evaluation_result import EvaluationResult


def evaluate(program_path: str) -> EvaluationResult:
    """Returns the score as `combined_score` (larger is better), metrics and cases beside it, and what the evaluator said as artifacts."""
    settings = json.loads(Path(os.environ["SEARCH_POWER_JUDGE"]).read_text())
    text = Path(program_path).read_text()
    line = ask(settings, text)
    note = {"program": hashlib.sha256(text.encode()).hexdigest(), "outcome": line["outcome"], "score": line["fitness"]}
    with Path(settings["ledger"]).open("a") as file:
        file.write(json.dumps(note) + "\n")
    artifacts = {"feedback": line["feedback"]} if line["feedback"] else {}
    if line["fitness"] is None:
        return EvaluationResult({"combined_score": settings["failed"]}, {"error": line["outcome"], **artifacts})
    sign = 1.0 if settings["direction"] == "max" else -1.0
    metrics = {"combined_score": sign * line["fitness"], **line.get("metrics", {}), **line.get("cases", {})}
    return EvaluationResult(metrics, artifacts)


def ask(settings: dict[str, Any], text: str) -> dict[str, Any]:
    """Returns the line of the program among the judge's; raises `RuntimeError` where it says none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / settings["file"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        done = subprocess.run([*settings["evaluate"], folder], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    ours = [line for line in lines if line.get("of") == "program"]
    if not ours:
        raise RuntimeError(f"the judge said nothing: {done.stderr.strip()}")
    return dict(ours[0])
