"""The arms that are campaigns of evolve: `default`, `default_before` and `best_of_n`.

What a campaign did is asked of the version that ran it, through `--json` of its command line, so that an older one's log is read by itself."""

import argparse
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w
from campaigns import AT_ONCE, Call, Campaign, ask, version_of

import evolve.task
from evolve.types import Fitness

OPERATORS = {
    "default": ("diff", "rewrite", "crossover", "fix"),
    "default_before": ("diff", "rewrite", "crossover", "fix"),
    "best_of_n": ("sample",),
}
NAME = "run"
"""The campaign's name in its workspace."""
SHIM = """

# Added for a version whose evaluations have no `cases`: they are metrics there.
import evolve as _evolve

if "cases" not in _evolve.Evaluation.__dataclass_fields__:
    _ok = _evolve.Evaluation.ok

    def _ok_with_metrics(fitness, *, cases=None, metrics=None, **rest):
        return _ok(fitness, metrics={**(metrics or {}), **(cases or {})}, **rest)

    _evolve.Evaluation.ok = _ok_with_metrics
"""


def settings_of(arm: str, task: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Returns the campaign file of an arm of evolve."""
    settings: dict[str, Any] = {
        "schema": 1,
        "task": str(task),
        "seed": args.seed,
        "budget": f"{args.calls}calls",
    }
    if args.preset is not None:
        settings["preset"] = args.preset
    else:
        settings["operators"] = {"names": list(OPERATORS[arm])}
    if arm == "best_of_n":
        # Each answer counts for itself: none is dropped because it is near to another one.
        settings |= {"strategy": {"name": "best_of_n"}, "novelty": {"distance": 0.0}}
    if args.model is None:
        member = {"name": "blind", "kind": "mailbox", "concurrency": AT_ONCE, "settings": {"folder": str(args.box)}}
        settings["models"] = {"members": [member]}
    return settings


def copy_for_before(task: Path, place: Path) -> Path:
    """Returns a copy of a task that an older version can evaluate: what it does not know of cases is told it as metrics."""
    copy = place / "task" / task.name
    shutil.copytree(task, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    evaluator = copy / "evaluator.py"
    if "cases=" in evaluator.read_text():
        evaluator.write_text((task / "evaluator.py").read_text() + SHIM)
    return copy


def run(place: Path, task: Path, args: argparse.Namespace) -> Campaign:
    """Runs a campaign of evolve, or goes on with one that was interrupted, and returns what it did."""
    command, workspace = args.evolve, place / "workspace"
    task = copy_for_before(task, place) if args.arm == "default_before" else task
    file = place / "campaign.toml"
    file.write_text(tomli_w.dumps(settings_of(args.arm, task, args)))
    begun = (workspace / "archive" / "campaigns" / f"{NAME}.db").is_file()
    words = ["run", "--continue", NAME] if begun else ["run", "--config", str(file), "--name", NAME]
    if args.model is not None and not begun:
        words += ["--model", args.model]
    if args.deterministic and not begun:
        words.append("--deterministic")
    if not begun:
        words += [word for assignment in args.assignments for word in ("--set", assignment)]
    done = subprocess.run([str(command), "--workspace", str(workspace), *words], check=False)
    if done.returncode:
        raise SystemExit(f"run.py: the campaign in {place} failed with {done.returncode}; its message stands above")
    records = ask(command, workspace, "program", "list", NAME, "--all", "--limit", "0")
    calls = ask(command, workspace, "model", "calls", NAME, "--limit", "0")
    subprocess.run(
        [
            str(command),
            "--workspace",
            str(workspace),
            "model",
            "calls",
            NAME,
            "--cassette",
            str(place / "cassette.jsonl"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    best = best_record(records, evolve.task.load(str(task)).fitness)
    (shown,) = ask(command, workspace, "program", "show", f"{NAME}/{best}", "--code")
    return Campaign(list(read_calls(records, calls)), dict(shown["files"]), version_of(command))


def best_record(records: Sequence[Mapping[str, Any]], fitness: Fitness) -> int:
    """Returns the record with the best score among seed and proposals, the first of equal ones."""
    able = [line for line in records if line["kind"] in ("seed", "proposal") and is_scored(line)]
    return int(max(able, key=lambda line: (fitness.inside(line["fitness"]), -line["id"]))["id"])


def is_scored(line: Mapping[str, Any]) -> bool:
    """Reports whether a record's score counts: the task's constraints are met."""
    return line["fitness"] is not None and not line["violation"]


def read_calls(records: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    """Yields the calls in the order of their answers. A step's score stands at the last call that it took: a reply that was sent back for
    repair brought nothing yet."""
    made = {line["step"]: line for line in records if line["kind"] not in ("seed", "measurement")}
    counted = [line for line in reversed(calls) if line["purpose"] != "check" and line["index"] >= 0]
    last = {line["step"]: number for number, line in enumerate(counted)}
    for number, line in enumerate(counted):
        record = made.get(line["step"])
        outcome, score = "no record", None
        if line["error"]:
            outcome = "call failed"
        elif last[line["step"]] != number:
            outcome = "sent back"
        elif record is not None:
            outcome, score = record["outcome"], record["fitness"] if is_scored(record) else None
        operator = record["operator"] if record is not None else line["purpose"]
        yield Call(number + 1, operator, outcome, score, line["prompt_tokens"], line["completion_tokens"])
